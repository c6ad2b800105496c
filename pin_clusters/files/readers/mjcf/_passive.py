"""Springs, dampers, dry friction and gravity compensation of joints, tendons and bodies."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin

from ...._support.arrays import in_order
from ...._support.trees import in_v
from ....constraints import GravityCompensation, Spring
from ....errors import LoadError
from .._numbers import LARGEST
from ._actuators import Actuator, Tendon, acts
from ._bodies import Joint
from ._elements import Element
from ._tree import Layout

Powers = tuple[float, ...]
_NONE = (0.0, 0.0, 0.0)


def read_passive(layout: Layout, tendons: Mapping[str, Tendon], actuators: Sequence[Actuator]) -> list[Any]:
    document, bodies = layout.document, layout.bodies
    forces: list[Any] = []
    for joint in layout.joints:
        _refuse_yield(joint.element)
        forces += _of_joint(layout, joint, actuators)
    for tendon in tendons.values():
        _refuse_yield(tendon.element)
        forces += _of_tendon(layout, tendon, actuators)
    disabled = document.disabled
    if not ({"gravity", "passive"} & disabled or {"spring", "damper"} <= disabled):
        held = [i for i, body in enumerate(bodies) if body.gravcomp and layout.joint[i]]
        actuated = _by_actuators(layout, held)
        for i in (i for i in held if i not in actuated):
            joint_name, center = layout.frame(i, pin.SE3(np.eye(3), np.array(layout.inertias[i].lever)))
            mass = bodies[i].gravcomp * layout.inertias[i].mass
            forces.append(GravityCompensation(joint_name, mass, tuple(np.array(center.translation).tolist())))
        document.notes.about(
            [bodies[i].name for i in actuated],
            "actuators compensate the weight of the bodies {} (actuatorgravcomp), so model.passive does not contain "
            "the compensation. Add it to tau.",
        )
    return forces


def _by_actuators(layout: Layout, held: Sequence[int]) -> list[int]:
    """Select the bodies whose weight is compensated by actuators at all joints between the body and the world."""
    above: list[dict[bool, str]] = []  # per body: label of a joint above it, by the joint's actuatorgravcomp
    for body in layout.bodies:
        owners = {j.element.actuatorgravcomp: j.element.owner for j in body.joints if j.name in layout.ids}
        above.append({**(above[body.parent] if above else {}), **owners})
    for i in held:
        if len(above[i]) > 1:
            raise LoadError(
                f"{above[i][True]} has actuatorgravcomp, but {above[i][False]} does not, and both move "
                f"{layout.bodies[i].owner}. Partial gravity compensation by actuators is not supported: set "
                "actuatorgravcomp of all joints to the same value."
            )
    return [i for i in held if True in above[i]]


def _acting(
    layout: Layout, given: Element, stiffness: Powers, damping: Powers, motors: Iterable[Actuator]
) -> tuple[Powers, Powers, float] | None:
    """Return stiffness, damping with the motors' damping, and friction, each 0 if disabled; or None if all are 0."""
    disabled, total = layout.document.disabled, np.array(damping)
    for m in motors:
        total += np.array(m.damping) * m.gear**2
    stiffness = _NONE if {"spring", "passive"} & disabled else stiffness
    damping = _NONE if {"damper", "passive"} & disabled else tuple(total.tolist())
    friction = 0.0 if "frictionloss" in disabled else given.frictionloss
    return (stiffness, damping, friction) if any(stiffness) or any(damping) or friction else None


def _refuse_yield(element: Element) -> None:
    if element.springyield != 0.0:
        raise LoadError(f"{element.owner}: springyield (a plastic spring) is not supported. Remove it.")


def _inertia(layout: Layout, name: str) -> float:
    """Compute the inertia at a joint in the pose of the file; the attribute ``springdamper`` depends on it."""
    if any(j.held is not None or j.of_ball for body in layout.bodies for j in body.joints):
        raise LoadError(
            f"joint {name!r}: springdamper depends on the inertia of the file's tree, but locked joints and hinges "
            "that replace ball joints change this tree. Specify stiffness and damping instead."
        )
    indices = in_v(layout.tree, layout.ids[name])
    return float(len(indices) / layout.inverse[indices].sum())


