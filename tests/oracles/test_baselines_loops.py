"""The oracles of closed loops agree with each other, with Pinocchio's constrained algorithms, and with differences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool, trees
from samples.pool import build, error, slope
from support.loops import motion, state, step
from support.messages import raises

import pin_clusters as pc
from pin_clusters.constraints.closures import RodClosure
from pin_clusters.model.expansion import expand
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import armature_model, block, constrained, lagrange, projection, unconstrained
from pin_clusters.verification.null_space import NullSpace

CASES = [*mechanisms.FIXED, *range(24)]
LIMIT = 1e-10
# Pinocchio's own loops: settings of the workspace; lcaba stops at mu = 1e-4
# of each kind of closure and rank; three at random
FEW = (
    "four_bar_serial_on_free_flyer", "watt_six_bar", "geared_five_bar", "rssr_massive", "spatial_ball_in_tree",
    "bennett", "delta_pairs", "sloppy_four_bar", "ankle_2rsu", *range(3),
)  # fmt: skip
SOLVERS = {"constraintDynamics": 1e-10, "lcaba": 1e-8}
EXPRESSED = (
    "four_bar", "four_bar_upright", "four_bar_serial", "four_bar_spherical", "four_bar_on_free_flyer",
    "four_bar_serial_on_free_flyer", "slider_crank", "six_bar", "watt_six_bar", "rssr_massive", "spatial_ball_loop",
    "bennett", "bennett_fixed", "sarrus", "delta", "delta_pairs", "FourBar", "FourBar_serial",
    "SliderCrank",
)  # fmt: skip
OFTEN = (
    "four_bar_serial_on_free_flyer", "four_bar_spherical", "slider_crank", "watt_six_bar", "rssr_massive", "bennett",
    "delta_pairs", "FourBar_serial",
)  # fmt: skip
"""Of them those that every run has: each kind of contact, of base, of rank."""
REFUSED = {
    "slider_crank_serial": "baselines.projection baselines.lagrange",
    "geared_five_bar": "LinearCoupling",
    "rotors_on_a_loop": "LinearCoupling",
    "rssr": "",
    "spatial_ball_in_tree": "baselines.projection baselines.lagrange",
}


def mechanism(case: Any, rng: np.random.Generator) -> mechanisms.Mechanism:
    return mechanisms.FIXED[case](rng) if isinstance(case, str) else mechanisms.random_one(rng, case)


@pytest.mark.parametrize("case", pool.some(CASES, FEW))
def test_null_space(case: Any, rng: np.random.Generator) -> None:
    """K is the slope of the rows, G and g solve it, and differences of assembled motion say the same."""
    m = mechanism(case, rng)
    model = build(m)
    q, v, *_ = state(model, m, rng)
    space = NullSpace(model, expand(model))
    space.at(q, v)
    G, g, K, scale = space.G.copy(), space.g.copy(), space.K.copy(), space.scale.copy()
    np.testing.assert_array_equal(G[model.idx_v_independent], np.eye(model.nv))
    assert not np.any(g[model.idx_v_independent])
    assert np.abs((K @ G) / scale[:, None]).max() < 1e-12 * np.abs(G).max() + m.exact
    size = max(1.0, float(np.abs(G @ v).max())) ** 2
    assert np.abs((K @ g + space.bias) / scale).max() < 1e-12 * size + 10.0 * m.exact * size
    u = rng.normal(size=model.tree.nv)
    rows = slope(lambda t: mechanisms.residual(model, pin.integrate(model.tree, q, t * u)), 1e-4)
    limit = 1e-8 * max(1.0, np.abs(K @ u / scale).max()) + m.exact
    np.testing.assert_allclose(K @ u / scale, rows / scale, atol=limit)
    moved = slope(lambda t: pin.difference(model.tree, q, motion(model, q, v, t)), step(G @ v))
    curved = np.abs(G).max() ** 2 + 1.0
    np.testing.assert_allclose(G @ v, moved, atol=1e-7 * curved + 10.0 * m.exact)

    def spanning(t: float) -> np.ndarray:
        space.at(motion(model, q, v, t))
        return space.G @ v

    np.testing.assert_allclose(g, slope(spanning, step(g)), atol=1e-6 * (np.abs(g).max() ** 2 + 1.0) + 100.0 * m.exact)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", pool.some(EXPRESSED, OFTEN))
def test_solvers_of_pinocchio(name: str, solver: str, rng: np.random.Generator) -> None:
    """Another library's treatment of the same closures; rods with mass are bodies there."""
    if not hasattr(pin, solver):
        pytest.skip(f"pinocchio {pin.__version__} has no {solver}")
    m = mechanism(name, rng)
    model = build(m)
    data, exact = constrained.createData(model, solver), projection.createData(model)  # type: ignore[arg-type]
    for _ in range(3):
        q, v, _, tau, fext = state(model, m, rng)
        for forces in (None, fext):
            expected = projection.aba(model, exact, q, v, tau, forces)
            assert error(constrained.aba(model, data, q, v, tau, forces), expected) < SOLVERS[solver]


