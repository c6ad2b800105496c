"""What a trajectory is, and the checks that all of them share."""

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

Motion: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Time (N,), q of the tree (N, nq), independent v and a (N, nv)."""
Columns: TypeAlias = Mapping[str, np.ndarray]
"""Joint to its coordinates, shape (N,), [rad] or [m]."""


documented = stock(
    """
    Args:
        model: The robot.

    Returns:
        Time, shape (N,), [s]; q of the tree, shape (N, nq); v and a, shape (N, nv).
    """
)


class TrajectoryError(PinClustersError, ValueError):
    """A number of a trajectory is not allowed, or it does not fit the robot."""


@runtime_checkable
class Trajectory(Protocol):
    """A motion of any robot, or of one: whatever has these two.

    Attributes:
        label: What it is, in a few words, for titles.
    """

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        ...

    @documented
    def states(self, model: ClusterModel) -> Motion:
        """Return the motion of the whole robot, dependent joints included."""
        ...


def positive(**numbers: object) -> dict[str, float]:
    """Return the numbers as floats; what is no number, not finite or not positive is a ``TrajectoryError``."""
    found = {}
    for name, value in numbers.items():
        x = real(value)
        if x is None:
            raise TrajectoryError(f"{name} must be a number, got {shown(value)} ({type(value).__name__}).")
        if not 0.0 < x < math.inf:
            raise TrajectoryError(f"{name} must be finite and greater than 0, got {x:g}.")
        found[name] = x
    return found


def numbers(what: str, values: object) -> np.ndarray:
    """Return numbers as an array of floats of its own; ``what`` is for the message of a ``TrajectoryError``."""
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f"{what} must be numbers: {error}.") from None


def finite(what: str, values: np.ndarray, shape: tuple[int, ...], wanted: str) -> np.ndarray:
    """Return finite numbers of a shape; others are a ``TrajectoryError``, which says what is wanted."""
    if values.shape != shape or not np.isfinite(values).all():
        raise TrajectoryError(f"{what} must be {wanted}; got shape {values.shape}.")
    return values


def take(owner: Any, **numbers: object) -> None:
    """Give a frozen dataclass its positive numbers as floats, the duration and dt of its samples among them.

    Refuse, by ``TrajectoryError``, a time between samples that gives no sample, or more than 400 000.
    """
    for name, value in positive(**numbers).items():
        object.__setattr__(owner, name, value)
    duration, dt = owner.duration, owner.dt
    if dt > duration:
        raise TrajectoryError(f"dt = {dt:g} s is longer than the duration of {duration:g} s.")
    if duration / dt > MAX_SAMPLES:
        raise TrajectoryError(
            f"{duration:g} s in steps of {dt:g} s would be {duration / dt:.3g} samples; "
            f"at most {MAX_SAMPLES} are allowed. Choose a larger dt or a shorter duration."
        )


def grid(duration: float, dt: float) -> np.ndarray:
    """Return 0, dt, 2 dt, ... below the duration."""
    # 5 / 5e-4 is 10000.000000000002 on some machines, and 10001 samples would shift every RMS
    return np.arange(math.ceil(duration / dt - 1e-9)) * dt


def joint_of(model: ClusterModel, name: str) -> pin.JointModel:
    """Return a joint of the tree."""
    return model.tree.joints[model.tree.getJointId(name)]


def moved_joints(model: ClusterModel) -> tuple[str, ...]:
    """Return the names of the independent joints with one degree of freedom, in the order of v.

    Raises:
        ModelError: There is none.
    """
    names = tuple(name for name in model.independent_joints if joint_of(model, name).nv == 1)
    if not names:
        raise ModelError(
            f"model {model.name!r} has no independent joint with one degree of freedom, so there is nothing to move."
        )
    return names


def centre(model: ClusterModel) -> np.ndarray:
    """Return the coordinates about which the moved joints swing, shape (joints,), [rad] or [m]."""
    names = moved_joints(model)
    if not model.closures:
        return np.zeros(len(names))
    return coordinates(model, model.q_reference, names)


def coordinates(model: ClusterModel, q: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Return the coordinates of one-dof joints in a configuration, angles of continuous joints within pi."""
    return coordinates_of(model.tree, map(model.tree.getJointId, names), q)


def floating_base(model: ClusterModel) -> str | None:
    """Return the name of the free-flyer at the root, None if the base does not float."""
    tree = model.tree
    roots = (j for j in range(1, tree.njoints) if not tree.parents[j] and "FreeFlyer" in tree.joints[j].shortname())
    return next((name for j in roots if (name := str(tree.names[j])) in model.independent_joints), None)


def base_columns(model: ClusterModel) -> slice | None:
    """Return where the velocity of the free-flyer at the root is in v, None if the base does not float."""
    root = floating_base(model)
    if root is None:
        return None
    first = model.joint_idx_v(root)
    return slice(first, first + 6)


def base_pose(model: ClusterModel) -> slice:
    """Return where the pose of a base that floats is in q."""
    first = joint_of(model, str(floating_base(model))).idx_q
    return slice(first, first + 7)


def slides(model: ClusterModel, name: str) -> bool:
    """Say whether a joint is prismatic."""
    return "JointModelP" in joint_of(model, name).shortname()


def held(model: ClusterModel) -> np.ndarray:
    """Return the configuration in which joints stay that no trajectory moves, shape (nq,)."""
    return np.asarray(model.q_reference if model.closures else pin.neutral(model.tree))
