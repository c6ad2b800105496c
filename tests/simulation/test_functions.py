"""Functions that give torques: compiled steps ask them as steps in Python do, for the same results and errors."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from samples import pool, trees
from support.fast import needed
from support.messages import warns

import pin_clusters as pc
from pin_clusters import simulation
from pin_clusters.simulation import _compiled, run
from pin_clusters.simulation._engine import PythonEngine
from pin_clusters.simulation.result import SimulationInterrupted
from pin_clusters.simulation.run import engine_for

pytestmark = needed

# rounding grows along the motion; the numbers are relative to the largest entry
ROUNDING = 1e-9
KEYS = ("arm", "tree floating", "four_bar_serial_on_free_flyer", "geared_five_bar", "ankle_2rsu", "FourBar")
Torque = Callable[[float, np.ndarray, np.ndarray], Any]


def case(key: str, rng: np.random.Generator) -> tuple[pc.ClusterModel, np.ndarray, np.ndarray]:
    if key == "arm":
        model = trees.geared_arm().build()
        return model, pc.neutral(model), 0.3 * rng.normal(size=model.nv)
    if key == "crank":
        model = pc.load("four_bar")
        return model, pc.neutral(model), np.array([2.0])
    if key == "tree floating":
        kinds = [k for k in trees.KINDS if k not in ("continuous", "RUBX", "RUBY", "RUBZ")]
        model = trees.random_robot(rng, 9, floating=True, kinds=kinds, rotor_bodies=0).build()
        q, v, _, _ = trees.random_state(model, rng, 0.5)
        return model, q, v
    found = pool.case(key)
    return found.model, found.q, 0.3 * rng.normal(size=found.model.nv)


class Watched:
    """A function with memory, which keeps what it is given and what comes of it."""

    def __init__(self, function: Torque) -> None:
        self.function, self.seen = function, list[tuple[float, np.ndarray, np.ndarray]]()

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> Any:
        assert type(t) is float
        assert all(x.flags.owndata and x.flags.writeable for x in (q, v))
        self.seen.append((t, q.copy(), v.copy()))
        tau = self.function(t, q, v)
        q[:], v[:] = np.nan, np.nan  # they are the function's own
        return tau


def by_both(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Torque], *arguments: Any, **options: Any
) -> list[tuple[Watched, Any]]:
    """Run with the compiled engine and with Python's; return the watched functions, and results or errors."""
    found = []
    model, q, v, *rest = arguments
    for engine in (_compiled.CompiledEngine, PythonEngine):
        watched, used = Watched(make()), []

        def chosen(settings: Any, recorder: Any, engine: Any = engine, used: list[type] = used) -> Any:
            made = engine_for(settings, recorder) if engine is _compiled.CompiledEngine else engine(
                settings, recorder)  # fmt: skip
            used.append(type(made))
            return made

        with monkeypatch.context() as patch:
            patch.setattr(run, "engine_for", chosen)
            try:
                outcome: Any = pc.simulate(model, q, v, watched, *rest, **options)
            except BaseException as error:
                outcome = error
        assert used == [engine]
        found.append((watched, outcome))
    return found


def same_calls(one: Watched, other: Watched) -> None:
    assert len(one.seen) == len(other.seen)
    for (t, q, v), (t_other, q_other, v_other) in zip(one.seen, other.seen, strict=True):
        assert t == t_other
        for x, y in ((q, q_other), (v, v_other)):
            assert np.abs(x - y).max() <= ROUNDING * max(1.0, np.abs(y).max())


def same_results(a: pc.SimulationResult, b: pc.SimulationResult) -> None:
    assert a.switches == b.switches
    assert np.array_equal(a.time, b.time)
    for name in ("q", "v", "a", "tau", "energy", "v_tree"):
        x, y = getattr(a, name), getattr(b, name)
        assert np.abs(x - y).max(initial=0.0) <= ROUNDING * max(1.0, np.abs(y).max(initial=0.0)), name


