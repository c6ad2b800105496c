"""The compiled algorithms against Pinocchio on the tree with every rotor a body, projected with G.

With closed loops G and its bias g are those of a null space.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool, trees
from support.draws import draw
from support.loops import LIMIT, SLOPPY, errors, state
from support.tolerances import (
    AGAINST_PINOCCHIO,
    BACKWARD,
    EXACT,
    backward,
    inverse_residual,
    pinocchio_backward,
    relative,
)

import pin_clusters as pc
from pin_clusters.model.expansion import expand
from pin_clusters.verification.baselines import projection

ROBOTS = (
    "belt_chain",
    "geared_chain",
    "jvrc1",
    "jvrc1_as_published",
    "mini_cheetah",
    "mit_humanoid",
    "mit_humanoid_leg",
    "teleop_arm",
)
# gears, belts over joints, rotors that stay bodies, several rotors on one body
OFTEN = ("belt_chain", "jvrc1_as_published", "mini_cheetah", "mit_humanoid")
# states per gravity
GRAVITIES, STATES, STATES_OF_A_LONG_RUN = 4, 5, 25


class Worst:
    """Collects the worst error of every algorithm over many states, and judges them together."""

    def __init__(self, terms: bool = False) -> None:
        # torques relative to the terms that they are the sum of: they cancel now and then in a robot of one joint
        self.terms = terms
        self.relative: dict[str, float] = {}
        self.residual: dict[str, float] = {}
        self.pinocchio: dict[str, float] = {}

    def state(self, model: pc.ClusterModel, rng: np.random.Generator, spread: float = 1.0) -> None:
        data, exact = model.createData(), projection.createData(model)
        q, v, a, fext = trees.random_state(model, rng, spread)
        zero = np.zeros(model.nv)
        M = projection.crba(model, exact, q)
        tau = projection.rnea(model, exact, q, v, a)
        tau_fext = projection.rnea(model, exact, q, v, a, fext)
        h = projection.rnea(model, exact, q, v, zero)
        span = exact.span
        U = pin.computePotentialEnergy(span.tree, exact.data, span.configuration(q))
        weight = float(np.linalg.norm(model.gravity.linear)) * sum(
            i.mass * np.linalg.norm(p.act(i.lever)) for i, p in zip(span.tree.inertias, exact.data.oMi, strict=True)
        )
        T = 0.5 * float(v @ M @ v)
        terms = (M @ a, h, tau_fext - tau) if self.terms else ()
        self.add("rnea", relative(pc.rnea(model, data, q, v, a), tau, *terms))
        self.add("rnea with fext", relative(pc.rnea(model, data, q, v, a, fext), tau_fext, *terms))
        self.add("nonLinearEffects", relative(pc.nonLinearEffects(model, data, q, v), h, *terms))
        gravity = projection.rnea(model, exact, q, zero, zero)
        self.add("computeGeneralizedGravity", relative(pc.computeGeneralizedGravity(model, data, q), gravity, *terms))
        static = projection.rnea(model, exact, q, zero, zero, fext)
        self.add("computeStaticTorque", relative(pc.computeStaticTorque(model, data, q, fext), static, *terms))
        self.add("crba", relative(pc.crba(model, data, q), M))
        self.add("computeKineticEnergy", abs(pc.computeKineticEnergy(model, data, q, v) - T) / T)
        # a sum of weights that may cancel
        self.add("computePotentialEnergy", abs(pc.computePotentialEnergy(model, data, q) - U) / weight)
        total = abs(pc.computeMechanicalEnergy(model, data, q, v) - T - U) / (T + weight)
        self.add("computeMechanicalEnergy", total)
        given = rng.normal(size=model.nv) * (np.abs(tau).max() + 1.0)
        h_fext = projection.rnea(model, exact, q, v, zero, fext)
        self.judge("aba", backward(M, pc.aba(model, data, q, v, given), h, given))
        self.judge("aba with fext", backward(M, pc.aba(model, data, q, v, given, fext), h_fext, given))
        self.judge("computeMinverse", inverse_residual(pc.computeMinverse(model, data, q), M))
        if max(self.residual.values()) > BACKWARD:
            forward, inverse = pinocchio_backward(span, q, v, given)
            pushed, _ = pinocchio_backward(span, q, v, given, fext)
            for name, own in (("aba", forward), ("aba with fext", pushed), ("computeMinverse", inverse)):
                self.pinocchio[name] = max(self.pinocchio.get(name, 0.0), own)

    def add(self, name: str, error: float) -> None:
        self.relative[name] = max(self.relative.get(name, 0.0), error)

    def judge(self, name: str, error: float) -> None:
        assert np.isfinite(error)
        self.residual[name] = max(self.residual.get(name, 0.0), error)

    def check(self) -> None:
        for name, error in self.relative.items():
            assert error <= EXACT, (name, error)
        for name, error in self.residual.items():
            limit = max(BACKWARD, AGAINST_PINOCCHIO * self.pinocchio.get(name, 0.0))
            assert error <= limit, (name, error, limit)


def with_gravities(model: pc.ClusterModel, rng: np.random.Generator) -> Iterator[pc.ClusterModel]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        for _ in range(GRAVITIES):
            yield model.with_gravity(rng.normal(size=3) * 8.0)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("robot", pool.some(ROBOTS, OFTEN))
def test_shipped_robots(robot: str, base: str, rng: np.random.Generator, record_property, pytestconfig) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.load(robot, root_joint=pin.JointModelFreeFlyer() if base == "floating" else None)
    worst = Worst()
    for turned in with_gravities(model, rng):
        for _ in range(STATES_OF_A_LONG_RUN if pytestconfig.getoption("--long") else STATES):
            worst.state(turned, rng)
    for name, error in {**worst.relative, **worst.residual}.items():
        record_property(name, float(error))
    worst.check()


ORDERS = ("as_added", "depth_first", "shuffled")


@pytest.mark.parametrize("seed", pool.some(range(40), 12))
def test_random_robots(seed: int, rng: np.random.Generator) -> None:
    """All joint types, orders, couplings and carriers; several robots and states each."""
    worst = Worst(terms=True)
    for k in range(3):
        robot = trees.random_robot(
            rng,
            int(rng.integers(2, 10)),
            floating=bool((seed + k) % 2),
            couplings=int(rng.integers(0, 4)),
            rotor_bodies=int(rng.integers(0, 4)),
            rotors=int(rng.integers(0, 4)),
            chain=float(rng.random()),
        )
        model = robot.build(ORDERS[seed % 3], rng)
        for _ in range(2):
            worst.state(model, rng)
    worst.check()


@pytest.mark.jitless
@pytest.mark.parametrize("floating", [False, True])
def test_one_robot_of_everything(floating: bool, rng: np.random.Generator) -> None:
    model = trees.random_robot(rng, 6, floating=floating, couplings=2, rotor_bodies=3, rotors=3).build("shuffled", rng)
    assert model.dependent_joints
    assert model.rotors
    worst = Worst(terms=True)
    worst.state(model, rng)
    worst.check()


@pytest.mark.jitless
@pytest.mark.parametrize("kind", trees.KINDS)
def test_each_joint_type_without_constraints(kind: str, rng: np.random.Generator) -> None:
    """A chain of three of one kind, and two branches of it, is Pinocchio's."""
    model = trees.random_tree(rng, 3, kinds=[kind], chain=1.0).build()
    branched = trees.random_tree(rng, 4, kinds=[kind], chain=0.2, floating=True).build("shuffled", rng)
    worst = Worst(terms=True)
    worst.state(model, rng)
    worst.state(branched, rng)
    worst.check()


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_without_constraints(seed: int, rng: np.random.Generator) -> None:
    """Pinocchio on the tree as it is: its rnea and aba are right in any order of the joints."""
    robot = trees.random_tree(rng, 10, floating=bool(seed % 2), chain=float(rng.random()))
    tree = robot.tree(ORDERS[seed % 3], rng)
    model = pc.ClusterModel(tree)
    data, theirs = model.createData(), tree.createData()
    for _ in range(5):
        q, v, a, fext = trees.random_state(model, rng)
        forces = pin.StdVec_Force()
        forces.extend([pin.Force(f) for f in fext])
        tau = pin.rnea(tree, theirs, q, v, a, forces)
        assert relative(pc.rnea(model, data, q, v, a, fext), tau) < EXACT
        M, h = projection.crba(model, projection.createData(model), q), pin.rnea(tree, theirs, q, v, 0 * a, forces)
        own = backward(M, pin.aba(tree, theirs, q, v, tau, forces), h, tau)
        residual = backward(M, pc.aba(model, data, q, v, tau, fext), h, tau)
        assert residual <= max(BACKWARD, AGAINST_PINOCCHIO * own)


