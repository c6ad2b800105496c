"""Kernels finish one branch after the other, whatever the order of the joints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.tolerances import EXACT, relative

import pin_clusters as pc
from pin_clusters.model.packing import depth_first
from pin_clusters.verification import baselines


def alternating_branches(branches: int, links: int, rng: np.random.Generator) -> pin.Model:
    """Return a tree whose joints go from branch to branch: no two that follow each other are on the same one."""
    tree, ends = pin.Model(), [0] * branches
    for k in range(links):
        for b in range(branches):
            placement = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
            ends[b] = tree.addJoint(ends[b], pin.JointModelRX(), placement, f"branch_{b}_joint_{k}")
            tree.appendBodyToJoint(ends[b], pin.Inertia.Random(), pin.SE3.Identity())
    return tree


@pytest.mark.jitless
@pytest.mark.parametrize("forced", [False, True])
def test_joints_that_alternate_between_branches(forced: bool, rng: np.random.Generator) -> None:
    tree = alternating_branches(3, 3, rng)
    rotors = [pc.Rotor(f"branch_{b}_joint_1", 8.0, axial_inertia=1e-3) for b in range(3)]
    model = pc.ClusterModel(tree, [*rotors, pc.LinearCoupling("branch_2_joint_2", {"branch_2_joint_0": -1.5})])
    q, v = pc.randomConfiguration(model), rng.normal(size=model.nv)
    tau, fext = rng.normal(size=model.nv), rng.normal(size=(model.njoints, 6)) if forced else None
    a = baselines.projection.aba(model, baselines.projection.createData(model), q, v, tau, fext)
    # the condition of M is some hundred
    assert relative(pc.aba(model, model.createData(), q, v, tau, fext), a) <= 1e3 * EXACT
    if not forced:
        rows = pc.batch.aba(model, np.tile(q, (3, 1)), np.tile(v, (3, 1)), np.tile(tau, (3, 1)))
        assert relative(rows, np.tile(a, (3, 1))) <= 1e3 * EXACT


def test_depth_first_keeps_the_order_of_siblings() -> None:
    clusters = ((1,), (2, 6), (3,), (4,), (5,))
    assert depth_first(clusters, (0, 0, 1, 6, 3)) == [0, 2, 4, 1, 3]
