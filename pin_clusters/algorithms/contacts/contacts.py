"""Contacts and impacts, through Pinocchio's own objects on ``model.tree``; rotors, couplings and loops stay exact.

With J the rows of the contacts for the independent velocities, M a + nle = tau + J' lambda and J a + drift = what the
corrector and the desired accelerations ask for. J M^-1 J' and M^-1 J' come from one kernel.
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
from ._objects import delassus, jacobian, models_of, size, tell_contradictions
from ._plans import Found
from ._rows import remember as remember_rows
from ._rows import remember_kkt, with_rows
from ._solutions import accelerations, after_impact

_COMMON = """
Args:
    contact_models: ``pin.RigidConstraintModel`` objects on ``model.tree``: a list, a tuple or Pinocchio's own.
    contact_datas: What ``createData()`` of each returned, in the same order.
    constraint_models: ``pin.RigidConstraintModel`` objects on ``model.tree``: a list, a tuple or Pinocchio's own.
    constraint_datas: What ``createData()`` of each returned, in the same order.
    constraint_jacobian: Rows of the constraints, shape (rows, nv).
    damping: Added to the diagonal of J M^-1 J'.
    mu: Added to the diagonal of J M^-1 J'.

Raises:
    ConstraintError: A contact does not fit the model, or its reference frame is ``pin.WORLD``.
    ShapeError: Lists or arrays do not fit each other or the model.
