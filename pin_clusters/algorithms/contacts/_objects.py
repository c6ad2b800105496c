"""Checks, Jacobians and acceleration errors for Pinocchio's contact objects."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError, ConstraintError, PinClustersWarning, ShapeError
from ...kernels.tables.contacts_layout import ROUNDING
from ...model import ClusterData, ClusterModel
from ...model.contact_memory import gains_of
from .._shared import bridge as _bridge
from .._shared import force_columns as _columns
from ._forces import Solution

_CONTRADICTION = 1e-6
"""Redundant contacts contradict each other if the residual exceeds this fraction of max(1, right-hand side)."""


def models_of(model: ClusterModel, contact_models: Any) -> list[Any]:
    try:
        models = list(contact_models)
    except TypeError:
        raise ArgumentTypeError(
            f"contact_models must be a list of pin.RigidConstraintModel, got {type(contact_models).__name__}."
        ) from None
    for i, c in enumerate(models):
        if not isinstance(c, pin.RigidConstraintModel):
            raise ArgumentTypeError(
                f"contact_models[{i}] must be a pin.RigidConstraintModel, got {type(c).__name__}. Create it with "
                "pc.RigidConstraintModel(type, model, ...)."
            )
        if max(c.joint1_id, c.joint2_id) >= model.njoints:
            raise ConstraintError(
                f"contact_models[{i}] is on joint {max(c.joint1_id, c.joint2_id)}, but model {model.name!r} has the "
                f"joints 0 to {model.njoints - 1}. Create it with pc.RigidConstraintModel(type, model, ...)."
            )
        if c.reference_frame == pin.WORLD:
            raise ConstraintError(
                f"contact_models[{i}] has the reference frame WORLD. Use pin.LOCAL or pin.LOCAL_WORLD_ALIGNED."
            )
    return models


def datas_of(models: Sequence[Any], contact_datas: Any) -> list[Any]:
    if contact_datas is None:
        raise ArgumentTypeError("contact_datas is missing. Use [c.createData() for c in contact_models].")
    datas = list(contact_datas)
    if len(datas) != len(models):
        raise ShapeError(f"contact_models has {len(models)} entries, but contact_datas has {len(datas)}.")
    for i, d in enumerate(datas):
        if not isinstance(d, pin.RigidConstraintData):
            raise ArgumentTypeError(f"contact_datas[{i}] must be a pin.RigidConstraintData, got {type(d).__name__}.")
    return datas


def told(c: Any) -> tuple[Any, ...]:
    """Return a key that contains all properties of a contact, so that equal contacts have equal keys."""
    gains = gains_of(c)
    placements = (c.joint1_placement, c.joint2_placement, c.desired_contact_placement)
    motions = (c.desired_contact_velocity, c.desired_contact_acceleration)
    numbers = [*(x.homogeneous for x in placements), *(x.vector for x in motions), gains.Kp, gains.Kd]
    return c.type, c.reference_frame, c.joint1_id, c.joint2_id, *(np.asarray(x).tobytes() for x in numbers)


def size(c: Any) -> int:
    return 3 if c.type == pin.ContactType.CONTACT_3D else 6


def warn_of_contradictions(model: ClusterModel, contacts: Any, solution: Solution, wanted: int) -> None:
    """Warn once per set of contacts if redundant contacts contradict each other; ``wanted`` is DYNAMICS or IMPACT."""
    plan, models, _ = contacts
    if solution.rank == len(solution.forces) or not solution.status[1] > _CONTRADICTION * max(1.0, solution.largest):
        return
    if plan is not None and not plan.warns(wanted):
        return
    labels, row = [], 0
    for i, c in enumerate(models):
        if np.abs(solution.residual[row : row + size(c)]).max() > _CONTRADICTION * max(1.0, solution.largest):
            joints = " and ".join(repr(model.names[j]) for j in (c.joint1_id, c.joint2_id) if j)
            labels.append(f"{i} (on {joints or 'the universe'})")
        row += size(c)
    warnings.warn(
        f"the contacts {', '.join(labels)} contradict each other: rank {solution.rank} of {row} equations, with a "
        f"residual of up to {solution.status[1]:.3g} m/s^2 or rad/s^2 (m/s or rad/s after an impact). "
        "Remove redundant contacts, or prescribe motions that all contacts can satisfy.",
        PinClustersWarning,
        stacklevel=3,
    )


def jacobian(model: ClusterModel, data: ClusterData, models: Sequence[Any], datas: Sequence[Any]) -> np.ndarray:
    tree, G = model.own_tree, _bridge.kept(model, data)
    rows = [np.zeros((0, tree.nv))]
    for c, d in zip(models, datas, strict=True):
        place(data.tree, c, d)
        # Pinocchio returns a single row as a vector.
        rows.append(pin.getConstraintJacobian(tree, data.tree, c, d).reshape(-1, tree.nv))
    return np.ascontiguousarray(np.vstack(rows) @ G)


def place(tree: pin.Data, c: Any, d: Any) -> None:
    """Write the placements of both contact frames to the contact data d, from which Pinocchio's functions read them."""
    d.oMc1 = tree.oMi[c.joint1_id] * c.joint1_placement
    d.oMc2 = tree.oMi[c.joint2_id] * c.joint2_placement
    d.c1Mc2 = d.oMc1.actInv(d.oMc2)


