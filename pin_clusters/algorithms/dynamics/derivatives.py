"""Derivatives of the dynamics with respect to configuration and velocity, and the Coriolis matrix."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...compiler import entry_points as kernels
from ...compiler.calls import fast, of_state
from ...errors import ArgumentTypeError, NotComputedError
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check

NOTHING = np.zeros(0)
_COMMON = """
    Derivatives with respect to q are along ``pc.integrate(model, q, e)``, where e is a displacement of the independent
    joints. Dependent joints move so that the loops stay closed; free-flyer, ball and planar joints move in their own
    axes, as in Pinocchio. The independent v, a and tau are constant; external forces are constant in joint frames.

Args:
    data: Workspace.

References:
    Singh, Russell and Wensing, arXiv 2105.05102; for clusters, see docs/algorithms.md, (V1) to (V9).
"""
_LAST_STATE = """
Raises:
    NotComputedError: None of these functions was called with this data.
"""
_documented = _check.documented(_check.SINGULAR, _COMMON)
_documented_last = _check.documented(_LAST_STATE, solves=False)
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


_KEEP_STATE = {"computeRNEADerivatives", "computeCoriolisMatrix", "computeCentroidalDynamicsDerivatives"}
"""Functions that store their state for ``getCoriolisMatrix`` and ``getCentroidalDynamicsDerivatives``."""


def _run(
    model: ClusterModel,
    data: ClusterData,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    fext: Any,
    tau: np.ndarray,
    *results: np.ndarray,
    function: str,
    of: str = "",
) -> None:
    """Compute tau, dtau_dq, dtau_dv, M and the centroidal derivatives; skip each result whose array is empty."""
    forces = NOTHING if fext is None else _check.put_forces(model, data, fext)
    _bridge.supply_third(model, data, q, v)
    flat = [x.reshape(-1) for x in results]
    data._keep(function, q, v, a)
    # The state is stored before the kernel runs, because results may share memory with q, v or a.
    if function in _KEEP_STATE:
        data._derivatives.state[:] = np.concatenate([q, v, a])
    _check.run(model, data, "rnea_derivatives", "rates", q, v, a, forces, tau, *flat, of=of)
    data._owe(function)


@fast(of_state)
@also_pinocchios
@_documented
def computeRNEADerivatives(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike, fext: Any = None
) -> Matrices:
    """Compute the derivatives of inverse dynamics.

    Args:
        data: Workspace; ``data.dtau_dq``, ``dtau_dv``, ``M`` and ``tau`` store the results as well.

    Returns:
        Derivatives of tau with respect to q and v, and the mass matrix, which is the derivative with respect to a.
        Each new array has shape (nv, nv) and one row per torque, in [N m] or [N] per unit of q, v or a.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> dtau_dq, dtau_dv, M = pc.computeRNEADerivatives(model, data, q, v, 0 * v)
        >>> h = pc.nonLinearEffects(model, data, q, v)  # h minus gravity is quadratic in v
        >>> np.allclose(dtau_dv @ v, 2 * (h - pc.computeGeneralizedGravity(model, data, q)))
        True
    """
    q, v, a = _check.motion(model, data, q, v, a)
    workspace = data._derivatives
    outputs = data._tau, workspace.dtau_dq, workspace.dtau_dv, data._M_kernel, NOTHING
    _run(model, data, q, v, a, fext, *outputs, function="computeRNEADerivatives", of="computeRNEADerivatives")
    data._changed()
    return workspace.dtau_dq.copy(), workspace.dtau_dv.copy(), data._M_kernel.copy()


@fast(of_state)
@also_pinocchios
@_documented
def computeABADerivatives(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    fext: Any = None,
) -> Matrices:
    """Compute the derivatives of forward dynamics.

    After a call of ``pc.aba``, the state may be omitted. In this case, call ``computeABADerivatives(model, data)``, or
    ``computeABADerivatives(model, data, fext)`` with the external forces that were passed to ``pc.aba``.

    Args:
        data: Workspace; ``data.ddq_dq``, ``ddq_dv``, ``Minv`` and ``ddq`` store the results as well.
        q: Configuration of the spanning tree, shape (nq,). In a call without v and tau, pass the external forces here.

    Returns:
        Derivatives of a with respect to q and v, and the inverse mass matrix, which is the derivative with respect to
        tau. Each new array has shape (nv, nv), one row per acceleration, [rad/s^2] or [m/s^2] per unit of q, v or tau.

    Raises:
        NotComputedError: No state was passed, and ``pc.aba`` was not called before.
        ArgumentTypeError: Only some of q, v and tau were passed.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> da_dq, da_dv, Minv = pc.computeABADerivatives(model, data, q, v, v)
        >>> bool(np.allclose(Minv, pc.computeMinverse(model, data, q)))
        True
    """
    _check.model_data(model, data)
    workspace = data._derivatives
    if v is None and tau is None:
        if not np.isfinite(workspace.after_aba).all():
            raise NotComputedError(
                "computeABADerivatives needs q, v and tau: data has no finite state of an earlier pc.aba. Call "
                "pc.aba(model, data, q, v, tau) first, or pass q, v, tau."
            )
        fext = q if fext is None else fext
        q, v, tau = np.split(workspace.after_aba.copy(), [model.nq, model.nq + model.nv])
    elif q is None or v is None or tau is None:
        raise ArgumentTypeError("computeABADerivatives needs all of q, v and tau or, after pc.aba, none of them.")
    else:
        q, v = (x.copy() for x in _check.state(model, data, q, v))  # q and v may share memory with data.ddq
        tau = _check.velocity(model, "tau", tau)
    data._supply(q)
    forces = NOTHING if fext is None else _check.put_forces(model, data, fext)
    ddq = data._ddq
    data._keep("computeABADerivatives", q, v)
    workspace.after_aba[:] = np.concatenate([q, v, tau])
    _check.run(model, data, "aba", "ddq" if fext is None else "forced", q, v, tau, ddq)
    _bridge.supply_third(model, data, q, v)
    results = np.full((3, model.nv, model.nv), np.nan)  # the kernel may stop early if q is not finite
    rnea_outputs = [workspace.dtau_dq.reshape(-1), workspace.dtau_dv.reshape(-1), data._M_kernel.reshape(-1)]
    aba_outputs = [x.reshape(-1) for x in results]
    of_inverse = q, v, ddq, forces, workspace.tau, *rnea_outputs, NOTHING
    _check.run(model, data, "rnea_derivatives", "rates", *of_inverse, of="computeRNEADerivatives")
    if kernels.JIT:
        data._run(
            "aba_derivatives", "rates", 0, 0, 0, workspace.tree, workspace.sides, workspace.factors,
            q, v, tau, ddq, forces, workspace.tau, *rnea_outputs, NOTHING, *aba_outputs, of="computeABADerivatives",
        )  # fmt: skip
    else:
        from ...kernels.variations.aba_derivatives import solved

        solved(workspace.tree, workspace.sides, workspace.factors, model.nv, *rnea_outputs, *aba_outputs)
    workspace.ddq[...], data._Minv[...] = results[:2], results[2]
    data._owe("computeABADerivatives")
    data._changed()
    return results[0], results[1], results[2]


@fast(of_state)
@also_pinocchios
@_documented
def computeGeneralizedGravityDerivatives(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the derivative of the gravity torques with respect to q.

    Args:
        data: Workspace; ``data.dtau_dq`` stores the result as well.

    Returns:
        Derivative, shape (nv, nv), one row per torque, [N m/rad], [N m/m], [N/rad] or [N/m]; a new array.
    """
    return _static(model, data, q, None, "computeGeneralizedGravityDerivatives")


