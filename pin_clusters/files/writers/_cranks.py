"""Writes Tello's differentials, which the model defines by equations between angles, as equivalent cranks and rods.

The equations of hip and knee-ankle describe a rod of constant length. One end is on a crank, which turns by the angle
of a rotor divided by the gear ratio g; the other end is on the leg. The model's cranks have no inertia, but MuJoCo
requires inertia. The writer therefore moves inertia from the rotor to the crank; the kinetic energy does not change.
Let s be the speed of the carrier about the common axis. Relative to the carrier, the crank has the speed y, and the
rotor has the speed g y. The energy remains J (g y + s)^2 / 2, with the original inertia J of the rotor, if

    J' g + Jc + Jh h = J g,    J' g^2 + Jc + Jh h^2 + A g^2 = J g^2,    J' + Jc + Jh + K = J,

with the new inertia J' of the rotor, inertia Jc of the crank, armature A of the rotor's joint, and inertia K added to
the carrier. If A would be negative, a disc of inertia Jh is added, with h = g / 2 turns per turn of the crank.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..._support.trees import joint_axis
from ...constraints.closures import Closure, JointClosure
from ...constraints.differential import TelloHip, TelloKneeAnkle
from ...errors import ConstraintError
from . import _masses
from ._bodies import Body, Joint
from ._text import text
from ._ties import Ties

LENT = 0.1
"""Inertia of a crank divided by the inertia of its rotor."""
_TOLERANCE = 1e-9
"""Relative tolerance for the comparison of a constraint equation with the equation of a rod."""


class Crank(NamedTuple):
    rotor: int  # joint id of the rotor
    carrier: int  # joint id of the body on which crank and rotor turn
    placement: pin.SE3  # crank frame in the frame of the carrier, at rotor angle 0
    axis: np.ndarray  # unit vector of the crank's axis in the crank frame, shape (3,)
    tip: np.ndarray  # end of the rod on the crank, in the crank frame, shape (3,), [m]
    far: int  # joint id of the body at the other end of the rod
    end: np.ndarray  # other end of the rod, in the frame of joint ``far``, shape (3,), [m]
    length: float  # length of the rod, [m]


def add_cranks(ties: Ties, closures: Sequence[Closure]) -> list[Closure]:
    remaining = []
    for c in closures:
        source = c.source
        if isinstance(c, JointClosure) and isinstance(source, (TelloHip, TelloKneeAnkle)):
            rows = _hip(ties.tree, c, source) if isinstance(source, TelloHip) else _knee(ties.tree, c, source)
            for k, (crank, row) in enumerate(rows, start=1):
                _check(ties.tree, c, crank, row)
                _add(ties, crank, source.gear, f"{source.label} {k}")
            if isinstance(source, TelloKneeAnkle):
                half = 0.5 / source.gear
                rotor_1, rotor_2, shin = (str(ties.tree.names[j]) for j in c.joints[:3])
                ties.follow(shin, [(rotor_1, half), (rotor_2, half)])
        else:
            remaining.append(c)
    return remaining


def _hip(tree: pin.Model, c: JointClosure, s: TelloHip) -> list[tuple[Crank, int]]:
    """Compute a hip's cranks, which turn on the gimbal's parent body about the thigh's axis at q = 0."""
    rotor_1, rotor_2, gimbal, thigh = c.joints
    clamp, M, N = int(tree.parents[gimbal]), tree.jointPlacements[gimbal], tree.jointPlacements[thigh]
    x, y = _axis(tree, gimbal), N.rotation @ _axis(tree, thigh)
    shift = np.array(N.translation)
    if int(tree.parents[thigh]) != gimbal or abs(x @ y) > _TOLERANCE or np.linalg.norm(np.cross(shift, x)) > _TOLERANCE:
        raise _not_a_linkage(s, "the axes of the gimbal and the thigh do not intersect at a right angle")
    R = np.column_stack([x, y, np.cross(x, y)])  # axes of the equations' frame in the gimbal frame, at q = 0
    cranks = []
    for k, (rotor, sign) in enumerate(((rotor_1, 1.0), (rotor_2, -1.0))):
        side = -sign * s.lateral
        placement = M * pin.SE3(R, shift + R @ np.array([0.0, side, -s.crank]))
        end = N.actInv(pin.SE3(R, shift)).act(np.array([s.post, side, 0.0]))
        square = s.crank**2 + 2.0 * s.lateral**2 + 2.0 * s.post**2 - 2.0 * s.post * s.constant
        unit_y = np.array([0.0, 1.0, 0.0])
        tip = np.array([s.post, 0.0, 0.0])
        length = float(np.sqrt(max(square, 0.0)))
        cranks.append((Crank(rotor, clamp, placement, unit_y, tip, thigh, np.array(end), length), k))
    return cranks