def delassus(model: ClusterModel, data: ClusterData, q: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute J M^-1 J' and M^-1 J'. Rows that contain only rounding errors, as for a fixed point, become zero."""
    largest = np.abs(J).max(axis=1, initial=0.0)
    still = largest <= ROUNDING * max(1.0, largest.max(initial=0.0))
    if still.any():
        J = np.where(still[:, None], 0.0, J)
    plan = _columns.of_inputs(model, data, (), pin.LOCAL, len(J))
    plan.take(np.ascontiguousarray(J.T))
    response = _columns.columns(model, data, q, plan)
    A = J @ response
    return 0.5 * (A + A.T), response


def turn(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Rotate motions or forces x by R; x contains linear and angular parts (six rows) or linear parts (three rows)."""
    return np.concatenate([R @ x[:3], R @ x[3:]]) if len(x) == 6 else R @ x


def missing(tree: pin.Data, c: Any, d: Any) -> np.ndarray:
    """Compute the required minus the actual acceleration of a contact, and set the fields that Pinocchio sets in d."""
    aligned, between = c.reference_frame == pin.LOCAL_WORLD_ALIGNED, d.c1Mc2
    v1, a1 = tree.v[c.joint1_id], tree.a[c.joint1_id]
    v2, a2 = tree.v[c.joint2_id], tree.a[c.joint2_id]
    velocity1, velocity2 = c.joint1_placement.actInv(v1), c.joint2_placement.actInv(v2)
    d.contact1_velocity, d.contact2_velocity = velocity1, velocity2
    velocity2 = between.act(velocity2)
    error, rate = np.zeros(6), np.zeros(6)
    if c.type == pin.ContactType.CONTACT_3D:
        error[:3] = c.desired_contact_placement.translation - between.translation
        rate[:3] = velocity1.linear - between.rotation @ d.contact2_velocity.linear - c.desired_contact_velocity.linear
        actual = pin.classicAcceleration(v1, a1, c.joint1_placement)
        actual = actual - between.rotation @ pin.classicAcceleration(v2, a2, c.joint2_placement)
    else:
        error = -pin.log6(c.desired_contact_placement.actInv(between)).vector
        rate = (velocity1 - velocity2 - c.desired_contact_velocity).vector
        relative = c.joint1_placement.actInv(a1) - between.act(c.joint2_placement.actInv(a2))
        actual = relative.vector if aligned else (relative + (velocity1 - velocity2).cross(velocity2)).vector
    d.contact_placement_error, d.contact_velocity_error = pin.Motion(error), pin.Motion(rate)
    gains = gains_of(c)
    correction, n = np.zeros(6), len(actual)
    correction[:n] = -np.ravel(gains.Kp)[:n] * error[:n] - np.ravel(gains.Kd)[:n] * rate[:n]
    if aligned:
        actual, correction = turn(d.oMc1.rotation, actual), turn(d.oMc1.rotation, correction)
    d.contact_acceleration_error = pin.Motion(correction)
    required = correction + c.desired_contact_acceleration.vector + d.contact_acceleration_desired.vector
    return np.asarray(required[: len(actual)] - actual)


def write_forces(models: Sequence[Any], datas: Sequence[Any], force: np.ndarray) -> None:
    row = 0
    for c, d in zip(models, datas, strict=True):
        n = size(c)
        d.contact_force = pin.Force(force[row : row + 3], force[row + 3 : row + n] if n == 6 else np.zeros(3))
        row += n
