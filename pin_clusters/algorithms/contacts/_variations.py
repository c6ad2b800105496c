"""How contacts change with the state: what they have less what is asked of them, and the torques of their forces.

By Pinocchio's objects and the derivatives of motions of the tree; of each contact all is in the frame of its first
side. j are displacements of the sides, per independent velocity; a force f acts on side 1, -f on side 2.
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
    """One side of a contact, in the axes of the first one; at its own point if points are in contact."""

    j: np.ndarray  # displacement, shape (6, nv), as all derivatives
    velocity: np.ndarray  # shape (6,)
    # shape (6,); of a point, whose rotation does not count, its own, shape (3,), as the last two
    acceleration: np.ndarray
    v_q: np.ndarray  # derivative of the velocity by q, in the side's own axes
    a_q: np.ndarray  # of the acceleration
    a_v: np.ndarray  # of the acceleration by v


class Variations(NamedTuple):
    """Of all contacts."""

    J: np.ndarray  # rows, shape (rows, nv), as the next two
    by_q: np.ndarray  # derivative of what contacts have less what is asked of them, at given v and a
    by_v: np.ndarray  # the same by v
    # derivative by q of the torques that hold their forces, if these stay in the axes of their joints, less that of the
    # forces as they are; shape (nv, nv)
    turned: np.ndarray


def variations(at: Contacts, v: np.ndarray, a: np.ndarray, forces: np.ndarray, corrected: bool = True) -> Variations:
    """Return how contacts that are placed at q change, at v in the place of their own; correctors count if wished."""
    model, data = at.model, at.data
    computeForwardKinematicsDerivatives(model, data, at.q, v, a)
    turned = np.zeros((model.nv, model.nv))
    rows: list[list[np.ndarray]] = [[np.zeros((0, model.nv))] for _ in range(3)]
    for c, d, f in _with_forces(at, forces):
        one, two = _sides(model, data, c, d)
        for to, x in zip(rows, _rows(c, d, one, two, corrected), strict=True):
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
    row, (_, models, datas) = 0, at.found
    for c, d in zip(models, datas, strict=True):
        n, f = size(c), np.zeros(6)
        f[:n] = forces[row : row + n]
        yield c, d, turn(d.oMc1.rotation.T, f) if c.reference_frame == pin.LOCAL_WORLD_ALIGNED else f
        row += n


def _sides(model: ClusterModel, data: ClusterData, c: Any, d: Any) -> tuple[Side, Side]:
    between = d.c1Mc2.action
    if size(c) == 3:
        between = np.kron(np.eye(2), d.c1Mc2.rotation)
    one = _side(model, data, c.joint1_id, c.joint1_placement, np.eye(6))
    two = _side(model, data, c.joint2_id, c.joint2_placement, between)
    return (_of_point(one), _of_point(two)) if size(c) == 3 else (one, two)


def _side(model: ClusterModel, data: ClusterData, joint: int, placement: pin.SE3, to: np.ndarray) -> Side:
    if joint == 0:
        return Side(*(np.zeros((6, model.nv) if i in (0, 3, 4, 5) else 6) for i in range(6)))
    v_q, a_q, a_v, j = getFrameAccelerationDerivatives(model, data, joint, placement, pin.LOCAL)
    velocity, acceleration = (placement.actInv(x[joint]).vector for x in (data.tree.v, data.tree.a))
    return Side(*(to @ x for x in (j, velocity, acceleration, v_q, a_q, a_v)))


def _of_point(side: Side) -> Side:
    """Return the side with the acceleration of its point."""
    u, w = side.velocity[:3], side.velocity[3:]
    return side._replace(
        acceleration=side.acceleration[:3] + np.cross(w, u),
        a_q=side.a_q[:3] - pin.skew(u) @ side.v_q[3:] + pin.skew(w) @ side.v_q[:3],
        a_v=side.a_v[:3] - pin.skew(u) @ side.j[3:] + pin.skew(w) @ side.j[:3],
    )


def _ad(m: np.ndarray) -> np.ndarray:
    """Matrix of the cross product of a motion with another one."""
    return np.array(pin.Motion(m).action)


def _rows(c: Any, d: Any, one: Side, two: Side, corrected: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``J``, ``by_q`` and ``by_v`` of one contact, in its reference frame."""
    n, apart = size(c), one.j - two.j
    J, relative = apart[:n], one.velocity - two.velocity

    def moved(motion: np.ndarray) -> np.ndarray:
        """How what the second side has changes as the first one's axes move against it; points have but directions."""
        return pin.skew(motion[:3]) @ apart[3:] if n == 3 else _ad(motion) @ J

    u_q = two.v_q[:n] + moved(two.velocity)  # in the axes of the first side
    rate_q = one.v_q[:n] - u_q
    has_q, has_v = one.a_q - two.a_q - moved(two.acceleration), one.a_v - two.a_v
    missed = one.acceleration - two.acceleration
    if n == 6 and c.reference_frame == pin.LOCAL:
        has_q = has_q - _ad(two.velocity) @ rate_q + _ad(relative) @ u_q
        has_v = has_v - _ad(two.velocity) @ J + _ad(relative) @ two.j
        missed = missed + _ad(relative) @ two.velocity
    if corrected:
        gains, p = gains_of(c), d.c1Mc2.translation
        kp, kd = _rows_of(gains.Kp, n), _rows_of(gains.Kd, n)
        if n == 3:
            error, error_q = c.desired_contact_placement.translation - p, J - pin.skew(p) @ one.j[3:]
        else:
            off = c.desired_contact_placement.actInv(d.c1Mc2)
            error, error_q = -pin.log6(off).vector, pin.Jlog6(off) @ d.c1Mc2.inverse().action @ J
        has_q, has_v = has_q + kp * error_q + kd * rate_q, has_v + kd * J
        missed = missed + kp[:, 0] * error + kd[:, 0] * (relative - c.desired_contact_velocity.vector)[:n]
    if c.reference_frame != pin.LOCAL_WORLD_ALIGNED:
        return J, has_q, has_v
    # axes of the first side turn beneath those of the world
    has_q = has_q - np.vstack([pin.skew(x) @ one.j[3:] for x in np.split(missed, n // 3)])
    return turn(d.oMc1.rotation, J), turn(d.oMc1.rotation, has_q), turn(d.oMc1.rotation, has_v)


def _rows_of(gain: Any, n: int) -> np.ndarray:
    """Return a gain per row: one for all, or one each."""
    return np.broadcast_to(np.ravel(gain)[:n], (n,))[:, None]


def _turned(c: Any, d: Any, one: Side, two: Side, f: np.ndarray) -> np.ndarray:
    """Return what the torques of a contact's forces change as the sides move against the frame that keeps them."""
    frame = one.j.copy()
    if c.reference_frame == pin.LOCAL_WORLD_ALIGNED:
        frame[3:] = 0.0
    found = np.zeros((one.j.shape[1],) * 2)
    for side, sign in ((one, 1.0), (two, -1.0)):
        apart = side.j - frame
        if size(c) == 3:  # a point follows its side
            apart[:3] = 0.0
        # (apart x*) f, column by column
        change = np.vstack([-pin.skew(f[:3]) @ apart[3:], -pin.skew(f[:3]) @ apart[:3] - pin.skew(f[3:]) @ apart[3:]])
        found += sign * side.j.T @ change
    return found
