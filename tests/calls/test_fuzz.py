"""Random calls: plans and the Python function give equal results, or raise equal exceptions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.fast import Counts, needed, python
from support.forms import FAST_FORMS, OTHER_FORMS, alike, closed, outcome

import pin_clusters as pc
from pin_clusters.compiler.operations import DIRECT_FUNCTIONS

# the published inertias of some robots are no real bodies'
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")

ROBOTS = ("mini_cheetah", "four_bar", "mit_humanoid_leg")
CALLS = {False: 4000, True: 60_000}


@needed
@pytest.mark.parametrize("robot", ROBOTS)
def test_any_call(robot: str, request: pytest.FixtureRequest) -> None:
    choose, rng = random.Random(robot), np.random.default_rng(3)
    model, twin = pc.load(robot), pc.load(robot)
    data, again, foreign = model.createData(), model.createData(), pc.load("mit_humanoid").createData()
    checking = model.createData()
    checking.check = True
    taken = {entry.name: 0 for entry in DIRECT_FUNCTIONS}
    shapes = {"v": model.nv, "f": (model.njoints, 6)}
    count = CALLS[request.config.getoption("--long")] // len(ROBOTS)
    slow = Counts()
    for _ in range(count):
        entry = choose.choice(DIRECT_FUNCTIONS)
        square = (model.nv, model.nv) if entry.operation.result == "matrix" else (model.nv,)
        sizes = [size for size in entry.sizes if size != "0"]
        arrays = []
        for size in sizes:
            x = pc.randomConfiguration(model) if size == "q" else rng.normal(size=shapes[size])
            arrays.append(choose.choice(FAST_FORMS if choose.random() < 0.8 else OTHER_FORMS)(x))
        own = choose.choice([data] * 12 + [again, checking, foreign, None, "data", model])
        arguments: list[Any] = [choose.choice([model] * 12 + [None, 3, twin]), own, *arrays]
        options: dict[str, Any] = {}
        match choose.randrange(14):
            case 0:
                options["out"] = choose.choice(
                    [np.empty(square), np.empty(3), np.empty((2, *square))[::2], closed(np.empty(square)), None, 3]
                )
            case 1:
                options["out"] = arrays[-1]
            case 2:
                options["fext" if "f" in sizes else "v" if "v" in sizes else "q"] = arguments.pop()
            case 3:
                arguments.append(None)
            case 4:
                arguments = arguments[: choose.randrange(len(arguments))]
            case 5:
                options["unknown"] = 1
        before = slow[entry.name]
        found = outcome(getattr(pc, entry.name), arguments, options)
        taken[entry.name] += slow[entry.name] == before
        if isinstance(options.get("out"), np.ndarray) and not isinstance(found, Exception):
            assert found is options["out"]
            found = found.copy()
        wanted = outcome(python(entry.name), arguments, options)
        assert alike(found, wanted), (entry.name, arguments, options, found, wanted)
    assert all(times > count / 100 for times in taken.values()), taken


@needed
@pytest.mark.parametrize("robot", ["mini_cheetah", "tello"])
def test_the_usual_call_is_fast(robot: str) -> None:
    model = pc.load(robot)
    data, q, v = model.createData(), pc.randomConfiguration(model), np.ones(model.nv)
    forces = np.random.default_rng(0).normal(size=(model.njoints, 6))
    calls = {e.name: [{"q": q, "v": v, "f": forces}[size] for size in e.sizes if size != "0"] for e in DIRECT_FUNCTIONS}
    for name, given in calls.items():
        getattr(pc, name)(model, data, *given)  # what is not compiled yet is now
    slow = Counts()
    for name, given in calls.items():
        wanted = python(name)(model, data, *given)
        for form in FAST_FORMS:
            assert np.array_equal(getattr(pc, name)(model, data, *map(form, given)), wanted), name
    out = np.empty(model.nv)
    assert pc.aba(model, data, q, v, v, out=out) is out
    square = np.empty((model.nv, model.nv))
    assert pc.crba(model, data, q, out=square) is square
    assert not slow.all()


@needed
def test_every_form_of_arguments_is_fast() -> None:
    """By name, None for a left out argument, lists, tuples, other dtypes and strides, and forces of any form."""
    model = pc.load("mini_cheetah")
    data, q, v = model.createData(), pc.randomConfiguration(model), np.ones(model.nv)
    forces = [pin.Force(np.full(6, float(i))) for i in range(model.njoints)]
    vector = pin.StdVec_Force()
    for force in forces:
        vector.append(force)
    rows = np.array([force.vector for force in forces])
    for given in ([], [forces]):
        pc.aba(model, data, q, v, v, *given)
    slow = Counts()
    expected = python("aba")(model, data, q, v, v)
    for form in (np.copy, list, np.ndarray.tolist, tuple, lambda x: np.repeat(x, 2)[::2], lambda x: x[:, None]):
        for result in (
            pc.aba(model, data, *map(form, (q, v, v))), pc.aba(model, data, q, tau=form(v), v=form(v)),
            pc.aba(model=model, data=data, q=form(q), v=v, tau=v), pc.aba(model, data, form(q), v, v, None),
        ):  # fmt: skip
            assert np.array_equal(result, expected)
    single = q.astype(np.float32), np.ones(model.nv, np.float32), np.ones(model.nv, bool), np.ones(model.nv, np.int8)
    expected = python("aba")(model, data, single[0].astype(float), v, v)
    for ones in single[1:]:
        assert np.array_equal(pc.aba(model, data, single[0], ones, ones), expected)
    expected = python("aba")(model, data, q, v, v, rows)
    for some in (forces, tuple(forces), vector, rows, list(rows), np.asfortranarray(rows), rows.astype(np.float32)):
        assert np.array_equal(pc.aba(model, data, q, v, v, some), expected)
        assert np.array_equal(pc.aba(model, data, q, v, v, fext=some, convention=pin.Convention.LOCAL), expected)
    assert not slow.all()


@needed
def test_checks_are_made_by_python() -> None:
    model = pc.load("mini_cheetah")
    data, q, v = model.createData(), pc.randomConfiguration(model), np.ones(model.nv)
    pc.aba(model, data, q, v, v)
    slow = Counts()
    for checks, count in ((True, 1), (False, 1)):
        data.check = checks
        pc.aba(model, data, q, v, v)
        assert slow["aba"] == count


@needed
def test_results_are_kept_as_before() -> None:
    model = pc.load("mini_cheetah")
    data, q, v = model.createData(), pc.randomConfiguration(model), np.ones(model.nv)
    for _ in range(2):
        assert np.array_equal(pc.rnea(model, data, q, v, v), data.tau)
        assert np.array_equal(pc.aba(model, data, q, v, v), data.ddq)
        assert np.array_equal(pc.nonLinearEffects(model, data, q, v), data.nle)
        assert np.array_equal(pc.computeGeneralizedGravity(model, data, q), data.g)
        fext = np.ones((model.njoints, 6))
        assert np.array_equal(pc.computeStaticTorque(model, data, q, fext), data.tau)
        assert np.array_equal(data.tau, pc.rnea(model, data, q, 0.0 * v, 0.0 * v, list(fext)))
        assert np.array_equal(pc.crba(model, data, q), data.M)
        assert np.array_equal(pc.computeMinverse(model, data, q), data.Minv)
        q = pc.integrate(model, q, 0.1 * v)
    data.M[:] = 7.0
    pc.computeMinverse(model, data, q)
    assert (data.M == 7.0).all()  # another function's result is left alone
    pc.crba(model, data, q)
    assert not (data.M == 7.0).any()
    kinetic, potential = pc.computeKineticEnergy(model, data, q, v), pc.computePotentialEnergy(model, data, q)
    assert (data.kinetic_energy, data.potential_energy, data.mechanical_energy) == (kinetic, potential, 0.0)
    pc.computeMechanicalEnergy(model, data, q, 2.0 * v)
    assert data.kinetic_energy == pytest.approx(4.0 * kinetic, rel=1e-12)
    assert data.mechanical_energy == data.kinetic_energy + data.potential_energy
    data.kinetic_energy = 3.0
    assert data.copy().kinetic_energy == 3.0
