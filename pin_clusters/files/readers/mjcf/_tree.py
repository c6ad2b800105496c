"""Construction of the ``pin.Model``, with one joint per joint of the file and with q as in MuJoCo's qpos."""

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

_QUATERNION = [1, 2, 3, 0]  # converts w, x, y, z to x, y, z, w


class Layout(Places[int]):
    """The tree, with the placements of the file's bodies (by index) and of its sites in the tree."""

    def __init__(self, document: Document, bodies: Sequence[Body], inertias: Sequence[pin.Inertia]) -> None:
        super().__init__(0)
        self.document, self.bodies, self.inertias = document, bodies, inertias
        self.tree.name = document.name
        self.q0 = np.zeros(0)  # pose of the file (``qpos0``), shape (nq,)
        self.ids: dict[str, int] = {}  # joint ids by name
        self.sites: dict[str, tuple[str, pin.SE3]] = {}  # by site: name of its joint, and placement in the joint frame

    @property
    def joints(self) -> list[Joint]:
        return [j for body in self.bodies for j in body.joints if j.name in self.ids]

    def at_q(self, joint: str) -> range:
        return in_q(self.tree, self.ids[joint])

    @cached_property
    def inverse(self) -> np.ndarray:
        """Diagonal of the inverse mass matrix in the pose of the file, shape (nv,)."""
        return np.diag(np.array(pin.computeMinverse(self.tree, self.tree.createData(), self.q0))).copy()


def poses_of_file(bodies: Sequence[Body]) -> list[pin.SE3]:
    poses = [pin.SE3.Identity()]
    for body in bodies[1:]:
        poses.append(poses[body.parent] * body.placement)
    return poses


def build_tree(
    document: Document,
    bodies: Sequence[Body],
    inertias: Sequence[pin.Inertia],
    root_joint: pin.JointModel | Root | None,
) -> Layout:
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
            # At this point, the root joint is the only joint, so neutral(tree) contains only its coordinates.
            start.append(pin.SE3ToXYZQUAT(M) if free else np.array(pin.neutral(tree)))
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
        raise LoadError(f"{document.source} has no movable joint. Add a joint.")
    layout.q0 = np.concatenate(start)
    tree.gravity = pin.Motion(_gravity(document), np.zeros(3))
    return layout


def _add_sites(layout: Layout, i: int, frame: int) -> None:
    for name, placement in layout.bodies[i].sites:
        layout.sites[name] = layout.frame(i, placement)
        layout.tree.addFrame(pin.Frame(name, layout.joint[i], frame, layout.sites[name][1], pin.FrameType.OP_FRAME))


def _check_root(document: Document, bodies: Sequence[Body], root_joint: pin.JointModel | None, name: str) -> int:
    if root_joint is None:
        return -1
    roots = [i for i, b in enumerate(bodies) if i and b.parent == 0]
    if len(roots) != 1:
        raise LoadError(f"root_joint requires exactly one body in the world; {document.source} has {len(roots)}.")
    body = bodies[roots[0]]
    if any(j.held is None for j in body.joints):
        names = ", ".join(f"{j.name!r} ({j.kind})" for j in body.joints)
        raise LoadError(f"root_joint: {body.owner} must be fixed to the world, but has joint {names}. Omit root_joint.")
    if any(j.name == name for b in bodies for j in b.joints):
        raise LoadError(f"root_joint: {document.source} already has a joint named {name!r}. Rename that joint.")
    return roots[0]


def _displaced(joint: Joint, x: float) -> pin.SE3:
    if joint.kind == "free":
        return pin.SE3.Identity()
    if joint.kind == "slide":
        return pin.SE3(np.eye(3), x * joint.axis)
    R = np.array(pin.AngleAxis(x, joint.axis).matrix())
    return pin.SE3(R, joint.pos - R @ joint.pos)


def _add_joint(layout: Layout, joint: Joint, parent: int, M: pin.SE3, start: list[np.ndarray]) -> int:
    """Add a joint whose frame is at the anchor and parallel to the body frame; its q equals MuJoCo's qpos."""
    placement = M * pin.SE3(np.eye(3), joint.pos)
    if joint.kind == "free":
        model, placement = pin.JointModelFreeFlyer(), pin.SE3.Identity()
        start.append(np.array(pin.SE3ToXYZQUAT(M)))
    elif joint.kind == "ball":
        model = pin.JointModelSpherical()
        start.append(np.array([0.0, 0.0, 0.0, 1.0]))
    else:
        model = joint_model("R" if joint.kind == "hinge" else "P", joint.axis)
        if joint.kind == "hinge":
            if joint.ref:
                placement = placement * pin.SE3(np.array(pin.AngleAxis(-joint.ref, joint.axis).matrix()), np.zeros(3))
        else:
            placement = placement * pin.SE3(np.eye(3), -joint.ref * joint.axis)
        start.append(np.array([joint.ref]))
    j = layout.tree.addJoint(parent, model, placement, joint.name)
    layout.ids[joint.name] = j
    _fill_fields(layout.document, layout.tree, j, joint)
    return int(j)


def _fill_fields(document: Document, tree: pin.Model, j: int, joint: Joint) -> None:
    """Set limits, armature, friction and damping of a joint; Pinocchio itself ignores friction and damping."""
    q, v = in_q(tree, j), in_v(tree, j)
    if joint.range is not None and joint.scalar:
        tree.lowerPositionLimit[q], tree.upperPositionLimit[q] = joint.range
    elif not joint.scalar:  # Pinocchio's readers use the same limits for quaternions.
        tree.lowerPositionLimit[q[-4:]], tree.upperPositionLimit[q[-4:]] = -1.01, 1.01
    a, owner = joint.element, joint.element.owner
    armature = float(a.armature)
    if armature < 0.0:
        raise LoadError(f"{owner}: armature must not be negative, got {armature:g}.")
    if joint.kind == "free" and armature > 0.0:
        A = f"{armature:g}"
        document.notes.messages.append(
            f"{owner} has armature {A}. The linear velocity of a free joint is in world axes in MuJoCo, so armature "
            f"adds the force {A} (a + w x v) in body axes. In pin_clusters and Pinocchio, armature adds {A} a. The "
            f"mass matrices agree, but the forces differ by {A} w x v. If the armature is not intended, use "
            '<freejoint/>, which has no defaults, or write armature="0".'
        )
    tree.armature[v], tree.damping[v], tree.friction[v] = armature, a.damping[0], a.frictionloss
    effort = a.limits("actuatorfrcrange", "actuatorfrclimited", document.compiler.autolimits)
    if effort is not None:
        tree.effortLimit[v] = max(abs(effort[0]), abs(effort[1]))


def _gravity(document: Document) -> np.ndarray:
    gravity = np.array([0.0, 0.0, -9.81])
    for element in document.root.findall("option"):
        option = Element("option", element.attrib, "option", document.elements.units)
        gravity = gravity if option.gravity is None else option.gravity
        for medium in ("density", "viscosity"):
            if getattr(option, medium) != 0.0:
                raise LoadError(
                    f"option: {medium} {element.get(medium)} causes fluid forces, which are not supported. Remove it, "
                    "and pass such forces as fext."
                )
    return np.zeros(3) if "gravity" in document.disabled else gravity


def to_pinocchio(values: np.ndarray) -> np.ndarray:
    """Convert a quaternion (w, x, y, z) to a unit quaternion (x, y, z, w); zeros mean the identity, as in MuJoCo."""
    length = float(np.linalg.norm(values))
    return np.array([0.0, 0.0, 0.0, 1.0]) if length < 1e-10 else values[_QUATERNION] / length
