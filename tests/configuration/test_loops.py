"""Moving on the manifold of closed loops: integrate, difference, project, branches, and what stays open."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import bad_loops, mechanisms, pool
from samples.pool import error
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters.algorithms.dynamics.condition import condition
from pin_clusters.algorithms.dynamics.with_independent import with_independent
from pin_clusters.model import carry, loops_of
from pin_clusters.model.singular import singular_error

X, Y, Z = np.eye(3)


def assert_closed(model: pc.ClusterModel, q: np.ndarray, missing: float = 0.0) -> None:
    """The rule: each row below 1e-13 of its scale, times max(1, |q| / 100)."""
    allowed = 1e-13 * np.array([row.scale for row in pc.residual_rows(model)]) * max(1.0, np.abs(q).max() / 100.0)
    worst = np.abs(pc.residual(model, q)) / (allowed + missing)
    assert worst.max() <= 1.0, (worst.max(), pc.residual_rows(model)[int(np.argmax(worst))].label)


@pool.each(pool.LOOPS)
def test_integrate(key: Any, rng: np.random.Generator) -> None:
    c = pool.case(key)
    model, q = c.model, np.array(c.q)
    for size in (1e-6, 1e-3, 0.05, c.mechanism.spread):
        v = size * rng.normal(size=model.nv)
        try:
            there = pc.integrate(model, q, v)
        except pc.BranchLost:
            assert size > 0.04
            continue
        assert_closed(model, there, 10.0 * c.mechanism.exact)
        assert np.abs(pc.difference(model, q, there) - v).max() < 1e-12
        # the tree says the same of the independent joints
        full = np.zeros(model.tree.nv)
        full[model.idx_v_independent] = v
        own = pin.integrate(model.tree, q, full)
        free = [i for j in model.independent_joints for i in range(*span(model, j))]
        assert error(there[free], own[free]) < 1e-15
        # by another path: in two halves, and back
        if all(model.tree.nvs[model.getJointId(j)] == 1 for j in model.independent_joints):
            halves = pc.integrate(model, pc.integrate(model, q, 0.5 * v), 0.5 * v)
            assert error(halves, there) < 1e-10
        back = pc.integrate(model, there, -v)
        if not any(model.tree.nvs[model.getJointId(j)] == 6 for j in model.independent_joints):
            assert np.abs(pin.difference(model.tree, q, back)).max() < 1e-10
        assert np.abs(pc.difference(model, there, back) + v).max() < 1e-12
        middle = pc.interpolate(model, q, there, 0.3)
        assert_closed(model, middle, 10.0 * c.mechanism.exact)
        assert error(pc.difference(model, q, middle), 0.3 * v) < 1e-12


def span(model: pc.ClusterModel, name: str) -> tuple[int, int]:
    joint = model.tree.joints[model.getJointId(name)]
    return joint.idx_q, joint.idx_q + joint.nq


@pool.each(pool.LOOPS)
def test_integrate_is_the_motion_that_g_says(key: Any, rng: np.random.Generator) -> None:
    """To second order, G v + g / 2: dependent joints of all types, by Pinocchio's difference on the tree."""
    c = pool.case(key)
    model, q, data = c.model, np.array(c.q), c.model.createData()
    v = rng.normal(size=model.nv)
    v[[i for i in range(model.nv) if model.tree.nvs[joint_of(model, i)] > 1]] = 0.0  # they do not commute
    G, g = pc.coupling_jacobian(model, data, q).copy(), pc.coupling_bias(model, data, q, v).copy()
    h = 2e-4 / max(1.0, np.abs(G @ v).max(), np.sqrt(np.abs(g).max(initial=0.0)))
    forth, back = (pin.difference(model.tree, q, pc.integrate(model, q, t * v)) for t in (h, -h))
    dofs = [int(model.tree.idx_vs[j]) for j in range(1, model.njoints) if model.tree.nvs[j] == 1]
    scale = max(1.0, np.abs(G @ v).max() ** 3, np.abs(g).max(initial=0.0) ** 1.5)
    assert error((forth - back) / (2.0 * h), G @ v) < 1e-6 * scale + 10.0 * c.mechanism.exact
    assert error(((forth + back) / (h * h))[dofs], g[dofs]) < 1e-4 * scale + 10.0 * c.mechanism.exact


