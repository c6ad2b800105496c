"""Laws of mechanics on random robots: they need no other implementation to compare with."""

from __future__ import annotations

from collections.abc import Callable

import hypothesis.strategies as st
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from samples import trees
from support.tolerances import BACKWARD, ENERGY_DRIFT, EXACT, MOMENTUM_DRIFT, backward, inverse_residual, relative

import pin_clusters as pc
from pin_clusters.expansion import expand

Case = tuple[trees.Robot, pc.ClusterModel, np.random.Generator]


@st.composite
def robots(draw: st.DrawFn, floating: bool | None = None) -> Case:
    """Random robots; a failing one shrinks to few joints, couplings and rotors."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    robot = trees.random_robot(
        rng,
        draw(st.integers(1, 9)),
        floating=draw(st.booleans()) if floating is None else floating,
        couplings=draw(st.integers(0, 3)),
        rotor_bodies=draw(st.integers(0, 3)),
        rotors=draw(st.integers(0, 3)),
        chain=draw(st.sampled_from([0.2, 0.6, 1.0])),
    )
    return robot, robot.build(draw(st.sampled_from(["as_added", "depth_first", "shuffled"])), rng), rng


def law(function: Callable[..., None]) -> Callable[..., None]:
    """40 robots, the same ones every time."""
    return settings(max_examples=40, deadline=None, derandomize=True, database=None)(function)


@law
@given(robots())
def test_forward_and_inverse_dynamics_are_inverse(case: Case) -> None:
    _, model, rng = case
    data = model.createData()
    q, v, a, fext = trees.random_state(model, rng)
    tau = pc.rnea(model, data, q, v, a, fext)
    M, h = pc.crba(model, data, q), pc.rnea(model, data, q, v, np.zeros(model.nv), fext)
    found = pc.aba(model, data, q, v, tau, fext)
    assert backward(M, found, h, tau) <= BACKWARD
    terms = np.linalg.norm(M, 2) * np.linalg.norm(found) + np.linalg.norm(h) + np.linalg.norm(tau)
    assert np.linalg.norm(pc.rnea(model, data, q, v, found, fext) - tau) <= BACKWARD * terms
    assert np.linalg.norm(M @ a + h - tau) <= EXACT * terms


@law
@given(robots())
def test_mass_matrix(case: Case) -> None:
    """Symmetric, positive definite, the kinetic energy's, and made of the torques of unit accelerations."""
    _, model, rng = case
    weightless = model.with_gravity(np.zeros(3))
    data, free = model.createData(), weightless.createData()
    q, v, _, _ = trees.random_state(model, rng)
    M = pc.crba(model, data, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    T = 0.5 * float(v @ M @ v)
    assert abs(pc.computeKineticEnergy(model, data, q, v) - T) <= EXACT * T
    zero = np.zeros(model.nv)
    columns = np.stack([pc.rnea(weightless, free, q, zero, e) for e in np.eye(model.nv)], axis=1)
    assert relative(columns, M) <= EXACT


@law
@given(robots())
def test_inverse_mass_matrix(case: Case) -> None:
    """Times M it is 1; its columns are the accelerations of unit torques."""
    _, model, rng = case
    weightless = model.with_gravity(np.zeros(3))
    q, _, _, _ = trees.random_state(model, rng)
    Minv, M = pc.computeMinverse(model, model.createData(), q), pc.crba(model, model.createData(), q)
    assert relative(Minv, Minv.T) <= EXACT
    assert inverse_residual(Minv, M) <= BACKWARD
    zero, data = np.zeros(model.nv), weightless.createData()
    columns = np.stack([pc.aba(weightless, data, q, zero, e) for e in np.eye(model.nv)], axis=1)
    assert inverse_residual(columns, M) <= BACKWARD


@law
@given(robots())
def test_velocity_terms_and_forces_add_up(case: Case) -> None:
    """The torque is affine in a, in the external forces and in gravity, and quadratic in v."""
    _, model, rng = case
    weightless = model.with_gravity(np.zeros(3))
    data, free = model.createData(), weightless.createData()
    q, v, a, fext = trees.random_state(model, rng)
    zero = np.zeros(model.nv)
    gravity = pc.computeGeneralizedGravity(model, data, q)
    spin = pc.nonLinearEffects(weightless, free, q, v)
    pushed = pc.rnea(weightless, free, q, zero, zero, fext)
    M = pc.crba(model, data, q)
    scale = max(np.abs(x).max() for x in (gravity, spin, pushed, M @ a))
    whole = pc.rnea(model, data, q, 3.0 * v, a, fext)
    assert np.abs(whole - (M @ a + 9.0 * spin + gravity + pushed)).max() <= 10.0 * EXACT * scale
    assert relative(pc.computeStaticTorque(model, data, q, fext), gravity + pushed) <= 10.0 * EXACT
    assert relative(pc.nonLinearEffects(weightless, free, q, -v), spin) <= EXACT  # reversing time


@law
@given(robots(), st.booleans())
def test_relabelled_joints_give_the_same_physics(case: Case, rename: bool) -> None:
    """Another order and other names of the joints: entries move, and nothing else changes."""
    robot, model, rng = case
    names = (lambda n: f"x_{n}_{len(n)}") if rename else (lambda n: n)
    other = robot.build("shuffled", rng, names)
    q, v, a, fext = trees.random_state(model, rng)
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
    one, two = model.createData(), other.createData()
    tau = pc.rnea(model, one, q, v, a, fext)
    assert relative(pc.rnea(other, two, q2, v2, a2, fext2)[move], tau) <= EXACT
    M = pc.crba(model, one, q)
    assert relative(pc.crba(other, two, q2)[np.ix_(move, move)], M) <= EXACT
    h = pc.rnea(model, one, q, v, np.zeros(model.nv), fext)
    tau2 = np.zeros(model.nv)
    tau2[move] = tau
    assert backward(M, pc.aba(other, two, q2, v2, tau2, fext2)[move], h, tau) <= 2.0 * BACKWARD
    Minv = pc.computeMinverse(other, two, q2)[np.ix_(move, move)]
    assert inverse_residual(Minv, M) <= 2.0 * BACKWARD
    assert abs(pc.computeKineticEnergy(other, two, q2, v2) - pc.computeKineticEnergy(model, one, q, v)) <= EXACT * (
        v @ M @ v
    )


@law
@given(robots())
def test_power_balance(case: Case) -> None:
    """d/dt (T + U) = tau' v, by a difference quotient along the motion."""
    _, model, rng = case
    data = model.createData()
    q, v, a, _ = trees.random_state(model, rng)
    tree_v = np.array(model.coupling_matrix @ v)
    tau = pc.rnea(model, data, q, v, a)

    def energy(t: float) -> float:
        # dependents by the couplings, not by integrating: tests the offsets and the signs as well
        there = trees.on_couplings(model, pin.integrate(model.tree, q, t * tree_v))
        return pc.computeMechanicalEnergy(model, data, there, v + t * a)

    h = 2e-4
    slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h)
    # rounding of the energies over h; the truncation of order h^4 is below
    scale = np.abs(tau) @ np.abs(v) + abs(energy(0.0)) + pc.computeKineticEnergy(model, data, q, v)
    assert abs(slope - tau @ v) <= 1e-9 * scale


