"""Expressions: what vanishes, what is one, what may not be asked; and programs made of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from samples import pool
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler.tracing import Program
from pin_clusters.compiler.tracing.expressions import COS, NEG, SELECT, SIN, SQRT, BranchOnValueError, Graph, select

pytestmark = pytest.mark.jitless


def inputs(n: int) -> list[Any]:
    return Graph().inputs(0, n)


def test_what_does_nothing_is_not_written_down() -> None:
    x, y = inputs(2)
    before = len(x.graph.nodes)
    assert x * 0.0 == 0.0
    assert 0.0 * x == 0.0
    for same in (x + 0.0, 0.0 + x, x - 0.0, x * 1.0, 1.0 * x, x / 1.0, +x, x**1):
        assert same is x
    assert x - x == 0.0
    assert 0.0 / x == 0.0
    assert len(x.graph.nodes) == before
    negative = -x
    assert -negative is x
    assert (0.0 - x).op == NEG
    assert (x * -1.0) is -x
    assert x + -y is x - y
    assert -x + y is y - x
    assert -x * y is -(x * y)
    assert x - -y is x + y
    assert np.sin(np.array([-x], dtype=object))[0] is -x.sin()
    assert (-x).cos() is x.cos()


def test_what_is_equal_is_one() -> None:
    x, y = inputs(2)
    assert x + y is y + x
    assert x * y is y * x
    assert x * 2.0 is 2.0 * x
    assert (x + y) * x is x * (y + x)
    assert x / y is not y / x
    assert x * 2.0 is not x * 3.0


@pytest.mark.parametrize(
    "decide",
    [lambda x: x < 1.0, lambda x: x >= x, bool, abs, float, int, lambda x: 1.0 if x > 0.0 else 2.0, lambda x: [0][x]],
)
def test_what_decides_is_refused(decide: Any) -> None:
    (x,) = inputs(1)
    with raises(BranchOnValueError):
        decide(x)


def test_powers() -> None:
    (x,) = inputs(1)
    program = Program.of("powers", [("x", 1)], {"y": np.array([x**3, x**-2, x**0.5, x**0], dtype=object)})
    np.testing.assert_allclose(program(np.array([4.0])), [64.0, 1.0 / 16.0, 2.0, 1.0], rtol=1e-15)
    with raises(pc.NotAvailableError, "1.5"):
        x**1.5


def some() -> Program:
    x, y, z = inputs(3)
    u = select(x, y, x * y, y / z)
    out = {"a": np.array([x * y + z.sin(), 3.0], dtype=object), "b": np.array([[u, (x * x + 2.0).sqrt() - z.cos()]])}
    return Program.of("some", [("p", 2), ("r", 1)], out)


def exactly(x: float, y: float, z: float) -> tuple[np.ndarray, np.ndarray]:
    u = x * y if x < y else y / z
    return np.array([x * y + np.sin(z), 3.0]), np.array([[u, np.sqrt(x * x + 2.0) - np.cos(z)]])


def test_a_program_evaluates_one_state_and_rows() -> None:
    program, rng = some(), np.random.default_rng(0)
    p, r = rng.normal(size=(7, 2)), rng.normal(size=(7, 1))
    a, b = program(p, r)
    assert a.shape == (7, 2)
    assert b.shape == (7, 1, 2)
    for i in range(7):
        one = program(p[i], r[i])
        for found, rows, exact in zip(one, (a[i], b[i]), exactly(*p[i], *r[i]), strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-15)
            np.testing.assert_array_equal(found, rows)
    short = program(p.astype(np.float32), r.astype(np.float32))
    assert all(x.dtype == np.float32 for x in short)
    np.testing.assert_allclose(short[1], b, rtol=1e-5)


def test_a_program_tells_what_it_does() -> None:
    program = some()
    assert program.flops == sum(program.counts[x] for x in ("add", "sub", "mul", "div", "sqrt"))
    assert program.counts == {"add": 2, "sub": 1, "mul": 2, "div": 1, "sqrt": 1, "sin": 1, "cos": 1, "select": 1}
    lines = str(program).splitlines()
    assert any(line.endswith("= p[0] * p[1]") for line in lines)
    assert any(" if p[0] < p[1] else " in line for line in lines)
    assert "a[1] = 3.0" in lines
    assert repr(program) == "Program('some': p[2], r[1] -> a[2], b[1, 2]; 7 flops)"
    again = pickle.loads(pickle.dumps(program))
    np.testing.assert_array_equal(again(np.ones(2), np.ones(1))[1], program(np.ones(2), np.ones(1))[1])


def test_programs_differentiate_themselves() -> None:
    """By steps of complex size nothing is lost, but for the choice; by differences that is exact where it is linear."""
    program, rng = some(), np.random.default_rng(3)
    p, r = rng.normal(size=2), rng.normal(size=1)
    x, step = np.r_[p, r], 1e-6
    columns = []
    for e in np.eye(3):
        up, down = x + step * e, x - step * e
        columns.append([(u - w) / (2 * step) for u, w in zip(exactly(*up), exactly(*down), strict=True)])
    da_dp, da_dr, db_dp, db_dr = program.jacobian()(p, r)
    exact = [np.stack([c[i] for c in columns], axis=-1) for i in range(2)]
    np.testing.assert_allclose(np.concatenate([da_dp, da_dr], axis=-1), exact[0], atol=1e-9)
    np.testing.assert_allclose(np.concatenate([db_dp, db_dr], axis=-1), exact[1], atol=1e-9)
    assert program.jacobian("r").outputs == (("da_dr", (2, 1)), ("db_dr", (1, 2, 1)))
    weights, changes = (rng.normal(size=2), rng.normal(size=2)), (rng.normal(size=2), rng.normal(size=1))
    p_bar, r_bar = program.vjp()(p, r, *weights)
    np.testing.assert_allclose(p_bar, weights[0] @ da_dp + weights[1] @ db_dp[0], rtol=1e-13)
    np.testing.assert_allclose(r_bar, weights[0] @ da_dr + weights[1] @ db_dr[0], rtol=1e-13)
    a_dot, b_dot = program.jvp()(p, r, *changes)
    np.testing.assert_allclose(a_dot, da_dp @ changes[0] + da_dr @ changes[1], rtol=1e-13)
    np.testing.assert_allclose(b_dot, db_dp @ changes[0] + db_dr @ changes[1], rtol=1e-13)
    with raises(pc.UnknownNameError, "'q' p"):
        program.jacobian("q")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((np.ones(2),), pc.ShapeError, "2 p (2) (1) 1"),
        ((np.ones(3), np.ones(1)), pc.ShapeError, "p (3,) (2,)"),
        ((np.ones((4, 2)), np.ones((3, 1))), pc.ShapeError, "p 2 (4, 2)"),
        ((np.ones(2), np.ones(1, dtype=np.float32)), pc.ArgumentTypeError, "float32 float64"),
        ((np.ones(2, dtype=int), np.ones(1, dtype=int)), pc.ArgumentTypeError, "int64"),
    ],
)
def test_bad_inputs(given: Any, error: Any, message: str) -> None:
    with raises(error, message):
        some()(*given)


@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
@pytest.mark.parametrize("robot", pool.some(["mini_cheetah", "tello"], 1, ["mini_cheetah", "tello"]))
@pytest.mark.parametrize("function", ["rnea", "aba"])
def test_another_order_is_the_same_program(robot: str, function: str) -> None:
    """To the last bit; and it keeps fewer results at once."""
    model = pc.load(robot)
    program = pc.trace(model, function)
    again = program.ordered()
    rng = np.random.default_rng(0)
    given = [pc.neutral(model), *rng.normal(size=(2, model.nv))]
    np.testing.assert_array_equal(again(*given), program(*given))
    assert again.counts == program.counts
    start = len(again.constants) + sum(size for _, size in again.inputs)
    for k, (op, *places) in enumerate(again.operations.tolist()):
        assert max(places[: 4 if op == SELECT else 1 if op in (NEG, SQRT, SIN, COS) else 2]) < start + k
    # aba goes branch by branch as it is
    assert again.alive <= program.alive * (0.8 if function == "rnea" else 1.0)
