"""Arguments of batches: which are refused, and by which names; where results may go; how many rows are too many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import rows
from support.messages import raises

import pin_clusters as pc
from pin_clusters.batch import _tables


def call(function: str, model: pc.ClusterModel, given: rows.Rows, **options: Any) -> Any:
    tables = [getattr(given, t) for t in rows.FUNCTIONS[function][0].split()]
    if function == "simulate":
        options = {"duration": rows.STEPS * rows.DT, "dt": rows.DT, **options}
    return getattr(pc.batch, function)(model, *tables, **options)


@pytest.mark.jitless
@pytest.mark.parametrize("function", rows.FUNCTIONS)
def test_what_is_refused(function: str) -> None:
    model, given = rows.model_of("mit_humanoid_leg"), rows.given_of("mit_humanoid_leg", 3)
    nq, name = model.nq, rows.FUNCTIONS[function][0].split()[0]
    shown = "q" if name == "off" else name
    for threads in (0, -1, 1.5, "2", True, None):
        with raises(pc.ArgumentTypeError, f"threads 1 {threads!r}"):
            call(function, model, given, threads=threads)
    with raises(pc.ArgumentTypeError, "Model"):
        call(function, model.tree, given)
    for data in (model.createData(), model.tree.createData()):
        with raises(pc.ArgumentTypeError, "data"):
            getattr(pc.batch, function)(model, data, *(given.q for _ in rows.FUNCTIONS[function][0].split()[1:]))
    own = getattr(given, name)
    ragged = [list(own[0]), list(own[1][:-1]), list(own[2])]
    for bad, kind, message in (
        (ragged, pc.ShapeError, f"{shown}[1] ({nq - 1},) ({nq},) nq"),
        ([list(own[0]), ["a"] * nq, []], pc.ArgumentTypeError, f"{shown}[1]"),
        (own[0], pc.ShapeError, f"{shown} ({nq},) pc.{function}"),
        (own[:, 1:], pc.ShapeError, f"{shown} (3, {nq - 1}) (N, {nq}) nq"),
        (3.0, pc.ShapeError, f"{shown} ()"),
    ):
        with raises(kind, message):
            call(function, model, given._replace(**{name: bad}))
    if function not in ("project", "crba", "computeMinverse", "forwardKinematics", "inverse_operational_inertia"):
        second = rows.FUNCTIONS[function][0].split()[1]
        with raises(pc.ShapeError, f"v (2, {model.nv}) (3, {model.nv})"):
            call(function, model, given._replace(**{second: getattr(given, second)[:2]}))
    for status, kind, message in (
        (np.zeros(3), pc.ArgumentTypeError, "status int8 float64"),
        (np.zeros(2, dtype=np.int8), pc.ShapeError, "status (2,) (3,)"),
    ):
        with raises(kind, message):
            call(function, model, given, status=status)


@pytest.mark.jitless
@pytest.mark.parametrize("function", rows.FUNCTIONS)
def test_where_results_go(function: str) -> None:
    model, given = rows.model_of("mit_humanoid_leg"), rows.given_of("mit_humanoid_leg", 3)
    found = call(function, model, given)
    first = found.q if function == "simulate" else found
    wrap = (lambda x: (x, np.empty((3, model.nv)))) if function == "simulate" else (lambda x: x)
    out = np.empty_like(first)
    again = call(function, model, given, out=wrap(out))
    assert (again.q if function == "simulate" else again) is out
    assert np.array_equal(out, first)
    frozen = np.empty_like(first)
    frozen.flags.writeable = False
    strided = np.repeat(out, 2, axis=0)[::2]
    for bad, kind, message in (
        (frozen, pc.ArgumentTypeError, "out float64"),
        (strided, pc.ArgumentTypeError, "out float64"),
        (out.astype(np.float32), pc.ArgumentTypeError, "float32"),
        (out[:-1], pc.ShapeError, "out"),
    ):
        with raises(kind, message):
            call(function, model, given, out=wrap(bad))
    room = np.zeros(out.size + 1)
    with raises(pc.ArgumentTypeError, "status"):
        call(function, model, given, out=wrap(room[:-1].reshape(out.shape)), status=room.view(np.int8)[:3])
    with raises(pc.ArgumentTypeError, "out q v ndarray"):
        pc.batch.simulate(model, given.q, given.v, duration=0.001, out=out)


def test_results_may_lie_over_what_is_given() -> None:
    model, given = rows.model_of("mit_humanoid_leg"), rows.given_of("mit_humanoid_leg", 19)
    for function, name in (("integrate", "q"), ("project", "off"), ("nonLinearEffects", "v")):
        wanted = call(function, model, given)
        for shift in (0, 1):
            table = getattr(given, name)
            room = np.zeros((len(table) + 1, table.shape[1]))
            room[:-1] = table
            found = call(function, model, given._replace(**{name: room[:-1]}), out=room[shift : 19 + shift], threads=2)
            assert np.array_equal(found, wanted)


@pytest.mark.jitless
@pytest.mark.parametrize("function", rows.FUNCTIONS)
def test_rows_that_do_not_fit_are_said_before_anything_is_allocated(function: str) -> None:
    model = rows.model_of("mit_humanoid_leg")
    n = 10**12
    whole = [
        np.broadcast_to(x[0], (n, *x.shape[1:])) for x in rows.given_of("mit_humanoid_leg", 1)[:-1]
    ]  # fmt: skip
    given = rows.Rows(*whole, [1])
    with raises(pc.TooLargeError, f"pc.batch.{function} {n}") as e:
        call(function, model, given)
    assert isinstance(e.value, MemoryError)


@pytest.mark.jitless
def test_limits_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    there = _tables.available()
    assert there is None or there > 0
    monkeypatch.setattr(_tables, "_SMALL", 0)
    monkeypatch.setattr(_tables, "available", lambda: 1000)
    with raises(pc.TooLargeError, "10 2000 1000 5"):
        _tables._check_memory("aba", 10, 2000)
    _tables._check_memory("aba", 10, 1000)
    monkeypatch.setattr(_tables, "available", lambda: None)
    _tables._check_memory("aba", 10, 10**20)


@pytest.mark.jitless
def test_unknown_frames_and_joints() -> None:
    model, q = rows.model_of("four_bar"), np.tile(pc.neutral(rows.model_of("four_bar")), (2, 1))
    with raises(pc.UnknownNameError, "'hand'"):
        pc.batch.forwardKinematics(model, q, ["hand"])
    with raises(pc.UnknownNameError, "'hand'"):
        pc.batch.inverse_operational_inertia(model, q, ["hand"])
    with raises(pc.UnknownNameError, "'nobody'"):
        pc.batch.project(model, q, hold="nobody")
    with raises(pc.ArgumentTypeError, "'coupler'"):
        pc.batch.forwardKinematics(model, q, "coupler")
    with raises(pc.SimulationError, "method 'euler'"):
        pc.batch.simulate(model, q, np.zeros((2, 1)), method="euler")
    with raises(pc.ShapeError, "(2, 3, 1) (2, 1000, 1) 1000 nv"):
        pc.batch.simulate(model, q, np.zeros((2, 1)), np.zeros((2, 3, 1)))
