"""Functions that build a ``pin.Model``: create joints with any axis, place bodies, and change the types of joints."""

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

import numpy as np
import pinocchio as pin

from ..._support.trees import copy_fields

T = TypeVar("T", bound=Hashable)
ROOT_JOINT_NAME = "root_joint"
UNLIMITED = float(np.finfo(float).max)
"""Pinocchio's number for "no limit"; before Pinocchio 4, models with infinite numbers cannot be pickled."""


def joint_model(kind: str, axis: np.ndarray, pitch: float = 0.0, tolerance: float = 0.0) -> pin.JointModel:
    """Build a joint with one degree of freedom along a unit vector; for axis x, y or z, use Pinocchio's special type.

    ``kind`` is ``"R"`` (hinge), ``"P"`` (slide), ``"H"`` (screw with ``pitch``, [m/rad]) or ``"RUB"`` (hinge with
    cosine and sine). A vector that deviates by at most ``tolerance`` from a coordinate axis counts as this axis.
    """
    numbers = (pitch,) if kind == "H" else ()
    for letter, along in zip("XYZ", np.eye(3), strict=True):
        if np.abs(axis - along).max() <= tolerance:
            aligned: Callable[..., pin.JointModel] = getattr(pin, f"JointModel{kind}{letter}")
            return aligned(*numbers)
    unaligned: dict[str, Callable[..., pin.JointModel]] = {
        "R": pin.JointModelRevoluteUnaligned,
        "P": pin.JointModelPrismaticUnaligned,
        "H": pin.JointModelHelicalUnaligned,
        "RUB": _continuous,
    }
    return unaligned[kind](axis, *numbers)


def _continuous(axis: np.ndarray) -> pin.JointModel:
    """Build a joint about any axis with (cos, sin) as coordinates; Pinocchio's constructor does not take an axis."""
    numbers = " ".join(map(repr, axis.tolist()))
    return pin.buildModelFromXML(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="{numbers}"/></joint></robot>'
    ).joints[1]


def like(model: pin.Model) -> pin.Model:
    """Build a model without joints, with the name, gravity and fixed bodies of another model."""
    tree = pin.Model()
    tree.name, tree.gravity = model.name, model.gravity
    tree.inertias[0] = model.inertias[0]
    return tree


class Places(Generic[T]):
    """A tree under construction and the placements of the file's bodies; ``world`` is the key of the world body."""

    def __init__(self, world: T) -> None:
        self.tree = pin.Model()
        self.joint: dict[T, int] = {world: 0}  # id of the joint that moves each body
        self.place: dict[T, pin.SE3] = {world: pin.SE3.Identity()}  # placement of each body in that joint's frame

    def put(self, body: T, name: str, j: int, placement: pin.SE3, above: int = -1) -> int:
        """Attach a body to joint ``j``; return the id of its new frame, whose parent frame has the id ``above``."""
        self.joint[body], self.place[body] = j, placement
        return int(self.tree.addBodyFrame(name, j, placement, above))

    def frame(self, body: T, in_body: pin.SE3) -> tuple[str, pin.SE3]:
        """Return a frame on a body as an argument for constraints: (name of the joint, placement)."""
        return self.tree.names[self.joint[body]], self.place[body] * in_body


def merged(groups: Iterable[Collection[T]]) -> list[set[T]]:
    union_of: dict[T, set[T]] = {}
    for group in groups:
        union = set(group)
        for smaller in {id(union_of[x]): union_of[x] for x in group if x in union_of}.values():
            union, smaller = (smaller, union) if len(smaller) > len(union) else (union, smaller)
            union |= smaller
            union_of.update(dict.fromkeys(smaller, union))
        union_of.update(dict.fromkeys(group, union))
    return list({id(union): union for union in union_of.values()}.values())


FIXED, BALL = "FIXED", "SPHERICAL"
HINGES = {f"UJOINT_{a}{b}": (a, b) for a, b in itertools.permutations("XYZ", 2)}
AXES = dict(zip("XYZ", np.eye(3), strict=True))
TYPES = (BALL, FIXED, *HINGES)


def with_joint_types(tree: pin.Model, types: Mapping[str, str]) -> pin.Model:
    """Change the types of joints; placements, bodies and frames do not change, and unknown joint names are ignored."""
    if not any(tree.existJointName(name) for name in types):
        return tree
    new = like(tree)
    ids = {0: 0}
    for j in range(1, tree.njoints):
        kind, name = types.get(tree.names[j], ""), tree.names[j]
        parent, placement = ids[int(tree.parents[j])], tree.jointPlacements[j]
        if kind in HINGES:
            first, last = HINGES[kind]
            parent = new.addJoint(parent, joint_model("R", AXES[first]), placement, f"{name}_{first}")
            new.addJointFrame(parent)
            ids[j] = new.addJoint(parent, joint_model("R", AXES[last]), pin.SE3.Identity(), f"{name}_{last}")
        elif kind == BALL:
            ids[j] = new.addJoint(parent, pin.JointModelSpherical(), placement, name)
        else:
            ids[j] = new.addJoint(parent, tree.joints[j], placement, name)
            copy_fields(tree, j, new, ids[j])
        new.inertias[ids[j]] = tree.inertias[j]
    for f in list(tree.frames)[1:]:
        name = f.name
        if f.type == pin.FrameType.JOINT and types.get(name) in HINGES:
            name = new.names[ids[f.parentJoint]]
        # Frame ids differ between the two trees, so Pinocchio determines the parent frame.
        new.addFrame(pin.Frame(name, ids[f.parentJoint], f.placement, f.type), False)
    locked = [new.getJointId(name) for name, kind in types.items() if kind == FIXED and new.existJointName(name)]
    return pin.buildReducedModel(new, locked, pin.neutral(new)) if locked else new
