"""Construction of the ``pin.Model`` of a document."""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ....errors import LoadError
from .._trees import ROOT_JOINT_NAME, UNLIMITED, Places, joint_model
from ._parts import Axis, Joint, Link, Parts
from ._scopes import WORLD
from ._spanning import Spanning

LETTERS = {"revolute": "R", "continuous": "R", "prismatic": "P", "screw": "H"}


def build_tree(
    parts: Parts, spanning: Spanning, root_joint: pin.JointModel | None, as_universal: Mapping[str, pin.SE3]
) -> Places[str]:
    """Build the tree with the placements of the links; if ``root_joint`` is None, the root link is fixed.

    ``as_universal`` contains, for each ball joint that becomes two hinges, a frame whose y and z axes are hinge axes.
    """
    places = Places(WORLD)
    tree = places.tree

    def put(link: Link, j: int, placement: pin.SE3) -> None:
        tree.appendBodyToJoint(j, link.inertia, placement)
        places.put(link.name, link.name, j, placement)

    if root_joint is not None and spanning.root == WORLD:
        raise LoadError(
            "root_joint is not allowed, because joints of the file (or <static>) connect the model to the world. Omit "
            "root_joint, or remove these joints."
        )
    if spanning.root != WORLD:
        root = parts.links[spanning.root]
        if root_joint is None:
            put(root, 0, parts.in_world * root.place)
        else:
            j = tree.addJoint(0, root_joint, pin.SE3.Identity(), ROOT_JOINT_NAME)
            tree.addJointFrame(j)
            put(root, j, pin.SE3.Identity())
    for branch in spanning.branches:
        joint, inner, outer = branch.joint, branch.inner, parts.links[branch.outer]
        parent = places.joint[inner]
        placement = places.place[inner] * parts.place(inner).inverse() * joint.place
        after = joint.place.inverse() * outer.place
        if joint.kind == "fixed":
            frame = pin.Frame(joint.name, parent, placement, pin.FrameType.FIXED_JOINT)
            tree.addFrame(frame, False)
            put(outer, parent, placement * after)
            continue
        turn = as_universal.get(joint.name, pin.SE3.Identity())
        j = _add(tree, parent, joint, placement * turn, branch.backwards, joint.name in as_universal)
        put(outer, j, turn.inverse() * after)
    for name, (link, pose) in parts.frames.items():
        placement = places.place[link] * parts.place(link).inverse() * pose
        tree.addFrame(pin.Frame(name, places.joint[link], placement, pin.FrameType.OP_FRAME), False)
    return places


def _add(tree: pin.Model, parent: int, joint: Joint, placement: pin.SE3, backwards: bool, universal: bool) -> int:
    """Add a joint of the file as one or two joints; return the id of the last joint."""
    if universal:
        # The reader of MJCF uses the same names.
        hinges = [("revolute", f"{joint.name}_{i}", Axis(np.eye(3)[i])) for i in (1, 2)]
    elif joint.kind in ("universal", "revolute2"):
        hinges = [("revolute", joint.name, joint.axes[0]), ("revolute", joint.names[1], joint.axes[1])]
    elif joint.kind == "ball":
        j = tree.addJoint(parent, pin.JointModelSpherical(), placement, joint.name)
        tree.addJointFrame(j)
        return int(j)
    else:
        hinges = [(joint.kind, joint.name, joint.axes[0])]
    for kind, name, axis in reversed(hinges) if backwards else hinges:
        direction = -axis.direction if backwards else axis.direction
        model = joint_model(LETTERS[kind], direction, joint.lead)
        limits = np.clip([axis.effort, axis.velocity, axis.lower, axis.upper], -UNLIMITED, UNLIMITED)
        j = tree.addJoint(parent, model, placement, name, *limits.reshape(4, 1))
        tree.addJointFrame(j)
        tree.damping[tree.joints[j].idx_v] = axis.damping
        tree.friction[tree.joints[j].idx_v] = axis.friction
        parent, placement = j, pin.SE3.Identity()
    return int(parent)
