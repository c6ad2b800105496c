"""What a simulation returns, how it is kept in a file, and its picture."""

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
_SINCE = ("contact_forces", "coordinates", "bodies", "stops", *OF_GROUND)  # older files have none


@dataclass(frozen=True)
class Switch:
    """A change of the independent joints inside a simulation, where the former ones came near to a dead centre.

    Attributes:
        time: When, [s].
        old: The independent joints of the cluster until then.
        new: Those from then on. Results stay in the coordinates of the model that was given.
    """

    time: float
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Touchdown:
    """A body that comes to the ground, or to another body.

    Attributes:
        time: Start of the step in which it is pushed, after 2 ms or more without (two steps if they are longer); with
            ``"events"`` the event's, [s].
        body: Name of its joint.
        point: Centre of pressure, in the world, [m].
        impulse: Of the first 2 ms, or of two steps if they are longer, in axes of the world, [N s]: the first step
            stops the body above the ground by what is left to it; for all of a landing, add up ``contact_impulses``.
    """

    time: float
    body: str
    point: tuple[float, float, float]
    impulse: tuple[float, float, float]


@dataclass(frozen=True, repr=False)
class SimulationResult:
    """A simulated motion: N samples, the first at time 0.

    Attributes:
        time: Shape (N,), [s].
        q: Configurations of the whole tree, shape (N, nq); each is on the couplings and loops.
        v: Velocity of the independent joints of the model that was given, shape (N, nv), [rad/s] or [m/s].
        a: Their acceleration, shape (N, nv), [rad/s^2] or [m/s^2].
        tau: Their torque, shape (N, nv), [N m] or [N]; the last sample has the torque of the last step, if the torques
            are an array.
        energy: Kinetic and potential energy of the exact robot, shape (N,), [J]; also with ``dynamics``.
        residual: How open couplings and loops are: the worst row over its scale (metres: the loop's length; rad: 1),
            shape (N,); and contacts that are held, in metres and rad.
        v_tree: Velocity of all joints of the tree, shape (N, tree.nv), [rad/s] or [m/s].
        switches: Changes of the independent joints inside the simulation.
        method: ``"rk4"``, ``"semi_implicit"``, ``"rkmk4"``, ``"moreau"`` or ``"events"``.
        dt: Step, [s].
        robot: Name of the model.
        joints: Name of each entry of v, shape (nv,).
        units: ``"rad"`` or ``"m"`` per entry of v.
        idx_q: Where in q the coordinate of each entry of v is, -1 if it is no single entry of q.
        coordinates: Name and unit of each entry of q, such as ``"crank [rad]"``, shape (nq,).
        contact_forces: Forces of the contacts one behind the other, as in ``data.lambda_c``, shape (N, rows), [N] or
            [N m].
        bodies: Names of the joints whose bodies may touch the ground or each other.
        contact_impulses: Impulse on each of these bodies from a sample to the next one, shape (N, bodies, 3), in axes
            of the world, [N s]; forces on average are these over the time between samples. What a single one of
            redundant points gives is not determined, so only sums over a body are given.
        contact_centres: Centre of pressure, shape (N, bodies, 3), in the world, [m]; NaN where nothing pushes.
        gap: Least distance of each body in the middle of steps (with ``"events"`` at their ends), shape (N, bodies),
            [m]; inf if it is far.
        stops: ``"knee > -1.2"``, of each end of a joint's range that is kept.
        limit_impulses: From each of them, shape (N, stops), positive, [N m s] or [N s].
        contact_laws: By how much laws are missed at most until the next sample, shape (N, 3): impulse outside of its
            cone [N s], velocity into the ground or a stop [m/s], impulse times velocity that should be zero [J].
        contact_work: Work of all these impulses until the next sample, shape (N,), [J]; never positive.
        contact_iterations: Of the solver, in the hardest step until the next sample, shape (N,); 0 without it.
        unmet_torque: What was asked for beyond what motors give, shape (N, nv), [N m] or [N].
        touchdowns: In the order of time.
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
        """Write everything to one NPZ file; ``numpy.load`` reads the arrays without this package.

        Args:
            path: Where to; the folder must exist. ``.npz`` is added if it is missing, as NumPy does.

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
        """Write the motion as a table: a line of names with units, then a line per sample with all digits.

        Columns: time; q of the whole tree; v, a and tau of the independent joints; energy and residual; forces of
        contacts that are held; impulse until the next sample and gap of bodies that may touch. The unit says which of
        them a joint's column is: ``crank [rad]``, ``crank [rad/s]``, ``crank [rad/s^2]``, ``crank [N m]``.
        ``numpy.loadtxt(path, delimiter=",", skiprows=1)`` reads the numbers.

        Args:
            path: Where to; the folder must exist.

        Raises:
            OSError: The file cannot be written.
        """
        from .._support.whole_files import write_csv

        write_csv(path, self._columns())

    def _columns(self) -> dict[str, np.ndarray]:
        """Return the columns of the table by their names."""
        places = self.coordinates or tuple(f"q[{i}]" for i in range(self.q.shape[1]))
        found = {"time [s]": self.time, **dict(zip(places, self.q.T, strict=True))}
        forces = {"rad": "N m", "m": "N"}
        for values, unit in ((self.v, "{}/s"), (self.a, "{}/s^2"), (self.tau, "")):
            for name, kind, column in zip(self.joints, self.units, values.T, strict=True):
                found[f"{name} [{unit.format(kind) or forces[kind]}]"] = column
        found |= {"energy [J]": self.energy, "residual": self.residual}
        found |= {f"contact force {i}": x for i, x in enumerate(self.contact_forces.T)}
        for i, body in enumerate(self.bodies):
            for k, axis in enumerate("xyz"):
                found[f"{body} impulse {axis} [N s]"] = self.contact_impulses[:, i, k]
            found[f"{body} gap [m]"] = self.gap[:, i]
        return found

    @classmethod
    def from_npz(cls, path: str | Path) -> "SimulationResult":
        """Read what ``to_npz`` wrote.

        Args:
            path: The file.

        Returns:
            The result; every number is what it was.

        Raises:
            LoadError: It is not such a file.
            OSError: The file cannot be read.
        """
        from zipfile import BadZipFile

        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in (*ARRAYS, *OF_GROUND) if name in file or name not in _SINCE}
            if about["format"] != _FORMAT:
                raise LoadError(f"{path}: format {about['format']} of a simulation is not known, only {_FORMAT}.")
            switches = tuple(Switch(float(t), tuple(old), tuple(new)) for t, old, new in about["switches"])
            there = [name for name in _ABOUT if name in about or name not in _SINCE]
            kept: dict[str, Any] = {name: tuple(x) if isinstance(x := about[name], list) else x for name in there}
            landed = about.get("touchdowns", ())
            touchdowns = tuple(Touchdown(t, body, tuple(x), tuple(y)) for t, body, x, y in landed)
            return cls(switches=switches, touchdowns=touchdowns, **arrays, **kept)
        except LoadError:
            raise
        except (KeyError, ValueError, TypeError, BadZipFile, EOFError) as error:
            raise LoadError(
                f"{path} is not a simulation that SimulationResult.to_npz wrote ({type(error).__name__}: {error})."
            ) from None

    def plot(self, path: str | Path | None = None) -> "Figure":
        """Draw coordinates, velocities, torques, forces of the ground, energy and residual over time.

        Args:
            path: Where to write the picture (PNG, PDF or SVG by its ending; without one ``.png`` is added); None:
                nowhere.

        Returns:
            A Matplotlib figure; in a notebook it is shown.

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
        end = f"{self.time[-1]:g} s" if len(self.time) else "nothing"
        counts = f"{len(self.time)} samples" + (f", {len(self.switches)} switches" if self.switches else "")
        return f"SimulationResult({self.robot!r}, {self.method}, dt={self.dt:g}, {end}, {counts})"


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; ``except KeyboardInterrupt as stop: stop.result`` has what was computed.

    Attributes:
        result: What was computed so far, a ``SimulationResult``.
    """

    def __init__(self, result: SimulationResult) -> None:
        end = float(result.time[-1]) if len(result.time) else 0.0
        super().__init__(f"simulation interrupted after t = {end:g} s; what was computed is in .result")
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[SimulationResult]]:
        """Pickle: an exception would be made again from its message."""
        return type(self), (self.result,)
