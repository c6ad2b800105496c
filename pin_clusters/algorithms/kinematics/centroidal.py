"""Centre of mass and momentum, with the mass and the spin of the rotors that are no bodies, and rods with mass."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._engine.calls import fast
from ...errors import ArgumentTypeError, NotComputedError
from ...model import NOTHING, ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import tree as _tree
from .._shared.quick import quick_tree
from .._shared.rods import add_to_centers, lumps

from ..._engine.kernels.tables.tree_layout import CENTERS, JCOM, MAP, MAP_RATE, MOMENTUM  # isort: skip
from ..._engine.kernels.tables.tree_layout import MOTION, QUIET, RATES, SUBTREES, WHOLE, WORLD  # isort: skip

_CENTERS_OF_ALL = MOTION | CENTERS | SUBTREES
_QUIETLY = _CENTERS_OF_ALL | QUIET
_MAP_RATE = MAP | MAP_RATE | WHOLE | MOMENTUM | RATES
_COMMON = """
References:
    Orin, Goswami, Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
"""
_RATE = """
Args:
    data: Its workspace; ``data.dAg`` keeps the result, ``data.Ag`` the matrix, ``data.hg`` the momentum.
        ``data.tree.J`` and ``data.tree.dJ`` are filled as well.

Returns:
    Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
"""
_documented = _check.documented(_COMMON)
_rate = _check.documented(_COMMON, _RATE)


@_documented
def centerOfMass(
    model: ClusterModel, data: ClusterData, q: Any = None, v: Any = None, a: Any = None,
    compute_subtree_coms: bool = True,
) -> np.ndarray:  # fmt: skip
    """Compute the centre of mass (with v, its velocity; with a, its acceleration).

    Fills ``data.com``, ``data.vcom``, ``data.acom`` and ``data.mass``, index 0 for the whole robot.

    Args:
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; needs v.
        compute_subtree_coms: Also for the subtree of every joint, in its frame.

    Returns:
        Position in the world, shape (3,), [m]; a fresh array.

    Raises:
        ArgumentTypeError: A type is wrong, v comes without q, or a without v.

    References:
        Pinocchio's ``centerOfMass``, with the mass of all rotors.
    """
    subtrees = bool(compute_subtree_coms)
    what = _CENTERS_OF_ALL if subtrees else MOTION | CENTERS
    if not quick_tree(model, data, what, q, v, a):
        _check.model_data(model, data)
        if (v is not None and q is None) or (a is not None and v is None):
            raise ArgumentTypeError("centerOfMass: v needs q, and a needs v: (model, data[, q[, v[, a]]]).")
        if q is None:
            # Pinocchio takes all that forwardKinematics left
            pin.centerOfMass(model.inertia_tree, data.tree, subtrees)
            add_to_centers(model, data, 3, subtrees, local=True)
            return np.array(data.tree.com[0])
        q = _check.pose(model, data, q)
        if v is None:
            _tree.place(model, data, what, q)
        else:
            _tree.compute(model, data, what, q, *_check.rates(model, v, a))
    return data._com.copy()


@_documented
def jacobianCenterOfMass(
    model: ClusterModel, data: ClusterData, q: Any = None, compute_subtree_coms: bool = True
) -> np.ndarray:
    """Compute the Jacobian of the centre of mass: its velocity is J v.

    Args:
        data: Its workspace; ``data.Jcom`` keeps the result, ``data.com`` and ``data.mass`` are filled.
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.
        compute_subtree_coms: Also fill ``data.com`` of the subtree of every joint, in the world.

    Returns:
        Shape (3, nv), in the world; a fresh array.

    References:
        Pinocchio's ``jacobianCenterOfMass`` with the mass of all rotors, times G.
    """
    subtrees = bool(compute_subtree_coms)
    if q is not None:
        what = JCOM | WORLD if subtrees else JCOM
        if not quick_tree(model, data, what, q, None, None):
            _tree.compute(model, data, what, _check.pose(model, data, q))
        return data._Jcom.copy()
    _check.model_data(model, data)
    J = pin.jacobianCenterOfMass(model.inertia_tree, data.tree, subtrees).reshape(3, -1)  # one column: a vector
    data.Jcom[:] = J @ _bridge.kept(model, data)
    if extra := lumps(model):
        data.Jcom[:] *= data.tree.mass[0]
        pin.computeJointJacobians(model.own_tree, data.tree)
        data.Jcom[:] += (
            sum(p.mass * p.jacobian(model.own_tree, data.tree) for p in extra) @ data._G[: model.own_tree.nv]
        )
        add_to_centers(model, data, 1, subtrees, local=False)
        data.Jcom[:] /= data.tree.mass[0]
    return data.Jcom.copy()


@_documented
def computeCentroidalMomentum(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> pin.Force:
    """Compute the momentum about the centre of mass, the spin of all rotors included.

    Args:
        data: Its workspace; ``data.hg`` keeps the result, ``data.com[0]`` and the kinematics are filled.

    Returns:
        [linear; angular], in axes of the world, [kg m/s] and [kg m^2/s].
    """
    if v is None or not quick_tree(model, data, MOTION | CENTERS | MOMENTUM, q, v, None):
        _tree.compute(model, data, MOTION | CENTERS | MOMENTUM, *_check.state(model, data, q, v))
    return data._hg.copy()


@_documented
def computeCentroidalMap(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the centroidal momentum matrix: momentum about the centre of mass = A v.

    Args:
        data: Its workspace; ``data.Ag`` keeps the result.

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
    """
    if not quick_tree(model, data, MAP, q, None, None):
        _tree.compute(model, data, MAP, _check.pose(model, data, q))
    return data._Ag.copy()