@fast(of_state)
@also_pinocchios
@_documented
def computeStaticTorqueDerivatives(model: ClusterModel, data: ClusterData, q: ArrayLike, fext: Any) -> np.ndarray:
    """Compute the derivative of the static torques ``computeStaticTorque(model, data, q, fext)`` with respect to q.

    Args:
        data: Workspace; ``data.dtau_dq`` stores the result as well.

    Returns:
        Derivative, shape (nv, nv), one row per torque, [N m/rad], [N m/m], [N/rad] or [N/m]; a new array.
    """
    return _static(model, data, q, fext, "computeStaticTorqueDerivatives")


def _static(model: ClusterModel, data: ClusterData, q: Any, fext: Any, function: str) -> np.ndarray:
    q = _check.pose(model, data, q)
    workspace, zeros = data._derivatives, data._zeros
    outputs = workspace.tau, workspace.dtau_dq, workspace.dtau_dv, workspace.scratch, NOTHING
    _run(model, data, q, zeros, zeros, fext, *outputs, function=function, of="" if fext is not None else function)
    return workspace.dtau_dq.copy()


@fast(of_state)
@also_pinocchios
@_documented
def computeCoriolisMatrix(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the Coriolis matrix C from the Christoffel symbols; C v contains the Coriolis and centrifugal torques.

    Args:
        data: Workspace; ``data.C`` stores the result as well.

    Returns:
        C, shape (nv, nv), [N m s] or [N s]; a new array. The matrix dM/dt - 2 C is skew-symmetric unless a dependent
        ball joint has a different armature for each axis, because no kinetic energy describes such an armature.

    References:
        Echeandia and Wensing, arXiv 2010.01033; docs/algorithms.md, (V8).
    """
    q, v = _check.state(model, data, q, v)
    workspace = data._derivatives
    outputs = NOTHING, NOTHING, workspace.C, workspace.scratch, NOTHING
    _run(model, data, q, v, data._zeros, None, *outputs, function="computeCoriolisMatrix", of="computeCoriolisMatrix")
    return workspace.C.copy()


@fast(of_state)
@also_pinocchios
@_documented_last
def getCoriolisMatrix(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Compute the Coriolis matrix at the state of the last ``computeCoriolisMatrix`` or ``computeRNEADerivatives``.

    Returns:
        C, shape (nv, nv), [N m s] or [N s]; a new array.
    """
    q, v, a = _last(model, data, "getCoriolisMatrix", model.nq + model.nv)
    C = computeCoriolisMatrix(model, data, q, v)
    data._derivatives.state[-model.nv :] = a  # computeCoriolisMatrix has set the acceleration to zero
    return C


@fast(of_state)
@also_pinocchios
@_documented
def computeCentroidalDynamicsDerivatives(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the derivatives of the centroidal momentum and its rate, in world axes about the centre of mass.

    Returns:
        Derivative of the momentum, [kg m/s] and [kg m^2/s], with respect to q; derivatives of its rate, [N] and [N m],
        with respect to q, v and a. Each has shape (6, nv), [linear; angular], and is per unit of q, v or a.
    """
    q, v, a = _check.motion(model, data, q, v, a)
    workspace = data._derivatives
    of = "computeCentroidalDynamicsDerivatives"
    _run(model, data, q, v, a, None, workspace.tau, NOTHING, NOTHING, NOTHING, workspace.total, function=of, of=of)
    first, second, third, fourth = workspace.total.copy().reshape(4, 6, model.nv)
    return first, second, third, fourth


@fast(of_state)
@also_pinocchios
@_documented_last
def getCentroidalDynamicsDerivatives(
    model: ClusterModel, data: ClusterData
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the derivatives of the centroidal momentum and its rate at the state of an earlier call.

    Returns:
        Derivatives at the last state of ``computeCentroidalDynamicsDerivatives`` or ``computeRNEADerivatives``.
    """
    q, v, a = _last(model, data, "getCentroidalDynamicsDerivatives")
    return computeCentroidalDynamicsDerivatives(model, data, q, v, a)


def _last(model: ClusterModel, data: ClusterData, name: str, read: int | None = None) -> list[np.ndarray]:
    """Return the last q, v and a for the function ``name``, which reads the first ``read`` entries of (q, v, a)."""
    _check.model_data(model, data)
    state = data._derivatives.state
    if np.isnan(state[:read]).any():
        raise NotComputedError(
            f"{name} needs the results of pc.computeRNEADerivatives or pc.{name.replace('get', 'compute')} in this "
            "data. Call one of these functions first. Its inputs must not contain NaN."
        )
    return np.split(state.copy(), [model.nq, model.nq + model.nv])


@_documented
def christoffel_symbols(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the Christoffel symbols Gamma of the first kind.

    The Coriolis matrix is C[k, j] = sum over i of Gamma[k, i, j] v[i]. The cost is O(d nv^2) for a tree of depth d.

    Returns:
        Gamma, shape (nv, nv, nv), [kg m^2] per [rad] for rotations; a new array. If all joints have one degree of
        freedom, Gamma is symmetric in its last two indices.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.christoffel_symbols(model, model.createData(), pc.neutral(model)).round(5).ravel()
        array([-0.00165])
    """
    q = _check.pose(model, data, q)
    result = np.empty((model.nv,) * 3)
    for i, v in enumerate(np.eye(model.nv)):
        result[:, i] = computeCoriolisMatrix(model, data, q, v)
    return result