"""
_documented = _check.documented(_COMMON)


def RigidConstraintModel(contact_type: Any, model: Any, *rest: Any) -> Any:
    """Return a ``pin.RigidConstraintModel`` on ``model.tree``: the constructor's prefix is all that changes.

    Args:
        contact_type: ``pin.ContactType.CONTACT_3D`` or ``CONTACT_6D``.
        model: A ``ClusterModel`` (or a ``pin.Model``).
        rest: As Pinocchio takes them: joint1_id[, joint1_placement[, joint2_id, joint2_placement]][, reference_frame].

    Returns:
        The object.

    Raises:
        UnknownNameError: There is no such joint.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin.LOCAL).joint1_id
        2
    """
    tree = model.own_tree if isinstance(model, ClusterModel) else model
    for given in rest:
        # Pinocchio itself ends the process
        if isinstance(given, int) and not isinstance(given, pin.ReferenceFrame) and not 0 <= given < tree.njoints:
            raise UnknownNameError(
                f"a contact on joint {given}: model {tree.name!r} has the joints 0 to {tree.njoints - 1}. Use "
                "model.getJointId(name), and see that the name exists."
            )
    return pin.RigidConstraintModel(contact_type, tree, *rest)


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def initConstraintDynamics(
    model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any = None
) -> None:
    """Make room for the forces of contacts: ``data.lambda_c`` and ``data.impulse_c``; may be left out."""
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
@_documented
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
    """Compute the accelerations while contacts hold; forces are in ``data.lambda_c`` and in the contacts' data.

    Args:
        data: Its workspace; ``data.ddq`` and ``data.lambda_c`` are filled.
        contact_datas: What ``createData()`` of each returned; placements, errors and ``contact_force`` are filled.
        prox_settings: ``pin.ProximalSettings``: iterates as Pinocchio does, but cannot write there how far it came.
            Without it redundant contacts get the forces of least norm. ``data.contact_rank`` and
            ``data.contact_residual`` tell both.

    Returns:
        Independent accelerations, shape (nv,), [rad/s^2] or [m/s^2]; a fresh array.

    Warns:
        PinClustersWarning: Redundant contacts contradict each other; they are named, and the rank is given. The warning
            is emitted once for the same contacts and data; ``data.contact_residual`` keeps the error of each call.

    References:
        Pinocchio's ``constraintDynamics``, for the independent joints. ``desired_contact_placement``, ``_velocity`` and
        ``_acceleration`` of a contact count; Pinocchio 4.1 reads ``contact_acceleration_desired`` of its data only,
        which counts as well.
    """
    q, v = _check.state(model, data, q, v)
    tau = _check.velocity(model, "tau", tau)
    contacts = _contact_plans.find(model, data, contact_models, contact_datas)
    state = q.copy(), v.copy(), tau.copy()  # which may be among the results
    found, solution = accelerations(model, data, *state, contacts, prox_settings)
    plan = contacts[0]
    tell_contradictions(model, contacts, solution, DYNAMICS)
    _leave(data, solution)
    _note(data, "constraintDynamics", *state)
    data._derivatives.keep_contacts(*state, solution.found[2])
    if plan is not None and (prox_settings is None or isinstance(prox_settings, pin.ProximalSettings)):
        given = "q v tau contact_models contact_datas" + " prox_settings" * (prox_settings is not None)
        plan.remember(data, constraintDynamics, given, DYNAMICS, prox_settings, solution.rank)
    return found


_IMPACT = {
    "model": 0, "data": 1, "q": 2, "v_before": 3, "v": 3, "contact_models": 4, "contact_datas": 5, "r_coeff": 6,
    "mu": 7, "prox_settings": 7, "constraint_jacobian": 4, "restitution_coefficient": 5, "damping": 6,
}  # fmt: skip
"""Positions of arguments of ``impulseDynamics``: rows J stand in the place of contacts."""


@fast(lambda data, function: (), _IMPACT, 8)
@also_pinocchios
@_documented
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
    """Compute the velocities after an impact at contacts, or at rows J given in the place of ``contact_models``.

    All forms of Pinocchio are taken: ``(q, v, contact_models, contact_datas[, r_coeff[, prox_settings]])``,
    ``(q, v_before, J[, r_coeff[, mu]])``, and after ``crba`` or ``computeAllTerms`` ``(v_before, J[, r_coeff[, mu]])``,
    which takes the mass matrix of ``data.M``.

    Args:
        data: Its workspace; ``data.dq_after`` and ``data.impulse_c`` are filled.
        v_before: Independent velocity before the impact, shape (nv,).
        contact_models: ``pin.RigidConstraintModel`` objects on ``model.tree``; or J, shape (rows, nv), and then r_coeff
            and mu follow without ``contact_datas``.
        r_coeff: Restitution: 0 the contacts stick, 1 they bounce.
        mu: Damping, or ``pin.ProximalSettings``.
        v: v_before by the name that it has in Pinocchio's form with contacts, shape (nv,).
        restitution_coefficient: r_coeff, by its name in Pinocchio's forms with J.
        prox_settings: mu, by its name in Pinocchio's form with contacts.

    Returns:
        Independent velocities, shape (nv,), [rad/s] or [m/s]; a fresh array.

    Raises:
        NotComputedError: Without q: no mass matrix was computed before.

    Warns:
        PinClustersWarning: Redundant contacts contradict each other; they are named, and the rank is given. The warning
            is emitted once for the same contacts and data; ``data.contact_residual`` keeps the error of each call.

    References:
        Pinocchio's ``impulseDynamics``, for the independent joints. Of contacts between two bodies Pinocchio (4.1)
        forgets the velocity of the second one; it counts here.
    """
    _check.model_data(model, data)
    if constraint_jacobian is None and v_before is not None and np.ndim(v_before) == 2 and _is_number(contact_models):
        # without q: the next ones are v_before, J, r_coeff, mu
        given = contact_models, contact_datas
        q, v_before, constraint_jacobian = None, q, v_before
    elif isinstance(contact_models, np.ndarray) or _is_rows(contact_models):
        constraint_jacobian = contact_models
        given = (r_coeff, mu) if contact_datas is None else (contact_datas, r_coeff)
    else:
        given = (r_coeff, mu) if constraint_jacobian is None else (contact_models, contact_datas)
    bounce, how = (
        next((x for x in named if x is not None), 0.0)
        for named in ((restitution_coefficient, given[0]), (damping, prox_settings, given[1]))
    )
    v_before = _check.velocity(model, "v_before", v if v_before is None else v_before).copy()  # may be a result
    q = None if q is None else _check.pose(model, data, q)
    J: np.ndarray | None = None
    contacts: Found = None, [], []
    if constraint_jacobian is not None:
        J = _rows(model, constraint_jacobian)
    elif q is None:
        raise ArgumentTypeError("impulseDynamics with contacts needs q: (model, data, q, v, contact_models, ...).")
    else:
        contacts = _contact_plans.find(model, data, contact_models, contact_datas)
    if not isinstance(bounce, (int, float, np.number)):
        raise ArgumentTypeError(f"r_coeff must be a number between 0 and 1, got {type(bounce).__name__}.")
    if not 0.0 <= bounce <= 1.0:
        raise ArgumentTypeError(f"r_coeff must be between 0 and 1, got {bounce!r}.")
    bounce = float(bounce)
    if q is None:
        assert J is not None
        response = response_of(_mass_matrix(data, "impulseDynamics"), J)
        after, solution = solved_rows(J, response, v_before, np.zeros(len(J)), bounce, how)
    else:
        after, solution = after_impact(model, data, q, v_before, contacts, bounce, how, J)
    if J is None:
        tell_contradictions(model, contacts, solution, IMPACT)
    if q is not None:
        data._derivatives.keep_impact(q, v_before, bounce, solution.found[2], J is None)
        _note(data, "impulseDynamics", q)
    data._contacts_found[:] = solution.found
    data.impulse_c, data.dq_after = solution.forces, after
    if J is not None and not isinstance(how, pin.ProximalSettings):
        remember_rows(data, impulseDynamics, len(J), q is not None)
    if contacts[0] is not None:
        forms = ["r_coeff prox_settings"] if isinstance(how, pin.ProximalSettings) else ["", "r_coeff", "r_coeff mu"]
        for names in forms:
            names = f"q v contact_models contact_datas {names}"
            contacts[0].remember(data, impulseDynamics, names, IMPACT, how, solution.rank)
    return after


def _is_rows(x: Any) -> bool:
    """Whether it is a list of lists."""
    return type(x) in (list, tuple) and len(x) > 0 and all(isinstance(row, (list, tuple)) for row in x)


def _is_number(x: Any) -> bool:
    """Whether it is a number, or nothing in the place of one."""
    return x is None or np.ndim(x) == 0


def _mass_matrix(data: ClusterData, function: str) -> np.ndarray:
    """Return the mass matrix that was computed last."""
    M: np.ndarray = data.M
    if M.size and not M.any():
        raise NotComputedError(
            f"{function} was given no q, and this data has no mass matrix: call pc.computeAllTerms(model, data, q, v) "
            "before, or pass q."
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
    """Compute the accelerations under constraints J a + drift = 0; their forces are in ``data.lambda_c``.

    After ``computeAllTerms`` q and v may be left out, as in Pinocchio: ``(model, data, tau, J, drift[, damping])``
    takes ``data.M`` and ``data.nle``.

    Args:
        constraint_drift: Acceleration of the constraints at a = 0, shape (rows,).

    Returns:
        Independent accelerations, shape (nv,); a fresh array.

    Raises:
        NotComputedError: Without q: no mass matrix was computed before.

    References:
        Pinocchio's ``forwardDynamics``, for the independent joints.
    """
    if constraint_drift is None and v is not None and np.ndim(v) == 2:
        given = 0.0 if constraint_jacobian is None else constraint_jacobian
        q, v, tau, constraint_jacobian, constraint_drift, damping = None, None, q, v, tau, given
    _check.model_data(model, data)
    J = _rows(model, constraint_jacobian)
    drift = vector(model, "constraint_drift", constraint_drift, len(J), "the rows of constraint_jacobian")
    if q is None:
        M = _mass_matrix(data, "forwardDynamics")
        rest = _check.velocity(model, "tau", tau) - data.nle
        response, free = response_of(M, J), response_of(M, rest[None])[:, 0]
        found, solution = solved_rows(J, response, free, drift, 0.0, damping)
    else:
        q = _check.pose(model, data, q)
        v, tau = (_check.velocity(model, name, x).copy() for name, x in (("v", v), ("tau", tau)))  # may be results
        crba(model, data, q)  # left in data.M, as by Pinocchio
        found, solution = with_rows(model, data, q, J, aba(model, data, q, v, tau), drift, 0.0, damping)
        computeMechanicalEnergy(model, data, q, v)
        _note(data, "forwardDynamics", q, v, np.zeros(model.nv))
    remember_rows(data, forwardDynamics, len(J), q is not None)
    _leave(data, solution)
    data._ddq[:] = found
    return found


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeDelassusMatrix(
    model: ClusterModel, data: ClusterData, q: ArrayLike, contact_models: Any, contact_datas: Any, mu: float = 0.0
) -> np.ndarray:
    """Compute J M^-1 J' of contacts.

    Returns:
        Shape (rows, rows), symmetric; a fresh array.

    References:
        Pinocchio's ``computeDelassusMatrix``, for the independent joints. Pinocchio (4.1) forgets the second body of a
        contact, and gives all in axes of the contact; here body and reference frame count.
    """
    A, plan = _delassus(model, data, q, contact_models, contact_datas)
    if plan is not None:
        plan.remember_delassus(data, computeDelassusMatrix)
    return A + mu * np.eye(len(A))


def _delassus(
    model: ClusterModel, data: ClusterData, q: Any, contact_models: Any, contact_datas: Any
) -> tuple[np.ndarray, Any]:
    """Return J M^-1 J' of contacts, and their plan."""
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
    """Compute (J M^-1 J' + mu)^-1 of contacts.

    Args:
        scaled: Return it times mu.

    Returns:
        Shape (rows, rows), symmetric; a fresh array.

    Raises:
        RankError: Rows are redundant, and mu is 0.

    References:
        Pinocchio's ``computeDampedDelassusMatrixInverse``, for the independent joints.
    """
    A, plan = _delassus(model, data, q, contact_models, contact_datas)
    mu = damping_of(mu)
    found = inverse_of(A, mu, mu if scaled else 1.0)
    if plan is not None:
        plan.remember_delassus(data, computeDampedDelassusMatrixInverse)
    return found


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def getConstraintsJacobian(
    model: ClusterModel, data: ClusterData, constraint_models: Any, constraint_datas: Any
) -> np.ndarray:
    """Return the rows of contacts for the independent velocities; after ``computeJointJacobians``.

    Returns:
        Shape (rows, nv), in the contacts' reference frames; a fresh array.

    References:
        Pinocchio's ``getConstraintsJacobian``, times G.
    """
    found, plan = _jacobian(model, data, constraint_models, constraint_datas)
    if plan is not None:
        plan.remember_rows(data, getConstraintsJacobian, "constraint_models constraint_datas")
    return found


