"""Derivatives of contact conditions and of the torques of contact forces with respect to the state.

See docs/algorithms.md, (D1). Sides 1 and 2 are the two contact frames; vectors are expressed in the axes of side 1. The
Jacobian of a side is called j. The force f acts on side 1, and -f acts on side 2.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...model import ClusterData, ClusterModel
from ...model.contact_memory import gains_of
from ..kinematics.derivatives import computeForwardKinematicsDerivatives, getFrameAccelerationDerivatives
from ._objects import size, turn
from ._plans import Contacts


class Side(NamedTuple):
    """Motion of one side of a contact (for point contacts, of its contact point), expressed in the axes of side 1."""

    j: np.ndarray  # Jacobian, shape (6, nv)
    velocity: np.ndarray  # shape (6,)
    acceleration: np.ndarray  # shape (6,); for point contacts, the classical acceleration, shape (3,)
    v_q: np.ndarray  # derivative of the velocity with respect to q, in the axes of this side, shape (6, nv)
    a_q: np.ndarray  # derivative of the acceleration with respect to q, shape (6, nv); (3, nv) for point contacts
    a_v: np.ndarray  # derivative of the acceleration with respect to v, with the shape of a_q


class Variations(NamedTuple):
    J: np.ndarray  # Jacobian rows, shape (rows, nv)
    by_q: np.ndarray  # derivative of (actual - required acceleration) with respect to q, at constant v and a
    by_v: np.ndarray  # derivative of (actual - required acceleration) with respect to v
    # shape (nv, nv): d(torques of the forces)/dq for forces that are constant in joint axes, minus this derivative for
    # forces that are constant in contact frames
    turned: np.ndarray


def variations(state: Contacts, v: np.ndarray, a: np.ndarray, forces: np.ndarray, corrected: bool = True) -> Variations:
    """Differentiate the contact conditions at (``state.q``, v, a), including Baumgarte correctors if ``corrected``."""
    model, data = state.model, state.data
    computeForwardKinematicsDerivatives(model, data, state.q, v, a)
    turned = np.zeros((model.nv, model.nv))
    rows: list[list[np.ndarray]] = [[np.zeros((0, model.nv))] for _ in range(3)]
    for c, d, f in _with_forces(state, forces):
        side1, side2 = _sides(model, data, c, d)
        for to, x in zip(rows, _rows(c, d, side1, side2, corrected), strict=True):
            to.append(x)
        turned += _turned(c, d, side1, side2, f)
    J, by_q, by_v = (np.vstack(x) for x in rows)
    return Variations(J, by_q, by_v, turned)


def external(state: Contacts, forces: np.ndarray) -> np.ndarray:
    wrenches = np.zeros((state.model.njoints, 6))
    for c, d, f in _with_forces(state, forces):
        force2 = d.c1Mc2.actInv(pin.Force(f)).vector
        if size(c) == 3:
            force2 = np.concatenate([d.c1Mc2.rotation.T @ f[:3], np.zeros(3)])
        wrenches[c.joint1_id] += c.joint1_placement.act(pin.Force(f)).vector
        wrenches[c.joint2_id] -= c.joint2_placement.act(pin.Force(force2)).vector
    wrenches[0] = 0.0
    return wrenches


def _with_forces(state: Contacts, forces: np.ndarray) -> Iterator[tuple[Any, Any, np.ndarray]]:
    """Yield each contact, its data, and its force in the axes of side 1, shape (6,)."""
    row, (_, models, datas) = 0, state.contacts
    for c, d in zip(models, datas, strict=True):
        n, f = size(c), np.zeros(6)
        f[:n] = forces[row : row + n]
        yield c, d, turn(d.oMc1.rotation.T, f) if c.reference_frame == pin.LOCAL_WORLD_ALIGNED else f
        row += n


def _sides(model: ClusterModel, data: ClusterData, c: Any, d: Any) -> tuple[Side, Side]:
    between = d.c1Mc2.action
    if size(c) == 3:
        between = np.kron(np.eye(2), d.c1Mc2.rotation)
    side1 = _side(model, data, c.joint1_id, c.joint1_placement, np.eye(6))
    side2 = _side(model, data, c.joint2_id, c.joint2_placement, between)
    return (_of_point(side1), _of_point(side2)) if size(c) == 3 else (side1, side2)


def _side(model: ClusterModel, data: ClusterData, joint: int, placement: pin.SE3, to: np.ndarray) -> Side:
    if joint == 0:
        return Side(*(np.zeros((6, model.nv) if i in (0, 3, 4, 5) else 6) for i in range(6)))
    v_q, a_q, a_v, j = getFrameAccelerationDerivatives(model, data, joint, placement, pin.LOCAL)
    velocity, acceleration = (placement.actInv(x[joint]).vector for x in (data.tree.v, data.tree.a))
    return Side(*(to @ x for x in (j, velocity, acceleration, v_q, a_q, a_v)))


def _of_point(side: Side) -> Side:
    u, w = side.velocity[:3], side.velocity[3:]
    return side._replace(
        acceleration=side.acceleration[:3] + np.cross(w, u),
        a_q=side.a_q[:3] - pin.skew(u) @ side.v_q[3:] + pin.skew(w) @ side.v_q[:3],
        a_v=side.a_v[:3] - pin.skew(u) @ side.j[3:] + pin.skew(w) @ side.j[:3],
    )


def _ad(m: np.ndarray) -> np.ndarray:
    return np.array(pin.Motion(m).action)


def _rows(c: Any, d: Any, side1: Side, side2: Side, corrected: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, displacement = size(c), side1.j - side2.j
    J, relative = displacement[:n], side1.velocity - side2.velocity

    def moved(motion: np.ndarray) -> np.ndarray:
        """Compute the additional derivative of a motion of side 2, because it is expressed in the axes of side 1."""
        return pin.skew(motion[:3]) @ displacement[3:] if n == 3 else _ad(motion) @ J

    u_q = side2.v_q[:n] + moved(side2.velocity)
    rate_q = side1.v_q[:n] - u_q
    actual_q, actual_v = side1.a_q - side2.a_q - moved(side2.acceleration), side1.a_v - side2.a_v
    residual = side1.acceleration - side2.acceleration
    if n == 6 and c.reference_frame == pin.LOCAL:
        actual_q = actual_q - _ad(side2.velocity) @ rate_q + _ad(relative) @ u_q
        actual_v = actual_v - _ad(side2.velocity) @ J + _ad(relative) @ side2.j
        residual = residual + _ad(relative) @ side2.velocity
    if corrected:
        gains, p = gains_of(c), d.c1Mc2.translation
        kp, kd = _rows_of(gains.Kp, n), _rows_of(gains.Kd, n)
        if n == 3:
            error, error_q = c.desired_contact_placement.translation - p, J - pin.skew(p) @ side1.j[3:]
        else:
            placement_error = c.desired_contact_placement.actInv(d.c1Mc2)
            error, error_q = (
                -pin.log6(placement_error).vector,
                pin.Jlog6(placement_error) @ d.c1Mc2.inverse().action @ J,
            )
        actual_q, actual_v = actual_q + kp * error_q + kd * rate_q, actual_v + kd * J
        residual = residual + kp[:, 0] * error + kd[:, 0] * (relative - c.desired_contact_velocity.vector)[:n]
    if c.reference_frame != pin.LOCAL_WORLD_ALIGNED:
        return J, actual_q, actual_v
    # This term is needed because the axes of side 1 rotate relative to the world.
    actual_q = actual_q - np.vstack([pin.skew(x) @ side1.j[3:] for x in np.split(residual, n // 3)])
    return turn(d.oMc1.rotation, J), turn(d.oMc1.rotation, actual_q), turn(d.oMc1.rotation, actual_v)


def _rows_of(gain: Any, n: int) -> np.ndarray:
    return np.broadcast_to(np.ravel(gain)[:n], (n,))[:, None]


def _turned(c: Any, d: Any, side1: Side, side2: Side, f: np.ndarray) -> np.ndarray:
    frame = side1.j.copy()
    if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
        frame[3:] = 0.0
    torques = np.zeros((side1.j.shape[1],) * 2)
    for side, sign in ((side1, 1.0), (side2, -1.0)):
        relative = side.j - frame
        if size(c) == 3:  # the contact point moves with its body
            relative[:3] = 0.0
        # For each column of ``relative``, compute the spatial cross product with f: relative x* f.
        change = np.vstack(
            [-pin.skew(f[:3]) @ relative[3:], -pin.skew(f[:3]) @ relative[:3] - pin.skew(f[3:]) @ relative[3:]]
        )
        torques += sign * side.j.T @ change
    return torques
