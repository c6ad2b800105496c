"""Run the accuracy study, which compares the exact and the approximate inverse dynamics along one motion."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ..._support.whole_files import write_csv
from ...errors import ArgumentTypeError
from ...model import ClusterModel, check_model
from . import approximate_dynamics
from ._samples import rms
from .approximate_dynamics import Progress
from .reach import Reach
from .trajectories import Sine, Trajectory, TrajectoryError, Wave, base_columns, centre, held, moved_joints
from .trajectories._base import base_pose, slides

Base = Literal["fixed", "floating"]
WRENCH = ("force x", "force y", "force z", "moment x", "moment y", "moment z")  # wrench on the base, in the base frame


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Torques of the exact robot and of its approximations along one motion.

    Attributes:
        trajectory: The motion. The amplitude of a wave may be smaller than requested; see ``reach``.
        drop_rotors: Whether the approximate robots omit the rotors.
        joints: Names of the moving joints, one per column of the arrays. If the base floats, the components of the
            wrench on the base, in the base frame, precede the joints.
        units: Unit of each column, ``"N m"`` or ``"N"``.
        time: Time of each sample, shape (samples,), [s].
        exact: Exact torques, shape (samples, joints).
        approximate: Torques by name of the approximation, shape (samples, joints).
        centre: Joint positions about which a wave oscillates, shape (joints,): the reference pose if the robot has
            closed loops. None means zero.
        phase: Phases of the joints of a wave, shape (joints,), [rad]; None if all joints move in phase.
        asked: Requested amplitude if the amplitude was reduced; otherwise None.
        reach: The limit that reduced the amplitude; None if the amplitude was not reduced.
        base: ``"fixed"`` if the base is held at rest, ``"floating"`` if the base moves as in the trajectory.
        loops: Whether the robot has closed loops.
        loads: Whether the joint torques account for recorded ground forces. The wrench on a floating base always equals
            the total force that the ground must supply.
    """

    robot: str
    trajectory: Trajectory
    drop_rotors: bool
    joints: tuple[str, ...]
    units: tuple[str, ...]
    time: np.ndarray
    exact: np.ndarray
    approximate: dict[str, np.ndarray]
    centre: np.ndarray | None = None
    phase: np.ndarray | None = None
    asked: float | None = None
    reach: Reach | None = None
    base: Base = "fixed"
    loops: bool = False
    loads: bool = False

    @property
    def sine(self) -> Sine:
        """The trajectory, if it is a ``Sine``; otherwise, an ``AttributeError`` is raised."""
        if not isinstance(self.trajectory, Sine):
            raise AttributeError(f"The trajectory is not a sine: {self.trajectory.label}.")
        return self.trajectory

    @property
    def actuated(self) -> np.ndarray:
        """Indices of the columns that contain joint torques instead of components of the base wrench."""
        return np.arange(6 if self.base == "floating" else 0, len(self.joints))

    def error(self, level: str) -> np.ndarray:
        """Return the torque error (approximate minus exact torque) of an approximation, shape (samples, joints)."""
        return self.approximate[level] - self.exact

    def to_csv(self, path: str | Path) -> None:
        """Write the torques to a CSV file at full precision, with a header line and one line per sample.

        The columns are the time, the exact torque of each joint (for example ``knee, exact [N m]``), and the torques of
        each approximation.

        Args:
            path: Path of the file; its folder must exist.

        Raises:
            OSError: The file cannot be written.
        """
        columns = {"time [s]": self.time}
        for level, torques in ({"exact": self.exact} | self.approximate).items():
            for name, unit, torque in zip(self.joints, self.units, torques.T, strict=True):
                columns[f"{name}, {level} [{unit}]"] = torque
        write_csv(path, columns)

    @property
    def rms_error(self) -> dict[str, np.ndarray]:
        """RMS error over the samples, by name of the approximation, shape (joints,)."""
        return {level: rms(self.error(level)) for level in self.approximate}

    @property
    def peak_error(self) -> dict[str, np.ndarray]:
        """Largest magnitude of the error, by name of the approximation, shape (joints,)."""
        return {level: np.max(np.abs(self.error(level)), axis=0) for level in self.approximate}

    @property
    def max_exact(self) -> np.ndarray:
        """Largest magnitude of the exact torque, shape (joints,)."""
        return np.max(np.abs(self.exact), axis=0)

    def share(self, errors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Express errors as percentages of the joint's largest exact torque, shape (joints,).

        Args:
            errors: ``rms_error`` or ``peak_error``.
        """
        largest = self.max_exact
        # The lower bound avoids meaningless percentages at joints without load.
        scale = np.maximum(largest, max(1e-9 * float(largest.max(initial=0.0)), np.finfo(float).tiny))
        return {level: 100.0 * values / scale for level, values in errors.items()}


def run(
    model: ClusterModel,
    trajectory: Trajectory | None = None,
    *,
    amplitude: float = 0.5,
    frequency: float = 1.5,
    duration: float = 5.0,
    dt: float = 5e-4,
    drop_rotors: bool = False,
    base: Base | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Compare exact inverse dynamics with the approximations along a motion.

    By default, every independent joint with one degree of freedom follows ``A sin(2 pi f t + phase)`` with the
    amplitude and frequency of arXiv 2311.13732. In that paper, all joints move ``in_phase``. Here, joints that share
    rotors or loops have different phases, so that every degree of freedom of a differential moves. Joints with several
    degrees of freedom are held in their neutral configuration.

    A robot with closed loops moves about ``model.q_reference``, and continuation keeps its loops closed. If the loops
    cannot follow a wave (sine, chirp, swing), A is reduced for all joints. The limit is the amplitude at which a loop
    can no longer close, or at which the condition number of its dependent joints exceeds 1e3. A is then 0.9 times this
    limit, which ``StudyResult.reach`` describes. ``approximations.names(model)`` lists the approximations.

    Args:
        model: The robot. If it has no closed loops, all its dependent joints must be rotors.
        trajectory: The motion; see ``study.trajectories``. If it is given, the next four arguments are ignored.
        amplitude: Amplitude A, [rad], or [m] for prismatic joints.
        frequency: Frequency f, [Hz].
        duration: Duration of the motion, [s].
        dt: Time between samples, [s].
        drop_rotors: Omit the rotors of the approximate robots. By default, the rotors are locked to their carriers at
            angle 0, which is the most favourable approximation. ``unconstrained`` and ``frozen`` always keep the
            rotors.
        base: ``"fixed"`` holds the base at rest. ``"floating"`` moves the base as recorded, if the trajectory contains
            its motion, and adds the wrench on the base to the result. None selects floating if the base floats and the
            trajectory contains its motion.
        progress: Callback that is called repeatedly with (done, total).

    Returns:
        The torques, from which the methods of ``StudyResult`` compute errors.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or ``trajectory`` is not a Trajectory.
        TrajectoryError: A value is out of range, the trajectory does not fit the robot, or the base cannot float.
        ModelError: No joint can move, or the robot has no closed loops and a dependent joint is not a rotor.
        ConfigurationError: The reference pose of closed loops is nearly singular.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters import study
        >>> result = study.run(pc.load("mit_humanoid_leg"), duration=0.1)
        >>> result.joints
        ('hip_rz', 'hip_rx', 'hip_ry', 'knee', 'ankle')
    """
    check_model(model, "study.run")
    if trajectory is None:
        trajectory = Sine(amplitude, frequency, duration, dt)
    elif not isinstance(trajectory, Trajectory):
        raise ArgumentTypeError(
            f"study.run: trajectory must have states(model) and a label, got {type(trajectory).__name__}. "
            "pin_clusters.studies.study.trajectories describes the available trajectories."
        )
    root = base_columns(model)
    recorded = getattr(trajectory, "moves_base", False)
    base = _base(model, base, recorded)
    joints = moved_joints(model)
    requested_amplitude, reduced_reach, phase = None, None, None
    if isinstance(trajectory, Wave):
        phase = np.array([*trajectory.phases(model).values()])
        fitted, swing_reach = trajectory.fitted(model)
        if swing_reach.reason:
            requested_amplitude, reduced_reach = trajectory.amplitude, swing_reach
        trajectory = fitted
    time, q, v, a = states(model, trajectory, base)
    torques = approximate_dynamics.torques(model, q, v, a, drop_rotors=drop_rotors, progress=progress)
    columns = [model.joint_idx_v(name) for name in joints]
    column_names, units = joints, tuple("N" if slides(model, name) else "N m" for name in joints)
    if base == "floating" and root is not None:
        columns = [*range(root.start, root.stop), *columns]
        column_names, units = (*(f"base {x}" for x in WRENCH), *column_names), ("N",) * 3 + ("N m",) * 3 + units
    ground_torques = None
    # Recorded ground forces belong to the recorded base motion, so they are not used without that motion.
    if (base == "floating" or not recorded) and hasattr(trajectory, "loads"):
        ground_torques = trajectory.loads(model, time, q)
    if ground_torques is not None:
        if root is not None:  # the wrench on the base already includes the ground forces
            ground_torques[:, root] = 0.0
        for tau in torques.values():
            tau -= ground_torques
    return StudyResult(
        robot=model.name,
        trajectory=trajectory,
        drop_rotors=drop_rotors,
        joints=column_names,
        units=units,
        time=time,
        exact=torques["exact"][:, columns],
        approximate={level: tau[:, columns] for level, tau in torques.items() if level != "exact"},
        centre=centre(model) if model.closures and isinstance(trajectory, Wave) else None,
        phase=phase if np.any(phase) else None,
        asked=requested_amplitude,
        reach=reduced_reach,
        base=base,
        loops=bool(model.closures),
        loads=ground_torques is not None,
    )


def states(
    model: ClusterModel, trajectory: Trajectory, base: Base
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    time, q, v, a = trajectory.states(model)
    root = base_columns(model)
    if base == "fixed" and root is not None:
        pose = base_pose(model)
        q[:, pose], v[:, root], a[:, root] = held(model)[pose], 0.0, 0.0
    return time, q, v, a


def _base(model: ClusterModel, requested: Base | None, recorded: bool) -> Base:
    floats = base_columns(model) is not None
    if requested is None:
        return "floating" if floats and recorded else "fixed"
    if requested not in ("fixed", "floating"):
        raise TrajectoryError(f"base must be 'fixed' or 'floating', got {requested!r}.")
    if requested == "floating" and not floats:
        raise TrajectoryError(
            f"model {model.name!r} has no floating base. Load it with root_joint=pin.JointModelFreeFlyer(), or pass "
            "base='fixed'."
        )
    return requested
