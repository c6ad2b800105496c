"""Energies, cluster by cluster."""

from __future__ import annotations

import numpy as np

from ...model import ClusterModel
from ._clusters import blocks, documented, expanded, velocities


@documented
def computeKineticEnergy(model: ClusterModel, q: np.ndarray, v: np.ndarray) -> float:
    """Compute the kinetic energy V' I V / 2 of all bodies, rotors and armature included, [J]."""
    v = np.asarray(v, dtype=float)
    clusters = blocks(model, q)
    V, _ = velocities(model, clusters, v)
    pairs = zip(clusters, V, strict=True)
    return float(0.5 * sum(W @ b.I @ W + v[b.columns] @ b.H @ v[b.columns] for b, W in pairs))


@documented
def computePotentialEnergy(model: ClusterModel, q: np.ndarray) -> float:
    """Compute the potential energy -m g' c of all bodies, [J]; zero where the centre of mass is at the origin."""
    tree, gravity = expanded(model).tree, model.gravity.linear
    # motion transforms from the world to the bodies: R and p of a body are read off X = [R', -R' [p]x; 0, R']
    world: list[np.ndarray] = []
    energy = 0.0
    for block in blocks(model, q):
        to_world = block.X @ (world[block.parent] if block.parent >= 0 else np.eye(6))
        world.append(to_world)
        for i, j in enumerate(block.bodies):
            X = to_world[6 * i : 6 * i + 6]
            rotation = X[:3, :3].T
            skew = -rotation @ X[:3, 3:]
            position = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
            body = tree.inertias[j]
            energy -= body.mass * gravity @ (position + rotation @ body.lever)
    return float(energy)
