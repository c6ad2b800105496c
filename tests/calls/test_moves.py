"""Fast calls of moves and their derivatives: the bits of the Python functions, and which calls are fast."""

from __future__ import annotations

import gc
import pickle
import random
import sys
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mixed, pool, trees
from support.fast import Counts, least_growth, needed, no_python_calls, python
from support.forms import FAST_FORMS, OTHER_FORMS, alike, outcome
from support.messages import raises

import pin_clusters as pc
from pin_clusters.model import configuration, loops_of

# the published inertias of some robots are no real bodies'
pytestmark = [needed, pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")]

NAMES = ("integrate", "difference", "project", "dIntegrate", "dDifference")
ROBOTS = ("mini_cheetah", "four_bar", "tello", "delta", "lines", "bare", "free", "kinds")
FAST = {name: NAMES for name in ROBOTS}
# (cos, sin) joints in couplings: turns are counted by the Python functions
FAST["free"] = ("difference", "dIntegrate", "dDifference")
CALLS = {False: 3000, True: 60_000}


def robot(name: str) -> pc.ClusterModel:
    if name in mixed.KINDS:
        return mixed.robot(name)
    if name == "kinds":  # one of all joints
        rng, made = np.random.default_rng(5), trees.Robot()
        for i, (kind, make) in enumerate(trees.KINDS.items()):
            parent = None if i % 4 == 0 or kind == "freeflyer" else made.nodes[-1].name
            made.nodes.append(trees.Node(kind, parent, make(rng), trees.placement(rng), trees.inertia(rng), 0.1))
        return made.build()
    return pc.load(name)


def near(model: pc.ClusterModel, rng: np.random.Generator) -> np.ndarray:
    """Return a configuration from which small steps lead to assembled ones."""
    return pc.integrate(model, pc.neutral(model), 0.1 * rng.normal(size=model.nv))


def off(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a configuration beside the couplings and loops, of norms that are not one."""
    q = pin.integrate(model.tree, q, 0.02 * rng.normal(size=model.tree.nv))
    for j in range(1, model.njoints):
        if model.nqs[j] == 4:
            q[model.idx_qs[j] : model.idx_qs[j] + 4] *= rng.uniform(0.5, 2.0)
    return q


def arguments_of(name: str, model: pc.ClusterModel, rng: np.random.Generator) -> list[np.ndarray]:
    q = near(model, rng)
    v = rng.choice([0.02, 0.3, 3.0]) * rng.normal(size=model.nv)
    if name == "project":
        return [off(model, q, rng)]
    return [q, v if name.endswith("ntegrate") else near(model, rng)]


@pytest.mark.parametrize("name", ROBOTS)
def test_any_call(name: str, request: pytest.FixtureRequest) -> None:
    choose, rng = random.Random(name), np.random.default_rng(3)
    model = robot(name)
    held = model.independent_joints[0]
    pins = "project" in FAST[name]
    if pins:
        pc.project(model, pc.neutral(model), held)
        pc.project(model, pc.neutral(model), ())
    usual, taken = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
    for function in NAMES:
        getattr(pc, function)(model, *(x * 0.0 if function.endswith("ntegrate") and i else pc.neutral(model)
                                       for i, x in enumerate(arguments_of(function, model, rng))))  # fmt: skip
    slow = Counts()
    for _ in range(CALLS[request.config.getoption("--long")] // len(ROBOTS)):
        function = choose.choice(NAMES)
        arrays = arguments_of(function, model, rng)
        plain = choose.random() < 0.7
        if wild := choose.random() < 0.1:
            arrays[-1][rng.random(len(arrays[-1])) < 0.3] = choose.choice([np.nan, np.inf])
        given: list[Any] = [choose.choice(FAST_FORMS if plain else OTHER_FORMS)(x) for x in arrays]
        things: list[Any] = [choose.choice([model] * 12 + [None, 3, model.tree]), *given]
        options: dict[str, Any] = {}
        match choose.randrange(14):
            case 0:
                options["hold" if function == "project" else "out"] = choose.choice([held, [held], (), None])
            case 1:
                last = "q" if function == "project" else "v" if function.endswith("ntegrate") else "q2"
                options[last] = things.pop()
            case 2:
                things.append(choose.choice([None, held, pin.ARG0, pin.ARG1, pin.ArgumentPosition.ARG2]))
            case 3:
                things = things[: choose.randrange(len(things))]
        before = slow[function]
        found = outcome(getattr(pc, function), things, options)
        fast = slow[function] == before
        wanted = outcome(python(function), things, options)
        assert alike(found, wanted), (function, things, options, found, wanted)
        known = not options and len(things) == 1 + len(arrays)
        if function in ("dIntegrate", "dDifference") and len(things) == 4:
            known = not options and things[3] in (pin.ARG0, pin.ARG1)
        if function == "project" and (options.get("hold") == held or things[2:] == [held]):
            known = pins and "q" not in options and len(things) + len(options) == 3
        if plain and not wild and known and things[0] is model:
            usual[function] += 1
            taken[function] += fast
        for one in () if isinstance(found, Exception) else found if isinstance(found, tuple) else (found,):
            assert one.flags.owndata
            assert not any(one is x or np.shares_memory(one, x) for x in given if isinstance(x, np.ndarray))
    for function in NAMES:  # loops that do not close are the Python functions'
        closes = model.closures and function not in ("dIntegrate", "dDifference")
        least = (0.3 if closes else 1.0) if function in FAST[name] else 0.0
        assert least * usual[function] <= taken[function] <= usual[function] * (function in FAST[name]), (usual, taken)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_usual_call_is_fast(name: str, rng: np.random.Generator) -> None:
    model = robot(name)
    q = pc.neutral(model)
    v = 0.01 * rng.normal(size=model.nv)
    calls = {"integrate": [q, v], "difference": [q, q], "project": [q], "dIntegrate": [q, v], "dDifference": [q, q]}
    for function, given in calls.items():
        getattr(pc, function)(model, *given)  # what is not compiled yet is now
    slow = Counts()
    for function, given in calls.items():
        assert np.array_equal(getattr(pc, function)(model, *given), python(function)(model, *given)), function
    assert {f for f in NAMES if slow[f] == 0} == set(FAST[name]), slow


def test_a_copy_of_a_model_has_plans_of_its_own() -> None:
    model = robot("lines")
    q, v = pc.neutral(model), np.ones(model.nv)
    there = pc.integrate(model, q, v)
    twin = pickle.loads(pickle.dumps(model))
    slow = Counts()
    for _ in range(2):
        assert np.array_equal(pc.integrate(twin, q, v), there)
    assert slow["integrate"] == 1


def test_held_joints_are_known_again() -> None:
    """By the objects in the list; of many lists the last ones are known."""
    model = robot("lines")
    q = off(model, pc.neutral(model), np.random.default_rng(2))
    names = [str(name) for name in model.names[1:]]
    pc.project(model, q)
    for hold in (names[0], (names[1],), [names[2]]):
        slow = Counts()
        first = pc.project(model, q, hold)
        assert slow["project"] == 1
        for again in (
            pc.project(model, q, hold),
            pc.project(model, q=q, hold=hold),
            pc.project(model, q, hold=hold),
        ):
            assert np.array_equal(first, again)
        assert slow["project"] == (4 if type(hold) is list else 1)  # a list may be changed
    many = [(name, other) for name in names for other in names]
    for _ in range(2):
        for hold in many[:40]:
            with suppress(pc.ConfigurationError):
                assert np.array_equal(pc.project(model, q, hold), python("project")(model, q, hold))


def test_loops_closed_from_afar_are_looked_at_again() -> None:
    """Rows that repeat others are not the kernel's: beyond half a radian the Python function sees whether they hold."""
    model = robot("four_bar")
    q = pc.neutral(model)
    pc.project(model, q)
    slow = Counts()
    for far, expected in ((0.2, 0), (1.5, 1)):
        beside = q.copy()
        beside[0] += far
        found = pc.project(model, beside)
        assert slow["project"] == expected
        configuration.check(model, found)
        assert np.array_equal(found, python("project")(model, beside))


def test_held_joints_that_leave_no_way_are_refused_each_time() -> None:
    tree = pin.buildSampleModelManipulator()
    first, second = (str(name) for name in list(tree.names)[1:3])
    model = pc.ClusterModel(tree, [pc.Gear(first, second, 2.0)])
    q = pin.neutral(tree)
    q[0] = 0.3
    both = (first, second)
    for _ in range(3):
        with raises(pc.ConfigurationError, "0.6"):
            pc.project(model, q, both)
        assert pc.project(model, 0.0 * q, both) == pytest.approx(0.0 * q, abs=0.0)
        assert pc.project(model, q, first)[1] == pytest.approx(0.6, abs=1e-15)


class Own(pc.ClusterModel):
    """A class of the user."""


def test_a_class_of_the_user_is_fast() -> None:
    model = Own(pc.load("four_bar").tree, pc.load("four_bar").constraints)
    q = pc.neutral(model)
    expected = pc.integrate(model, q, [0.1])
    slow = Counts()
    for v in ([0.1], np.array([0.1])):
        assert np.array_equal(pc.integrate(model, q, v), expected)
    assert not slow.all()


@pytest.mark.parametrize("name", pool.some(["mini_cheetah", "tello"], ["tello"], rest="ci"))
def test_no_reference_is_lost_or_kept(name: str, rng: np.random.Generator) -> None:
    model = robot(name)
    q, v, short = pc.neutral(model), 0.01 * rng.normal(size=model.nv), np.ones(2)
    there, wild = pc.integrate(model, q, v), np.full(model.nv, np.nan)
    for _ in range(2):
        pc.integrate(model, q, v), pc.difference(model, q, there), pc.project(model, q)
        pc.dIntegrate(model, q, v), pc.dDifference(model, q, there, pin.ARG1)
    things = (  # not the type of numbers, of which each of Pinocchio's results keeps a reference
        model, q, v, short, there, wild, model.own_tree, pin.integrate, pin.dDifference, pin.ARG1,
        np.ndarray, pc.integrate, python("integrate"),
    )  # fmt: skip
    gc.collect()
    before, blocks = [sys.getrefcount(x) for x in things], sys.getallocatedblocks()
    for _ in range(50):
        for _ in range(100):
            kept = pc.integrate(model, q, v)
            pc.difference(model, q, there)
            pc.project(model, there)
            pc.dIntegrate(model, q, v), pc.dDifference(model, q, there, pin.ARG1)
        pc.integrate(model, q, wild)
        with pytest.raises(pc.ArgumentTypeError):
            pc.dDifference(model, q, there, 3)
        pc.difference(model, q, wild[:1] if model.nq == 1 else np.full(model.nq, np.nan))
        with pytest.raises(pc.ShapeError):
            pc.integrate(model, q, short)
    assert [sys.getrefcount(x) for x in things] == before
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 5000  # of 15,000 results none stays
    own = [0.0]  # how many references that is depends on the interpreter
    assert len({sys.getrefcount(x) for x in (kept, own)}) == 1


@pytest.mark.ci
def test_a_loop_that_is_lost_is_said_and_nothing_is_kept() -> None:
    model = pc.load("four_bar")
    other, _ = pc.with_independent(model, ["rocker"])
    q, far = pc.neutral(other), np.array([3.0])
    for _ in range(2):
        pc.integrate(other, q, np.array([0.01]))
    things = (other, q, far, other.own_tree)

    def lose(times: int) -> None:
        for _ in range(times):
            with raises(pc.BranchLost, "'crank' 'coupler' 'rocker'"):
                pc.integrate(other, q, far)
        gc.collect()

    lose(1)
    counts = [sys.getrefcount(x) for x in things]
    assert least_growth(lambda: lose(500)) < 250  # none of the 500 arrays that were moved half way stays
    assert [sys.getrefcount(x) for x in things] == counts


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_anywhere_leaves_no_loop_closed(bad: float) -> None:
    """Also where it is not the loop's: the base's velocity."""
    model = robot("tello")
    q, v = pc.neutral(model), np.zeros(model.nv)
    pc.integrate(model, q, v)
    v[0] = bad
    moved = pc.integrate(model, q, v)
    assert np.array_equal(moved, python("integrate")(model, q, v), equal_nan=True)
    loops = loops_of(model)
    assert np.isnan(moved[np.setdiff1d(loops.entries, loops.independent_entries)]).all()


def test_several_threads_move_one_model(rng: np.random.Generator) -> None:
    model = pc.load("tello")
    q, v = pc.neutral(model), 0.05 * rng.normal(size=(8, model.nv))
    wanted = [pc.integrate(model, q, x) for x in v]
    away = off(model, q, rng)
    onto, wrong = pc.project(model, away), list[int]()

    def work(i: int) -> None:
        for _ in range(500):
            there = pc.integrate(model, q, v[i])
            if not np.array_equal(there, wanted[i]) or not np.array_equal(pc.project(model, away), onto):
                wrong.append(i)
            if np.abs(pc.difference(model, q, there) - v[i]).max() > 1e-12:  # a few roundings of 0.1
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_branches_are_told_apart() -> None:
    """What difference sees on its way in machine code: the other assembly, and whole turns that mean nothing."""
    model = pc.load("four_bar")
    q = pc.neutral(model)
    own, other = pc.branches(model, q, "crank")
    assert pc.difference(model, q, own) == pytest.approx(0.0, abs=1e-15)
    with raises(pc.BranchLost):
        pc.difference(model, q, other)
    turned = own.copy()
    turned[model.idx_qs[model.getJointId("rocker")]] += 2.0 * np.pi
    slow = Counts()
    assert pc.difference(model, q, turned) == pytest.approx(0.0, abs=1e-15)
    assert slow["difference"] == 0
    turned[model.idx_qs[model.getJointId("rocker")]] += 1e-5  # beyond what counts as the same
    with raises(pc.ConfigurationError, "q2"):
        pc.difference(model, q, turned)


@pytest.mark.parametrize("robot", ["four_bar", "mini_cheetah"])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, np.asfortranarray])
def test_matrices_of_all_kinds_are_transported_fast(robot: str, kind: Any) -> None:
    model = pc.load(robot)
    q, v, J = pc.neutral(model), np.full(model.nv, 0.1), kind(np.eye(model.nv)[:, :3])
    expected = python("dIntegrateTransport")(model, q, v, J, pin.ARG0)
    pc.dIntegrateTransport(model, q, v, J, pin.ARG0)
    with no_python_calls():
        assert np.array_equal(pc.dIntegrateTransport(model, q, v, J, pin.ARG0), expected)
