"""Each option of the emitter, on expressions of three equal limbs: against the same arithmetic in NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from pin_clusters.compiler.machine_code.emitter import Emitter, Result
from pin_clusters.compiler.machine_code.kinds import Kind
from pin_clusters.compiler.machine_code.loading import load
from pin_clusters.compiler.machine_code.text import module_text
from pin_clusters.compiler.native.memory import may_execute
from pin_clusters.compiler.specialising.limb_loops import pack_function
from pin_clusters.compiler.tracing.expressions import BROADCAST, LANE, NUMBERS, PACK, SUM, Graph

pytestmark = pytest.mark.skipif(not may_execute(), reason="no machine code")
INPUTS, OUTPUTS = [("x", 4)], ["limbs", "rest"]
FACTORS = np.array([2.0, -3.0, 0.5])


def expressions() -> tuple[list[Result], dict[int, int]]:
    """Per limb x_i s + f_i, in reversed order; their sum times s; the second limb's; with the group of the pack."""
    graph = Graph()
    *own, s = graph.inputs(0, 4)
    x = graph.make(PACK, *own, own[-1])
    per_limb = x * graph.make(BROADCAST, s, 4, 0) + graph.make(NUMBERS, *FACTORS, FACTORS[-1])
    rest = [graph.make(SUM, per_limb, 3) * s, graph.make(LANE, per_limb, 1) / s]
    results = [Result("limbs", (2, 1, 0), per_limb, "ole 0.0")]
    return results + [Result("rest", (i,), y) for i, y in enumerate(rest)], {x.id: 0}


def expected(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s = x[3]
    per_limb = x[:3] * s + FACTORS.reshape(-1, *[1] * (x.ndim - 1))
    return per_limb[::-1], np.array([per_limb.sum(axis=0) * s, per_limb[1] / s])


def called(text: str, name: str, x: np.ndarray, returns: type | None) -> tuple[np.ndarray, np.ndarray, object]:
    """Run a function that takes pointers to inputs, then to outputs; arrays are aligned as packs need it."""
    rooms = [np.frombuffer(bytearray(64 * 9), dtype=float) for _ in range(3)]
    given, limbs, rest = (room[(-room.ctypes.data % 64) // 8 :][:64] for room in rooms)
    given[: x.size] = x.ravel()
    pointers = (x.ctypes.data for x in (given, limbs, rest))
    address = load(module_text(text.replace("define internal", "define")), optimise=False).address(name)
    answer = ctypes.CFUNCTYPE(returns, *[ctypes.c_void_p] * 3)(address)(*pointers)
    return limbs[: 3 * x[0].size].reshape(3, *x.shape[1:]), rest[: 2 * x[0].size].reshape(2, *x.shape[1:]), answer


@pytest.mark.parametrize("violated", [False, True])
def test_limbs_as_lanes(violated: bool) -> None:
    results, _ = expressions()
    x = np.array([1.0, -2.0 if violated else 4.0, 3.0, 1.5])
    text = Emitter(Kind("double"), INPUTS).function("limbs", results, OUTPUTS, checked=True)
    *found, answer = called(text, "limbs", x, ctypes.c_bool)
    for y, right in zip(found, expected(x), strict=True):
        assert np.allclose(y, right, rtol=1e-15, atol=0.0)
    assert answer == bool((expected(x)[0] <= 0.0).any()) == violated


def test_limbs_as_a_loop_and_states_as_lanes(rng: np.random.Generator) -> None:
    results, packs = expressions()
    x = 1.0 + rng.random(size=(4, 4))  # a state per column
    text = pack_function(INPUTS, results, OUTPUTS, [3], packs, 4)
    for y, right in zip(called(text, "pack", x, None), expected(x), strict=False):
        assert np.allclose(y, right, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("lanes", [1, 4])
def test_operations_alone(lanes: int, rng: np.random.Generator) -> None:
    *own, s = Graph().inputs(0, 4)
    limbs = [x * s + f for x, f in zip(own, FACTORS.tolist(), strict=True)]
    rest = [(limbs[0] + limbs[1] + limbs[2]) * s, limbs[1] / s]
    results = [Result("limbs", (2 - i,), y) for i, y in enumerate(limbs)]
    results += [Result("rest", (i,), y) for i, y in enumerate(rest)]
    x = 1.0 + rng.random(size=(4, lanes))
    text = Emitter(Kind("double", lanes), INPUTS).function("plain", results, OUTPUTS)
    for y, right in zip(called(text, "plain", x, None), expected(x), strict=False):
        assert np.allclose(y, right, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize(("count", "width", "starts"), [(1, 1, [0]), (3, 1, [0, 1, 2]), (4, 4, [0]), (7, 4, [0, 3])])
def test_loops(count: int, width: int, starts: list[int]) -> None:
    w = Emitter(Kind("double"), [])
    with w.loop(count, width) as i:
        w.store(w.new(f"sitofp i64 {w.new(f'add i64 {i}, 1')} to double"), "to", i)
    text = w.internal("numbers", ["ptr %to"]).replace("define internal", "define")
    found = np.zeros(8)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(load(text, optimise=False).address("numbers"))(found.ctypes.data)
    assert np.flatnonzero(found).tolist() == starts
    assert found[starts].tolist() == [i + 1.0 for i in starts]