def filtered() -> Torque:
    """Return a function with a state of its own, which sees every call."""
    state: list[Any] = [0.0, 0]

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        state[0] = 0.9 * state[0] + 0.1 * v
        state[1] += 1
        return -0.05 * state[0] + 1e-3 * np.cos(t + state[1])

    return tau


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("method", simulation.METHODS)
def test_the_same_questions_and_the_same_motion(
    key: str, method: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, q, v = case(key, rng)
    # more than one batch, a shorter last step, samples that are not every step
    (one, a), (other, b) = by_both(monkeypatch, filtered, model, q, v, 61.5e-4, 1e-4, method=method, record=4)
    same_calls(one, other)
    same_results(a, b)
    stages = 1 if method == "semi_implicit" else 4
    assert len(one.seen) == 62 * stages + 1  # and once at the end


@pytest.mark.parametrize("form", ["list", "float32", "column", "integers", "read-only", "number", "view"])
def test_answers_in_any_form(form: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    model, q, v = case("crank" if form == "number" else "arm", rng)

    def make() -> Torque:
        def tau(t: float, q: np.ndarray, v: np.ndarray) -> Any:
            x = np.round(-10.0 * v)
            match form:
                case "list":
                    return x.tolist()
                case "float32":
                    return x.astype(np.float32)
                case "column":
                    return x[:, None]
                case "integers":
                    return x.astype(int)
                case "read-only":
                    x.flags.writeable = False
                    return x
                case "number":
                    return float(x[0])
            return np.repeat(x, 2)[::2]

        return tau

    (one, a), (other, b) = by_both(monkeypatch, make, model, q, v, 1e-2, 1e-4)
    same_calls(one, other)
    same_results(a, b)


class OwnError(Exception):
    """An error of the user."""


def after(calls: int, what: Callable[[np.ndarray], Any]) -> Callable[[], Torque]:
    """Return what makes a function that does something else at one of its calls."""

    def make() -> Torque:
        count = [0]

        def tau(t: float, q: np.ndarray, v: np.ndarray) -> Any:
            count[0] += 1
            return what(v) if count[0] == calls else -0.1 * v

        return tau

    return make


def fail(_: Any) -> Any:
    raise OwnError("no torque here")


@pytest.mark.parametrize("calls", [1, 2, 4, 30, 204])
@pytest.mark.parametrize(
    "what",
    [
        fail, lambda v: v * np.nan, lambda v: None, lambda v: "text", lambda v: v[:-1], lambda v: v + 0j,
        lambda v: 1e13 * v,
    ],
    ids=["raises", "nan", "None", "text", "short", "complex", "huge"],
)  # fmt: skip
def test_what_fails_is_said_alike_and_nobody_is_asked_twice(
    calls: int, what: Callable[[np.ndarray], Any], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, q, v = case("arm", rng)
    (one, a), (other, b) = by_both(monkeypatch, after(calls, what), model, q, v, 1e-2, 1e-4)
    assert type(a) is type(b) is pc.SimulationError
    if np.abs(one.seen[-1][2]).max() > 1e6:  # angles have no digits left, and rounding grows without bounds
        assert [t for t, _, _ in one.seen] == [t for t, _, _ in other.seen]
        return
    same_calls(one, other)
    assert str(a) == str(b)
    assert type(a.__cause__) is type(b.__cause__)
    same_results(a.result, b.result)
    if what is fail:
        cause = a.__cause__
        assert isinstance(cause, OwnError)
        frames, at = [], cause.__traceback__
        while at is not None:
            frames.append(at.tb_frame.f_code.co_name)
            at = at.tb_next
        assert frames[-2:] == ["tau", "fail"]


def test_interruptions_of_the_function_end_the_simulation(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: Any) -> Any:
        raise KeyboardInterrupt

    model, q, v = case("arm", rng)
    (one, a), (other, b) = by_both(monkeypatch, after(50, stop), model, q, v, 1e-2, 1e-4)
    same_calls(one, other)
    assert type(a) is type(b) is SimulationInterrupted
    same_results(a.result, b.result)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms")
def test_ctrl_c_in_the_middle_of_compiled_steps(rng: np.random.Generator) -> None:
    model, q, v = case("arm", rng)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    def damper(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -0.1 * v

    pc.simulate(model, q, v, damper, 1e-3, 1e-4)  # what is not compiled yet is now
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(SimulationInterrupted) as caught:
            pc.simulate(model, q, v, damper, 1e3, 1e-4, record=1000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert len(caught.value.result.time) > 0


@pytest.mark.parametrize("torque", [0.0, 0.3])
def test_a_switch_of_coordinates(torque: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function sees the user's own velocity before and after; the step at the switch does not ask it again."""
    model, _ = pc.with_independent(pc.load("four_bar"), ["rocker"])

    def make() -> Torque:
        return lambda t, q, v: torque - 1e-3 * v

    (one, a), (other, b) = by_both(monkeypatch, make, model, pc.neutral(model), [3.0], 0.3, 1e-3, record=3)
    assert len(a.switches) == 1
    same_calls(one, other)
    same_results(a, b)


def test_a_loop_that_cannot_follow_is_said_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = pc.with_independent(pc.load("four_bar"), ["rocker"])

    def make() -> Torque:
        return lambda t, q, v: np.array([0.3])

    found = by_both(monkeypatch, make, model, pc.neutral(model), [3.0], 0.3, 1e-2, switch=False)
    (one, a), (other, b) = found
    same_calls(one, other)
    assert type(a) is type(b) is pc.SimulationError
    assert str(a) == str(b)
    same_results(a.result, b.result)


def test_a_function_may_simulate_and_move_the_same_model(rng: np.random.Generator) -> None:
    model, q, v = case("FourBar", rng)

    def damper(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -0.05 * v

    def busy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        there = pc.integrate(model, q, 0.1 * np.ones(model.nv))
        pc.simulate(model, there, v, damper, 3e-4, 1e-4)
        pc.project(model, there)
        return damper(t, q, v)

    same_results(pc.simulate(model, q, v, busy, 1e-3, 1e-4), pc.simulate(model, q, v, damper, 1e-3, 1e-4))


def test_several_threads(rng: np.random.Generator) -> None:
    model, q, v = case("four_bar_serial_on_free_flyer", rng)
    wanted, wrong = pc.simulate(model, q, v, filtered(), 1e-2, 1e-4), list[int]()

    def work() -> None:
        found = pc.simulate(model, q, v, filtered(), 1e-2, 1e-4)
        if not np.array_equal(found.q, wanted.q):
            wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_is_kept_and_nothing_lost(rng: np.random.Generator) -> None:
    model, q, v = case("arm", rng)

    class Answer(np.ndarray):
        """An array that can be watched."""

    alive: list[Any] = []

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        x = (-0.1 * v).view(Answer)
        alive.append(weakref.ref(x))
        alive.append(weakref.ref(q))
        return x if len(alive) < 200 else x[:-1]

    constant = 0.0 * v
    before = [sys.getrefcount(x) for x in (v, tau, constant)]
    with pytest.raises(pc.SimulationError):
        pc.simulate(model, q, v, tau, 1e-1, 1e-4)
    pc.simulate(model, q, v, lambda t, q, v: constant, 1e-2, 1e-4)
    gc.collect()
    assert [sys.getrefcount(x) for x in (v, tau, constant)] == before
    assert not any(x() is not None for x in alive)


def test_warnings_of_the_function_are_seen(rng: np.random.Generator) -> None:
    model, q, v = case("arm", rng)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        warnings.warn("from the function", UserWarning, stacklevel=1)
        return -v

    with warns(UserWarning):
        pc.simulate(model, q, v, tau, 1e-3, 1e-4)
