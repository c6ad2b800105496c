"""Reader of URDF and URDF+: Pinocchio reads the tree; this module reads everything that Pinocchio ignores."""

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..._support.hulls import hull
from ..._support.trees import in_v
from ...errors import ArgumentTypeError, LoadError
from ...model import ClusterModel
from ._arguments import Root, as_pinocchio, checked, documented, is_xml, read_file
from ._checks import check_numbers, placed, unwind
from ._independence import (
    check_circles,
    check_fit,
    check_not_independent,
    check_tied,
    choose_dependents,
    flagged_independent,
    read_flags,
    ties_of,
)
from ._notes import Notes
from ._numbers import number, numbers
from ._parts import pose_of, read_armature, read_friction, read_parts, read_reference
from ._shapes import DIMENSIONS, Maker, Shape, Shapes, collision_of, half_space, shape_in, sized
from ._transmissions import read_rotors
from ._trees import ROOT_JOINT_NAME
from ._urdf_couplings import read_loops, read_ties
from ._xml import Description, describe, known, parse_xml, to_text


@documented
def buildModelFromUrdf(
    urdf_filename: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    *,
    rotor_inertias: Mapping[str, float] | None = None,
    root_joint_name: str | None = None,
    mimic: bool | None = None,
) -> ClusterModel:
    """Read a URDF or URDF+ file.

    In addition to URDF, the reader supports ``<loop>``, ``<coupling>`` and the joint attribute ``independent`` of URDF+
    (arXiv 2411.19753), couplings with a ratio per joint, ``<mimic>``, and the extensions of ``to_urdf``: ``<rotor>``,
    ``<rod>``, ``<mechanism>``, ``<reference_pose>`` and ``<dynamics armature=...>``. ``q`` contains the coordinates of
    all joints, including dependent joints. The attribute ``independent`` selects the independent joints of a loop. If a
    loop has no such attribute, ``ClusterModel`` chooses its independent joints.

    Each actuator of a ``<transmission>`` (ROS 1 and ros2_control: simple, differential, half differential, four-bar
    linkage) becomes a ``Rotor`` if its inertia is known. The inertia comes from Drake's ``<drake:rotor_inertia>`` and
    ``<drake:gear_ratio>`` or from ``rotor_inertias``. The rotor turns about the axis of the first joint. A link of the
    file must already include the rotor's mass.

    ``<dynamics damping=... friction=...>`` becomes ``Spring`` constraints, which add viscous and Coulomb friction to
    ``model.passive``, as for MJCF and SDF. ``<collision>`` and the extension ``<shape>`` of ``to_urdf`` become shapes
    of ``model.collision``, with meshes replaced by their convex hulls. A warning lists shapes that cannot be built.

    ``<gazebo>`` and unknown elements are ignored; one warning lists them. Unsupported elements that change the
    dynamics, such as ``<drake:linear_bushing_rpy>``, raise ``LoadError``.

    Pinocchio's order of arguments is also supported: ``(urdf_filename, root_joint, root_joint_name, mimic)``.

    Args:
        urdf_filename: Path of the file.
        independent: Names of the independent joints; in their clusters, the attribute ``independent`` has no effect.
        rotor_inertias: Axial inertias of rotors, [kg m^2]. The key is the name of an actuator in a ``<transmission>``,
            or of the joint in a simple transmission.
        root_joint_name: Name of the root joint, ``"root_joint"`` by default.
        mimic: Argument of Pinocchio that has no effect here, because mimic joints are always dependent joints.

    Returns:
        The model. Its tree equals Pinocchio's tree of the same file, except that continuous joints in a coupling or a
        loop become revolute joints without limits, and a warning is emitted.

    Example:
        >>> import pin_clusters as pc, pinocchio as pin
        >>> model = pc.buildModelFromUrdf("robot.urdf", pin.JointModelFreeFlyer())  # doctest: +SKIP
    """
    if is_xml(urdf_filename):
        raise LoadError("urdf_filename must be a path, got XML. Use buildModelFromXML for text.")
    path, text = read_file(urdf_filename, "a URDF")
    root, constraints, q_reference = as_pinocchio(root_joint, constraints, q_reference, root_joint_name, mimic)
    parts = parse_urdf(text, root, constraints, repr(str(path)), independent, 3, rotor_inertias, path.parent)
    return make_model(parts, q_reference)


