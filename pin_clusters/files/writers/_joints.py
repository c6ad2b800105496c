"""Convert Pinocchio joints to joints that file formats support: hinges, slides, free, planar and ball joints."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, in_v
from ...constraints._frames import resolve_frame
from ...errors import UnsupportedJointError

WHOLE = {"JointModelFreeFlyer": "free", "JointModelPlanar": "planar", "JointModelSpherical": "ball"}
"""Joint type in the file, for each Pinocchio joint that is written as a single joint."""
CHAINS = ("JointModelTranslation", "JointModelUniversal", "JointModelSphericalZYX")
"""Joints whose coordinates equal the coordinates of a chain of hinges and slides."""
UNLIMITED = float(np.finfo(float).max)


@dataclass(frozen=True, eq=False)
class Part:
    name: str  # the last part has the name of the Pinocchio joint
    kind: str  # ``"hinge"``, ``"slide"``, ``"free"``, ``"planar"`` or ``"ball"``
    axis: np.ndarray  # unit vector in the frame of the part, shape (3,); zeros for joints without an axis
    placement: pin.SE3  # relative to the preceding part; for the first part, relative to the parent's joint
    turns: bool  # True if its coordinates are cosine and sine
    at_q: range  # indices in the tree's q
    at_v: range  # indices in the tree's v


def parts_of(tree: pin.Model, j: int, where: str) -> list[Part]:
    """Split a joint into a chain of parts; raise an error if ``where`` (``"URDF"`` or ``"MJCF"``) cannot contain it."""
    parts = _parts(tree.joints[j], tree.names[j], where)
    count, at_q, at_v = len(parts), in_q(tree, j).start, in_v(tree, j).start
    chain = []
    for k, (kind, axis, placement, nq, nv) in enumerate(parts):
        name = tree.names[j] if k == count - 1 else f"{tree.names[j]}_{k + 1}"
        turns = kind == "hinge" and nq == 2
        chain.append(Part(name, kind, axis, placement, turns, range(at_q, at_q + nq), range(at_v, at_v + nv)))
        at_q, at_v = at_q + nq, at_v + nv
    return [replace(chain[0], placement=tree.jointPlacements[j] * chain[0].placement), *chain[1:]]


_Simple = tuple[str, np.ndarray, pin.SE3, int, int]


def _parts(joint: pin.JointModel, name: str, where: str) -> list[_Simple]:
    kind, identity = joint.shortname(), pin.SE3.Identity()
    if kind in WHOLE:
        return [(WHOLE[kind], np.zeros(3), identity, joint.nq, joint.nv)]
    if kind == "JointModelComposite":
        inner = joint.extract() if hasattr(joint, "extract") else joint
        chain: list[_Simple] = []
        for part, placement in zip(inner.joints, inner.jointPlacements, strict=True):
            first, *further = _parts(part, name, where)
            chain += [(first[0], first[1], placement * first[2], *first[3:]), *further]
        return chain
    if joint.nv == 1 or kind in CHAINS:
        S = _subspace(joint)
        if all(np.any(column[:3]) != np.any(column[3:]) for column in S.T):
            simple = [("slide", c[:3]) if np.any(c[:3]) else ("hinge", c[3:]) for c in S.T]
            return [(part_kind, axis, identity, joint.nq // joint.nv, 1) for part_kind, axis in simple]
    raise UnsupportedJointError(
        f"joint {name!r} is a {kind}, which {where} does not support; it supports hinges, slides, "
        + ("floating and planar joints" if where == "URDF" else "free, planar and ball joints")
        + ". Split the joint into supported joints, or export the model in another format."
    )


def _subspace(joint: pin.JointModel) -> np.ndarray:
    """Compute the motion subspace at q = 0, shape (6, nv), from a model, because some joint types do not provide it."""
    model = pin.Model()
    model.addJoint(0, joint, pin.SE3.Identity(), "joint")
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    return np.array(pin.getJointJacobian(model, data, 1, pin.LOCAL)).reshape(6, -1)


class Place(NamedTuple):
    joint: int  # id of the joint that moves the body; 0 is the universe
    placement: pin.SE3  # in the frame of that joint


def place_of(tree: pin.Model, frame: Any, owner: str) -> Place:
    return Place(*resolve_frame(tree, frame, owner))