def joint_of(model: pc.ClusterModel, i: int) -> int:
    at = int(model.idx_v_independent[i])
    return next(j for j in range(1, model.njoints)
                if model.tree.idx_vs[j] <= at < model.tree.idx_vs[j] + model.tree.nvs[j])  # fmt: skip


@pool.each(pool.LOOPS)
def test_project(key: Any, rng: np.random.Generator) -> None:
    c = pool.case(key)
    model, q = c.model, np.array(c.q)
    missing = 10.0 * c.mechanism.exact
    assert error(pc.project(model, q), q) < 1e-12 + missing
    for size in (1e-8, 1e-3, 0.03):
        off = np.array(pin.integrate(model.tree, q, size * rng.normal(size=model.tree.nv)))
        closed = pc.project(model, off)
        assert_closed(model, closed, missing)
        assert np.abs(pin.difference(model.tree, off, closed)).max() < 60.0 * size * c.mechanism.spread / 0.15 + missing
        assert np.abs(pin.difference(model.tree, closed, pc.project(model, closed))).max() < 1e-12 + missing
        held = list(model.independent_joints)
        kept = pc.project(model, off, hold=held) if size < 0.01 else None
        if kept is not None:
            assert_closed(model, kept, missing)
            for name in held:
                first, last = span(model, name)
                assert error(kept[first:last], off[first:last]) < 1e-15  # not 0: norms are made 1


@pool.each(pool.EXACT)
def test_projection_is_the_shortest_way(key: Any, rng: np.random.Generator) -> None:
    """For small steps the change is normal to the manifold: it has no part along G."""
    c = pool.case(key)
    model, q = c.model, np.array(c.q)
    G = pc.coupling_jacobian(model, model.createData(), q).copy()
    off = np.array(pin.integrate(model.tree, q, 1e-6 * rng.normal(size=model.tree.nv)))
    way = pin.difference(model.tree, off, pc.project(model, off))
    Q = np.linalg.qr(G)[0]
    assert np.abs(Q.T @ way).max() < 1e-3 * np.abs(way).max()


@pytest.mark.jitless
@pytest.mark.parametrize(
    "key", ["sarrus", "bennett", "watt_six_bar", "four_bar_serial_on_free_flyer", 103, 104], ids=str
)
def test_project_from_far_away(key: Any, rng: np.random.Generator) -> None:
    """All rows are closed, also those that repeat others near by only; or it is said that nothing was found."""
    c = pool.case(key)
    model, tree, found, said = c.model, c.model.tree, 0, []
    for _ in range(25):
        off = np.array(pin.integrate(tree, np.array(c.q), 1.5 * rng.normal(size=tree.nv)))
        try:
            closed = pc.project(model, off)
        except pc.ConfigurationError as failure:
            said.append(str(failure))
            continue
        found += 1
        assert_closed(model, closed, 1e-9)
    assert found
    assert all(re.search(r"do not close.*open by .*Start nearer", text) for text in said)


@pool.each(pool.LOOPS, jitless=False)
def test_neutral_and_random_configurations(key: Any) -> None:
    c = pool.case(key)
    model, missing = c.model, 10.0 * c.mechanism.exact
    q = pc.neutral(model)
    assert_closed(model, q, missing)
    assert all(x.K_d < 1e6 for x in condition(model, model.createData(), q))
    pin.seed(3)
    drawn = [pc.randomConfiguration(model) for _ in range(4)]
    pin.seed(3)
    assert np.array_equal(drawn[0], pc.randomConfiguration(model))
    assert len({tuple(x) for x in drawn}) == 4
    for x in drawn:
        assert_closed(model, x, missing)
        assert all(k.K_d < 1e4 for k in condition(model, model.createData(), x))