@pytest.mark.parametrize("name", REFUSED)
def test_what_pinocchio_cannot_express_is_refused(name: str, rng: np.random.Generator) -> None:
    model = build(mechanism(name, rng))
    with raises(pc.NotAvailableError, REFUSED[name]):
        constrained.createData(model)


def test_options_of_constrained(rng: np.random.Generator) -> None:
    m = mechanisms.four_bar(rng)
    axis = np.array([0.0, 1.0, 0.0])
    rotor = {"inertia": trees.rotor_inertia(rng, axis), "axis": axis, "armature": "keep"}
    m.constraints.append(pc.Rotor("rocker", 6.0, carrier="universe", **rotor))
    model = build(m)
    with raises(pc.NotAvailableError, "'rotor:rocker' rotors 'armature'"):
        constrained.createData(model)
    with raises(pc.ModelError, "'lcba'"):
        constrained.createData(model, "lcba")  # type: ignore[arg-type]
    # on a carrier that stands, armature is the truth
    q, v, _, tau, _ = state(model, m, rng)
    data = constrained.createData(model, rotors="armature", accuracy=1e-10, mu=1e-7, iterations=20)
    expected = projection.aba(model, projection.createData(model), q, v, tau)
    assert error(constrained.aba(model, data, q, v, tau), expected) < 1e-8
    assert data.settings.iter <= 20


@pytest.mark.parametrize("case", ["four_bar_on_free_flyer", "rotors_on_a_loop", "bennett", "delta", "delta_pairs", 4])
def test_multipliers(case: Any, rng: np.random.Generator) -> None:
    """K' lambda balances the tree; of all multipliers that do, these are the smallest."""
    m = mechanism(case, rng)
    model = build(m)
    q, v, _, tau, fext = state(model, m, rng)
    data = lagrange.createData(model)
    a = lagrange.aba(model, data, q, v, tau, fext)
    full_a, full_q = data.G @ a + data.g, data.configuration(q).copy()
    given = np.zeros(data.tree.nv)
    given[data.independent] = tau
    balance = data.torque(full_q, data.v, full_a, fext) - given
    np.testing.assert_allclose(data.K.T @ data.multipliers, balance, atol=1e-10 * max(1.0, np.abs(balance).max()))
    smallest = np.linalg.lstsq(data.K.T, balance, rcond=1e-9)[0]
    np.testing.assert_allclose(data.multipliers, smallest, atol=1e-8 * max(1.0, np.abs(smallest).max()))


def test_rods_are_slender_bodies(rng: np.random.Generator) -> None:
    """Simpson's points against many point masses, and against m/6 (va.va + va.vb + vb.vb)."""
    m = mechanisms.rssr(rng, mass=0.7)
    model = build(m)
    q, v, *_ = state(model, m, rng)
    data = projection.createData(model)
    massless = [_massless(c) for c in m.constraints]
    bare = pc.ClusterModel(m.tree, massless, m.q0, independent=m.independent)
    without = projection.createData(bare)
    share = projection.computeKineticEnergy(model, data, q, v) - projection.computeKineticEnergy(bare, without, q, v)
    rod = model.closures[0]
    assert isinstance(rod, RodClosure)
    data.couple(q)
    ends = []
    tree_data = model.tree.createData()
    pin.forwardKinematics(model.tree, tree_data, q, data.loops.G @ v)
    for j, point in ((rod.joint_a, rod.point_a), (rod.joint_b, rod.point_b)):
        twist = tree_data.v[j]
        ends.append(tree_data.oMi[j].rotation @ (twist.linear + np.cross(twist.angular, point)))
    va, vb = ends
    assert share == pytest.approx(0.7 / 6.0 * (va @ va + va @ vb + vb @ vb), rel=1e-12)
    s = (np.arange(20000) + 0.5) / 20000.0
    points = (1.0 - s)[:, None] * va + s[:, None] * vb
    assert share == pytest.approx(0.5 * 0.7 * float(np.mean(np.sum(points**2, axis=1))), rel=1e-8)


def _massless(rod: Any) -> Any:
    return type(rod)(rod.a, rod.b, rod.length, 0.0, rod.name)


