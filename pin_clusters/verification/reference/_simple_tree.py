"""Replace joints of the expanded tree whose motion subspace depends on their own coordinates.

Pinocchio's derivatives assume a constant motion subspace in the joint frame. Universal, ZYX and composite joints
violate this assumption; ``computeRNEADerivatives`` then returns wrong results without an error. This module replaces
these joints by chains of simple joints and massless bodies, with the same q and v.
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
    """The expanded tree with additional joints, but with the same q and v."""

    tree: pin.Model  # depth-first; treat it as read-only
    span: SpanningTree  # the expanded tree from which ``tree`` was built
    ids: np.ndarray  # by joint of the user's tree: its id in ``tree`` (chains: the last id), shape (njoints,)


@lru_cache(maxsize=16)
def simple_tree(model: ClusterModel) -> SimpleTree:
    span = expanded(model)
    old, tree = span.tree, pin.Model()
    tree.gravity = old.gravity
    last = np.zeros(old.njoints, dtype=np.int64)
    for j in range(1, old.njoints):
        parent = int(last[old.parents[j]])
        for n, (joint, where) in enumerate(_parts(old.joints[j], old.jointPlacements[j])):
            parent = tree.addJoint(parent, joint, where, f"{old.names[j]}, part {n}")
        tree.appendBodyToJoint(parent, old.inertias[j], pin.SE3.Identity())
        # Assign the inertia directly, because pin.Inertia rejects links from which a rotor was removed.
        tree.inertias[parent] = old.inertias[j]
        last[j] = parent
    assert (tree.nq, tree.nv) == (old.nq, old.nv)
    tree.armature = np.array(old.armature)
    return SimpleTree(tree, span, last[span.from_tree_id])


def _parts(joint: pin.JointModel, placement: pin.SE3) -> Iterator[tuple[pin.JointModel, pin.SE3]]:
    """Yield the joints and placements of an equivalent chain of joints with constant motion subspaces."""
    kind = joint.shortname()
    if kind.endswith("Composite"):
        inner = joint.extract() if hasattr(joint, "extract") else joint
        for n, (part, part_placement) in enumerate(zip(inner.joints, inner.jointPlacements, strict=True)):
            yield from _parts(part, part_placement if n else placement * part_placement)
    elif kind.endswith(("SphericalZYX", "Universal")):
        data = joint.createData()
        joint.calc(data, np.zeros(max(joint.idx_q, 0) + joint.nq))
        # At zero coordinates, no axis is rotated. The columns are therefore the axes, beginning with the outer axis.
        for n, axis in enumerate(np.asarray(data.S)[3:].T):
            yield pin.JointModelRevoluteUnaligned(axis), pin.SE3.Identity() if n else placement
    else:
        yield joint, placement
