"""How contacts change with the state: what they have less what is asked of them, and the torques of their forces.

By Pinocchio's objects and the derivatives of motions of the tree; of each contact all is in the frame of its first
side. j are displacements of the sides, per independent velocity; a force f acts on side 1, -f on side 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...model import ClusterData, ClusterModel
from ...model.contact_memory import gains_of
from ..kinematics.derivatives import computeForwardKinematicsDerivatives, getFrameAccelerationDerivatives
from ._objects import size
from ._plans import Contacts


class Side(NamedTuple):
    """One side of a contact, in the axes of the first one; at its own point if points are in contact.

    Attributes:
        j: Displacement, shape (6, nv), as all derivatives.
        velocity: Shape (6,).
        acceleration: Shape (6,).
        v_q: Derivative of the velocity by q, in the side's own axes.
        a_q: Of the acceleration.
        a_v: Of the acceleration by v.
    """

    j: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    v_q: np.ndarray
    a_q: np.ndarray
    a_v: np.ndarray


class Variations(NamedTuple):
    """Of all contacts.

    Attributes:
        J: Rows, shape (rows, nv), as the next two.
        by_q: Derivative of what contacts have less what is asked of them, at given v and a.
        by_v: The same by v.
        turned: Derivative by q of the torques that hold their forces, if these stay in the axes of their joints, less
            that of the forces as they are; shape (nv, nv).
    """

    J: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    turned: np.ndarray


def variations(at: Contacts, v: np.ndarray, a: np.ndarray, forces: np.ndarray, corrected: bool = True) -> Variations:
    """Return how contacts change.

    Args:
        at: Contacts, placed at q; their velocity is not read.
        v: Velocity.
        a: Acceleration.
        forces: Of all contacts.
        corrected: Whether correctors count.
    """
    model, data = at.model, at.data
    computeForwardKinematicsDerivatives(model, data, at.q, v, a)
    turned = np.zeros((model.nv, model.nv))
    rows: list[list[np.ndarray]] = [[np.zeros((0, model.nv))] for _ in range(3)]
    for c, d, f in _with_forces(at, forces):
        one, two = _sides(model, data, c, d)
        found = _of_points(c, d, one, two, corrected) if size(c) == 3 else _of_frames(c, d, one, two, corrected)
        for to, x in zip(rows, found, strict=True):
            to.append(x)
        turned += _turned(c, d, one, two, f)
    J, by_q, by_v = (np.vstack(x) for x in rows)
    return Variations(J, by_q, by_v, turned)


def external(at: Contacts, forces: np.ndarray) -> np.ndarray:
    """Return the forces of contacts in the frames of their joints, shape (njoints, 6)."""
    found = np.zeros((at.model.njoints, 6))
    for c, d, f in _with_forces(at, forces):
        there = d.c1Mc2.actInv(pin.Force(f)).vector
        if size(c) == 3:
            there = np.concatenate([d.c1Mc2.rotation.T @ f[:3], np.zeros(3)])
        found[c.joint1_id] += c.joint1_placement.act(pin.Force(f)).vector
        found[c.joint2_id] -= c.joint2_placement.act(pin.Force(there)).vector
    found[0] = 0.0
    return found


def _with_forces(at: Contacts, forces: np.ndarray) -> Iterator[tuple[Any, Any, np.ndarray]]:
    """Yield each contact, its data, and its force in the axes of its first side, shape (6,)."""
    row = 0
    for c, d in at.each():
        n, f = size(c), np.zeros(6)
        f[:n] = forces[row : row + n]
        yield c, d, _turn(d.oMc1.rotation.T, f) if c.reference_frame == pin.LOCAL_WORLD_ALIGNED else f
        row += n


def _turn(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Turn both halves of motions or forces, or only points'."""
    return np.concatenate([R @ x[:3], R @ x[3:]]) if len(x) == 6 else R @ x


def _sides(model: ClusterModel, data: ClusterData, c: Any, d: Any) -> tuple[Side, Side]:
    between = d.c1Mc2.action
    if size(c) == 3:
        between = np.kron(np.eye(2), d.c1Mc2.rotation)
    one = _side(model, data, c.joint1_id, c.joint1_placement, np.eye(6))
    return one, _side(model, data, c.joint2_id, c.joint2_placement, between)


def _side(model: ClusterModel, data: ClusterData, joint: int, placement: pin.SE3, to: np.ndarray) -> Side:
    if joint == 0:
        return Side(*(np.zeros((6, model.nv) if i in (0, 3, 4, 5) else 6) for i in range(6)))
    v_q, a_q, a_v, j = getFrameAccelerationDerivatives(model, data, joint, placement, pin.LOCAL)
    velocity, acceleration = (placement.actInv(x[joint]).vector for x in (data.tree.v, data.tree.a))
    return Side(*(to @ x for x in (j, velocity, acceleration, v_q, a_q, a_v)))


