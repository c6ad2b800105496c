"""The phases of a step on a ground: their record, their formulas in NumPy, and that they can be traced."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from pin_clusters.compiler import operations
from pin_clusters.compiler.tracing._sources import source
from pin_clusters.compiler.tracing.expressions import Graph
from pin_clusters.compiler.tracing.program import Program
from pin_clusters.kernels.tables import ground as at

H, MU, M, NV = 1e-3, 0.6, 3, 5
AXES = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0].T
SIZES = {"J": 3 * M * NV, "v": NV, "a": NV, "gaps": M, "last": 3 * M, "answer": 3 * M}


def test_the_record_has_the_arguments_of_the_operation() -> None:
    fields = [name for part in inspect.get_annotations(at.Step, eval_str=True).values() for name in part._fields]
    assert fields == operations.names(operations.GROUND.takes)


def step(given: dict[str, np.ndarray], kind: type) -> dict[str, np.ndarray]:
    """Run all phases of a step in which each point is in the system; the inverse mass matrix is 1."""
    phases, near, rows = source("steps.phases"), np.arange(M), given["J"].reshape(3 * M, NV)
    numbers, A = np.zeros(at.NUMBERS).astype(kind), np.zeros(9 * M * M).astype(kind)
    g, guess, last, impulses = np.zeros((4, 3 * M)).astype(kind)
    numbers[at.FRICTION], numbers[at.AXES :] = MU, AXES.ravel()
    free = phases.after(H, given["v"], given["a"])
    velocities, gram = rows @ free, rows @ rows.T
    phases.assemble(numbers, gram, near, M, 0, A)
    numbers[at.RELAXATION] = phases.relaxation_of(M, A)
    phases.right_side(numbers, near, M, H, velocities, given["gaps"], given["last"], g, guess)
    phases.write_impulses(numbers, near, M, given["answer"], last, impulses)
    v_next = free.copy()
    phases.add_response(rows.T, near, M, impulses, v_next)
    phases.measure(numbers, near, M, H, velocities, given["gaps"], last, A, g, given["answer"])
    x = phases.correction(H, numbers[at.DELAY], free, v_next)
    return {"numbers": numbers[: at.REACH_OF_GUARDS], "A": A, "g": g, "guess": guess, "v_next": v_next, "x": x}


def formulas(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the same by matrices."""
    E, J, gaps = np.kron(np.eye(M), AXES), given["J"].reshape(3 * M, NV), given["gaps"]
    free = given["v"] + H * given["a"]
    own = E @ J
    scale = 3 * M / np.trace(own @ own.T)
    u = (own @ free).reshape(M, 3)
    strike = u[:, 2] + np.maximum(gaps, 0.0) / H < -100.0 * H
    room = np.where(strike, 0.0, np.maximum(gaps, 0.0) / H)
    l = scale * given["answer"].reshape(M, 3)
    v_next = free + own.T @ l.ravel()
    g = u + np.c_[np.zeros((M, 2)), room]
    end = (own @ v_next).reshape(M, 3) + np.c_[np.zeros((M, 2)), room]
    push = np.where(strike, np.maximum(l[:, 2], 0.0), 0.0)
    power = -push @ u[:, 2]
    delay = push @ np.maximum(gaps, 0.0) / power if power > 0.0 else 0.0
    slide = np.hypot(end[:, 0], end[:, 1])
    laws = (
        np.max(np.hypot(l[:, 0], l[:, 1]) - MU * l[:, 2], initial=0.0), np.max(-end[:, 2], initial=0.0),
        np.abs(np.sum(l * end, axis=1) + MU * slide * l[:, 2]).max(), 0.5 * l.ravel() @ own @ (free + v_next), delay,
    )  # fmt: skip
    return {
        "A": scale * (own @ own.T).ravel(), "g": g.ravel(), "guess": given["last"] / scale, "v_next": v_next,
        "x": 0.5 * H * v_next - delay * (v_next - free), "laws": np.array(laws),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_traced_phases_are_the_formulas(seed: int) -> None:
    """Contacts that strike and that do not, below and above the ground; one program serves all of them."""
    rng, graph, first, inputs = np.random.default_rng(seed), Graph(), 0, {}
    for name, size in SIZES.items():
        inputs[name] = np.array(graph.inputs(first, size), dtype=object)
        first += size
    program = Program.of("a step", list(SIZES.items()), step(inputs, object))
    given = {name: rng.normal(size=size) for name, size in SIZES.items()}
    given["gaps"] *= 1e-3
    given["answer"][2::3] = np.abs(given["answer"][2::3])
    found, plain, expected = program(*given.values()), step(given, float), formulas(given)
    found = dict(zip(plain, found, strict=True)) if isinstance(found, tuple) else found
    for name, x in plain.items():
        assert np.allclose(found[name], x, rtol=1e-12, atol=1e-12), name
    for name in ("A", "g", "guess", "v_next", "x"):
        assert np.allclose(plain[name], expected[name], rtol=1e-9, atol=1e-9), name
    assert np.allclose(plain["numbers"][at.CONE : at.DELAY + 1], expected["laws"], rtol=1e-9, atol=1e-9)


def test_formulas_take_columns() -> None:
    """Steps in Python give the same formulas an entry per contact."""
    phases, rng = source("steps.phases"), np.random.default_rng(0)
    u, gap = rng.normal(size=(2, 50))
    each = [phases.strikes(H, *x) for x in zip(u, 1e-3 * gap, strict=True)]
    assert 5 < sum(each) < 45
    assert np.array_equal(phases.strikes(H, u, 1e-3 * gap), each)
    rooms = [phases.closing_speed(H, *x) for x in zip(each, 1e-3 * gap, strict=True)]
    assert np.array_equal(phases.closing_speed(H, np.array(each), 1e-3 * gap), rooms)
