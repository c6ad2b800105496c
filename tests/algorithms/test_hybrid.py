"""Hybrid dynamics: any accelerations prescribed, the other ones found; splits inside clusters and of the base."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mixed, pool, trees
from support.messages import raises

import pin_clusters as pc
from pin_clusters.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DataMismatchError,
    ModelError,
    ShapeError,
    SingularClusterError,
    UnknownNameError,
)
from pin_clusters.verification import baselines, reference

# Two routes solve with the same M_FF, and rounding of its entries (2.2e-16 and its growth along the tree, see
# ``Case.rounding``) is amplified by its condition number; loops are amplified by that of K_d as well.
ROUNDING = {"tree": 1e-14, "loops": 1e-12}
# rnea of what was found is a sum without a solution: rounding relative to its largest terms, M a and tau
RESIDUAL = 1e-13


def free_condition(M: np.ndarray, mask: np.ndarray) -> float:
    return max(1.0, float(np.linalg.cond(M[np.ix_(~mask, ~mask)]))) if not mask.all() else 1.0


def close(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray], limit: float) -> None:
    """Both torques and accelerations; relative to the largest entry of both together, since each comes of the other."""
    assert pool.error(np.concatenate(found), np.concatenate(expected)) < limit


def hidden(mask: np.ndarray, tau: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What must not be read is NaN."""
    return np.where(mask, np.nan, tau), np.where(mask, a, np.nan)


def check(
    model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, masks: Any, limit: float, fext: Any = None
) -> None:
    data, exact, M = model.createData(), baselines.hybrid.createData(model), pc.crba(model, model.createData(), q)
    for mask in masks:
        v, tau, a = rng.normal(size=(3, model.nv))
        found = pc.hybrid_dynamics(model, data, q, v, *hidden(mask, tau, a), mask, fext)
        assert np.array_equal(found[0][~mask], tau[~mask])
        assert np.array_equal(found[1][mask], a[mask])
        expected = baselines.hybrid.hybrid_dynamics(model, exact, q, v, tau, a, mask, fext)
        close(found, expected, limit * free_condition(M, mask))
        again, size = pc.rnea(model, data, q, v, found[1], fext), np.linalg.norm(M, 2) * np.linalg.norm(found[1])
        assert np.linalg.norm(again - found[0]) < RESIDUAL * max(1.0, size, np.linalg.norm(again))


def some_masks(nv: int, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.random(nv) < share for share in (0.0, 0.2, 0.5, 0.5, 0.8, 1.1)]


@pool.each()
def test_random_subsets(key: pool.Key, rng: np.random.Generator) -> None:
    """Against the four steps, and rnea of the accelerations gives the torques; with external forces and without."""
    s = pool.state(key, rng)
    limit = ROUNDING["tree" if s.case.mechanism is None else "loops"] + 10.0 * s.case.exact
    for fext in (None, s.fext):
        check(s.model, s.q, rng, some_masks(s.model.nv, rng), limit, fext)


@pytest.mark.jitless
@pytest.mark.parametrize("kind", mixed.KINDS)
def test_all_kinds_of_joints(kind: str, rng: np.random.Generator) -> None:
    model = mixed.robot(kind)
    fext = rng.normal(size=(model.njoints, 6))
    fext[0] = 0.0
    q = mixed.random_state(model)[0]
    for forces in (None, fext):
        check(model, q, rng, some_masks(model.nv, rng), ROUNDING["tree"], forces)


@pytest.mark.jitless
@pytest.mark.parametrize("seed", range(4))
def test_reference(seed: int, rng: np.random.Generator) -> None:
    """Against the dense cluster recursion, in which torques come of forces on bodies."""
    robot = trees.random_robot(rng, int(rng.integers(2, 8)), floating=bool(seed % 2), couplings=2, rotors=2)
    model = robot.build(("as_added", "depth_first", "shuffled")[seed % 3], rng)
    data = model.createData()
    q, v, a, fext = trees.random_state(model, rng)
    M, tau = pc.crba(model, data, q), rng.normal(size=model.nv)
    for mask in some_masks(model.nv, rng):
        expected = reference.hybrid_dynamics(model, q, v, tau, a, mask, fext)
        found = pc.hybrid_dynamics(model, data, q, v, *hidden(mask, tau, a), mask, fext)
        close(found, expected, ROUNDING["tree"] * free_condition(M, mask))


