"""Contact and impact dynamics with Pinocchio's contact objects; rotors, couplings and loops are included exactly.

The equations are M a + nle = tau + J' lambda and J a + drift = gamma; see docs/algorithms.md, (O6). J is the contact
Jacobian for the independent velocities. gamma is the desired contact acceleration, including the corrector.
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, numbers, plain, vector
from ...compiler.calls import fast
from ...errors import ArgumentTypeError, NotComputedError, ShapeError, UnknownNameError
from ...kernels.tables.contacts_layout import DELASSUS, DYNAMICS, IMPACT
from ...kernels.tables.tree_layout import COLUMNS
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from .._shared import tree as _tree
from ..dynamics.aba import aba
from ..dynamics.crba import crba
from ..dynamics.energy import computeMechanicalEnergy
from . import _plans as _contact_plans
from ._forces import Solution, damping_of, inverse_of, kkt_inverse_of, response_of, solved_rows
from ._objects import delassus, jacobian, models_of, size, warn_of_contradictions
from ._plans import ContactSet
from ._rows import remember as remember_rows
from ._rows import remember_kkt, with_rows
from ._solutions import accelerations, after_impact

_COMMON = """
Args:
    contact_models: List, tuple or Pinocchio vector of ``pin.RigidConstraintModel`` objects on ``model.tree``.
    contact_datas: Result of ``createData()`` of each contact, in the same order.
    constraint_models: List, tuple or Pinocchio vector of ``pin.RigidConstraintModel`` objects on ``model.tree``.
    constraint_datas: Result of ``createData()`` of each constraint, in the same order.
    constraint_jacobian: Jacobian of the constraints, shape (rows, nv).
    damping: Value added to the diagonal of J M^-1 J'.
    mu: Value added to the diagonal of J M^-1 J', in the units of this matrix.

Raises:
    ConstraintError: The model lacks the joint of a contact, or the reference frame of a contact is ``pin.WORLD``.
    ShapeError: The lists have different lengths, or an array has the wrong shape.
"""
_WARNS = """
Warns:
    PinClustersWarning: Redundant contacts require contradictory motions. The warning lists these contacts and the rank,
        once per set of contacts; ``data.contact_residual`` contains the residual of each call.
