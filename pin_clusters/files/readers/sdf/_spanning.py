"""Choose the joints that form the spanning tree and the joints that close loops."""

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...._support.groups import grouped
from ....errors import LoadError
from .._notes import listing
from .._xml import MAX_LINKS_IN_A_ROW
from ._parts import Joint, Parts
from ._scopes import WORLD

PERPENDICULAR = 1e-6


@dataclass(frozen=True)
class Branch:
    joint: Joint
    backwards: bool  # True if the joint's <child> link is nearer to the root than its <parent> link

    @property
    def inner(self) -> str:
        return self.joint.child if self.backwards else self.joint.parent

    @property
    def outer(self) -> str:
        return self.joint.parent if self.backwards else self.joint.child


@dataclass(frozen=True)
class Spanning:
    root: str  # root link; ``world`` if joints connect the model to the world
    branches: tuple[Branch, ...]  # joints of the tree, depth first
    closing: tuple[Joint, ...]  # joints that close loops

    def between(self, a: str, b: str) -> tuple[list[Branch], list[Branch]]:
        above = {branch.outer: branch for branch in self.branches}
        paths: list[list[Branch]] = []
        for link in (a, b):
            path = []
            while link in above:
                path.append(above[link])
                link = above[link].inner
            paths.append(path)
        while paths[0] and paths[1] and paths[0][-1] is paths[1][-1]:
            for path in paths:
                path.pop()
        return paths[0], paths[1]


def span(parts: Parts) -> Spanning:
    """Choose the spanning tree such that the joints that close loops lose as few properties as possible.

    A breadth-first search visits the joints from parents to children, in the order of the file. A loop is cut at a ball
    joint if possible, otherwise at a joint without limits and damping. If several joints are equally suitable, the loop
    is cut at the last of them. Joints with a spring, a coupling or a thread always stay in the tree.
    """
    static = [link for link in parts.links.values() if link.static]
    joints = [Joint(f"{link.name}_static", "fixed", WORLD, link.name, link.place) for link in static]
    joints += [j for j in parts.joints.values() if j.kind != "gearbox"]
    root = _root(parts, joints)
    order = _in_breadth(root, joints)
    needed = {j.name for j in joints if in_tree_only(j)} | _coupled(parts)
    in_tree = _without_loops(sorted(order, key=lambda j: _ease(j, needed)))
    branches = tuple(_depth_first(root, [j for j in joints if j.name in in_tree]))
    reached = {root, *(b.outer for b in branches)}
    if lost := [name for name in parts.links if name not in reached]:
        raise LoadError(f"no joints connect these links to the root {root!r}: {listing(lost)}. Connect or remove them.")
    return Spanning(root, branches, tuple(j for j in joints if j.name not in in_tree))


def _ease(joint: Joint, needed: Collection[str]) -> int:
    """Rate a joint for closing a loop, from 3 (best) to 0 (impossible)."""
    if joint.kind == "ball":
        return 3
    return 0 if joint.name in needed else 1 if loses(joint) or joint.kind == "fixed" else 2


def loses(joint: Joint) -> bool:
    """Return whether a joint has limits, damping or friction, which are lost if the joint closes a loop."""
    return any(not (math.isinf(a.lower) and math.isinf(a.upper)) or a.damping or a.friction for a in joint.axes)


def in_tree_only(joint: Joint) -> bool:
    """Return whether a joint has a spring, ``<mimic>``, a thread or oblique axes, which loops do not support."""
    oblique = len(joint.axes) == 2 and abs(joint.axes[0].direction @ joint.axes[1].direction) > PERPENDICULAR
    return joint.kind == "screw" or oblique or any(a.stiffness or a.mimic for a in joint.axes)


def _coupled(parts: Parts) -> set[str]:
    """Collect the leading joints of ``<mimic>``, and joints from a gearbox's reference body to its parent or child."""
    names = {a.mimic[0] for j in parts.joints.values() for a in j.axes if a.mimic}
    for gearbox in parts.joints.values():
        if gearbox.kind == "gearbox":
            ends = {gearbox.parent, gearbox.child}
            names |= {
                j.name
                for j in parts.joints.values()
                if j.kind != "gearbox" and gearbox.reference in (j.parent, j.child) and ends & {j.parent, j.child}
            }
    return names


def _root(parts: Parts, joints: Sequence[Joint]) -> str:
    """Choose the world if it has joints, else the canonical link if it has no parent, else the best connected link."""
    if any(WORLD in (j.parent, j.child) for j in joints):
        return WORLD
    children = {j.child for j in joints}
    free = [name for name in parts.links if name not in children]
    if not free or parts.first in free:
        return parts.first
    return max(free, key=lambda name: (len(_in_breadth(name, joints, forwards=True)), -list(parts.links).index(name)))


def _around(joints: Sequence[Joint]) -> Mapping[str, list[Joint]]:
    return grouped((link, j) for j in joints for link in (j.parent, j.child))


def _in_breadth(root: str, joints: Sequence[Joint], forwards: bool = False) -> list[Joint]:
    """List the joints in the order of a breadth-first search, which goes from child to parent only if necessary."""
    around = _around(joints)
    distance = {root: 0}
    first, against = deque([root]), deque[str]()
    while first or against:
        if first:
            link = first.popleft()
            for j in around.get(link, ()):
                if j.parent == link and j.child not in distance:
                    distance[j.child] = distance[link] + 1
                    first.append(j.child)
            against.append(link)
            continue
        if forwards:
            break
        link = against.popleft()
        for j in around.get(link, ()):
            if j.child == link and j.parent not in distance:
                distance[j.parent] = distance[link] + 1
                first.append(j.parent)
    far = len(distance) + 1
    ends = {j.name: max(distance.get(j.parent, far), distance.get(j.child, far)) for j in joints}
    starts = {j.name: distance.get(j.parent, far) for j in joints}
    met = [j for j in joints if ends[j.name] < far]
    return sorted(met, key=lambda j: (ends[j.name], starts[j.name]))  # The sort is stable and keeps the file's order.


def _without_loops(joints: Sequence[Joint]) -> set[str]:
    """Select each joint whose links are not yet connected by the joints selected before (Kruskal's algorithm)."""
    root: dict[str, str] = {}

    def find(link: str) -> str:
        root.setdefault(link, link)
        while root[link] != link:
            root[link] = root[root[link]]
            link = root[link]
        return link

    selected = set[str]()
    for j in joints:
        a, b = find(j.parent), find(j.child)
        if a != b:
            root[a] = b
            selected.add(j.name)
    return selected


def _depth_first(root: str, joints: Sequence[Joint]) -> Iterator[Branch]:
    around = _around(joints)
    visited = {root}
    waiting = [(root, j, 1) for j in reversed(around.get(root, ()))]
    while waiting:
        link, j, depth = waiting.pop()
        branch = Branch(j, j.child == link)
        if branch.outer in visited:
            continue
        if depth > MAX_LINKS_IN_A_ROW:
            raise LoadError(f"link {branch.outer!r} has more than {MAX_LINKS_IN_A_ROW} ancestors.")
        visited.add(branch.outer)
        yield branch
        waiting += [(branch.outer, k, depth + 1) for k in reversed(around[branch.outer]) if k is not j]
