"""The accuracy study: exact inverse dynamics against what simulators use in place of a transmission."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentTypeError
from ..model import ClusterModel
from . import rungs
from .rungs import RUNGS, Progress
from .trajectory import Sine, TrajectoryError, moved_joints, states

__all__ = ["RUNGS", "Sine", "StudyResult", "TrajectoryError", "run"]


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Torques of the exact robot and of its approximations along one motion.

    Attributes:
        robot: Name of the robot.
        sine: The motion.
        drop_rotors: Whether the approximate robots lack the rotors altogether.
        joints: Names of the joints that move; columns of all arrays.
        units: Unit of each joint's torque, ``"N m"`` or ``"N"``.
        time: Shape (samples,), [s].
        exact: Exact torques, shape (samples, joints).
        approximate: The torques of each rung, shape (samples, joints).
    """

    robot: str
    sine: Sine
    drop_rotors: bool
    joints: tuple[str, ...]
    units: tuple[str, ...]
    time: np.ndarray
    exact: np.ndarray
    approximate: dict[str, np.ndarray]

    def error(self, rung: str) -> np.ndarray:
        """Return what a rung gets wrong, approximate minus exact, shape (samples, joints)."""
        return self.approximate[rung] - self.exact

    @property
    def rms_error(self) -> dict[str, np.ndarray]:
        """RMS of the error of each rung over the samples, shape (joints,)."""
        return {rung: np.sqrt(np.mean(self.error(rung) ** 2, axis=0)) for rung in self.approximate}

    @property
    def max_exact(self) -> np.ndarray:
        """Largest magnitude of the exact torque, shape (joints,)."""
        return np.max(np.abs(self.exact), axis=0)


def run(
    model: ClusterModel,
    *,
    amplitude: float = 0.5,
    frequency: float = 1.5,
    duration: float = 5.0,
    dt: float = 5e-4,
    drop_rotors: bool = False,
    progress: Progress | None = None,
) -> StudyResult:
    """Compare exact inverse dynamics with the rungs ``none``, ``diagonal`` and ``block`` along a sine.

    Every independent joint with one degree of freedom follows ``A sin(2 pi f t)``; joints with more of them, and a
    floating base, are held in their neutral configuration. The defaults are those of arXiv 2311.13732.

    Args:
        model: The robot; its dependent joints must be rotors.
        amplitude: A, [rad], or [m] for prismatic joints.
        frequency: f, [Hz].
        duration: [s].
        dt: Time between samples, [s].
        drop_rotors: Leave the rotors out of the approximate robots. By default they carry them, locked at angle 0,
            which is the fairest approximation.
        progress: Called with (done, total) now and then.

    Returns:
        The torques, and errors computed from them.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        TrajectoryError: A number of the trajectory is not allowed.
        ModelError: Nothing can be moved, or a dependent joint is not a rotor.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters import study
        >>> result = study.run(pc.load("mit_humanoid_leg"), duration=0.1)
        >>> result.joints
        ('hip_rz', 'hip_rx', 'hip_ry', 'knee', 'ankle')
    """
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(
            f"study.run: model must be a ClusterModel, got {type(model).__name__}. "
            "Make one: pc.ClusterModel(tree, constraints) or pc.load(name)."
        )
    sine = Sine(amplitude, frequency, duration, dt)
    joints = moved_joints(model)
    q, v, a = states(model, sine)
    found = rungs.torques(model, q, v, a, drop_rotors=drop_rotors, progress=progress)
    columns = [model.joint_idx_v(name) for name in joints]
    return StudyResult(
        robot=model.name,
        sine=sine,
        drop_rotors=drop_rotors,
        joints=joints,
        units=tuple(_unit(model, name) for name in joints),
        time=sine.time,
        exact=found["exact"][:, columns],
        approximate={rung: found[rung][:, columns] for rung in RUNGS},
    )


def _unit(model: ClusterModel, name: str) -> str:
    kind = model.tree.joints[model.tree.getJointId(name)].shortname()
    return "N" if "JointModelP" in kind else "N m"
