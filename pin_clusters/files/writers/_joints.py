"""Joints of Pinocchio as chains of what file formats know: hinges, slides, free joints, planes and balls."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, in_v
from ...constraints._frames import resolve_frame
from ...errors import UnsupportedJointError

WHOLE = {"JointModelFreeFlyer": "free", "JointModelPlanar": "planar", "JointModelSpherical": "ball"}
"""Joints that stay one, by their names in Pinocchio."""
CHAINS = ("JointModelTranslation", "JointModelUniversal", "JointModelSphericalZYX")
"""Joints whose coordinates are those of hinges and slides in a row."""
UNLIMITED = float(np.finfo(float).max)


@dataclass(frozen=True, eq=False)
class Part:
    """One joint of a chain."""

    name: str  # of the joint; the last part bears the name of the whole
    kind: str  # ``"hinge"``, ``"slide"``, ``"free"``, ``"planar"`` or ``"ball"``
    axis: np.ndarray  # unit vector in the frame of the part, shape (3,); zeros where there is none
    placement: pin.SE3  # in the frame of the part before it, or of the parent's joint
    turns: bool  # whether its coordinates are cosine and sine
    at_q: range  # indices in the tree's q
    at_v: range  # indices in the tree's v


def parts_of(tree: pin.Model, j: int, where: str) -> list[Part]:
    """Return a joint of a tree as a chain of parts; refuse what ``where`` (``"URDF"``, ``"MJCF"``) cannot say."""
    parts = _parts(tree.joints[j], tree.names[j], where)
    count, at_q, at_v = len(parts), in_q(tree, j).start, in_v(tree, j).start
    found = []
    for k, (kind, axis, placement, nq, nv) in enumerate(parts):
        name = tree.names[j] if k == count - 1 else f"{tree.names[j]}_{k + 1}"
        turns = kind == "hinge" and nq == 2
        found.append(Part(name, kind, axis, placement, turns, range(at_q, at_q + nq), range(at_v, at_v + nv)))
        at_q, at_v = at_q + nq, at_v + nv
    return [replace(found[0], placement=tree.jointPlacements[j] * found[0].placement), *found[1:]]


_Simple = tuple[str, np.ndarray, pin.SE3, int, int]


def _parts(joint: pin.JointModel, name: str, where: str) -> list[_Simple]:
    kind, here = joint.shortname(), pin.SE3.Identity()
    if kind in WHOLE:
        return [(WHOLE[kind], np.zeros(3), here, joint.nq, joint.nv)]
    if kind == "JointModelComposite":
        inner = joint.extract() if hasattr(joint, "extract") else joint
        chain: list[_Simple] = []
        for part, placement in zip(inner.joints, inner.jointPlacements, strict=True):
            first, *rest = _parts(part, name, where)
            chain += [(first[0], first[1], placement * first[2], *first[3:]), *rest]
        return chain
    if joint.nv == 1 or kind in CHAINS:
        S = _subspace(joint)
        if all(np.any(column[:3]) != np.any(column[3:]) for column in S.T):
            simple = [("slide", c[:3]) if np.any(c[:3]) else ("hinge", c[3:]) for c in S.T]
            return [(what, axis, here, joint.nq // joint.nv, 1) for what, axis in simple]
    raise UnsupportedJointError(
        f"joint {name!r} is a {kind}, which {where} cannot express: it knows hinges, slides, "
        + ("floating and planar joints" if where == "URDF" else "free, planar and ball joints")
        + ". Split it into such joints, or export in another format."
    )


def _subspace(joint: pin.JointModel) -> np.ndarray:
    """Return the motion subspace at zero, shape (6, nv); by a model of it, as not all kinds hand out their own."""
    alone = pin.Model()
    alone.addJoint(0, joint, pin.SE3.Identity(), "joint")
    data = alone.createData()
    pin.computeJointJacobians(alone, data, pin.neutral(alone))
    return np.array(pin.getJointJacobian(alone, data, 1, pin.LOCAL)).reshape(6, -1)


class Place(NamedTuple):
    """A frame on a body."""

    joint: int  # id of the joint that moves the body; 0 is the universe
    placement: pin.SE3  # in the frame of that joint


def place_of(tree: pin.Model, frame: Any, owner: str) -> Place:
    """Return where a frame is: a name, or a name and a placement, as constraints keep them."""
    return Place(*resolve_frame(tree, frame, owner))
