"""Derivatives of contact dynamics and of impacts."""

from typing import Any

import numpy as np
import pinocchio as pin

from ...compiler.calls import fast
from ...errors import ArgumentTypeError, NotComputedError
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from . import _plans as _contact_plans
from ._forces import lasting_damping_of
from ._plans import Contacts, ContactSet
from ._solutions import of_accelerations, of_impact
from ._workspace import differentiate, remember

_COMMON = """
    Derivatives with respect to q are along ``pc.integrate(model, q, e)``, where e is a displacement of the independent
    joints. Dependent joints move so that the loops stay closed; free-flyer, ball and planar joints move in their own
    axes. Correctors, desired motions and both bodies of a contact are included. Redundant contacts have minimum-norm
    forces, whose derivatives are valid while the rank of the contact equations is constant.

Args:
    contact_models: ``pin.RigidConstraintModel`` objects on ``model.tree``, as in the call of the dynamics function.
    contact_datas: Result of ``createData()`` of each contact, in the same order, as in the call of that function.

Raises:
    ConstraintError: The model lacks the joint of a contact, or the reference frame of a contact is ``pin.WORLD``.
    ShapeError: The lists have different lengths.
"""
_documented = _check.documented(_check.SINGULAR, _COMMON, solves=False)
SixMatrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
FourMatrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeConstraintDynamicsDerivatives(
    model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any, settings: Any = None
) -> SixMatrices:
    """Compute the derivatives of forward dynamics with contacts, at the state of the last ``constraintDynamics``.

    Args:
        data: Workspace. ``data.ddq_dq``, ``ddq_dv``, ``ddq_dtau``, ``dlambda_dq``, ``dlambda_dv`` and ``dlambda_dtau``
            store the results as well.
        settings: ``pin.ProximalSettings`` or a damping, by default as in the last ``constraintDynamics``. The damping
            of settings is included only if ``max_iter`` <= 1; otherwise, the iterations are assumed to converge.

    Returns:
        New arrays: the derivatives of the accelerations with respect to q, v and tau, each of shape (nv, nv), and the
        derivatives of ``data.lambda_c``, [N] and [N m], each of shape (rows, nv).

    Raises:
        NotComputedError: ``constraintDynamics`` was not called before.

    References:
        Pinocchio's ``computeConstraintDynamicsDerivatives`` for independent joints; docs/algorithms.md, (D1) to (D3).

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> data, q, v = model.createData(), pc.neutral(model), np.zeros(model.nv)
        >>> foot = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.getJointId("left_ankle"), pin.LOCAL)
        >>> contacts, datas = [foot], [foot.createData()]
        >>> a = pc.constraintDynamics(model, data, q, v, v, contacts, datas)
        >>> _, _, ddq_dtau, *_ = pc.computeConstraintDynamicsDerivatives(model, data, contacts, datas)
        >>> np.allclose(pc.getConstraintsJacobian(model, data, contacts, datas) @ ddq_dtau, 0.0)  # the foot stays fixed
        True
    """
    _check.model_data(model, data)
    contacts = _contact_plans.find(model, data, contact_models, contact_datas)
    state = data._derivatives.after_contacts
    if not np.isfinite(state).all():
        raise NotComputedError(
            "computeConstraintDynamicsDerivatives needs the results of pc.constraintDynamics in data. Call "
            "pc.constraintDynamics first, with inputs without NaN and inf."
        )
    method = float(state[-1]) if settings is None else lasting_damping_of(settings)
    copy, n = state.copy(), model.nq + model.nv
    q, v, tau = copy[: model.nq], copy[model.nq : n], copy[n:-1]
    data._supply(q)
    results = _differentiate(model, data, contacts, q, v, tau, 0.0, method)
    if contacts[0] is not None and (settings is None or isinstance(settings, pin.ProximalSettings)):
        names = "settings" * (settings is not None)
        remember(data, computeConstraintDynamicsDerivatives, contacts[0], False, names, settings, 0.0)
    return results  # type: ignore[return-value]


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeImpulseDynamicsDerivatives(
    model: ClusterModel,
    data: ClusterData,
    contact_models: Any,
    contact_datas: Any,
    r_coeff: Any = None,
    prox_settings: Any = None,
) -> FourMatrices:
    """Compute the derivatives of the velocities after an impact, at the state of the last ``impulseDynamics``.

    Args:
        data: Workspace. ``data.ddq_dq``, ``ddq_dv``, ``dlambda_dq`` and ``dlambda_dv`` store the results. As in
            Pinocchio, ``ddq_dv`` is the derivative of the velocity change: the returned matrix minus the identity.
        r_coeff: Coefficient of restitution; if given, it must equal the value used in ``impulseDynamics``.
        prox_settings: Damping, or ``pin.ProximalSettings``; by default the damping used in ``impulseDynamics``.

    Returns:
        New arrays: the derivatives of ``data.dq_after`` with respect to q and the velocity before the impact, each of
        shape (nv, nv), and the derivatives of ``data.impulse_c``, [N s] and [N m s], each of shape (rows, nv).

    Raises:
        NotComputedError: ``impulseDynamics`` was not called before, or was called with a Jacobian instead of contacts.
        ArgumentTypeError: r_coeff differs from the value used in ``impulseDynamics``.

    References:
        Pinocchio's ``computeImpulseDynamicsDerivatives`` for the independent joints; Pinocchio returns None.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> foot = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.getJointId("left_ankle"), pin.LOCAL)
        >>> contacts, datas = [foot], [foot.createData()]
        >>> _ = pc.impulseDynamics(model, data, q, v, contacts, datas)
        >>> [x.shape for x in pc.computeImpulseDynamicsDerivatives(model, data, contacts, datas)]
        [(24, 24), (24, 24), (3, 24), (3, 24)]
    """
    _check.model_data(model, data)
    contacts = _contact_plans.find(model, data, contact_models, contact_datas)
    state = data._derivatives.after_impact
    if not np.isfinite(state).all():
        raise NotComputedError(
            "computeImpulseDynamicsDerivatives needs the results of pc.impulseDynamics with contacts in data. "
            "Call pc.impulseDynamics first, with contacts and inputs without NaN and inf."
        )
    restitution = float(state[-2])
    if r_coeff is not None and r_coeff != restitution:
        raise ArgumentTypeError(
            f"r_coeff is {r_coeff!r}, but pc.impulseDynamics was called with {restitution!r}. Omit r_coeff, or "
            "call pc.impulseDynamics with the new value first."
        )
    method = float(state[-1]) if prox_settings is None else lasting_damping_of(prox_settings)
    copy = state.copy()
    q, v = copy[: model.nq], copy[model.nq : -2]
    data._supply(q)
    results = _differentiate(model, data, contacts, q, v, None, restitution, method)
    if contacts[0] is not None and (prox_settings is None or isinstance(prox_settings, pin.ProximalSettings)):
        names = "r_coeff " * (r_coeff is not None) + "prox_settings" * (prox_settings is not None)
        remember(data, computeImpulseDynamicsDerivatives, contacts[0], True, names, prox_settings, restitution)
    return results  # type: ignore[return-value]


def _differentiate(
    model: ClusterModel,
    data: ClusterData,
    contacts: ContactSet,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray | None,
    restitution: float,
    method: Any,
) -> tuple[np.ndarray, ...]:
    """Compute derivatives by the kernel or, for redundant contacts and contacts on lumped rotors, by dense equations.

    Also store the derivatives in data; for impacts, ``ddq_dv`` is the derivative of the velocity change.
    """
    results: Any = differentiate(model, data, contacts[0], q, v, tau, restitution, lasting_damping_of(method))
    if results is None:
        state = Contacts(model, data, q, v, contacts, method)
        results = of_impact(state, restitution) if tau is None else of_accelerations(state, tau)
    motions, forces = (x[: 2 if tau is None else 3] for x in results)
    stored = data._derivatives
    stored.ddq[:] = motions[:2]
    if tau is None:
        stored.ddq[1] -= np.eye(model.nv)
    else:
        stored.ddq_dtau[:] = motions[2]
    if stored.fits(len(forces[0])):
        data._forget_plans()  # cached plans refer to the old, smaller arrays
    stored.keep_forces(forces)
    return *motions, *forces
