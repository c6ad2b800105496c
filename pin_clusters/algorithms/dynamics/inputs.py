"""Inverse input matrices: accelerations per unit torque and contact force, computed without the inverse mass matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, numbers, plain
from ..._support.trees import in_v
from ...compiler.calls import fast, register
from ...errors import ArgumentTypeError, ShapeError
from ...model import ClusterData, ClusterModel
from .._shared import check as _check
from .._shared import force_columns as _columns
from .._shared import ids as _ids
from ..kinematics.kinematics import forwardKinematics, getFrameAcceleration
from .motor import actuation_matrix
from .rnea import nonLinearEffects

_COMMON = """
Args:
    B: Matrix that maps inputs u to torques of the independent joints, tau = B u, shape (nv, inputs). The default is
        ``pc.actuation_matrix`` or, without rotors, one input per independent velocity except for a floating base.
    contacts: Names or ids of contact frames. Each contact force has three components, in the axes of ``reference``.
    reference: Reference frame in whose axes the contact forces are expressed.

Raises:
    UnknownNameError: The model has no such frame.
    ShapeError: B has a wrong number of rows.
    ArgumentTypeError: An argument has a wrong type, or a frame occurs twice.
"""
_documented = _check.documented(_check.SINGULAR, _COMMON)


@fast(lambda data, function: ())
@_documented
def inverse_input_matrix(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    B: ArrayLike | None = None,
    contacts: Sequence[str | int] = (),
    *,
    reference: pin.ReferenceFrame = pin.LOCAL,
) -> np.ndarray:
    """Compute the matrix M^-1 [B, J_c'], where J_c contains the linear Jacobians of the contacts.

    For inputs u and contact forces f, a = a_free + result [u; f], where a_free is the acceleration without u and f.

    Returns:
        Matrix, shape (nv, inputs + 3 len(contacts)), [rad/s^2] or [m/s^2] per unit of the input; a new array.

    References:
        Kroeg, Gattringer and Mueller (inverse input matrix); docs/algorithms.md, (O1) to (O5), for clusters.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> pc.inverse_input_matrix(model, model.createData(), pc.neutral(model)).shape
        (24, 18)
    """
    _check.model_data(model, data)
    moving = B is None and _moving(model)
    cached = B is None and not moving
    B = torques(model, data, q, B)
    plan = _columns.of_inputs(model, data, contacts, reference, B.shape[1], B if cached else None)
    if not cached:
        plan.take(B)
    matrix = _columns.columns(model, data, q, plan)
    if not moving:
        _remember(data, plan, None if cached else B, contacts, reference)
    return matrix


def _remember(data: ClusterData, plan: _columns.Plan, B: np.ndarray | None, contacts: Any, reference: Any) -> None:
    if type(contacts) not in (list, tuple) or (B is not None and not B.size):
        return
    names = "q" + " contacts" * (len(contacts) > 0) + " B" * (B is not None)
    form, word = _columns.form(data, inverse_input_matrix, names, "reference"), None
    if form is None or (len(contacts) and not form.items("contacts", contacts)):
        return
    form.checks.append(("member", form.positions["reference"], pin.ReferenceFrame, int(reference), int(pin.LOCAL)))
    if B is not None:
        word = register()
        form.checks.append(("matrix", form.positions["B"], len(B), B.size, np.zeros(B.size), word))
    _columns.remember(form, plan, word)


@_documented
def task_input_matrix(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    frames: Sequence[str | int],
    B: ArrayLike | None = None,
    contacts: Sequence[str | int] = (),
    *,
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
) -> Any:
    """Compute the matrix J_t M^-1 [B, J_c'] for task frames with Jacobian J_t and contacts with linear Jacobian J_c.

    For inputs u and contact forces f, the acceleration of the task frames is result [u; f] plus the free task
    acceleration, which is their acceleration without u and f. The inverse mass matrix is not computed.

    Args:
        frames: Names or ids of the task frames, in the order of the rows.
        reference: Reference frame in which the task motions and the contact forces are expressed.
        rows: Selected components of the task motions, as in ``inverse_operational_inertia``.
        v: Independent velocity, shape (nv,), [rad/s] or [m/s]. If given, the free task acceleration is also returned.
        tau: Torques in addition to ``B u``, shape (nv,), [N m] or [N]; zero by default. Requires v.

    Returns:
        Matrix, shape (rows, inputs + 3 len(contacts)), [linear; angular] per frame, [m/s^2] or [rad/s^2] per unit of
        the input. If v is given, a tuple of this matrix and the free task acceleration J_t a0 + dJ_t/dt v, shape
        (rows,), where a0 is the acceleration due to ``tau`` and gravity. All arrays are new.

    Raises:
        ArgumentTypeError: An argument has a wrong type, a frame occurs twice, or tau is passed without v.

    References:
        docs/algorithms.md, (O1) to (O4), with the columns [J_t', B, J_c'].

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")  # 18 motors; two feet in contact
        >>> data, q, feet = model.createData(), pc.neutral(model), ["left_ankle", "right_ankle"]
        >>> pc.task_input_matrix(model, data, q, ["torso"], contacts=feet).shape
        (6, 24)
    """
    q = _check.pose(model, data, q)
    if v is None and tau is not None:
        raise ArgumentTypeError(
            "tau is used only for the free task acceleration, which requires v. Pass v or omit tau."
        )
    B = torques(model, data, q, B)
    if v is not None:
        # The last column contains the torques for u = 0.
        free = -nonLinearEffects(model, data, q, v)
        if tau is not None:
            free += _check.velocity(model, "tau", tau)
        B = np.column_stack([B, free])
    plan = _columns.of_tasks(model, data, frames, rows, contacts, reference, B.shape[1])
    plan.take(B)
    product = _columns.columns(model, data, q, plan)
    n, k = plan.tasks, plan.tasks + B.shape[1]
    if v is None:
        return product[:, n:].copy()
    forwardKinematics(model, data, q, v, np.zeros(model.nv))
    drift = np.concatenate([getFrameAcceleration(model, data, f, reference).vector for f in plan.ids])
    task_drift = drift[_ids.rows(rows, len(plan.ids))]
    return np.delete(product[:, n:], k - 1 - n, axis=1), product[:, k - 1] + task_drift


def torques(model: ClusterModel, data: ClusterData, q: Any, B: Any) -> np.ndarray:
    if B is None:
        if _moving(model):
            return actuation_matrix(model, data, q)
        default: np.ndarray | None = data._plans.get("inputs")
        if default is None:
            default = data._plans["inputs"] = actuation_matrix(model, data, q) if model.rotors else _joints(model)
        return default
    matrix = numbers("B", B)
    if matrix.ndim != 2 or matrix.shape[0] != model.nv:
        raise ShapeError(
            f"B has shape {matrix.shape}, but model {model.name!r} needs (nv, inputs) with nv = {model.nv} (the "
            "independent joints)."
        )
    return plain(matrix)


def _moving(model: ClusterModel) -> bool:
    return bool(model.rotors and model.closures)


def _joints(model: ClusterModel) -> np.ndarray:
    """Return the default B, shape (nv, inputs): one input per independent joint velocity, except for free flyers."""
    tree = model.own_tree
    flyers = [j for j in range(1, tree.njoints) if tree.joints[j].shortname() == "JointModelFreeFlyer"]
    floating = {iv for j in flyers for iv in in_v(tree, j)}
    driven = [k for k, iv in enumerate(model.idx_v_independent) if int(iv) not in floating]
    return np.ascontiguousarray(np.eye(model.nv)[:, driven])
