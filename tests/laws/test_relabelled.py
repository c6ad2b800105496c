"""Another order and other names of the joints change nothing but where numbers stand."""

from __future__ import annotations

import numpy as np
import pytest
from samples import pool
from support.tolerances import BACKWARD, EXACT, backward, inverse_residual, relative

import pin_clusters as pc


@pytest.mark.parametrize("rename", [False, True])
@pool.each(pool.TREES, jitless=False)
def test_relabelled_joints_give_the_same_physics(key: pool.Key, rename: bool, rng: np.random.Generator) -> None:
    """Another order and other names of the joints: entries move, and nothing else changes."""
    c, model, one, q, v, a, fext = pool.state(key, rng)
    names = (lambda n: f"x_{n}_{len(n)}") if rename else (lambda n: n)
    other = c.robot.build("shuffled", rng, names)
    fext[0] = 5.0 * rng.normal(size=6)  # on the universe, which feels nothing
    q2, v2, a2, fext2 = np.zeros(other.nq), np.zeros(other.nv), np.zeros(other.nv), np.zeros((other.njoints, 6))
    move = np.zeros(model.nv, dtype=int)
    for name in model.names[1:]:
        old, new = model.tree.joints[model.getJointId(name)], other.tree.joints[other.getJointId(names(name))]
        q2[new.idx_q : new.idx_q + new.nq] = q[old.idx_q : old.idx_q + old.nq]
        fext2[other.getJointId(names(name))] = fext[model.getJointId(name)]
        if name in model.independent_joints:
            i, k = model.joint_idx_v(name), other.joint_idx_v(names(name))
            move[i : i + old.nv] = np.arange(k, k + old.nv)
    assert sorted(c.output_body for c in other.clusters) == sorted(
        names(c.output_body) if c.output_body != "universe" else "universe" for c in model.clusters
    )
    v2[move], a2[move] = v, a
    two = other.createData()
    tau = pc.rnea(model, one, q, v, a, fext)
    assert relative(pc.rnea(other, two, q2, v2, a2, fext2)[move], tau) <= EXACT
    M = pc.crba(model, one, q)
    assert relative(pc.crba(other, two, q2)[np.ix_(move, move)], M) <= EXACT
    h = pc.rnea(model, one, q, v, np.zeros(model.nv), fext)
    tau2 = np.zeros(model.nv)
    tau2[move] = tau
    assert backward(M, pc.aba(other, two, q2, v2, tau2, fext2)[move], h, tau) <= 2.0 * BACKWARD
    # without forces aba goes branch by branch, which shuffled joints are not numbered by
    h = pc.rnea(model, one, q, v, np.zeros(model.nv))
    assert backward(M, pc.aba(other, two, q2, v2, tau2)[move], h, tau) <= 2.0 * BACKWARD
    Minv = pc.computeMinverse(other, two, q2)[np.ix_(move, move)]
    assert inverse_residual(Minv, M) <= 2.0 * BACKWARD
    assert abs(pc.computeKineticEnergy(other, two, q2, v2) - pc.computeKineticEnergy(model, one, q, v)) <= EXACT * (
        v @ M @ v
    )
