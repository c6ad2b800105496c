"""The expanded tree and the depth-first copy."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.tolerances import EXACT, relative

from pin_clusters.model.expansion import depth_first, expand


@pytest.mark.jitless
@pytest.mark.parametrize("seed", range(10))
def test_expanded_tree(seed: int, rng: np.random.Generator) -> None:
    robot = trees.random_robot(rng, 7, floating=bool(seed % 2), couplings=2, rotor_bodies=3, rotors=3)
    model = robot.build("shuffled", rng)
    span = expand(model)
    massless = [r for r in model.rotors if r.source is not None]
    assert span.tree.check(span.tree.createData())  # Pinocchio's own check that the order is depth-first
    assert span.tree.njoints == model.njoints + len(massless)
    # velocities, found from the positions on the couplings, and not from G
    q, v, _, fext = trees.random_state(model, rng)
    dt = 1e-6
    before, after = (
        span.configuration(
            trees.on_couplings(model, pin.integrate(model.tree, q, s * dt * (model.coupling_matrix @ v)))
        )
        for s in (-0.5, 0.5)
    )
    moved = pin.difference(span.tree, before, after) / dt
    for j in span.rotors:  # these have no position of their own
        moved[span.tree.joints[j].idx_v] = (span.G @ v)[span.tree.joints[j].idx_v]
    np.testing.assert_allclose(span.G @ v, moved, atol=1e-7)
    for j, r in zip(span.rotors, massless, strict=True):
        np.testing.assert_allclose(span.G[span.tree.joints[j].idx_v], r.row, atol=1e-14)
        assert span.tree.names[j] == r.name
        assert span.tree.names[span.tree.parents[j]] == r.carrier
    np.testing.assert_array_equal(span.G[span.from_tree_v], model.coupling_matrix)
    # poses are the user's
    mine, theirs = span.tree.createData(), model.tree.createData()
    pin.forwardKinematics(span.tree, mine, span.configuration(q))
    pin.forwardKinematics(model.tree, theirs, q)
    for name in model.names[1:]:
        here, there = mine.oMi[span.joint_id(name)], theirs.oMi[model.getJointId(name)]
        np.testing.assert_allclose(here.homogeneous, there.homogeneous, atol=1e-13)
        np.testing.assert_array_equal(span.fext(fext)[span.joint_id(name)].vector, fext[model.getJointId(name)])


@pytest.mark.jitless
def test_depth_first_copy_keeps_everything(rng: np.random.Generator) -> None:
    robot = trees.random_tree(rng, 9, floating=True, chain=0.3)
    tree = robot.tree("shuffled", rng)
    assert not tree.check(tree.createData())
    tree.upperPositionLimit = np.arange(1.0, tree.nq + 1)
    tree.lowerPositionLimit = -np.arange(1.0, tree.nq + 1)
    tree.effortLimit = np.arange(1.0, tree.nv + 1)
    tree.referenceConfigurations["half"] = pin.integrate(tree, pin.neutral(tree), np.full(tree.nv, 0.5))
    copy = depth_first(tree)
    assert copy.check(copy.createData())
    assert [f.name for f in copy.frames] == [f.name for f in tree.frames]
    one, two = tree.createData(), copy.createData()
    v, v2, q2 = rng.normal(size=tree.nv), np.zeros(tree.nv), np.zeros(tree.nq)
    q = pin.integrate(tree, pin.neutral(tree), v)
    for name in list(tree.names)[1:]:
        old, new = tree.joints[tree.getJointId(name)], copy.joints[copy.getJointId(name)]
        a, b = slice(old.idx_q, old.idx_q + old.nq), slice(new.idx_q, new.idx_q + new.nq)
        q2[b] = q[a]
        for limits in ("lowerPositionLimit", "upperPositionLimit"):
            np.testing.assert_array_equal(getattr(copy, limits)[b], getattr(tree, limits)[a])
        half = [m.referenceConfigurations["half"][s] for m, s in ((tree, a), (copy, b))]
        np.testing.assert_array_equal(*half)
        a, b = slice(old.idx_v, old.idx_v + old.nv), slice(new.idx_v, new.idx_v + new.nv)
        v2[b] = v[a]
        np.testing.assert_array_equal(copy.effortLimit[b], tree.effortLimit[a])
        np.testing.assert_array_equal(copy.armature[b], tree.armature[a])
    assert relative(pin.computeKineticEnergy(copy, two, q2, v2), pin.computeKineticEnergy(tree, one, q, v)) < EXACT
    pin.framesForwardKinematics(tree, one, q)
    pin.framesForwardKinematics(copy, two, q2)
    for f, g in zip(one.oMf, two.oMf, strict=True):
        np.testing.assert_allclose(f.homogeneous, g.homogeneous, atol=1e-14)
    assert depth_first(copy) == copy