@pytest.mark.jitless
@pytest.mark.parametrize("ratio", [1.0, -1.0, 2.5])
@pytest.mark.parametrize("kind", trees.SINGLE)
def test_each_joint_type_as_dependent(kind: str, ratio: float, rng: np.random.Generator) -> None:
    """Ratio 1 is a row of G like that of an independent joint, and must not be taken for one."""
    robot = trees.random_tree(rng, 4, kinds=["revolute", "prismatic", "HZ"], chain=0.7, floating=True)
    for i, on in enumerate(["base", "j0", "j1"]):
        joint = trees.SINGLE[kind](rng)
        robot.nodes.append(trees.Node(f"d{i}", on, joint, trees.placement(rng), trees.inertia(rng), 0.01))
    robot.constraints.append(lambda names: pc.LinearCoupling("d0", {"j1": ratio}, 0.3))
    robot.constraints.append(lambda names: pc.LinearCoupling("d1", {"j1": ratio, "j2": 1.0}))
    robot.constraints.append(lambda names: pc.Gear("j3", "d2", ratio))
    worst = Worst()
    worst.state(robot.build("shuffled", rng), rng)
    worst.check()


@pytest.mark.jitless
@pytest.mark.parametrize("carrier", ["parent", "same", "descendant", "elsewhere", "universe"])
@pytest.mark.parametrize("several", [False, True])
def test_rotor_is_a_body_with_a_gear(carrier: str, several: bool, rng: np.random.Generator) -> None:
    """A ``Rotor`` against the same rotor put into the tree by hand, which uses none of its code."""
    robot = trees.random_tree(rng, 5, kinds=["revolute", "prismatic"], chain=1.0, armature=False, floating=True)
    on = {"parent": "j1", "same": "j2", "descendant": "j4", "elsewhere": "base", "universe": None}[carrier]
    joints, ratios = (["j2", "j3"], [7.0, -3.0]) if several else (["j2"], [-9.0])
    axis, where = trees.unit(rng), trees.placement(rng)
    body = trees.rotor_inertia(rng, axis)
    rotor = pc.Rotor(joints, ratios, inertia=body, axis=axis, placement=where, carrier=on or "universe", name="rotor")
    model = pc.ClusterModel(robot.tree(), [rotor])
    robot.nodes.append(trees.Node("rotor", on, pin.JointModelRevoluteUnaligned(axis), where, body))
    tree = robot.tree("depth_first")
    assert tree.check(tree.createData())
    q, v, a, _ = trees.random_state(model, rng)
    G, full_q = np.zeros((tree.nv, model.nv)), np.zeros(tree.nq)
    for name in model.names[1:]:
        old, new = model.tree.joints[model.getJointId(name)], tree.joints[tree.getJointId(name)]
        G[new.idx_v : new.idx_v + new.nv, old.idx_v : old.idx_v + old.nv] = np.eye(new.nv)
        full_q[new.idx_q : new.idx_q + new.nq] = q[old.idx_q : old.idx_q + old.nq]
    spin = tree.joints[tree.getJointId("rotor")]
    for name, ratio in zip(joints, ratios, strict=True):
        G[spin.idx_v, model.joint_idx_v(name)] = ratio
    full_q[spin.idx_q] = rng.normal()  # any angle: it is axisymmetric
    data, theirs = model.createData(), tree.createData()
    expected = G.T @ pin.rnea(tree, theirs, full_q, G @ v, G @ a)
    assert relative(pc.rnea(model, data, q, v, a), expected) < EXACT
    M = np.triu(pin.crba(tree, theirs, full_q))
    M = G.T @ (M + np.triu(M, 1).T) @ G
    assert relative(pc.crba(model, data, q), M) < EXACT
    np.testing.assert_allclose(pc.aba(model, data, q, v, expected), a, rtol=1e-9, atol=1e-9)
    U = pin.computePotentialEnergy(tree, theirs, full_q)
    if on is None:  # what is added to the universe counts nowhere, as in Pinocchio
        U += body.mass * tree.gravity.linear @ where.act(body.lever)
    assert abs(pc.computePotentialEnergy(model, data, q) - U) < EXACT * max(1.0, abs(U))
    assert abs(pc.computeKineticEnergy(model, data, q, v) - 0.5 * v @ M @ v) < EXACT * (v @ M @ v)


