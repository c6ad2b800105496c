"""Derivatives of dynamics by configuration and velocity, and the Coriolis matrix."""

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
    Derivatives by q are along ``pc.integrate(model, q, e)``, e a displacement of the independent joints: dependent
    joints follow, free flyers, ball and planar joints move in their own axes, as in Pinocchio. v, a and tau, of the
    independent joints, and external forces, in the frames of their joints, are held.

Args:
    data: Its workspace.

Raises:
    SingularClusterError: Loops cannot be solved for their dependent joints, or a joint moves no inertia.

References:
    Singh, Russell and Wensing, arXiv 2105.05102; for clusters docs/algorithms.md (V1) to (V9).
"""
_KEPT = """
Raises:
    NotComputedError: There was none.
"""
_documented = _check.documented(_COMMON, solves=False)
_kept = _check.documented(_KEPT, solves=False)
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


_KEEP_STATE = {"computeRNEADerivatives", "computeCoriolisMatrix", "computeCentroidalDynamicsDerivatives"}
"""Functions at whose state ``getCoriolisMatrix`` and ``getCentroidalDynamicsDerivatives`` compute."""


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
    """Run the kernel for a function: tau, then dtau_dq, dtau_dv, M and the sums, each or nothing."""
    forces = NOTHING if fext is None else _check.put_forces(model, data, fext)
    _bridge.supply_third(model, data, q, v)
    flat = [x.reshape(-1) for x in results]
    data._keep(function, q, v, a)
    if function in _KEEP_STATE:  # before the kernel writes results, which may be q, v or a; calls that fail keep it too
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
        data: Its workspace; ``data.dtau_dq``, ``dtau_dv``, ``M`` and ``tau`` keep the results.

    Returns:
        Derivatives of the torques by q and v, and the mass matrix, which is the one by a; each of shape (nv, nv), a row
        per torque, fresh.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> dtau_dq, dtau_dv, M = pc.computeRNEADerivatives(model, data, q, v, 0 * v)
        >>> h = pc.nonLinearEffects(model, data, q, v)  # quadratic in v
        >>> np.allclose(dtau_dv @ v, 2 * (h - pc.computeGeneralizedGravity(model, data, q)))
        True
    """
    q, v, a = _check.motion(model, data, q, v, a)
    mine = data._derivatives
    own = data._tau, mine.dtau_dq, mine.dtau_dv, data._M_kernel, NOTHING
    _run(model, data, q, v, a, fext, *own, function="computeRNEADerivatives", of="computeRNEADerivatives")
    data._changed()
    return mine.dtau_dq.copy(), mine.dtau_dv.copy(), data._M_kernel.copy()


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

    After ``pc.aba`` the state may be left out: ``computeABADerivatives(model, data)``, or with the external forces that
    were given there ``computeABADerivatives(model, data, fext)``.

    Args:
        data: Its workspace; ``data.ddq_dq``, ``ddq_dv``, ``Minv`` and ``ddq`` keep the results.
        q: Configuration of the whole tree, shape (nq,); without v and tau, the external forces.

    Returns:
        Derivatives of the accelerations by q and v, and the inverse mass matrix, which is the one by tau; each of shape
        (nv, nv), a row per acceleration, fresh.

    Raises:
        NotComputedError: No state was given, and ``pc.aba`` was not called before.
        ArgumentTypeError: Of q, v and tau some are missing.
    """
    _check.model_data(model, data)
    mine = data._derivatives
    if v is None and tau is None:
        if not np.isfinite(mine.after_aba).all():
            raise NotComputedError(
                "computeABADerivatives was given no state, and data knows none: pc.aba was not called with it, or with "
                "numbers that are not finite. Call pc.aba(model, data, q, v, tau) before, or pass q, v, tau."
            )
        fext = q if fext is None else fext
        q, v, tau = np.split(mine.after_aba.copy(), [model.nq, model.nq + model.nv])
    elif q is None or v is None or tau is None:
        raise ArgumentTypeError("computeABADerivatives needs q, v and tau, or, after pc.aba, none of them.")
    else:
        q, v = (x.copy() for x in _check.state(model, data, q, v))  # which may be data.ddq
        tau = _check.velocity(model, "tau", tau)
    data._supply(q)
    forces = NOTHING if fext is None else _check.put_forces(model, data, fext)
    ddq = data._ddq
    data._keep("computeABADerivatives", q, v)
    mine.after_aba[:] = np.concatenate([q, v, tau])
    _check.run(model, data, "aba", "ddq" if fext is None else "forced", q, v, tau, ddq)
    _bridge.supply_third(model, data, q, v)
    results = np.full((3, model.nv, model.nv), np.nan)  # where q is not finite the kernel may end before it writes
    own = [mine.dtau_dq.reshape(-1), mine.dtau_dv.reshape(-1), data._M_kernel.reshape(-1)]
    wanted = [x.reshape(-1) for x in results]
    of_inverse = q, v, ddq, forces, mine.tau, *own, NOTHING
    _check.run(model, data, "rnea_derivatives", "rates", *of_inverse, of="computeRNEADerivatives")
    if kernels.JIT:
        data._run(
            "aba_derivatives", "rates", 0, 0, 0, mine.tree, mine.sides, mine.factors, q, v, tau, ddq, forces, mine.tau,
            *own, NOTHING, *wanted, of="computeABADerivatives",
        )  # fmt: skip
    else:
        from ...kernels.variations.aba_derivatives import solved

        solved(mine.tree, mine.sides, mine.factors, model.nv, *own, *wanted)
    mine.ddq[...], data._Minv[...] = results[:2], results[2]
    data._owe("computeABADerivatives")
    data._changed()
    return results[0], results[1], results[2]


@fast(of_state)
@also_pinocchios
@_documented
def computeGeneralizedGravityDerivatives(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the derivative of the gravity torques by q.

    Args:
        data: Its workspace; ``data.dtau_dq`` keeps the result.

    Returns:
        Shape (nv, nv), a row per torque, fresh.
    """
    return _static(model, data, q, None, "computeGeneralizedGravityDerivatives")