def _knee(tree: pin.Model, c: JointClosure, s: TelloKneeAnkle) -> list[tuple[Crank, int]]:
    """Compute the crank for knee and ankle, which is on the thigh; rotor 2 turns it about the knee's axis."""
    _, rotor, shin, foot = c.joints
    N, n = tree.jointPlacements[foot], _axis(tree, shin)
    if int(tree.parents[foot]) != shin or np.linalg.norm(np.cross(N.rotation @ _axis(tree, foot), n)) > _TOLERANCE:
        raise _not_a_linkage(s, "the axes of the foot and the shin are not parallel")
    e = np.linalg.svd(n.reshape(1, 3))[2][1]
    plane = np.column_stack([e, np.cross(n, e)])
    o = complex(*(plane.T @ N.translation))
    short, long, fixed, rod, foot_long, foot_short = s._angles()
    # The equation is Re(D e^id + L e^il + S e^i(d+l)) + C = 0. Here d is half the difference of the motor angles
    # and l is the foot angle.
    D = s.crank_short * np.exp(1j * short) - s.crank_long * np.exp(1j * long)
    L = -1j * (s.foot_long * np.exp(1j * foot_long) - s.foot_short * np.exp(1j * foot_short))
    S, C = 1j * s.rod * np.exp(1j * rod), s.constant - s.fixed * np.cos(fixed)
    scale = float((L * D / S).real) / (2.0 * abs(o) ** 2)
    a, b = np.conj(D / (-2.0 * scale * o)), L / (2.0 * scale * np.conj(o))
    length = float(np.sqrt(max(abs(o) ** 2 + abs(a) ** 2 + abs(b) ** 2 - C / scale, 0.0)))
    along = (n @ N.translation) * n
    tip = plane @ np.array([a.real, a.imag]) + along
    end = N.rotation.T @ (plane @ np.array([b.real, b.imag]))
    placement = tree.jointPlacements[shin]
    return [(Crank(rotor, int(tree.parents[shin]), placement, n, tip, foot, end, length), 0)]


def _axis(tree: pin.Model, j: int) -> np.ndarray:
    axis = joint_axis(tree.joints[j])
    assert axis is not None  # The joints of a differential have one degree of freedom.
    return axis


def _not_a_linkage(source: TelloHip | TelloKneeAnkle, why: str) -> ConstraintError:
    return ConstraintError(
        f"to_mjcf: {source.label} is an equation between angles that no crank and rod can represent: {why}. "
        "MuJoCo can constrain only polynomials of one joint, sums of joints, distances and points. Use pc.simulate "
        "instead."
    )


