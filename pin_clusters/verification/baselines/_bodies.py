"""The expanded tree as bodies and primitive joints, for the compiled baselines."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ..._support.trees import joint_subspace
from ...errors import UnsupportedJointError
from ...model import ClusterModel, SpanningTree
from ._compiled import fields

_WHOLE = {"FreeFlyer": (fields.FREEFLYER, 6), "Spherical": (fields.SPHERICAL, 3), "Planar": (fields.PLANAR, 3)}


@dataclass
class Primitive:
    """One turn or shift of a joint, or one of the three joints that are none of these.

    Attributes:
        kind: See ``fields``.
        placement: In the frame of the primitive before, or of the parent's body.
        axis: Of a joint of one degree of freedom, shape (3,).
        pitch: Of a helical joint, [m/rad]; 1 of one that slides.
        q: First index in the user's q, -1 for a rotor at angle 0.
        nv: Degrees of freedom.
    """

    kind: int
    placement: pin.SE3
    axis: np.ndarray
    pitch: float
    q: int
    nv: int


@dataclass
class Body:
    """A body and the joint that moves it.

    Attributes:
        name: Of the joint.
        parent: Number of the body before it; 0 is the universe.
        user: Joint id in the user's tree, -1 if it has none.
        first: First velocity of its joint in the tree's v.
        joint: Its primitives.
        inertia: About the origin of its frame, [linear; angular], shape (6, 6).
        armature: Of each velocity.
        lump: The same after lending.
        share: Mass and transverse inertia that the parent lends.
        borrowed: Diagonal of inertia that is not there, which rows of the system take back, shape (6,).
    """

    name: str
    parent: int
    user: int
    first: int
    joint: list[Primitive]
    inertia: np.ndarray
    armature: np.ndarray
    lump: np.ndarray
    share: np.ndarray = field(default_factory=lambda: np.zeros(2))
    borrowed: np.ndarray = field(default_factory=lambda: np.zeros(6))

    @property
    def nv(self) -> int:
        """Degrees of freedom of its joint."""
        return sum(p.nv for p in self.joint)

    @property
    def motion(self) -> np.ndarray | None:
        """Motions of its joint in the frame of the body, shape (6, nv); None if they depend on q."""
        if not self.joint:
            return np.zeros((6, 0))
        p = self.joint[0]
        if len(self.joint) > 1:
            # shifts one behind the other, with frames that stand still
            if all(p.kind == fields.PRISMATIC for p in self.joint):
                axes, turned = [], np.eye(3)
                for p in self.joint[::-1]:
                    axes.append(turned @ p.axis)
                    turned = turned @ p.placement.rotation.T
                return np.vstack([np.array(axes[::-1]).T, np.zeros((3, len(axes)))])
            return None
        columns = {
            fields.FREEFLYER: np.eye(6),
            fields.SPHERICAL: np.eye(6)[:, 3:],
            fields.PLANAR: np.eye(6)[:, [0, 1, 5]],
            fields.PRISMATIC: np.concatenate([p.axis, np.zeros(3)])[:, None],
        }
        return columns.get(p.kind, np.concatenate([p.pitch * p.axis, p.axis])[:, None])

    @property
    def turns(self) -> np.ndarray | None:
        """Axis of a joint that only turns about one through the origin of the body; None of any other."""
        if len(self.joint) == 1 and self.joint[0].kind in (fields.REVOLUTE, fields.CONTINUOUS):
            return self.joint[0].axis
        return None


def bodies_of(model: ClusterModel, span: SpanningTree) -> list[Body]:
    """Return the universe and the bodies of the expanded tree, parents first.

    Raises:
        UnsupportedJointError: A joint is of a type that is not known here.
    """
    tree = span.tree
    user = np.full(tree.njoints, -1)
    user[span.from_tree_id] = np.arange(model.njoints)
    at_q = np.full(tree.nq, -1)
    at_q[span.from_tree_q] = np.arange(model.nq)
    found = [Body("universe", 0, 0, 0, [], np.zeros((6, 6)), np.zeros(0), np.zeros((6, 6)))]
    for j in range(1, tree.njoints):
        joint = tree.joints[j]
        q = int(at_q[joint.idx_q]) if joint.nq else 0
        parts = _primitives(joint, tree.jointPlacements[j], q, tree.names[j])
        inertia, armature = tree.inertias[j].matrix(), np.array(tree.armature)[joint.idx_v : joint.idx_v + joint.nv]
        names = tree.names[j], int(tree.parents[j]), int(user[j])
        found.append(Body(*names, joint.idx_v, parts, inertia, armature, inertia.copy()))
    return found


def _primitives(joint: pin.JointModel, placement: pin.SE3, q: int, name: str) -> list[Primitive]:
    kind, eye = joint.shortname(), np.eye(3)
    inner = joint.extract() if hasattr(joint, "extract") else joint
    if "Composite" in kind:
        found: list[Primitive] = []
        for sub, at in zip(inner.joints, inner.jointPlacements, strict=True):
            found += _primitives(sub, at if found else placement * at, q, name)
            q += sub.nq
        return found
    for ending, (whole, nv) in _WHOLE.items():
        if kind.endswith(ending):
            return [Primitive(whole, placement, eye[2], 0.0, q, nv)]
    chains: dict[str, tuple[int, tuple[np.ndarray, ...]]] = {
        "SphericalZYX": (fields.REVOLUTE, (eye[2], eye[1], eye[0])),
        "Translation": (fields.PRISMATIC, (eye[0], eye[1], eye[2])),
    }
    if kind.endswith("Universal"):
        chains["Universal"] = (fields.REVOLUTE, (np.array(inner.axis1), np.array(inner.axis2)))
    for ending, (own, axes) in chains.items():
        if kind.endswith(ending):
            places = [placement, *[pin.SE3.Identity()] * (len(axes) - 1)]
            pitch = float(own == fields.PRISMATIC)
            return [Primitive(own, at, x, pitch, q + i, 1) for i, (at, x) in enumerate(zip(places, axes, strict=True))]
    motion = joint_subspace(joint)
    if motion is None or "Mimic" in kind:
        raise UnsupportedJointError(f"joint {name!r} is a {kind}, which this baseline does not know.")
    linear, angular = motion[:3], motion[3:]
    if not np.any(angular):
        return [Primitive(fields.PRISMATIC, placement, linear, 1.0, q, 1)]
    pitch = float(linear @ angular)
    if joint.nq == 2:
        return [Primitive(fields.CONTINUOUS, placement, angular, 0.0, q, 1)]
    return [Primitive(fields.HELICAL if pitch else fields.REVOLUTE, placement, angular, pitch, q, 1)]