@pytest.mark.jitless
def test_random_configurations_keep_off_dead_centres() -> None:
    """Where the limits leave nothing but a pose next to one, the loops stop at a part of the way."""
    model, dead = bad_loops.dead_centre()
    inside = np.sign(pc.neutral(model)[0] - dead[0])
    for off in (1e-9, 1e-7, 6e-7, 1e-5):
        limits = dead + inside * off
        q = pc.randomConfiguration(model, limits, limits)
        assert_closed(model, q)
        assert condition(model, model.createData(), q)[0].K_d < 1e3
    near = dead + inside * 0.1  # a pose like any other
    assert pc.randomConfiguration(model, near, near)[0] == near[0]


@pool.each(pool.LOOPS, jitless=False)
def test_neutral_without_a_reference_is_regular(key: Any) -> None:
    """Found from Pinocchio's neutral; never a change point, and the same each time."""
    m = pool.case(key).mechanism
    made = []
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            try:
                made.append(pc.ClusterModel(m.tree, m.constraints, independent=m.independent))
            except pc.ConstraintError:
                # rods without a length take it from the reference; neutral may be no place for that
                if any(isinstance(c, pc.Rod) and c.length is None for c in m.constraints):
                    return
                raise
    first, second = (pc.neutral(x) for x in made)
    assert np.array_equal(first, second)
    assert_closed(made[0], first, 10.0 * m.exact)
    assert all(x.K_d < 1e6 for x in condition(made[0], made[0].createData(), first))


@pool.each(pool.LOOPS)
def test_checked_workspaces(key: Any) -> None:
    """``data.check`` lets assembled poses pass, also of files that write 1.5708, and names the row of an open loop."""
    c = pool.case(key)
    model, data = c.model, c.model.createData()
    data.check = True
    for q in (pc.neutral(model), np.array(c.q)):
        pc.crba(model, data, q)
    loop = loops_of(model).clusters[0]
    step = np.zeros(model.tree.nv)
    step[loop.dependents[0]] = 0.01
    off = np.array(pin.integrate(model.tree, np.array(c.q), step))
    with raises(pc.ConfigurationError, "pc.project") as caught:
        pc.crba(model, data, off)
    assert any(row.label in str(caught.value) for row in pc.residual_rows(model))


@pytest.mark.jitless
@pytest.mark.parametrize("quarter", [1.5708, 1.5707, 1.57085])
def test_rows_that_repeat_others_may_miss_by_1e_4(quarter: float, rng: np.random.Generator) -> None:
    """What a file rounds is told once, with the number, and never again taken for an open loop."""
    m = mechanisms.sloppy_four_bar(rng, quarter)
    with warns(pc.PinClustersWarning, "3 5 1.5708") as told:
        model = m.build()
    assert len(told) == 1
    miss = float(re.findall(r"residual is ([\d.e-]+)", str(told[0].message))[0])
    assert miss == pytest.approx(np.abs(pc.residual(model, pc.neutral(model))).max(), rel=0.9)
    data = model.createData()
    data.check = True
    q = pc.neutral(model)
    for _ in range(10):
        pc.crba(model, data, q)
        q = pc.integrate(model, q, [0.3])
    assert np.abs(pc.residual(model, q)).max() < 3.0 * abs(quarter - 0.5 * np.pi)


@pytest.mark.parametrize("quarter", [1.5718, 1.5698])
def test_more_than_that_is_no_planar_loop(quarter: float, rng: np.random.Generator) -> None:
    """1e-3 rad: the rows are not dropped in silence, and there is nothing left that could move."""
    m = mechanisms.sloppy_four_bar(rng, quarter)
    with raises((pc.ConstraintError, pc.ConfigurationError), "'crank' 'coupler' 'rocker'"):
        m.build()


# --- branches ---------------------------------------------------------------------------------------------------------

# with several assemblies and one, planar and spatial, nested, with rods, redundant rows, inexact; two at random
BRANCHED = (
    "four_bar_serial_on_free_flyer", "watt_six_bar", "geared_five_bar", "rssr_massive", "spatial_ball_in_tree",
    "bennett", "delta_pairs", "sloppy_four_bar", "slider_crank_serial", 100, 101,
)  # fmt: skip


