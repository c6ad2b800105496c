"""Which joints make the tree, and which close its loops."""

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....errors import LoadError
from .._notes import listing
from .._xml import MAX_LINKS_IN_A_ROW
from ._parts import Joint, Parts
from ._scopes import WORLD

PERPENDICULAR = 1e-6


@dataclass(frozen=True)
class Branch:
    """A joint of the tree, and whether the tree passes it from child to parent."""

    joint: Joint
    backwards: bool

    @property
    def inner(self) -> str:
        """The link on the side of the root."""
        return self.joint.child if self.backwards else self.joint.parent

    @property
    def outer(self) -> str:
        """The link that it moves."""
        return self.joint.parent if self.backwards else self.joint.child


@dataclass(frozen=True)
class Spanning:
    """A tree of links."""

    root: str  # link without a joint above it; ``world`` if joints lead there
    branches: tuple[Branch, ...]  # joints of the tree, depth first, each after those above it
    closing: tuple[Joint, ...]  # the others

    def between(self, a: str, b: str) -> tuple[list[Branch], list[Branch]]:
        """Return the joints of the tree from two links up to where their ways meet."""
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
    """Choose the tree: the links nearest to the root first, and joints that cannot close a loop in it.

    A search in breadth, from parents to children and in the order of the file, meets the joints. A loop is cut at the
    one that it meets last, of those that lose least: best a ball joint, then one without limits and damping, and none
    with a spring, a coupling or a thread, which only a joint of the tree can have.

    Raises:
        LoadError: The links are not connected, or too many hang from each other in a row.
    """
    static = [link for link in parts.links.values() if link.static]
    joints = [Joint(f"{link.name}_static", "fixed", WORLD, link.name, link.place) for link in static]
    joints += [j for j in parts.joints.values() if j.kind != "gearbox"]
    root = _root(parts, joints)
    order = _in_breadth(root, joints)
    needed = {j.name for j in joints if in_tree_only(j)} | _coupled(parts)
    chosen = _without_loops(sorted(order, key=lambda j: _ease(j, needed)))
    branches = tuple(_depth_first(root, [j for j in joints if j.name in chosen]))
    reached = {root, *(b.outer for b in branches)}
    if lost := [name for name in parts.links if name not in reached]:
        raise LoadError(
            f"no joints connect these links to {root!r}, the root: {listing(lost)}. Connect them, or leave them out; "
            "what floats beside the robot is another model."
        )
    return Spanning(root, branches, tuple(j for j in joints if j.name not in chosen))


def _ease(joint: Joint, needed: Collection[str]) -> int:
    """Say how easily a joint can close a loop: 0 if it cannot."""
    if joint.kind == "ball":
        return 3
    return 0 if joint.name in needed else 1 if loses(joint) or joint.kind == "fixed" else 2


def loses(joint: Joint) -> bool:
    """Say whether a joint has something that is lost where it closes a loop."""
    return any(not (math.isinf(a.lower) and math.isinf(a.upper)) or a.damping or a.friction for a in joint.axes)


def in_tree_only(joint: Joint) -> bool:
    """Say whether a joint has something that a closed loop could not keep: a spring, a thread, oblique axes."""
    oblique = len(joint.axes) == 2 and abs(joint.axes[0].direction @ joint.axes[1].direction) > PERPENDICULAR
    return joint.kind == "screw" or oblique or any(a.stiffness or a.mimic for a in joint.axes)


def _coupled(parts: Parts) -> set[str]:
    """Return the joints that others follow, and those next to the bodies of gearboxes."""
    found = {a.mimic[0] for j in parts.joints.values() for a in j.axes if a.mimic}
    for gearbox in parts.joints.values():
        if gearbox.kind == "gearbox":
            ends = {gearbox.parent, gearbox.child}
            found |= {
                j.name
                for j in parts.joints.values()
                if j.kind != "gearbox" and gearbox.reference in (j.parent, j.child) and ends & {j.parent, j.child}
            }
    return found


def _root(parts: Parts, joints: Sequence[Joint]) -> str:
    """Return the world if joints lead to it; else the canonical link, or that from which the others can be reached."""
    if any(WORLD in (j.parent, j.child) for j in joints):
        return WORLD
    children = {j.child for j in joints}
    free = [name for name in parts.links if name not in children]
    if not free or parts.first in free:
        return parts.first
    return max(free, key=lambda name: (len(_in_breadth(name, joints, forwards=True)), -list(parts.links).index(name)))


def _around(joints: Sequence[Joint]) -> Mapping[str, list[Joint]]:
    found: dict[str, list[Joint]] = {}
    for j in joints:
        found.setdefault(j.parent, []).append(j)
        found.setdefault(j.child, []).append(j)
    return found


def _in_breadth(root: str, joints: Sequence[Joint], forwards: bool = False) -> list[Joint]:
    """Return the joints in the order in which a search meets them; joints against their direction come last."""
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
    return sorted(met, key=lambda j: (ends[j.name], starts[j.name]))  # stable: the order of the file


def _without_loops(joints: Sequence[Joint]) -> set[str]:
    """Return the names of the joints that connect what those before them do not connect."""
    root: dict[str, str] = {}

    def find(link: str) -> str:
        root.setdefault(link, link)
        while root[link] != link:
            root[link] = root[root[link]]
            link = root[link]
        return link

    chosen = set[str]()
    for j in joints:
        a, b = find(j.parent), find(j.child)
        if a != b:
            root[a] = b
            chosen.add(j.name)
    return chosen


def _depth_first(root: str, joints: Sequence[Joint]) -> Iterator[Branch]:
    around = _around(joints)
    seen = {root}
    waiting = [(root, j, 1) for j in reversed(around.get(root, ()))]
    while waiting:
        link, j, depth = waiting.pop()
        branch = Branch(j, j.child == link)
        if branch.outer in seen:
            continue
        if depth > MAX_LINKS_IN_A_ROW:
            raise LoadError(
                f"more than {MAX_LINKS_IN_A_ROW} links hang from each other in a row, at link {branch.outer!r}. This "
                "is no robot."
            )
        seen.add(branch.outer)
        yield branch
        waiting += [(branch.outer, k, depth + 1) for k in reversed(around[branch.outer]) if k is not j]
