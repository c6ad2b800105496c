"""Traces of robots against the kernels they are made of."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import coupled, pool

import pin_clusters as pc
from pin_clusters import tracing

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
# The same operations, but for fused ones and the order of sums; in loops times cond(K_d).
ROUNDING = {"tree": 1e-12, "loop": 1e-11}
SHORT = 2e-3
"""Of float32, over the largest entry: accelerations amplify rounding by the condition of M."""


def exactly(model: pc.ClusterModel, name: str, given: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    data = model.createData()
    if name == "energies":
        energies = pc.computeKineticEnergy(model, data, *given), pc.computePotentialEnergy(model, data, given[0])
        return tuple(np.array([x]) for x in energies)
    found = getattr(pc, name)(model, data, *given)
    return found if isinstance(found, tuple) else (found,)


def check(model: pc.ClusterModel, q: np.ndarray, rng: np.random.Generator, exact: float = 0.0) -> None:
    kind = "loop" if model.closures else "tree"
    state = {"q": q} | {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")}
    condition = float(np.linalg.cond(pc.crba(model, model.createData(), q)))
    for name in tracing.FUNCTIONS:
        inverts = name in ("aba", "computeMinverse")
        if inverts and condition > 1e12:
            continue
        program = tracing.trace(model, name)
        given = tuple(state[key] for key, _ in program.inputs)
        found = program(*given)
        for x, y in zip(found if isinstance(found, tuple) else (found,), exactly(model, name, given), strict=True):
            limit = ROUNDING[kind] * (max(1.0, 1e-3 * condition) if inverts else 1.0) + 1e2 * exact
            assert pool.error(x, y) < limit, name


@pool.each()
def test_they_are_the_kernels(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    check(s.model, s.q, rng, s.case.exact)


BASES: dict[str, dict[str, Any]] = {
    "default": {}, "fixed": {"root_joint": None}, "floating": {"root_joint": pin.JointModelFreeFlyer()}
}  # fmt: skip
ROBOTS = [(robot, base) for robot in pc.robots() for base in BASES]
OFTEN = [("mini_cheetah", "default"), ("mit_humanoid", "default"), ("tello", "default"), ("cassie_leg", "floating")]


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN))
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
    program = tracing.trace(model, "aba")
    found = pickle.loads(pickle.dumps(program))(q, v, tau)
    exact = np.array([pc.aba(model, data, *row) for row in zip(q, v, tau, strict=True)])
    assert pool.error(found, exact) < 1e-11
    short = program(*(x.astype(np.float32) for x in (q, v, tau)))
    assert short.dtype == np.float32
    assert np.abs(short - exact).max() < SHORT * np.abs(exact).max()


@pytest.mark.parametrize("robot", ["mini_cheetah", "tello", "four_bar", "cassie_leg"])
def test_their_derivatives_are_those_along_integrate(robot: str, rng: np.random.Generator) -> None:
    """By raw entries of q; along the tangent of ``integrate``, all joints of a loop at once, they are the analytic."""
    model = pc.load(robot)
    data = model.createData()
    q = pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv))
    v, a = rng.normal(size=(2, model.nv))
    by_q, by_v, by_a = tracing.trace(model, "rnea").jacobian()(q, v, a)
    step = 1e-5
    tangent = np.stack([
        (8.0 * (pc.integrate(model, q, step * e) - pc.integrate(model, q, -step * e))
         - pc.integrate(model, q, 2 * step * e) + pc.integrate(model, q, -2 * step * e)) / (12.0 * step)
        for e in np.eye(model.nv)
    ], axis=-1)  # fmt: skip
    dtau_dq, dtau_dv, M = pc.computeRNEADerivatives(model, data, q, v, a)
    assert pool.error(by_q @ tangent, dtau_dq) < 1e-8  # of the tangent, rounding over the step
    assert pool.error(by_v, dtau_dv) < 1e-11
    assert pool.error(by_a, M) < 1e-12


def test_what_cannot_be_traced() -> None:
    model = pc.load("four_bar")
    with pytest.raises(pc.UnknownNameError, match=r"'abba' cannot be traced; there are rnea, aba"):
        tracing.trace(model, "abba")
    with pytest.raises(pc.ArgumentTypeError, match="must be a ClusterModel, got Model"):
        tracing.trace(model.tree, "aba")  # type: ignore[arg-type]
    tied = coupled.mechanism(np.random.default_rng(0), "compiled").build()
    with pytest.raises(pc.NotAvailableError, match=r"Coupling\('shaft', 'lever', 'slide'\) is a function of the user"):
        tracing.trace(tied, "rnea")