@fast(of_state)
@also_pinocchios
@_documented
def computeStaticTorqueDerivatives(model: ClusterModel, data: ClusterData, q: ArrayLike, fext: Any) -> np.ndarray:
    """Compute the derivative by q of the torques that hold the robot at rest under external forces.

    Args:
        data: Its workspace; ``data.dtau_dq`` keeps the result.

    Returns:
        Shape (nv, nv), a row per torque, fresh.
    """
    return _static(model, data, q, fext, "computeStaticTorqueDerivatives")


def _static(model: ClusterModel, data: ClusterData, q: Any, fext: Any, function: str) -> np.ndarray:
    q = _check.pose(model, data, q)
    mine, rest = data._derivatives, data._zeros
    own = mine.tau, mine.dtau_dq, mine.dtau_dv, mine.scratch, NOTHING
    _run(model, data, q, rest, rest, fext, *own, function=function, of="" if fext is not None else function)
    return mine.dtau_dq.copy()


@fast(of_state)
@also_pinocchios
@_documented
def computeCoriolisMatrix(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the Coriolis matrix C of Christoffel symbols: C v are the torques, dM/dt - 2 C is skew-symmetric.

    Args:
        data: Its workspace; ``data.C`` keeps the result.

    Returns:
        Shape (nv, nv), fresh. Armature of a dependent ball joint that differs between its axes has no energy: with it
        C v are the torques all the same, and dM/dt - 2 C is not skew-symmetric.

    References:
        Echeandia and Wensing, arXiv 2010.01033.
    """
    q, v = _check.state(model, data, q, v)
    mine = data._derivatives
    own = NOTHING, NOTHING, mine.C, mine.scratch, NOTHING
    _run(model, data, q, v, data._zeros, None, *own, function="computeCoriolisMatrix", of="computeCoriolisMatrix")
    return mine.C.copy()


@fast(of_state)
@also_pinocchios
@_kept
def getCoriolisMatrix(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Return the Coriolis matrix at the state of the last ``computeCoriolisMatrix`` or ``computeRNEADerivatives``.

    Returns:
        Shape (nv, nv), fresh.
    """
    q, v, a = _last(model, data, "getCoriolisMatrix", model.nq + model.nv)
    C = computeCoriolisMatrix(model, data, q, v)
    data._derivatives.state[-model.nv :] = a  # which computeCoriolisMatrix sets to zero
    return C


@fast(of_state)
@also_pinocchios
@_documented
def computeCentroidalDynamicsDerivatives(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the derivatives of the centroidal momentum and of its rate: axes of the world, about the centre of mass.

    Returns:
        Derivatives of the momentum by q, and of its rate by q, v and a: each of shape (6, nv), linear first, fresh.
    """
    q, v, a = _check.motion(model, data, q, v, a)
    mine = data._derivatives
    of = "computeCentroidalDynamicsDerivatives"
    _run(model, data, q, v, a, None, mine.tau, NOTHING, NOTHING, NOTHING, mine.total, function=of, of=of)
    first, second, third, fourth = mine.total.copy().reshape(4, 6, model.nv)
    return first, second, third, fourth


@fast(of_state)
@also_pinocchios
@_kept
def getCentroidalDynamicsDerivatives(
    model: ClusterModel, data: ClusterData
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return ``computeCentroidalDynamicsDerivatives`` at the state of the last call of it, or of RNEA derivatives.

    Returns:
        Derivatives of the momentum by q, and of its rate by q, v and a: each of shape (6, nv), fresh.
    """
    q, v, a = _last(model, data, "getCentroidalDynamicsDerivatives")
    return computeCentroidalDynamicsDerivatives(model, data, q, v, a)


def _last(model: ClusterModel, data: ClusterData, name: str, read: int | None = None) -> list[np.ndarray]:
    """Return the last q, v and a; the function ``name`` reads the first ``read`` of these numbers."""
    _check.model_data(model, data)
    state = data._derivatives.state
    if np.isnan(state[:read]).any():
        raise NotComputedError(
            f"{name} needs a state: neither pc.computeRNEADerivatives nor "
            f"pc.{name.replace('get', 'compute')} was called with this data, or the last call was given NaN. Call one "
            "of them before."
        )
    return np.split(state.copy(), [model.nq, model.nq + model.nv])


@_documented
def christoffel_symbols(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the Christoffel symbols of the first kind: C[k, j] = sum over i of Gamma[k, i, j] v[i].

    The Coriolis matrix is linear in v: its columns come one velocity at a time, in O(nv^2 depth).

    Returns:
        Shape (nv, nv, nv), fresh; symmetric in the last two axes for joints of one degree of freedom.
    """
    q = _check.pose(model, data, q)
    result = np.empty((model.nv,) * 3)
    for i, v in enumerate(np.eye(model.nv)):
        result[:, i] = computeCoriolisMatrix(model, data, q, v)
    return result
