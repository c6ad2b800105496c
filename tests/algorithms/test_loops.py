"""Kinematics, Jacobians, momentum, motors and conditions of models with closed loops."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool
from samples.pool import build, error, slope
from support.messages import raises, warns
from support.moving import rate_of_coupling

import pin_clusters as pc
from pin_clusters.algorithms.dynamics.condition import condition
from pin_clusters.algorithms.dynamics.with_independent import with_independent
from pin_clusters.constraints.closures import RodClosure
from pin_clusters.constraints.loop import Loop
from pin_clusters.model.expansion import expand
from pin_clusters.verification.baselines import projection
from pin_clusters.verification.reference import coupling_derivatives

FRAMES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)
# the same quantity by two routes, relative to max(1, largest entry), where K_d is conditioned better than 1e3
ROUNDING = 1e-10
# differences of fourth order: rounding of assembled poses (1e-14) over the step (3e-4 over the fastest rate)
DIFFERENCES = 1e-9
# placements by the kernel and by Pinocchio: sines and products that are rounded, as many as the tree is deep
PLACED = 1e-14
RANDOM = range(8)
CASES = [*mechanisms.FIXED, *RANDOM]


@pytest.fixture(params=pool.some(CASES, [*pool.FIXED, *range(2)]))
def case(request: pytest.FixtureRequest, rng: np.random.Generator) -> Any:
    """Model, state, and the accuracy of its geometry."""
    name = request.param
    m = mechanisms.FIXED[name](rng) if isinstance(name, str) else mechanisms.random_one(rng, name)
    model = build(m)
    q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
    v, a = rng.normal(size=(2, model.nv))
    return model, q, v, a, m.exact


def along(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: float) -> np.ndarray:
    """Assembled pose on a motion with this velocity and acceleration at t = 0; Newton on the rows of the tests."""
    return mechanisms.move(model, q, t * v + 0.5 * t * t * a)


def step(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Step of differences, and the growth of their error with the speeds of the joints."""
    data = model.createData()
    fastest = max(1.0, float(np.abs(pc.spanning_velocity(model, data, q, v)).max()))
    bend = max(1.0, float(np.abs(pc.coupling_bias(model, data, q, v)).max()))
    return 3e-4 / max(fastest, math.sqrt(bend)), max(fastest, math.sqrt(bend)) ** 2


def test_kinematics_are_those_of_the_tree(case: Any) -> None:
    model, q, v, a, exact = case
    data, tree, oracle = model.createData(), model.tree.createData(), projection.createData(model)
    oracle.couple(q, v)
    G, g = oracle.loops.G, oracle.loops.g
    gate = max(ROUNDING, 50.0 * exact)
    assert error(pc.spanning_acceleration(model, data, q, v, a), G @ a + g) < gate
    pin.forwardKinematics(model.tree, tree, q, G @ v, G @ a + g)
    pc.forwardKinematics(model, data, q, v, a)
    J = pc.computeJointJacobians(model, data)
    for j in range(1, model.njoints):
        assert error(data.oMi[j].homogeneous, tree.oMi[j].homogeneous) < PLACED
        for reference in FRAMES:
            for f in ("getVelocity", "getAcceleration", "getClassicalAcceleration"):
                mine = getattr(pc, f)(model, data, j, reference).vector
                assert error(mine, getattr(pin, f)(model.tree, tree, j, reference).vector) < gate, f
            moved = pc.getJointJacobian(model, data, j, reference) @ v
            assert error(moved, pc.getVelocity(model, data, j, reference).vector) < ROUNDING
    other = model.createData()
    assert error(pc.computeJointJacobians(model, other, q), J) < ROUNDING
    pc.framesForwardKinematics(model, other, q)
    pc.forwardKinematics(model, other, q)
    assert error(pc.computeJointJacobians(model, other), J) < ROUNDING
    assert error(pc.jacobianCenterOfMass(model, other), pc.jacobianCenterOfMass(model, data, q)) < ROUNDING