@documented
def buildModelFromXML(
    urdf_xml_stream: str,
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
    *,
    rotor_inertias: Mapping[str, float] | None = None,
    root_joint_name: str | None = None,
    mimic: bool | None = None,
) -> ClusterModel:
    """Read a robot from the text of a URDF or URDF+ file, like ``buildModelFromUrdf``.

    Args:
        urdf_xml_stream: The document.
        rotor_inertias: Axial inertias of rotors, [kg m^2], as in ``buildModelFromUrdf``.
        root_joint_name: As in ``buildModelFromUrdf``.
        mimic: As in ``buildModelFromUrdf``.

    Returns:
        The model, in SI units.

    Example:
        >>> import pin_clusters as pc
        >>> text = pc.to_urdf(pc.load("four_bar"))
        >>> pc.buildModelFromXML(text).nv
        1
    """
    text = urdf_xml_stream
    if not isinstance(text, str):
        raise ArgumentTypeError(f"urdf_xml_stream must be the XML of a robot, got {type(text).__name__}.")
    if text.strip() and not is_xml(text):
        raise LoadError(f"urdf_xml_stream must be XML, got {text[:40]!r}. Use buildModelFromUrdf for a file.")
    root, constraints, q_reference = as_pinocchio(root_joint, constraints, q_reference, root_joint_name, mimic)
    return make_model(parse_urdf(text, root, constraints, "the XML text", independent, 3, rotor_inertias), q_reference)


def make_model(parts: "Parts", q_reference: ArrayLike | None, name: str | None = None) -> ClusterModel:
    pose, name = parts.reference if q_reference is None else q_reference, name or parts.tree.name
    return ClusterModel(
        parts.tree,
        parts.constraints,
        pose,
        independent=parts.independent or None,
        name=name,
        collision=collision_of(parts.tree, parts.shapes),
    )


class Parts(NamedTuple):
    """Arguments of a ``ClusterModel``."""

    tree: pin.Model  # spanning tree
    constraints: tuple[Any, ...]
    independent: tuple[str, ...]  # independent joints of clusters with closures
    reference: Any = None  # reference pose of the file, shape (nq,), or None
    shapes: Shapes = MappingProxyType({})  # collision shapes by link


@documented
def parse_urdf(
    text: str | bytes,
    root_joint: "pin.JointModel | Root | None" = None,
    constraints: Iterable[Any] = (),
    source: str = "the XML text",
    independent: Iterable[str] | None = None,
    stacklevel: int = 2,
    rotor_inertias: Mapping[str, float] | None = None,
    folder: Path | None = None,
) -> Parts:
    """Read the spanning tree and the constraints of a URDF or URDF+ document.

    Args:
        text: The document.
        source: Label of the document for messages.
        stacklevel: Stack level of warnings, as in ``warnings.warn``.
        rotor_inertias: Axial inertias of rotors, [kg m^2], as in ``buildModelFromUrdf``.
        folder: Folder of the meshes of collision shapes; the folders above it are also searched.

    Returns:
        The arguments of ``ClusterModel``; the constraints of the file come before ``constraints``.
    """
    root_name = ROOT_JOINT_NAME
    if isinstance(root_joint, Root):
        root_joint, root_name = root_joint
    extra, named = checked(root_joint, constraints, independent)
    notes = Notes()
    root = parse_xml(text, source)
    if root.tag == "robot":
        notes.scan(root)  # This check runs first, because an error such as unexpanded xacro explains missing links.
    description = describe(root, source)
    check_numbers(description, notes)
    flags = read_flags(description)
    couplings = read_ties(description, notes)
    loops = [*read_loops(description, notes), *read_parts(description)]
    reference, friction = read_reference(description), read_friction(description, notes)
    dependents = choose_dependents(couplings, flags)
    coupled = {tie.owner: tie.build(joint) for tie, joint in zip(couplings, dependents, strict=True)}
    check_circles(couplings, dependents)

    tree = _pinocchio(description, root_joint, root_name, source)
    closed = {loop.owner: loop.build(tree) for loop in loops}
    from_file: dict[str, Any] = {**coupled, **closed}
    check_fit(closed, tree)
    ties = ties_of((*closed.values(), *extra), tree)
    for joint, owner in ties.followers.items():
        check_not_independent(joint, owner, flags)
    check_tied(flags, {*dependents, *ties.followers, *ties.closed}, description)
    tied = {joint for tie in couplings for joint in tie.joints} | ties.coupled
    turning = [n for n, j in description.joints.items() if n in tied and j.get("type") == "continuous"]
    notes.about(
        turning,
        "continuous joints in a coupling or a loop become revolute joints without limits, whose coordinate is an angle "
        "instead of cosine and sine: {}.",
    )
    if turning:
        for joint in turning:
            unwind(description.joints[joint])
        tree = _pinocchio(description, root_joint, root_name, source)
    check_fit(from_file, tree)
    rotors = read_rotors(description, rotor_inertias, notes)
    everything = (*from_file.values(), *rotors, *friction, *extra)
    independent_joints = flagged_independent(ties_of(everything, tree), flags, named, tree, notes)
    shapes = read_shapes(description, folder, notes)
    notes.warn(description.name, stacklevel)
    return Parts(tree, everything, independent_joints, pose_of(tree, reference), shapes)


