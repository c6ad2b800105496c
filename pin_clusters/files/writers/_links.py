"""Links of a URDF file: one for the body of each joint, and one for each further frame."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ._text import Names

WORLD = "world"
_TOLERANCE = 1e-12
"""Relative tolerance, to compare the sum of the frame inertias with the inertia of the body."""


@dataclass(frozen=True, eq=False)
class Extra:
    """A further frame, written as a link on a fixed joint; the placement is in the frame of the moving joint."""

    link: str
    joint: str
    placement: pin.SE3


class Links:
    """Names and inertias of links.

    Attributes:
        of_joint: Name of the link that each joint moves, by joint id; the root link for the universe.
        extras: Further frames by joint id.
        inertias: Inertia by link, in the frame of the link; links without inertia are absent.
    """

    def __init__(self, tree: pin.Model) -> None:
        frames = list(tree.frames)[1:]
        self.new = Names(f.name for f in frames if f.type == pin.FrameType.BODY)
        bodies = own_bodies(tree)
        self.of_joint = {j: bodies[j].name for j in bodies}
        if 0 not in bodies:
            self.of_joint[0] = self.new(WORLD)
        for j in range(1, tree.njoints):
            if j not in bodies:
                self.of_joint[j] = self.new(f"{tree.names[j]}_link")
        fixed = Names([*tree.names, *(f.name for f in frames if f.type == pin.FrameType.FIXED_JOINT)])
        written = {(f.parentJoint, f.name) for f in bodies.values()}
        self.extras: dict[int, list[Extra]] = {}
        parts: dict[str, tuple[int, pin.Frame]] = {bodies[j].name: (j, bodies[j]) for j in bodies}
        for f in further_frames(tree, lambda f: (f.parentJoint, f.name) in written):
            joint, is_body = tree.frames[f.parentFrame], f.type == pin.FrameType.BODY
            held = is_body and joint.type == pin.FrameType.FIXED_JOINT and f.parentFrame
            link = f.name if is_body else self.new(f.name)
            name = joint.name if held else f.name if f.type == pin.FrameType.FIXED_JOINT else fixed(f"{f.name}_fixed")
            self.extras.setdefault(f.parentJoint, []).append(Extra(link, name, f.placement))
            parts[link] = (f.parentJoint, f)
        self.inertias = _inertias(tree, self.of_joint, parts)


def own_bodies(tree: pin.Model) -> dict[int, pin.Frame]:
    bodies = [f for f in list(tree.frames)[1:] if f.type == pin.FrameType.BODY]
    return {f.parentJoint: f for f in reversed(bodies) if is_identity(f.placement)}


def further_frames(tree: pin.Model, is_own: Callable[[pin.Frame], bool]) -> Iterator[pin.Frame]:
    frames = list(tree.frames)
    bearing = {f.parentFrame for f in frames[1:] if f.type == pin.FrameType.BODY}
    for k, f in enumerate(frames):
        with_its_body = f.type == pin.FrameType.FIXED_JOINT and k in bearing
        if k and not with_its_body and f.type != pin.FrameType.JOINT:
            if not (f.type == pin.FrameType.BODY and is_own(f)):
                yield f


def is_identity(placement: pin.SE3) -> bool:
    return bool(np.array_equal(placement.homogeneous, np.eye(4)))


def _inertias(
    tree: pin.Model, of_joint: dict[int, str], parts: dict[str, tuple[int, pin.Frame]]
) -> dict[str, pin.Inertia]:
    """Assign frame inertias to links; if their sum is not the body's inertia, only the joint's link gets an inertia."""
    inertias: dict[str, pin.Inertia] = {}
    for j in range(tree.njoints):
        body_inertia = np.array(tree.inertias[j].matrix())
        frames = {n: f for n, (i, f) in parts.items() if i == j and np.any(f.inertia.matrix())}
        total = sum((np.array(f.placement.act(f.inertia).matrix()) for f in frames.values()), np.zeros((6, 6)))
        if frames and np.abs(total - body_inertia).max() <= _TOLERANCE * np.abs(body_inertia).max():
            inertias |= {n: f.inertia for n, f in frames.items()}
        elif np.any(body_inertia):
            inertias[of_joint[j]] = tree.inertias[j]
    return inertias