"""
_documented = _check.documented(_COMMON)
_warns = _check.documented(_COMMON, _WARNS)


def RigidConstraintModel(contact_type: Any, model: Any, *rest: Any) -> Any:
    """Create a ``pin.RigidConstraintModel`` on ``model.tree``.

    Args:
        contact_type: ``pin.ContactType.CONTACT_3D`` or ``CONTACT_6D``.
        model: A ``ClusterModel`` or a ``pin.Model``.
        rest: Pinocchio's arguments: joint1_id[, joint1_placement[, joint2_id, joint2_placement]][, reference_frame].

    Returns:
        The contact model. Lengths are in [m].

    Raises:
        UnknownNameError: The model has no joint with this id.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL).joint1_id
        2
    """
    tree = model.own_tree if isinstance(model, ClusterModel) else model
    for index in rest:
        # Pinocchio would terminate the process for an invalid joint id.
        if isinstance(index, int) and not isinstance(index, pin.ReferenceFrame) and not 0 <= index < tree.njoints:
            raise UnknownNameError(
                f"a contact refers to joint {index}, but model {tree.name!r} has the joints 0 to {tree.njoints - 1}. "
                "Use model.getJointId(name), and check that the name exists."
            )
    return pin.RigidConstraintModel(contact_type, tree, *rest)


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def initConstraintDynamics(
    model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any = None
) -> None:
    """Allocate the contact forces ``data.lambda_c`` and impulses ``data.impulse_c``; calling this function is optional.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, contact = model.createData(), pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL)
        >>> pc.initConstraintDynamics(model, data, [contact])
        >>> data.lambda_c
        array([0., 0., 0.])
    """
    _check.model_data(model, data)
    plan: Any = None
    if contact_datas is None:
        models = models_of(model, contact_models)
    else:
        plan, models, _ = _contact_plans.find(model, data, contact_models, contact_datas)
    rows = sum(size(c) for c in models)
    _leave(data, Solution(np.zeros(rows), np.array([rows, 0.0, 0.0]), np.zeros(0)))
    data.impulse_c = np.zeros(rows)
    if plan is not None:
        plan.remember_start(data, initConstraintDynamics)


@fast(lambda data, function: ())
@also_pinocchios
@_warns
def constraintDynamics(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contact_models: Any,
    contact_datas: Any,
    prox_settings: Any = None,
) -> np.ndarray:
    """Compute the accelerations and the contact forces of a robot; all contacts are bilateral constraints.

    The forces, [N] and [N m], are stored in ``data.lambda_c`` and in ``contact_force`` of the contacts' data.

    Args:
        data: Workspace. The function fills ``data.ddq``, ``lambda_c``, ``contact_rank`` and ``contact_residual``.
        contact_datas: ``createData()`` of each contact. The function fills placements, errors and ``contact_force``.
        prox_settings: ``pin.ProximalSettings`` selects Pinocchio's proximal iterations; its fields for the number of
            iterations and the residual are not filled. The default computes minimum-norm forces of redundant contacts.

    Returns:
        Independent accelerations, shape (nv,), [rad/s^2] or [m/s^2]; a new array.

    References:
        Pinocchio's ``constraintDynamics`` for the independent joints; docs/algorithms.md, (O6). Unlike Pinocchio 4.1,
        this function uses the desired placement, velocity and acceleration of each contact model. Like Pinocchio, it
        uses ``contact_acceleration_desired`` of the contact data.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> data, q, v = model.createData(), pc.neutral(model), np.zeros(model.nv)
        >>> foot = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, model.getJointId("left_ankle"), pin.LOCAL)
        >>> a = pc.constraintDynamics(model, data, q, v, v, [foot], [foot.createData()])
        >>> data.lambda_c.shape, bool(data.contact_residual < 1e-9)
        ((3,), True)
    """
    q, v = _check.state(model, data, q, v)
    tau = _check.velocity(model, "tau", tau)
    contacts = _contact_plans.find(model, data, contact_models, contact_datas)
    state = q.copy(), v.copy(), tau.copy()  # the arguments may share memory with results
    ddq, solution = accelerations(model, data, *state, contacts, prox_settings)
    plan = contacts[0]
    warn_of_contradictions(model, contacts, solution, DYNAMICS)
    _leave(data, solution)
    _note(data, "constraintDynamics", *state)
    data._derivatives.keep_contacts(*state, solution.status[2])
    if plan is not None and (prox_settings is None or isinstance(prox_settings, pin.ProximalSettings)):
        names = "q v tau contact_models contact_datas" + " prox_settings" * (prox_settings is not None)
        plan.remember(data, constraintDynamics, names, DYNAMICS, prox_settings, solution.rank)
    return ddq


_IMPACT = {
    "model": 0, "data": 1, "q": 2, "v_before": 3, "v": 3, "contact_models": 4, "contact_datas": 5, "r_coeff": 6,
    "mu": 7, "prox_settings": 7, "constraint_jacobian": 4, "restitution_coefficient": 5, "damping": 6,
}  # fmt: skip
"""Argument positions of ``impulseDynamics``. A constraint Jacobian J is passed at the position of the contacts."""


@fast(lambda data, function: (), _IMPACT, 8)
@also_pinocchios
@_warns
def impulseDynamics(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike | None = None,
    v_before: ArrayLike | None = None,
    contact_models: Any = None,
    contact_datas: Any = None,
    r_coeff: Any = 0.0,
    mu: Any = 0.0,
    *,
    v: ArrayLike | None = None,
    constraint_jacobian: ArrayLike | None = None,
    restitution_coefficient: Any = None,
    damping: ArrayLike | None = None,
    prox_settings: Any = None,
) -> np.ndarray:
    """Compute the velocities after an impact at contacts, or at constraints with a Jacobian J.

    All overloads of Pinocchio are supported: ``(q, v, contact_models, contact_datas[, r_coeff[, prox_settings]])`` and
    ``(q, v_before, J[, r_coeff[, mu]])``. After ``crba`` or ``computeAllTerms``, q may be omitted: the overload
    ``(v_before, J[, r_coeff[, mu]])`` uses the mass matrix ``data.M``.

    Args:
        data: Workspace. The function fills ``data.dq_after`` and the impulses ``data.impulse_c``, [N s] and [N m s].
        v_before: Independent velocity before the impact, shape (nv,), [rad/s] or [m/s].
        contact_models: ``pin.RigidConstraintModel`` objects, or J, shape (rows, nv), as in the overloads above.
        r_coeff: Coefficient of restitution, from 0 (no rebound) to 1 (elastic).
        mu: Value added to the diagonal of J M^-1 J', or ``pin.ProximalSettings`` for proximal iterations.
        v: Alternative name of ``v_before``, shape (nv,), as in Pinocchio's overload with contacts.
        restitution_coefficient: Alternative name of ``r_coeff``, as in Pinocchio's overloads with J.
        prox_settings: Alternative name of ``mu``, as in Pinocchio's overload with contacts.

    Returns:
        Independent velocities after the impact, shape (nv,), [rad/s] or [m/s]; a new array.

    Raises:
        NotComputedError: q was omitted, and no earlier call computed the mass matrix.

    References:
        Pinocchio's ``impulseDynamics`` for the independent joints; docs/algorithms.md, Contacts. Unlike Pinocchio 4.1,
        this function includes the velocity of the second body of a contact.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")  # the impact stops the mechanism
        >>> v_after = pc.impulseDynamics(model, model.createData(), pc.neutral(model), [1.0], np.array([[1.0]]))
        >>> np.allclose(v_after, 0.0)
        True
    """
    _check.model_data(model, data)
    if constraint_jacobian is None and v_before is not None and np.ndim(v_before) == 2 and np.ndim(contact_models) == 0:
        # This overload has no q: the arguments are v_before, J, r_coeff, mu.
        options = contact_models, contact_datas
        q, v_before, constraint_jacobian = None, q, v_before
    elif isinstance(contact_models, np.ndarray) or _is_rows(contact_models):
        constraint_jacobian = contact_models
        options = (r_coeff, mu) if contact_datas is None else (contact_datas, r_coeff)
    else:
        options = (r_coeff, mu) if constraint_jacobian is None else (contact_models, contact_datas)
    restitution, method = (
        next((x for x in named if x is not None), 0.0)
        for named in ((restitution_coefficient, options[0]), (damping, prox_settings, options[1]))
    )
    # The copy is needed because v_before may share memory with a result.
    v_before = _check.velocity(model, "v_before", v if v_before is None else v_before).copy()
    q = None if q is None else _check.pose(model, data, q)
    J: np.ndarray | None = None
    contacts: ContactSet = None, [], []
    if constraint_jacobian is not None:
        J = _rows(model, constraint_jacobian)
    elif q is None:
        raise ArgumentTypeError("impulseDynamics with contacts needs q: pass (model, data, q, v, contact_models, ...).")
    else:
        contacts = _contact_plans.find(model, data, contact_models, contact_datas)
    if not isinstance(restitution, (int, float, np.number)):
        raise ArgumentTypeError(f"r_coeff must be a number between 0 and 1, got {type(restitution).__name__}.")
    if not 0.0 <= restitution <= 1.0:
        raise ArgumentTypeError(f"r_coeff must be between 0 and 1, got {restitution!r}.")
    restitution = float(restitution)
    if q is None:
        assert J is not None
        response = response_of(_mass_matrix(data, "impulseDynamics"), J)
        after, solution = solved_rows(J, response, v_before, np.zeros(len(J)), restitution, method)
    else:
        after, solution = after_impact(model, data, q, v_before, contacts, restitution, method, J)
    if J is None:
        warn_of_contradictions(model, contacts, solution, IMPACT)
    if q is not None:
        data._derivatives.keep_impact(q, v_before, restitution, solution.status[2], J is None)
        _note(data, "impulseDynamics", q)
    data._contacts_found[:] = solution.status
    data.impulse_c, data.dq_after = solution.forces, after
    if J is not None and not isinstance(method, pin.ProximalSettings):
        remember_rows(data, impulseDynamics, len(J), q is not None)
    if contacts[0] is not None:
        forms = ["r_coeff prox_settings"] if isinstance(method, pin.ProximalSettings) else ["", "r_coeff", "r_coeff mu"]
        for names in forms:
            names = f"q v contact_models contact_datas {names}"
            contacts[0].remember(data, impulseDynamics, names, IMPACT, method, solution.rank)
    return after


def _is_rows(x: Any) -> bool:
    return type(x) in (list, tuple) and len(x) > 0 and all(isinstance(row, (list, tuple)) for row in x)


def _mass_matrix(data: ClusterData, function: str) -> np.ndarray:
    M: np.ndarray = data.M
    if M.size and not M.any():
        raise NotComputedError(
            f"{function} was called without q, but data contains no mass matrix. Call pc.computeAllTerms(model, data, "
            "q, v) first, or pass q."
        )
    return M


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def forwardDynamics(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    constraint_jacobian: ArrayLike | None = None,
    constraint_drift: ArrayLike | None = None,
    damping: ArrayLike = 0.0,
) -> np.ndarray:
    """Compute the accelerations and the forces ``data.lambda_c`` of constraints J a + drift = 0.

    As in Pinocchio, ``(model, data, tau, J, drift[, damping])`` uses ``data.M`` and ``data.nle`` of an earlier call.

    Args:
        constraint_drift: Acceleration of the constraints for a = 0, shape (rows,), [m/s^2] or [rad/s^2].

    Returns:
        Independent accelerations, shape (nv,), [rad/s^2] or [m/s^2]; a new array.

    Raises:
        NotComputedError: q was omitted, and no earlier call computed the mass matrix.

    References:
        Pinocchio's ``forwardDynamics`` for the independent joints; docs/algorithms.md, (O6).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")  # the constraint requires a = 2 rad/s^2
        >>> data, q, J, drift = model.createData(), pc.neutral(model), np.array([[1.0]]), [-2.0]
        >>> pc.forwardDynamics(model, data, q, [0.0], [0.0], J, drift).round(6)
        array([2.])
    """
    if constraint_drift is None and v is not None and np.ndim(v) == 2:
        last_argument = 0.0 if constraint_jacobian is None else constraint_jacobian
        q, v, tau, constraint_jacobian, constraint_drift, damping = None, None, q, v, tau, last_argument
    _check.model_data(model, data)
    J = _rows(model, constraint_jacobian)
    drift = vector(model, "constraint_drift", constraint_drift, len(J), "the rows of constraint_jacobian")
    if q is None:
        M = _mass_matrix(data, "forwardDynamics")
        net_torque = _check.velocity(model, "tau", tau) - data.nle
        response, free = response_of(M, J), response_of(M, net_torque[None])[:, 0]
        ddq, solution = solved_rows(J, response, free, drift, 0.0, damping)
    else:
        q = _check.pose(model, data, q)
        # The copies are needed because v and tau may share memory with results.
        v, tau = (_check.velocity(model, name, x).copy() for name, x in (("v", v), ("tau", tau)))
        crba(model, data, q)  # like Pinocchio, store the mass matrix in data.M
        ddq, solution = with_rows(model, data, q, J, aba(model, data, q, v, tau), drift, 0.0, damping)
        computeMechanicalEnergy(model, data, q, v)
        _note(data, "forwardDynamics", q, v, np.zeros(model.nv))
    remember_rows(data, forwardDynamics, len(J), q is not None)
    _leave(data, solution)
    data._ddq[:] = ddq
    return ddq


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeDelassusMatrix(
    model: ClusterModel, data: ClusterData, q: ArrayLike, contact_models: Any, contact_datas: Any, mu: float = 0.0
) -> np.ndarray:
    """Compute the Delassus matrix J M^-1 J' of contacts.

    Returns:
        Symmetric matrix, shape (rows, rows), [1/kg], [1/(kg m)] or [1/(kg m^2)]; a new array.

    References:
        Pinocchio's ``computeDelassusMatrix`` for the independent joints. Unlike Pinocchio 4.1, this function takes the
        second body and the reference frame of a contact into account.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, contact = model.createData(), pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL)
        >>> pc.computeDelassusMatrix(model, data, pc.neutral(model), [contact], [contact.createData()]).shape
        (3, 3)
    """
    A, plan = _delassus(model, data, q, contact_models, contact_datas)
    if plan is not None:
        plan.remember_delassus(data, computeDelassusMatrix)
    return A + mu * np.eye(len(A))


def _delassus(
    model: ClusterModel, data: ClusterData, q: Any, contact_models: Any, contact_datas: Any
) -> tuple[np.ndarray, Any]:
    q = _check.pose(model, data, q)
    plan, models, datas = _contact_plans.find(model, data, contact_models, contact_datas)
    if plan is not None:
        A = plan.run(model, data, q, data._zeros, data._zeros, DELASSUS)
        assert A is not None
    else:
        _tree.compute(model, data, COLUMNS, q)
        A, _ = delassus(model, data, q, jacobian(model, data, models, datas))
    _note(data, "computeDelassusMatrix", q)
    return A, plan


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeDampedDelassusMatrixInverse(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    contact_models: Any,
    contact_datas: Any,
    mu: float = 0.0,
    scaled: bool = False,
) -> np.ndarray:
    """Compute the damped inverse (J M^-1 J' + mu)^-1 of the Delassus matrix of contacts.

    Args:
        scaled: Whether to return mu times the inverse.

    Returns:
        Symmetric matrix, shape (rows, rows), [kg], [kg m] or [kg m^2]; a new array.

    Raises:
        RankError: The contact equations are redundant, and mu is 0.

    References:
        Pinocchio's ``computeDampedDelassusMatrixInverse`` for the independent joints.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, q, contact = model.createData(), pc.neutral(model), pc.RigidConstraintModel
        >>> contact = contact(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL)
        >>> pc.computeDampedDelassusMatrixInverse(model, data, q, [contact], [contact.createData()], 1e-6).shape
        (3, 3)
    """
    A, plan = _delassus(model, data, q, contact_models, contact_datas)
    mu = damping_of(mu)
    inverse = inverse_of(A, mu, mu if scaled else 1.0)
    if plan is not None:
        plan.remember_delassus(data, computeDampedDelassusMatrixInverse)
    return inverse


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def getConstraintsJacobian(
    model: ClusterModel, data: ClusterData, constraint_models: Any, constraint_datas: Any
) -> np.ndarray:
    """Return the Jacobian of contacts for the independent velocities; call ``computeJointJacobians`` first.

    Returns:
        New array, shape (rows, nv), in the reference frames of the contacts, [m/s] and [rad/s] per unit of v.

    References:
        Pinocchio's ``getConstraintsJacobian``, multiplied by G.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, contact = model.createData(), pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL)
        >>> _ = pc.computeJointJacobians(model, data, pc.neutral(model))
        >>> pc.getConstraintsJacobian(model, data, [contact], [contact.createData()]).shape
        (3, 1)
    """
    J, plan = _jacobian(model, data, constraint_models, constraint_datas)
    if plan is not None:
        plan.remember_rows(data, getConstraintsJacobian, "constraint_models constraint_datas")
    return J


def _jacobian(
    model: ClusterModel, data: ClusterData, constraint_models: Any, constraint_datas: Any
) -> tuple[np.ndarray, Any]:
    _check.model_data(model, data)
    plan, models, datas = _contact_plans.find(model, data, constraint_models, constraint_datas)
    if plan is None or data._other_fields:
        return jacobian(model, data, models, datas), None
    return plan.rows(model, data), plan


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def getConstraintJacobian(
    model: ClusterModel, data: ClusterData, constraint_model: Any, constraint_data: Any
) -> np.ndarray:
    """Return the Jacobian of one contact; see ``getConstraintsJacobian`` for a list of contacts.

    Args:
        constraint_model: A ``pin.RigidConstraintModel`` on ``model.tree``.
        constraint_data: Result of ``constraint_model.createData()``.

    Returns:
        New array, shape (3, nv) or (6, nv), in the reference frame of the contact, [m/s] and [rad/s] per unit of v.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, contact = model.createData(), pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL)
        >>> _ = pc.computeJointJacobians(model, data, pc.neutral(model))
        >>> pc.getConstraintJacobian(model, data, contact, contact.createData()).shape
        (3, 1)
    """
    J, plan = _jacobian(model, data, [constraint_model], [constraint_data])
    if plan is not None:
        plan.remember_rows(data, getConstraintJacobian, "constraint_model constraint_data")
    return J


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeKKTContactDynamicMatrixInverse(
    model: ClusterModel, data: ClusterData, q: ArrayLike, constraint_jacobian: ArrayLike, damping: float = 0.0
) -> np.ndarray:
    """Compute the inverse of the KKT matrix [[M, J'], [J, -damping]].

    Args:
        data: Workspace; ``data.M`` stores the mass matrix.

    Returns:
        Symmetric matrix, shape (nv + rows, nv + rows), a new array. With this ``inverse``, the accelerations are
        ``inverse[:nv, :nv] @ (tau - nle) - inverse[:nv, nv:] @ drift``, in [rad/s^2] or [m/s^2].

    Raises:
        RankError: The constraint equations are redundant, and damping is 0.

    References:
        Pinocchio's ``computeKKTContactDynamicMatrixInverse`` for the independent joints.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, q = model.createData(), pc.neutral(model)
        >>> pc.computeKKTContactDynamicMatrixInverse(model, data, q, np.array([[1.0]])).shape
        (2, 2)
    """
    J = _rows(model, constraint_jacobian)
    crba(model, data, q)
    inverse = kkt_inverse_of(data.M, J, damping)
    remember_kkt(data, computeKKTContactDynamicMatrixInverse, len(J))
    return inverse


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def getKKTContactDynamicMatrixInverse(
    model: ClusterModel, data: ClusterData, constraint_jacobian: ArrayLike
) -> np.ndarray:
    """Compute the inverse of [[M, J'], [J, 0]] with the mass matrix of an earlier ``crba`` or ``forwardDynamics``.

    Returns:
        Symmetric matrix, shape (nv + rows, nv + rows), a new array; see ``computeKKTContactDynamicMatrixInverse``.

    Raises:
        NotComputedError: No mass matrix was computed before.
        RankError: The constraint equations are redundant.

    References:
        Pinocchio's ``getKKTContactDynamicMatrixInverse`` for the independent joints.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> _ = pc.crba(model, data, pc.neutral(model))
        >>> pc.getKKTContactDynamicMatrixInverse(model, data, np.array([[1.0]])).shape
        (2, 2)
    """
    _check.model_data(model, data)
    J = _rows(model, constraint_jacobian)
    inverse = kkt_inverse_of(_mass_matrix(data, "getKKTContactDynamicMatrixInverse"), J, 0.0)
    remember_kkt(data, getKKTContactDynamicMatrixInverse, len(J))
    return inverse


def _rows(model: ClusterModel, J: Any) -> np.ndarray:
    J = numbers("constraint_jacobian", J)
    if J.ndim != 2 or J.shape[1] != model.nv:
        raise ShapeError(
            f"constraint_jacobian has shape {J.shape}, but model {model.name!r} needs (rows, nv) with nv = {model.nv}."
        )
    return plain(J)


def _note(data: ClusterData, function: str, *state: np.ndarray) -> None:
    data._keep(function, *state)
    data._owe(function)


def _leave(data: ClusterData, solution: Solution) -> None:
    data.lambda_c = solution.forces
    data._contacts_found[:] = solution.status