@pytest.mark.jitless
def test_axial_inertia_alone_adds_nothing_to_the_carrier(rng: np.random.Generator) -> None:
    """The same rotor, once added by ``inertia``, once lumped into the link by the user."""
    robot = trees.random_tree(rng, 4, kinds=["revolute"], chain=1.0, armature=False)
    axis, where = trees.unit(rng), trees.placement(rng)
    body = trees.rotor_inertia(rng, axis)
    common = {"axis": axis, "placement": where, "carrier": "j1"}
    whole = pc.ClusterModel(robot.tree(), [pc.Rotor("j2", 8.0, inertia=body, **common)])
    tree = robot.tree()
    tree.appendBodyToJoint(tree.getJointId("j1"), body, where)
    axial = float(axis @ body.inertia @ axis)
    lumped = pc.ClusterModel(tree, [pc.Rotor("j2", 8.0, axial_inertia=axial, **common)])
    q, v, a, fext = trees.random_state(whole, rng)
    one = pc.rnea(whole, whole.createData(), q, v, a, fext)
    assert relative(pc.rnea(lumped, lumped.createData(), q, v, a, fext), one) < EXACT
    span = expand(lumped)
    assert sum(i.mass for i in span.tree.inertias) == pytest.approx(sum(i.mass for i in tree.inertias), rel=1e-14)