def _jacobian(
    model: ClusterModel, data: ClusterData, constraint_models: Any, constraint_datas: Any
) -> tuple[np.ndarray, Any]:
    """Return the rows of contacts, and their plan if the kernel computes the rows."""
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
    """Return the rows of one contact: ``getConstraintsJacobian`` of a list of one.

    Args:
        constraint_model: A ``pin.RigidConstraintModel`` on ``model.tree``.
        constraint_data: What its ``createData()`` returned.

    Returns:
        Shape (3, nv) or (6, nv), in the contact's reference frame; a fresh array.
    """
    found, plan = _jacobian(model, data, [constraint_model], [constraint_data])
    if plan is not None:
        plan.remember_rows(data, getConstraintJacobian, "constraint_model constraint_data")
    return found


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def computeKKTContactDynamicMatrixInverse(
    model: ClusterModel, data: ClusterData, q: ArrayLike, constraint_jacobian: ArrayLike, damping: float = 0.0
) -> np.ndarray:
    """Compute the inverse of [[M, J'], [J, -damping]], which leads from torques and rates to motion and forces.

    Args:
        data: Its workspace; ``data.M`` keeps the mass matrix.

    Returns:
        Shape (nv + rows, nv + rows), symmetric; a fresh array. Accelerations are ``top left @ (tau - nle) - top right @
        drift``.

    Raises:
        RankError: Rows are redundant, and damping is 0.

    References:
        Pinocchio's ``computeKKTContactDynamicMatrixInverse``, for the independent joints.
    """
    J = _rows(model, constraint_jacobian)
    crba(model, data, q)
    found = kkt_inverse_of(data.M, J, damping)
    remember_kkt(data, computeKKTContactDynamicMatrixInverse, len(J))
    return found


