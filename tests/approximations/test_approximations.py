"""The ladder of approximations: forward and inverse dynamics of each agree, and with what defines it."""

from __future__ import annotations

import pickle
import warnings
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees
from support.messages import raises

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.approximations import armature
from pin_clusters.studies.study import report
from pin_clusters.verification import baselines

ROBOTS = ("mit_humanoid_leg", "mini_cheetah", "jvrc1_as_published", "teleop_arm", "tello", "cassie_leg", "delta")
CHAINS = (0, 5, 9)
"""Seeds with a rotor that carries another one, which armature cannot stand for."""


@cache
def load(name: str, floating: bool) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name, root_joint=pin.JointModelFreeFlyer() if floating else None)


def state(model: pc.ClusterModel, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    spread = 0.1 if model.closures else 1.0
    q = pc.integrate(model, pc.neutral(model), spread * rng.uniform(-1.0, 1.0, size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    return q, v, a


def is_consistent(level: approximations.Approximation, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    tau, M = level.rnea(q, v, a), level.crba(q)
    scale = max(1.0, float(np.abs(tau).max()))
    assert np.abs(M - M.T).max() < 1e-13 * np.abs(M).max()
    # linear in a, with M as the slope: rounding of two inverse dynamics
    assert np.abs(tau - level.rnea(q, v, np.zeros_like(a)) - M @ a).max() < 1e-12 * scale
    try:
        found = level.aba(q, v, tau)
    except pc.SingularClusterError:
        size = np.sqrt(np.diag(M))
        assert np.linalg.cond(M / size / size[:, None]) > 1e12
        return
    # backward error: what the accelerations differ by is magnified by the condition of M
    assert np.abs(level.rnea(q, v, found) - tau).max() < 1e-11 * scale
    assert np.abs(found - a).max() < 1e-15 * np.linalg.cond(M) + 1e-11


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_forward_is_the_inverse_of_inverse_dynamics(name: str, floating: bool) -> None:
    model = load(name, floating)
    for drop in (False, True):
        for level in approximations.of(model, drop).values():
            for seed in range(2):
                is_consistent(level, *state(model, seed))


@pytest.mark.parametrize("seed", [s for s in range(12) if s not in CHAINS])
def test_the_same_on_random_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = trees.random_robot(rng, 5, floating=bool(seed % 2), couplings=0, rotor_bodies=2).build()
    q, v, a, _ = trees.random_state(model, rng)
    for level in approximations.of(model).values():
        is_consistent(level, q, v, a)


@pytest.mark.parametrize("key", ["rotors_on_a_loop_on_free_flyer", "rssr_massive", "watt_six_bar", 101, 104])
def test_the_same_on_loops(key: str | int) -> None:
    case = pool.case(key)
    v, a = np.random.default_rng(1).normal(size=(2, case.model.nv))
    for level in approximations.of(case.model).values():
        is_consistent(level, case.q, v, a)


def test_armature_is_the_baseline() -> None:
    model = load("mit_humanoid", True)
    q, v, a = state(model, 3)
    levels, block = approximations.of(model), baselines.block.createData(model)
    tree = baselines.armature_model(model, "none")
    at_q, at_v = armature.independent_q(model, tree), armature.independent_v(model, tree)
    own_v, own_a = np.zeros((2, model.nv))
    own_v[at_v], own_a[at_v] = v, a
    tau = pin.rnea(tree, tree.createData(), q[at_q], own_v, own_a)[at_v] + armature.reflected_inertia(model) @ a
    # two orders of adding up the same terms
    assert np.abs(levels["block"].rnea(q, v, a) - tau).max() < 1e-12
    assert np.abs(levels["block"].rnea(q, v, a) - baselines.block.rnea(model, block, q, v, a)).max() < 1e-12
    assert np.abs(levels["block"].aba(q, v, a) - baselines.block.aba(model, block, q, v, a)).max() < 1e-9
    assert np.array_equal(
        levels["diagonal"].crba(q) - np.diag(np.diag(levels["diagonal"].crba(q))),
        levels["none"].crba(q) - np.diag(np.diag(levels["none"].crba(q))),
    )


@pytest.mark.parametrize("name", ["tello", "ankle_2rsu", "delta"])
def test_unconstrained_is_the_baseline(name: str) -> None:
    """G by elimination and by a null space; rods by the matrix of their ends and by Simpson's rule."""
    model = load(name, True)
    q, v, a = state(model, 4)
    level, data = approximations.of(model)["unconstrained"], baselines.unconstrained.createData(model)
    assert np.abs(level.crba(q) - data.terms(q, v, None)[0]).max() < 1e-12
    assert np.abs(level.rnea(q, v, a) - baselines.unconstrained.rnea(model, data, q, v, a)).max() < 1e-10
    assert np.abs(level.aba(q, v, a) - baselines.unconstrained.aba(model, data, q, v, a)).max() < 1e-8


def test_frozen_is_the_tree_with_gears() -> None:
    """A LinearCoupling with the rows of G0 in place of the loop: the exact algorithms on another robot."""
    model = load("four_bar", False)
    tree, data = model.tree, model.createData()
    G = pc.coupling_jacobian(model, data, model.q_reference)
    lead = model.independent_joints[0]
    gears = [
        pc.LinearCoupling(name, {lead: float(G[tree.joints[tree.getJointId(name)].idx_v, 0])})
        for name in model.dependent_joints
    ]
    geared = pc.ClusterModel(tree, gears)
    level = approximations.of(model)["frozen"]
    for seed in range(3):
        q, v, tau = state(model, seed)
        # q is that of the loop, which the gears do not keep; the algorithms do not look
        assert level.aba(q, v, tau) == pytest.approx(pc.aba(geared, geared.createData(), q, v, tau), rel=1e-10)
        assert level.crba(q) == pytest.approx(pc.crba(geared, geared.createData(), q), rel=1e-12)


def test_no_rotor_and_armature_differ_by_armature() -> None:
    model = load("tello", False)
    q, v, _ = state(model, 5)
    levels = approximations.of(model)
    G = pc.coupling_jacobian(model, model.createData(), q)
    added = np.zeros(model.tree.nv)
    for r in model.rotors:
        for i, ratio in r.drivers:
            added[i] += r.axial_inertia * ratio**2
    difference = levels["armature"].crba(q) - levels["no rotor"].crba(q)
    assert np.abs(difference - G.T @ np.diag(added) @ G).max() < 1e-13
    bias = levels["armature"].rnea(q, v, 0.0 * v) - levels["no rotor"].rnea(q, v, 0.0 * v)
    assert np.abs(bias - G.T @ (added * pc.coupling_bias(model, model.createData(), q, v))).max() < 1e-12


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "tello", "four_bar"])
def test_pickles_give_the_same_numbers(name: str) -> None:
    model = load(name, False)
    q, v, a = state(model, 6)
    for drop in (False, True):
        for level in approximations.of(model, drop).values():
            again = pickle.loads(pickle.dumps(level))
            assert (again.name, again.drop_rotors, again.model.name) == (level.name, drop, model.name)
            for function in ("rnea", "aba"):
                assert np.array_equal(getattr(again, function)(q, v, a), getattr(level, function)(q, v, a))
            assert np.array_equal(again.crba(q), level.crba(q))


def test_names_and_words() -> None:
    leg, bar, tello = (load(name, False) for name in ("mit_humanoid_leg", "four_bar", "tello"))
    assert tuple(approximations.of(leg)) == approximations.names(leg) == approximations.LEVELS
    assert tuple(approximations.of(bar)) == approximations.LOOP_LEVELS
    assert tuple(approximations.of(tello)) == approximations.LOOP_LEVELS + approximations.ROTOR_LEVELS
    every = {**approximations.of(leg), **approximations.of(tello)}
    assert set(every) == set(approximations.LABELS) == set(approximations.DEFINITIONS)
    for name, level in every.items():
        assert (level.name, level.label, level.definition) == (
            name,
            report.LABELS[name],
            approximations.DEFINITIONS[name],
        )
        assert name in repr(level)
    assert "dropped" in repr(approximations.of(leg, True)["none"])


def test_dropped_rotors_take_their_mass() -> None:
    model = load("mini_cheetah", True)
    q, _, _ = state(model, 7)
    rotors = sum(model.tree.inertias[r.joint_id].mass for r in model.rotors)
    assert rotors > 0.1
    for name in approximations.LEVELS:
        masses = [approximations.of(model, drop)[name].crba(q)[0, 0] for drop in (False, True)]
        assert masses[0] - masses[1] == pytest.approx(rotors, rel=1e-12)


def test_what_moves_no_inertia_is_refused() -> None:
    model = load("mit_humanoid_leg", True)  # its base has no mass but that of the rotors
    q, v, tau = state(model, 8)
    levels = approximations.of(model, drop_rotors=True)
    with raises(pc.SingularClusterError, "'none' 'mit_humanoid_leg'"):
        levels["none"].aba(q, v, tau)
    with raises(pc.SingularClusterError, "'none' 'mit_humanoid_leg' drop_rotors"):
        levels["none"].check(q)
    assert np.all(np.isfinite(levels["none"].rnea(q, v, tau)))
    assert np.all(np.isfinite(levels["diagonal"].aba(q, v, tau)))


def test_bad_arguments() -> None:
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        approximations.of(pin.buildSampleModelManipulator())  # type: ignore[arg-type]
    model = load("mit_humanoid_leg", False)
    q, v, tau = state(model, 9)
    level = approximations.of(model)["diagonal"]
    with raises(pc.ShapeError, "q 5 10"):
        level.rnea(v, v, v)
    with raises(pc.ShapeError, "v 10"):
        level.aba(q, q, tau)
    with raises(pc.ShapeError, "tau 4"):
        level.aba(q, v, tau[:4])
    with raises(pc.ArgumentTypeError, "a"):
        level.rnea(q, v, ["fast"] * 5)
    with raises(pc.ModelError, "'elbow_joint'"):
        approximations.of(
            pc.ClusterModel(
                pin.buildSampleModelManipulator(), [pc.LinearCoupling("elbow_joint", {"shoulder2_joint": 1.0})]
            )
        )


def test_nan_goes_through() -> None:
    model = load("mit_humanoid_leg", False)
    q, v, tau = state(model, 10)
    for level in approximations.of(model).values():
        assert not np.any(np.isfinite(level.aba(np.full_like(q, np.nan), v, tau)))
        assert np.all(np.isfinite(level.aba(q, v, tau)))
