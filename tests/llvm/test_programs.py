"""Machine code of programs: against the programs, which are tested against the kernels."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler import tracing
from pin_clusters.compiler.machine_code import loading, machine, store
from pin_clusters.compiler.machine_code import text as texts
from pin_clusters.compiler.machine_code.function import Compiled
from pin_clusters.compiler.native.memory import may_execute
from pin_clusters.compiler.tracing.expressions import COS, Graph, select

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not may_execute(), reason="nothing that is made here may be executed"),
]
LIMIT = {"double": 1e-13, "float": 2e-5}
"""Rounding, of the largest entry."""
DTYPE = {"double": np.float64, "float": np.float32}


def mixed() -> tracing.Program:
    """Every operation, results that are constants and inputs, one that is there twice, an input without entries."""
    graph = Graph()
    a, b, c = graph.inputs(0, 3)
    (d,) = graph.inputs(3, 1)
    rows = [a + b, a - 2.0 * b, a / (c * c + 1.0), -(a * d), (c * c + 0.5).sqrt(), (a + d).sin(), (3.0 * b).cos()]
    values = np.array([*rows, select(a, b, c, d), select(a, 0.0, 1.0, d), 7.25, a, rows[0]], dtype=object)
    table = np.array([[a * b, 0.0], [c.sin(), c.cos()]], dtype=object)
    sizes = [("first", 3), ("nothing", 0), ("second", 1)]
    return tracing.Program.of("mixed", sizes, {"values": values, "table": table})


def error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max()) if found.size else 0.0


def check(program: tracing.Program, real: str, rng: np.random.Generator, rows: int | None) -> None:
    code = Compiled(program, real)
    shape = () if rows is None else (rows,)
    given = [rng.normal(size=(*shape, size)).astype(DTYPE[real]) for _, size in program.inputs]
    expected = program(*(x.astype(np.float64) for x in given))
    for x, y in zip(code(*given), expected, strict=True):
        assert x.dtype == DTYPE[real]
        assert x.shape == y.shape
        assert error(x, y) < LIMIT[real]


@pytest.mark.parametrize("real", ["double", "float"])
def test_every_operation(real: str, rng: np.random.Generator) -> None:
    for rows in (None, 0, 1, 5, 8, 16, 17, 100):
        check(mixed(), real, rng, rows)


@pytest.mark.parametrize("robot", ["four_bar", "mit_humanoid_leg"])
def test_robots(robot: str, rng: np.random.Generator) -> None:
    model = pc.load(robot)
    program = tracing.trace(model, "aba")
    q = np.array([pc.integrate(model, pc.neutral(model), 0.3 * rng.normal(size=model.nv)) for _ in range(11)])
    v, tau = rng.normal(size=(2, 11, model.nv))
    code, data = Compiled(program), model.createData()
    found = code(q, v, tau)
    for row, *state in zip(found, q, v, tau, strict=True):
        expected = pc.aba(model, data, *state)
        assert error(row, expected) < 1e-11
        assert error(code(*state), expected) < 1e-11


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("columns", [1, 3, 4, 8, 13, 16, 20])
def test_packs_of_any_width(lanes: int, columns: int, rng: np.random.Generator) -> None:
    graph = Graph()
    x = np.array(graph.inputs(0, columns), dtype=object)
    program = tracing.Program.of("twice", [("x", columns)], {"y": x + x, "z": x[:1] * 3.0})
    text = texts.module_text(texts.rows_text(program, "rows", "double", lanes), rows=("double", lanes))
    code = Compiled(program)
    address = loading.load(text).address("rows")
    import ctypes

    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64)(address)
    given, y, z = rng.normal(size=(21, columns)), np.zeros((21, columns)), np.zeros((21, 1))
    function(given.ctypes.data, y.ctypes.data, z.ctypes.data, 2, 19)
    assert np.array_equal(y[2:19], 2.0 * given[2:19])
    assert np.array_equal(z[2:19], 3.0 * given[2:19, :1])
    assert not y[:2].any()
    assert not y[19:].any()
    assert np.array_equal(code(given)[0], 2.0 * given)


def test_sines_to_one_unit_in_the_last_place() -> None:
    graph = Graph()
    (x,) = graph.inputs(0, 1)
    program = tracing.Program.of("sines", [("x", 1)], {"s": np.array([x.sin(), x.cos()], dtype=object)})
    assert COS in program.operations[:, 0]
    for real, far, eps in (("double", 1e6, 2.0**-52), ("float", 8e3, 2.0**-23)):
        angles = np.concatenate([np.linspace(-far, far, 20001), np.linspace(-7.0, 7.0, 20001), [0.0, -0.0, 1e-300]])
        given = angles.astype(DTYPE[real])[:, None]
        code = Compiled(program, real)
        exact = np.array([[math.sin(a), math.cos(a)] for a in given[:, 0].astype(float)])
        assert np.abs(code(given) - exact).max() < 1.01 * eps
        assert np.array_equal(code(given)[:50], np.array([code(row) for row in given[:50]]))
        assert np.isnan(code(np.array([[np.nan], [np.inf], [-np.inf]], dtype=DTYPE[real]))).all()
        end = 2.0**50 if real == "double" else 2.0**22
        huge = np.array([end, -end, 7.0 * end, 1e5 * end, 1e30 * end], dtype=DTYPE[real])
        assert np.isnan(code(huge[:, None])).all()
        most = np.abs(code((huge[:2] * (1.0 - 2.0 * eps)).astype(DTYPE[real])[:, None]))
        assert (most <= 1.0 + 1e-3).all()


def test_with_the_sines_of_a_library(rng: np.random.Generator) -> None:
    text = texts.module_text(texts.function_text(mixed(), "mixed", sines="libm"))
    assert "@sin(" in text
    assert "@cos(" in text
    for cpu, triple in (("native", None), ("x86-64-v2", "x86_64-linux-gnu"), ("cortex-a72", "aarch64-linux-gnu")):
        data = machine.object_code(text, cpu, triple)
        assert data[:4] == b"\x7fELF"
        assert b"sin" in data
        assert b"mixed" in data


def test_targets_that_nobody_knows() -> None:
    text = texts.module_text(texts.function_text(mixed(), "mixed"))
    with raises(pc.UnknownNameError, "'cortex-x99'"):
        machine.object_code(text, "cortex-x99", "aarch64-linux-gnu")
    with raises(pc.UnknownNameError, "'abacus-linux' aarch64"):
        machine.object_code(text, "native", "abacus-linux")
    with raises(pc.NotAvailableError, "'riscv64-linux-gnu'"):
        machine.object_code(text, "native", "riscv64-linux-gnu")


def test_what_is_given_is_looked_at() -> None:
    code = Compiled(mixed())
    first, none, second = np.ones(3), np.ones(0), np.ones(1)
    with raises(pc.ShapeError, "mixed 3 (3) (0) second (1) 2"):
        code(first, second)
    with raises(pc.ShapeError, "second (2,) (1,)"):
        code(first, none, np.ones(2))
    with raises(pc.ShapeError, "second (1,) 1"):
        code(np.ones((4, 3)), np.ones((4, 0)), second)
    for wrong in (np.ones(3, np.float32), np.ones(6)[::2], [1.0, 2.0, 3.0]):
        with raises(pc.ArgumentTypeError, "first float64"):
            code(wrong, none, second)
    with raises(pc.UnknownNameError, "'half'"):
        Compiled(mixed(), "half")
    with raises(pc.UnknownNameError, "sines 'mine'"):
        texts.function_text(mixed(), "f", sines="mine")


def test_results_where_one_wants_them() -> None:
    code = Compiled(mixed())
    given = np.ones((5, 3)), np.ones((5, 0)), np.ones((5, 1))
    rooms = np.zeros((5, 12)), np.zeros((5, 2, 2))
    found = code(*given, out=rooms)
    assert found[0] is rooms[0]
    assert all(np.array_equal(x, y) for x, y in zip(rooms, code(*given), strict=True))
    with raises(pc.ShapeError, "2 1"):
        code(*given, out=rooms[:1])
    with raises(pc.ShapeError, "(5, 2, 2) (5, 4)"):
        code(*given, out=(rooms[0], np.zeros((5, 4))))
    whole = np.zeros(5 * 12 + 5 * 3)
    with raises(pc.ArgumentTypeError, "mixed"):
        code(whole[:15].reshape(5, 3), *given[1:], out=(whole[5:65].reshape(5, 12), rooms[1]))


def test_copies_by_pickle(rng: np.random.Generator) -> None:
    code = Compiled(mixed())
    given = rng.normal(size=3), np.zeros(0), rng.normal(size=1)
    copied = pickle.loads(pickle.dumps(code))
    assert all(np.array_equal(x, y) for x, y in zip(copied(*given), code(*given), strict=True))


def test_code_is_kept_and_made_again_where_it_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIN_CLUSTERS_CACHE", str(tmp_path))
    store.folder.cache_clear()
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        return b"code"

    try:
        assert store.kept("name", make) == store.kept("name", make) == b"code"
        assert len(made) == 1
        (file,) = store.folder().iterdir()  # type: ignore[union-attr]
        for damage in (b"", b"short", file.read_bytes()[:-1] + b"?", b"\0" * 1000):
            file.write_bytes(damage)
            assert store.kept("name", make) == b"code"
        assert len(made) == 5
        file.unlink()
        file.mkdir()  # nothing can be read or written there
        assert store.kept("name", make) == b"code"
    finally:
        store.folder.cache_clear()
    monkeypatch.setattr(store, "folder", lambda: None)
    assert store.kept("name", make) == b"code"


def test_a_process_that_may_not_execute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "may_execute", lambda: False)
    code = Compiled(mixed())
    with raises(pc.NotAvailableError, "PR_SET_MDWE"):
        code(np.ones(3), np.ones(0), np.ones(1))
