"""Motions from files: joints by name, a floating base, resampled and differentiated."""

import dataclasses
import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin

from ....algorithms.dynamics.with_independent import CoordinateChange
from ....algorithms.kinematics.jacobians import computeFrameJacobian
from ....errors import did_you_mean
from ....model import ClusterModel
from . import _columns, _curves, _elsewhere
from . import _suspicions as suspicions
from ._columns import BASE
from ._whole import whole
from .files import TIME, read

from ._base import MAX_SAMPLES, Motion, TrajectoryError, base_columns, documented  # isort: skip
from ._base import finite, grid, joint_of, numbers, positive, slides, take  # isort: skip

KINDS = ("positions", "velocities", "accelerations")
LEAST = 6
"""Samples that a curve of degree 5 needs."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recorded motion: samples of joints by name, and of the base.

    Coordinates are interpolated by splines of degree 5 (positions) and by a spline with continuous angular acceleration
    (orientation of the base); what is not recorded is their derivative. Dependent joints follow their couplings, and
    closed loops follow by continuation, whatever is recorded for them: if that differs, a warning says so. Where other
    joints than the independent ones were recorded, such as rotors or a knee behind a push-rod, they lead if they
    determine the pose.

    Attributes:
        time: Increasing, shape (N,), at least 6 samples, [s]; the motion starts at 0.
        positions: Joint to its coordinates, shape (N,), [rad] or [m].
        velocities: The same for recorded velocities, if there are any, [rad/s] or [m/s].
        accelerations: The same for accelerations.
        base: Pose of the floating base, ``x y z qx qy qz qw``, shape (N, 7); None: it stays where it is.
        forces: Frame of the tree to the force and the moment of the ground on it, at its origin, along the axes of the
            world, shape (N, 6), [N] and [N m].
        name: For titles and messages.
        dt: Time between samples of the motion, [s]; None: the samples as recorded.
        cutoff: Frequency above which the positions are noise, [Hz]: a Butterworth filter of order 2, run forwards and
            backwards (together order 4, no delay, half the amplitude is left at the cutoff), takes it away.
        degrees: Whether angles are recorded in degrees.
        missing: What becomes of independent joints that are not recorded: ``"error"``, or ``"hold"`` for the reference
            pose.

    Raises:
        TrajectoryError: Sizes differ, time does not increase, a number is not finite, there are too few samples.
    """

    time: np.ndarray
    positions: dict[str, np.ndarray]
    velocities: dict[str, np.ndarray] = field(default_factory=dict)
    accelerations: dict[str, np.ndarray] = field(default_factory=dict)
    base: np.ndarray | None = None
    forces: dict[str, np.ndarray] = field(default_factory=dict)
    name: str = "recorded motion"
    dt: float | None = None
    cutoff: float | None = None
    degrees: bool = False
    missing: Literal["error", "hold"] = "error"

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)  # what is frozen
        time = numbers(f"{self.name}: times", self.time)
        if time.ndim != 1 or len(time) < LEAST:
            raise TrajectoryError(
                f"{self.name}: {time.size} samples are too few; at least {LEAST} are needed for an acceleration."
            )
        late = np.flatnonzero(~(np.diff(time) > 0.0))
        if late.size:
            i = int(late[0])
            raise TrajectoryError(
                f"{self.name}: time must increase from sample to sample, but sample {i + 1} is at {time[i + 1]:g} s "
                f"after sample {i} at {time[i]:g} s. Sort the samples and remove those that repeat a time."
            )
        if self.dt is None and len(time) > MAX_SAMPLES:
            raise TrajectoryError(
                f"{self.name}: {len(time)} samples are more than {MAX_SAMPLES}. Give dt (--dt), to take fewer."
            )
        put("time", time - time[0])
        for kind in KINDS:
            found = {}
            for name, x in getattr(self, kind).items():
                what, wanted = f"{self.name}: {kind} of {name!r}", f"{len(time)} finite numbers, as many as times"
                found[name] = finite(what, numbers(what, x), time.shape, wanted)
            put(kind, found)
        if self.base is not None:
            put("base", _columns.poses(np.array(self.base, dtype=float), len(time), self.name))
        rows = (len(time), 6)
        put(
            "forces",
            {
                frame: finite(
                    f"{self.name}: forces on {frame!r}", np.array(f, float), rows, f"{rows[0]} finite rows of 6"
                )
                for frame, f in self.forces.items()
            },
        )
        if self.missing not in ("error", "hold"):
            raise TrajectoryError(f"missing must be 'error' or 'hold', got {self.missing!r}.")
        if self.dt is not None:
            take(self, dt=self.dt)
        if self.cutoff is not None:
            put("cutoff", positive(cutoff=self.cutoff)["cutoff"])

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> "Recorded":
        """Read a CSV or NPZ file.

        Columns: ``time`` [s]; the joints by name [rad] or [m]; ``NAME.v`` and ``NAME.a``, if velocities and
        accelerations of a joint were recorded; ``x y z qx qy qz qw`` for the pose of a floating base; ``FRAME.fx``,
        ``.fy``, ``.fz`` [N], and if there are any ``.mx``, ``.my``, ``.mz`` [N m], for the force of the ground on a
        frame.

        Args:
            path: Ends in ``.csv`` or ``.npz``.
            options: ``name``, ``dt``, ``cutoff``, ``degrees``, ``missing``, as in the class.

        Raises:
            TrajectoryError: The file cannot be read; the message names row and column.

        Example:
            >>> from pin_clusters.studies.study import trajectories
            >>> trajectories.Recorded.from_file("gait.csv", dt=1e-3)  # doctest: +SKIP
        """
        return cls.from_columns(read(path), **({"name": Path(path).name} | options))

    @classmethod
    def from_columns(cls, columns: dict[str, np.ndarray], **options: Any) -> "Recorded":
        """Make one from columns by name, as in a file.

        Args:
            columns: Name to numbers, shape (N,).
            options: As in ``from_file``.

        Raises:
            TrajectoryError: There are only some of the columns of a base, or no joint.
        """
        rest = dict(columns)
        if TIME not in rest:
            raise TrajectoryError(f"there is no column {TIME!r}; columns: {', '.join(rest) or 'none'}.")
        time, base = rest.pop(TIME), None
        if set(BASE) <= set(rest):
            base = np.column_stack([rest.pop(name) for name in BASE])
        elif some := [name for name in BASE[3:] if name in rest]:
            raise TrajectoryError(
                f"{options.get('name', 'the recording')} has column {some[0]!r} of a floating base, but not all of "
                f"{' '.join(BASE)}."
            )
        forces = _columns.forces(rest, len(time), str(options.get("name", "the recording")))
        rates: dict[str, dict[str, np.ndarray]] = {".v": {}, ".a": {}}
        for name in list(rest):
            if name[-2:] in rates and name[:-2] in rest:
                rates[name[-2:]][name[:-2]] = rest.pop(name)
        return cls(time, rest, rates[".v"], rates[".a"], base, forces, **options)

    @property
    def duration(self) -> float:
        """From the first to the last sample, [s]."""
        return float(self.time[-1])

    @property
    def moves_base(self) -> bool:
        """Whether the motion of a floating base was recorded."""
        return self.base is not None

    @property
    def label(self) -> str:
        """Its name and duration."""
        return f"{self.name} ({self.duration:.3g} s)"

    @property
    def times(self) -> np.ndarray:
        """Times of the motion: those of the recording, or every ``dt``, [s]."""
        return self.time if self.dt is None else grid(self.duration, self.dt)

    def as_dict(self) -> dict[str, Any]:
        """Return what it is, without the samples, ready for JSON."""
        return {
            "name": self.name,
            "duration": self.duration,
            "dt": self.dt,
            "samples": len(self.times),
            "recorded_samples": len(self.time),
            "cutoff": self.cutoff,
            "base_recorded": self.moves_base,
            "forces_recorded": sorted(self.forces),
        }

    def resampled(self, dt: float) -> "Recorded":
        """Return the same motion with another time between samples, [s]."""
        return dataclasses.replace(self, dt=dt)

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Return the motion of the whole robot.

        The base moves if it floats (a free-flyer at the root) and its motion was recorded; velocities of a free-flyer
        are Pinocchio's: linear and angular, in the frame of the base.

        Raises:
            TrajectoryError: Joints are unknown or missing, or a closed loop cannot follow.
            ModelError: There is no joint to move.

        Warns:
            PinClustersWarning: Units look wrong, or what was recorded contradicts itself or a coupling.
        """
        if any(name not in model.names for name in self.positions):
            return self._states(model)  # which says so
        full = self._with_gears(model)
        other = _elsewhere.led_by(model, full.positions, self.missing == "hold")
        time, q, v, a = full._states(other)
        if other is not model:
            change = CoordinateChange(other, model)
            for i, x in enumerate(zip(q, v, a, strict=True)):
                v[i], a[i] = change.velocity_to_new(*x[:2]), change.acceleration_to_new(*x)
        return time, q, v, a

    def _with_gears(self, model: ClusterModel) -> "Recorded":
        """Return the same with the joints that follow from what was recorded at rotors."""
        kinds: dict[str, Any] = {kind: dict(getattr(self, kind)) for kind in KINDS}
        found = _elsewhere.through_gears(model, self.positions)
        for name, (ratios, offset) in found.items():
            for kind, columns in kinds.items():
                if all(n in columns for n in ratios):
                    value = np.sum([c * self._unit(model, n) * columns[n] for n, c in ratios.items()], axis=0)
                    value += offset if kind == "positions" else 0.0
                    columns[name] = value / self._unit(model, name)
        return dataclasses.replace(self, **kinds) if found else self

    def _states(self, model: ClusterModel) -> Motion:
        """Return the motion of a robot whose independent joints were recorded."""
        joints = _columns.matched(self.name, self.positions, model, self.missing)
        suspicions.time(self.name, self.time)
        suspicions.degrees(self.name, model, {} if self.degrees else self.positions)
        time = self.times
        odd: list[str] = []
        curves = {name: self._curves(model, name, time, odd) for name in joints}
        suspicions.rates(self.name, odd)
        base = None
        if self.base is not None and base_columns(model) is not None:
            base = _curves.free_flyer(self.time, self.base, time, self._filtered)
        _, q, v, a = whole(model, time, curves, base)
        others = [name for name in self.positions if name not in model.independent_joints]
        given = {name: np.interp(time, self.time, self.coordinates(model, name)) for name in others}
        suspicions.dependents(self.name, model, given, time, q)
        return time, q, v, a

    def loads(self, model: ClusterModel, time: np.ndarray, q: np.ndarray) -> np.ndarray | None:
        """Return the joint torques that the recorded forces take off, J' f.

        Args:
            model: The robot, with a floating base.
            time: Shape (N,), [s].
            q: Configurations, shape (N, nq).

        Returns:
            Shape (N, nv); None if no forces were recorded.

        Raises:
            TrajectoryError: There is no such frame.
        """
        from scipy.interpolate import PchipInterpolator

        if not self.forces:
            return None
        data = model.createData()
        found = np.zeros((len(time), model.nv))
        for name, recorded in self.forces.items():
            if not model.tree.existFrame(name):
                hint = did_you_mean(name, [frame.name for frame in model.tree.frames])
                raise TrajectoryError(
                    f"{self.name}: forces act on {name!r}, which is no frame of {model.name!r}.{hint}"
                )
            frame = model.tree.getFrameId(name)
            f = PchipInterpolator(self.time, recorded)(time)
            for i in np.flatnonzero(f.any(axis=1)):
                J = computeFrameJacobian(model, data, q[i], frame, pin.LOCAL_WORLD_ALIGNED)
                found[i] += np.asarray(J).T @ f[i]
        return found

    def _unit(self, model: ClusterModel, name: str) -> float:
        return math.pi / 180.0 if self.degrees and not slides(model, name) else 1.0

    def coordinates(self, model: ClusterModel, name: str) -> np.ndarray:
        """Return what was recorded of a joint, shape (N,), [rad] or [m]; continuous joints are unwrapped."""
        found = self.positions[name] * self._unit(model, name)
        return np.unwrap(found) if joint_of(model, name).nq == 2 else found

    def _curves(
        self, model: ClusterModel, name: str, time: np.ndarray, odd: list[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return coordinate, velocity and acceleration of a joint at some times; add to what does not fit together."""
        unit = self._unit(model, name)
        position = _curves.spline(self.time, self._filtered(self.coordinates(model, name)))
        curves = [position]
        for ending, recorded, least, compared in (
            (".v", self.velocities, 1e-2, slice(None)),
            (".a", self.accelerations, 1.0, slice(2, -2)),  # a derivative of samples is least certain at the ends
        ):
            curve = curves[-1].derivative()
            if name in recorded:
                given = recorded[name] * unit
                derivative = curve(self.time[compared])
                odd += suspicions.differs(name + ending, given[compared], derivative, least)
                curve = _curves.spline(self.time, given)
            curves.append(curve)
        position, rate, acceleration = curves
        return position(time), rate(time), acceleration(time)

    def _filtered(self, values: np.ndarray) -> np.ndarray:
        """Return values without what is above the cutoff."""
        return values if self.cutoff is None else _curves.low_pass(self.time, values, self.cutoff, self.name)