@_documented
def ccrba(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the centroidal momentum matrix and the momentum.

    Args:
        data: Its workspace; ``data.Ag`` keeps the matrix, ``data.hg`` the momentum.

    Returns:
        Shape (6, nv), [linear; angular], in axes of the world; a fresh array.
    """
    if v is None or not quick_tree(model, data, MAP | WHOLE | MOMENTUM, q, v, None):
        _tree.compute(model, data, MAP | WHOLE | MOMENTUM, *_check.state(model, data, q, v))
    return data._Ag.copy()


@_rate
def computeCentroidalMapTimeVariation(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix, the spin of all rotors included.

    The rate of the momentum is ``Ag a + dAg v``.
    """
    return dccrba(model, data, q, v)


@_rate
def dccrba(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix; ``computeCentroidalMapTimeVariation``."""
    if v is None or not quick_tree(model, data, _MAP_RATE, q, v, None):
        _tree.compute(model, data, _MAP_RATE, *_check.state(model, data, q, v))
    return data._dAg.copy()


@fast
@_check.documented(
    """
    References:
        Pinocchio's ``{name}``, with the mass of all rotors.
    """
)
def getCenterOfMassVelocityDerivatives(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Return the derivative of the velocity of the centre of mass by q along ``pc.integrate``, v held.

    It is that at the last state of ``centerOfMass``, ``computeAllTerms`` or ``forwardKinematics`` with v. The
    derivative by v is ``jacobianCenterOfMass``.

    Returns:
        Shape (3, nv), in the world; a fresh array.

    Raises:
        NotComputedError: None of these was called before with v.
    """
    _check.model_data(model, data)
    state = data._state
    if state is None:
        raise NotComputedError(
            "this data has no velocity of a centre of mass to differentiate: call pc.centerOfMass(model, data, q, v) "
            "first."
        )
    _bridge.derivatives(model, data, *state, NOTHING, data._turned)
    if not data._standing:
        q, v = (x.copy() for x in state)
        _bridge.bring(model, data, q, v)
        data._run_tree(_QUIETLY, q, v)
    result = np.empty((3, model.nv))
    data._run_in_tree("center_rates", data._tree_tables, result)
    return result


@_documented
def computeCentroidalMomentumTimeVariation(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> pin.Force:
    """Compute the time derivative of the momentum about the centre of mass, the spin of all rotors included.

    Args:
        data: Its workspace; ``data.hg`` keeps the momentum, ``data.tree.dhg`` its derivative.

    Returns:
        [linear; angular], in axes of the world, [N] and [N m].
    """
    if a is None or not quick_tree(model, data, MOTION | CENTERS | MOMENTUM, q, v, a):
        _tree.compute(model, data, MOTION | CENTERS | MOMENTUM, *_check.motion(model, data, q, v, a))
    return data._dhg.copy()
