"""Contacts and impacts, through Pinocchio's own objects on ``model.tree``; rotors, couplings and loops stay exact.

With J the rows of the contacts for the independent velocities, M a + nle = tau + J' lambda and J a + drift = what the
corrector and the desired accelerations ask for. J M^-1 J' and M^-1 J' come from one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from .._kernels.tree_layout import COLUMNS, MOTION
from ..arrays import numbers, vector
from ..errors import ArgumentTypeError, ConstraintError, RankError, ShapeError, UnknownNameError
from ..model import ClusterData, ClusterModel
from . import _bridge, _check, _columns, _tree
from ._quick import quick_columns
from .aba import aba

_COMMON = """
Args:
    contact_models: ``pin.RigidConstraintModel`` objects on ``model.tree``: a list, a tuple or Pinocchio's own.
    contact_datas: What ``createData()`` of each returned, in the same order.
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


@_documented
def initConstraintDynamics(
    model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any = None
) -> None:
    """Make room for the forces of contacts: ``data.lambda_c`` and ``data.impulse_c``; may be left out."""
    _check.model_data(model, data)
    models = _models(model, contact_models)
    if contact_datas is not None:
        _datas(models, contact_datas)
    size = sum(_size(c) for c in models)
    data.lambda_c, data.impulse_c = np.zeros(size), np.zeros(size)


@_documented
def constraintDynamics(
    model: ClusterModel, data: ClusterData, q: Any, v: Any, tau: Any, contact_models: Any, contact_datas: Any,
    prox_settings: Any = None,
) -> np.ndarray:  # fmt: skip
    """Compute the accelerations while contacts hold; forces are in ``data.lambda_c`` and in the contacts' data.

    Args:
        data: Its workspace; ``data.ddq`` and ``data.lambda_c`` are filled.
        contact_datas: What ``createData()`` of each returned; placements, errors and ``contact_force`` are filled.
        prox_settings: ``pin.ProximalSettings``: iterates as Pinocchio does, but cannot write there how far it came.
            Without it redundant contacts get the forces of least norm.

    Returns:
        Independent accelerations, shape (nv,), [rad/s^2] or [m/s^2]; a fresh array.

    References:
        Pinocchio's ``constraintDynamics``, for the independent joints. ``desired_contact_placement``, ``_velocity`` and
        ``_acceleration`` of a contact count; Pinocchio 4.1 reads ``contact_acceleration_desired`` of its data only,
        which counts as well.
    """
    q, v = _check.state(model, data, q, v)
    models = _models(model, contact_models)
    datas = _datas(models, contact_datas)
    free = aba(model, data, q, v, tau)
    _tree.compute(model, data, MOTION | COLUMNS, q, v, free)
    J = _jacobian(model, data, models, datas)
    missing = [_missing(data.tree, c, d) for c, d in zip(models, datas, strict=True)]
    rest = np.concatenate(missing) if missing else np.zeros(0)
    A, response = _delassus(model, data, q, J)
    force = _solved(A, rest, prox_settings)
    _hand_out(models, datas, force)
    data.lambda_c, data._ddq[:] = force, free + response @ force
    return data._ddq.copy()


