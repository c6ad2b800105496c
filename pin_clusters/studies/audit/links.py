"""Reflected inertia as the links see it, where motors are the independent joints of a differential.

A serial robot in another simulator has the links' joints only. With D(q) the rows of G of these joints, the rotors'
inertia B in motor coordinates is ``D^-T B D^-1`` there: it changes with the configuration, and couples the joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import Cluster, ClusterModel
from ..pages.results import Result, told

_SINGULAR = 1e6


@dataclass(frozen=True, eq=False)
class LinkSide(Result):
    """Reflected inertia of the motors of one cluster, in the coordinates of the links they move.

    Attributes:
        joints: Names of the links' joints.
        motors: Names of the motors' joints.
        reference: In the reference pose, shape (n, n), [kg m^2].
        along: Along the motion, shape (poses, n, n).
    """

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    reference: np.ndarray
    along: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON."""
        low, high = self.along.min(axis=0), self.along.max(axis=0)
        return told(self, "joints motors reference", min=low.tolist(), max=high.tolist())


def link_sides(
    model: ClusterModel, reference: tuple[np.ndarray, np.ndarray], along: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[LinkSide, ...]:
    """Return the clusters whose independent joints are motors and that have as many other joints.

    G and B are given in the reference pose and along the motion.
    """
    found, tree = [], model.tree
    for cluster in model.clusters:
        joints = _links(model, cluster)
        if not joints:
            continue
        rows = [tree.idx_vs[tree.getJointId(name)] for name in joints]
        columns = [model.joint_idx_v(name) for name in cluster.independent]
        matrices = [_seen(rows, columns, G, B) for G, B in (reference, *along)]
        if any(M is None for M in matrices):
            continue  # the motors do not determine the links everywhere
        found.append(LinkSide(joints, cluster.independent, np.asarray(matrices[0]), np.array(matrices[1:])))
    return tuple(found)


def _links(model: ClusterModel, cluster: Cluster) -> tuple[str, ...]:
    """Return the joints of links that motors move through loops; none if the cluster is not of that kind."""
    rotors = {r.name for r in model.rotors if r.joint_id is not None}
    joints = tuple(name for name in cluster.dependent if name not in rotors)
    return joints if rotors.issuperset(cluster.independent) and len(joints) == len(cluster.independent) else ()


def _seen(rows: list[int], columns: list[int], G: np.ndarray, B: np.ndarray) -> np.ndarray | None:
    """Return B of the motors at ``columns`` of v as the links at ``rows`` of the tree's v see it; None if singular."""
    D = G[np.ix_(rows, columns)]
    if not np.linalg.cond(D) < _SINGULAR:
        return None
    inverse = np.linalg.inv(D)
    return np.asarray(inverse.T @ B[np.ix_(columns, columns)] @ inverse)
