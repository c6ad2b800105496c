"""Forward dynamics by other methods, compiled: the accelerations of `pc.aba`, and the forces of all bearings."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from samples.pool import error
from support.messages import raises

import pin_clusters as pc
from pin_clusters.verification.baselines import baraff, projection, sparse_crba, unit_vectors, yamane_nakamura

METHODS: dict[str, Any] = {
    "yamane_nakamura": yamane_nakamura,
    "baraff": baraff,
    "unit_vectors": unit_vectors,
    "sparse_crba": sparse_crba,
}
"""The others take half a minute to compile."""
WITH_FORCES = ("yamane_nakamura", "baraff")
LIMIT = 1e-9
BASES = {"default": "default", "fixed": None, "floating": pin.JointModelFreeFlyer()}
# planar robots on a base without mass: some motion of the base moves no inertia
NOTHING_TO_PUSH = {("planar_leg_linkage", "floating"), ("six_bar", "floating")}
QUICK = ("geared_chain", "four_bar", "delta", "tello")
"""With gears, a redundant loop, rods with mass and massless links, and closures of joints."""


def load(name: str, base: Any = "default") -> pc.ClusterModel:
    with warnings.catch_warnings():  # about inertias that no real body has
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name, base)


def state(model: pc.ClusterModel, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """An assembled pose beside the neutral one, v, tau, and forces from outside."""
    q = pc.neutral(model)
    for size in (0.5, 0.2, 0.05):
        try:
            q = pc.integrate(model, q, size * rng.normal(size=model.nv))
            break
        except pc.BranchLost:
            continue
    v, tau = rng.normal(size=(2, model.nv))
    fext = rng.normal(size=(model.njoints, 6))
    fext[0] = 0.0
    return q, v, tau, fext


def bearings(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None) -> np.ndarray:
    given = np.zeros(model.tree.nv)
    given[model.idx_v_independent] = tau
    return pc.constraint_forces(model, model.createData(), q, v, given, fext).joints


@pytest.mark.ci
@pytest.mark.parametrize("base", pool.some(BASES, ["default"]))
@pytest.mark.parametrize("name", [pytest.param(r, marks=[pytest.mark.jitless] * (r in QUICK)) for r in pc.robots()])
def test_shipped_robots(name: str, base: str, rng: np.random.Generator) -> None:
    model = load(name, BASES[base])
    q, v, tau, fext = state(model, rng)
    if (name, base) in NOTHING_TO_PUSH:
        for method in METHODS.values():
            with raises(pc.SingularClusterError):
                method.aba(model, method.createData(model), q, v, tau)
        return
    expected = pc.aba(model, model.createData(), q, v, tau, fext)
    forces = bearings(model, q, v, tau, fext)
    for method, module in METHODS.items():
        data = module.createData(model)
        for _ in range(2):  # nothing is left behind
            assert error(module.aba(model, data, q, v, tau, fext), expected) < LIMIT, method
            if method in WITH_FORCES:
                assert error(module.joint_forces(model, data, q, v, tau, fext), forces) < LIMIT, method


@pytest.mark.ci
@pool.each()
def test_samples(key: pool.Key, rng: np.random.Generator) -> None:
    """All joints, armatures, couplings, rotors, closures, redundant or not; sloppy ones to their misfit."""
    case = pool.case(key)
    s = pool.state(key, rng)
    model, tau = s.model, rng.normal(size=s.model.nv)
    for forces in (None, s.fext):
        expected = projection.aba(model, projection.createData(model), s.q, s.v, tau, forces)
        through = bearings(model, s.q, s.v, tau, forces)
        for method, module in METHODS.items():
            data = module.createData(model)
            assert error(module.aba(model, data, s.q, s.v, tau, forces), expected) < LIMIT + 1e-4 * case.exact, method
            if method in WITH_FORCES:
                found = module.joint_forces(model, data, s.q, s.v, tau, forces)
                assert error(found, through) < LIMIT + 10.0 * case.exact, method


def link(tree: pin.Model, parent: int, joint: pin.JointModel, rng: np.random.Generator, name: str) -> int:
    j = tree.addJoint(parent, joint, trees.placement(rng), name)
    tree.appendBodyToJoint(j, trees.inertia(rng), pin.SE3.Identity())
    return int(j)


def star(ends: int, rng: np.random.Generator, *, base: pin.JointModel | None = None) -> pc.ClusterModel:
    """Arms of two links on one link."""
    tree = pin.Model()
    hub = link(tree, 0, pin.JointModelRX() if base is None else base, rng, "hub")
    for k in range(ends):
        upper = link(tree, hub, pin.JointModelSpherical(), rng, f"upper {k}")
        link(tree, upper, pin.JointModelRY(), rng, f"lower {k}")
    return pc.ClusterModel(tree)


def chain(n: int, rng: np.random.Generator) -> pc.ClusterModel:
    """Links on spherical joints."""
    tree, j = pin.Model(), 0
    for k in range(n):
        j = link(tree, j, pin.JointModelSpherical(), rng, f"joint {k}")
    return pc.ClusterModel(tree)


@pytest.mark.ci
@pytest.mark.parametrize("base", [pin.JointModelRX(), pin.JointModelFreeFlyer()], ids=["fixed", "floating"])
@pytest.mark.parametrize("ends", [1, 2, 3, 12])
def test_links_with_many_joints_are_divided(ends: int, base: pin.JointModel, rng: np.random.Generator) -> None:
    """A link with n > 3 joints becomes n - 2; a free flyer transmits nothing, and is no joint of it."""
    model = star(ends, rng, base=base)
    q, v = trees.random_state(model, rng)[:2]
    tau = rng.normal(size=model.nv)
    joints = ends + (base.nv < 6)
    whole, divided = (yamane_nakamura.createData(model, split=split) for split in (False, True))
    assert whole.links == model.njoints - 1
    assert divided.links - whole.links == max(0, joints - 3)
    # no part has more than three joints
    for tables in (divided.tables,):
        parents = [b.parent for b in tables.bodies]
        for i in range(1, len(parents)):
            assert parents[1:].count(i) + (tables.counts[i] > 0) <= 3
    expected = pc.aba(model, model.createData(), q, v, tau)
    for data in (whole, divided):
        assert error(yamane_nakamura.aba(model, data, q, v, tau), expected) < LIMIT
        assert error(yamane_nakamura.joint_forces(model, data, q, v, tau), bearings(model, q, v, tau)) < LIMIT


@pytest.mark.ci
def test_divided_links_with_gears_and_loops(rng: np.random.Generator) -> None:
    for name in ("mit_humanoid", "delta", "cassie_leg"):
        model = load(name)
        q, v, tau, fext = state(model, rng)
        results = [
            yamane_nakamura.aba(model, yamane_nakamura.createData(model, split=split), q, v, tau, fext)
            for split in (False, True)
        ]
        assert error(*results) < LIMIT


@pytest.mark.ci
@pytest.mark.parametrize("n", [2, 10, 16, 40])
def test_chains_of_spherical_joints(n: int, rng: np.random.Generator) -> None:
    model = chain(n, rng)
    q, v = trees.random_state(model, rng)[:2]
    tau = rng.normal(size=model.nv)
    expected, forces = pc.aba(model, model.createData(), q, v, tau), bearings(model, q, v, tau)
    banded, sparse = (baraff.createData(model, form) for form in ("chain", "tree"))
    assert (baraff.createData(model).form, banded.form, sparse.form) == ("chain", "chain", "tree")
    for data in (banded, sparse):
        assert error(baraff.aba(model, data, q, v, tau), expected) < LIMIT
        assert error(baraff.joint_forces(model, data, q, v, tau), forces) < LIMIT
    for name in ("yamane_nakamura", "unit_vectors", "sparse_crba"):
        assert error(METHODS[name].aba(model, METHODS[name].createData(model), q, v, tau), expected) < LIMIT


@pytest.mark.jitless
def test_factors_have_no_more_entries_than_the_systems(rng: np.random.Generator) -> None:
    models = [chain(7, rng), star(5, rng), *(load(name) for name in ("mini_cheetah", "jvrc1", "cassie_leg"))]
    for model in models:
        data = baraff.createData(model, "tree")
        assert data.nnz_L == data.nnz_H
        bodies = len(data.tables.bodies) - 1
        counts, joined = data.tables.counts[1:], [b.parent > 0 for b in data.tables.bodies[1:]]
        # 21 for a body, m (m + 1) / 2 for a joint, 6 m for each body beside it
        assert data.nnz_H == 21 * bodies + sum(
            m * (m + 1) // 2 + 6 * m * (1 + above) for m, above in zip(counts, joined, strict=True)
        )
    banded = baraff.createData(models[0])
    assert banded.band == 6
    assert banded.nnz_L == banded.nnz_H == 7 * 6 + 6 * 9
    for model in (models[0], models[1]):
        masses = sparse_crba.createData(model)
        assert masses.nnz_M == masses.nnz_L == np.count_nonzero(np.tril(_pattern(model)))


def _pattern(model: pc.ClusterModel) -> np.ndarray:
    """Where the mass matrix of a tree is not zero, from the way of each joint to the base."""
    tree = model.tree
    moves = [{i for k in tree.supports[j] if k for i in range(tree.idx_vs[k], tree.idx_vs[k] + tree.nvs[k])}
             for j in range(tree.njoints)]  # fmt: skip
    found = np.zeros((tree.nv, tree.nv), dtype=bool)
    for mine in moves:
        found[np.ix_(list(mine), list(mine))] = True
    return found


@pytest.mark.jitless
@pytest.mark.parametrize("name", ["mini_cheetah", "jvrc1", "tello", "cassie_leg", "delta"])
def test_the_mass_matrix_keeps_its_zeros(name: str, rng: np.random.Generator) -> None:
    model = load(name)
    data = sparse_crba.createData(model)
    q = state(model, rng)[0]
    M = projection.crba(model, projection.createData(model), q)
    assert data.nnz_M == data.nnz_L
    assert np.count_nonzero(np.tril(np.abs(M) > 1e-13 * np.abs(M).max())) <= data.nnz_M
    assert data.nnz_M < model.nv * (model.nv + 1) // 2 or name in ("cassie_leg", "delta")


def bare_arm(rng: np.random.Generator, inertia: pin.Inertia, *joints: pin.JointModel) -> pin.Model:
    tree = pin.Model()
    j = link(tree, 0, pin.JointModelRX(), rng, "arm")
    for k, joint in enumerate(joints):
        j = tree.addJoint(j, joint, trees.placement(rng), f"bare {k}")
        tree.appendBodyToJoint(j, inertia, pin.SE3.Identity())
    return tree


@pytest.mark.ci
def test_bodies_without_inertia_in_some_directions(rng: np.random.Generator) -> None:
    """In the middle, at the end, in rows, across joints that turn and that do not."""
    rod = pin.Inertia(0.0, np.zeros(3), np.diag([0.0, 0.0, 1e-3]))
    point = pin.Inertia(0.4, np.array([0.1, 0.0, 0.2]), np.zeros((3, 3)))
    planar = pin.Inertia(1.0, np.array([0.2, 0.1, 0.0]), np.diag([0.0, 0.0, 0.02]))
    models = [
        bare_arm(rng, rod, pin.JointModelRZ()),
        bare_arm(rng, point, pin.JointModelRX(), pin.JointModelRY()),
        bare_arm(rng, planar, *[pin.JointModelRZ()] * 5),
        bare_arm(rng, point, pin.JointModelPX(), pin.JointModelTranslation()),
    ]
    nothing = bare_arm(rng, pin.Inertia.Zero(), pin.JointModelPX(), pin.JointModelRY())
    link(nothing, 3, pin.JointModelSpherical(), rng, "end")
    for tree in (*models, nothing):
        model = pc.ClusterModel(tree)
        q, v = trees.random_state(model, rng)[:2]
        tau = rng.normal(size=model.nv)
        expected, forces = pc.aba(model, model.createData(), q, v, tau), bearings(model, q, v, tau)
        for name in WITH_FORCES:
            data = METHODS[name].createData(model)
            assert error(METHODS[name].aba(model, data, q, v, tau), expected) < LIMIT
            assert error(METHODS[name].joint_forces(model, data, q, v, tau), forces) < LIMIT


@pytest.mark.ci
def test_functions_of_the_user(rng: np.random.Generator) -> None:
    """They are asked in Python before the compiled function starts."""
    tree = bare_arm(rng, trees.inertia(rng), pin.JointModelRX(), pin.JointModelRY())
    cam = pc.Coupling(["bare 0", "bare 1"], lambda x: [x[1] - 0.3 * math.sin(2.0 * x[0])])
    with warnings.catch_warnings():  # about the speed of Python
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.ClusterModel(tree, [cam])
    q, v, tau, fext = state(model, rng)
    expected = projection.aba(model, projection.createData(model), q, v, tau, fext)
    for module in METHODS.values():
        assert error(module.aba(model, module.createData(model), q, v, tau, fext), expected) < LIMIT


@pytest.mark.parametrize("name", pool.some(METHODS, 0, rest="ci"))
def test_what_moves_nothing_is_named(name: str, rng: np.random.Generator) -> None:
    model = pc.ClusterModel(bare_arm(rng, pin.Inertia.Zero(), pin.JointModelPX()))
    module = METHODS[name]
    data = module.createData(model)
    with raises(pc.SingularClusterError) as caught:
        module.aba(model, data, np.zeros(2), np.zeros(2), np.ones(2))
    if name != "unit_vectors":  # a dense factor does not know where
        assert caught.value.cluster == ("bare 0",)


@pytest.mark.parametrize("name", pool.some(METHODS, 0, rest="ci"))
def test_open_or_singular_loops_are_named(name: str, rng: np.random.Generator) -> None:
    module = METHODS[name]
    model = load("four_bar_change_point")
    q = np.array(pc.neutral(model))
    data = module.createData(model)
    good = module.aba(model, data, q, np.ones(1), np.ones(1))
    flat = np.zeros(model.nq)  # all links on one line
    with raises(pc.SingularClusterError, "'crank' 'coupler' 'rocker'"):
        module.aba(model, data, flat, np.ones(1), np.ones(1))
    np.testing.assert_array_equal(module.aba(model, data, q, np.ones(1), np.ones(1)), good)


@pytest.mark.jitless
@pytest.mark.parametrize("name", pool.some(METHODS, 0, rest="ci"))
def test_arguments(name: str, rng: np.random.Generator) -> None:
    module, model = METHODS[name], chain(2, rng)
    other = chain(2, rng)
    data = module.createData(model)
    q, v = trees.random_state(model, rng)[:2]
    tau = rng.normal(size=model.nv)
    expected = module.aba(model, data, q, v, tau)
    with raises(pc.DataMismatchError, f"baselines.{name}.createData"):
        module.aba(model, module.createData(other), q, v, tau)
    with raises(pc.DataMismatchError, f"baselines.{name}.createData"):
        module.aba(model, projection.createData(model), q, v, tau)
    with raises(pc.ShapeError, "tau 3"):
        module.aba(model, data, q, v, tau[:3])
    with raises(pc.ShapeError, "fext (2, 6)"):
        module.aba(model, data, q, v, tau, np.zeros((2, 6)))
    with raises(pc.ArgumentTypeError, "q"):
        module.aba(model, data, ["a"] * model.nq, v, tau)
    np.testing.assert_array_equal(
        module.aba(model, data, q.tolist(), v[:, None], tau.astype(np.float32)),
        module.aba(model, data, q, v, tau.astype(np.float32).astype(float)),
    )
    forces = [pin.Force(rng.normal(size=6)) for _ in range(model.njoints)]
    forces[0] = pin.Force.Zero()
    rows = np.array([f.vector for f in forces])
    found = module.aba(model, data, q, v, tau, forces)
    np.testing.assert_array_equal(found, module.aba(model, data, q, v, tau, rows))
    assert error(found, projection.aba(model, projection.createData(model), q, v, tau, rows)) < LIMIT
    np.testing.assert_array_equal(module.aba(model, data, q, v, tau), expected)


@pytest.mark.parametrize("name", pool.some(METHODS, 0, rest="ci"))
def test_what_is_not_finite_stays_so(name: str, rng: np.random.Generator) -> None:
    module = METHODS[name]
    for model in (chain(2, rng), load("four_bar")):
        q, v, tau, _ = state(model, rng)
        data = module.createData(model)
        expected = module.aba(model, data, q, v, tau)
        for k in range(3):
            given = [q.copy(), v.copy(), tau.copy()]
            given[k][0] = math.nan if k else math.inf
            assert np.isnan(module.aba(model, data, *given)).any()
            if name in WITH_FORCES:
                assert np.isnan(module.joint_forces(model, data, *given)).any()
        np.testing.assert_array_equal(module.aba(model, data, q, v, tau), expected)


def test_options(rng: np.random.Generator) -> None:
    model = star(3, rng)
    with raises(pc.ArgumentTypeError, "split 1"):
        yamane_nakamura.createData(model, split=1)  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "form 'chain' 'tree' 'band'"):
        baraff.createData(model, "band")
    with raises(pc.NotAvailableError, "'hub' 'upper 0' 'upper 1' form='tree'"):
        baraff.createData(model, "chain")