def _check(tree: pin.Model, c: JointClosure, crank: Crank, row: int) -> None:
    """Raise an error unless, at six random poses, a constraint equation is proportional to the rod's equation."""
    rng, values = np.random.default_rng(0), []
    data, source = tree.createData(), c.source
    for _ in range(6):
        x = rng.uniform(-1.0, 1.0, len(c.joints)) * np.array([source.gear, source.gear, 1.0, 1.0])
        if isinstance(source, TelloKneeAnkle):
            x[2] = 0.5 * (x[0] + x[1]) / source.gear
        q = np.array(pin.neutral(tree))
        for j, value in zip(c.joints, x, strict=True):
            q[tree.idx_qs[j]] = value
        pin.forwardKinematics(tree, data, q)
        angle = float(q[tree.idx_qs[crank.rotor]]) / source.gear
        tip = (data.oMi[crank.carrier] * crank.placement).act(pin.exp3(crank.axis * angle) @ crank.tip)
        far = data.oMi[crank.far].act(crank.end)
        values.append((float(c.value(x)[row]), float((far - tip) @ (far - tip)) - crank.length**2))
    equation, square = np.array(values).T
    ratio = float(equation @ square) / float(square @ square)
    if not np.abs(equation - ratio * square).max() <= _TOLERANCE * np.abs(equation).max():
        raise _not_a_linkage(source, "its lengths do not describe a linkage")


def _add(ties: Ties, crank: Crank, gear: float, label: str) -> None:
    tree, bodies = ties.tree, ties.bodies
    holder, held = bodies.of_joint[crank.carrier]
    rotor, _ = bodies.of_joint[crank.rotor]
    placement = held * crank.placement
    rotor_joint = rotor.joints[0]
    turned = placement.rotation.T @ rotor.place.rotation @ rotor_joint.axis
    cosine = float(turned @ crank.axis)
    if rotor.parent is not holder or abs(abs(cosine) - 1.0) > _TOLERANCE:
        raise ConstraintError(
            f"to_mjcf: {label}: the rotor and the crank are on different bodies or their axes are not parallel, so no "
            "crank and rod can represent the differential. Use pc.simulate instead."
        )
    g, J = float(np.sign(cosine)) * gear, _masses.axial(rotor.P, rotor_joint.axis)
    lent = LENT * J
    disc = 0.0 if g >= 1.0 else 4.0 * lent * (1.0 - g) / g**2
    rotor_inertia = J - lent / g - 0.5 * disc
    rotor_joint.armature += J - rotor_inertia - (lent + 0.25 * disc * g**2) / g**2
    rotor.P = rotor.P - _masses.spin(J - rotor_inertia, rotor_joint.axis)
    if holder is not bodies.world:
        holder.P = holder.P + _masses.placed(placement, _masses.spin(J - rotor_inertia - lent - disc, crank.axis))
    name, start = str(tree.names[crank.rotor]), float(ties.model.q_reference[tree.idx_qs[crank.rotor]])
    for part, inertia, rate in (("crank", lent, 1.0), ("disc", disc, 0.5 * g)):
        if inertia == 0.0:
            continue
        joint = Joint(bodies.joint_names(f"{label} {part}"), "hinge", crank.axis)
        body = Body(
            bodies.names(f"{label} {part}"), holder, placement, [joint], _masses.spin(inertia, crank.axis), spins=True
        )
        bodies.all.append(body)
        # The offset makes the coordinate 0 in the reference pose.
        ties.follow(joint.name, [(name, rate / gear)], -rate * start / gear)
        if part == "crank":
            turn = pin.SE3(pin.exp3(crank.axis * start / gear) @ np.eye(3), np.zeros(3))
            tip = turn.act(crank.tip)
            ends = ties.site_on(body, f"{label} a", pin.SE3(np.eye(3), tip))
            far_site = ties.site(crank.far, f"{label} b", pin.SE3(np.eye(3), crank.end))
            at_zero = (ties.at_zero[crank.carrier] * crank.placement).act(tip)
            distance = float(np.linalg.norm(ties.at_zero[crank.far].act(crank.end) - at_zero))
            tendon = ties.through(f"{label} rod", [ends, far_site])
            ties.tie(
                "tendon", f"{label} rod", {"tendon1": tendon, "polycoef": text(crank.length - distance, [0.0] * 4)}
            )
