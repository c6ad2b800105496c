"""The mass matrix: symmetric, positive definite, the kinetic energy's, and the torques of unit accelerations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.tolerances import EXACT, relative

import pin_clusters as pc


@pool.each()
def test_mass_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    model, data, q, v = s[1:5]
    M = pc.crba(model, data, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    tree = s.case.robot is not None
    T = 0.5 * float(v @ M @ v)
    assert pc.computeKineticEnergy(model, data, q, v) == pytest.approx(T, rel=EXACT if tree else 1e-11, abs=0.0)
    light = pool.weightless(model)
    free, zero = light.createData(), 0.0 * v
    columns = np.stack([pc.rnea(light, free, q, zero, e) for e in np.eye(model.nv)], axis=1)
    if tree:
        assert relative(columns, M) <= EXACT
    else:
        assert pool.error(columns, M) < s.case.rounding
    terms, nle = model.createData(), pc.nonLinearEffects(model, data, q, v).copy()
    pc.computeAllTerms(model, terms, q, v)
    assert pool.error(terms.M, M) < s.case.rounding
    assert pool.error(terms.nle, nle) < s.case.rounding


@pytest.mark.jitless
@pytest.mark.parametrize("parents", [("knee", "ankle"), ("ankle", "knee")])
def test_what_hangs_below_a_part_of_a_cluster(parents: tuple[str, str], rng: np.random.Generator) -> None:
    # knee and ankle are one cluster; the shank is moved by the knee alone, the foot by both
    leg = pc.load("mit_humanoid_leg")
    tree = leg.tree.copy()
    for parent in parents:
        joint = next(j for j in range(1, tree.njoints) if tree.names[j] == parent)
        place = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 0.5), np.array([0.05, -0.02, -0.1]))
        below = tree.addJoint(joint, pin.JointModelRY(), place, f"below {parent}")
        tree.appendBodyToJoint(below, pin.Inertia.FromSphere(0.7, 0.1), place)
    model = pc.ClusterModel(tree, leg.constraints)
    data, oracle = model.createData(), pc.baselines.projection.createData(model)
    for _ in range(3):
        q = pc.randomConfiguration(model)
        v, x = rng.normal(size=(2, model.nv))
        M = pc.crba(model, data, q)
        assert relative(M, pc.baselines.projection.crba(model, oracle, q)) <= EXACT
        assert relative(pc.computeMinverse(model, data, q) @ M, np.eye(model.nv)) <= 1e-9  # times cond(M)
        tau = pc.rnea(model, data, q, v, x)
        assert relative(tau, pc.baselines.projection.rnea(model, oracle, q, v, x)) <= EXACT
        assert relative(pc.aba(model, data, q, v, tau), x) <= 1e-9


@pytest.mark.jitless
@pytest.mark.parametrize("joints", [("left", "right"), ("left", "right", "middle")])
def test_branches_that_one_rotor_ties(joints: tuple[str, ...], rng: np.random.Generator) -> None:
    # one cluster, but each column moves one body: a column must not act where it does not move
    tree = pin.Model()
    place = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 0.5), np.array([0.25, -0.12, -0.1]))
    base = tree.addJoint(0, pin.JointModelRZ(), place, "base")
    tree.appendBodyToJoint(base, pin.Inertia.FromSphere(2.0, 0.2), place)
    for name, kind in zip(joints, (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()), strict=False):
        joint = tree.addJoint(base, kind, place, name)
        tree.appendBodyToJoint(joint, pin.Inertia.FromSphere(0.7, 0.1), place)
        below = tree.addJoint(joint, pin.JointModelRY(), place, f"below {name}")
        tree.appendBodyToJoint(below, pin.Inertia.FromSphere(0.4, 0.1), place)
    rotor = pc.Rotor(joints, [6.0, -4.0, 3.0][: len(joints)], axial_inertia=2e-3, carrier="base")
    model = pc.ClusterModel(tree, [rotor])
    data, oracle = model.createData(), pc.baselines.projection.createData(model)
    q = pc.randomConfiguration(model)
    v, tau = rng.normal(size=(2, model.nv))
    M = pc.baselines.projection.crba(model, oracle, q)
    a = pc.baselines.projection.aba(model, oracle, q, v, tau)
    assert relative(pc.crba(model, data, q), M) <= EXACT
    assert relative(pc.rnea(model, data, q, v, a), tau) <= 1e-11  # times cond(M)
    assert relative(pc.aba(model, data, q, v, tau), a) <= 1e-11
    assert relative(pc.computeMinverse(model, data, q), np.linalg.inv(M)) <= 1e-11