@_documented
def impulseDynamics(
    model: ClusterModel, data: ClusterData, q: Any, v_before: Any, contact_models: Any, contact_datas: Any = None,
    r_coeff: float = 0.0, mu: Any = 0.0,
) -> np.ndarray:  # fmt: skip
    """Compute the velocities after an impact at contacts, or at rows J given in the place of ``contact_models``.

    Args:
        data: Its workspace; ``data.dq_after`` and ``data.impulse_c`` are filled.
        v_before: Independent velocity before the impact, shape (nv,).
        contact_models: ``pin.RigidConstraintModel`` objects on ``model.tree``; or J, shape (rows, nv), and then r_coeff
            and mu follow without ``contact_datas``, as in Pinocchio.
        r_coeff: Restitution: 0 the contacts stick, 1 they bounce.
        mu: Damping, or ``pin.ProximalSettings``.

    Returns:
        Independent velocities, shape (nv,), [rad/s] or [m/s]; a fresh array.

    References:
        Pinocchio's ``impulseDynamics``, for the independent joints. Of contacts between two bodies Pinocchio (4.1)
        forgets the velocity of the second one; it counts here.
    """
    q, v = _check.pose(model, data, q), _check.velocity(model, "v_before", v_before)
    models: list[Any] = []
    datas: list[Any] = []
    if isinstance(contact_models, np.ndarray):
        J = _rows(model, contact_models)
        if contact_datas is not None:  # restitution and damping follow J
            r_coeff, mu = contact_datas, r_coeff
    else:
        models = _models(model, contact_models)
        datas = _datas(models, contact_datas)
        _tree.compute(model, data, COLUMNS, q)
        J = _jacobian(model, data, models, datas)
    if not 0.0 <= r_coeff <= 1.0:
        raise ArgumentTypeError(f"r_coeff must be between 0 and 1, got {r_coeff!r}.")
    A, response = _delassus(model, data, q, J)
    impulse = _solved(A, -(1.0 + r_coeff) * (J @ v), mu)
    _hand_out(models, datas, impulse)
    data.impulse_c, data.dq_after = impulse, v + response @ impulse
    return np.array(data.dq_after)


@_documented
def forwardDynamics(
    model: ClusterModel, data: ClusterData, q: Any, v: Any, tau: Any, constraint_jacobian: Any, constraint_drift: Any,
    damping: float = 0.0,
) -> np.ndarray:  # fmt: skip
    """Compute the accelerations under constraints J a + drift = 0; their forces are in ``data.lambda_c``.

    Args:
        constraint_drift: Acceleration of the constraints at a = 0, shape (rows,).

    Returns:
        Independent accelerations, shape (nv,); a fresh array.

    References:
        Pinocchio's ``forwardDynamics``, for the independent joints.
    """
    q = _check.pose(model, data, q)
    J = _rows(model, constraint_jacobian)
    drift = vector(model, "constraint_drift", constraint_drift, len(J), "the rows of constraint_jacobian")
    free = aba(model, data, q, v, tau)
    A, response = _delassus(model, data, q, J)
    force = _solved(A, -drift - J @ free, damping)
    data.lambda_c, data._ddq[:] = force, free + response @ force
    return data._ddq.copy()


@_documented
def computeDelassusMatrix(
    model: ClusterModel, data: ClusterData, q: Any, contact_models: Any, contact_datas: Any, mu: float = 0.0
) -> np.ndarray:
    """Compute J M^-1 J' of contacts.

    Returns:
        Shape (rows, rows), symmetric; a fresh array.

    References:
        Pinocchio's ``computeDelassusMatrix``, for the independent joints. Pinocchio (4.1) forgets the second body of a
        contact, and gives all in axes of the contact; here body and reference frame count.
    """
    q = _check.pose(model, data, q)
    models = _models(model, contact_models)
    datas = _datas(models, contact_datas)
    _tree.compute(model, data, COLUMNS, q)
    A, _ = _delassus(model, data, q, _jacobian(model, data, models, datas))
    return A + mu * np.eye(len(A))


@_documented
def computeDampedDelassusMatrixInverse(
    model: ClusterModel, data: ClusterData, q: Any, contact_models: Any, contact_datas: Any, mu: float = 0.0,
    scaled: bool = False,
) -> np.ndarray:  # fmt: skip
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
    A = computeDelassusMatrix(model, data, q, contact_models, contact_datas, mu)
    inverse = _regular(A, np.eye(len(A)))
    return (mu if scaled else 1.0) * 0.5 * (inverse + inverse.T)


@_documented
def getConstraintsJacobian(
    model: ClusterModel, data: ClusterData, contact_models: Any, contact_datas: Any
) -> np.ndarray:
    """Return the rows of contacts for the independent velocities; after ``computeJointJacobians``.

    Returns:
        Shape (rows, nv), in the contacts' reference frames; a fresh array.

    References:
        Pinocchio's ``getConstraintsJacobian``, times G.
    """
    _check.model_data(model, data)
    models = _models(model, contact_models)
    return _jacobian(model, data, models, _datas(models, contact_datas))


