"""Describe the expanded tree (every rotor is a body) by bodies and primitive joints, for the compiled baselines."""

from dataclasses import dataclass, field

import numpy as np

from ...model import ClusterModel, Primitive, SpanningTree, primitives_of
from ._compiled import fields


@dataclass
class Body:
    """A body and the joint that moves it."""

    name: str  # name of the joint
    parent: int  # index of the parent body; 0 is the universe
    user: int  # joint id in the user's tree; -1 for bodies that are not in this tree
    first: int  # index of the joint's first velocity in the tree's v
    joint: list[Primitive]  # chain of primitive joints that represents the joint
    inertia: np.ndarray  # inertia about the origin of the body frame, [linear; angular], shape (6, 6)
    armature: np.ndarray  # armature of each velocity, shape (nv,)
    lump: np.ndarray  # inertia after lending and borrowing (see ``_shares``), shape (6, 6)
    share: np.ndarray = field(default_factory=lambda: np.zeros(2))  # mass and transverse inertia lent by the parent
    borrowed: np.ndarray = field(default_factory=lambda: np.zeros(6))  # diagonal of fictitious inertia (``_shares``)

    @property
    def nv(self) -> int:
        return sum(p.nv for p in self.joint)

    @property
    def motion(self) -> np.ndarray | None:
        """Motion subspace of the joint in the body frame, shape (6, nv); None if it depends on q."""
        if not self.joint:
            return np.zeros((6, 0))
        if len(self.joint) > 1:
            # In a chain of prismatic joints, no joint changes the axes of the others.
            if all(p.kind == fields.PRISMATIC for p in self.joint):
                axes, turned = [], np.eye(3)
                for p in self.joint[::-1]:
                    axes.append(turned @ axis_of(p))
                    turned = turned @ p.placement.rotation.T
                return np.vstack([np.array(axes[::-1]).T, np.zeros((3, len(axes)))])
            return None
        p = self.joint[0]
        motion_rows = {fields.FREEFLYER: [0, 1, 2, 3, 4, 5], fields.SPHERICAL: [3, 4, 5], fields.PLANAR: [0, 1, 5]}
        if p.kind in motion_rows:
            return np.eye(6)[:, motion_rows[p.kind]]
        axis = axis_of(p)
        return np.concatenate([pitch_of(p) * axis, 0.0 * axis if p.kind == fields.PRISMATIC else axis])[:, None]

    @property
    def turns(self) -> np.ndarray | None:
        """Axis of the joint if it is a pure rotation about an axis through the body's origin, else None."""
        if len(self.joint) == 1 and self.joint[0].kind in (fields.REVOLUTE, fields.CONTINUOUS):
            return axis_of(self.joint[0])
        return None


def axis_of(p: Primitive) -> np.ndarray:
    """Return the axis, in the joint frame, of a primitive joint with one degree of freedom, shape (3,)."""
    return p.align[:, 2]


def pitch_of(p: Primitive) -> float:
    """Return the translation of a primitive joint per unit of its coordinate; 1 for prismatic joints."""
    return 1.0 if p.kind == fields.PRISMATIC else p.pitch


def bodies_of(model: ClusterModel, span: SpanningTree) -> list[Body]:
    """Return the universe and the bodies of the expanded tree; parents precede their children."""
    tree = span.tree
    user = np.full(tree.njoints, -1)
    user[span.from_tree_id] = np.arange(model.njoints)
    bodies = [Body("universe", 0, 0, 0, [], np.zeros((6, 6)), np.zeros(0), np.zeros((6, 6)))]
    for j in range(1, tree.njoints):
        joint, name = tree.joints[j], tree.names[j]
        parts = primitives_of(joint, tree.jointPlacements[j], name)
        inertia, armature = tree.inertias[j].matrix(), np.array(tree.armature)[joint.idx_v : joint.idx_v + joint.nv]
        ids = int(tree.parents[j]), int(user[j]), joint.idx_v
        bodies.append(Body(name, *ids, parts, inertia, armature, inertia.copy()))
    return bodies
