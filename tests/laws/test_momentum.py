"""Momentum: that of all bodies, rotors among them; only gravity and forces change it; in flight it stays."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.motion import simulate
from support.tolerances import EXACT, MOMENTUM_DRIFT, relative

import pin_clusters as pc
from pin_clusters.model import expand

FREE = ("four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", 100, 105, 108, 109)


def momentum(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, *, spinning: bool = True) -> np.ndarray:
    """Total momentum in the world, [linear; angular about its origin], by Pinocchio with every rotor a body."""
    span = expand(model)
    full = span.G @ v
    if not spinning:
        for name in model.dependent_joints:
            full[span.tree.joints[span.joint_id(name)].idx_v] = 0.0
    data, full_q = span.tree.createData(), span.configuration(q)
    h = pin.computeCentroidalMomentum(span.tree, data, full_q, full).vector
    return np.concatenate([h[:3], h[3:] + np.cross(data.com[0], h[:3])])


@pool.each(pool.TREES, jitless=False)
def test_momentum_has_the_spin_of_the_rotors(key: pool.Key, rng: np.random.Generator) -> None:
    """The package's own centroidal momentum against the sum over all bodies, each rotor among them."""
    _, model, data, q, v, _, _ = pool.state(key, rng)
    h, com = pc.computeCentroidalMomentum(model, data, q, v).vector, pc.centerOfMass(model, data, q)
    about_origin = np.concatenate([h[:3], h[3:] + np.cross(com, h[:3])])
    assert relative(about_origin, momentum(model, q, v)) <= EXACT


def test_momentum_in_flight_is_kept(rng: np.random.Generator) -> None:
    """Without gravity nothing pushes: linear and angular momentum stay, if the rotors' spin is counted."""
    model = trees.geared_arm(floating=True).build().with_gravity(np.zeros(3))
    q, v, _, _ = trees.random_state(model, rng)
    v *= 3.0
    before = momentum(model, q, v)
    q2, v2 = simulate(model, q, v, 2e-4, 1000)
    assert np.abs(v2 - v).max() > 0.5
    assert relative(momentum(model, q2, v2), before) <= MOMENTUM_DRIFT
    drift = momentum(model, q2, v2, spinning=False) - momentum(model, q, v, spinning=False)
    assert np.abs(drift).max() > 1e-3 * np.abs(before).max()


def test_momentum_in_flight_is_kept_with_a_loop() -> None:
    c = pool.case("rotors_on_a_loop_on_free_flyer")
    model = pool.weightless(c.model)
    assert all(r.carrier != "universe" for r in model.rotors)
    rng = np.random.default_rng(3)
    q, v = np.array(c.q), rng.normal(size=model.nv)
    data = model.createData()

    def whole(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        h, com = pc.computeCentroidalMomentum(model, data, q, v).vector, data.com[0].copy()
        return np.concatenate([h[:3], h[3:] + np.cross(com, h[:3])])

    before, E0 = whole(q, v), pc.computeKineticEnergy(model, data, q, v)
    # midpoint rule, refined: free flyers are not integrated to fourth order by these stages
    drift = []
    for n in (100, 200):
        x, w = q, v
        for _ in range(n):
            h = 0.1 / n
            a = pc.aba(model, data, x, w, np.zeros(model.nv)).copy()
            half = w + 0.5 * h * a
            mid = pc.integrate(model, x, 0.5 * h * w)
            am = pc.aba(model, data, mid, half, np.zeros(model.nv)).copy()
            x, w = pc.integrate(model, x, h * half), w + h * am
        drift.append(max(pool.error(whole(x, w), before), abs(pc.computeKineticEnergy(model, data, x, w) / E0 - 1.0)))
    assert drift[0] < 1e-3
    assert drift[1] < 0.35 * drift[0]  # second order: the continuous motion keeps it


@pool.each((*FREE, *(f"tree-{seed}" for seed in range(1, 40, 2))))
def test_only_gravity_and_forces_change_the_momentum(key: pool.Key, rng: np.random.Generator) -> None:
    """Any torques in the joints, none on the free flyer: dh/dt = m g and the forces; the loops' forces cancel."""
    _, model, data, q, v, _, fext = pool.state(key, rng)
    if any(r.carrier == "universe" for r in model.rotors):
        pytest.skip("a rotor pushes the ground")
    tau = 10.0 * rng.normal(size=model.nv)
    base = model.joint_idx_v("base")
    tau[base : base + 6] = 0.0
    a = pc.aba(model, data, q, v, tau, fext)
    rate = pc.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
    com, mass = data.com[0].copy(), float(data.mass[0])
    expected = np.concatenate([mass * model.gravity.linear, np.zeros(3)])
    pc.forwardKinematics(model, data, q)
    about = pin.SE3(np.eye(3), com)
    for j in range(1, model.njoints):
        expected += about.actInv(data.oMi[j].act(pin.Force(fext[j]))).vector
    scale = max(np.abs(expected).max(), np.abs(tau).max())
    assert np.abs(rate - expected).max() < 1e-9 * scale


@pytest.mark.parametrize("seed", pool.some(range(6), 2, rest="ci"))
def test_only_gravity_and_forces_change_the_momentum_of_the_expanded_tree(seed: int, rng: np.random.Generator) -> None:
    """With any torques in the joints but none on the free flyer: dh/dt = m g + external forces."""
    model = trees.geared_arm(floating=True, n=3 + seed % 2, ratio=6.0 + seed).build("shuffled", rng)
    q, v, _, fext = trees.random_state(model, rng)
    tau = 20.0 * rng.normal(size=model.nv)
    base = model.joint_idx_v("base")
    tau[base : base + 6] = 0.0
    a = pc.aba(model, model.createData(), q, v, tau, fext)
    span = expand(model)
    data, full_q = span.tree.createData(), span.configuration(q)
    rate = pin.computeCentroidalMomentumTimeVariation(span.tree, data, full_q, span.G @ v, span.G @ a).vector
    mass, com = pin.computeTotalMass(span.tree), np.array(data.com[0])
    expected = np.concatenate([mass * model.gravity.linear, np.zeros(3)])
    about_com = pin.SE3(np.eye(3), com)
    for j, force in enumerate(span.fext(fext)):
        if j:
            expected += about_com.actInv(data.oMi[j].act(force)).vector
    assert relative(rate, expected) <= EXACT


def test_a_robot_whose_rotors_do_not_spin_is_noticed(rng: np.random.Generator) -> None:
    """The negative control: a wrong model fails the law of momentum by far more than its gate."""
    robot = trees.geared_arm(floating=True)
    model = robot.build()
    for node in robot.nodes:
        if node.name.startswith("r"):
            node.inertia = pin.Inertia(node.inertia.mass, node.inertia.lever, 0.5 * node.inertia.inertia)
    wrong = robot.build()
    q, v, _, _ = trees.random_state(model, rng)
    v *= 3.0  # fast, against gravity
    a = pc.aba(wrong, wrong.createData(), q, v, np.zeros(model.nv))
    span = expand(model)
    data = span.tree.createData()
    rate = pin.computeCentroidalMomentumTimeVariation(span.tree, data, span.configuration(q), span.G @ v, span.G @ a)
    mass = pin.computeTotalMass(span.tree)
    expected = np.concatenate([mass * model.gravity.linear, np.zeros(3)])
    assert relative(rate.vector, expected) > 1e-4