def _models(model: ClusterModel, contact_models: Any) -> list[Any]:
    """Return contacts as a list; all fit the model."""
    try:
        models = list(contact_models)
    except TypeError:
        raise ArgumentTypeError(
            f"contact_models must be a list of pin.RigidConstraintModel, got {type(contact_models).__name__}."
        ) from None
    for i, c in enumerate(models):
        if not isinstance(c, pin.RigidConstraintModel):
            raise ArgumentTypeError(
                f"contact_models[{i}] must be a pin.RigidConstraintModel, got {type(c).__name__}. Make it with "
                "pc.RigidConstraintModel(type, model, ...)."
            )
        if max(c.joint1_id, c.joint2_id) >= model.njoints:
            raise ConstraintError(
                f"contact_models[{i}] is on joint {max(c.joint1_id, c.joint2_id)}, but model {model.name!r} has the "
                f"joints 0 to {model.njoints - 1}. Make it with pc.RigidConstraintModel(type, model, ...)."
            )
        if c.reference_frame == pin.WORLD:
            raise ConstraintError(
                f"contact_models[{i}] has the reference frame WORLD; take pin.LOCAL or pin.LOCAL_WORLD_ALIGNED."
            )
    return models


def _datas(models: Sequence[Any], contact_datas: Any) -> list[Any]:
    """Return the data of contacts as a list, as many as there are contacts."""
    if contact_datas is None:
        raise ArgumentTypeError("contact_datas is missing: [c.createData() for c in contact_models].")
    datas = list(contact_datas)
    if len(datas) != len(models):
        raise ShapeError(f"there are {len(models)} contact_models, but {len(datas)} contact_datas.")
    for i, d in enumerate(datas):
        if not isinstance(d, pin.RigidConstraintData):
            raise ArgumentTypeError(f"contact_datas[{i}] must be a pin.RigidConstraintData, got {type(d).__name__}.")
    return datas


def _size(c: Any) -> int:
    return 3 if c.type == pin.ContactType.CONTACT_3D else 6


def _rows(model: ClusterModel, J: Any) -> np.ndarray:
    """Return rows given by the user, shape (rows, nv)."""
    J = numbers("constraint_jacobian", J)
    if J.ndim != 2 or J.shape[1] != model.nv:
        raise ShapeError(
            f"constraint_jacobian has shape {J.shape}, but model {model.name!r} needs (rows, nv) with nv = {model.nv}."
        )
    return np.ascontiguousarray(J, dtype=np.float64)


def _jacobian(model: ClusterModel, data: ClusterData, models: Sequence[Any], datas: Sequence[Any]) -> np.ndarray:
    """Return the rows of contacts, from what is in the tree's data."""
    tree, G = model.own_tree, _bridge.kept(model, data)
    rows = [np.zeros((0, tree.nv))]
    for c, d in zip(models, datas, strict=True):
        _place(data.tree, c, d)
        rows.append(pin.getConstraintJacobian(tree, data.tree, c, d))
    return np.ascontiguousarray(np.vstack(rows) @ G)


def _place(tree: pin.Data, c: Any, d: Any) -> None:
    """Write where both sides of a contact are, for Pinocchio's functions that begin there."""
    d.oMc1 = tree.oMi[c.joint1_id] * c.joint1_placement
    d.oMc2 = tree.oMi[c.joint2_id] * c.joint2_placement
    d.c1Mc2 = d.oMc1.actInv(d.oMc2)


