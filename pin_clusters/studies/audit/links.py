"""Compute the reflected inertia in link coordinates for differentials whose independent joints are motors.

D(q) contains the rows of G (v_tree = G v) for the links' joints. The inertia B in motor coordinates becomes
``D^-T B D^-1`` in link coordinates. This matrix depends on the configuration and couples the joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model import Cluster, ClusterModel
from ..pages.results import Result, told

_SINGULAR = 1e6  # condition number above which the map from motor to link velocities counts as singular


@dataclass(frozen=True, eq=False)
class LinkSide(Result):
    """Reflected inertia of the motors of one cluster, in the joint coordinates of the links that the motors move."""

    joints: tuple[str, ...]  # names of the links' joints
    motors: tuple[str, ...]  # names of the motors' joints
    reference: np.ndarray  # inertia in the reference pose, shape (n, n), [kg m^2]
    along: np.ndarray  # inertia along the motion, shape (poses, n, n), [kg m^2]

    def as_dict(self) -> dict[str, Any]:
        low, high = self.along.min(axis=0), self.along.max(axis=0)
        return told(self, "joints motors reference", min=low.tolist(), max=high.tolist())


def link_sides(
    model: ClusterModel, reference: tuple[np.ndarray, np.ndarray], along: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[LinkSide, ...]:
    sides, tree = [], model.tree
    for cluster in model.clusters:
        joints = _links(model, cluster)
        if not joints:
            continue
        rows = [tree.idx_vs[tree.getJointId(name)] for name in joints]
        columns = [model.joint_idx_v(name) for name in cluster.independent]
        matrices = [_seen(rows, columns, G, B) for G, B in (reference, *along)]
        if any(M is None for M in matrices):
            continue  # in some poses, the motors do not determine the link velocities
        sides.append(LinkSide(joints, cluster.independent, np.asarray(matrices[0]), np.array(matrices[1:])))
    return tuple(sides)


def _links(model: ClusterModel, cluster: Cluster) -> tuple[str, ...]:
    rotors = {r.name for r in model.rotors if r.joint_id is not None}
    joints = tuple(name for name in cluster.dependent if name not in rotors)
    return joints if rotors.issuperset(cluster.independent) and len(joints) == len(cluster.independent) else ()


def _seen(rows: list[int], columns: list[int], G: np.ndarray, B: np.ndarray) -> np.ndarray | None:
    D = G[np.ix_(rows, columns)]
    if not np.linalg.cond(D) < _SINGULAR:
        return None
    inverse = np.linalg.inv(D)
    return np.asarray(inverse.T @ B[np.ix_(columns, columns)] @ inverse)
