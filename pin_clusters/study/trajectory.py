"""The motion of the study: every independent one-dof joint follows the same sine, all else is held.

About zero, or, where there are closed loops, about the reference pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import ModelError, PinClustersError
from ..model import ClusterModel
from .reach import Reach, follow, reach

MAX_SAMPLES = 400_000


class TrajectoryError(PinClustersError, ValueError):
    """A number of the trajectory is not allowed."""


@dataclass(frozen=True)
class Sine:
    """``q_i(t) = A sin(w t)``, ``w = 2 pi f``, for t = 0, dt, 2 dt, ... below the duration.

    In a robot with closed loops the sine is added to the reference pose.

    The defaults are those of the accuracy study of arXiv 2311.13732.

    Attributes:
        amplitude: A, [rad], or [m] for a prismatic joint.
        frequency: f, [Hz].
        duration: [s].
        dt: Time between samples, [s].

    Raises:
        TrajectoryError: A number is not finite and positive, or there would be more than 400 000 samples.
    """

    amplitude: float = 0.5
    frequency: float = 1.5
    duration: float = 5.0
    dt: float = 5e-4

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("amplitude", "frequency", "duration", "dt"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise TrajectoryError(f"{name} must be a number, got {value!r} ({type(value).__name__}).")
            if not math.isfinite(value) or value <= 0.0:
                raise TrajectoryError(f"{name} must be finite and greater than 0, got {value:g}.")
            object.__setattr__(self, name, float(value))
        if self.dt > self.duration:
            raise TrajectoryError(f"dt = {self.dt:g} s is longer than the duration of {self.duration:g} s.")
        if self.duration / self.dt > MAX_SAMPLES:
            raise TrajectoryError(
                f"{self.duration:g} s in steps of {self.dt:g} s would be {self.duration / self.dt:.3g} samples; "
                f"at most {MAX_SAMPLES} are allowed. Choose a larger dt or a shorter duration."
            )

    @property
    def samples(self) -> int:
        """Number of samples."""
        # 5 / 5e-4 is 10000.000000000002 on some machines, and 10001 samples would shift every RMS
        return math.ceil(self.duration / self.dt - 1e-9)

    @property
    def time(self) -> np.ndarray:
        """Times, shape (samples,), [s]."""
        return np.arange(self.samples) * self.dt


def moved_joints(model: ClusterModel) -> tuple[str, ...]:
    """Return the names of the independent joints with one degree of freedom, in the order of v.

    Raises:
        ModelError: There is none.
    """
    names = tuple(n for n in model.independent_joints if model.tree.joints[model.tree.getJointId(n)].nv == 1)
    if not names:
        raise ModelError(
            f"model {model.name!r} has no independent joint with one degree of freedom, so there is nothing to move."
        )
    return names


def states(model: ClusterModel, sine: Sine) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the motion of the whole robot; dependent joints follow their couplings.

    Joints with several degrees of freedom (a floating base too) stay in their neutral configuration, at rest: the
    torques of the others are then those of a robot with a fixed base. In a robot with closed loops the sines are added
    to ``model.q_reference``, where all else stays, and the loops follow by continuation.

    Args:
        model: The robot.
        sine: What its independent one-dof joints do.

    Returns:
        q of the tree, shape (samples, nq); v and a, shape (samples, nv), [rad/s] and [rad/s^2].

    Raises:
        ModelError: There is no joint to move.
        BranchLost: The loops cannot follow so far; see ``reachable``.
    """
    tree = model.tree
    w = 2.0 * math.pi * sine.frequency
    wave = np.sin(w * sine.time)
    rate = w * np.cos(w * sine.time)
    v = np.zeros((sine.samples, model.nv))
    a = np.zeros_like(v)
    positions: dict[int, np.ndarray] = {}
    for name in moved_joints(model):
        column = model.joint_idx_v(name)
        positions[int(tree.getJointId(name))] = sine.amplitude * wave
        v[:, column] = sine.amplitude * rate
        a[:, column] = -sine.amplitude * w * w * wave
    if model.closures:
        return follow(model, _direction(model), sine.amplitude * wave), v, a
    for row in model.coupling_rows:  # masters come before their dependents
        value = np.full(sine.samples, row.offset)
        for master, coefficient in zip(row.masters, row.coefficients, strict=True):
            value += coefficient * positions[master]
        positions[row.dependent] = value
    q = np.tile(pin.neutral(tree), (sine.samples, 1))
    for j, value in positions.items():
        joint = tree.joints[j]
        if joint.nq == 2:  # continuous: cosine and sine
            q[:, joint.idx_q] = np.cos(value)
            q[:, joint.idx_q + 1] = np.sin(value)
        else:
            q[:, joint.idx_q] = value
    return q, v, a


def reachable(model: ClusterModel, sine: Sine) -> Reach:
    """Return the amplitude that all joints can have: that of the sine, unless closed loops stop them before.

    Raises:
        ModelError: There is no joint to move.
        ConfigurationError: The reference pose is nearly singular.
    """
    if not model.closures:
        return Reach(sine.amplitude, math.inf)
    return reach(model, _direction(model), sine.amplitude)


def centre(model: ClusterModel) -> np.ndarray:
    """Return the coordinates about which the moved joints swing, shape (joints,), [rad] or [m]."""
    tree, q = model.tree, model.q_reference
    joints = [tree.joints[tree.getJointId(name)] for name in moved_joints(model)]
    if not model.closures:
        return np.zeros(len(joints))
    return np.array([math.atan2(q[j.idx_q + 1], q[j.idx_q]) if j.nq == 2 else float(q[j.idx_q]) for j in joints])


def _direction(model: ClusterModel) -> np.ndarray:
    direction = np.zeros(model.nv)
    direction[[model.joint_idx_v(name) for name in moved_joints(model)]] = 1.0
    return direction