def simulate(
    model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, dt: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Passive motion by the classical Runge-Kutta method in the coordinates (quaternions included)."""
    data, zero, tree = model.createData(), np.zeros(model.nv), model.tree

    def rates(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        full, dq = model.coupling_matrix @ v, np.zeros(model.nq)
        for j in list(tree.joints)[1:]:
            own = full[j.idx_v : j.idx_v + j.nv]
            if j.nq == 7:
                xyz, w = q[j.idx_q + 3 : j.idx_q + 6], q[j.idx_q + 6]
                dq[j.idx_q : j.idx_q + 3] = pin.Quaternion(w, *xyz).toRotationMatrix() @ own[:3]
                # half the quaternion product of the quaternion and the angular velocity in body axes
                dq[j.idx_q + 3 : j.idx_q + 6] = 0.5 * (w * own[3:] + np.cross(xyz, own[3:]))
                dq[j.idx_q + 6] = -0.5 * xyz @ own[3:]
            else:
                dq[j.idx_q] = own[0]
        return dq, pc.aba(model, data, q, v, zero)

    for _ in range(steps):
        k1 = rates(q, v)
        k2 = rates(q + 0.5 * dt * k1[0], v + 0.5 * dt * k1[1])
        k3 = rates(q + 0.5 * dt * k2[0], v + 0.5 * dt * k2[1])
        k4 = rates(q + dt * k3[0], v + dt * k3[1])
        q = q + dt / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0])
        v = v + dt / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1])
        q = pin.normalize(tree, q)
    return q, v


@pytest.mark.parametrize("floating", [False, True])
def test_energy_of_a_passive_motion_is_kept(floating: bool, rng: np.random.Generator) -> None:
    model = trees.geared_arm(floating=floating).build()
    data = model.createData()
    q, v, _, _ = trees.random_state(model, rng)
    before = pc.computeMechanicalEnergy(model, data, q, v)
    T = pc.computeKineticEnergy(model, data, q, v)
    q2, v2 = simulate(model, q, v, 2e-4, 1000)
    assert np.abs(v2 - v).max() > 0.5  # something has happened
    assert np.abs(pc.rnea(model, data, q2, v2, pc.aba(model, data, q2, v2, 0.0 * v2))).max() < 1e-10
    assert abs(pc.computeMechanicalEnergy(model, data, q2, v2) - before) <= ENERGY_DRIFT * T


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


@law
@given(robots())
def test_momentum_has_the_spin_of_the_rotors(case: Case) -> None:
    """The package's own centroidal momentum against the sum over all bodies, each rotor among them."""
    _, model, rng = case
    data = model.createData()
    q, v, _, _ = trees.random_state(model, rng)
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


@pytest.mark.jitless
@pytest.mark.parametrize("seed", range(6))
def test_only_gravity_and_forces_change_the_momentum(seed: int, rng: np.random.Generator) -> None:
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
    a = pc.aba(wrong, wrong.createData(), q, v, np.zeros(model.nv))
    span = expand(model)
    data = span.tree.createData()
    rate = pin.computeCentroidalMomentumTimeVariation(span.tree, data, span.configuration(q), span.G @ v, span.G @ a)
    mass = pin.computeTotalMass(span.tree)
    expected = np.concatenate([mass * model.gravity.linear, np.zeros(3)])
    assert relative(rate.vector, expected) > 1e-4
