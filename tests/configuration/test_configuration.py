"""Configurations: random, neutral, integrate, difference, interpolate."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pinocchio as pin
import pytest
from samples.mixed import KINDS, error, planar_leg, random_state, robot
from support.messages import raises, warns

from pin_clusters.constraints import LinearCoupling
from pin_clusters.errors import ArgumentTypeError, ConfigurationError, PinClustersWarning, ShapeError
from pin_clusters.model import ClusterModel
from pin_clusters.model import configuration as conf

# one rounding per operation on numbers up to about 10 (ratio times angle), some tens of operations
ROUNDING = 1e-13

pytestmark = pytest.mark.jitless


def distance(q0, q1):
    """Largest difference of two configurations of one tree; no (cos, sin) or quaternion wraps."""
    return np.abs(np.asarray(q0) - np.asarray(q1)).max()


def continuous_gear(ratio=3.0, joint=None):
    """A continuous joint that leads a joint of one number."""
    tree = pin.Model()
    lead = tree.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "lead")
    tree.appendBodyToJoint(lead, pin.Inertia.Random(), pin.SE3.Identity())
    last = tree.addJoint(lead, joint or pin.JointModelRX(), pin.SE3.Identity(), "last")
    tree.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Identity())
    return ClusterModel(tree, [LinearCoupling("last", {"lead": ratio}, 0.1)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_random_is_on_the_couplings_and_integrate_undoes_difference(kind, seed):
    model = robot(kind, seed)
    q, v, _ = random_state(model, seed)
    v *= 0.5  # less than half a turn of a spherical joint
    conf.check(model, q, 1e-14)
    assert np.abs(conf.residual(model, q)).max(initial=0.0) < ROUNDING
    moved = conf.integrate(model, q, v)
    conf.check(model, moved, 1e-14)
    assert error(conf.difference(model, q, moved), v) < 1e-12
    # from a zero step to itself
    assert distance(conf.integrate(model, q, 0 * v), q) < ROUNDING
    other = conf.randomConfiguration(model)
    way = conf.difference(model, q, other)
    there = conf.integrate(model, q, way)
    assert np.abs(conf.difference(model, other, there)).max() < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_integrate_moves_the_independent_joints_as_pinocchio_does(kind):
    model = robot(kind)
    q, v, _ = random_state(model, 4)
    whole = model.coupling_matrix @ v
    expected, moved = pin.integrate(model.tree, q, whole), conf.integrate(model, q, v)
    for name in model.independent_joints:
        j = model.getJointId(name)
        i = slice(model.idx_qs[j], model.idx_qs[j] + model.nqs[j])
        assert np.array_equal(moved[i], expected[i]), name
    # the couplings are linear, so Pinocchio on the tree arrives at the same place but for rounding
    assert distance(moved, expected) < ROUNDING


def test_thousand_steps_do_not_drift():
    model = robot("free")
    q, v, _ = random_state(model, 5)
    for _ in range(1000):
        q = conf.integrate(model, q, 0.03 * v)
    assert np.abs(conf.residual(model, q)).max() < 1e-12  # dependents reach some hundred rad
    assert np.abs(q).max() > 30.0


@pytest.mark.parametrize("kind", KINDS)
def test_neutral_is_pinocchios_with_dependents_solved(kind):
    model = robot(kind)
    q, plain = conf.neutral(model), pin.neutral(model.tree)
    conf.check(model, q, 1e-14)
    for name in model.independent_joints:
        j = model.getJointId(name)
        i = slice(model.idx_qs[j], model.idx_qs[j] + model.nqs[j])
        assert np.array_equal(q[i], plain[i])
    first = q.copy()
    q += 1.0  # The result is a fresh array, which does not change later results.
    assert np.array_equal(conf.neutral(model), first)
    q = first
    if kind == "free":
        gear = q[model.idx_qs[model.getJointId("arm_rotor")]]
        assert gear == 0.4
        assert q[model.idx_qs[model.getJointId("far")]] == pytest.approx(0.25 - 0.1 * 0.4, abs=1e-15)
        k = model.idx_qs[model.getJointId("spun")]
        assert q[k : k + 2] == pytest.approx([np.cos(-1.0), np.sin(-1.0)], abs=1e-15)


def test_random_honours_the_limits_of_independent_joints_and_the_seed():
    leg = planar_leg().tree.copy()
    leg.lowerPositionLimit = np.array([0.2, -9.0, -np.inf, -9.0])
    leg.upperPositionLimit = np.array([0.3, 9.0, -3.0, 9.0])
    model = ClusterModel(leg, planar_leg().constraints)
    i, k = model.idx_qs[model.getJointId("hip")], model.idx_qs[model.getJointId("knee")]
    pin.seed(3)
    drawn = np.array([conf.randomConfiguration(model) for _ in range(200)])
    assert 0.2 <= drawn[:, i].min() < drawn[:, i].max() <= 0.3
    assert -5.0 <= drawn[:, k].min() < drawn[:, k].max() <= -3.0  # one limit: within 2 of it
    assert np.abs(drawn[:, 3]).max() > 9.0 or np.abs(drawn[:, 1]).max() > 1.0  # dependents just follow
    pin.seed(3)
    assert np.array_equal(conf.randomConfiguration(model), drawn[0])


def test_random_of_unlimited_joints_is_within_one_and_rotations_are_uniform():
    model = robot("free")
    pin.seed(0)
    drawn = np.array([conf.randomConfiguration(model) for _ in range(600)])
    assert np.abs(drawn[:, :3]).max() <= 1.0
    assert np.abs(drawn[:, :3]).max() > 0.95
    assert np.allclose(np.linalg.norm(drawn[:, 3:7], axis=1), 1.0, atol=1e-14)
    # uniform rotations: the mean of the rotation matrices is 0, here within five standard errors
    mean = np.mean([pin.Quaternion(q[3:7]).matrix() for q in drawn], axis=0)
    assert np.abs(mean).max() < 5 / np.sqrt(3 * 600)
    j = model.idx_qs[model.getJointId("spin")]
    angle = np.arctan2(drawn[:, j + 1], drawn[:, j])
    assert angle.min() < -3.0 < 3.0 < angle.max()


def test_random_with_given_limits():
    model = robot("free")
    low, high = np.full(model.nq, 0.5), np.full(model.nq, 0.6)
    q = conf.randomConfiguration(model, list(low), high.astype(np.float32)[:, None])
    conf.check(model, q)
    for name in ("arm", "slide", "tip", "zyx", "shift", "cross"):
        j = model.getJointId(name)
        part = q[model.idx_qs[j] : model.idx_qs[j] + model.nqs[j]]
        assert np.all((part >= 0.5) & (part <= 0.6 + 1e-7)), name
    with raises(ConfigurationError, "'arm'"):
        conf.randomConfiguration(model, high, np.where(np.arange(model.nq) == 7, 0.0, high))
    with raises(ConfigurationError, "'root' randomConfiguration nan"):
        conf.randomConfiguration(model, np.full(model.nq, np.nan), high)
    # infinite ones are unlimited
    assert np.abs(conf.randomConfiguration(model, -np.inf * high, np.inf * high)[:3]).max() <= 1.0
    with raises(ShapeError, "3"):
        conf.randomConfiguration(model, np.zeros(3), high)


def test_random_ignores_inverted_limits_of_the_model():
    tree = planar_leg().tree.copy()
    tree.lowerPositionLimit, tree.upperPositionLimit = np.full(4, 2.0), np.full(4, -2.0)
    with warns(PinClustersWarning, "'hip' 'hip_rotor' 'knee'"):
        model = ClusterModel(tree, planar_leg().constraints)
    assert np.abs(conf.randomConfiguration(model)[0]) <= 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_interpolate(kind):
    model = robot(kind)
    q0, v, _ = random_state(model, 6)
    q1 = conf.integrate(model, q0, 0.5 * v)
    assert distance(conf.interpolate(model, q0, q1, 0.0), q0) < ROUNDING
    assert distance(conf.interpolate(model, q0, q1, 1.0), q1) < ROUNDING
    for u in (0.3, 0.5, 1.4):
        at = conf.interpolate(model, q0, q1, u)
        conf.check(model, at, 1e-13)
        assert distance(at, conf.integrate(model, q0, 0.5 * u * v)) < ROUNDING
    if kind == "bare":
        assert np.array_equal(conf.interpolate(model, q0, q1, 0.3), pin.interpolate(model.tree, q0, q1, 0.3))
    for alpha in (np.array([0.5]), np.array(0.5), [0.5], np.float64(0.5), np.float32(0.5)):
        assert np.array_equal(conf.interpolate(model, q0, q1, alpha), conf.interpolate(model, q0, q1, 0.5))
    assert np.array_equal(conf.interpolate(model, q0, q1, 1), conf.interpolate(model, q0, q1, 1.0))


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_norms_of_the_difference(kind, rng):
    model = robot(kind)
    q1, v, _ = random_state(model, 7)
    q2 = conf.integrate(model, q1, 0.5 * v)
    way, expected = conf.difference(model, q1, q2), []
    for name in model.independent_joints:
        j = model.getJointId(name)
        first, n = model.joint_idx_v(name), model.tree.nvs[j]
        expected += [np.sum(way[first : first + n] ** 2)] if n else []
    found = conf.squaredDistance(model, q1, q2)
    assert error(found, np.array(expected)) < 1e-12
    assert conf.distance(model, q1, q2) == pytest.approx(np.linalg.norm(way), rel=1e-12)
    assert conf.isSameConfiguration(model, q1, q1.copy()) is True
    assert conf.isSameConfiguration(model, q1, q2) is False
    # The dependent joints do not count.
    dependent = [i for j in map(model.getJointId, model.dependent_joints)
                 for i in range(model.idx_qs[j], model.idx_qs[j] + model.nqs[j])]  # fmt: skip
    q2[dependent] = rng.normal(size=len(dependent))
    assert np.array_equal(conf.squaredDistance(model, q1, q2), found)


def test_normalize_leaves_its_argument_as_it_is():
    model = robot("free")
    q = conf.neutral(model)
    q[3:7] *= 3.0
    before = q.copy()
    found = conf.normalize(model, q)
    assert np.array_equal(q, before)
    assert not np.shares_memory(found, q)
    assert np.linalg.norm(found[3:7]) == pytest.approx(1.0, abs=1e-15)
    assert conf.isNormalized(model, found) is True
    assert conf.isNormalized(model, q) is False


def test_functions_of_configurations_name_a_wrong_model():
    model = robot("free")
    q, data = conf.neutral(model), model.tree.createData()
    for call in (
        lambda: conf.distance(data, q, q), lambda: conf.squaredDistance(data, q, q), lambda: conf.normalize(data, q),
        lambda: conf.isNormalized(data, q), lambda: conf.isSameConfiguration(data, q, q),
        lambda: conf.interpolate(data, q, q, 0.5),
    ):  # fmt: skip
        with raises(ArgumentTypeError, "ClusterModel"):
            call()


@pytest.mark.parametrize("ratio", [1.0, 3.0, -2.0])
def test_a_joint_that_follows_a_continuous_one_counts_the_turns(ratio):
    model = continuous_gear(ratio)
    q = conf.neutral(model)
    for _ in range(100):
        q = conf.integrate(model, q, [0.5])
    assert q[2] == pytest.approx(ratio * 50.0 + 0.1, abs=1e-11)
    assert q[:2] == pytest.approx([np.cos(50.0), np.sin(50.0)], abs=1e-12)
    assert np.abs(conf.residual(model, q)).max() < 1e-11
    # a joint that is whole turns of the master off is where the coupling puts it, half a turn is not
    q[2] += 2 * np.pi * ratio
    conf.check(model, q)
    q[2] += np.pi
    with raises(ConfigurationError, "'last'"):
        conf.check(model, q)


def test_a_rack_on_a_continuous_pinion_travels_on():
    model = continuous_gear(2.0, pin.JointModelPX())
    q = conf.neutral(model)
    for _ in range(20):
        q = conf.integrate(model, q, [1.0])
    assert q[2] == pytest.approx(40.1, abs=1e-12)
    end = conf.integrate(model, q, [1.0])
    assert conf.interpolate(model, q, end, 0.5)[2] == pytest.approx(41.1, abs=1e-12)


def test_inputs():
    model = robot("free")
    q, v, _ = random_state(model, 11)
    expected = conf.integrate(model, q, v)
    assert np.array_equal(conf.integrate(model, list(q), v[:, None]), expected)
    assert np.array_equal(conf.integrate(model, np.repeat(q, 2)[::2], np.repeat(v, 2)[::2]), expected)
    assert distance(conf.integrate(model, q, v.astype(np.float32)), expected) < 1e-5
    whole = model.coupling_matrix @ v
    with raises(ShapeError, "'free' v pc.independent_velocity"):
        conf.integrate(model, q, whole)
    with raises(ShapeError, "q 3"):
        conf.integrate(model, q[:3], v)
    with raises(ShapeError, "q2"):
        conf.difference(model, q, v)
    with raises(ShapeError, "alpha 2"):
        conf.interpolate(model, q, q, [0.1, 0.2])
    with raises(ArgumentTypeError, "v complex128"):
        conf.integrate(model, q, v + 0j)
    with raises(ArgumentTypeError, "q"):
        conf.residual(model, "text")
    for f in (conf.neutral, conf.randomConfiguration):
        assert np.array_equal(conf.neutral(model.tree), pin.neutral(model.tree))
        with raises(ArgumentTypeError, "ClusterModel"):
            f(model.tree.createData())
    before = q.copy()
    conf.project(model, q)
    assert np.array_equal(q, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_inf_propagate_and_do_not_hang(bad):
    model = robot("free")
    q, v, _ = random_state(model, 12)
    i = int(np.searchsorted(model.idx_v_independent, model.tree.joints[model.getJointId("arm")].idx_v))
    v[i] = bad
    with np.errstate(invalid="ignore"):
        moved = conf.integrate(model, q, v)
    assert not np.isfinite(moved[model.idx_qs[model.getJointId("arm_rotor")]])
    with raises(ConfigurationError, "'root' q nan"):
        conf.check(model, moved)
    with raises(ConfigurationError, "'root' project q"):
        conf.project(model, moved)


def test_tables_go_with_their_model():
    model = planar_leg()
    conf.neutral(model)
    tables = weakref.ref(model._manifold)
    with_frame = model.with_frames({"foot": ("knee", np.zeros(3))})
    assert with_frame._manifold is tables()
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(conf.neutral(copy), conf.neutral(model))
    del model, with_frame
    gc.collect()
    assert tables() is None


def test_changing_the_tree_afterwards_has_no_effect():
    model = planar_leg()
    model.tree.lowerPositionLimit = np.full(4, 5.0)
    model.tree.upperPositionLimit = np.full(4, 6.0)
    assert np.array_equal(conf.neutral(model), np.zeros(4))
