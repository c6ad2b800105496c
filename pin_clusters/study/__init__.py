"""The accuracy study: exact inverse dynamics against what simulators use in place of a transmission.

The approximations ("rungs") of robots without closed loops are ``none``, ``diagonal`` and ``block`` (armature), those
of robots with closed loops ``unconstrained`` and ``frozen``, and, if they have rotors, ``no rotor`` and ``armature``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentTypeError
from ..model import ClusterModel
from . import rungs
from .loop_rungs import LOOP_RUNGS, ROTOR_RUNGS
from .reach import Reach
from .rungs import RUNGS, Progress
from .trajectory import Sine, TrajectoryError, centre, moved_joints, reachable, states

__all__ = ["LOOP_RUNGS", "ROTOR_RUNGS", "RUNGS", "Reach", "Sine", "StudyResult", "TrajectoryError", "run"]


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Torques of the exact robot and of its approximations along one motion.

    Attributes:
        robot: Name of the robot.
        sine: The motion; its amplitude may be smaller than what was asked for, see ``reach``.
        drop_rotors: Whether the approximate robots lack the rotors altogether.
        joints: Names of the joints that move; columns of all arrays.
        units: Unit of each joint's torque, ``"N m"`` or ``"N"``.
        time: Shape (samples,), [s].
        exact: Exact torques, shape (samples, joints).
        approximate: The torques of each rung, shape (samples, joints).
        centre: Coordinates about which the joints move, shape (joints,); None for zero. With closed loops it is the
            reference pose.
        asked: The amplitude that was asked for; None if it is that of ``sine``.
        reach: What cut the amplitude; None if nothing did.
    """

    robot: str
    sine: Sine
    drop_rotors: bool
    joints: tuple[str, ...]
    units: tuple[str, ...]
    time: np.ndarray
    exact: np.ndarray
    approximate: dict[str, np.ndarray]
    centre: np.ndarray | None = None
    asked: float | None = None
    reach: Reach | None = None

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

    A robot with closed loops moves about ``model.q_reference``, and its loops follow by continuation. If they cannot
    follow so far, A is cut for all joints, to 0.9 of the largest amplitude before a loop cannot follow or the condition
    of its dependent joints exceeds 1e3; ``reach`` of the result says so. Its rungs:

    - ``unconstrained``: the independent joints' own rows of the spanning tree, at the true q and tree velocity; what
      the dependent joints carry is left out (``baselines.unconstrained``).
    - ``frozen``: ``tau = G0' rnea_tree(q, G0 v, G0 a)`` with the coupling G0 of the reference pose and no bias g, at
      the true q.
    - ``no rotor`` (if it has rotors): exact loops, the rotors locked into their carriers.
    - ``armature`` (if it has rotors): the same with ``J ratio^2`` as armature on the joints that drive each rotor.

    Args:
        model: The robot; without closed loops its dependent joints must be rotors.
        amplitude: A, [rad], or [m] for prismatic joints.
        frequency: f, [Hz].
        duration: [s].
        dt: Time between samples, [s].
        drop_rotors: Leave the rotors out of the approximate robots. By default they carry them, locked at angle 0,
            which is the fairest approximation. ``unconstrained`` and ``frozen``, which are about loops, keep them.
        progress: Called with (done, total) now and then.

    Returns:
        The torques, and errors computed from them.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel.
        TrajectoryError: A number of the trajectory is not allowed.
        ModelError: Nothing can be moved, or, without closed loops, a dependent joint is not a rotor.
        ConfigurationError: The reference pose of closed loops is nearly singular, so nothing can swing about it.

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
    reach = reachable(model, sine)
    sine = dataclasses.replace(sine, amplitude=reach.amplitude)
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
        approximate={rung: tau[:, columns] for rung, tau in found.items() if rung != "exact"},
        centre=centre(model) if model.closures else None,
        asked=float(amplitude) if reach.reason else None,
        reach=reach if reach.reason else None,
    )


def _unit(model: ClusterModel, name: str) -> str:
    kind = model.tree.joints[model.tree.getJointId(name)].shortname()
    return "N" if "JointModelP" in kind else "N m"
