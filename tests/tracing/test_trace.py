"""Traces of robots against the kernels they are made of."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.traced import INVERSE, REFERENCES, ROUNDING, Library, each, frames_of, state_of

import pin_clusters as pc
from pin_clusters.compiler import operations, tracing
from pin_clusters.compiler.tracing import functions

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
SHORT = 2e-3
"""Of float32, over the largest entry: accelerations amplify rounding by the condition of M."""
SMALL_STEP = 1e-3
"""[rad] or [m]; three corrections close what it opens."""
# differences: rounding over the step, 1e-12, more in loops, which are closed to 1e-12; Newton's method ends there, too
LOOSE = {"tangent": {"tree": 1e-10, "loop": 1e-9}, "integrate": {"tree": 1e-12, "loop": 1e-10}}


def check(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, exact: float = 0.0) -> None:
    kind = "loop" if model.closures else "tree"
    state = state_of(model, q, rng)
    condition = float(np.linalg.cond(pc.crba(model, model.createData(), q)))
    frames, reference = frames_of(model, rng), REFERENCES[int(rng.integers(3))]
    library = Library(model, frames, reference)
    for name, what in tracing.FUNCTIONS.items():
        inverts = name in INVERSE
        if what.touching or (inverts and condition > 1e12):
            continue
        given = state | ({"v": SMALL_STEP * state["v"]} if name == "integrate" else {})
        about = {"frames": frames, "reference": reference} if what.framed else {}
        program = pc.trace(model, name, **about)
        found = program(*(given[key] for key, _ in program.inputs))
        right = library.of(name, given)
        found = list(found) if isinstance(found, tuple) else [found]
        assert len(found) == len(right), name
        for x, y in zip(found, right, strict=True):
            limit = LOOSE.get(name, ROUNDING)[kind] * (max(1.0, 1e-3 * condition) if inverts else 1.0) + 1e2 * exact
            assert pool.error(x, y) < limit, name


@each
def test_they_are_the_kernels(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    check(s.model, s.q, rng, s.case.exact)


BASES: dict[str, dict[str, Any]] = {
    "default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}
}  # fmt: skip
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]
OFTEN = [("four_bar", "floating"), ("mit_humanoid_leg", "default"), ("tello", "default")]
OTHERS = [which for which in ROBOTS if which not in OFTEN]


@pytest.mark.parametrize("which", [*pool.some(OFTEN, 0, rest="ci"), *pool.some(OTHERS, 0)])
def test_shipped_robots(which: tuple[str, str], rng: np.random.Generator) -> None:
    robot, base = which
    model = pc.load(robot, **BASES[base])
    pin.seed(int(rng.integers(1000)))
    check(model, pc.randomConfiguration(model), rng)


@pytest.mark.parametrize("robot", ["mini_cheetah", "tello", "four_bar"])
def test_rows_and_short_numbers(robot: str, rng: np.random.Generator) -> None:
    model = pc.load(robot)
    data = model.createData()
    q = np.array([pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(5)])
    v, tau = rng.normal(size=(2, 5, model.nv))
    program = pc.trace(model, "aba")
    found = pickle.loads(pickle.dumps(program))(q, v, tau)
    exact = np.array([pc.aba(model, data, *row) for row in zip(q, v, tau, strict=True)])
    assert pool.error(found, exact) < 1e-11
    short = program(*(x.astype(np.float32) for x in (q, v, tau)))
    assert short.dtype == np.float32
    assert np.abs(short - exact).max() < SHORT * np.abs(exact).max()


@pytest.mark.parametrize(
    "which", pool.some(ROBOTS, [("four_bar", "floating"), ("mit_humanoid_leg", "default")], everyday=0)
)
def test_derivatives_along_integrate(which: tuple[str, str], rng: np.random.Generator) -> None:
    """Those by raw entries of q times the tangent are the analytic ones, loops and floating bases included."""
    robot, base = which
    model = pc.load(robot, **BASES[base])
    data = model.createData()
    pin.seed(int(rng.integers(1000)))
    q, (v, x) = pc.randomConfiguration(model), rng.normal(size=(2, model.nv))
    tangent = pc.trace(model, "tangent")(q)
    condition = float(np.linalg.cond(pc.crba(model, data, q)))
    for name, right in (("rnea", pc.computeRNEADerivatives), ("aba", pc.computeABADerivatives)):
        if name == "aba" and condition > 1e12:
            continue
        by_q, by_v, by_x = pc.trace(model, name).jacobian()(q, v, x)
        limit = 1e-10 * (max(1.0, 1e-3 * condition) if name == "aba" else 1.0)
        for found, exact in zip((by_q @ tangent, by_v, by_x), right(model, data, q, v, x), strict=True):
            assert pool.error(found, exact) < limit, name


@pytest.mark.parametrize("robot", pool.some(pc.robots(), ["mini_cheetah", "cassie_leg"]))
def test_the_tangent_is_that_of_the_traced_integrate(robot: str, rng: np.random.Generator) -> None:
    model = pc.load(robot)
    pin.seed(int(rng.integers(1000)))
    q = pc.randomConfiguration(model)
    program = pc.trace(model, "integrate").jacobian("v")
    found = program(q, np.zeros(model.nv))
    by_v = found[0] if isinstance(found, tuple) else found
    assert pool.error(by_v, pc.trace(model, "tangent")(q)) < 1e-10


def test_large_rotations(rng: np.random.Generator) -> None:
    """Also by more than half a turn: of the two quaternions the one that Pinocchio takes."""
    model = pc.load("mini_cheetah")
    program = pc.trace(model, "integrate")
    for size in (0.0, 1e-9, 1e-4, 0.05, 0.15, 1.0, 3.0, 3.3, 6.0, 9.0):
        pin.seed(int(10 * size) + 1)
        q, w = pc.randomConfiguration(model), rng.normal(size=3)
        v = np.concatenate([rng.normal(size=3), size * w / np.linalg.norm(w), rng.normal(size=12)])
        np.testing.assert_allclose(program(q, v), pc.integrate(model, q, v), atol=1e-13)


def test_each_declared_function_is_run_by_one_of_the_tracer() -> None:
    assert list(functions._RUN) == [one.name for one in operations.TRACEABLE_FUNCTIONS] == list(tracing.FUNCTIONS)