def _ad(m: np.ndarray) -> np.ndarray:
    """Matrix of the cross product of a motion with another one."""
    return np.array(pin.Motion(m).action)


def _of_points(c: Any, d: Any, one: Side, two: Side, corrected: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = d.c1Mc2.translation
    turn = one.j[3:] - two.j[3:]  # of the axes against the second side
    has_q = _point_by_q(one) - _point_by_q(two) - pin.skew(_point(two)) @ turn
    has_v, J = _point_by_v(one) - _point_by_v(two), one.j[:3] - two.j[:3]
    missed = _point(one) - _point(two)
    if corrected:
        gains = gains_of(c)
        kp, kd = _rows_of(gains.Kp, 3), _rows_of(gains.Kd, 3)
        error = c.desired_contact_placement.translation - p
        rate = one.velocity[:3] - two.velocity[:3] - c.desired_contact_velocity.linear
        error_q = J - pin.skew(p) @ one.j[3:]
        rate_q = one.v_q[:3] - two.v_q[:3] - pin.skew(two.velocity[:3]) @ turn
        has_q, has_v = has_q + kp * error_q + kd * rate_q, has_v + kd * J
        missed = missed + kp[:, 0] * error + kd[:, 0] * rate
    return _seen(c, d, one, J, has_q, has_v, missed)


def _point(side: Side) -> np.ndarray:
    """Acceleration of the point."""
    return np.array(side.acceleration[:3] + np.cross(side.velocity[3:], side.velocity[:3]))


def _point_by_q(side: Side) -> np.ndarray:
    u, w = side.velocity[:3], side.velocity[3:]
    return np.array(side.a_q[:3] - pin.skew(u) @ side.v_q[3:] + pin.skew(w) @ side.v_q[:3])


def _point_by_v(side: Side) -> np.ndarray:
    u, w = side.velocity[:3], side.velocity[3:]
    return np.array(side.a_v[:3] - pin.skew(u) @ side.j[3:] + pin.skew(w) @ side.j[:3])


def _of_frames(c: Any, d: Any, one: Side, two: Side, corrected: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    J, u = one.j - two.j, two.velocity
    relative = one.velocity - u
    u_q = two.v_q + _ad(u) @ J  # in the axes of the first side
    rate_q = one.v_q - u_q
    has_q = one.a_q - two.a_q - _ad(two.acceleration) @ J
    has_v, missed = one.a_v - two.a_v, one.acceleration - two.acceleration
    if c.reference_frame == pin.LOCAL:
        has_q = has_q - _ad(u) @ rate_q + _ad(relative) @ u_q
        has_v = has_v - _ad(u) @ J + _ad(relative) @ two.j
        missed = missed + _ad(relative) @ u
    if corrected:
        gains = gains_of(c)
        kp, kd = _rows_of(gains.Kp, 6), _rows_of(gains.Kd, 6)
        apart = c.desired_contact_placement.actInv(d.c1Mc2)
        error_q = pin.Jlog6(apart) @ d.c1Mc2.inverse().action @ J
        has_q, has_v = has_q + kp * error_q + kd * rate_q, has_v + kd * J
        rate = relative - c.desired_contact_velocity.vector
        missed = missed - kp[:, 0] * pin.log6(apart).vector + kd[:, 0] * rate
    return _seen(c, d, one, J, has_q, has_v, missed)


def _rows_of(gain: Any, n: int) -> np.ndarray:
    """Return a gain per row: one for all, or one each."""
    return np.broadcast_to(np.ravel(gain)[:n], (n,))[:, None]


def _seen(
    c: Any, d: Any, one: Side, J: np.ndarray, by_q: np.ndarray, by_v: np.ndarray, missed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows in the contact's reference frame; axes of the first side turn beneath those of the world."""
    if c.reference_frame != pin.LOCAL_WORLD_ALIGNED:
        return J, by_q, by_v
    by_q = by_q - np.vstack([pin.skew(x) @ one.j[3:] for x in np.split(missed, len(missed) // 3)])
    R = d.oMc1.rotation
    return _turn(R, J), _turn(R, by_q), _turn(R, by_v)


def _turned(c: Any, d: Any, one: Side, two: Side, f: np.ndarray) -> np.ndarray:
    """Return what the torques of a contact's forces change as the sides move against the frame that keeps them."""
    frame = one.j.copy()
    if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
        frame[3:] = 0.0
    found = np.zeros((one.j.shape[1],) * 2)
    for side, sign in ((one, 1.0), (two, -1.0)):
        turn = side.j - frame
        if size(c) == 3:  # a point follows its side
            turn[:3] = 0.0
        # (turn x*) f, column by column
        change = np.vstack([-pin.skew(f[:3]) @ turn[3:], -pin.skew(f[:3]) @ turn[:3] - pin.skew(f[3:]) @ turn[3:]])
        found += sign * side.j.T @ change
    return found
