"""Specialised models against kernels: same results, same errors, same calls."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.hostile import member
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler.entry_points import BOUNDSCHECK, JIT
from pin_clusters.compiler.operations import STATE_FUNCTIONS
from pin_clusters.compiler.specialising.limbs import limbs_of
from pin_clusters.compiler.specialising.module import in_lanes
from pin_clusters.compiler.specialising.traced_kernels import BY_CALLED_NAME, BY_OWN_NAME

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not JIT or BOUNDSCHECK, reason="no code is made in the place of kernels"),
]
ARGUMENTS = {
    "rnea": "qva", "aba": "qva", "nonLinearEffects": "qv", "computeKineticEnergy": "qv",
    "computeMechanicalEnergy": "qv",
    "computeCentroidalDynamicsDerivatives": "qva",
    "computeRNEADerivatives": "qva", "computeABADerivatives": "qva", "computeCoriolisMatrix": "qv",
    "computeStaticTorque": "qf", "computeStaticTorqueDerivatives": "qf",
}  # fmt: skip
"""All others take q."""
OF_USERS = [one.name for one in STATE_FUNCTIONS if one.name in BY_CALLED_NAME]
INVERTING = ("aba", "computeMinverse", "computeABADerivatives")


def error(x: Any, y: Any) -> float:
    return float(np.max(np.abs(np.subtract(x, y))) / max(1e-3, np.max(np.abs(y)))) if np.size(y) else 0.0


def check(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, names: Any = OF_USERS) -> pc.ClusterModel:
    special = pc.specialise(model, ())
    data, own = model.createData(), special.createData()
    state = {"q": q} | {key: rng.normal(size=model.nv) for key in "va"} | {"f": rng.normal(size=(model.njoints, 6))}
    condition = float(np.linalg.cond(pc.crba(model, data, q))) if model.nv else 1.0
    for name in names:
        inverts = name in INVERTING
        if inverts and condition > 1e12:
            continue
        given, function = [state[key] for key in ARGUMENTS.get(name, "q")], getattr(pc, name)
        limit = (1e-11 if model.closures else 1e-12) * (max(1.0, 1e-3 * condition) if inverts else 1.0)
        expected = parts(function(model, data, *given))
        for _ in range(2):  # through Python, then without
            for found, wanted in zip(parts(function(special, own, *given)), expected, strict=True):
                assert error(found, wanted) < limit, name
        for one in model.tables.conditions:
            assert error(own._work[one.at], data._work[one.at]) < 1e-9, "changes of coordinates read it"
    assert {x.choice for x in special.specialised} == {"traced"}
    for name in names:
        for field in BY_CALLED_NAME[name].gives.split():
            if not any(hasattr(type(data), x) for x in (field, f"_{field}")):
                continue  # a result without a member
            if name in INVERTING and condition > 1e12:
                continue
            found, wanted = (member(each, field) for each in (own, data))
            if wanted is None:  # a later call of these left it without a value
                assert found is None, field
            else:
                assert error(found, wanted) < 1e-6, field
    return special


def parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


OFTEN = [("four_bar", "default"), ("mit_humanoid_leg", "default"), ("mini_cheetah", "default")]
OFTEN_IN_POOL = ["tree-0", "rotors_on_a_loop_on_free_flyer", "delta_pairs"]


@pytest.mark.parametrize("key", pool.some(pool.ALL, OFTEN_IN_POOL))
def test_they_are_the_kernels(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    check(s.model, s.q, rng, ("rnea", "aba", "nonLinearEffects"))


BASES: dict[str, dict[str, Any]] = {
    "default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}
}  # fmt: skip
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]


@pytest.mark.parametrize(
    "which", [*pool.some(OFTEN, 0, rest="ci"), *pool.some([x for x in ROBOTS if x not in OFTEN], 0)]
)
def test_shipped_robots(which: tuple[str, str], rng: np.random.Generator) -> None:
    robot, base = which
    model = pc.load(robot, **BASES[base])
    check(model, pc.randomConfiguration(model), rng)


@pytest.mark.ci
def test_tello_and_its_limbs(rng: np.random.Generator) -> None:
    model = pc.load("tello")
    assert [[len(limb.v) for limb in group] for group in limbs_of(model)] == [[5, 5]]
    assert not misfits(model)
    check(model, pc.randomConfiguration(model), rng, ("rnea", "aba"))


# --- limbs
def hexapod(legs: int, rng: np.random.Generator, *, equal: bool = False) -> pc.ClusterModel:
    """Legs of two geared joints around a free base; all numbers differ."""
    tree = pin.Model()
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(base, pin.Inertia.Random(), pin.SE3.Identity())
    rotors = []
    for k in range(legs):
        kinds = (pin.JointModelRX(), pin.JointModelRY())
        parent = base
        for i, kind in enumerate(kinds):
            placement = pin.SE3(pin.utils.rotate("z", 0.3 + 2.0 * np.pi * k / legs), rng.normal(size=3))
            parent = tree.addJoint(parent, kind, placement, f"leg{k}_{i}")
            mass, inertia = (1.0, np.eye(3)) if equal else (rng.uniform(1, 2), np.diag(rng.uniform(1, 1.5, size=3)))
            tree.appendBodyToJoint(parent, pin.Inertia(mass, rng.normal(size=3), inertia), pin.SE3.Identity())
            rotors.append(pc.Rotor(f"leg{k}_{i}", rng.uniform(5, 10), axial_inertia=1e-3))
    return pc.ClusterModel(tree, rotors)


def misfits(model: pc.ClusterModel) -> int:
    """How many tuples of what limbs do were put together of single numbers."""
    found = 0
    for name in ("rnea", "aba", "rnea with external forces", "aba with external forces", "computeRNEADerivatives"):
        rebuilt = in_lanes(model, BY_OWN_NAME[name], limbs_of(model))
        assert rebuilt is not None
        found += rebuilt[1].misfits
    return found


@pytest.mark.parametrize("legs", pool.some([2, 3, 4, 5, 8], [3]))
def test_any_number_of_limbs(legs: int, rng: np.random.Generator) -> None:
    model = hexapod(legs, rng)
    assert [[len(limb.v) for limb in group] for group in limbs_of(model)] == [[2] * legs]
    assert not misfits(model)
    check(model, pc.randomConfiguration(model), rng, ("rnea", "aba"))


@pytest.mark.ci
def test_limbs_of_unequal_kinds(rng: np.random.Generator) -> None:
    tree = hexapod(3, rng).own_tree
    for name in ("leg0_1", "leg2_1"):  # the same number of joints, but another path through the kernel
        tree.jointPlacements[tree.getJointId(name)] = pin.SE3.Identity()
    model = pc.ClusterModel(tree)
    assert misfits(model)
    check(model, pc.randomConfiguration(model), rng, ("rnea", "aba"))
    special = pc.specialise(model, ())
    q = np.array([pc.randomConfiguration(model) for _ in range(11)])
    v, x = rng.normal(size=(2, 11, model.nv))
    assert error(pc.batch.aba(special, q, v, x), pc.batch.aba(model, q, v, x)) < 1e-9


def test_limbs_of_humanoids() -> None:
    found = [[len(limb.v) for limb in group] for group in limbs_of(pc.load("mit_humanoid"))]
    assert sorted(found) == [[4, 4], [5, 5]]
    assert [len(g) for g in limbs_of(pc.load("mini_cheetah"))] == [4]
    assert limbs_of(pc.load("mit_humanoid_leg")) == limbs_of(pc.load("four_bar")) == []


@pytest.mark.ci
def test_zeros_in_one_limb_only(rng: np.random.Generator) -> None:
    tree = hexapod(3, rng).own_tree
    inertia = tree.inertias[tree.getJointId("leg1_1")]
    inertia.lever = np.array([0.0, 0.2, 0.0])
    tree.inertias[tree.getJointId("leg1_1")] = inertia
    model = pc.ClusterModel(tree)
    assert not misfits(model)
    check(model, pc.randomConfiguration(model), rng, ("rnea", "aba"))


# --- what is not usual
@pytest.fixture(scope="module")
def pair() -> tuple[pc.ClusterModel, pc.ClusterModel]:
    model = pc.load("four_bar")
    return model, pc.specialise(model)


def test_numbers_that_are_not_finite(pair: tuple[pc.ClusterModel, pc.ClusterModel], rng: np.random.Generator) -> None:
    model = pc.load("mit_humanoid_leg")
    for plain, special in (pair, (model, pc.specialise(model))):
        data, own = plain.createData(), special.createData()
        state = [np.array(plain.q_reference), *rng.normal(size=(2, plain.nv))]
        for bad in (np.nan, np.inf):
            for k in range(3):
                given = [x.copy() for x in state]
                given[k][0] = bad
                for function in (pc.rnea, pc.aba):
                    with np.errstate(all="ignore"):
                        for _ in range(2):
                            found, expected = function(special, own, *given), function(plain, data, *given)
                            assert np.array_equal(np.isnan(found), np.isnan(expected))


def test_nobody_waits_for_a_compiler(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = pc.load("mit_humanoid_leg")
    special = pc.specialise(model, ["rnea"])
    expected = pc.rnea(model, model.createData(), pc.neutral(model), *np.ones((2, model.nv)))
    made = special._functions.code("rnea")
    monkeypatch.setattr(type(made.kernel), "call", None)
    data, v = special.createData(), np.ones(model.nv)
    for _ in range(3):
        assert np.isnan(pc.rnea(special, data, pc.neutral(model), v * np.nan, v)).any()
        assert error(pc.rnea(special, data, pc.neutral(model), v, v), expected) < 1e-12


def test_singular_states() -> None:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "light")
    model = pc.ClusterModel(tree)
    special = pc.specialise(model)
    given = np.zeros(1), np.zeros(1), np.ones(1)
    for one in (model, special):
        with raises(pc.SingularClusterError, "'light'"):
            pc.aba(one, one.createData(), *given)
    assert [x.choice for x in special.specialised] == ["traced", "tables"]


def test_dead_centres(pair: tuple[pc.ClusterModel, pc.ClusterModel]) -> None:
    q = np.array(pc.load("four_bar_change_point").q_reference)
    model = pc.load("four_bar_change_point")
    special = pc.specialise(model)
    q = np.zeros(model.nq) if pc.residual(model, np.zeros(model.nq)).size else q
    words = []
    for one in (model, special):
        data = one.createData()
        for _ in range(2):
            with pytest.raises(pc.SingularClusterError) as caught:
                pc.aba(one, data, q, np.zeros(1), np.zeros(1))
            words.append(str(caught.value))
    assert len(set(words)) == 1


def test_bad_arguments_are_refused_as_before(pair: tuple[pc.ClusterModel, pc.ClusterModel]) -> None:
    words = []
    for model in pair:
        data, q, v = model.createData(), np.array(model.q_reference), np.ones(1)
        with pytest.raises(pc.ShapeError) as shape:
            pc.aba(model, data, q[:-1], v, v)
        with pytest.raises(pc.ArgumentTypeError) as kind:
            pc.rnea(model, data, q, ["fast"], v)
        room = np.zeros(4)
        with pytest.raises(pc.ArgumentTypeError) as overlap:
            pc.rnea(model, data, q, room[1:2], v, out=room[1:2])
        data.check = True
        with pytest.raises(pc.ConfigurationError) as apart:
            pc.aba(model, data, q + 0.1, v, v)
        words.append([str(x.value) for x in (shape, kind, overlap, apart)])
    assert words[0] == words[1]
    model, special = pair
    with pytest.raises(pc.DataMismatchError):
        pc.aba(special, model.createData(), q, v, v)


@pytest.mark.ci
def test_other_forms_of_calls(pair: tuple[pc.ClusterModel, pc.ClusterModel], rng: np.random.Generator) -> None:
    model, special = pair
    data, own, q = model.createData(), special.createData(), np.array(model.q_reference)
    v, tau = rng.normal(size=(2, 1))
    expected = pc.aba(model, data, q, v, tau)
    out = np.zeros(1)
    assert pc.aba(special, own, q, v, tau, out=out) is out
    assert error(out, expected) < 1e-12
    assert error(pc.aba(special, own, list(q), v.tolist(), tau[::-1]), expected) < 1e-12
    fext = rng.normal(size=(model.njoints, 6))
    for _ in range(2):
        expected = pc.aba(model, data, q, v, tau, fext)
        assert error(pc.aba(special, own, q, v, tau, fext), expected) < 1e-12
        expected = pc.computeStaticTorque(model, data, q, fext)
        assert error(pc.computeStaticTorque(special, own, q, fext), expected) < 1e-12
    by_q = pc.computeABADerivatives(model, data, q, v, tau)[0]
    assert error(pc.computeABADerivatives(special, own, q, v, tau)[0], by_q) < 1e-11
    ends = [pc.simulate(one, q, v, duration=0.02, dt=1e-3).q[-1] for one in pair]
    assert error(*ends) < 1e-11


def test_copies(pair: tuple[pc.ClusterModel, pc.ClusterModel], rng: np.random.Generator) -> None:
    _, special = pair
    copied = pickle.loads(pickle.dumps(special))
    assert [x.function for x in copied.specialised] == [x.function for x in special.specialised]
    given = np.array(special.q_reference), *rng.normal(size=(2, 1))
    expected = pc.aba(special, special.createData(), *given)
    assert np.array_equal(pc.aba(copied, copied.createData(), *given), expected)
    data = special.createData()
    pc.aba(special, data, *given)
    again = pickle.loads(pickle.dumps(data))
    assert np.array_equal(again.ddq, expected)
    assert np.array_equal(pc.aba(again.model, again, *given), expected)
    lighter = special.with_gravity(np.array([0.0, 0.0, -1.62]))
    assert lighter.specialised
    plain = pc.load("four_bar").with_gravity(np.array([0.0, 0.0, -1.62]))
    assert error(pc.aba(lighter, lighter.createData(), *given), pc.aba(plain, plain.createData(), *given)) < 1e-12


# --- rows
@pytest.mark.parametrize("robot", ["four_bar", "mit_humanoid_leg"])
def test_rows_and_what_becomes_of_them(robot: str, rng: np.random.Generator) -> None:
    model = pc.load(robot)
    special = pc.specialise(model, ())
    q = np.array([pc.integrate(model, pc.neutral(model), 0.2 * rng.normal(size=model.nv)) for _ in range(37)])
    v, x = rng.normal(size=(2, 37, model.nv))
    v[3, 0], x[20, 0] = np.nan, np.inf
    if model.closures:
        q[7] += 0.1
    for name, more in (("rnea", (v, x)), ("aba", (v, x)), ("nonLinearEffects", (v,))):
        function = getattr(pc.batch, name)
        marks = np.zeros((2, 37), dtype=np.int8)
        expected = function(model, q, *more, status=marks[0])
        for threads in (1, 2):
            found = function(special, q, *more, status=marks[1], threads=threads)
            assert np.array_equal(*marks)
            assert marks[0].any()
            assert np.array_equal(np.isnan(found), np.isnan(expected))
            good = marks[0] == 0
            assert error(found[good], expected[good]) < 1e-11
    fext = rng.normal(size=(37, model.njoints, 6))
    expected = pc.batch.rnea(model, q, np.zeros_like(v), np.zeros_like(v), fext, status=marks[0])
    found = pc.batch.rnea(special, q, np.zeros_like(v), np.zeros_like(v), fext, status=marks[1])
    assert np.array_equal(*marks)
    assert error(found[marks[0] == 0], expected[marks[0] == 0]) < 1e-11


@pytest.mark.parametrize("robot", pool.some(["mini_cheetah", "mit_humanoid", "jvrc1", "tello", 3, 5], ["tello", 5]))
def test_rows_of_robots_with_limbs(robot: str | int, rng: np.random.Generator) -> None:
    model = hexapod(robot, rng) if isinstance(robot, int) else pc.load(robot)
    special = pc.specialise(model, ())
    q = np.array([pc.randomConfiguration(model) for _ in range(11)])
    v, x = rng.normal(size=(2, 11, model.nv))
    for name in ("rnea", "aba"):
        function = getattr(pc.batch, name)
        assert error(function(special, q, v, x), function(model, q, v, x)) < 1e-9


def test_what_was_made_is_told() -> None:
    special = pc.specialise(pc.load("four_bar"), ["aba"])
    (one,) = special.specialised
    assert (one.function, one.choice) == ("aba", "traced")
    assert one.size > 1000
    assert one.made_in > 0.0
    q = np.tile(special.q_reference, (3, 1))
    pc.batch.aba(special, q, *np.zeros((2, 3, 1)))
    assert [x.function for x in special.specialised] == ["aba", "batch.aba"]


def test_nothing_is_specialised_of_others(pair: tuple[pc.ClusterModel, pc.ClusterModel]) -> None:
    model, special = pair
    assert model.specialised == ()
    assert pc.specialise(special, ()).specialised == ()
    assert repr(special) == repr(model)


def test_what_is_given_is_looked_at(pair: tuple[pc.ClusterModel, pc.ClusterModel]) -> None:
    model, _ = pair
    with raises(pc.ArgumentTypeError, "model ClusterModel Model"):
        pc.specialise(model.tree)  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "'rnea' 'aba'"):
        pc.specialise(model, "aba")
    with raises(pc.ArgumentTypeError, "3"):
        pc.specialise(model, [3])  # type: ignore[list-item]
    with raises(pc.UnknownNameError, "'abba' 'aba'"):
        pc.specialise(model, ["abba"])


def test_without_machine_code_it_is_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    module = sys.modules["pin_clusters.compiler.specialising.specialise"]
    model = pc.load("four_bar")
    monkeypatch.setattr(module, "JIT", False)
    assert pc.specialise(model) is model


def flat(x: Any) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in (x if isinstance(x, tuple) else (x,))])


@pytest.mark.ci
@pytest.mark.parametrize("name", ["four_bar", "mini_cheetah"])
def test_functions_that_are_not_specialised_are_those_of_kernels(name: str, rng: np.random.Generator) -> None:
    """Kernels that share a result with a specialised function, and external forces, which none of them reads."""
    model = pc.load(name)
    special = pc.specialise(model, ("rnea", "aba", "computeMinverse"))
    q, (v, tau, a) = pc.neutral(model), rng.normal(size=(3, model.nv))
    joint = next(j for j in range(1, model.njoints) if model.names[j] in model.independent_joints)
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, joint, pin.LOCAL)]
    fext = rng.normal(size=(model.njoints, 6))
    calls: dict[str, Any] = {
        "hybrid_dynamics": (v, tau, a, [model.independent_joints[0]]),
        "inverse_operational_inertia": ([model.nframes - 1],),
        "inverse_input_matrix": (),
        "constraintDynamics": (v, tau, contacts, None),
        "impulseDynamics": (v, contacts, None),
        "computeABADerivatives": (v, tau, fext),
    }
    for form in (np.copy, list):
        data, own = model.createData(), special.createData()
        for function, rest in calls.items():
            for _ in range(3):
                before = a.copy(), v.copy(), tau.copy()
                found = []
                for m, d in ((model, data), (special, own)):
                    given = [[c.createData() for c in contacts] if x is None else x for x in rest]
                    found.append(flat(getattr(pc, function)(m, d, form(q), *given)))
                # contacts of a planar robot that moves little are redundant: solved to the condition of their products
                assert error(found[1], found[0]) < 1e-9, function
                assert all(map(np.array_equal, before, (a, v, tau)))
