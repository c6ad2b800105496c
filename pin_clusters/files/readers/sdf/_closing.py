"""Convert joints that close loops, and rods between two ball joints, to constraints.

Files for simulators with soft constraints can contain loops that cannot move (see ``locked``), or that allow only an
infinitesimal motion (see ``sliding_triangle``).
"""

import dataclasses
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...._support.trees import between, in_v
from ....constraints import LinearCoupling, Loop, Rod
from ....constraints._frames import smallest_turn
from ....constraints.closures import FrameClosure
from ....errors import LoadError, PinClustersError, PinClustersWarning
from .._trees import Places, merged
from .._xml import in_words_of
from ._couplings import angle
from ._parts import Joint, Link, Parts
from ._scopes import WORLD
from ._spanning import Spanning, in_tree_only

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "spherical",
    "fixed": "fixed",
    "universal": "universal",
    "revolute2": "universal",
}
SHORT = 1e-6  # A rod that is not longer than this has no direction, [m]
# Tolerance for singular values if the columns have about unit length; axes in files have errors of about 1e-6.
RANK = 1e-4


@dataclass(frozen=True)
class RodBody:
    """A body between two ball joints of a loop, with these joints and the links that they connect to the body."""

    link: Link
    ends: tuple[Joint, Joint]
    neighbours: tuple[str, str]

    @property
    def length(self) -> float:
        a, b = (j.place.translation for j in self.ends)
        return float(np.linalg.norm(b - a))

    def seen_from(self, end: Joint) -> pin.SE3:
        """Compute a frame at one end, with its x axis towards the other end, as a placement in the model frame."""
        far_end = next(j for j in self.ends if j is not end)
        line = (far_end.place.translation - end.place.translation) / self.length
        return pin.SE3(smallest_turn(np.array([1.0, 0.0, 0.0]), line), end.place.translation)

    @property
    def is_round(self) -> bool:
        """True if ``Rod`` accepts the inertia: spin about the rod's axis does not affect the dynamics."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PinClustersWarning)
                Rod("a", "b", self.length, inertia=self.inertia)
        except PinClustersError:
            return False
        return True

    @property
    def inertia(self) -> pin.Inertia:
        """Inertia in the frame at the first end, as an argument of ``Rod``."""
        return self.seen_from(self.ends[0]).actInv(self.link.place).act(self.link.inertia)


def rods_of(parts: Parts) -> tuple[RodBody, ...]:
    around: dict[str, list[Joint]] = {}
    for j in parts.joints.values():
        for link in {j.parent, j.child, *([j.reference] if j.reference else [])}:
            around.setdefault(link, []).append(j)
    bodies = []
    for name, joints in around.items():
        if name == WORLD or len(joints) != 2 or any(j.kind != "ball" for j in joints):
            continue
        a, b = (j.child if j.parent == name else j.parent for j in joints)
        body = RodBody(parts.links[name], (joints[0], joints[1]), (a, b))
        if a != b and body.length > SHORT and any({a, b} <= group for group in _connected(parts, without=name)):
            bodies.append(body)
    return tuple(bodies)


def _connected(parts: Parts, without: str) -> list[set[str]]:
    pairs = [(j.parent, j.child) for j in parts.joints.values() if j.kind != "gearbox"]
    return merged(pair for pair in pairs if without not in pair)


def without_rods(parts: Parts, rods: Iterable[RodBody]) -> Parts:
    bodies = {r.link.name for r in rods}
    ends = {j.name for r in rods for j in r.ends}
    frames = {name: frame for name, frame in parts.frames.items() if frame[0] not in bodies}
    links = {name: link for name, link in parts.links.items() if name not in bodies}
    joints = {name: j for name, j in parts.joints.items() if name not in ends}
    return dataclasses.replace(parts, links=links, joints=joints, frames=frames)


def build_rod(rod: RodBody, places: Places[str], parts: Parts) -> Rod:
    (a, at_a), (b, at_b) = (
        places.frame(link, parts.place(link).inverse() * joint.place)
        for link, joint in zip(rod.neighbours, rod.ends, strict=True)
    )
    with in_words_of(f"link {rod.link.name!r}"):
        ends = (a, at_a.translation), (b, at_b.translation)
        return Rod(*ends, rod.length, inertia=rod.inertia, name=rod.link.name)


def hinged(rods: Iterable[RodBody], spanning: Spanning) -> dict[str, pin.SE3]:
    """For each ball joint that becomes two hinges, return the frame in the joint whose y and z axes are the hinges."""
    moving = {b.outer: b.joint for b in spanning.branches}
    frames = {}
    for rod in rods:
        joint = moving[rod.link.name]
        frames[joint.name] = joint.place.actInv(rod.seen_from(joint))
    return frames


def build_loop(joint: Joint, places: Places[str], parts: Parts) -> Loop:
    if in_tree_only(joint) or joint.kind not in KINDS:
        raise LoadError(
            f"{joint.owner}: a {joint.kind} joint with a spring, a mimic, a thread or oblique axes cannot close a "
            "loop, and the other joints of its loop cannot either. Remove these properties from one joint of the loop."
        )
    a, b = (places.frame(link, parts.place(link).inverse() * joint.place) for link in (joint.parent, joint.child))
    axes = (tuple(axis.direction.tolist()) for axis in joint.axes)
    axis_arguments = dict(zip(("axis", "axis_b"), axes, strict=False))
    with in_words_of(joint.owner):
        return Loop(a, b, KINDS[joint.kind], **axis_arguments, name=joint.name)


def sliding_triangle(joint: Joint, spanning: Spanning, parts: Parts) -> LinearCoupling | None:
    """Return a coupling that replaces a slider between two bodies on parallel hinges; return None for other joints.

    Two bodies turn about parallel hinges on a third body. A slider between the two bodies is perpendicular to the line
    between the hinges. For equal hinge angles, the slider's constraint is satisfied only to first order, so an exact
    constraint prevents motion. Authors of such files (Cassie's leaf springs) intend equal angles.
    """
    if joint.kind != "prismatic":
        return None
    ways = spanning.between(joint.parent, joint.child)
    hinges = [b.joint for path in ways for b in path if b.joint.kind != "fixed"]
    if len(hinges) != 2 or any(h.kind not in ("revolute", "continuous") for h in hinges):
        return None
    axes = [h.place.rotation @ h.axes[0].direction for h in hinges]
    slide = joint.place.rotation @ joint.axes[0].direction
    normal = np.cross(axes[0], hinges[1].place.translation - hinges[0].place.translation)
    length = np.linalg.norm(normal)
    if length < 1e-9 or np.linalg.norm(np.cross(normal / length, slide)) > 1e-3:
        return None
    try:
        terms = angle(joint, spanning, joint.parent, joint.child, axes[0])
    except LoadError:  # raised if the hinges are not parallel
        return None
    (follower, sign), (leader, factor) = sorted(terms.items(), key=lambda item: _carries(item[0], parts))
    return LinearCoupling(follower, {leader: -factor / sign})


def _carries(name: str, parts: Parts) -> bool:
    """Return whether a joint has a limit, a spring or damping; such a joint becomes independent."""
    axis = parts.joints[name].axes[0]
    return bool(axis.stiffness or axis.damping or np.isfinite(axis.lower) or np.isfinite(axis.upper))


def locked(tree: pin.Model, loops: Sequence[Loop]) -> list[tuple[Loop, ...]]:
    """Find the groups of loops that allow no motion of their joints in the pose of the file."""
    if not loops:  # A pin.Data with thousands of joints may not fit into memory.
        return []
    data, q = tree.createData(), pin.neutral(tree)
    pin.computeJointJacobians(tree, data, q)
    pin.updateFramePlacements(tree, data)
    closures = [closure for loop in loops for closure in loop.closures(tree)]
    paths = [between(tree, closure.bodies) for closure in closures]
    groups = []
    for joints in merged(paths):
        indices = [k for k, path in enumerate(paths) if path <= joints]
        columns = [c for j in sorted(joints) for c in in_v(tree, j)]
        K = np.vstack([_rows(tree, data, closures[k]) for k in indices])[:, columns]
        lengths = np.maximum(np.abs(K).max(axis=0), 1e-9)  # scales of the columns, because rows mix [m] and [rad]
        if np.linalg.matrix_rank(K / lengths, tol=RANK) == len(columns):
            groups.append(tuple(loops[k] for k in indices))
    return groups


def _rows(tree: pin.Model, data: pin.Data, closure: FrameClosure) -> np.ndarray:
    """Compute the constraint Jacobian of a closed loop, shape (rows, nv)."""
    places = [data.oMi[j] * placement for j, placement in closure.ends]
    Ja, Jb = (
        pose.toActionMatrixInverse() @ _jacobian(tree, data, j)
        for (j, _), pose in zip(closure.ends, places, strict=True)
    )
    relative = places[0].actInv(places[1]).toActionMatrix() @ Jb - Ja
    if closure.rotation == "universal":  # No rotation about the normal of the two axes is allowed.
        across = np.cross([0.0, 0.0, 1.0], places[0].rotation.T @ places[1].rotation[:, 0])
        return np.vstack([relative[:3], across @ relative[3:]])
    return closure.rows @ relative


def _jacobian(tree: pin.Model, data: pin.Data, j: int) -> np.ndarray:
    if j == 0:
        return np.zeros((6, tree.nv))
    return pin.getJointJacobian(tree, data, j, pin.WORLD).reshape(6, -1)  # Pinocchio returns one column as a vector.


def weld(parts: Parts, tree: pin.Model, groups: Sequence[Sequence[Loop]]) -> tuple[Parts, list[str]]:
    names = set[str]()
    for loop in (loop for group in groups for loop in group):
        (closure,) = loop.closures(tree)
        names |= {tree.names[k] for k in between(tree, closure.bodies)} | {str(loop.name)}
    fixed = [name for name in parts.joints if name in names]
    joints = {
        name: dataclasses.replace(j, kind="fixed", axes=()) if name in names else j for name, j in parts.joints.items()
    }
    return dataclasses.replace(parts, joints=joints), fixed
