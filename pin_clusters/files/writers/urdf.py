"""``pc.to_urdf``: write a cluster model as URDF+, from which the loader rebuilds the model."""

import os
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, joint_in_v
from ...errors import PinClustersWarning, UnsupportedJointError
from ...model import ClusterModel, check_model, friction_of_motors
from ._collisions import add_collisions
from ._joints import Part, parts_of
from ._links import Links
from ._text import check_text, finite, in_comment, text, write
from ._urdf_constraints import Constraints, add_inertial, add_origin, friction_of
from .motors import warn_of_motors

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
_TYPES = {"hinge": "revolute", "slide": "prismatic", "free": "floating", "planar": "planar"}


def to_urdf(model: ClusterModel, file: str | os.PathLike[str] | None = None) -> str:
    """Write a model as URDF+, from which ``buildModelFromUrdf`` can rebuild the model.

    Joints, inertias, limits, and the damping and friction of ``Spring`` constraints are written as plain URDF. Loops
    and couplings are written as URDF+ (arXiv 2411.19753). Everything else is written in extensions, which other
    programs ignore: ``<rotor>``, ``<rod>``, ``<mechanism>``, ``<shape>`` (collision shapes other than boxes, spheres,
    cylinders and mesh files), ``<reference_pose>`` and ``<dynamics armature=...>``. A floating base is written as a
    ``floating`` joint below a link ``world``, so read the result without ``root_joint``.

    Joints with several degrees of freedom, except floating and planar joints, become chains of revolute and prismatic
    joints with the same coordinates. Frames become links without inertia on fixed joints. Pinocchio orders the children
    of a link by joint name, so the order of the coordinates can change.

    Args:
        model: The robot.
        file: Path of the output, which is replaced completely or not at all. If None, no file is written.

    Returns:
        The URDF+ text, in SI units. A comment at the top lists the parts of the model that are lost, such as gravity.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or ``file`` is not a path.
        UnsupportedJointError: URDF does not support a joint, such as a ball joint or a screw.
        ConstraintError: The model has a ``Coupling`` or a constraint of a user-defined class.
        ModelError: A name contains characters that XML does not allow.
        ExportError: The file cannot be written.

    Example:
        >>> import pin_clusters as pc
        >>> text = pc.to_urdf(pc.load("cassie_leg"))
        >>> pc.buildModelFromXML(text).rotors[0].name
        'rotor:hip_roll'
    """
    check_model(model, "to_urdf")
    warn_of_motors("to_urdf", model)
    own_tree, tree = model.own_tree, model.own_tree.copy()
    by_springs = friction_of(tree, model.constraints)
    tree.damping, tree.friction = by_springs + friction_of(tree, friction_of_motors(tree, model.rotors))
    chains = {j: parts_of(tree, j, "URDF") for j in range(1, tree.njoints)}
    for j, parts in chains.items():
        if any(part.kind == "ball" for part in parts):
            raise UnsupportedJointError(
                f"joint {tree.names[j]!r} is a {tree.joints[j].shortname()}, but URDF has no ball joints. Use three "
                "revolute joints, or write an MJCF file with pc.to_mjcf, which supports ball joints."
            )
    links = Links(tree)
    check_text(model.name)
    root = ET.Element("robot", name=model.name or "robot")
    flags = _flags(model)
    _add_link(root, links.of_joint[0], links.inertias.get(links.of_joint[0]))
    for j, parts in chains.items():
        parent = links.of_joint[int(tree.parents[j])]
        for part in parts[:-1]:
            between = links.new(f"{part.name}_link")
            _add_joint(root, tree, part, parent, between, flags.get(tree.names[j]))
            _add_link(root, between, None)
            parent = between
        _add_joint(root, tree, parts[-1], parent, links.of_joint[j], flags.get(tree.names[j]))
        _add_link(root, links.of_joint[j], links.inertias.get(links.of_joint[j]))
        _add_frames(root, links, j)
    _add_frames(root, links, 0)
    lost = add_collisions(root, model, links)
    Constraints(root, model, links).add()
    _add_reference(root, model)
    ET.indent(root)
    remarks = _remarks(model, chains) + (
        [f"These collision shapes are not written: {', '.join(lost)}."] if lost else []
    )
    idle = np.flatnonzero((np.array([own_tree.damping, own_tree.friction]) != by_springs).any(axis=0))
    if lazy := dict.fromkeys(str(tree.names[joint_in_v(tree, int(i))]) for i in idle):
        remarks.append(f"Damping and friction without a pc.Spring, which have no effect, are lost: {', '.join(lazy)}.")
    head = "\n".join(f"     {in_comment(line)}" for line in remarks)
    return write(
        f'<?xml version="1.0"?>\n<!-- pin_clusters: {head.strip()}\n-->\n{ET.tostring(root, encoding="unicode")}\n',
        file,
    )