@pytest.mark.parametrize("key", pool.some(pool.LOOPS, BRANCHED))
def test_branches(key: Any) -> None:
    c = pool.case(key)
    model, q = c.model, np.array(c.q)
    for cluster in model.clusters:
        if not any(hasattr(x, "closures") for x in cluster.constraints):
            with raises(pc.ConfigurationError, f"'{cluster.joints[0]}'"):
                pc.branches(model, q, cluster)
            continue
        found = pc.branches(model, q, cluster)
        assert found
        loose = 1e-6 + 10.0 * c.mechanism.exact
        assert np.abs(wrapped(model, q, found[0])).max() < loose
        for i, other in enumerate(found):
            assert_closed(model, other, 10.0 * c.mechanism.exact)
            free = [k for j in model.independent_joints for k in range(*span(model, j))]
            assert np.array_equal(other[free], q[free])
            for another in found[:i]:  # each assembly once, also where a joint is whole turns away
                assert np.abs(poses(model, other) - poses(model, another)).max() > 1e-6
            if i and len(found) < 9:
                with raises(pc.BranchLost):
                    pc.difference(model, q, other)


def poses(model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, q)
    return np.concatenate([M.homogeneous.ravel() for M in data.oMi])


def wrapped(model: pc.ClusterModel, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    d = np.array(pin.difference(model.tree, q0, q1))
    for j in range(1, model.njoints):
        if model.tree.nvs[j] == 1 and "JointModelP" not in model.tree.joints[j].shortname():
            i = model.tree.idx_vs[j]
            d[i] = (d[i] + np.pi) % (2.0 * np.pi) - np.pi
    return d


@pytest.mark.jitless
def test_a_four_bar_has_two_assemblies(rng: np.random.Generator) -> None:
    model = mechanisms.four_bar(rng).build()
    q = pc.neutral(model)
    assert len(pc.branches(model, q, "crank")) == 2
    assert len(pc.branches(model, q, model.clusters[0])) == 2
    one, two = pc.branches(model, q, "rocker")
    # each of them is a model's own branch
    other = pc.ClusterModel(model.tree, model.constraints, two, independent=["crank"])
    assert error(pc.neutral(other), two) < 1e-10
    for start in (one, two):  # and stays on it for a whole turn of the crank, back where it was
        moved = start
        for _ in range(7):
            moved = pc.integrate(model, moved, [2.0 * np.pi / 7.0])
            assert_closed(model, moved)
        assert np.abs(wrapped(model, start, moved)).max() < 1e-10
        assert np.abs(wrapped(model, start, pc.integrate(model, start, [2.0 * np.pi]))).max() < 1e-10


PLATFORMS: dict[str, tuple[Any, int]] = {
    "planar": (pin.JointModelPlanar(), 3), "spherical": (pin.JointModelSpherical(), 3),
    "free": (pin.JointModelFreeFlyer(), 6), "translation": (pin.JointModelTranslation(), 3),
}  # fmt: skip


def platform(kind: str, rng: np.random.Generator) -> pc.ClusterModel:
    """A platform on arms and rods, as many as it has freedoms; its own joint hangs from a column that turns."""
    joint, n = PLATFORMS[kind]
    b = mechanisms.Builder(rng)
    b.add("column", None, Z, [0.1, 0.2, 0.3], 0.4)
    tree = pin.Model()
    tree.addJoint(0, joint, pin.SE3.Identity(), "only")
    step = np.array([0.2, -0.3, 0.9]) if kind in ("planar", "spherical") else 0.3 * rng.normal(size=n)
    b.add("platform", "column", joint, np.zeros(3), pin.integrate(tree, pin.neutral(tree), step))
    rods = []
    for k in range(n):
        turn = pin.exp3(2.0 * np.pi / n * k * Z)
        high = 0.0 if kind == "planar" else float(rng.uniform(-0.3, 0.3))
        axis = Z if kind == "planar" else rng.normal(size=3)
        b.add(f"arm{k}", "column", axis, turn @ X + high * Z, 0.2 * k)
        reach = 0.0 if kind == "planar" else 0.2 * rng.normal()
        start, tip = turn @ np.array([0.1, 0.4, reach]), turn @ np.array([0.5, 0.3, 0.5 * reach])
        rods.append(pc.Rod((f"arm{k}", start), ("platform", tip), name=f"rod{k}"))
    return b.mechanism(rods, ("column", *(f"arm{k}" for k in range(n))), n + 1).build()


@pytest.mark.jitless
@pytest.mark.parametrize("kind", PLATFORMS)
def test_joints_of_several_freedoms_follow(kind: str, rng: np.random.Generator) -> None:
    """Turned far from where their coordinates are velocities: Newton's method must step in their own axes."""
    model = platform(kind, rng)
    q, tree = pc.neutral(model), model.tree
    fastest = max(1.0, float(np.abs(pc.coupling_jacobian(model, model.createData(), q)).max()))
    for size in (0.01, 0.1):
        v = size / fastest * rng.uniform(-1.0, 1.0, model.nv)
        there = pc.integrate(model, q, v)
        assert_closed(model, there)
        assert np.abs(pin.difference(tree, mechanisms.move(model, q, v), there)).max() < 1e-10
        assert np.abs(pin.difference(tree, q, pc.integrate(model, there, -v))).max() < 1e-10
        off = np.array(pin.integrate(tree, q, size * rng.normal(size=tree.nv)))
        closed = pc.project(model, off)
        assert_closed(model, closed)
        assert np.abs(pin.difference(tree, off, closed)).max() < 20.0 * size


def pin_of_parallelogram(x: np.ndarray) -> np.ndarray:
    """left, right, bar: the far end of the bar on the end of the right one."""
    left, bar = np.array([np.cos(x[0]), np.sin(x[0])]), np.array([np.cos(x[0] + x[2]), np.sin(x[0] + x[2])])
    return 0.5 * left + bar - np.array([1.0, 0.0]) - 0.5 * np.array([np.cos(x[1]), np.sin(x[1])])


@pytest.mark.jitless
@pytest.mark.filterwarnings("ignore:.*called from Python at each state.*")
@pytest.mark.parametrize("how", ["compiled", "python"])
def test_a_change_point_ends_the_branch(how: str) -> None:
    """det K_d changes its sign where the bars are in line: a step that leads beyond is lost, however long it is."""
    model = bad_loops.parallelogram()
    if how == "python":
        phi = pc.Coupling(["left", "right", "bar"], pin_of_parallelogram, independent=["left"])
        model = pc.ClusterModel(model.tree, [phi], model.q_reference)
    start = pc.neutral(model)
    for step in (0.5, 0.9, 0.99, -1.0, -2.0):
        there = pc.integrate(model, start, [step])
        assert np.abs(there - start - step * np.array([1.0, 1.0, -1.0])).max() < 1e-11
    rng = np.random.default_rng(0)
    for k in range(120):
        # steps of the continuation end on the change point itself, up to rounding and a little more
        angle = 0.2 * (k % 6 + 1) + float(rng.normal()) * 10.0 ** -rng.integers(4, 18)
        beyond = (0.05, 0.2, 0.37, 1e-3, 1e-6)[k % 5]
        with raises(pc.BranchLost, "'left' 'right' 'bar'"):
            pc.integrate(model, angle * np.array([-1.0, -1.0, 1.0]), [angle + beyond])


def test_many_turns(rng: np.random.Generator) -> None:
    """|q| of hundreds of radians: the rule scales with it, and nothing drifts."""
    model = mechanisms.four_bar(rng).build()
    q = start = pc.neutral(model)
    for _ in range(60):
        q = pc.integrate(model, q, [2.0 * np.pi])
    assert q[0] - start[0] == pytest.approx(120.0 * np.pi, rel=1e-13)
    assert_closed(model, q)
    assert np.abs(wrapped(model, start, q)).max() < 1e-9


def non_grashof(rng: np.random.Generator) -> pc.ClusterModel:
    """Crank 0.6, coupler 0.5, rocker 0.4, ground 1: the crank cannot turn round."""
    b = mechanisms.Builder(rng)
    b.add("crank", None, Y, pin.SE3.Identity(), -0.2)
    b.add("coupler", "crank", Y, 0.6 * X, 0.5)
    b.add("rocker", None, Y, X, 0.1)
    loop = pc.Loop(("coupler", 0.5 * X), ("rocker", 0.4 * Z), "revolute", Y, name="pin")
    return b.mechanism([loop], ("crank",), 1).build()


@pytest.mark.jitless
@pytest.mark.parametrize("way", [2.0, -2.0, 5.0, 40.0])
def test_where_a_mechanism_cannot_go(way: float, rng: np.random.Generator) -> None:
    model = non_grashof(rng)
    q = pc.neutral(model)
    before = q.copy()
    with raises(pc.BranchLost, "'crank' 'coupler' 'rocker' Loop('pin') pc.with_independent") as lost:
        pc.integrate(model, q, [way])
    assert set(lost.value.cluster) == {"crank", "coupler", "rocker"}
    assert np.array_equal(q, before)
    near = pc.integrate(model, q, [0.01])  # and the model still works
    assert_closed(model, near)


@pytest.mark.parametrize("by", ["tables", "traced", "Python"])
@pytest.mark.parametrize("way", [2.0, -40.0])
def test_an_error_states_how_far_the_motion_went(by: str, way: float, rng: np.random.Generator) -> None:
    with pc.engine("tables" if by == "Python" else by), pytest.MonkeyPatch.context() as patch:
        model = non_grashof(rng)
        patch.setattr(loops_of(model), "compiled", by != "Python")
        q = pc.neutral(model)
        with raises(pc.BranchLost) as lost:
            pc.integrate(model, q, [way])
        part = float(re.search(r"stop at (\S+) % of it", str(lost.value))[1]) / 100.0
        assert_closed(model, pc.integrate(model, q, [0.995 * part * way]))
        with raises(pc.BranchLost):
            pc.integrate(model, q, [1.005 * part * way])


def test_a_part_that_is_not_known_is_not_stated() -> None:
    """An angle stored as cosine and sine does not contain full turns."""
    tree = pin.Model()
    for name, parent, x in (("crank", 0, 0.0), ("coupler", 1, 0.6), ("rocker", 0, 1.0)):
        kind = pin.JointModelRUBY() if name == "crank" else pin.JointModelRY()
        j = tree.addJoint(parent, kind, pin.SE3(np.eye(3), x * X), name)
        tree.appendBodyToJoint(j, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    loop = pc.Loop(("coupler", 0.5 * X), ("rocker", 0.4 * Z), "revolute", Y, name="pin")
    model = pc.ClusterModel(tree, [loop], independent=["crank"])
    with raises(pc.BranchLost, "'crank'") as lost:
        pc.integrate(model, pc.neutral(model), [40.0])
    assert "%" not in str(lost.value)


@pytest.mark.jitless
def test_up_to_the_dead_centre_and_past_it_with_others(rng: np.random.Generator) -> None:
    """Bisection up to the limit of the crank; there the rocker can lead through."""
    model = non_grashof(rng)
    q, reached, step = pc.neutral(model), 0.0, 0.5
    while step > 1e-9:
        try:
            q = pc.integrate(model, q, [step])
            reached += step
        except pc.BranchLost:
            step *= 0.5
    (here,) = condition(model, model.createData(), q)
    assert here.K_d > 1e3
    assert here.K < 1e3
    other, _ = with_independent(model, ["rocker"])
    assert error(pc.neutral(other), pc.neutral(model)) < 1e-12
    cond = [condition(other, other.createData(), pc.integrate(other, q, [s]))[0].K_d for s in (-0.05, 0.0, 0.05)]
    assert max(cond) < 1e3
    past = [pc.integrate(other, q, [s]) for s in (-0.05, 0.05)]
    assert (past[0][0] - q[0]) * (past[1][0] - q[0]) > 0.0  # the crank turns back on both sides
    for x in past:
        assert_closed(other, x)
    # the two sides are different branches of the crank's model
    meet = pc.project(model, np.array([past[0][0], past[1][1], past[1][2]]), hold="crank")
    with pytest.raises(pc.BranchLost):
        pc.difference(model, past[0], meet)


@pytest.mark.parametrize("name", ["digit_leg", "cassie_leg"])
def test_who_rests_near_a_dead_centre_stays(name: str, rng: np.random.Generator) -> None:
    """Up to where the robot can go no further: by the kernel, by rows and in Python, q is where it was.

    A dead centre doubles what is open: 1e-11 m and the curvature of links of 0.1 m leave 3e-5 rad to Newton's method.
    """
    model, seen = pc.load(name), 0
    rest = np.zeros(model.nv)
    for _ in range(6):
        q, step, way = pc.neutral(model), 0.5, rng.uniform(-1.0, 1.0, model.nv)
        while step > 1e-14:
            try:
                q = pc.integrate(model, q, step * way)
            except pc.BranchLost:
                step *= 0.5
                continue
            if step < 1e-3:
                seen += 1
                stays = [pc.integrate(model, q, rest), pc.batch.integrate(model, q[None], rest[None])[0]]
                with pytest.MonkeyPatch.context() as python:
                    python.setattr(loops_of(model), "compiled", False)
                    stays.append(carry(model, q, rest))
                assert max(np.abs(x - q).max() for x in stays) < 1e-4
    assert seen > 50


@pytest.mark.jitless
@pytest.mark.parametrize("exponent", range(4, 13))
def test_singular_from_a_condition_of_1e8(exponent: int) -> None:
    """The kernels' own bound of the condition against singular values: an error above, numbers below."""
    model, dead = bad_loops.dead_centre()
    other, _ = with_independent(model, ["rocker"])
    q = pc.integrate(other, pc.project(other, dead), [10.0**-exponent])
    data, ones = model.createData(), np.ones(1)
    (here,) = condition(model, data, q)
    calls = {
        "crba": lambda: pc.crba(model, data, q),
        "rnea": lambda: pc.rnea(model, data, q, ones, ones),
        "aba": lambda: pc.aba(model, data, q, ones, ones),
        "coupling_jacobian": lambda: pc.coupling_jacobian(model, data, q),
        "computeKineticEnergy": lambda: pc.computeKineticEnergy(model, data, q, ones),
    }
    for name, f in calls.items():
        if here.K_d > 1e8:
            with raises(pc.SingularClusterError, "1e+08"):
                f()
        elif here.K_d < 0.3e8:  # the kernels' bound is up to twice the condition
            assert np.all(np.isfinite(f())), name
    assert (here.K_d > 1e8) == (exponent > 7), here
    assert here.K < 100.0


@pytest.mark.jitless
def test_a_singular_pose_is_judged_by_one_condition() -> None:
    """Huge angles are no reason for an error; and what a kernel has judged is not contradicted by singular values."""
    model = pc.load("four_bar")
    q = pc.integrate(model, model.q_reference, np.array([0.3]))
    with pytest.raises(pc.SingularClusterError) as found:
        raise singular_error(model, loops_of(model).clusters[0].joints, q)
    assert float(re.findall(r"joints, is (\S+) ", str(found.value))[0]) >= 1e8
    with pc.engine("tables"):
        data = model.createData()
    for x in (1e15, 1e30, -1e300):
        q[1] = x
        right = pin.computePotentialEnergy(model.tree, model.tree.createData(), q)
        assert pc.computePotentialEnergy(model, data, q) == pytest.approx(right, rel=1e-9, abs=1e-9)


def test_what_is_not_finite_passes(rng: np.random.Generator) -> None:
    model = mechanisms.four_bar(rng).build()
    q = pc.neutral(model)
    for bad in (np.nan, np.inf, -np.inf):
        moved = pc.integrate(model, q, [bad])
        assert not np.isfinite(moved).any()
        broken = q.copy()
        broken[1] = bad
        assert not np.isfinite(pc.integrate(model, broken, [0.1])[1])
        with raises(pc.ConfigurationError, "'coupler' project q"):
            pc.project(model, broken)
        with raises(pc.ConfigurationError, "'coupler' q"):
            pc.branches(model, broken, "crank")


# --- which joints are independent -------------------------------------------------------------------------------------

# pinned: a change of the choice changes the meaning of everybody's v
CHOSEN: dict[Any, tuple[str, ...]] = {
    "four_bar_serial_on_free_flyer": ("base", "crank"),
    "rotors_on_a_loop_on_free_flyer": ("base", "crank"),
    "watt_six_bar": ("crank",),
    "geared_five_bar": ("left",),
    "rssr_uneven": ("input", "passenger"),
    "spatial_ball_in_tree": ("input",),
    "spatial_ball_loop": ("input",),
    "bennett": ("one",),
    "sarrus": ("a1",),
    "delta": ("platform",),
    "delta_pairs": ("platform",),
    "sloppy_four_bar": ("crank",),
    "ankle_2rsu": ("shank", "motor_1", "motor_2"),
    "slider_crank_serial": ("crank",),
}


@pytest.mark.parametrize("key", pool.FIXED, ids=str)
def test_the_choice_of_independent_joints_is_pinned(key: Any) -> None:
    m = pool.case(key).mechanism
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(m.tree, m.constraints, m.q0)
    assert model.independent_joints == CHOSEN[key]


@pytest.mark.ci
def test_the_choice_does_not_depend_on_the_process() -> None:
    """Other hashes of names, other threads in linear algebra: the same joints; and copies keep it."""
    code = "import pin_clusters as pc; print([pc.load(n).independent_joints for n in ('cassie_leg', 'tello', 'delta')])"
    here = [pc.load(n).independent_joints for n in ("cassie_leg", "tello", "delta")]
    for seed, threads in (("1", "1"), ("77", "2")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads}
        told = subprocess.run(
            [sys.executable, "-W", "ignore", "-Pc", code], capture_output=True, text=True, check=True, env=env
        )
        assert told.stdout.strip() == str(here)
    model = pc.load("delta")
    assert pickle.loads(pickle.dumps(model)).independent_joints == model.independent_joints
    assert model.with_gravity(np.zeros(3)).independent_joints == model.independent_joints


SIDES = ("left", "right")
ROBOTS: dict[str, tuple[str, ...]] = {
    "ankle_2rsu": ("ankle_pitch", "ankle_roll"),
    "cassie_leg": ("hip_roll", "hip_yaw", "hip_pitch", "knee", "shin", "foot", "heel_spring"),
    "cassie": (
        "floating_base",
        *(f"{side}_{name}" for side in SIDES
          for name in ("hip_roll", "hip_yaw", "hip_pitch", "knee", "shin", "heel_spring", "foot")),
    ),
    "robotiq_2f85": ("right_driver_joint", "right_spring_link_joint", "left_spring_link_joint"),
    "delta": ("arm_1", "arm_2", "arm_3"),
    "digit_leg": ("hip_roll", "hip_yaw", "hip_pitch", "knee", "crank_1", "crank_2"),
    "four_bar": ("crank",),
    "four_bar_change_point": ("crank",),
    "kangaroo_leg": ("hip_yaw", "hip_roll", "hip_pitch", "thigh", "ankle_roll", "ankle_pitch"),
    "planar_leg_linkage": ("thigh", "shank_driver"),
    "six_bar": ("left_1", "left_2", "left_3"),
    "tello": (
        "root_joint",
        *(f"{side}_{name}" for side in SIDES
          for name in ("hip_yaw", "knee_ankle_rotor_1", "knee_ankle_rotor_2", "hip_rotor_1", "hip_rotor_2")),
    ),
    "tello_with_arms": (
        "root_joint",
        *(f"{side}_{name}" for side in SIDES
          for name in ("hip_yaw", "knee_ankle_rotor_1", "knee_ankle_rotor_2", "hip_rotor_1", "hip_rotor_2",
                       "shoulder_ry", "shoulder_rx", "shoulder_rz", "elbow")),
    ),
    "watt_six_bar": ("crank",),
}  # fmt: skip


@pytest.mark.parametrize("name", pool.some(sorted(pc.robots()), ["cassie", "delta", "tello"], rest="ci"))
def test_independent_joints_of_the_robots(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # of inertias as published
        model = pc.load(name)
    assert bool(model.closures) == (name in ROBOTS)
    if model.closures:
        assert model.independent_joints == ROBOTS[name]
        assert_closed(model, pc.neutral(model))
        assert all(c.K_d < 1e3 for c in condition(model, model.createData(), pc.neutral(model)))