def _delassus(model: ClusterModel, data: ClusterData, q: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return J M^-1 J' and M^-1 J'."""
    plan = _columns.of_inputs(model, data, (), pin.LOCAL, len(J))
    plan.take(np.ascontiguousarray(J.T))
    found = quick_columns(model, data, q, plan.desk)
    response = plan.run(model, data, q)[1] if found is None else found
    A = J @ response
    return 0.5 * (A + A.T), response


def _missing(tree: pin.Data, c: Any, d: Any) -> np.ndarray:
    """Return the acceleration that is asked of a contact, minus the one that it has; fills what Pinocchio fills."""
    flat, one, between = c.type == pin.ContactType.CONTACT_3D, d.oMc1, d.c1Mc2
    R, R_between = one.rotation, between.rotation
    v1, a1 = tree.v[c.joint1_id], tree.a[c.joint1_id]
    v2, a2 = tree.v[c.joint2_id], tree.a[c.joint2_id]
    here, there = c.joint1_placement.actInv(v1), c.joint2_placement.actInv(v2)
    d.contact1_velocity, d.contact2_velocity = here, there
    there = between.act(there)
    error, rate = np.zeros(6), np.zeros(6)
    if flat:
        error[:3] = c.desired_contact_placement.translation - between.translation
        rate[:3] = here.linear - R_between @ d.contact2_velocity.linear - c.desired_contact_velocity.linear
        has = pin.classicAcceleration(v1, a1, c.joint1_placement)
        has = has - R_between @ pin.classicAcceleration(v2, a2, c.joint2_placement)
        if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
            has = R @ has
    else:
        error = -pin.log6(c.desired_contact_placement.actInv(between)).vector
        rate = (here - there - c.desired_contact_velocity).vector
        relative = c.joint1_placement.actInv(a1) - between.act(c.joint2_placement.actInv(a2))
        if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
            has = np.concatenate([R @ relative.linear, R @ relative.angular])
        else:
            has = (relative + (here - there).cross(there)).vector
    d.contact_placement_error, d.contact_velocity_error = pin.Motion(error), pin.Motion(rate)
    gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
    wanted, n = np.zeros(6), len(has)  # one gain per row in Pinocchio 3, one for all in 4
    wanted[:n] = -np.ravel(gains.Kp)[:n] * error[:n] - np.ravel(gains.Kd)[:n] * rate[:n]
    if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
        wanted = np.concatenate([R @ wanted[:3], R @ wanted[3:]])
    d.contact_acceleration_error = pin.Motion(wanted)
    asked = wanted + c.desired_contact_acceleration.vector + d.contact_acceleration_desired.vector
    return np.asarray(asked[: len(has)] - has)


def _solved(A: np.ndarray, b: np.ndarray, settings: Any) -> np.ndarray:
    """Solve A x = b: of least norm, damped by a number, or iterated as proximal settings say."""
    if isinstance(settings, pin.ProximalSettings):
        return _iterated(A, b, settings)
    damping = 0.0 if settings is None else float(settings)
    if not damping >= 0.0:
        raise ArgumentTypeError(f"damping (mu) must not be negative, got {settings!r}.")
    if damping > 0.0 or not len(A):
        return _regular(A + damping * np.eye(len(A)), b)
    if not np.all(np.isfinite(A)):
        return np.full(len(b), np.nan)
    smallest = len(A) * 1e2 * np.finfo(float).eps
    try:
        pivots = np.linalg.cholesky(A).diagonal() ** 2 / A.diagonal()
        if pivots.min() > 1e4 * smallest:
            return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        pass  # redundant rows
    w, V = np.linalg.eigh(A)
    used = w > smallest * w[-1]
    return (V[:, used] / w[used]) @ (V[:, used].T @ b)


def _regular(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve A x = b where A must have an inverse."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        rank = int(np.linalg.matrix_rank(A, hermitian=True))
        raise RankError(
            f"the {len(A)} rows of the contacts are redundant: rank {rank}. Give mu > 0; without settings and damping "
            "constraintDynamics, impulseDynamics and forwardDynamics take the forces of least norm.",
            rank,
        ) from None


def _iterated(A: np.ndarray, b: np.ndarray, settings: Any) -> np.ndarray:
    """Pinocchio's proximal iteration."""
    x = np.zeros(len(b))
    damped = A + settings.mu * np.eye(len(A))
    for _ in range(settings.max_iter):
        new = _regular(damped, b + settings.mu * x)
        residual, change, x = np.abs(A @ new - b).max(initial=0.0), np.abs(new - x).max(initial=0.0), new
        if residual <= settings.absolute_accuracy or change <= settings.relative_accuracy:
            break
    return x


def _hand_out(models: Sequence[Any], datas: Sequence[Any], force: np.ndarray) -> None:
    """Write each contact's force to its data."""
    at = 0
    for c, d in zip(models, datas, strict=True):
        n = _size(c)
        d.contact_force = pin.Force(force[at : at + 3], force[at + 3 : at + n] if n == 6 else np.zeros(3))
        at += n
