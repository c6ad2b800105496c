"""The ``pin.Model`` of the bodies: a joint for each joint of the file, with q as in MuJoCo's qpos."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio as pin

from ...._support.trees import in_q, in_v
from ....errors import LoadError
from .._arguments import Root
from .._trees import ROOT_JOINT_NAME, Places, joint_model
from ._bodies import Body, Joint
from ._document import Document
from ._elements import Element

_QUATERNION = [1, 2, 3, 0]  # x, y, z, w out of w, x, y, z


class Layout(Places[int]):
    """The tree, and where things of the file are in it; bodies by their numbers, their inertias in their frames.

    Attributes:
        q0: The pose of the file (``qpos0``), shape (nq,).
        ids: Joint ids by name.
        sites: Name of the joint that moves each site, and the site in its frame.
    """

    def __init__(self, document: Document, bodies: Sequence[Body], inertias: Sequence[pin.Inertia]) -> None:
        super().__init__(0)
        self.document, self.bodies, self.inertias = document, bodies, inertias
        self.tree.name = document.name
        self.q0 = np.zeros(0)
        self.ids: dict[str, int] = {}
        self.sites: dict[str, tuple[str, pin.SE3]] = {}

    @property
    def joints(self) -> list[Joint]:
        """Joints of the file that are in the tree."""
        return [j for body in self.bodies for j in body.joints if j.name in self.ids]

    def at_q(self, joint: str) -> range:
        """Return where the coordinates of a joint are."""
        return in_q(self.tree, self.ids[joint])

    @cached_property
    def inverse(self) -> np.ndarray:
        """Diagonal of the inverse mass matrix in the pose of the file, shape (nv,)."""
        return np.diag(np.array(pin.computeMinverse(self.tree, self.tree.createData(), self.q0))).copy()


def poses_of_file(bodies: Sequence[Body]) -> list[pin.SE3]:
    """Return where each body is in the world in the pose of the file."""
    found = [pin.SE3.Identity()]
    for body in bodies[1:]:
        found.append(found[body.parent] * body.placement)
    return found


def build_tree(
    document: Document,
    bodies: Sequence[Body],
    inertias: Sequence[pin.Inertia],
    root_joint: pin.JointModel | Root | None,
) -> Layout:
    """Make the tree; ``root_joint`` is above the only body of the world."""
    root_joint, name = root_joint if isinstance(root_joint, Root) else (root_joint, ROOT_JOINT_NAME)
    layout = Layout(document, bodies, inertias)
    tree = layout.tree
    start: list[np.ndarray] = []
    frames = [0]
    root = _check_root(document, bodies, root_joint, name)
    _add_sites(layout, 0, 0)
    for i, body in enumerate(bodies[1:], 1):
        parent, above = layout.joint[body.parent], frames[body.parent]
        M = layout.place[body.parent] * body.placement
        if i == root:
            assert root_joint is not None
            free = root_joint.nv == 6 and root_joint.nq == 7
            parent = tree.addJoint(0, root_joint, pin.SE3.Identity() if free else M, name)
            start.append(pin.SE3ToXYZQUAT(M) if free else np.array(pin.neutral(tree)))  # it is the first one
            above, M = tree.addJointFrame(parent, above), pin.SE3.Identity()
        for joint in body.joints:
            if joint.held is not None:
                M = M * _displaced(joint, joint.held)
                continue
            parent = _add_joint(layout, joint, parent, M, start)
            above = tree.addJointFrame(parent, above)
            M = pin.SE3.Identity() if joint.kind == "free" else pin.SE3(np.eye(3), -joint.pos)
        if parent:
            tree.appendBodyToJoint(parent, inertias[i], M)
        frames.append(layout.put(i, body.name, parent, M, above))
        _add_sites(layout, i, frames[i])
    if tree.njoints == 1:
        raise LoadError(f"{document.source} has no joint that moves, so there is nothing to compute.")
    layout.q0 = np.concatenate(start)
    tree.gravity = pin.Motion(_gravity(document), np.zeros(3))
    return layout


def _add_sites(layout: Layout, i: int, frame: int) -> None:
    for name, placement in layout.bodies[i].sites:
        layout.sites[name] = layout.frame(i, placement)
        layout.tree.addFrame(pin.Frame(name, layout.joint[i], frame, layout.sites[name][1], pin.FrameType.OP_FRAME))


def _check_root(document: Document, bodies: Sequence[Body], root_joint: pin.JointModel | None, name: str) -> int:
    """Return the index of the body that gets the root joint, or -1."""
    if root_joint is None:
        return -1
    roots = [i for i, b in enumerate(bodies) if i and b.parent == 0]
    if len(roots) != 1:
        raise LoadError(
            f"root_joint: {document.source} has {len(roots)} bodies in the world. A root joint is put above one."
        )
    body = bodies[roots[0]]
    if any(j.held is None for j in body.joints):
        names = ", ".join(f"{j.name!r} ({j.kind})" for j in body.joints)
        raise LoadError(f"root_joint: {body.owner} is not fixed to the world, it has the joint {names}. Leave it out.")
    if any(j.name == name for b in bodies for j in b.joints):
        raise LoadError(f"root_joint: {document.source} has a joint named {name!r} already. Rename it.")
    return roots[0]


def _displaced(joint: Joint, x: float) -> pin.SE3:
    """Return the motion of a body by one of its hinges or slides; a free joint that is held stays where it is."""
    if joint.kind == "free":
        return pin.SE3.Identity()
    if joint.kind == "slide":
        return pin.SE3(np.eye(3), x * joint.axis)
    R = np.array(pin.AngleAxis(x, joint.axis).matrix())
    return pin.SE3(R, joint.pos - R @ joint.pos)


def _add_joint(layout: Layout, joint: Joint, parent: int, M: pin.SE3, start: list[np.ndarray]) -> int:
    """Add a joint whose frame is at its anchor, in the axes of the body; q is the qpos of MuJoCo."""
    place = M * pin.SE3(np.eye(3), joint.pos)
    if joint.kind == "free":
        model, place = pin.JointModelFreeFlyer(), pin.SE3.Identity()
        start.append(np.array(pin.SE3ToXYZQUAT(M)))
    elif joint.kind == "ball":
        model = pin.JointModelSpherical()
        start.append(np.array([0.0, 0.0, 0.0, 1.0]))
    else:
        model = joint_model("R" if joint.kind == "hinge" else "P", joint.axis)
        if joint.kind == "hinge":
            if joint.ref:
                place = place * pin.SE3(np.array(pin.AngleAxis(-joint.ref, joint.axis).matrix()), np.zeros(3))
        else:
            place = place * pin.SE3(np.eye(3), -joint.ref * joint.axis)
        start.append(np.array([joint.ref]))
    j = layout.tree.addJoint(parent, model, place, joint.name)
    layout.ids[joint.name] = j
    _fill_fields(layout.document, layout.tree, j, joint)
    return int(j)


def _fill_fields(document: Document, tree: pin.Model, j: int, joint: Joint) -> None:
    """Set what Pinocchio keeps beside a joint: limits, armature, and friction and damping, which it ignores."""
    q, v = in_q(tree, j), in_v(tree, j)
    if joint.range is not None and joint.scalar:
        tree.lowerPositionLimit[q], tree.upperPositionLimit[q] = joint.range
    elif not joint.scalar:  # quaternions, as Pinocchio's own readers do
        tree.lowerPositionLimit[q[-4:]], tree.upperPositionLimit[q[-4:]] = -1.01, 1.01
    a, owner = joint.element, joint.element.owner
    armature = float(a.armature)
    if armature < 0.0:
        raise LoadError(f"{owner}: armature must not be negative, got {armature:g}.")
    if joint.kind == "free" and armature > 0.0:
        A = f"{armature:g}"
        document.notes.messages.append(
            f"{owner} has armature {A}. MuJoCo's velocity of a free joint is linear in the world, so there it is a "
            f"force {A} (a + w x v), in axes of the body; here, as in Pinocchio, {A} a: mass matrices agree, "
            f"forces differ by {A} w x v. A free joint hardly means it: make it a <freejoint/>, which takes no "
            'defaults, or write armature="0".'
        )
    tree.armature[v], tree.damping[v], tree.friction[v] = armature, a.damping[0], a.frictionloss
    most = a.limits("actuatorfrcrange", "actuatorfrclimited", document.compiler.autolimits)
    if most is not None:
        tree.effortLimit[v] = max(abs(most[0]), abs(most[1]))


def _gravity(document: Document) -> np.ndarray:
    """Return what ``<option>`` says; refuse a fluid."""
    gravity = np.array([0.0, 0.0, -9.81])
    for element in document.root.findall("option"):
        option = Element("option", element.attrib, "option", document.elements.units)
        gravity = gravity if option.gravity is None else option.gravity
        for medium in ("density", "viscosity"):
            if getattr(option, medium) != 0.0:
                raise LoadError(
                    f"option: {medium} {element.get(medium)} makes forces of a fluid, which are not computed here. "
                    "Remove it, and add such forces as fext."
                )
    return np.zeros(3) if "gravity" in document.disabled else gravity


def to_pinocchio(values: np.ndarray) -> np.ndarray:
    """Return a unit quaternion x, y, z, w of one w, x, y, z; of zeros the identity, as in MuJoCo."""
    length = float(np.linalg.norm(values))
    return np.array([0.0, 0.0, 0.0, 1.0]) if length < 1e-10 else values[_QUATERNION] / length
