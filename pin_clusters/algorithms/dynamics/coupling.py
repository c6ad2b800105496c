"""Maps between the independent coordinates and the coordinates of the spanning tree."""

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
    """Compute the coupling Jacobian G, which maps the independent velocity to the tree velocity: v_tree = G v.

    Args:
        q: Configuration of the spanning tree, shape (nq,). G depends on q only in clusters with loops.

    Returns:
        G, shape (tree.nv, nv), a new array. Each entry has the unit of the row's joint per unit of the column's joint,
        for example [rad/m]. The rows of the independent joints form the identity matrix.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")  # crank, coupler, rocker; only the crank is independent
        >>> pc.coupling_jacobian(model, model.createData(), pc.neutral(model)).round(4).ravel()
        array([ 1.    , -1.1684,  0.2211])
    """
    return np.array(_bridge.matrix(model, data, _check.pose(model, data, q)))


@_documented
def coupling_bias(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the bias g = (dG/dt) v of the tree acceleration a_tree = G a + g.

    Returns:
        g, shape (tree.nv,), [rad/s^2] or [m/s^2], a new array. g is zero for independent joints and linear couplings.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.coupling_bias(model, model.createData(), pc.neutral(model), [1.0]).round(4)
        array([ 0.    , -0.2642, -0.2221])
    """
    q, v = _check.state(model, data, q, v)
    return _bridge.matrix_and_bias(model, data, q, v)[1]


@_documented
def spanning_velocity(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the velocity of the spanning tree, v_tree = G v.

    Returns:
        Velocity, shape (tree.nv,), [rad/s] or [m/s], in the order of Pinocchio's v; a new array.

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
    """Compute the acceleration of the spanning tree, a_tree = G a + g.

    Returns:
        Acceleration, shape (tree.nv,), [rad/s^2] or [m/s^2], in the order of Pinocchio's a; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.spanning_acceleration(model, model.createData(), pc.neutral(model), [1.0], [2.0]).round(4)
        array([ 2.    , -2.6011,  0.22  ])
    """
    q, v = _check.state(model, data, q, v)
    a = _check.velocity(model, "a", a)
    G, g = _bridge.matrix_and_bias(model, data, q, v)
    return G @ a + g


@_documented
def independent_velocity(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v_tree: ArrayLike, tolerance: float = 1e-6
) -> np.ndarray:
    """Check that a velocity of the spanning tree satisfies the constraints, and return its independent entries.

    Args:
        v_tree: Velocity of the spanning tree, shape (tree.nv,), [rad/s] or [m/s].
        tolerance: Allowed constraint error of v_tree, relative to max(1, largest absolute entry of v_tree).

    Returns:
        Independent velocity, shape (nv,), [rad/s] or [m/s]; a new array.

    Raises:
        ConfigurationError: v_tree violates the constraints, or q violates them (checked if ``data.check``).

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, q = model.createData(), pc.neutral(model)
        >>> pc.independent_velocity(model, data, q, pc.spanning_velocity(model, data, q, [3.0]))
        array([3.])
    """
    q = _check.pose(model, data, q)
    velocities = vector(model, "v_tree", v_tree, model.own_tree.nv, _NV)
    v = velocities[model.idx_v_independent]
    expected = _bridge.matrix(model, data, q) @ v
    error = np.abs(velocities - expected)
    scale = max(1.0, np.abs(velocities).max(initial=0.0), np.abs(expected).max(initial=0.0))
    if np.any(error > tolerance * scale):
        i = int(np.argmax(error))
        name, labels = _who_moves(model, i)
        raise ConfigurationError(
            f"v_tree violates the constraints of model {model.name!r}: the velocity of joint {name!r} is "
            f"{velocities[i]:.9g}, but {labels} requires {expected[i]:.9g}. To drop the dependent entries without a "
            "check, use v_tree[model.idx_v_independent]."
        )
    return v


@_documented
def independent_torque(model: ClusterModel, data: ClusterData, q: ArrayLike, tau_tree: ArrayLike) -> np.ndarray:
    """Compute G' tau_tree, the torque of the independent joints that has the same power as ``tau_tree``.

    Args:
        tau_tree: Torque of every joint of the tree, shape (tree.nv,), [N m] or [N].

    Returns:
        Torque, shape (nv,), [N m] or [N]; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")  # 1 N m at the rocker acts as 0.2211 N m at the crank
        >>> pc.independent_torque(model, model.createData(), pc.neutral(model), [0.0, 0.0, 1.0]).round(4)
        array([0.2211])
    """
    q = _check.pose(model, data, q)
    return vector(model, "tau_tree", tau_tree, model.own_tree.nv, _NV) @ _bridge.matrix(model, data, q)


def _who_moves(model: ClusterModel, i: int) -> tuple[str, str]:
    """Return the joint of the entry v_tree[i], and the labels of the constraints that couple this joint."""
    tree = model.own_tree
    j = joint_in_v(tree, i)
    tied = [row.source.label for row in model.coupling_rows if row.dependent == j]
    tied += [c.source.label for c in model.closures if j in touched(tree, [c])]
    if not tied:  # this joint depends on no other joint, but other joints depend on this joint
        tied = [row.source.label for row in model.coupling_rows if j in row.masters]
    return tree.names[j], ", ".join(dict.fromkeys(tied))
