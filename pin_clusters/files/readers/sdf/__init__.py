"""Reader of SDF. It does not use Pinocchio's reader, because Pinocchio's wheels are built without SDF support."""

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ....constraints import Gear, LinearCoupling, Loop, Rod
from ....model import ClusterModel
from .._arguments import checked, documented, text_or_file
from .._notes import Notes, listing
from .._shapes import collision_of
from ._closing import RodBody, build_loop, build_rod, hinged, locked, rods_of, sliding_triangle, weld, without_rods
from ._couplings import couplings_of, rotors_of, springs_of
from ._document import read_document
from ._known import scan
from ._parts import Parts, read_parts
from ._scopes import Scope
from ._shapes import read_shapes
from ._spanning import Spanning, loses, span
from ._tree import build_tree


@documented
def buildModelFromSdf(
    file_or_string: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    constraints: Iterable[Any] = (),
    q_reference: ArrayLike | None = None,
    independent: Iterable[str] | None = None,
) -> ClusterModel:
    """Read a model from an SDF file (version 1.2 to 1.12).

    The joints nearest to the root form the tree. If a link has two parents, one of its two joints becomes a ``Loop`` of
    the same type. ``gearbox`` becomes a ``Gear``, whose rotor is the body without children. ``<mimic>`` becomes a
    ``LinearCoupling``. A body between two ball joints of a loop becomes a ``Rod`` if its inertia is axisymmetric. If an
    axis has Drake's rotor inertia, a ``Rotor`` is added. Springs, damping and friction are stored in ``model.passive``;
    see ``pc.passive_torque``. ``universal`` and ``revolute2`` become two hinges; the second has the name
    ``<joint>_axis2``. Nested models and included files in the folder of the file are also read; their joints and links
    are named ``model::name``. The sign of a coordinate does not change if the tree reverses parent and child.

    Args:
        file_or_string: Path of the file, or its text.
        root_joint: Joint between the world and the root link, such as ``pin.JointModelFreeFlyer()``; by default the
            root link is fixed at its pose in the file.
        q_reference: Assembled or nearly assembled pose of the tree, shape (nq,), [rad] or [m], as in ``ClusterModel``;
            by default the pose of the links in the file.

    Returns:
        The model. Links and ``<frame>`` elements are frames of its tree. ``model.collision`` contains the shapes of
        ``<collision>``, with meshes replaced by their convex hulls.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.buildModelFromSdf('''<sdf version="1.7"><model name="pendulum">
        ...   <link name="arm"><inertial><pose>0 0 -1 0 0 0</pose><mass>2</mass></inertial></link>
        ...   <joint name="hinge" type="revolute"><parent>world</parent><child>arm</child>
        ...     <axis><xyz>0 1 0</xyz></axis></joint></model></sdf>''')
        >>> model.independent_joints
        ('hinge',)
    """
    text, source, folder = text_or_file(file_or_string, "an SDF")
    extra, named = checked(root_joint, constraints, independent)
    notes = Notes()
    document = read_document(text, source, folder, notes)
    scan(document.model, notes)
    scope = Scope(document.model, document.version, document)
    parts = read_parts(scope, document, notes)
    shapes = read_shapes(scope, document, notes)
    robot = _assemble(parts, root_joint)
    if groups := locked(robot.tree, robot.loops):
        parts, fixed = weld(parts, robot.tree, groups)
        notes.messages.append(
            f"the loops of {listing([str(loop.name) for group in groups for loop in group])} allow no motion of their "
            f"joints, so these joints are fixed: {listing(fixed)}. If they should move, check that their axes are "
            "parallel, because soft constraints in other simulators hide small errors."
        )
        robot = _assemble(parts, root_joint)
    tree, spanning = robot.tree, robot.spanning
    tree.name = document.model.get("name") or "robot"
    if document.gravity is not None:
        tree.gravity = pin.Motion(document.gravity, np.zeros(3))
    gears = couplings_of(parts, spanning)
    springs, rotors = springs_of(spanning), rotors_of(scope, spanning)
    from_file = (*gears, *robot.couplings, *robot.loops, *robot.rods, *rotors, *springs)
    rods = {r.name for r in robot.rods} & shapes.keys()
    notes.about(sorted(filter(None, rods)), "collision shapes of links that become rods are ignored: {}.")
    shapes = {link: link_shapes for link, link_shapes in shapes.items() if link not in rods}
    _note(robot, notes)
    notes.warn(tree.name, stacklevel=2)
    liked = [g.link for g in gears if isinstance(g, Gear)] + [r.joints[0] for r in rotors]
    if liked:  # Without motors, joints with springs are not preferred, because they are often ill-conditioned.
        liked += [str(s.along) for s in springs if np.any(s.stiffness)]
    preferred = list(dict.fromkeys(liked))
    return ClusterModel(
        tree,
        (*from_file, *extra),
        q_reference,
        independent=named or None,
        preferred=preferred,
        collision=collision_of(tree, shapes),
    )


class _Robot(NamedTuple):
    tree: pin.Model
    spanning: Spanning
    couplings: tuple[LinearCoupling, ...]  # couplings that replace sliders in loops
    loops: tuple[Loop, ...]
    rods: tuple[Rod, ...]
    hinged: tuple[RodBody, ...]  # rods without axial symmetry, which stay bodies


def _assemble(parts: Parts, root_joint: pin.JointModel | None) -> _Robot:
    rods = rods_of(parts)
    round_ones = [r for r in rods if r.is_round]
    asymmetric = tuple(r for r in rods if r not in round_ones)
    remaining = without_rods(parts, round_ones)
    spanning = span(remaining)
    places = build_tree(remaining, spanning, root_joint, hinged(asymmetric, spanning))
    couplings, loops = list[LinearCoupling](), list[Loop]()
    for joint in spanning.closing:
        if places.joint[joint.parent] == places.joint[joint.child]:
            continue  # The links are fixed to each other, so their joint is locked.
        coupling = sliding_triangle(joint, spanning, parts)
        if coupling is not None:
            couplings.append(coupling)
        else:
            loops.append(build_loop(joint, places, remaining))
    built = tuple(build_rod(r, places, parts) for r in round_ones)
    return _Robot(places.tree, spanning, tuple(couplings), tuple(loops), built, asymmetric)


def _note(robot: _Robot, notes: Notes) -> None:
    notes.about(
        [r.link.name for r in robot.hinged],
        "bodies between two ball joints can spin about the line between them, and no constraint determines the spin. "
        "One ball joint of each of {} therefore becomes two hinges (..._1, ..._2) perpendicular to the line. The "
        "inertia does not change.",
    )
    if robot.couplings:
        closing = {str(loop.name) for loop in robot.loops}
        notes.about(
            [j.name for j in robot.spanning.closing if j.kind == "prismatic" and j.name not in closing],
            "the sliders {} would lock two parallel hinges if the loops were closed exactly. The hinges are coupled "
            "one to one instead; the error of the sliders is quadratic in the angle.",
        )
    notes.about(
        [j.name for j in robot.spanning.closing if loses(j)],
        "joints that close loops have no coordinate, so limits, damping and friction of these joints are lost: {}.",
    )