def test_independent_side(case: Any, rng: np.random.Generator) -> None:
    model, q, v, _, _ = case
    data = model.createData()
    v_tree = pc.spanning_velocity(model, data, q, v)
    assert error(pc.independent_velocity(model, data, q, v_tree), v) == 0.0
    tau_tree = rng.normal(size=model.tree.nv)
    assert pc.independent_torque(model, data, q, tau_tree) @ v == pytest.approx(tau_tree @ v_tree, rel=1e-9, abs=1e-9)
    dependent = next(i for i in range(model.tree.nv) if i not in model.idx_v_independent)
    v_tree[dependent] += 1.0 + np.abs(v_tree).max()
    with raises(pc.ConfigurationError, "v_tree") as caught:
        pc.independent_velocity(model, data, q, v_tree)
    assert any(c.label in str(caught.value) for c in model.constraints)


def test_time_variation_of_g_by_differences(case: Any) -> None:
    """All of dG/dt, not only its product with v; spherical joints included."""
    model, q, v, a, exact = case
    data = model.createData()
    h, growth = step(model, q, v)
    measured = slope(lambda t: pc.coupling_jacobian(model, data, along(model, q, v, a, t)), h)
    size = max(1.0, float(np.abs(measured).max()))
    rate = rate_of_coupling(model, data, q, v)
    assert np.abs(rate - measured).max() < (DIFFERENCES * growth + 200.0 * exact) * size
    assert error(rate @ v, pc.coupling_bias(model, data, q, v)) < ROUNDING
    assert not np.any(rate_of_coupling(model, data, q, 0.0 * v))


@pytest.mark.parametrize("lead", ["arms", "platform"])
@pytest.mark.parametrize("joint", [pin.JointModelSpherical, pin.JointModelPlanar], ids=["spherical", "planar"])
def test_time_variation_of_g_where_velocities_do_not_commute(joint: Any, lead: str, rng: np.random.Generator) -> None:
    """A platform on three rods, several ways to move at once: differences alone would miss the brackets."""
    b = mechanisms.Builder(rng)
    spherical = joint is pin.JointModelSpherical
    b.add("platform", None, joint(), np.zeros(3), [0.0, 0.0, 0.0, 1.0] if spherical else [0.1, -0.05, 0.97, 0.24])
    rods = []
    for k in range(3):
        turn = pin.exp3(2.0 * np.pi / 3.0 * k * np.array([0.0, 0.0, 1.0]))
        height = np.array([0.1, -0.2, 0.3])[k] if spherical else 0.0
        foot = turn @ np.array([1.0, 0.0, 0.0]) + height * np.array([0.0, 0.0, 1.0])
        axis = rng.normal(size=3) if spherical else np.array([0.0, 0.0, 1.0])
        b.add(f"arm{k}", None, axis, foot, 0.1 * k)
        tip = turn @ np.array([0.5, 0.3, 0.2 if spherical else 0.0])
        rods.append(pc.Rod((f"arm{k}", turn @ np.array([0.1, 0.4, 0.0])), ("platform", tip), name=f"rod{k}"))
    arms = tuple(f"arm{k}" for k in range(3))
    model = b.mechanism(rods, arms if lead == "arms" else ("platform",), 3).build()
    data, q = model.createData(), model.q_reference.copy()
    v, a = rng.normal(size=(2, 3))
    h, growth = step(model, q, v)
    measured = slope(lambda t: pc.coupling_jacobian(model, data, along(model, q, v, a, t)), h)
    rate = rate_of_coupling(model, data, q, v)
    assert np.abs(rate - measured).max() < DIFFERENCES * growth * max(1.0, np.abs(measured).max())
    # what joints' velocities fail to commute is no small matter here
    by_q = coupling_derivatives(model, q, v, 0.0 * v)[0]
    assert np.abs(rate - by_q).max() > 1e-2