def one_cluster(n: int, carrier: str, rng: np.random.Generator) -> pc.ClusterModel:
    """A free flyer with a chain of n + 1 joints, the last of which follows all others: n columns; with rotors.

    With the carrier inside the cluster it takes the general elimination, with the base as carrier that in registers.
    """
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(base, pin.Inertia.FromBox(3.0, 0.3, 0.2, 0.1), pin.SE3.Identity())
    parent = base
    for i in range(n + 1):
        parent = tree.addJoint(parent, pin.JointModelRevoluteUnaligned(trees.unit(rng)), trees.placement(rng), f"j{i}")
        tree.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.2, 0.1, 0.3), trees.placement(rng))
    tree.armature = np.concatenate([np.zeros(6), rng.uniform(0.1, 0.2, size=n + 1)])
    return pc.ClusterModel(
        tree,
        [
            pc.LinearCoupling(f"j{n}", {f"j{i}": rng.normal() for i in range(n)}),
            pc.Rotor(
                [f"j{i}" for i in range(n)], rng.normal(size=n) * 5.0, axial_inertia=0.002, axis=trees.unit(rng),
                carrier=carrier, armature="keep",
            ),
        ],
    )  # fmt: skip


@pytest.mark.jitless
@pytest.mark.parametrize("carrier", ["base", "j0"])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_every_split_of_a_cluster(n: int, carrier: str, rng: np.random.Generator) -> None:
    model = one_cluster(n, carrier, rng)
    q = pc.randomConfiguration(model)
    masks = [np.array([*[False] * 6, *inside]) for inside in itertools.product([False, True], repeat=n)]
    assert model.nv == 6 + n
    check(model, q, rng, masks, ROUNDING["tree"])


@pytest.mark.ci
def test_more_columns_than_an_integer_has_bits(rng: np.random.Generator) -> None:
    model = one_cluster(66, "j0", rng)
    q = pc.randomConfiguration(model)
    # the tree is ten times as deep as the others, and rounding grows along it
    check(model, q, rng, some_masks(model.nv, rng), 10.0 * ROUNDING["tree"])


@pytest.mark.jitless
def test_every_split_of_the_base(rng: np.random.Generator) -> None:
    model = one_cluster(2, "base", rng)
    q = pc.randomConfiguration(model)
    masks = [np.array([*base, False, True]) for base in itertools.product([False, True], repeat=6)]
    check(model, q, rng, masks, ROUNDING["tree"])


@pytest.mark.jitless
def test_every_split_of_a_cluster_with_loops(rng: np.random.Generator) -> None:
    """Prescribed accelerations stand in the place of the bias for a while: the next call of aba must not see them."""
    c = pool.case("ankle_2rsu")
    model, nv = c.model, c.model.nv
    masks = [np.array(m) for m in itertools.product([False, True], repeat=nv)]
    check(model, np.array(c.q), rng, masks, ROUNDING["loops"])
    data, fresh = model.createData(), model.createData()
    v, tau, a = rng.normal(size=(3, nv))
    for mask in masks:
        pc.hybrid_dynamics(model, data, c.q, v, tau, a, mask)
        for f in (pc.aba, pc.rnea):
            assert np.array_equal(f(model, data, c.q, v, tau), f(model, fresh, c.q, v, tau))


