"""Decisions of kernels in code of the robot's own: the translation of choices, and the motion that they lead to."""

from __future__ import annotations

import ctypes
import inspect
import math
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.compiler.machine_code.loading import load
from pin_clusters.compiler.operations import MOVE
from pin_clusters.compiler.specialising.decisions import Decisions
from pin_clusters.compiler.specialising.loop_moves import module
from pin_clusters.errors import BranchLost
from pin_clusters.model import loops_of
from pin_clusters.model.continuation import _carry_slowly

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
LIMIT = 2.0


class _First:
    """A part that returns the first two numbers of an array, and takes one away from the first."""

    def call(self, w: Any, given: list[str]) -> list[str]:
        """Write it."""
        (array,) = given
        x, y = w.load(array, 0), w.load(array, 1)
        w.store(w.new(f"fsub double {x}, {w.kind.constant(1.0)}"), array, 0)
        return [x, y]


def first(work: np.ndarray) -> tuple[float, float]:
    x, y = work
    work[0] -= 1.0
    return x, y


def between(x: float, low: float, high: float) -> bool:
    """Whether a number is between two others, or larger than ten limits."""
    return (low <= x and x < high) or x > 10.0 * LIMIT


def falls(index: Any, work: np.ndarray) -> bool:
    """Take all kinds of choices."""
    step, bound = 1.0, LIMIT - 1.0
    for _ in range(2 * 3):
        x, y = first(work)
        step = min(x, 4.0 * step, y / x if x > 0.5 else 1.0)
        if between(x, bound, y) and y != 3.0:
            return True
        if not x < 1e3 or (x == y and x != x - 1.0):
            return False
        bound = bound - 0.25 * step
    while bound < 1.0:
        if step >= 1.5:
            return between(bound, step, y)
        step = step + 0.5
        bound = bound + step
    return step >= 1.25


def test_choices_are_those_of_python(rng: np.random.Generator) -> None:
    """Of numbers and of NaN, which is neither less nor equal."""
    text = Decisions(falls, {"first": _First()}).text("falls", [])  # type: ignore[dict-item, arg-type]
    code = load(text.replace("define internal", "define"), optimise=False)
    translated = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(code.address("falls"))
    seen = []
    for _ in range(3000):
        given = rng.choice([*np.arange(-8, 16) / 4.0, 20.0, 21.0, 1e3, math.nan, math.inf], 2)  # many are equal
        mine, own = given.copy(), given.copy()
        with np.errstate(all="ignore"):
            expected = bool(falls(None, mine))
        assert translated(own.ctypes.data) is expected, given
        assert np.array_equal(mine, own, equal_nan=True)
        seen.append(expected)
    assert 300 < sum(seen) < 2700


def test_without_source_files_kernels_have_to_move_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(function: Any) -> str:
        raise OSError("could not get source code")

    monkeypatch.setattr(inspect, "getsource", none)
    with raises(pc.NotAvailableError, "source files pin_clusters"):
        module(pc.load("four_bar"), MOVE, 1e6)


@pytest.mark.parametrize("name", pool.some(pc.robots(), ["four_bar", "ankle_2rsu", "delta"]))
def test_continuation_by_numpy_arrives_where_kernels_do(name: str, rng: np.random.Generator) -> None:
    """Its equations come from Pinocchio's kinematics, and it takes its own steps, within the same limits."""
    model = pc.load(name)
    if not model.closures:
        pytest.skip("no loops")
    loops, tree, reached, lost = loops_of(model), model.own_tree, 0, 0
    q = model.q_reference
    for _ in range(30):
        v, v_tree = rng.normal(size=model.nv) * rng.choice([1e-3, 0.1, 0.5, 2.0]), np.zeros(tree.nv)
        v_tree[model.idx_v_independent] = v
        target, mine = pin.integrate(tree, q, v_tree), q.copy()
        code = kernels.move.call(loops.pointer, mine, v, target, np.zeros(model.nq))
        try:
            own = _carry_slowly(model, loops, q, v, target)
        except BranchLost:
            assert code != 0
            lost += 1
            continue
        assert code == 0
        assert np.abs(own - mine)[loops.entries].max() < 1e-9
        q, reached = mine if rng.random() < 0.7 else model.q_reference, reached + 1
    assert reached > 10
