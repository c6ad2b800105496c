"""Result of a simulation, its file format, and its figure."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.whole_files import whole
from ..errors import LoadError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARRAYS = ("time", "q", "v", "a", "tau", "energy", "residual", "v_tree", "contact_forces")
OF_GROUND = (
    "contact_impulses",
    "contact_centres",
    "gap",
    "limit_impulses",
    "contact_laws",
    "contact_work",
    "contact_iterations",
    "unmet_torque",
)
_ABOUT = ("method", "dt", "robot", "joints", "units", "idx_q", "coordinates", "bodies", "stops")
_FORMAT = 1
_SINCE = ("contact_forces", "coordinates", "bodies", "stops", *OF_GROUND)  # older files may lack these fields


@dataclass(frozen=True)
class Switch:
    """A change of the independent joints during a simulation, which occurs near a singularity of the previous joints.

    Attributes:
        time: Time of the change, [s].
        old: Names of the cluster's independent joints before the change.
        new: Names of the independent joints after the change. Results always use the coordinates of the user's model.
    """

    time: float
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Touchdown:
    """A touch-down of a body on the ground or on another body.

    Attributes:
        time: Start of the step with the first impulse after more than 2 ms (or 1.5 steps, if longer) without impulses,
            [s]. For ``"events"``, this is the time of the event.
        body: Name of the body's joint.
        point: Centre of pressure at the touch-down, in the world frame, [m].
        impulse: Impulse during the first 2 ms (or two steps, if longer), in world axes, [N s]. To obtain the impulse of
            the entire landing, sum ``contact_impulses`` over its samples.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Touchdown(time=0.063, body="ankle", point=(0.0, 0.1, 0.0), impulse=(0.0, 0.0, 9.5)).impulse[2]
        9.5
    """

    time: float
    body: str
    point: tuple[float, float, float]
    impulse: tuple[float, float, float]


@dataclass(frozen=True, repr=False)
class SimulationResult:
    """A simulated motion with N samples, beginning at time 0.

    Attributes:
        time: Times of the samples, shape (N,), [s].
        q: Configurations of the spanning tree, shape (N, nq). Each configuration satisfies all couplings and
            loop-closure constraints.
        v: Velocities of the model's independent joints, shape (N, nv), [rad/s] or [m/s].
        a: Accelerations of the independent joints, shape (N, nv), [rad/s^2] or [m/s^2].
        tau: Torques of the independent joints, shape (N, nv), [N m] or [N]. If ``tau`` was an array, the last sample
            repeats the torque of the last step.
        energy: Sum of kinetic and potential energy of the exact model, even if ``dynamics`` was given, shape (N,), [J].
        residual: Largest residual of all couplings, loops and held contacts, shape (N,). Distances in a loop are
            divided by the loop's length, angles are in [rad], and residuals of held contacts are in [m] or [rad].
        v_tree: Velocities of all joints of the tree, shape (N, tree.nv), [rad/s] or [m/s].
        switches: Changes of the independent joints during the simulation.
        method: ``"rk4"``, ``"semi_implicit"``, ``"rkmk4"``, ``"moreau"`` or ``"events"``.
        dt: Time step, [s].
        robot: Name of the model.
        joints: Name of each entry of v, shape (nv,).
        units: ``"rad"`` or ``"m"`` for each entry of v.
        idx_q: For each entry of v, the index of its coordinate in q; -1 if no single entry of q corresponds to it.
        coordinates: Name and unit of each entry of q, such as ``"crank [rad]"``, shape (nq,).
        contact_forces: Forces of the held contacts, stacked as in ``data.lambda_c``, shape (N, rows), [N] or [N m].
        bodies: Joint names of the bodies that can touch the ground or each other.
        contact_impulses: Impulse on each of these bodies between a sample and the next, shape (N, bodies, 3), in world
            axes, [N s]. The mean force is this impulse divided by the time between samples. The array contains only the
            sum per body, because the impulses of redundant points are not unique.
        contact_centres: Centre of pressure of each body in the world frame, shape (N, bodies, 3), [m]; NaN without
            impulses.
        gap: Smallest distance between each body and the ground or another shape, shape (N, bodies), [m]; inf if the
            body is far away. ``"moreau"`` measures the distance in the middle of a step, and ``"events"`` at the end of
            a step.
        stops: Names of the joint stops (finite position limits), such as ``"knee > -1.2"``.
        limit_impulses: Impulse of each stop until the next sample, shape (N, stops), [N m s] or [N s]; never negative.
        contact_laws: Largest violations of the contact laws until the next sample, shape (N, 3): distance of an impulse
            from its friction cone [N s], velocity into the ground or a stop [m/s], and product of impulse and velocity
            [J].
        contact_work: Work of all contact and stop impulses until the next sample, shape (N,), [J]; never positive.
        contact_iterations: Largest number of solver iterations in a step until the next sample, shape (N,).
        unmet_torque: Largest value of (commanded - applied torque) until the next sample, shape (N, nv), [N m] or [N].
        touchdowns: Touch-downs in chronological order.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> result = pc.simulate(model, pc.neutral(model), [1.0], duration=0.01)
        >>> result.q.shape, result.v_tree.shape
        ((11, 3), (11, 3))
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    energy: np.ndarray
    residual: np.ndarray
    v_tree: np.ndarray
    switches: tuple[Switch, ...]
    method: str
    dt: float
    robot: str
    joints: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    idx_q: tuple[int, ...] = ()
    coordinates: tuple[str, ...] = ()
    contact_forces: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    bodies: tuple[str, ...] = ()
    contact_impulses: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    contact_centres: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    gap: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    stops: tuple[str, ...] = ()
    limit_impulses: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    contact_laws: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    contact_work: np.ndarray = field(default_factory=lambda: np.zeros(0))
    contact_iterations: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unmet_torque: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    touchdowns: tuple[Touchdown, ...] = ()

    def to_npz(self, path: str | Path) -> None:
        """Save the result to an NPZ file; ``numpy.load`` reads the arrays without this package.

        Args:
            path: Path of the file in an existing folder. The extension ``.npz`` is added if it is missing.

        Raises:
            OSError: The file cannot be written.
        """
        about = {"format": _FORMAT, **{name: getattr(self, name) for name in _ABOUT}}
        about["switches"] = [[s.time, s.old, s.new] for s in self.switches]
        about["touchdowns"] = [[t.time, t.body, t.point, t.impulse] for t in self.touchdowns]
        arrays: dict[str, Any] = {name: getattr(self, name) for name in (*ARRAYS, *OF_GROUND)}
        target = os.fspath(path)
        with whole(target if target.endswith(".npz") else f"{target}.npz") as (file,):
            np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)

    def to_csv(self, path: str | Path) -> None:
        """Save the motion as a CSV table: a header with names and units, then one line per sample with all digits.

        The columns are: time; q of the spanning tree; v, a and tau of the independent joints; energy and residual;
        forces of held contacts; and, for each of ``bodies``, the impulse until the next sample and the gap. The unit in
        the header identifies each column of a joint: ``crank [rad]``, ``crank [rad/s]``, ``crank [rad/s^2]``,
        ``crank [N m]``. ``numpy.loadtxt(path, delimiter=",", skiprows=1)`` reads the numbers.

        Args:
            path: Path of the file in an existing folder.

        Raises:
            OSError: The file cannot be written.
        """
        from .._support.whole_files import write_csv

        write_csv(path, self._columns())

    def _columns(self) -> dict[str, np.ndarray]:
        q_names = self.coordinates or tuple(f"q[{i}]" for i in range(self.q.shape[1]))
        columns = {"time [s]": self.time, **dict(zip(q_names, self.q.T, strict=True))}
        forces = {"rad": "N m", "m": "N"}
        for values, unit in ((self.v, "{}/s"), (self.a, "{}/s^2"), (self.tau, "")):
            for name, kind, column in zip(self.joints, self.units, values.T, strict=True):
                columns[f"{name} [{unit.format(kind) or forces[kind]}]"] = column
        columns |= {"energy [J]": self.energy, "residual": self.residual}
        columns |= {f"contact force {i}": x for i, x in enumerate(self.contact_forces.T)}
        for i, body in enumerate(self.bodies):
            for k, axis in enumerate("xyz"):
                columns[f"{body} impulse {axis} [N s]"] = self.contact_impulses[:, i, k]
            columns[f"{body} gap [m]"] = self.gap[:, i]
        return columns

    @classmethod
    def from_npz(cls, path: str | Path) -> "SimulationResult":
        """Read a file that ``to_npz`` wrote.

        Args:
            path: Path of the file.

        Returns:
            The saved result, with identical numbers.

        Raises:
            LoadError: The file was not written by ``to_npz``.
            OSError: The file cannot be read.
        """
        from zipfile import BadZipFile

        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in (*ARRAYS, *OF_GROUND) if name in file or name not in _SINCE}
            if about["format"] != _FORMAT:
                raise LoadError(f"{path}: unknown format {about['format']} of a simulation; expected {_FORMAT}.")
            switches = tuple(Switch(float(t), tuple(old), tuple(new)) for t, old, new in about["switches"])
            stored = [name for name in _ABOUT if name in about or name not in _SINCE]
            fields: dict[str, Any] = {name: tuple(x) if isinstance(x := about[name], list) else x for name in stored}
            touchdown_rows = about.get("touchdowns", ())
            touchdowns = tuple(Touchdown(t, body, tuple(x), tuple(y)) for t, body, x, y in touchdown_rows)
            return cls(switches=switches, touchdowns=touchdowns, **arrays, **fields)
        except LoadError:
            raise
        except (KeyError, ValueError, TypeError, BadZipFile, EOFError) as error:
            raise LoadError(
                f"{path} was not written by SimulationResult.to_npz ({type(error).__name__}: {error})."
            ) from None

    def plot(self, path: str | Path | None = None) -> "Figure":
        """Plot coordinates, velocities, torques, ground forces, energy and residual over time.

        Args:
            path: Path of the picture. The extension selects PNG (default), PDF or SVG. None writes no file.

        Returns:
            The Matplotlib figure, which a notebook displays.

        Raises:
            OSError: The file cannot be written.
        """
        from ._picture import draw

        figure = draw(self)
        if path is not None:
            target = Path(path)
            with whole(target if target.suffix else target.with_name(f"{target.name}.png")) as (file,):
                figure.savefig(file)
        return figure

    def __repr__(self) -> str:
        end_time = f"{self.time[-1]:g} s" if len(self.time) else "empty"
        counts = f"{len(self.time)} samples" + (f", {len(self.switches)} switches" if self.switches else "")
        return f"SimulationResult({self.robot!r}, {self.method}, dt={self.dt:g}, {end_time}, {counts})"


class SimulationInterrupted(KeyboardInterrupt):
    """Exception that is raised if the user presses Ctrl-C during a simulation.

    In the block of ``except KeyboardInterrupt as stop:``, ``stop.result`` contains the samples up to the interruption.

    Attributes:
        result: The ``SimulationResult`` up to the interruption.
    """

    def __init__(self, result: SimulationResult) -> None:
        end = float(result.time[-1]) if len(result.time) else 0.0
        super().__init__(f"simulation interrupted after t = {end:g} s; .result contains the samples up to that time")
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[SimulationResult]]:
        """Pickle the exception together with its result; Python's default pickles only the message."""
        return type(self), (self.result,)
