"""The bridge between the independent coordinates and those of the spanning tree."""

import numpy as np

from ..._support.arrays import ArrayLike, vector
from ..._support.trees import joint_in_v
from ...constraints.closures import touched
from ...errors import ConfigurationError
from ...model import ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check

_documented = _check.documented(
    """
    References:
        Jain, "Graph theoretic foundations of multibody dynamics", Multibody System Dynamics 26 (2011).
    """
)

_NV = "nv of the spanning tree"


@_documented
def coupling_jacobian(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Return G: tree velocity = G v.

    Args:
        q: Configuration of the whole tree, shape (nq,); G of gears and belts does not depend on it, that of closed
            loops does.

    Returns:
        Shape (tree.nv, nv); rows of independent joints are rows of the identity. A fresh array.
    """
    return np.array(_bridge.matrix(model, data, _check.pose(model, data, q)))


@_documented
def coupling_bias(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Return g = (dG/dt) v: tree acceleration = G a + g.

    Returns:
        Shape (tree.nv,), [rad/s^2] or [m/s^2]; zero for gears and belts, whose G is constant, and in the rows of
        independent joints. A fresh array.
    """
    q, v = _check.state(model, data, q, v)
    return _bridge.matrix_and_bias(model, data, q, v)[1]


@_documented
def spanning_velocity(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Return the velocity of the spanning tree, G v.

    Returns:
        Shape (tree.nv,), in the order of Pinocchio's v; a fresh array.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> tree = pin.buildSampleModelManipulator()
        >>> model = pc.ClusterModel(tree, [pc.Gear(tree.names[1], tree.names[2], -3.0)])
        >>> pc.spanning_velocity(model, model.createData(), pc.neutral(model), np.ones(model.nv))[:3].tolist()
        [1.0, -3.0, 1.0]
    """
    q, v = _check.state(model, data, q, v)
    return _bridge.matrix(model, data, q) @ v


@_documented
def spanning_acceleration(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> np.ndarray:
    """Return the acceleration of the spanning tree, G a + g.

    Returns:
        Shape (tree.nv,), in the order of Pinocchio's a; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    a = _check.velocity(model, "a", a)
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    return G @ a + g


@_documented
def independent_velocity(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v_tree: ArrayLike, tolerance: float = 1e-6
) -> np.ndarray:
    """Return the independent part of a velocity of the spanning tree, after the check that it fulfils the couplings.

    Args:
        v_tree: Velocity of the spanning tree, shape (tree.nv,), [rad/s] or [m/s].
        tolerance: Allowed error of a dependent entry, as a part of the largest entry of ``v_tree`` or of G v (at least
            of 1 rad/s or 1 m/s).

    Returns:
        Shape (nv,); a fresh array.

    Raises:
        ConfigurationError: A dependent joint does not move as its coupling says (it is named), or q is off the
            couplings (if ``data.check``).
    """
    q = _check.pose(model, data, q)
    given = vector(model, "v_tree", v_tree, model.own_tree.nv, _NV)
    v = given[model.idx_v_independent]
    expected = _bridge.matrix(model, data, q) @ v
    error = np.abs(given - expected)
    scale = max(1.0, np.abs(given).max(initial=0.0), np.abs(expected).max(initial=0.0))
    if np.any(error > tolerance * scale):
        i = int(np.argmax(error))
        name, labels = _who_moves(model, i)
        raise ConfigurationError(
            f"v_tree is not a velocity of model {model.name!r}: joint {name!r} moves at "
            f"{given[i]:.9g}, but {labels} makes it move at {expected[i]:.9g}. To drop the dependent "
            "entries without a check, take v_tree[model.idx_v_independent]."
        )
    return v


@_documented
def independent_torque(model: ClusterModel, data: ClusterData, q: ArrayLike, tau_tree: ArrayLike) -> np.ndarray:
    """Return the torque of the independent joints that does the same work as torques on the spanning tree, G' tau_tree.

    Args:
        tau_tree: Torque of every joint of the tree, shape (tree.nv,), [N m] or [N].

    Returns:
        Shape (nv,), [N m] or [N]; a fresh array.
    """
    q = _check.pose(model, data, q)
    return vector(model, "tau_tree", tau_tree, model.own_tree.nv, _NV) @ _bridge.matrix(model, data, q)


def _who_moves(model: ClusterModel, i: int) -> tuple[str, str]:
    """Return the name of the dependent joint to which a velocity of the tree belongs, and what ties it."""
    tree = model.own_tree
    j = joint_in_v(tree, i)
    tied = [row.source.label for row in model.coupling_rows if row.dependent == j]
    tied += [c.source.label for c in model.closures if j in touched(tree, [c])]
    if not tied:  # a joint that is only a master, of a coupling that closes a loop
        tied = [row.source.label for row in model.coupling_rows if j in row.masters]
    return tree.names[j], ", ".join(dict.fromkeys(tied))
