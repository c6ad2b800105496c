"""Another choice of independent joints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..docstrings import stock
from ..errors import ArgumentTypeError
from ..model import ClusterModel, alike
from . import _bridge, _check

_documented = stock(
    """
    Args:
        q: Configuration of the whole tree, shape (nq,).
        v: Velocity of the old independent joints, shape (old.nv,), [rad/s] or [m/s].

    Raises:
        SingularClusterError: The loops cannot be solved for the dependent joints of the old model.
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
    """,
)


class CoordinateChange:
    """From the independent joints of one model to those of another one of the same mechanism.

    With T(q) the rows of G of the first model at the independent joints of the second, ``v_new = T v``,
    ``a_new = T a + T_dot v`` and, for the same power, ``tau = T' tau_new``. It has workspaces of its own: one per
    thread.

    Attributes:
        old: The model from whose velocities it leads.
        new: The model to whose velocities it leads.
    """

    __slots__ = ("_data", "_reverse", "new", "old")

    def __init__(self, old: ClusterModel, new: ClusterModel) -> None:
        self.old, self.new = old, new
        self._data = old.createData()
        self._reverse: CoordinateChange | None = None

    @property
    def back(self) -> CoordinateChange:
        """The change from the new model to the old one."""
        if self._reverse is None:
            self._reverse = CoordinateChange(self.new, self.old)
            self._reverse._reverse = self
        return self._reverse

    @_documented
    def matrix(self, q: Any) -> np.ndarray:
        """Return T, shape (new.nv, old.nv).

        Args:
            q: Configuration of the whole tree, shape (nq,); the same for both models.
        """
        q = _check.configuration(self.old, self._data, q)
        return np.array(_bridge.matrix(self.old, self._data, q)[self.new.idx_v_independent])

    @_documented
    def velocity(self, q: Any, v: Any) -> np.ndarray:
        """Return the velocity of the new independent joints."""
        return self.matrix(q) @ _check.velocity(self.old, "v", v)

    @_documented
    def acceleration(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """Return the acceleration of the new independent joints.

        Args:
            a: Their acceleration, shape (old.nv,), [rad/s^2] or [m/s^2].
        """
        q, v = _check.configuration(self.old, self._data, q), _check.velocity(self.old, "v", v)
        G, g = _bridge.matrix_and_bias(self.old, self._data, q, v)
        return (G @ _check.velocity(self.old, "a", a) + g)[self.new.idx_v_independent]

    @_documented
    def torque(self, q: Any, tau: Any) -> np.ndarray:
        """Return the torques of the old independent joints that do the same work as torques of the new ones.

        Args:
            tau: Torque of the new independent joints, shape (new.nv,), [N m] or [N].
        """
        return _check.velocity(self.new, "tau", tau) @ self.matrix(q)

    def __repr__(self) -> str:
        """Name both choices."""
        return f"CoordinateChange({list(self.old.independent_joints)} -> {list(self.new.independent_joints)})"


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
        >>> bool(abs(change.back.velocity(q, change.velocity(q, [1.0])) - 1.0) < 1e-12)
        True
    """
    if not isinstance(model, ClusterModel):
        raise ArgumentTypeError(f"with_independent: model must be a ClusterModel, got {type(model).__name__}.")
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise ArgumentTypeError(f"with_independent: names must be a list of joint names, got {names!r}.")
    wished = list(names)
    if not all(isinstance(name, str) for name in wished):
        raise ArgumentTypeError(f"with_independent: names must be a list of joint names, got {wished!r}.")
    tree = model.own_tree
    for loop in model._topology.analyses:
        inside = [j for j in loop.joints if tree.names[j] in wished]
        if not inside:
            wished += [tree.names[j] for j in loop.joints if tree.nvs[j] and tree.idx_vs[j] in loop.independents]
    other = alike(model, independent=tuple(wished))
    return other, CoordinateChange(model, other)