@fast(lambda data, function: ())
@also_pinocchios
@_documented
def getKKTContactDynamicMatrixInverse(
    model: ClusterModel, data: ClusterData, constraint_jacobian: ArrayLike
) -> np.ndarray:
    """Return the inverse of [[M, J'], [J, 0]] with the mass matrix of ``forwardDynamics``, ``crba`` or their kin.

    Returns:
        Shape (nv + rows, nv + rows), symmetric; a fresh array.

    Raises:
        NotComputedError: No mass matrix was computed before.
        RankError: Rows are redundant.

    References:
        Pinocchio's ``getKKTContactDynamicMatrixInverse``, for the independent joints.
    """
    _check.model_data(model, data)
    J = _rows(model, constraint_jacobian)
    found = kkt_inverse_of(_mass_matrix(data, "getKKTContactDynamicMatrixInverse"), J, 0.0)
    remember_kkt(data, getKKTContactDynamicMatrixInverse, len(J))
    return found


def _rows(model: ClusterModel, J: Any) -> np.ndarray:
    """Return rows given by the user, shape (rows, nv)."""
    J = numbers("constraint_jacobian", J)
    if J.ndim != 2 or J.shape[1] != model.nv:
        raise ShapeError(
            f"constraint_jacobian has shape {J.shape}, but model {model.name!r} needs (rows, nv) with nv = {model.nv}."
        )
    return plain(J)


def _note(data: ClusterData, function: str, *state: np.ndarray) -> None:
    """Note what a function owes at a state, when it has done its work."""
    data._keep(function, *state)
    data._owe(function)


def _leave(data: ClusterData, solution: Solution) -> None:
    """Leave forces in data."""
    data.lambda_c = solution.forces
    data._contacts_found[:] = solution.found