@pytest.mark.parametrize("name", ["four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "delta"])
def test_power_of_projection(name: str, rng: np.random.Generator) -> None:
    m = mechanism(name, rng)
    model = build(m)
    q, v, a, *_ = state(model, m, rng)
    data = projection.createData(model)

    def energy(t: float) -> float:
        moved, speed = mechanisms.move(model, q, t * v + 0.5 * t * t * a), v + t * a
        T = projection.computeKineticEnergy(model, data, moved, speed)
        return T + projection.computePotentialEnergy(model, data, moved)

    power = projection.rnea(model, data, q, v, a) @ v
    assert slope(energy, 1e-4) == pytest.approx(power, rel=1e-6, abs=1e-6)


def test_unconstrained_is_what_it_says(rng: np.random.Generator) -> None:
    """The rows of the independent joints of the tree, at the velocity of the whole tree."""
    m = mechanisms.four_bar(rng)
    model = build(m)
    q, v, a, _, fext = state(model, m, rng)
    data, exact, tree = unconstrained.createData(model), projection.createData(model), model.tree
    for forces in (None, fext):
        torque = unconstrained.rnea(model, data, q, v, a, forces)
        np.testing.assert_allclose(unconstrained.aba(model, data, q, v, torque, forces), a, atol=1e-12)
    exact.couple(q)
    theirs = tree.createData()
    M = np.triu(pin.crba(tree, theirs, q))
    M = M + np.triu(M, 1).T
    h = pin.nonLinearEffects(tree, theirs, q, exact.loops.G @ v)
    at = model.idx_v_independent
    expected = M[np.ix_(at, at)] @ a + h[at]
    assert error(unconstrained.rnea(model, data, q, v, a), expected) < 1e-12
    assert error(unconstrained.rnea(model, data, q, v, a), projection.rnea(model, exact, q, v, a)) > 1e-3


def test_unconstrained_without_loops_locks_the_rotors(rng: np.random.Generator) -> None:
    model = trees.geared_arm(floating=True).build()
    q, v, a, _ = trees.random_state(model, rng)
    data, locked = unconstrained.createData(model), armature_model(model, "none")
    torque = unconstrained.rnea(model, data, q, v, a)
    assert error(unconstrained.aba(model, data, q, v, torque), a) < 1e-9
    assert locked.nv == model.nv
    assert error(torque, projection.rnea(model, projection.createData(model), q, v, a)) > 1e-3


def test_expanded_tree(rng: np.random.Generator) -> None:
    """Rotors turn with the tree's velocities; there is no constant G."""
    model = build(mechanisms.rotors_on_a_loop(rng))
    span = expand(model)
    with raises(pc.ModelError, "q"):
        _ = span.G
    assert span.tree.check(span.tree.createData())
    v = rng.normal(size=model.tree.nv)
    np.testing.assert_array_equal((span.from_tree @ v)[span.from_tree_v], v)
    bodiless = [r for r in model.rotors if r.source is not None]
    for j, r in zip(span.rotors, bodiless, strict=True):
        expected = sum(ratio * v[i] for i, ratio in r.drivers)
        assert (span.from_tree @ v)[span.tree.joints[j].idx_v] == pytest.approx(expected, rel=1e-14)


def test_singular_pose_is_an_error() -> None:
    """A crank and a coupler in line: the rocker cannot lead."""
    b = mechanisms.Builder(np.random.default_rng(0))
    b.add("crank", None, mechanisms.Y, np.zeros(3), 0.0)
    b.add("coupler", "crank", mechanisms.Y, 0.3 * mechanisms.X, 0.4)
    b.add("rocker", None, mechanisms.Y, 1.0 * mechanisms.X, -0.3)
    loop = pc.Loop(("coupler", 0.8 * mechanisms.X), ("rocker", 0.6 * mechanisms.Z), "revolute", mechanisms.Y)
    m = b.mechanism([loop], ("rocker",), 1)
    model = build(m)
    # of the triangle 1.1, 0.6, 1.0 the coupler is straight on the crank
    angle = np.arccos((1.1**2 + 1.0 - 0.6**2) / (2.0 * 1.1))
    tip = 1.1 * np.array([np.cos(angle), 0.0, np.sin(angle)])
    rocker = np.arctan2(tip[0] - 1.0, tip[2])
    q = np.array([-angle, 0.0, rocker])
    assert np.abs(mechanisms.residual(model, q)).max() < 1e-14
    with raises(pc.SingularClusterError, "'crank' 'coupler' 'rocker'"):
        projection.crba(model, projection.createData(model), q)


def test_what_is_not_for_loops(rng: np.random.Generator) -> None:
    model = build(mechanisms.four_bar(rng))
    for make in (armature_model, block.createData):
        with raises(pc.ModelError, "baselines.unconstrained"):
            make(model)
    massive = build(mechanisms.rssr(rng, mass=0.3))
    with raises(pc.NotAvailableError, "Rod('input', 'output')"):
        reference.crba(massive, massive.q_reference)


def test_data_of_another_module_is_refused(rng: np.random.Generator) -> None:
    model = build(mechanisms.four_bar(rng))
    q, v = model.q_reference, np.zeros(1)
    for module in (constrained, unconstrained):
        with raises(pc.DataMismatchError, f"{module.__name__}.createData"):
            module.aba(model, projection.createData(model), q, v, v)


def test_sloppy_geometry_is_said(rng: np.random.Generator) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanisms.sloppy_four_bar(rng).build()
    assert any("1.5708" in str(w.message) for w in caught)
