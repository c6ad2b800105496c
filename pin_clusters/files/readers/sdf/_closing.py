"""Joints that close loops, and rods between two ball joints, as constraints."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ....constraints import Loop, Rod
from ....constraints._frames import smallest_turn
from ....errors import LoadError, PinClustersError, PinClustersWarning
from .._notes import Notes
from .._trees import merged
from .._xml import in_words_of
from ._parts import Joint, Link, Parts
from ._scopes import WORLD
from ._spanning import Spanning, in_tree_only, loses
from ._tree import Places

KINDS = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "ball": "spherical", "fixed": "fixed",
    "universal": "universal", "revolute2": "universal",
}  # fmt: skip
SHORT = 1e-6  # [m]; ends that are nearer have no line between them


@dataclass(frozen=True)
class RodBody:
    """A body between two ball joints that close a loop.

    Attributes:
        link: The body.
        ends: The joints.
        neighbours: The links at the other side of these.
    """

    link: Link
    ends: tuple[Joint, Joint]
    neighbours: tuple[str, str]

    @property
    def length(self) -> float:
        """Distance of the ends, [m]."""
        a, b = (j.place.translation for j in self.ends)
        return float(np.linalg.norm(b - a))

    def seen_from(self, end: Joint) -> pin.SE3:
        """Return the frame at one of the ends, in that of the model, whose x axis points to the other end."""
        other = next(j for j in self.ends if j is not end)
        line = (other.place.translation - end.place.translation) / self.length
        return pin.SE3(smallest_turn(np.array([1.0, 0.0, 0.0]), line), end.place.translation)

    @property
    def is_round(self) -> bool:
        """Whether a `Rod` can have its inertia, so that how it spins about itself does not count."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PinClustersWarning)
                Rod("a", "b", self.length, inertia=self.inertia)
        except PinClustersError:
            return False
        return True

    @property
    def inertia(self) -> pin.Inertia:
        """As `Rod` takes it: seen from the first end."""
        return self.seen_from(self.ends[0]).actInv(self.link.place).act(self.link.inertia)


def rods_of(parts: Parts) -> tuple[RodBody, ...]:
    """Return the bodies that could spin about themselves in a closed loop."""
    around: dict[str, list[Joint]] = {}
    for j in parts.joints.values():
        for link in {j.parent, j.child, *([j.reference] if j.reference else [])}:
            around.setdefault(link, []).append(j)
    found = []
    for name, joints in around.items():
        if name == WORLD or len(joints) != 2 or any(j.kind != "ball" for j in joints):
            continue
        a, b = (j.child if j.parent == name else j.parent for j in joints)
        body = RodBody(parts.links[name], (joints[0], joints[1]), (a, b))
        if a != b and body.length > SHORT and any({a, b} <= group for group in _connected(parts, without=name)):
            found.append(body)
    return tuple(found)


def _connected(parts: Parts, without: str) -> list[set[str]]:
    """Return the groups of links that joints connect where one link is missing."""
    pairs = [(j.parent, j.child) for j in parts.joints.values() if j.kind != "gearbox"]
    return merged(pair for pair in pairs if without not in pair)


def without_rods(parts: Parts, rods: Iterable[RodBody]) -> Parts:
    """Return the parts without some bodies and the joints at their ends."""
    bodies = {r.link.name for r in rods}
    ends = {j.name for r in rods for j in r.ends}
    frames = {name: frame for name, frame in parts.frames.items() if frame[0] not in bodies}
    links = {name: link for name, link in parts.links.items() if name not in bodies}
    joints = {name: j for name, j in parts.joints.items() if name not in ends}
    return dataclasses.replace(parts, links=links, joints=joints, frames=frames)


def build_rod(rod: RodBody, places: Places, parts: Parts) -> Rod:
    """Return a rod as a constraint."""
    (a, at_a), (b, at_b) = (
        places.frame(link, parts.place(link).inverse() * joint.place)
        for link, joint in zip(rod.neighbours, rod.ends, strict=True)
    )
    with in_words_of(f"link {rod.link.name!r}"):
        ends = (a, at_a.translation), (b, at_b.translation)
        return Rod(*ends, rod.length, inertia=rod.inertia, name=rod.link.name)


def hinged(rods: Iterable[RodBody], spanning: Spanning) -> dict[str, pin.SE3]:
    """Return the ball joints, in the tree, that shall be two hinges about y and z of a frame, so that no rod spins."""
    moving = {b.outer: b.joint for b in spanning.branches}
    found = {}
    for rod in rods:
        joint = moving[rod.link.name]
        found[joint.name] = joint.place.actInv(rod.seen_from(joint))
    return found


def build_loop(joint: Joint, places: Places, parts: Parts) -> Loop:
    """Return the joint as a loop."""
    if in_tree_only(joint) or joint.kind not in KINDS:
        raise LoadError(
            f"{joint.owner}: a {joint.kind} joint with a spring, a mimic, a thread or oblique axes cannot close a "
            "loop, and all other joints of its loop are such. Make one of them a plain joint."
        )
    (a, at_a), (b, at_b) = (
        places.frame(link, parts.place(link).inverse() * joint.place) for link in (joint.parent, joint.child)
    )
    axes = [tuple(axis.direction.tolist()) for axis in joint.axes]
    given = {} if not axes else {"axis": axes[0]}
    if len(axes) == 2:
        given["axis_b"] = axes[1]
    with in_words_of(joint.owner):
        return Loop((a, at_a), (b, at_b), KINDS[joint.kind], **given, name=joint.name)


def note_losses(closing: Iterable[Joint], notes: Notes) -> None:
    """Say what joints that close loops lose: they have no coordinate."""
    notes.about(
        [j.name for j in closing if loses(j)],
        "joints that close loops have no coordinate, so limits, damping and friction are lost at: {}.",
    )