def _pinocchio(description: Description, root_joint: pin.JointModel | None, root_name: str, source: str) -> pin.Model:
    if root_joint is not None and root_name in description.joints:
        raise LoadError(f"{source} has a joint named {root_name!r}, but root_joint has this name. Rename that joint.")
    try:
        root = () if root_joint is None else (root_joint, root_name)
        tree = pin.buildModelFromXML(to_text(description.root), *root)
    except (ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise LoadError(f"Pinocchio cannot read {source}: {reason} (see the output above for details).") from None
    for name, joint in description.joints.items():
        armature = read_armature(joint, f"joint {name!r}")
        if armature and tree.existJointName(name):
            indices = in_v(tree, tree.getJointId(name))
            if len(armature) != len(indices):
                raise LoadError(f"joint {name!r}: the armature must be {len(indices)} numbers, got {len(armature)}.")
            tree.armature[indices] = armature
    return tree


def read_shapes(description: Description, folder: Path | None, notes: Notes) -> dict[str, list[Shape]]:
    make = Maker(folder, notes)
    by_link: dict[str, list[Shape]] = {name: [] for name in description.links}
    stated = [(name, e) for name, link in description.links.items() for e in link.findall("collision")]
    stated += [
        (known(e.get("link"), "link", description.links, f"shape {e.get('name')!r}"), e)
        for e in description.root.findall("shape")
    ]
    for link, element in stated:
        with make.attempt():
            by_link[link].append(_shape(element, f"{element.tag} {element.get('name') or ''!r} of link {link!r}", make))
    make.say()
    return by_link


def _shape(element: ET.Element, owner: str, make: Maker) -> Shape:
    name, placement = element.get("name") or "", placed(element, owner)
    shape = shape_in(element, owner)
    kind = shape.tag
    if kind == "mesh":
        scale = numbers(shape.get("scale", "1 1 1"), "scale", owner, 3)
        return make.mesh(name, placement, shape.get("filename") or "", scale, owner)
    if kind == "plane":
        n = half_space(numbers(shape.get("normal"), "normal", owner, 3), owner).n
        return Shape(name, placement, coal.Halfspace(n, number(shape.get("offset", "0"), "offset", owner)))
    if kind == "hull":
        text = shape.get("points") or ""
        points = np.array(numbers(text, "points", owner, 12, max(12, len(text))))
        return Shape(name, placement, hull(points[: len(points) // 3 * 3].reshape(-1, 3), owner))
    if kind not in DIMENSIONS:
        raise LoadError(f"{owner}: <{kind}> is not supported")
    return Shape(name, placement, sized(kind, shape.get, owner))
