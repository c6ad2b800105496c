"""What ties a cluster with loops, and which clusters look alike: the legs of a robot."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pinocchio as pin

from ..._support.trees import in_v
from ...constraints.closures import Closure, JointClosure
from ...constraints.rows import Row


@dataclass(frozen=True, eq=False)
class ClusterLoops:
    """What ties one cluster.

    Attributes:
        joints: Joint ids.
        closures: Implicit equations.
        rows: Couplings, masters before dependents.
        independent: Joint ids that shall be independent; empty: choose.
    """

    joints: tuple[int, ...]
    closures: tuple[Closure, ...]
    rows: tuple[Row, ...]
    independent: tuple[int, ...] = ()


def shape(tree: pin.Model, cluster: ClusterLoops) -> Hashable:
    """Return what mirror images have in common: sizes of joints, who carries whom, who is tied to whom."""
    place = {j: i for i, j in enumerate(sorted(cluster.joints))}

    def at(j: int) -> int:
        return place.get(int(j), -1)

    joints = tuple((tree.nqs[j], tree.nvs[j], at(tree.parents[j])) for j in place)
    ends = tuple(
        (type(c).__name__, c.size, tuple(map(at, c.joints if isinstance(c, JointClosure) else c.bodies)))
        for c in cluster.closures
    )
    return joints, ends, tuple((at(row.dependent), tuple(map(at, row.masters))) for row in cluster.rows)


def places_of(tree: pin.Model, joints: Sequence[int], velocities: Sequence[int]) -> tuple[int, ...]:
    """Return the places, in a cluster, of the joints that have some velocities of the tree."""
    return tuple(i for i, j in enumerate(sorted(joints)) if set(in_v(tree, j)) & set(velocities))
