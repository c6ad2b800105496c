"""Kernels that are asked by tables or masks, in code of each question's own: against kernels by tables."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.compiler.machine_code import loading
from pin_clusters.compiler.specialising import requests, variants

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not kernels.JIT or kernels.BOUNDSCHECK, reason="nothing is traced"),
]
OFTEN = ["four_bar", "mit_humanoid_leg", "mini_cheetah"]
OTHERS = [name for name in pc.robots() if name not in OFTEN]
ROBOTS = [*pool.some(OFTEN, 1, rest="ci"), *pool.some(OTHERS, 0)]
LIMIT = 1e-11
"""Sums are added in other orders, and solved with D, J M^-1 J' and the columns of loops, of conditions up to 1e3."""
AXES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED)


def error(x: Any, y: Any) -> float:
    """The largest difference, relative to the largest number."""
    x, y = np.asarray(x), np.asarray(y)
    return float(np.abs(x - y).max(initial=0.0) / max(1.0, np.abs(y).max(initial=0.0)))


def datas(model: pc.ClusterModel) -> tuple[pc.ClusterData, pc.ClusterData]:
    """Data of code, and of tables."""
    with pc.engine("traced"):
        special = model.createData()
    with pc.engine("tables"):
        return special, model.createData()


def gains(c: Any, Kp: float, Kd: float) -> None:
    """Pinocchio 3 has a gain per row, and another name for them."""
    if hasattr(c, "m_baumgarte_parameters"):
        c.m_baumgarte_parameters.Kp, c.m_baumgarte_parameters.Kd = Kp, Kd
    else:
        c.corrector.Kp[:], c.corrector.Kd[:] = Kp, Kd


def bodies(model: pc.ClusterModel) -> list[int]:
    """Joints that move with nothing that spins beside them: contacts can be on them."""
    names = [*model.independent_joints, *(name for c in model.clusters for name in c.dependent)]
    ids = sorted(model.own_tree.getJointId(name) for name in names)
    spinning = {j for j in ids if "rotor" in model.names[j]}
    return [j for j in ids if j not in spinning] or ids


