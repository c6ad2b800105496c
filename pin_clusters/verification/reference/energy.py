"""Compute kinetic and potential energy as sums over clusters and bodies."""

import numpy as np

from ...model import ClusterModel
from ._clusters import blocks, documented, expanded
from .operational import body_jacobians, placement_of


@documented
def computeKineticEnergy(model: ClusterModel, q: np.ndarray, v: np.ndarray) -> float:
    """Compute the kinetic energy V' I V / 2 of all bodies, including rotors and armature, [J]."""
    v = np.asarray(v, dtype=float)
    return float(0.5 * sum(b.V @ b.I @ b.V + v[b.columns] @ b.H @ v[b.columns] for b in blocks(model, q, v)))


@documented
def computePotentialEnergy(model: ClusterModel, q: np.ndarray) -> float:
    """Compute the potential energy -m g' c of all bodies, [J]; c is relative to the world origin."""
    tree, gravity = expanded(model).tree, model.gravity.linear
    energy = 0.0
    _, transforms = body_jacobians(model, blocks(model, q))
    for j in range(1, tree.njoints):
        R, p = placement_of(transforms[j])
        energy -= tree.inertias[j].mass * gravity @ (p + R @ tree.inertias[j].lever)
    return float(energy)
