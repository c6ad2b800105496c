"""Read motions of joints and of a floating base from files, and resample and differentiate them."""

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
LEAST = 6  # Smallest number of samples for a spline of degree 5


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recorded motion: samples of joints, by joint name, and of the base.

    Splines of degree 5 interpolate positions; a spline with continuous angular acceleration interpolates the
    orientation of the base. Velocities and accelerations that were not recorded are computed by differentiation.
    Dependent joints follow couplings and closed loops even if they were recorded; a warning reports differences. If
    joints other than the independent joints were recorded, such as rotors or a knee driven by a push-rod, the motion
    follows these joints, provided that they determine the pose.

    Attributes:
        time: Times of the samples, increasing, shape (N,), [s]; at least 6 samples. The motion starts at 0.
        positions: Coordinates by joint name, shape (N,), [rad] or [m].
        velocities: Recorded velocities by joint name, [rad/s] or [m/s]; may be empty.
        accelerations: Recorded accelerations by joint name, [rad/s^2] or [m/s^2]; may be empty.
        base: Pose of the floating base, ``x y z qx qy qz qw``, shape (N, 7); None if the base is held.
        forces: Ground force [N] and moment [N m] at the frame's origin, by frame name, in world axes, shape (N, 6).
        name: Name for titles and messages.
        dt: Time between samples of the motion, [s]; None keeps the recorded times.
        cutoff: Cutoff frequency of a low-pass filter on the positions, [Hz]. The filter is a Butterworth filter of
            order 2 that runs forwards and backwards, so it has no delay and halves the amplitude at the cutoff.
        degrees: Whether angles are recorded in degrees.
        missing: Treatment of unrecorded independent joints: ``"error"`` raises an error, ``"hold"`` keeps them at rest.

    Raises:
        TrajectoryError: Sizes differ, time does not increase, a value is not finite, or there are too few samples.
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
        put = partial(object.__setattr__, self)  # the frozen dataclass prohibits assignment
        time = numbers(f"{self.name}: times", self.time)
        if time.ndim != 1 or len(time) < LEAST:
            raise TrajectoryError(f"{self.name} has {time.size} samples, but accelerations need at least {LEAST}.")
        unordered = np.flatnonzero(~(np.diff(time) > 0.0))
        if unordered.size:
            i = int(unordered[0])
            raise TrajectoryError(
                f"{self.name}: time must increase from sample to sample, but sample {i + 1} is at {time[i + 1]:g} s "
                f"after sample {i} at {time[i]:g} s. Sort the samples and remove repeated times."
            )
        if self.dt is None and len(time) > MAX_SAMPLES:
            raise TrajectoryError(
                f"{self.name} has {len(time)} samples; the maximum is {MAX_SAMPLES}. Pass dt (--dt) to resample."
            )
        put("time", time - time[0])
        for kind in KINDS:
            checked = {}
            for name, x in getattr(self, kind).items():
                description = f"{self.name}: {kind} of {name!r}"
                expected = f"{len(time)} finite numbers, as many as times"
                checked[name] = finite(description, numbers(description, x), time.shape, expected)
            put(kind, checked)
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

        The columns are ``time`` [s]; the joints by name [rad] or [m]; ``NAME.v`` and ``NAME.a`` for the
        velocity and acceleration of a joint; ``x y z qx qy qz qw`` for the pose of a floating base; ``FRAME.fx``,
        ``.fy``, ``.fz`` [N] and optionally ``.mx``, ``.my``, ``.mz`` [N m] for the force of the ground on a frame.

        Args:
            path: A path that ends in ``.csv`` or ``.npz``.
            options: The attributes ``name``, ``dt``, ``cutoff``, ``degrees`` and ``missing`` of the class.

        Raises:
            TrajectoryError: The file cannot be read; the message states the line and the column.

        Example:
            >>> from pin_clusters.studies.study import trajectories
            >>> trajectories.Recorded.from_file("gait.csv", dt=1e-3)  # doctest: +SKIP
        """
        return cls.from_columns(read(path), **({"name": Path(path).name} | options))

    @classmethod
    def from_columns(cls, columns: dict[str, np.ndarray], **options: Any) -> "Recorded":
        """Create a recording from columns with the same names as in ``from_file``.

        Args:
            columns: Values by column name, shape (N,).
            options: As in ``from_file``.

        Raises:
            TrajectoryError: Some columns of the base are missing, or no column belongs to a joint.
        """
        remaining = dict(columns)
        if TIME not in remaining:
            raise TrajectoryError(f"there is no column {TIME!r}; columns: {', '.join(remaining) or 'none'}.")
        time, base = remaining.pop(TIME), None
        if set(BASE) <= set(remaining):
            base = np.column_stack([remaining.pop(name) for name in BASE])
        elif partial_base := [name for name in BASE[3:] if name in remaining]:
            raise TrajectoryError(
                f"{options.get('name', 'the recording')} has column {partial_base[0]!r} of a floating base, but not "
                f"all of {' '.join(BASE)}."
            )
        forces = _columns.forces(remaining, len(time), str(options.get("name", "the recording")))
        rates: dict[str, dict[str, np.ndarray]] = {".v": {}, ".a": {}}
        for name in list(remaining):
            if name[-2:] in rates and name[:-2] in remaining:
                rates[name[-2:]][name[:-2]] = remaining.pop(name)
        return cls(time, remaining, rates[".v"], rates[".a"], base, forces, **options)

    @property
    def duration(self) -> float:
        """Time from the first to the last sample, [s]."""
        return float(self.time[-1])

    @property
    def moves_base(self) -> bool:
        """Whether the motion of a floating base was recorded."""
        return self.base is not None

    @property
    def label(self) -> str:
        return f"{self.name} ({self.duration:.3g} s)"

    @property
    def times(self) -> np.ndarray:
        """Sample times of the motion, [s], which are the recorded times or multiples of ``dt``."""
        return self.time if self.dt is None else grid(self.duration, self.dt)

    def as_dict(self) -> dict[str, Any]:
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
        """Return the same motion with the sampling interval ``dt``, [s]."""
        return dataclasses.replace(self, dt=dt)

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Sample the motion of the whole robot.

        The base moves if it floats (a free-flyer at the root) and its motion was recorded. Velocities of a free-flyer
        follow Pinocchio's convention: linear and angular, in the frame of the base.

        Raises:
            TrajectoryError: Joints are unknown or missing, or a closed loop cannot follow.
            ModelError: No joint can be moved.

        Warns:
            PinClustersWarning: Units look wrong, or recorded quantities contradict each other or a coupling.
        """
        if any(name not in model.names for name in self.positions):
            return self._states(model)  # this call raises the error for unknown joints
        with_independent = self._with_gears(model)
        leading_model = _elsewhere.led_by(model, with_independent.positions, self.missing == "hold")
        time, q, v, a = with_independent._states(leading_model)
        if leading_model is not model:
            change = CoordinateChange(leading_model, model)
            for i, x in enumerate(zip(q, v, a, strict=True)):
                v[i], a[i] = change.velocity_to_new(*x[:2]), change.acceleration_to_new(*x)
        return time, q, v, a

    def _with_gears(self, model: ClusterModel) -> "Recorded":
        kinds: dict[str, Any] = {kind: dict(getattr(self, kind)) for kind in KINDS}
        relations = _elsewhere.through_gears(model, self.positions)
        for name, (ratios, offset) in relations.items():
            for kind, columns in kinds.items():
                if all(n in columns for n in ratios):
                    value = np.sum([c * self._unit(model, n) * columns[n] for n, c in ratios.items()], axis=0)
                    value += offset if kind == "positions" else 0.0
                    columns[name] = value / self._unit(model, name)
        return dataclasses.replace(self, **kinds) if relations else self

    def _states(self, model: ClusterModel) -> Motion:
        joints = _columns.matched(self.name, self.positions, model, self.missing)
        suspicions.time(self.name, self.time)
        suspicions.degrees(self.name, model, {} if self.degrees else self.positions)
        time = self.times
        deviations: list[str] = []
        curves = {name: self._curves(model, name, time, deviations) for name in joints}
        suspicions.rates(self.name, deviations)
        base = None
        if self.base is not None and base_columns(model) is not None:
            base = _curves.free_flyer(self.time, self.base, time, self._filtered)
        _, q, v, a = whole(model, time, curves, base)
        recorded_dependents = [name for name in self.positions if name not in model.independent_joints]
        recordings = {name: np.interp(time, self.time, self.coordinates(model, name)) for name in recorded_dependents}
        suspicions.dependents(self.name, model, recordings, time, q)
        return time, q, v, a

    def loads(self, model: ClusterModel, time: np.ndarray, q: np.ndarray) -> np.ndarray | None:
        """Compute the joint torques J' f, where f contains the recorded ground forces.

        Args:
            model: The robot, with a floating base.
            time: Times of the samples, shape (N,), [s].
            q: Configurations, shape (N, nq).

        Returns:
            Torques, shape (N, nv), [N m] or [N]; None if no forces were recorded.

        Raises:
            TrajectoryError: The model has no such frame.
        """
        from scipy.interpolate import PchipInterpolator

        if not self.forces:
            return None
        data = model.createData()
        torques = np.zeros((len(time), model.nv))
        for name, recorded in self.forces.items():
            if not model.tree.existFrame(name):
                hint = did_you_mean(name, [frame.name for frame in model.tree.frames])
                raise TrajectoryError(
                    f"{self.name}: forces act on {name!r}, but {model.name!r} has no such frame.{hint}"
                )
            frame = model.tree.getFrameId(name)
            f = PchipInterpolator(self.time, recorded)(time)
            for i in np.flatnonzero(f.any(axis=1)):
                J = computeFrameJacobian(model, data, q[i], frame, pin.LOCAL_WORLD_ALIGNED)
                torques[i] += np.asarray(J).T @ f[i]
        return torques

    def _unit(self, model: ClusterModel, name: str) -> float:
        return math.pi / 180.0 if self.degrees and not slides(model, name) else 1.0

    def coordinates(self, model: ClusterModel, name: str) -> np.ndarray:
        """Return the recorded positions of a joint, shape (N,), [rad] or [m]; continuous joints are unwrapped."""
        values = self.positions[name] * self._unit(model, name)
        return np.unwrap(values) if joint_of(model, name).nq == 2 else values

    def _curves(
        self, model: ClusterModel, name: str, time: np.ndarray, deviations: list[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Interpolate a joint's coordinate, velocity and acceleration; append inconsistencies to ``deviations``."""
        unit = self._unit(model, name)
        position = _curves.spline(self.time, self._filtered(self.coordinates(model, name)))
        curves = [position]
        for ending, recorded, least, compared in (
            (".v", self.velocities, 1e-2, slice(None)),
            (".a", self.accelerations, 1.0, slice(2, -2)),  # numerical derivatives are least accurate at the ends
        ):
            curve = curves[-1].derivative()
            if name in recorded:
                values = recorded[name] * unit
                derivative = curve(self.time[compared])
                deviations += suspicions.differs(name + ending, values[compared], derivative, least)
                curve = _curves.spline(self.time, values)
            curves.append(curve)
        position, rate, acceleration = curves
        return position(time), rate(time), acceleration(time)

    def _filtered(self, values: np.ndarray) -> np.ndarray:
        return values if self.cutoff is None else _curves.low_pass(self.time, values, self.cutoff, self.name)