@pool.each(("tree-1", "tree-4", "rotors_on_a_loop_on_free_flyer", "geared_five_bar"))
def test_all_and_none(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    model, data, nv = s.model, s.data, s.model.nv
    none, every = np.zeros(nv, dtype=bool), np.ones(nv, dtype=bool)
    wanted, cond = np.full(nv, np.nan), np.linalg.cond(pc.crba(model, data, s.q))
    for fext in (None, s.fext):
        found = pc.hybrid_dynamics(model, data, s.q, s.v, wanted, s.a, every, fext)[0]
        assert pool.error(found, pc.rnea(model, data, s.q, s.v, s.a, fext)) < s.case.rounding
        found = pc.hybrid_dynamics(model, data, s.q, s.v, s.a, wanted, none, fext)[1]
        assert pool.error(found, pc.aba(model, data, s.q, s.v, s.a, fext)) < s.case.rounding * max(1.0, cond / 1e3)


def walker() -> tuple[pc.ClusterModel, pc.ClusterData, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    model = trees.geared_arm(floating=True).build()
    q, v, a, _ = trees.random_state(model, np.random.default_rng(0))
    return model, model.createData(), q, v, np.random.default_rng(1).normal(size=model.nv), a


@pytest.mark.jitless
def test_names() -> None:
    """A name stands for all independent velocities of its joint; names and masks in any form."""
    model, data, q, v, tau, a = walker()
    names = list(model.independent_joints)
    base, last = names[0], names[-1]
    mask = np.zeros(model.nv, dtype=bool)
    mask[:6] = mask[model.joint_idx_v(last)] = True
    expected = pc.hybrid_dynamics(model, data, q, v, tau, a, mask)
    forms = (
        [base, last], (last, base), {base, last}, np.array([base, last]), (name for name in (base, last)),
        list(mask), tuple(mask.tolist()), mask[:, None], mask[None], np.asfortranarray(mask), mask.copy(),
    )  # fmt: skip
    for form in forms:
        found = pc.hybrid_dynamics(model, data, q, v, tau, a, form)
        assert np.array_equal(found, expected)
    free = pc.hybrid_dynamics(model, data, q, v, tau, a, np.zeros(model.nv, dtype=bool))
    for nothing in ([], (), set()):
        assert np.array_equal(pc.hybrid_dynamics(model, data, q, v, tau, a, nothing), free)


@pytest.mark.jitless
def test_a_mask_that_is_changed_in_place_is_read_anew() -> None:
    model, data, q, v, tau, a = walker()
    mask = np.zeros(model.nv, dtype=bool)
    for k in range(model.nv):
        mask[k] = True
        found = pc.hybrid_dynamics(model, data, q, v, tau, a, mask)
        assert np.array_equal(found, pc.hybrid_dynamics(model, model.createData(), q, v, tau, a, mask.tolist()))
    rng = np.random.default_rng(0)
    for _ in range(200):  # more than are kept
        pc.hybrid_dynamics(model, data, q, v, tau, a, rng.random(model.nv) < 0.5)
    assert len(data._plans) <= 100
    assert np.array_equal(pc.hybrid_dynamics(model, data, q, v, tau, a, mask), found)


@pytest.mark.jitless
def test_columns_lists_and_strides() -> None:
    model, data, q, v, tau, a = walker()
    mask = np.arange(model.nv) % 2 == 0
    expected = pc.hybrid_dynamics(model, data, q, v, tau, a, mask)
    for form in (lambda x: x[:, None], list, lambda x: np.repeat(x, 2)[::2], lambda x: x[None]):
        found = pc.hybrid_dynamics(model, data, *map(form, (q, v, tau, a)), mask)
        assert np.array_equal(found, expected)
        assert [x.shape for x in found] == [(model.nv,)] * 2


@pytest.mark.jitless
def test_results_are_fresh_and_nothing_else_is_touched() -> None:
    model, data, q, v, tau, a = walker()
    mask, fext = np.arange(model.nv) % 3 == 0, np.ones((model.njoints, 6))
    given = [x.copy() for x in (q, v, tau, a, mask, fext)]
    pc.aba(model, data, q, v, tau)
    pc.rnea(model, data, q, v, a)
    kept = data.ddq.copy(), data.tau.copy()
    one = pc.hybrid_dynamics(model, data, q, v, tau, a, mask, fext=[pin.Force(row) for row in fext])
    copies = [x.copy() for x in one]
    two = pc.hybrid_dynamics(model, data, q, v, tau, a, mask, fext)
    assert np.array_equal(two, copies)
    two[0][:], two[1][:] = 0.0, 0.0
    assert np.array_equal(one, copies)
    for x, y in zip((q, v, tau, a, mask, fext), given, strict=True):
        assert np.array_equal(x, y)
    assert np.array_equal(data.ddq, kept[0])
    assert np.array_equal(data.tau, kept[1])
    assert not np.array_equal(pc.hybrid_dynamics(model, data, q, v, tau, a, mask), copies)


@pytest.mark.jitless
def test_pickled_and_copied_data() -> None:
    model, data, q, v, tau, a = walker()
    mask = np.arange(model.nv) % 2 == 1
    expected = pc.hybrid_dynamics(model, data, q, v, tau, a, mask)
    for other in (pickle.loads(pickle.dumps(data)), data.copy()):
        assert np.array_equal(pc.hybrid_dynamics(other.model, other, q, v, tau, a, mask), expected)


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:robot 'mini_cheetah'")
@pytest.mark.jitless
def test_nan_propagates_and_stays_where_it_belongs() -> None:
    """A prescribed base moves as it is told, whatever happens on one leg: the other legs do not feel it."""
    model = pc.load("mini_cheetah")
    data, rng = model.createData(), np.random.default_rng(0)
    q, leg = pc.neutral(model), [i for i, n in enumerate(model.independent_joints[1:], 6) if n.startswith("FR_")]
    mask, own = np.arange(model.nv) < 6, np.isin(np.arange(model.nv), leg)
    assert own.sum() == 3
    v, tau, a = rng.normal(size=(3, model.nv))
    for bad in (np.nan, np.inf):
        given = v.copy(), np.where(own, bad, tau), a.copy()
        torque, found = pc.hybrid_dynamics(model, data, q, *given, mask)
        assert not np.isfinite(found[own]).any()
        assert np.isfinite(found[~own]).all()
        assert not np.isfinite(torque[:6]).all()
        torque, found = pc.hybrid_dynamics(model, data, q, v, tau, np.where(mask, bad, a), mask)
        assert not np.isfinite(found[6:]).any()
        assert not np.isfinite(torque[:6]).any()
        knee = model.tree.joints[model.getJointId(model.independent_joints[-1])].idx_q
        for which, at in ((0, knee), (1, -1)):
            x = [q.copy(), v.copy()]
            x[which][at] = bad
            assert not np.isfinite(np.concatenate(pc.hybrid_dynamics(model, data, *x, tau, a, mask))).all()
    # nothing of it is left behind
    again = pc.hybrid_dynamics(model, data, q, v, tau, a, mask)
    assert np.array_equal(again, pc.hybrid_dynamics(model, model.createData(), q, v, tau, a, mask))


@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered:RuntimeWarning")
@pytest.mark.jitless
def test_only_free_joints_need_inertia() -> None:
    tree = pin.Model()
    one = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "one")
    tree.appendBodyToJoint(one, pin.Inertia.FromBox(1.0, 0.1, 0.1, 0.1), pin.SE3.Identity())
    tree.addJoint(one, pin.JointModelRX(), pin.SE3.Random(), "tip")
    model = pc.ClusterModel(tree)
    data, x = model.createData(), np.ones(2)
    with raises(SingularClusterError, "'tip'"):
        pc.hybrid_dynamics(model, data, x, x, x, x, ["one"])
    tau, a = pc.hybrid_dynamics(model, data, x, x, x, x, ["tip"])
    assert np.allclose(pc.rnea(model, data, x, x, a), tau, rtol=0.0, atol=1e-14)  # a few products of numbers up to ten
    assert abs(tau[1]) < 1e-14  # nothing hangs from it


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown": (["elbwo"], UnknownNameError, "'elbwo'"),
    "universe": (["universe"], UnknownNameError, "'universe'"),
    "twice": (lambda m: [m.independent_joints[-1]] * 2, ArgumentTypeError, "'j3'"),
    "one name": (lambda m: m.independent_joints[-1], ArgumentTypeError, "'j3'"),
    "dependent": (lambda m: [m.dependent_joints[0]], ModelError, "'j0'"),
    "short": (lambda m: np.zeros(m.nv - 1, dtype=bool), ShapeError, "(9,) nv (10,)"),
    "tree": (lambda m: np.zeros(m.tree.nv, dtype=bool), ShapeError, "(14,)"),
    "table": (lambda m: np.zeros((2, 5), dtype=bool), ShapeError, "(2, 5)"),
    "numbers": (lambda m: np.zeros(m.nv), ArgumentTypeError, "float64 (10,) mask[indices]"),
    "indices": ([1, 2], ArgumentTypeError, "v mask np.zeros"),
    "nothing": (None, ArgumentTypeError, "None NoneType"),
    "number": (3, ArgumentTypeError, "3"),
    "dictionary": ({"elbow": 1.0}, ArgumentTypeError, "'elbow' mask nv"),
    "mixture": (lambda m: [m.independent_joints[-1], 2], ArgumentTypeError, "2"),
    "no mask": (np.zeros(0), ArgumentTypeError, "float64 (0,)"),
}