def contact_lists(model: pc.ClusterModel) -> Iterator[tuple[list[Any], bool]]:
    """Points and frames, on the world and between two bodies; with whether their rows can be independent."""
    pin.seed(3)
    ids = bodies(model)
    for kind, rows in ((pin.ContactType.CONTACT_3D, 3), (pin.ContactType.CONTACT_6D, 6)):
        for frame in AXES:
            place, world = pin.SE3.Random(), pin.SE3.Random()
            found = [pc.RigidConstraintModel(kind, model, ids[-1], place, 0, world, frame)]
            if len(ids) > 1 and model.nv >= 2 * rows:
                found.append(pc.RigidConstraintModel(kind, model, ids[0], world, ids[len(ids) // 2], place, frame))
            for c in found:
                gains(c, 30.0, 7.0)
            yield found, model.nv >= rows * len(found)


@pytest.mark.ci
@pytest.mark.parametrize("name", ROBOTS)
def test_hybrid_dynamics(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    special, plain = datas(model)
    q = pc.randomConfiguration(model)
    for _ in range(3):
        mask = rng.random(model.nv) < 0.5
        v, tau, a = rng.normal(size=(3, model.nv))
        hidden = np.where(mask, np.nan, tau), np.where(mask, a, np.inf)  # what is not read
        for fext in (None, rng.normal(size=(model.njoints, 6))):
            expected = pc.hybrid_dynamics(model, plain, q, v, tau, a, mask, fext)
            for _ in range(2):  # through Python, then without
                found = pc.hybrid_dynamics(model, special, q, v, *hidden, mask, fext)
                for x, y in zip(found, expected, strict=True):
                    assert error(x, y) < LIMIT * max(1.0, np.abs(y).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_columns(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    special, plain = datas(model)
    frames = sorted({1, model.nframes // 2, model.nframes - 1})
    for reference in (*AXES, pin.WORLD):
        for _ in range(2):
            q, B = pc.randomConfiguration(model), rng.normal(size=(model.nv, 3))
            for function, *given in (
                (pc.inverse_operational_inertia, frames, reference),
                (pc.inverse_input_matrix, B, frames[-1:]),
            ):
                found, expected = (function(model, data, q, *given) for data in (special, plain))
                for x, y in zip(np.atleast_3d(found), np.atleast_3d(expected), strict=True):
                    assert error(x, y) < LIMIT


@pytest.mark.ci
@pytest.mark.parametrize("name", ROBOTS)
def test_contacts(name: str, rng: np.random.Generator) -> None:
    model = pc.load(name)
    special, plain = datas(model)
    for models, independent in contact_lists(model):
        mine, theirs = ([c.createData() for c in models] for _ in range(2))
        for _ in range(2):
            q, (v, tau) = pc.randomConfiguration(model), rng.normal(size=(2, model.nv))
            expected = pc.constraintDynamics(model, plain, q, v, tau, models, theirs)
            found = pc.constraintDynamics(model, special, q, v, tau, models, mine)
            mass = pc.computeDelassusMatrix(model, plain, q, models, theirs)
            sizes = np.linalg.eigvalsh(mass)
            if ((1e-12 < sizes / sizes[-1]) & (sizes / sizes[-1] < 1e-7)).any():  # rounding decides the rank
                continue
            assert special.contact_rank == plain.contact_rank
            # without rows that are redundant, what is solved has the condition of J M^-1 J'
            limit = LIMIT * max(1.0, np.linalg.cond(mass) / 1e3) if plain.contact_rank == len(mass) else 1e-6
            assert error(pc.computeDelassusMatrix(model, special, q, models, mine), mass) < LIMIT
            assert error(found, expected) < limit
            assert error(special.lambda_c, plain.lambda_c) < limit
            for d, e in zip(mine, theirs, strict=True):
                assert error(d.contact_force.vector, e.contact_force.vector) < limit
                for field in ("oMc1", "oMc2", "c1Mc2"):
                    assert error(getattr(d, field).homogeneous, getattr(e, field).homogeneous) < LIMIT
                for field in ("contact_placement_error", "contact_velocity_error", "contact1_velocity"):
                    assert error(getattr(d, field).vector, getattr(e, field).vector) < LIMIT
            after, wanted = (
                pc.impulseDynamics(model, data, q, v, models, of, 0.3)
                for data, of in ((special, mine), (plain, theirs))
            )
            assert error(after, wanted) < limit
            if not independent:
                continue
            for data, of in ((special, mine), (plain, theirs)):
                pc.constraintDynamics(model, data, q, v, tau, models, of)
            both = [
                pc.computeConstraintDynamicsDerivatives(model, data, models, of)
                + pc.computeImpulseDynamicsDerivatives(model, data, models, of)
                for data, of in ((special, mine), (plain, theirs), (special, mine))
            ]
            for x, y, again in zip(*both, strict=True):
                assert error(x, y) < 100 * limit  # solved with J M^-1 J' twice
                assert error(again, x) < LIMIT


def test_a_question_is_made_once_whatever_its_numbers_are(rng: np.random.Generator) -> None:
    model = pc.load("mini_cheetah")
    special, plain = datas(model)
    foot = bodies(model)[-1]
    q, (v, tau) = pc.neutral(model), rng.normal(size=(2, model.nv))
    for _ in range(3):
        pin.seed(int(rng.integers(1000)))
        c = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, foot, pin.SE3.Random(), pin.LOCAL)
        mine, theirs = [c.createData()], [c.createData()]
        for i in range(3):
            c.joint1_placement = pin.SE3.Random()
            gains(c, float(i), 2.0)
            expected = pc.constraintDynamics(model, plain, q, v, tau, [c], theirs)
            assert error(pc.constraintDynamics(model, special, q, v, tau, [c], mine), expected) < LIMIT
    assert len([x for x in model.specialised if x.function.startswith("contacts ")]) == 1


@pytest.mark.ci
def test_calls_do_not_come_back_to_python(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = pc.load("mini_cheetah")
    special, _ = datas(model)
    q, (v, tau, a) = pc.neutral(model), rng.normal(size=(3, model.nv))
    contacts = [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, bodies(model)[-1], pin.LOCAL)]
    of, frames, mask = [contacts[0].createData()], [3, 5], rng.random(model.nv) < 0.5

    def all_of_them() -> list[Any]:
        return [
            *pc.hybrid_dynamics(model, special, q, v, tau, a, mask),
            pc.inverse_operational_inertia(model, special, q, frames),
            pc.inverse_input_matrix(model, special, q),
            pc.constraintDynamics(model, special, q, v, tau, contacts, of),
            *pc.computeConstraintDynamicsDerivatives(model, special, contacts, of),
        ]

    first = [all_of_them() for _ in range(2)][-1]
    pc.impulseDynamics(model, special, q, v, contacts, of)
    pc.constraintDynamics(model, special, q, v, tau, contacts, of)  # afterwards all is as it was
    for name in ("_run", "_ready"):
        monkeypatch.setattr(pc.ClusterData, name, lambda *_: pytest.fail("in Python"))
    for x, y in zip(all_of_them(), first, strict=True):
        assert np.array_equal(x, y)


def test_the_same_contact_twice_is_left_to_the_kernel(rng: np.random.Generator) -> None:
    """Two outputs of one function must not be one place."""
    model = pc.load("mini_cheetah")
    special, plain = datas(model)
    c = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, bodies(model)[-1], pin.LOCAL)
    d, q, (v, tau) = c.createData(), pc.neutral(model), rng.normal(size=(2, model.nv))
    found, expected = (pc.constraintDynamics(model, data, q, v, tau, [c, c], [d, d]) for data in (special, plain))
    assert error(found, expected) < LIMIT
    assert not [x for x in model.specialised if x.function.startswith("contacts ")]


@pytest.mark.ci
def test_masks_and_questions_are_no_more_than_a_limit(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr(requests, "MOST", 2)
    monkeypatch.setattr(variants, "_MOST", 2)
    model = pc.load("mini_cheetah")
    special, plain = datas(model)
    q, (v, tau, a) = pc.neutral(model), rng.normal(size=(3, model.nv))
    for i in range(4):
        mask = np.arange(model.nv) < i
        found, expected = (pc.hybrid_dynamics(model, data, q, v, tau, a, mask) for data in (special, plain))
        assert error(np.concatenate(found), np.concatenate(expected)) < LIMIT
        found, expected = (pc.inverse_operational_inertia(model, data, q, [2 + i]) for data in (special, plain))
        assert error(found, expected) < LIMIT
    monkeypatch.setattr(pc.ClusterData, "_run", lambda *_: pytest.fail("in Python"))
    pc.hybrid_dynamics(model, special, q, v, tau, a, mask)  # the kernel's, and called at once
    pc.inverse_operational_inertia(model, special, q, [2 + i])
    made = [one.function.partition(" ")[0] for one in model.specialised]
    assert (made.count("hybrid"), made.count("columns")) == (2, 2)


@pytest.mark.ci
def test_numbers_that_are_none_and_copies(rng: np.random.Generator) -> None:
    model = pc.specialise(pc.load("tello"), ())
    special = model.createData()
    with pc.engine("tables"):
        plain = pc.load("tello").createData()
    q, (v, tau) = model.q_reference, rng.normal(size=(2, model.nv))
    v[3] = np.inf
    c = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, bodies(model)[-1], pin.LOCAL)
    for data in (special, plain):
        assert not np.isfinite(pc.constraintDynamics(data.model, data, q, v, tau, [c], [c.createData()])).all()
        assert np.isnan(pc.inverse_operational_inertia(data.model, data, q * np.nan, [3])).any()
        mask = np.arange(model.nv) < 5
        for x, given in ((q * np.nan, tau), (q, np.where(mask, 0.0, np.inf))):
            found = pc.hybrid_dynamics(data.model, data, x, np.ones(model.nv), given, tau, mask)
            assert not np.isfinite(found[1]).all()
    again = pickle.loads(pickle.dumps(model))
    x, y = (pc.inverse_operational_inertia(m, m.createData(), q, [3]) for m in (model, again))
    assert np.array_equal(x, y)


@pytest.mark.ci
def test_models_with_other_numbers_share_code(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    base = pc.load("tello")
    values, asked_for, mask = pc.parameters(base)[0], [], np.arange(base.nv) < 9
    for factor in (1.1, 1.2):
        model = pc.with_parameters(base, factor * values)
        special, plain = datas(model)
        q, (v, tau, a) = model.q_reference, rng.normal(size=(3, model.nv))
        contacts, results = (
            [pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, bodies(model)[-1], pin.LOCAL)],
            [],
        )
        for data in (special, plain):
            of = [contacts[0].createData()]
            results.append([
                *pc.hybrid_dynamics(model, data, q, v, tau, a, mask),
                pc.inverse_operational_inertia(model, data, q, [3]),
                pc.constraintDynamics(model, data, q, v, tau, contacts, of),
                *pc.computeConstraintDynamicsDerivatives(model, data, contacts, of),
            ])  # fmt: skip
        for x, y in zip(*results, strict=True):
            assert error(x, y) < LIMIT
        kinds = {one.function.partition(" ")[0]: one for one in model.specialised}
        assert {"hybrid", "columns", "contacts", "contact_rates"} <= {name for name, x in kinds.items() if x.size}
        # the second model writes no code
        monkeypatch.setattr(loading, "object_code", lambda *_, **__: asked_for.append(1) or pytest.fail("compiled"))
    assert not asked_for


@pytest.mark.ci
def test_no_number_of_a_contact_gives_none(rng: np.random.Generator) -> None:
    model = pc.load("mini_cheetah")
    special, _ = datas(model)
    q, (v, tau) = pc.neutral(model), rng.normal(size=(2, model.nv))
    contact = pc.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, bodies(model)[-1], pin.LOCAL)
    contacts, of = [contact], [contact.createData()]
    pc.constraintDynamics(model, special, q, v, tau, contacts, of)
    contact.joint1_placement = pin.SE3(np.eye(3), np.array([np.nan, 0.0, 0.0]))
    assert np.isnan(pc.constraintDynamics(model, special, q, v, tau, contacts, of)).any()
    for x in pc.computeConstraintDynamicsDerivatives(model, special, contacts, of):
        assert np.isnan(x).any()
