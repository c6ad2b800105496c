"""The expanded tree without joints whose motion subspace turns with their own coordinates.

Pinocchio's derivatives take the motion subspace of a joint for constant in its own frame. That of universal, ZYX and
composite joints is not, and what ``computeRNEADerivatives`` returns for them is wrong without a word. They are chains
of joints for which it is right, so they become that: with bodies without mass between, and the same q and v.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pinocchio as pin

from ...model import ClusterModel, SpanningTree
from ._clusters import expanded


@dataclass(frozen=True, eq=False)
class SimpleTree:
    """The expanded tree with more joints, but the coordinates and velocities of the expanded tree."""

    tree: pin.Model  # depth-first. Treat it as read-only
    span: SpanningTree  # the expanded tree from which it was made
    ids: np.ndarray  # joint id in ``tree`` of each joint of the user's tree (the last one of a chain), shape (njoints,)


@lru_cache(maxsize=16)
def simple_tree(model: ClusterModel) -> SimpleTree:
    """Return the tree of a model, made once."""
    span = expanded(model)
    old, tree = span.tree, pin.Model()
    tree.gravity = old.gravity
    last = np.zeros(old.njoints, dtype=np.int64)
    for j in range(1, old.njoints):
        parent = int(last[old.parents[j]])
        for n, (joint, where) in enumerate(_parts(old.joints[j], old.jointPlacements[j])):
            parent = tree.addJoint(parent, joint, where, f"{old.names[j]}, part {n}")
        tree.appendBodyToJoint(parent, old.inertias[j], pin.SE3.Identity())
        # what the constructor of an inertia would refuse: a link from which a rotor was taken
        tree.inertias[parent] = old.inertias[j]
        last[j] = parent
    assert (tree.nq, tree.nv) == (old.nq, old.nv)
    tree.armature = np.array(old.armature)
    return SimpleTree(tree, span, last[span.from_tree_id])


def _parts(joint: pin.JointModel, placement: pin.SE3) -> Iterator[tuple[pin.JointModel, pin.SE3]]:
    """Yield joints with constant motion subspaces whose chain is this joint, each with its placement."""
    kind = joint.shortname()
    if kind.endswith("Composite"):
        inner = joint.extract() if hasattr(joint, "extract") else joint
        for n, (part, at) in enumerate(zip(inner.joints, inner.jointPlacements, strict=True)):
            yield from _parts(part, at if n else placement * at)
    elif kind.endswith(("SphericalZYX", "Universal")):
        data = joint.createData()
        joint.calc(data, np.zeros(max(joint.idx_q, 0) + joint.nq))
        # at zero, nothing of it is turned yet: the columns are the axes, the outer one first
        for n, axis in enumerate(np.asarray(data.S)[3:].T):
            yield pin.JointModelRevoluteUnaligned(axis), pin.SE3.Identity() if n else placement
    else:
        yield joint, placement