@pytest.mark.jitless
@pytest.mark.parametrize("kind", BAD)
def test_bad_choices(kind: str) -> None:
    model, data, q, v, tau, a = walker()
    make, error, message = BAD[kind]
    with raises(error, message):
        pc.hybrid_dynamics(model, data, q, v, tau, a, make(model) if callable(make) else make)


@pytest.mark.jitless
def test_bad_vectors_and_data() -> None:
    model, data, q, v, tau, a = walker()
    names = ("q", "v", "tau", "a")
    for i, name in enumerate(names):
        given: list[Any] = [q, v, tau, a]
        for bad, error in ((given[i][:-1], ShapeError), ("abc", ArgumentTypeError), (None, ArgumentTypeError)):
            with raises(error, name):
                pc.hybrid_dynamics(model, data, *given[:i], bad, *given[i + 1 :], [])
    with raises(ShapeError, "fext"):
        pc.hybrid_dynamics(model, data, q, v, tau, a, [], np.zeros((2, 6)))
    with raises(DataMismatchError, "model.createData data.model"):
        pc.hybrid_dynamics(model, walker()[0].createData(), q, v, tau, a, [])
    data.check = True
    off = q.copy()
    off[-1] += 0.3
    with pytest.raises(ConfigurationError):
        pc.hybrid_dynamics(model, data, off, v, tau, a, [])
    pc.hybrid_dynamics(model, data, q, v, tau, a, [])
