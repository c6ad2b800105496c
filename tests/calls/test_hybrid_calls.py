"""Fast calls of hybrid dynamics: the bits and the errors of the Python function, masks and names known again."""

from __future__ import annotations

import gc
import pickle
import random
import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.fast import Counts, least_growth, needed, python
from support.forms import FAST_FORMS, OTHER_FORMS, alike, outcome
from support.messages import raises

import pin_clusters as pc

# the published inertias of some robots are no real bodies'
pytestmark = [needed, pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")]
NAME = "hybrid_dynamics"
CALLS = {False: 1500, True: 30_000}


def usual(name: str) -> tuple[pc.ClusterModel, pc.ClusterData, list[np.ndarray]]:
    model = pc.load(name)
    pin.seed(0)
    q, (v, tau, a) = pc.randomConfiguration(model), np.random.default_rng(1).normal(size=(3, model.nv))
    data = model.createData()
    pc.hybrid_dynamics(model, data, q, v, tau, a, [])  # compiled now
    return model, data, [q, v, tau, a]


def same(x: Any, y: Any) -> bool:
    """Whether two calls came to the same: two arrays, or the same exception."""
    if type(x) is not tuple or type(y) is not tuple:
        return isinstance(x, Exception) and alike(x, y)
    return len(x) == len(y) == 2 and all(map(alike, x, y))


@pytest.mark.ci
@pytest.mark.parametrize("robot", ["mini_cheetah", "tello", "four_bar"])
def test_the_usual_call_is_fast(robot: str) -> None:
    model, data, given = usual(robot)
    mask = np.arange(model.nv) % 2 == 0
    frozen = mask.copy()
    frozen.setflags(write=False)
    names = list(model.independent_joints)[:2]
    for form in (names, tuple(names), []):
        pc.hybrid_dynamics(model, data, *given, form)
    choices: list[Any] = [
        mask, ~mask, frozen, np.ones(model.nv, dtype=bool), pickle.loads(pickle.dumps(mask)),
        mask.astype(np.uint8).view(bool), names, tuple(names), list(names), [], (),
    ]  # fmt: skip
    wanted = [python(NAME)(model, data, *given, choice) for choice in choices]
    slow = Counts()
    for choice, expected in zip(choices, wanted, strict=True):
        for form in FAST_FORMS:
            assert same(pc.hybrid_dynamics(model, data, *map(form, given), choice), expected)
    assert slow[NAME] == 0


@pytest.mark.ci
@pytest.mark.parametrize("robot", pool.some(["mini_cheetah", "four_bar"], ["four_bar"], rest="ci"))
def test_any_call(robot: str, request: pytest.FixtureRequest) -> None:
    choose, rng = random.Random(robot), np.random.default_rng(3)
    model, data, _ = usual(robot)
    twin, foreign, checking = pc.load(robot), pc.load("mit_humanoid").createData(), model.createData()
    checking.check = True
    names, nv = list(model.independent_joints), model.nv
    lists: list[Any] = [names, names[:1], tuple(names[-1:]), [], names[:2], names[-2:]]
    taken, count = 0, CALLS[request.config.getoption("--long")]
    slow = Counts()
    for _ in range(count):
        arrays = [pc.randomConfiguration(model), *rng.normal(size=(3, nv))]
        given = [choose.choice(FAST_FORMS if choose.random() < 0.95 else OTHER_FORMS)(x) for x in arrays]
        mask = rng.random(nv) < choose.random()
        odd = [
            mask.tolist(), mask[::-1], mask[:, None], mask[None], np.append(mask, True), np.repeat(mask, 2)[::2],
            mask.astype(int), mask.astype(np.int8), mask * 1.0, None, names[0], ["nobody"], names[:1] * 2, {},
            list(model.dependent_joints)[:1], [0], [names[0], 0], np.array(names), set(names),
            pickle.loads(pickle.dumps(names)),
        ]  # fmt: skip
        choice = choose.choice([mask] * 25 + lists * 2 + odd)
        own = choose.choice([data] * 12 + [model.createData(), checking, foreign, None, "data", model])
        arguments: list[Any] = [choose.choice([model] * 12 + [None, 3, twin]), own, *given, choice]
        options: dict[str, Any] = {}
        match choose.randrange(20):
            case 0:
                options["prescribed"] = arguments.pop()
            case 1:
                arguments.append(choose.choice([None, np.ones((model.njoints, 6)), 3]))
            case 2:
                arguments = arguments[: choose.randrange(len(arguments))]
            case 3:
                options["unknown"] = 1
            case 4:
                options["fext"] = np.ones((model.njoints, 6))
        before = slow[NAME]
        found = outcome(pc.hybrid_dynamics, arguments, options)
        taken += slow[NAME] == before
        assert same(found, outcome(python(NAME), arguments, options)), (arguments, options, found)
        if type(found) is tuple:
            assert all(x.flags.owndata and x.flags.writeable and x.base is None for x in found)
    assert taken > count / 5, taken


@pytest.mark.ci
def test_every_byte_of_a_mask_counts() -> None:
    """A boolean of NumPy is a byte, and what is not 0 is true."""
    model, data, given = usual("mini_cheetah")
    mask = np.arange(model.nv) % 3 == 0
    odd = np.where(mask, 254, 0).astype(np.uint8).view(bool)
    for function in (pc.hybrid_dynamics, python(NAME)):
        assert same(function(model, data, *given, odd), pc.hybrid_dynamics(model, data, *given, mask))


@pytest.mark.ci
def test_names_are_known_by_what_is_in_the_list() -> None:
    """Not by the list, which may be changed, nor by data of another robot; of many lists the last ones are kept."""
    model, data, given = usual("mini_cheetah")
    names = list(model.independent_joints)

    def mask(of: list[str]) -> np.ndarray:
        return np.concatenate([np.full(6 if name == names[0] else 1, name in of) for name in names])

    chosen = names[:2]
    slow = Counts()
    for k in range(2, len(names)):
        for _ in range(2):
            assert same(
                pc.hybrid_dynamics(model, data, *given, chosen),
                pc.hybrid_dynamics(model, data, *given, mask(chosen)),
            )
        assert slow[NAME] == k - 1
        chosen[k % 2] = names[k]
    again = model.createData()
    for _ in range(3):
        pc.hybrid_dynamics(model, again, *given, chosen)
    assert slow[NAME] == len(names) - 1
    # the same letters, other objects; none of them is left behind
    for _ in range(100):
        made = ["".join(name) for name in map(list, names[:3])]
        found = pc.hybrid_dynamics(model, data, *given, made)
        assert same(found, pc.hybrid_dynamics(model, data, *given, mask(names[:3])))
    # what is gone must not lend its address to other names
    for k in range(100):
        name = names[1 + k % (len(names) - 1)]
        found = pc.hybrid_dynamics(model, data, *given, ["".join(list(name))])
        assert same(found, pc.hybrid_dynamics(model, data, *given, mask([name])))
    for x in (pickle.loads(pickle.dumps(data)), data.copy()):
        assert same(pc.hybrid_dynamics(x.model, x, *given, [name]), found)


@pytest.mark.ci
def test_no_reference_is_lost_or_kept() -> None:
    model, data, given = usual("mini_cheetah")
    mask, names, short = np.arange(model.nv) % 2 == 0, list(model.independent_joints)[:3], np.ones(2)
    kept = pc.hybrid_dynamics(model, data, *given, names)
    things = (
        model,
        data,
        *given,
        mask,
        names,
        *names,
        short,
        np.ndarray,
        np.dtype(float),
        np.dtype(bool),
        pc.hybrid_dynamics,
        python(NAME),
    )
    gc.collect()
    before, blocks = [sys.getrefcount(x) for x in things], sys.getallocatedblocks()
    for _ in range(50):
        for _ in range(100):
            kept = pc.hybrid_dynamics(model, data, *given, mask)
            pc.hybrid_dynamics(model, data, *given, names)
        for wrong in (short, ["nobody"], 3):
            with pytest.raises(pc.PinClustersError):
                pc.hybrid_dynamics(model, data, *given, wrong)
        with pytest.raises(pc.ShapeError):
            pc.hybrid_dynamics(model, data, given[0], short, *given[2:], mask)
    assert [sys.getrefcount(x) for x in things] == before
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 3000  # of 20,000 results none stays
    own = [0.0]  # how many references that is depends on the interpreter
    assert len({sys.getrefcount(x) for x in (kept, own)}) == 1
    assert [sys.getrefcount(x) for x in kept] == [sys.getrefcount(x) for x in ([0.0], [0.0])]


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered:RuntimeWarning")
def test_what_has_no_answer_is_said_by_python_and_nothing_is_kept() -> None:
    tree = pin.Model()
    one = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "one")
    tree.appendBodyToJoint(one, pin.Inertia.FromBox(1.0, 0.1, 0.1, 0.1), pin.SE3.Identity())
    tree.addJoint(one, pin.JointModelRX(), pin.SE3.Identity(), "tip")
    model = pc.ClusterModel(tree)
    data, x, tip, none = model.createData(), np.ones(2), np.array([False, True]), np.zeros(2, dtype=bool)
    pc.hybrid_dynamics(model, data, x, x, x, x, tip)
    slow = Counts()
    pc.hybrid_dynamics(model, data, x, x, x, x, tip)
    assert slow[NAME] == 0

    def fail(times: int) -> None:
        for _ in range(times):
            with raises(pc.SingularClusterError, "'tip'"):
                pc.hybrid_dynamics(model, data, x, x, x, x, none)
        gc.collect()

    fail(1)
    assert least_growth(lambda: fail(500)) < 250  # none of the 1000 arrays that were made stays
    assert slow[NAME] == 1501
