"""Torques of the exact robot and of its approximations along one motion."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ..._support.whole_files import write_csv
from ...errors import ArgumentTypeError
from ...model import ClusterModel, check_model
from . import rungs
from ._samples import rms
from .reach import Reach
from .rungs import Progress
from .trajectories import Sine, Trajectory, TrajectoryError, Wave, base_columns, centre, held, moved_joints
from .trajectories._base import base_pose, slides

Base = Literal["fixed", "floating"]
WRENCH = ("force x", "force y", "force z", "moment x", "moment y", "moment z")
"""What acts on a floating base, in its own frame."""


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Torques of the exact robot and of its approximations along one motion.

    Attributes:
        robot: Name of the robot.
        trajectory: The motion; the amplitude of a wave may be smaller than what was asked for, see ``reach``.
        drop_rotors: Whether the approximate robots lack the rotors altogether.
        joints: What the columns of all arrays are: names of the joints that move, after the six components of the
            wrench on the base, in its own frame, if it floats.
        units: Unit of each column, ``"N m"`` or ``"N"``.
        time: Shape (samples,), [s].
        exact: Exact torques, shape (samples, joints).
        approximate: The torques of each rung, shape (samples, joints).
        centre: Coordinates about which the joints of a wave move, shape (joints,); None for zero. With closed loops it
            is the reference pose.
        phase: Phases of the joints of a wave, shape (joints,), [rad]; None if all move alike.
        asked: The amplitude that was asked for; None if it is that of the trajectory.
        reach: What cut the amplitude; None if nothing did.
        base: ``"fixed"``: the base is held; ``"floating"``: it moves as the trajectory says.
        loops: Whether the robot has closed loops.
        loads: Whether recorded forces of the ground act on the joints. The wrench on a floating base is in any case all
            that the ground has to give.
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
        """The motion, if it is a sine.

        Raises:
            AttributeError: It is not.
        """
        if not isinstance(self.trajectory, Sine):
            raise AttributeError(f"the trajectory is no sine: {self.trajectory.label}.")
        return self.trajectory

    @property
    def actuated(self) -> np.ndarray:
        """Indices of the columns that are joints, not the wrench on the base."""
        return np.arange(6 if self.base == "floating" else 0, len(self.joints))

    def error(self, rung: str) -> np.ndarray:
        """Return what a rung gets wrong, approximate minus exact, shape (samples, joints)."""
        return self.approximate[rung] - self.exact

    def to_csv(self, path: str | Path) -> None:
        """Write the torques as a table: a line of names with units, then a line per sample with all digits.

        Columns: time, then the exact torque of each joint, ``knee, exact [N m]``, and that of each rung.

        Args:
            path: Where to; the folder must exist.

        Raises:
            OSError: The file cannot be written.
        """
        columns = {"time [s]": self.time}
        for rung, torques in ({"exact": self.exact} | self.approximate).items():
            for name, unit, torque in zip(self.joints, self.units, torques.T, strict=True):
                columns[f"{name}, {rung} [{unit}]"] = torque
        write_csv(path, columns)

    @property
    def rms_error(self) -> dict[str, np.ndarray]:
        """RMS of the error of each rung over the samples, shape (joints,)."""
        return {rung: rms(self.error(rung)) for rung in self.approximate}

    @property
    def peak_error(self) -> dict[str, np.ndarray]:
        """Largest magnitude of the error of each rung, shape (joints,)."""
        return {rung: np.max(np.abs(self.error(rung)), axis=0) for rung in self.approximate}

    @property
    def max_exact(self) -> np.ndarray:
        """Largest magnitude of the exact torque, shape (joints,)."""
        return np.max(np.abs(self.exact), axis=0)

    def share(self, errors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return errors of each rung as per cent of the largest exact torque of the same joint, shape (joints,).

        Args:
            errors: ``rms_error`` or ``peak_error``.
        """
        largest = self.max_exact
        # a joint that carries nothing would have any share
        scale = np.maximum(largest, max(1e-9 * float(largest.max(initial=0.0)), np.finfo(float).tiny))
        return {rung: 100.0 * values / scale for rung, values in errors.items()}


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
    """Compare exact inverse dynamics with the rungs of the ladder along a motion.

    Without a trajectory every independent joint with one degree of freedom follows ``A sin(2 pi f t + phase)``, with
    the numbers of arXiv 2311.13732, whose joints are ``in_phase``; here those that share rotors or loops are not, so
    that every freedom of a differential moves. Joints with more freedoms are held in their neutral configuration.

    A robot with closed loops moves about ``model.q_reference``, and its loops follow by continuation. If they cannot
    follow a wave (sine, chirp, swing) so far, A is cut for all joints, to 0.9 of the largest amplitude before a loop
    cannot follow or the condition of its dependent joints exceeds 1e3; ``reach`` of the result says so. The rungs are
    those of ``approximations.names(model)``.

    Args:
        model: The robot; without closed loops its dependent joints must be rotors.
        trajectory: The motion, see ``study.trajectories``; the four numbers below are then not used.
        amplitude: A, [rad], or [m] for prismatic joints.
        frequency: f, [Hz].
        duration: [s].
        dt: Time between samples, [s].
        drop_rotors: Leave the rotors out of the approximate robots. By default they carry them, locked at angle 0,
            which is the fairest approximation. ``unconstrained`` and ``frozen``, which are about loops, keep them.
        base: ``"fixed"`` holds the base at rest; ``"floating"`` moves it as recorded, or not at all, and adds the
            wrench on it to the result. None: floating if the base floats and the trajectory has recorded its motion.
        progress: Called with (done, total) now and then.

    Returns:
        The torques, and errors computed from them.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or the trajectory is none.
        TrajectoryError: A number is not allowed, the trajectory does not fit the robot, or the base does not float.
        ModelError: Nothing can be moved, or, without closed loops, a dependent joint is not a rotor.
        ConfigurationError: The reference pose of closed loops is nearly singular, so nothing can swing about it.

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
            "Make one: see pin_clusters.studies.study.trajectories."
        )
    root = base_columns(model)
    recorded = getattr(trajectory, "moves_base", False)
    base = _base(model, base, recorded)
    joints = moved_joints(model)
    asked, cut, phase = None, None, None
    if isinstance(trajectory, Wave):
        phase = np.array([*trajectory.phases(model).values()])
        fitted, found = trajectory.fitted(model)
        if found.reason:
            asked, cut = trajectory.amplitude, found
        trajectory = fitted
    time, q, v, a = states(model, trajectory, base)
    torques = rungs.torques(model, q, v, a, drop_rotors=drop_rotors, progress=progress)
    columns = [model.joint_idx_v(name) for name in joints]
    names, units = joints, tuple("N" if slides(model, name) else "N m" for name in joints)
    if base == "floating" and root is not None:
        columns = [*range(root.start, root.stop), *columns]
        names, units = (*(f"base {x}" for x in WRENCH), *names), ("N",) * 3 + ("N m",) * 3 + units
    given = None
    # forces belong to the recorded motion of the base: where that is not used, nor are they
    if (base == "floating" or not recorded) and hasattr(trajectory, "loads"):
        given = trajectory.loads(model, time, q)
    if given is not None:
        if root is not None:  # what the ground gives stays in the wrench on the base
            given[:, root] = 0.0
        for tau in torques.values():
            tau -= given
    return StudyResult(
        robot=model.name,
        trajectory=trajectory,
        drop_rotors=drop_rotors,
        joints=names,
        units=units,
        time=time,
        exact=torques["exact"][:, columns],
        approximate={rung: tau[:, columns] for rung, tau in torques.items() if rung != "exact"},
        centre=centre(model) if model.closures and isinstance(trajectory, Wave) else None,
        phase=phase if np.any(phase) else None,
        asked=asked,
        reach=cut,
        base=base,
        loops=bool(model.closures),
        loads=given is not None,
    )


def states(
    model: ClusterModel, trajectory: Trajectory, base: Base
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return time, q, v and a of a motion; where its base is fixed, it is held."""
    time, q, v, a = trajectory.states(model)
    root = base_columns(model)
    if base == "fixed" and root is not None:
        pose = base_pose(model)
        q[:, pose], v[:, root], a[:, root] = held(model)[pose], 0.0, 0.0
    return time, q, v, a


def _base(model: ClusterModel, wanted: Base | None, recorded: bool) -> Base:
    """Return what the base does."""
    floats = base_columns(model) is not None
    if wanted is None:
        return "floating" if floats and recorded else "fixed"
    if wanted not in ("fixed", "floating"):
        raise TrajectoryError(f"base must be 'fixed' or 'floating', got {wanted!r}.")
    if wanted == "floating" and not floats:
        raise TrajectoryError(
            f"model {model.name!r} has no floating base. Load it with root_joint=pin.JointModelFreeFlyer(), or say "
            "base='fixed'."
        )
    return wanted