def test_time_variation_of_jacobians(case: Any) -> None:
    model, q, v, a, exact = case
    data, near = model.createData(), model.createData()
    dJ = pc.computeJointJacobiansTimeVariation(model, data, q, v)
    h, growth = step(model, q, v)
    gate = DIFFERENCES * growth + 200.0 * exact
    states = {t: along(model, q, v, a, t) for t in (-2 * h, -h, h, 2 * h)}
    measured = slope(lambda t: pc.computeJointJacobians(model, near, states[t]), h)
    assert np.abs(dJ - measured).max() < gate * max(1.0, np.abs(dJ).max())
    pc.forwardKinematics(model, near, q, v, a)
    for j in (1, model.njoints - 1):
        for reference in (pin.LOCAL, pin.WORLD):
            change = pc.getJointJacobianTimeVariation(model, data, j, reference)
            J = pc.getJointJacobian(model, data, j, reference)
            expected = pc.getAcceleration(model, near, j, reference).vector
            assert error(change @ v + J @ a, expected) < ROUNDING
    for k in {0, model.nframes - 1}:
        change = pc.getFrameJacobianTimeVariation(model, data, k, pin.LOCAL)
        measured = slope(lambda t, k=k: pc.computeFrameJacobian(model, near, states[t], k, pin.LOCAL), h)
        assert np.abs(change - measured).max() < gate * max(1.0, np.abs(change).max())


def masses(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray, Any]]:
    """Mass, place, velocity and spin momentum of everything: rotors as bodies, rods by Gauss's rule."""
    oracle = projection.createData(model)
    oracle.couple(q, v)
    tree, data, span = oracle.tree, oracle.data, oracle.span
    pin.forwardKinematics(tree, data, span.configuration(q), oracle.G @ v)
    found = []
    for j in range(1, tree.njoints):
        I, M, twist = tree.inertias[j], data.oMi[j], data.v[j]
        speed = M.rotation @ (twist.linear + np.cross(twist.angular, I.lever))
        found.append((I.mass, M.act(I.lever), speed, M.rotation @ I.inertia @ twist.angular))
    for rod in (c for c in model.closures if isinstance(c, RodClosure)):
        ends = []
        for j, p in ((rod.joint_a, rod.point_a), (rod.joint_b, rod.point_b)):
            k = int(span.from_tree_id[j])
            twist = data.v[k] if j else pin.Motion.Zero()
            M = data.oMi[k] if j else pin.SE3.Identity()
            ends.append((M.act(np.asarray(p)), M.rotation @ (twist.linear + np.cross(twist.angular, p))))
        middle, gyration = 0.5, 0.5 / math.sqrt(3.0)  # of a slender one, in lengths
        if rod.centre is not None:
            middle, gyration = rod.centre / rod.length, math.sqrt(rod.moment / rod.mass) / rod.length
        for s in (middle - gyration, middle + gyration):
            x, dx = ((1.0 - s) * y + s * z for y, z in zip(*ends, strict=True))
            found.append((0.5 * rod.mass, x, dx, np.zeros(3)))
    return found


