"""Change of the independent joints of a mechanism."""

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
        q: Configuration of the spanning tree, shape (nq,); the same for both models.

    Raises:
        SingularClusterError: At q, the loops do not determine the velocities of the dependent joints of a model.
        ShapeError: An argument has a wrong size.
        ArgumentTypeError: An argument has a wrong type.
    """,
)


class CoordinateChange:
    """Map velocities, accelerations and torques between two choices of independent joints of one mechanism.

    The matrix T(q) contains the rows of the old model's G that belong to the independent joints of the new model. The
    maps are ``v_new = T v_old`` and ``a_new = T a_old + T_dot v_old``. Torques: ``tau_old = T' tau_new``.
    Units are SI: [rad] or [m], [N m] or [N]. Each object has its own workspaces; use one object per thread.

    Attributes:
        old: Original model.
        new: Model with other independent joints.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> new, change = pc.with_independent(model, ["rocker"])
        >>> change.velocity_to_new(pc.neutral(model), [1.0]).round(4)  # rocker speed per crank speed
        array([0.2211])
    """

    __slots__ = ("_data", "_reverse", "new", "old")

    def __init__(self, old: ClusterModel, new: ClusterModel) -> None:
        self.old, self.new = old, new
        self._data = old.createData()
        self._reverse: CoordinateChange | None = None

    @property
    def back(self) -> "CoordinateChange":
        """Inverse map, from the new model to the old model."""
        if self._reverse is None:
            self._reverse = CoordinateChange(self.new, self.old)
            self._reverse._reverse = self
        return self._reverse

    @_documented
    def matrix(self, q: ArrayLike) -> np.ndarray:
        """Compute T, shape (new.nv, old.nv)."""
        q = _check.configuration(self.old, self._data, q)
        return np.array(_bridge.matrix(self.old, self._data, q)[self.new.idx_v_independent])

    @_documented
    def velocity_to_new(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Compute the velocity of the new independent joints, shape (nv,).

        Args:
            v: Velocity of the old independent joints, shape (nv,), [rad/s] or [m/s].
        """
        return self.matrix(q) @ _check.velocity(self.old, "v", v)

    @_documented
    def velocity_to_old(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Compute the velocity of the old independent joints, shape (nv,).

        Args:
            v: Velocity of the new independent joints, shape (nv,), [rad/s] or [m/s].
        """
        return self.back.velocity_to_new(q, v)

    @_documented
    def acceleration_to_new(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Compute the acceleration of the new independent joints, shape (nv,).

        Args:
            v: Velocity of the old independent joints, shape (nv,), [rad/s] or [m/s].
            a: Acceleration of the old independent joints, shape (nv,), [rad/s^2] or [m/s^2].
        """
        q, v = _check.configuration(self.old, self._data, q), _check.velocity(self.old, "v", v)
        G, g = _bridge.matrix_and_bias(self.old, self._data, q, v)
        return (G @ _check.velocity(self.old, "a", a) + g)[self.new.idx_v_independent]

    @_documented
    def acceleration_to_old(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Compute the acceleration of the old independent joints, shape (nv,).

        Args:
            v: Velocity of the new independent joints, shape (nv,), [rad/s] or [m/s].
            a: Acceleration of the new independent joints, shape (nv,), [rad/s^2] or [m/s^2].
        """
        return self.back.acceleration_to_new(q, v, a)

    @_documented
    def torque_to_new(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Compute the torques of the new independent joints that have the same power as the given torques.

        Args:
            tau: Torque of the old independent joints, shape (nv,), [N m] or [N].
        """
        return self.back.torque_to_old(q, tau)

    @_documented
    def torque_to_old(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Compute the torques of the old independent joints that have the same power as the given torques.

        Args:
            tau: Torque of the new independent joints, shape (nv,), [N m] or [N].
        """
        return _check.velocity(self.new, "tau", tau) @ self.matrix(q)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return ``velocity_to_new(q, v)``. Deprecated."""
        _deprecated("velocity", "velocity_to_new")
        return self.velocity_to_new(q, v)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Return ``acceleration_to_new(q, v, a)``. Deprecated."""
        _deprecated("acceleration", "acceleration_to_new")
        return self.acceleration_to_new(q, v, a)

    def torque(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return ``torque_to_old(q, tau)``. Deprecated."""
        _deprecated("torque", "torque_to_old")
        return self.torque_to_old(q, tau)

    def __repr__(self) -> str:
        return f"CoordinateChange({list(self.old.independent_joints)} -> {list(self.new.independent_joints)})"


def _deprecated(name: str, replacement: str) -> None:
    inverse = replacement[:-3] + ("old" if replacement.endswith("new") else "new")
    warnings.warn(
        f"CoordinateChange.{name} is deprecated. Use {replacement}; the inverse map is {inverse}.",
        DeprecationWarning,
        stacklevel=3,
    )


def with_independent(model: ClusterModel, names: Iterable[str]) -> tuple[ClusterModel, CoordinateChange]:
    """Create a model with other independent joints, for poses where the current independent joints are singular.

    Configurations q are valid for both models. The new model reuses all compiled functions.

    Args:
        model: Cluster model.
        names: For each cluster that changes, names of all its new independent joints. Other clusters do not change.

    Returns:
        The new model, and a ``CoordinateChange`` between the models.

    Raises:
        ArgumentTypeError: ``model`` is not a ``ClusterModel``, or ``names`` is not a list of names.
        UnknownNameError: The model has no such joint.
        ConstraintError: The number of joints in a cluster is wrong, or these joints do not determine the other joints.

    References:
        Virtual work: tau' v = tau_new' v_new.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> other, change = pc.with_independent(model, [model.dependent_joints[-1]])
        >>> q = pc.neutral(model)
        >>> bool(abs(change.velocity_to_old(q, change.velocity_to_new(q, [1.0])) - 1.0) < 1e-12)
        True
    """
    check_model(model, "with_independent")
    independent = [*joint_names("with_independent: names", names)]
    tree = model.own_tree
    for loop in model.tables.topology.analyses:
        inside = [j for j in loop.joints if tree.names[j] in independent]
        if not inside:
            independent += [tree.names[j] for j in loop.joints if tree.nvs[j] and tree.idx_vs[j] in loop.independents]
    new_model = alike(model, independent=tuple(independent))
    return new_model, CoordinateChange(model, new_model)
