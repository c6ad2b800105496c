"""Another choice of independent joints."""

import warnings
from collections.abc import Iterable

import numpy as np

from ..._support.arrays import ArrayLike, joint_names
from ..._support.docstrings import stock
from ...model import ClusterModel, alike, check_model
from .._shared import bridge as _bridge
from .._shared import check as _check

_documented = stock(
    """
    Args:
        q: Configuration of the whole tree, shape (nq,); the same for both models.

    Raises:
        SingularClusterError: The loops cannot be solved for the dependent joints of the model that it leads from.
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
    """,
)


class CoordinateChange:
    """From the independent joints of one model to those of another one of the same mechanism.

    With T(q) the rows of G of the old model at the independent joints of the new one, ``v_new = T v_old``,
    ``a_new = T a_old + T_dot v_old`` and, for the same power, ``tau_old = T' tau_new``. Each method says where it
    leads: ``velocity_to_new`` takes a velocity of the old independent joints, and returns that of the new ones. It has
    workspaces of its own: one per thread.

    Attributes:
        old: The model that was given.
        new: The model with other independent joints.
    """

    __slots__ = ("_data", "_reverse", "new", "old")

    def __init__(self, old: ClusterModel, new: ClusterModel) -> None:
        self.old, self.new = old, new
        self._data = old.createData()
        self._reverse: CoordinateChange | None = None

    @property
    def back(self) -> "CoordinateChange":
        """The change from the new model to the old one."""
        if self._reverse is None:
            self._reverse = CoordinateChange(self.new, self.old)
            self._reverse._reverse = self
        return self._reverse

    @_documented
    def matrix(self, q: ArrayLike) -> np.ndarray:
        """Return T, shape (new.nv, old.nv)."""
        q = _check.configuration(self.old, self._data, q)
        return np.array(_bridge.matrix(self.old, self._data, q)[self.new.idx_v_independent])

    @_documented
    def velocity_to_new(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the velocity of the new independent joints.

        Args:
            v: Velocity of the old ones, shape (nv,), [rad/s] or [m/s].
        """
        return self.matrix(q) @ _check.velocity(self.old, "v", v)

    @_documented
    def velocity_to_old(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the velocity of the old independent joints.

        Args:
            v: Velocity of the new ones, shape (nv,), [rad/s] or [m/s].
        """
        return self.back.velocity_to_new(q, v)

    @_documented
    def acceleration_to_new(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Return the acceleration of the new independent joints.

        Args:
            v: Velocity of the old ones, shape (nv,), [rad/s] or [m/s].
            a: Acceleration of the old ones, shape (nv,), [rad/s^2] or [m/s^2].
        """
        q, v = _check.configuration(self.old, self._data, q), _check.velocity(self.old, "v", v)
        G, g = _bridge.matrix_and_bias(self.old, self._data, q, v)
        return (G @ _check.velocity(self.old, "a", a) + g)[self.new.idx_v_independent]

    @_documented
    def acceleration_to_old(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Return the acceleration of the old independent joints.

        Args:
            v: Velocity of the new ones, shape (nv,), [rad/s] or [m/s].
            a: Acceleration of the new ones, shape (nv,), [rad/s^2] or [m/s^2].
        """
        return self.back.acceleration_to_new(q, v, a)

    @_documented
    def torque_to_new(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the torques of the new independent joints that do the same work as torques of the old ones.

        Args:
            tau: Torque of the old ones, shape (nv,), [N m] or [N].
        """
        return self.back.torque_to_old(q, tau)

    @_documented
    def torque_to_old(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return the torques of the old independent joints that do the same work as torques of the new ones.

        Args:
            tau: Torque of the new ones, shape (nv,), [N m] or [N].
        """
        return _check.velocity(self.new, "tau", tau) @ self.matrix(q)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return ``velocity_to_new(q, v)``; an old name, deprecated."""
        _deprecated("velocity", "velocity_to_new")
        return self.velocity_to_new(q, v)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Return ``acceleration_to_new(q, v, a)``; an old name, deprecated."""
        _deprecated("acceleration", "acceleration_to_new")
        return self.acceleration_to_new(q, v, a)

    def torque(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return ``torque_to_old(q, tau)``; an old name, deprecated."""
        _deprecated("torque", "torque_to_old")
        return self.torque_to_old(q, tau)

    def __repr__(self) -> str:
        return f"CoordinateChange({list(self.old.independent_joints)} -> {list(self.new.independent_joints)})"


def _deprecated(name: str, now: str) -> None:
    other = now[:-3] + ("old" if now.endswith("new") else "new")
    warnings.warn(
        f"CoordinateChange.{name} does not say where it leads: it is now {now}. {other} leads the other way.",
        DeprecationWarning,
        stacklevel=3,
    )


def with_independent(model: ClusterModel, names: Iterable[str]) -> tuple[ClusterModel, CoordinateChange]:
    """Return the same mechanism with other independent joints, for poses where the present ones are singular.

    The configurations of both models are the same. Nothing is compiled again: compiled functions read tables, and know
    no model.

    Args:
        model: Cluster model.
        names: Joints that shall be independent, for every cluster with loops that holds one of them; the other
            clusters keep theirs.

    Returns:
        The new model, and the change of velocities, accelerations and torques between the two.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, or ``names`` no list of names.
        UnknownNameError: No joint has that name.
        ConstraintError: The number of names does not fit, or they do not determine the other joints.

    References:
        Power is the same in both: tau' v = tau_new' v_new.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> other, change = pc.with_independent(model, [model.dependent_joints[-1]])
        >>> q = pc.neutral(model)
        >>> bool(abs(change.velocity_to_old(q, change.velocity_to_new(q, [1.0])) - 1.0) < 1e-12)
        True
    """
    check_model(model, "with_independent")
    wished = [*joint_names("with_independent: names", names)]
    tree = model.own_tree
    for loop in model.tables.topology.analyses:
        inside = [j for j in loop.joints if tree.names[j] in wished]
        if not inside:
            wished += [tree.names[j] for j in loop.joints if tree.nvs[j] and tree.idx_vs[j] in loop.independents]
    other = alike(model, independent=tuple(wished))
    return other, CoordinateChange(model, other)
