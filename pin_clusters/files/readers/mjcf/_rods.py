"""Bodies between a ball joint and a connect: two hinges replace the ball joint and remove the free spin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....constraints._frames import perpendicular
from ....errors import LoadError
from ._bodies import Body, Joint
from ._document import Document
from ._elements import Element
from ._equalities import Tie

_STRAIGHT = 1e-6


@dataclass(frozen=True)
class Rod:
    """A ball joint that two hinges replace."""

    joint: Joint  # the ball joint
    line: np.ndarray  # unit vector from the ball joint to the point of the <connect>, in the body
    names: tuple[str, str]  # names of the hinges; the first hinge is next to the parent and turns about ``axes[0]``
    axes: tuple[np.ndarray, np.ndarray]  # unit vectors in the body, perpendicular to the line and to each other

    def angles(self, R: np.ndarray) -> tuple[float, float]:
        """Compute the hinge angles [rad] that point the line in the same direction as rotation R of the ball joint."""
        d, first = R @ self.line, self.axes[0]
        # The direction of the line after turns by q2 about the second axis, then by q1 about the first axis, is
        # d = cos q2 (cos q1 line + sin q1 first x line) - sin q2 first.
        sine = float(np.clip(d @ first, -1.0, 1.0))
        return math.atan2(float(d @ np.cross(first, self.line)), float(d @ self.line)), -math.asin(sine)


def split_balls(document: Document, bodies: Sequence[Body], ties: Sequence[Tie]) -> dict[str, Rod]:
    """Replace the ball joints of bodies that could spin freely about a line; return the rods by joint name.

    Such a body has a single ball joint and one connect at another point. The body may contain slides along the line
    between these points, as in a cylinder with a piston.
    """
    rods: dict[str, Rod] = {}
    names = {j.name for b in bodies for j in b.joints}
    for i, body in enumerate(bodies):
        if len(body.joints) == 1 and body.joints[0].kind == "ball":
            rod = _rod(bodies, ties, i, names)
            if rod is not None:
                rods[rod.joint.name] = rod
                body.joints = _hinges(body.joints[0], rod)
    document.notes.about(
        sorted(rods),
        "bodies between a ball joint and a connect can spin about the line between them, and no constraint determines "
        "the spin. Each of the ball joints {} therefore becomes two hinges (..._1, ..._2) perpendicular to the line. "
        "The inertia does not change.",
    )
    return rods


def _rod(bodies: Sequence[Body], ties: Sequence[Tie], i: int, names: set[str]) -> Rod | None:
    joint = bodies[i].joints[0]
    poses = {i: (np.eye(3), np.zeros(3))}  # rotations and positions of body i and the bodies below it, in body i
    slides = []
    for k, body in enumerate(bodies[i + 1 :], i + 1):
        if body.parent not in poses:
            break
        R, p = poses[body.parent]
        poses[k] = R @ body.placement.rotation, p + R @ body.placement.translation
        if any(j.kind != "slide" for j in body.joints):
            return None
        slides += [poses[k][0] @ j.axis for j in body.joints]
    ends = [(tie, end) for tie in ties for end in range(2) if tie.bodies[end] in poses]
    if len(ends) != 1 or ends[0][0].kind != "spherical":
        return None
    tie, end = ends[0]
    R, p = poses[tie.bodies[end]]
    line = p + R @ tie.frames[end].translation - joint.pos
    length = float(np.linalg.norm(line))
    if length < _STRAIGHT:
        return None
    line = line / length
    if any(np.linalg.norm(np.cross(s, line)) > _STRAIGHT for s in slides):
        return None
    second = perpendicular(line)
    first = np.cross(line, second)
    first_name, second_name = f"{joint.name}_1", f"{joint.name}_2"
    while {first_name, second_name} & names:
        first_name, second_name = f"{first_name}_", f"{second_name}_"
    names |= {first_name, second_name}
    return Rod(joint, line, (first_name, second_name), (first, second))


def _hinges(joint: Joint, rod: Rod) -> list[Joint]:
    """Build the hinges; because they are perpendicular, they have exactly the ball joint's damping and armature."""
    a = joint.element
    for key in ("stiffness", "frictionloss"):
        if np.any(getattr(a, key)):
            raise LoadError(f"{a.owner}: {key} has no equivalent for the two hinges that replace the joint. Remove it.")
    if any(a.damping[1:]):
        raise LoadError(f"{a.owner}: two hinges replace the ball joint. Only linear damping is supported.")
    attributes = {key: a.given[key] for key in ("damping", "armature") if key in a}
    return [
        Joint(
            name,
            "hinge",
            joint.pos,
            axis,
            0.0,
            None,
            Element("joint", attributes, f"joint {name!r}", a.units),
            of_ball=True,
        )
        for name, axis in zip(rod.names, rod.axes, strict=True)
    ]
