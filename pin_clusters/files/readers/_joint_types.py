"""Joints of a tree in the place of others: a hinge that stands for a ball joint, for a cross, or for none."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, in_v
from .mimic import POSITION_FIELDS, VELOCITY_FIELDS

FIXED, BALL = "FIXED", "SPHERICAL"
HINGES = {f"UJOINT_{a}{b}": a + b for a, b in itertools.permutations("XYZ", 2)}
TYPES = (BALL, FIXED, *HINGES)


def with_joint_types(tree: pin.Model, types: Mapping[str, str]) -> pin.Model:
    """Return a tree in which some joints have another type; placements, bodies and frames stay where they are.

    Args:
        tree: Any tree; it is not changed.
        types: By joint, one of ``TYPES``; names that are no joints are left out.
    """
    if not any(tree.existJointName(name) for name in types):
        return tree
    new = pin.Model()
    new.name, new.gravity = tree.name, tree.gravity
    new.inertias[0] = tree.inertias[0]
    ids = {0: 0}
    for j in range(1, tree.njoints):
        kind, name = types.get(tree.names[j], ""), tree.names[j]
        parent, at = ids[int(tree.parents[j])], tree.jointPlacements[j]
        if kind in HINGES:
            first, last = HINGES[kind][0], HINGES[kind][1]
            parent = new.addJoint(parent, _hinge(first), at, f"{name}_{first}")
            new.addJointFrame(parent)
            ids[j] = new.addJoint(parent, _hinge(last), pin.SE3.Identity(), f"{name}_{last}")
        elif kind == BALL:
            ids[j] = new.addJoint(parent, pin.JointModelSpherical(), at, name)
        else:
            ids[j] = new.addJoint(parent, tree.joints[j], at, name)
            _copy_fields(tree, new, j, ids[j])
        new.inertias[ids[j]] = tree.inertias[j]
    for f in list(tree.frames)[1:]:
        name = f.name
        if f.type == pin.FrameType.JOINT and types.get(name) in HINGES:
            name = new.names[ids[f.parentJoint]]
        # parents of frames are set by name afterwards: the numbers of frames have changed
        new.addFrame(pin.Frame(name, ids[f.parentJoint], f.placement, f.type), False)
    locked = [new.getJointId(name) for name, kind in types.items() if kind == FIXED and new.existJointName(name)]
    return pin.buildReducedModel(new, locked, pin.neutral(new)) if locked else new


def _hinge(letter: str) -> pin.JointModel:
    model: pin.JointModel = getattr(pin, f"JointModelR{letter}")()
    return model


def _copy_fields(tree: pin.Model, new: pin.Model, j: int, k: int) -> None:
    for names, to, of in (
        (VELOCITY_FIELDS, in_v(new, k), in_v(tree, j)),
        (POSITION_FIELDS, in_q(new, k), in_q(tree, j)),
    ):
        for name in names:
            if hasattr(tree, name):
                values = np.array(getattr(new, name))
                values[list(to)] = np.asarray(getattr(tree, name))[list(of)]
                setattr(new, name, values)