def momentum(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and momentum about it."""
    parts = masses(model, q, v)
    mass = sum(m for m, *_ in parts)
    com = sum(m * x for m, x, *_ in parts) / mass
    linear = sum(m * dx for m, _, dx, _ in parts)
    return mass, com, np.concatenate([linear, sum(np.cross(x - com, m * dx) + s for m, x, dx, s in parts)])


def test_momentum_and_centre_of_mass(case: Any) -> None:
    """Rods with mass, rotors whose speeds depend on the pose."""
    model, q, v, a, exact = case
    data = model.createData()
    mass, com, h = momentum(model, q, v)
    gate = max(ROUNDING, 50.0 * exact)
    assert error(pc.centerOfMass(model, data, q, v, a), com) < ROUNDING
    assert data.mass[0] == pytest.approx(mass, rel=1e-13)
    assert error(mass * data.vcom[0], h[:3]) < gate
    acceleration = data.acom[0].copy()
    assert error(pc.jacobianCenterOfMass(model, data, q) @ v * mass, h[:3]) < gate
    assert error(data.com[0], com) < ROUNDING
    assert data.mass[0] == pytest.approx(mass, rel=1e-13)
    assert error(pc.computeCentroidalMomentum(model, data, q, v).vector, h) < gate
    assert error(data.com[0], com) < ROUNDING
    A = pc.computeCentroidalMap(model, data, q)
    assert error(A @ v, h) < gate
    assert error(pc.ccrba(model, data, q, v), A) < ROUNDING
    assert error(data.hg.vector, h) < gate
    assert data.Ig.mass == pytest.approx(mass, rel=1e-13)
    assert error(data.Ig.lever, np.zeros(3)) < ROUNDING
    inertia = sum(m * (x - com) @ (x - com) for m, x, *_ in masses(model, q, v))
    inertia += 0.5 * sum(np.trace(I.inertia) for I in bodies(model))
    assert 0.5 * np.trace(data.Ig.inertia) == pytest.approx(inertia, rel=1e-10)
    rate = pc.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
    assert error(data.hg.vector, h) < gate
    assert error(rate[:3], mass * acceleration) < ROUNDING
    step_, growth = step(model, q, v)
    measured = slope(lambda t: momentum(model, along(model, q, v, a, t), v + t * a)[2], step_)
    assert error(rate, measured) < DIFFERENCES * growth + 500.0 * exact


def bodies(model: pc.ClusterModel) -> list[pin.Inertia]:
    """Of all bodies but rotors that the universe carries: they have no mass that moves."""
    span = expand(model)
    fixed = {j for j in span.rotors if span.tree.parents[j] == 0}
    return [span.tree.inertias[j] for j in range(1, span.tree.njoints) if j not in fixed]


def test_centres_of_subtrees_hold_the_rods_inside(rng: np.random.Generator) -> None:
    """A rod between two bodies of one branch belongs to that branch; others below their common ancestor to none."""
    b = mechanisms.Builder(rng)
    X, Z = np.eye(3)[[0, 2]]
    b.add("turret", None, Z, [0.1, 0.2, 0.3], 0.3)
    b.add("input", "turret", Z, np.zeros(3), 0.4)
    b.add("output", "turret", X, [0.9, 0.3, 0.1], 1.0)
    rod = pc.Rod(("input", [0.3, 0.0, 0.05]), ("output", [0.05, 0.4, 0.0]), mass=0.7)
    model = b.mechanism([rod], ("turret", "input"), 2).build()
    data, q = model.createData(), pc.neutral(model)
    v, a = rng.normal(size=(2, 2))
    pc.centerOfMass(model, data, q, v, a)
    assert data.mass[0] == pytest.approx(data.mass[1], rel=1e-14)
    assert error(data.oMi[1].act(data.com[1]), data.com[0]) < ROUNDING
    assert error(data.oMi[1].rotation @ data.vcom[1], data.vcom[0]) < ROUNDING
    assert error(data.oMi[1].rotation @ data.acom[1], data.acom[0]) < ROUNDING
    com = data.com[0].copy()
    pc.jacobianCenterOfMass(model, data, q)
    assert error(data.com[1], com) < ROUNDING
    assert data.mass[2] == pytest.approx(model.tree.inertias[2].mass + 0.7 / 6.0, rel=1e-14)
    kept = pc.centerOfMass(model, data, q, compute_subtree_coms=False)
    assert error(kept, com) < ROUNDING
    pc.forwardKinematics(model, data, q, v, a)
    assert error(pc.centerOfMass(model, data), com) < ROUNDING


@pytest.mark.parametrize("name", ["rotors_on_a_loop", "rotors_on_a_loop_on_free_flyer"])
def test_rotors_turn_as_bodies(name: str, rng: np.random.Generator) -> None:
    m = mechanisms.FIXED[name](rng)
    model = m.build()
    q = mechanisms.random_pose(model, m.q0, rng, m.spread)
    data, oracle, v = model.createData(), projection.createData(model), rng.normal(size=model.nv)
    oracle.couple(q, v)
    speeds = pc.rotor_velocity(model, data, q, v)
    rates = oracle.G @ v
    for r, speed in zip(model.rotors, speeds, strict=True):
        assert speed == pytest.approx(rates[oracle.tree.joints[oracle.span.joint_id(r.name)].idx_v], rel=1e-9)
    B = pc.actuation_matrix(model, data, q)
    assert error(B.T @ v, speeds) < ROUNDING
    there = pc.actuation_matrix(model, data, model.q_reference)
    assert error(there.T, np.array([r.row for r in model.rotors])) < ROUNDING
    assert error(B, there) > 1e-3  # it depends on the pose


def test_motor_torque_of_a_motor_on_a_dependent_joint(rng: np.random.Generator) -> None:
    m = mechanisms.four_bar(rng)
    m.constraints.append(pc.Rotor("rocker", 20.0, axial_inertia=1e-4, armature="keep"))
    model = m.build()
    q = mechanisms.random_pose(model, m.q0, rng, m.spread)
    data = model.createData()
    at = model.tree.joints[model.getJointId("rocker")].idx_v
    ratio = 20.0 * pc.coupling_jacobian(model, data, q)[at, 0]
    assert pc.motor_torque(model, data, q, [3.0])[0] == pytest.approx(3.0 / ratio, rel=1e-10)


def parallelogram(q: Any = None, independent: Any = ("left",)) -> pc.ClusterModel:
    tree = pin.Model()
    body = pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.02 * np.eye(3))
    for name, parent, x in (("left", 0, 0.0), ("right", 0, 1.0), ("bar", 1, 0.5)):
        at = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        tree.appendBodyToJoint(tree.addJoint(parent, pin.JointModelRY(), at, name), body, pin.SE3.Identity())
    loop = Loop(("bar", [1.0, 0.0, 0.0]), ("right", [0.5, 0.0, 0.0]), "revolute", (0, 1, 0), name="close")
    reference = np.array([-1.0, -1.0, 1.0]) if q is None else q
    return pc.ClusterModel(tree, [loop], reference, independent=independent)


SINGULAR = {
    "rnea": lambda m, d, q: pc.rnea(m, d, q, [1.0], [1.0]),
    "aba": lambda m, d, q: pc.aba(m, d, q, [1.0], [1.0]),
    "hybrid_dynamics": lambda m, d, q: pc.hybrid_dynamics(m, d, q, [1.0], [1.0], [1.0], ["left"]),
    "crba": lambda m, d, q: pc.crba(m, d, q),
    "energy": lambda m, d, q: pc.computeKineticEnergy(m, d, q, [1.0]),
    "coupling_jacobian": lambda m, d, q: pc.coupling_jacobian(m, d, q),
    "coupling_bias": lambda m, d, q: pc.coupling_bias(m, d, q, [1.0]),
    "spanning_velocity": lambda m, d, q: pc.spanning_velocity(m, d, q, [1.0]),
    "forwardKinematics": lambda m, d, q: pc.forwardKinematics(m, d, q, [1.0]),
    "computeJointJacobians": lambda m, d, q: pc.computeJointJacobians(m, d, q),
    "variation": lambda m, d, q: pc.computeJointJacobiansTimeVariation(m, d, q, [1.0]),
    "centroidal": lambda m, d, q: pc.computeCentroidalMap(m, d, q),
    "dccrba": lambda m, d, q: pc.dccrba(m, d, q, [1.0]),
    "derivatives of motions": lambda m, d, q: pc.computeForwardKinematicsDerivatives(m, d, q, [1.0], [1.0]),
    "derivatives of Jacobians": lambda m, d, q: pc.computeJointKinematicHessians(m, d, q),
    "independent_torque": lambda m, d, q: pc.independent_torque(m, d, q, np.ones(3)),
}

# the kernels of the others are compiled for CI only
EVERYDAY = [name for name in SINGULAR if name not in ("hybrid_dynamics", "derivatives of motions")]


@pytest.mark.parametrize("name", pool.some(SINGULAR, EVERYDAY, rest="ci", everyday=len(EVERYDAY)))
def test_singular_poses_are_errors(name: str) -> None:
    model = parallelogram()
    with raises(pc.SingularClusterError, "'left' 'right' 'bar'") as caught:
        SINGULAR[name](model, model.createData(), np.zeros(3))
    assert "change point" in str(caught.value)


@pytest.mark.ci
def test_what_was_not_differentiated_is_not_given() -> None:
    model = parallelogram()
    data, pose = model.createData(), np.array([-1.0, -1.0, 1.0])
    pc.computeForwardKinematicsDerivatives(model, data, pose, [1.0])
    pc.computeJointKinematicHessians(model, data, pose)
    pc.getJointVelocityDerivatives(model, data, 1, pin.LOCAL)
    with pytest.raises(pc.SingularClusterError):
        pc.computeForwardKinematicsDerivatives(model, data, np.zeros(3), [1.0])
    with pytest.raises(pc.NotComputedError):
        pc.getJointVelocityDerivatives(model, data, 1, pin.LOCAL)
    with pytest.raises(pc.SingularClusterError):
        pc.computeJointKinematicHessians(model, data, np.zeros(3))
    assert error(pc.getJointKinematicHessian(model, data, 3, pin.LOCAL), np.zeros((6, 1, 1))) > 0.0  # that of before


@pytest.mark.parametrize("name", ["cassie_leg", "kangaroo_leg", "tello", "four_bar", "mit_humanoid_leg"])
def test_jacobians_of_subtrees_are_rates_of_their_centres(name: str, rng: np.random.Generator) -> None:
    """``centerOfMass`` gives the centre of each subtree and its velocity; rods have mass in two of the robots."""
    model = pc.load(name)
    data, v = model.createData(), rng.normal(size=model.nv)
    q = pc.integrate(model, pc.neutral(model), 0.1 * rng.normal(size=model.nv))
    pc.centerOfMass(model, data, q, v)
    rates = [data.vcom[0].copy()]
    rates += [data.oMi[j].rotation @ data.vcom[j] for j in range(1, model.njoints)]
    for j, rate in enumerate(rates):
        if not np.isfinite(rate).all():  # a subtree without mass has no centre
            continue
        for _ in range(2):  # by Python, by the plan
            pc.forwardKinematics(model, data, q)
            left = pc.jacobianSubtreeCenterOfMass(model, data, j)
            assert error(left @ v, rate) < 1e-12  # some ten sums of a thousand roundings
            assert np.array_equal(left, pc.getJacobianSubtreeCenterOfMass(model, data, j))
            assert np.array_equal(left, pc.jacobianSubtreeCenterOfMass(model, data, q, j))
    assert error(pc.jacobianSubtreeCenterOfMass(model, data, q, 0), pc.jacobianCenterOfMass(model, data, q)) < ROUNDING


def test_bodies_are_placed_at_a_singular_pose() -> None:
    model = parallelogram()
    data = model.createData()
    pc.forwardKinematics(model, data, np.zeros(3))
    pc.updateFramePlacements(model, data)
    assert error(data.oMi[3].translation, [0.5, 0.0, 0.0]) == 0.0
    assert error(pc.centerOfMass(model, data, np.zeros(3)), [0.2 + 0.5, 0.0, 0.0]) < ROUNDING
    with raises(pc.SingularClusterError, "pc.forwardKinematics"):
        pc.getJointJacobian(model, data, 1, pin.WORLD)
    for f in (
        lambda: pc.computeJointJacobians(model, data),
        lambda: pc.jacobianCenterOfMass(model, data),
        lambda: pc.jacobianSubtreeCenterOfMass(model, data, 1),
    ):
        with raises(pc.SingularClusterError, "left right singular"):
            f()
    # not a number is not singular
    pc.forwardKinematics(model, data, np.full(3, np.nan), [1.0])
    assert np.isnan(pc.getJointJacobian(model, data, 1, pin.WORLD)).any()
    assert np.isnan(pc.coupling_jacobian(model, data, np.full(3, np.nan))).any()


def test_condition_of_a_four_bar_by_hand() -> None:
    """In the plane: rows are the closing point's two coordinates over the loop's length."""
    model = parallelogram()
    data, t = model.createData(), -1.0
    q = np.array([t, t, -t])
    (only,) = condition(model, data, q)
    assert only.cluster == ("left", "right", "bar")
    tip = np.array([math.cos(t), -math.sin(t)]) * 0.5
    lever = {"left": tip + np.array([1.0, 0.0]), "bar": np.array([1.0, 0.0]), "right": -tip}
    K = np.array([[-x[1], x[0]] for x in lever.values()]).T
    s = np.linalg.svd(K, compute_uv=False)
    assert only.K == pytest.approx(s[0] / s[1], rel=1e-10)
    assert pytest.approx(np.linalg.cond(K[:, 1:]), rel=1e-10) == only.K_d
    (flat,) = condition(model, data, np.zeros(3))
    assert math.isinf(flat.K) or flat.K > 1e14
    assert math.isinf(flat.K_d) or flat.K_d > 1e14
    near = np.array([1e-3, 1e-3, -1e-3])
    assert 1e2 < condition(model, data, near)[0].K < 1e5
    with raises(pc.ShapeError, "q 2"):
        condition(model, data, [0.0, 0.0])


def test_conditions_bound_each_other(case: Any) -> None:
    model, q, *_ = case
    found = condition(model, model.createData(), q)
    assert len(found) == sum(loop is not None for loop in model.tables.topology.loops)
    for cluster, K, K_d in found:
        assert set(cluster) <= set(model.names)
        assert 1.0 <= K
        assert 1.0 <= K_d < 1e4


def test_with_independent_is_the_same_mechanism(case: Any, rng: np.random.Generator) -> None:
    model, q, v, a, _exact = case
    data = model.createData()
    names = other_choice(model)
    if names is None:
        pytest.skip("no other joint can lead")
    other, change = with_independent(model, names)
    assert other.nv == model.nv
    assert set(names) <= set(other.independent_joints)
    assert error(other.q_reference, model.q_reference) < 1e-12
    if max(c.K_d for c in condition(other, other.createData(), q)) > 1e3:
        q = model.q_reference
    scale = max(1.0, np.linalg.norm(change.matrix(q)) * np.linalg.norm(change.back.matrix(q)))
    v_new, a_new = change.velocity_to_new(q, v), change.acceleration_to_new(q, v, a)
    space = other.createData()
    assert error(pc.spanning_velocity(other, space, q, v_new), pc.spanning_velocity(model, data, q, v)) < 1e-9 * scale
    mine = pc.spanning_acceleration(model, data, q, v, a)
    assert error(pc.spanning_acceleration(other, space, q, v_new, a_new), mine) < 1e-8 * scale
    assert error(change.velocity_to_old(q, v_new), v) < 1e-9 * scale
    assert error(change.acceleration_to_old(q, v_new, a_new), a) < 1e-8 * scale
    tau_new = pc.rnea(other, space, q, v_new, a_new)
    tau = pc.rnea(model, data, q, v, a)
    assert error(change.torque_to_old(q, tau_new), tau) < 1e-8 * scale
    assert error(change.torque_to_new(q, tau), tau_new) < 1e-8 * scale
    assert change.back.back is change
    assert model.independent_joints[0] in repr(change)


def test_old_names_of_a_coordinate_change_lead_where_they_led() -> None:
    model = pc.load("four_bar")
    _, change = with_independent(model, ["rocker"])
    q = pc.integrate(model, pc.neutral(model), [0.3])
    T = change.matrix(q)
    assert abs(T[0, 0] - 1.0) > 0.1  # else both directions are one
    with warns(DeprecationWarning, "CoordinateChange.velocity velocity_to_new velocity_to_old"):
        assert change.velocity(q, [2.0]) == T @ [2.0]
    with warns(DeprecationWarning, "CoordinateChange.torque torque_to_old torque_to_new"):
        assert change.torque(q, [2.0]) == [2.0] @ T
    with warns(DeprecationWarning, "acceleration_to_new acceleration_to_old"):
        assert change.acceleration(q, [2.0], [3.0]) == change.acceleration_to_new(q, [2.0], [3.0])


def other_choice(model: pc.ClusterModel) -> list[str] | None:
    """Exchange one independent joint of a loop with a dependent one, where that can lead."""
    tree = model.own_tree
    G = pc.coupling_jacobian(model, model.createData(), model.q_reference)
    for loop in (x for x in model.tables.topology.loops if x is not None):
        lead = [j for j in loop.joints if tree.nvs[j] and int(tree.idx_vs[j]) in loop.independents]
        for out in (j for j in lead if tree.nvs[j] == 1):
            column = int(np.searchsorted(model.idx_v_independent, tree.idx_vs[out]))
            for into in loop.joints:
                if tree.nvs[into] == 1 and int(tree.idx_vs[into]) in loop.dependents:
                    if abs(G[tree.idx_vs[into], column]) > 0.2:
                        return [tree.names[j] for j in lead if j != out] + [tree.names[into]]
    return None


def test_with_independent_errors() -> None:
    model = parallelogram()
    for wrong in ("left", 3, [1, 2]):
        with raises(pc.ArgumentTypeError, "with_independent"):
            with_independent(model, wrong)  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "ClusterModel"):
        with_independent(model.tree, ["left"])
    with raises(pc.UnknownNameError, "'lift'"):
        with_independent(model, ["lift"])
    with pytest.raises(pc.ConstraintError):
        with_independent(model, ["left", "right"])


def test_python_functions_are_asked_at_every_q() -> None:
    """The workspace keeps the derivatives of the last q: each function must ask anew."""
    tree = pin.Model()
    for name in ("a", "b"):
        j = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.1, 0.0, 0.0]), np.eye(3)), pin.SE3.Identity())
    coupling = pc.Coupling(["a", "b"], phi=lambda x: [x[1] - x[0] ** 3], jacobian=lambda x: [[-3.0 * x[0] ** 2, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # slow, said once
        model = pc.ClusterModel(tree, [coupling], np.array([0.5, 0.125]), independent=["a"])
    data = model.createData()
    for x in (0.5, -1.5):
        q = np.array([x, x**3])
        assert error(pc.coupling_jacobian(model, data, q), [[1.0], [3.0 * x**2]]) < 1e-9
        assert error(pc.coupling_bias(model, data, q, [2.0]), [0.0, 24.0 * x]) < 1e-7
        assert error(pc.spanning_velocity(model, data, q, [2.0]), [2.0, 6.0 * x**2]) < 1e-9
        assert error(rate_of_coupling(model, data, q, np.array([2.0])), [[0.0], [12.0 * x]]) < 1e-7
        assert error(pc.computeJointJacobians(model, data, q)[5], [1.0 + 3.0 * x**2]) < 1e-9
        pc.forwardKinematics(model, data, q, [2.0], [1.0])
        assert error(data.v[2].angular, [0.0, 0.0, 6.0 * x**2]) < 1e-9


@pytest.mark.parametrize("name", ["cassie_leg", "kangaroo_leg", "four_bar"])
def test_the_centre_without_q_is_where_the_bodies_are(name: str, rng: np.random.Generator) -> None:
    """Also if only their placements are those of the last call, and velocities those of an older one."""
    model = pc.load(name)
    data, v = model.createData(), rng.normal(size=model.nv)
    poses = [pc.integrate(model, pc.neutral(model), size * rng.normal(size=model.nv)) for size in (0.05, 0.1)]
    for _ in range(3):
        pc.forwardKinematics(model, data, poses[0], v, v)
        moving = pc.centerOfMass(model, data)
        assert error(moving, pc.centerOfMass(model, model.createData(), poses[0])) < ROUNDING
    pc.forwardKinematics(model, data, poses[1])
    assert error(pc.centerOfMass(model, data), pc.centerOfMass(model, model.createData(), poses[1])) < ROUNDING