@pytest.mark.jitless
def test_forces_on_spinning_rotors_turn_with_them(rng: np.random.Generator) -> None:
    """A force given in the frame of a rotor that is a spin element: it matters by which angle that has turned."""
    model = trees.geared_arm(floating=True).build()
    assert all(r.spins for r in model.rotors)
    data, exact = model.createData(), projection.createData(model)
    q, v, a, _ = trees.random_state(model, rng)
    for name in model.dependent_joints:
        fext = np.zeros((model.njoints, 6))
        fext[model.getJointId(name)] = rng.normal(size=6) * 10.0
        tau = projection.rnea(model, exact, q, v, a, fext)
        assert relative(pc.rnea(model, data, q, v, a, fext), tau) < EXACT
        q2 = q.copy()
        q2[model.tree.joints[model.getJointId(name)].idx_q] += 1.0  # off the coupling: shows that the angle is used
        assert relative(pc.rnea(model, data, q2, v, a, fext), tau) > 1e-4


# --- closed loops -----------------------------------------------------------------------------------------------------


def check(m: mechanisms.Mechanism, rng: np.random.Generator, states: int, record_property: Any) -> None:
    model, worst = pool.build(m), {}
    for _ in range(states):
        drawn = state(model, m, rng)
        found = errors(model, *drawn)
        # forward dynamics amplifies rounding by the condition of M
        found["aba of rnea"] /= max(1.0, np.linalg.cond(pc.crba(model, model.createData(), drawn[0])) / 1e3)
        for name, value in found.items():
            worst[name] = max(worst.get(name, 0.0), value)
    for name, value in worst.items():
        record_property(name, float(value))
        assert value <= max(LIMIT, SLOPPY * m.exact), (name, value)


@pytest.mark.parametrize("name", pool.some(mechanisms.FIXED, pool.FIXED, pool.JITLESS))
def test_mechanisms(name: str, rng: np.random.Generator, record_property: Any) -> None:
    check(mechanisms.FIXED[name](rng), rng, 5, record_property)


@pytest.mark.parametrize("seed", pool.some(range(60), 12))
def test_random_mechanisms(seed: int, record_property: Any) -> None:
    """Loops of all kinds and rods on random trees; planar loops of hinges and slides; with rotors."""
    # states whose mass matrix amplifies no rounding beyond LIMIT, in aba of rnea
    rng = draw(f"test_loops_against_projection.py::test_random_mechanisms[{seed}]")
    check(mechanisms.random_one(rng, seed), rng, 2, record_property)


@pool.each(pool.FAMILIES, everyday=pool.FAMILIES_EVERYDAY)
def test_families(key: pool.Key, rng: np.random.Generator) -> None:
    c = pool.case(key)
    model, data = c.model, c.model.createData()
    for _ in range(2):
        q = c.pose(rng)
        assert mechanisms.condition(model, q) < 1e3
        v, a, tau = rng.normal(size=(3, model.nv))
        fext = 5.0 * rng.normal(size=(model.njoints, 6))
        found = errors(model, q, v, a, 5.0 * tau, fext)
        found["aba of rnea"] /= max(1.0, np.linalg.cond(pc.crba(model, data, q)) / 1e3)
        for name, value in found.items():
            assert value < LIMIT + SLOPPY * c.exact, (name, value)


@pytest.mark.parametrize("name", mechanisms.LIBRARY)
def test_mechanisms_of_the_library_and_their_twins(name: str, rng: np.random.Generator) -> None:
    """The same numbers from the closed form's closures and from Loops, Rods or Couplings."""
    m = mechanisms.library(rng, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # Python functions are slow, which it says once
        one = pool.build(m)
        two = pc.ClusterModel(m.tree, m.constraints[0].generic(m.tree), m.q0, independent=m.independent)
    assert one.independent_joints == two.independent_joints
    for _ in range(3):
        q, v, a, tau, fext = state(one, m, rng)
        for values in (errors(one, q, v, a, tau, fext), errors(two, q, v, a, tau, fext)):
            assert max(values.values()) < LIMIT, values
        data, other = one.createData(), two.createData()
        assert pool.error(pc.rnea(one, data, q, v, a, fext), pc.rnea(two, other, q, v, a, fext)) < 1e-11
        assert pool.error(pc.aba(one, data, q, v, tau, fext), pc.aba(two, other, q, v, tau, fext)) < 1e-11
        assert pool.error(pc.coupling_jacobian(one, data, q), pc.coupling_jacobian(two, other, q)) < 1e-11


@pytest.mark.parametrize("seed", pool.some(range(16), 6))
def test_independent_joints_by_the_model(seed: int, rng: np.random.Generator, record_property: Any) -> None:
    m = mechanisms.random_one(rng, seed)
    m.independent = None
    check(m, rng, 1, record_property)