def _remarks(model: ClusterModel, chains: dict[int, list[Part]]) -> list[str]:
    g = np.array(model.gravity.linear)
    remarks = [
        f"{model.name}, written by pc.to_urdf; read it with pc.buildModelFromUrdf, without a root joint.",
        f"URDF has no gravity: it is {text(g)} m/s^2 in this model, but {text(STANDARD_GRAVITY)} after reading.",
    ]
    if not np.array_equal(g, STANDARD_GRAVITY):
        warnings.warn(
            f"to_urdf: the gravity of model {model.name!r} is {text(g)} m/s^2, which URDF cannot contain. After "
            "reading the file, use model.with_gravity(g).",
            PinClustersWarning,
            stacklevel=4,
        )
    several = [model.own_tree.names[j] for j, parts in chains.items() if len(parts) > 1]
    if several:
        remarks.append(f"Joints with several degrees of freedom become chains of joints: {', '.join(several)}.")
    if any(c for c in model.constraints):
        remarks.append("Programs other than pin_clusters read the tree and ignore the constraints.")
    return remarks


def _flags(model: ClusterModel) -> dict[str, str]:
    """Choose the attribute ``independent`` of joints in clusters with loops, and of dependent joints of couplings."""
    tree, flags = model.own_tree, dict[str, str]()
    followers = {tree.names[row.dependent] for row in model.coupling_rows} - set(model.independent_joints)
    moved = {tree.names[k] for loop in model.closures for b in loop.bodies for k in list(tree.supports[b])[1:]}
    for cluster in model.clusters:
        if moved & set(cluster.joints):
            flags |= {n: "true" for n in cluster.independent}
            flags |= {n: "false" for n in cluster.dependent}
    return flags | dict.fromkeys(followers, "false")


def _add_link(root: ET.Element, name: str, inertia: pin.Inertia | None) -> None:
    link = ET.SubElement(root, "link", name=name)
    if inertia is not None:
        add_inertial(link, inertia)


def _add_joint(root: ET.Element, tree: pin.Model, part: Part, parent: str, child: str, flag: str | None) -> None:
    kind = "continuous" if part.turns else _TYPES[part.kind]
    check_text(part.name)
    joint = _connect(root, part.name, kind, part.placement, parent, child)
    if flag is not None:
        joint.set("independent", flag)
    if part.kind == "planar":
        ET.SubElement(joint, "axis", xyz="0 0 1")  # Pinocchio's planar joint supports only this normal.
    if part.kind not in ("hinge", "slide"):
        armature = tree.armature[list(part.at_v)]
        if np.any(armature):
            ET.SubElement(joint, "dynamics", damping="0", armature=text(armature))
        return
    ET.SubElement(joint, "axis", xyz=text(part.axis))
    i = part.at_v.start
    limit = {"effort": text(finite(tree.effortLimit[i])), "velocity": text(finite(tree.velocityLimit[i]))}
    if not part.turns:
        k = part.at_q.start
        limit["lower"] = text(finite(tree.lowerPositionLimit[k]))
        limit["upper"] = text(finite(tree.upperPositionLimit[k]))
    ET.SubElement(joint, "limit", limit)
    dynamics = {"damping": tree.damping[i], "friction": tree.friction[i], "armature": tree.armature[i]}
    if any(dynamics.values()):  # URDF parsers require the attribute damping.
        attributes = {key: text(value) for key, value in dynamics.items() if value != 0.0 or key == "damping"}
        ET.SubElement(joint, "dynamics", attributes)


def _add_frames(root: ET.Element, links: Links, j: int) -> None:
    for extra in links.extras.get(j, ()):
        _add_link(root, extra.link, links.inertias.get(extra.link))
        _connect(root, extra.joint, "fixed", extra.placement, links.of_joint[j], extra.link)


def _connect(root: ET.Element, name: str, kind: str, placement: pin.SE3, parent: str, child: str) -> ET.Element:
    joint = ET.SubElement(root, "joint", name=name, type=kind)
    add_origin(joint, placement)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    return joint


def _add_reference(root: ET.Element, model: ClusterModel) -> None:
    if not model.closures:
        return
    tree, q = model.own_tree, np.array(model.q_reference)
    zero = np.array(pin.neutral(tree))
    pose = ET.Element("reference_pose")
    for j in range(1, tree.njoints):
        indices = list(in_q(tree, j))
        if np.array_equal(q[indices], zero[indices]):
            continue
        for part in parts_of(tree, j, "URDF"):
            part_q = q[list(part.at_q)]
            value = [np.arctan2(part_q[1], part_q[0])] if part.turns else part_q
            ET.SubElement(pose, "joint", name=part.name, q=text(value))
    if len(pose):
        root.append(pose)