def _of_joint(layout: Layout, joint: Joint, actuators: Sequence[Actuator]) -> list[Spring]:
    a = joint.element
    owner = a.owner
    stiffness, damping = a.stiffness, a.damping
    period, ratio = a.springdamper
    if period > 0.0 and ratio > 0.0:
        if (period * ratio) ** 2 < 1.0 / LARGEST**2:
            raise LoadError(f"{owner}: springdamper {a.given['springdamper']:.60} is too stiff. Use a longer time.")
        inertia = _inertia(layout, joint.name)
        stiffness = (inertia / (period * ratio) ** 2, *stiffness[1:])
        damping = (2.0 * inertia / period, *damping[1:])
    acting = _acting(layout, a, stiffness, damping, [m for m in actuators if m.joint == joint.name])
    if acting is None:
        return []
    stiffness, damping, friction = acting
    if joint.kind == "free" and (any(damping[1:]) or friction):
        lost = "frictionloss" if friction else "damping by powers of the velocity"
        raise LoadError(
            f"{owner}: {lost} of a free joint is not supported, because MuJoCo applies it in world axes. Remove it. "
            "If it comes from a default class, use <freejoint/>, which has no defaults. Linear damping is supported."
        )
    rest_position: Any = None
    if joint.scalar:
        rest_position = _spring_reference(joint)
    elif joint.kind == "free":
        rest_position = layout.q0[layout.at_q(joint.name)].tolist()
    return [Spring(joint.name, stiffness, rest_position, damping, friction)]


def _of_tendon(layout: Layout, tendon: Tendon, actuators: Sequence[Actuator]) -> list[Spring]:
    a = tendon.element
    owner = a.owner
    acting = _acting(layout, a, a.stiffness, a.damping, [m for m in actuators if m.tendon == tendon.name])
    if acting is None:
        return []
    stiffness, damping, friction = acting
    if tendon.wrapped:
        raise LoadError(
            f"{owner}: {', '.join(acts(tendon)) or 'damping'} is not supported on a path around geoms or pulleys. "
            "Remove the attribute, or use a path through sites only."
        )
    relaxed = _relaxed(layout)
    held = 0.0
    if tendon.kind == "fixed":
        along: Any = {n: c for n, c in tendon.joints.items() if n in layout.ids}
        fixed = {j.name: j.ref + j.held for body in layout.bodies for j in body.joints if j.held is not None}
        held = in_order(c * fixed[n] for n, c in tendon.joints.items() if n not in along)
        if not along:
            return []
        length = held + in_order(c * relaxed[layout.at_q(n).start] for n, c in along.items())
    else:
        along = [layout.sites[s] for s in tendon.sites]
        length = path_length(tendon, layout, relaxed)
    low, high = (length if r == -1.0 else r for r in (a.springlength[0], a.springlength[-1]))
    return [Spring(along, stiffness, (low - held, high - held), damping, friction, name=owner)]


def _relaxed(layout: Layout) -> np.ndarray:
    """Compute the rest pose of the joint springs, which is also the default rest pose of tendons, shape (nq,)."""
    q = layout.q0.copy()
    for joint in layout.joints:
        if joint.scalar and not joint.of_ball:
            q[layout.at_q(joint.name)] = _spring_reference(joint)
    return q


def _spring_reference(joint: Joint) -> float:
    reference = joint.element.springref
    return joint.element.units.angle(reference) if joint.kind == "hinge" else float(reference)


def path_length(tendon: Tendon, layout: Layout, q: np.ndarray) -> float:
    data = layout.tree.createData()
    pin.forwardKinematics(layout.tree, data, q)
    places = [layout.sites[s] for s in tendon.sites]
    points = [data.oMi[layout.tree.getJointId(joint)].act(M.translation) for joint, M in places]
    return math.fsum(float(np.linalg.norm(b - a)) for a, b in pairwise(points))
