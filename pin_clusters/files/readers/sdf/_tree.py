"""The tree of a document as a ``pin.Model``."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ....errors import LoadError
from .._trees import ROOT_JOINT_NAME, UNLIMITED, joint_model
from ._parts import Axis, Joint, Parts
from ._scopes import WORLD
from ._spanning import Spanning

LETTERS = {"revolute": "R", "continuous": "R", "prismatic": "P", "screw": "H"}


class Places:
    """Where the links of the file are in the tree: id of the joint that moves them, and their pose in its frame."""

    def __init__(self) -> None:
        self.joint: dict[str, int] = {}
        self.place: dict[str, pin.SE3] = {}

    def frame(self, tree: pin.Model, link: str, in_link: pin.SE3) -> tuple[str, pin.SE3]:
        """Return a frame on a link as constraints name it."""
        return tree.names[self.joint[link]], self.place[link] * in_link


def second(name: str) -> str:
    """Return the name of the joint that stands for the second axis of a joint of the file."""
    return f"{name}_axis2"


def build_tree(
    parts: Parts,
    spanning: Spanning,
    root_joint: pin.JointModel | None,
    in_world: pin.SE3,
    as_universal: Mapping[str, pin.SE3],
) -> tuple[pin.Model, Places]:
    """Return the tree, and where the links are in it.

    Args:
        parts: Links and joints.
        spanning: The tree of them.
        root_joint: Above the root link; None: it stands in the world as the file says.
        in_world: Pose of the model in the world.
        as_universal: Ball joints that become two hinges, about y and z of a frame in that of the joint.
    """
    tree, places = pin.Model(), Places()
    if root_joint is not None and spanning.root == WORLD:
        raise LoadError(
            "root_joint was given, but joints of the file (or <static>) connect the model to the world. Leave "
            "root_joint out, or remove them."
        )
    places.joint[WORLD], places.place[WORLD] = 0, pin.SE3.Identity()
    if spanning.root != WORLD:
        root = parts.links[spanning.root]
        at = in_world * root.place
        if root_joint is None:
            _weld(tree, places, parts, spanning.root, 0, at)
        else:
            j = tree.addJoint(0, root_joint, pin.SE3.Identity(), ROOT_JOINT_NAME)
            tree.addJointFrame(j)
            _weld(tree, places, parts, spanning.root, j, pin.SE3.Identity())
    for branch in spanning.branches:
        joint, inner = branch.joint, branch.inner
        parent = places.joint[inner]
        start = in_world.inverse() if inner == WORLD else parts.links[inner].place
        at = places.place[inner] * start.inverse() * joint.place
        after = joint.place.inverse() * parts.links[branch.outer].place
        if joint.kind == "fixed":
            frame = pin.Frame(joint.name, parent, at, pin.FrameType.FIXED_JOINT)
            tree.addFrame(frame, False)
            _weld(tree, places, parts, branch.outer, parent, at * after)
            continue
        turn = as_universal.get(joint.name, pin.SE3.Identity())
        j = _add(tree, parent, joint, at * turn, branch.backwards, joint.name in as_universal)
        _weld(tree, places, parts, branch.outer, j, turn.inverse() * after)
    for name, (link, place) in parts.frames.items():
        own = in_world.inverse() if link == WORLD else parts.links[link].place
        at = places.place[link] * own.inverse() * place
        tree.addFrame(pin.Frame(name, places.joint[link], at, pin.FrameType.OP_FRAME), False)
    return tree, places


def _weld(tree: pin.Model, places: Places, parts: Parts, link: str, j: int, at: pin.SE3) -> None:
    """Put a link on a body of the tree."""
    tree.appendBodyToJoint(j, parts.links[link].inertia, at)
    tree.addBodyFrame(link, j, at, -1)
    places.joint[link], places.place[link] = j, at


def _add(tree: pin.Model, parent: int, joint: Joint, at: pin.SE3, backwards: bool, universal: bool) -> int:
    """Add a joint of the file; return the id of the last one that stands for it."""
    if universal:
        # named as those of MJCF
        hinges = [("revolute", f"{joint.name}_{i}", Axis(np.eye(3)[i])) for i in (1, 2)]
    elif joint.kind in ("universal", "revolute2"):
        hinges = [("revolute", joint.name, joint.axes[0]), ("revolute", second(joint.name), joint.axes[1])]
    elif joint.kind == "ball":
        j = tree.addJoint(parent, pin.JointModelSpherical(), at, joint.name)
        tree.addJointFrame(j)
        return int(j)
    else:
        hinges = [(joint.kind, joint.name, joint.axes[0])]
    for kind, name, axis in reversed(hinges) if backwards else hinges:
        direction = -axis.direction if backwards else axis.direction
        model = joint_model(LETTERS[kind], direction, joint.lead)
        j = tree.addJoint(parent, model, at, name, *_bounds(axis))
        tree.addJointFrame(j)
        tree.damping[tree.joints[j].idx_v] = axis.damping
        tree.friction[tree.joints[j].idx_v] = axis.friction
        parent, at = j, pin.SE3.Identity()
    return int(parent)


def _bounds(axis: Axis) -> tuple[np.ndarray, ...]:
    """Return effort, velocity, lower and upper limit as Pinocchio has them."""
    given = axis.effort, axis.velocity, axis.lower, axis.upper
    return tuple(np.array([math.copysign(UNLIMITED, x) if math.isinf(x) else x]) for x in given)
