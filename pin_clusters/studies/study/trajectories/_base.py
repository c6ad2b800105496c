"""Define the trajectory protocol and the checks that all trajectories share."""

import math
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pinocchio as pin

from ...._support.arrays import real
from ...._support.docstrings import stock
from ...._support.trees import coordinates_of
from ....errors import ModelError, PinClustersError, shown
from ....model import ClusterModel

MAX_SAMPLES = 400_000

Motion: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # Time, q, v and a, one row per sample
Columns: TypeAlias = Mapping[str, np.ndarray]  # Coordinates by joint name, shape (N,), [rad] or [m]


documented = stock(
    """
    Args:
        model: The robot.

    Returns:
        Time, shape (N,), [s]; q of the tree, shape (N, nq); v and a, shape (N, nv).
    """
)


class TrajectoryError(PinClustersError, ValueError):
    """A value in a trajectory is out of range, or the trajectory does not fit the robot."""


@runtime_checkable
class Trajectory(Protocol):
    """A motion, for any robot or for a specific robot. Any object with ``label`` and ``states`` is a trajectory.

    Attributes:
        label: Short description for titles.
    """

    @property
    def label(self) -> str:
        """Short description for titles."""
        ...

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Sample the motion of the whole robot, including the dependent joints."""
        ...


def positive(**numbers: object) -> dict[str, float]:
    floats = {}
    for name, value in numbers.items():
        x = real(value)
        if x is None:
            raise TrajectoryError(f"{name} must be a number, got {shown(value)} ({type(value).__name__}).")
        if not 0.0 < x < math.inf:
            raise TrajectoryError(f"{name} must be finite and greater than 0, got {x:g}.")
        floats[name] = x
    return floats


def numbers(description: str, values: object) -> np.ndarray:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f"{description} must be numbers: {error}.") from None


def finite(description: str, values: np.ndarray, shape: tuple[int, ...], expected: str) -> np.ndarray:
    if values.shape != shape or not np.isfinite(values).all():
        raise TrajectoryError(f"{description} must be {expected}; got shape {values.shape}.")
    return values


def take(owner: Any, **numbers: object) -> None:
    for name, value in positive(**numbers).items():
        object.__setattr__(owner, name, value)
    duration, dt = owner.duration, owner.dt
    if dt > duration:
        raise TrajectoryError(f"dt = {dt:g} s is longer than the duration of {duration:g} s.")
    if duration / dt > MAX_SAMPLES:
        raise TrajectoryError(
            f"{duration:g} s in steps of {dt:g} s would give {duration / dt:.3g} samples, more than {MAX_SAMPLES}. "
            "Choose a larger dt or a shorter duration."
        )


def grid(duration: float, dt: float) -> np.ndarray:
    # Without the tolerance, rounding (5 / 5e-4 > 10000 on some machines) would add a sample and change every RMS.
    return np.arange(math.ceil(duration / dt - 1e-9)) * dt


def joint_of(model: ClusterModel, name: str) -> pin.JointModel:
    return model.tree.joints[model.tree.getJointId(name)]


def moved_joints(model: ClusterModel) -> tuple[str, ...]:
    """List the independent one-dof joints in the order of v; raise ``ModelError`` if there are none."""
    names = tuple(name for name in model.independent_joints if joint_of(model, name).nv == 1)
    if not names:
        raise ModelError(f"model {model.name!r} has no independent joint with one degree of freedom to move.")
    return names


def centre(model: ClusterModel) -> np.ndarray:
    names = moved_joints(model)
    if not model.closures:
        return np.zeros(len(names))
    return coordinates(model, model.q_reference, names)


def coordinates(model: ClusterModel, q: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Extract coordinates of one-dof joints from a configuration; angles of continuous joints are in [-pi, pi]."""
    return coordinates_of(model.tree, map(model.tree.getJointId, names), q)


def floating_base(model: ClusterModel) -> str | None:
    tree = model.tree
    roots = (j for j in range(1, tree.njoints) if not tree.parents[j] and "FreeFlyer" in tree.joints[j].shortname())
    return next((name for j in roots if (name := str(tree.names[j])) in model.independent_joints), None)


def base_columns(model: ClusterModel) -> slice | None:
    root = floating_base(model)
    if root is None:
        return None
    start = model.joint_idx_v(root)
    return slice(start, start + 6)


def base_pose(model: ClusterModel) -> slice:
    start = joint_of(model, str(floating_base(model))).idx_q
    return slice(start, start + 7)


def slides(model: ClusterModel, name: str) -> bool:
    return "JointModelP" in joint_of(model, name).shortname()


def held(model: ClusterModel) -> np.ndarray:
    return np.asarray(model.q_reference if model.closures else pin.neutral(model.tree))
