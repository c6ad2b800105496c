"""Springs, dampers and friction within compiled steps: as in Python, in closed form, and what stays in Python."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters._engine.entry_points import BOUNDSCHECK, JIT
from pin_clusters.simulation import _compiled, run
from pin_clusters.simulation._engine import PythonEngine
from pin_clusters.simulation.ground import quick
from pin_clusters.simulation.ground.stepping import GroundEngine

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not JIT, reason="no compiled steps"),
]
ROUNDING = 1e-9
SE3 = pin.SE3


def in_python(settings: Any, recorder: Any) -> PythonEngine:
    if settings.world is not None:
        return GroundEngine(settings, recorder, settings.world, compiled=False)
    return PythonEngine(settings, recorder)


def engine_of(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> tuple[type, pc.SimulationResult]:
    """Simulate; also which engine did it."""
    used: list[type] = []
    with monkeypatch.context() as patch:
        patch.setattr(run, "engine_for", lambda *x: (made := _compiled.engine_for(*x), used.append(type(made)))[0])
        found = pc.simulate(*arguments, **options)
    return used[0], found


def as_in_python(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> pc.SimulationResult:
    """Simulate in compiled steps, which must do what those in Python do."""
    engine, found = engine_of(monkeypatch, *arguments, **options)
    assert engine is _compiled.CompiledEngine
    with monkeypatch.context() as patch:
        patch.setattr(run, "engine_for", in_python)
        other = pc.simulate(*arguments, **options)
    same(found, other, ROUNDING)
    return found


def same(found: pc.SimulationResult, other: pc.SimulationResult, rounding: float) -> None:
    assert found.switches == other.switches
    for name in ("q", "v", "a", "tau", "energy", "v_tree"):
        x, y = getattr(found, name), getattr(other, name)
        assert np.abs(x - y).max() <= rounding * max(1.0, np.abs(y).max()), name


def with_springs(name: str, *springs: pc.Spring) -> pc.ClusterModel:
    model = pc.load(name)
    return pc.ClusterModel(model.tree, [*model.constraints, *springs], model.q_reference)


LINES = {
    "mini_cheetah": (
        pc.Spring("FL_knee", (3.0, 0.5, 0.2), (0.1, 0.4), (0.02, 0.01, 0.003), friction=0.3),
        pc.Spring({"FR_knee": 1.0, "FR_hip": 0.5}, 20.0, rest=0.5), pc.Spring("HL_knee_rotor", damping=1e-4),
        pc.Spring("root_joint", damping=0.5, friction=0.1),
    ),
    "four_bar": (
        pc.Spring("crank", (2.0, 0.3, 0.1), rest=(0.1, 0.3), damping=(0.01, 0.02, 0.001)),
        pc.Spring({"coupler": 1.0, "rocker": -2.0}, 0.5, rest=0.2, friction=0.05),
    ),
    "tello": (
        pc.Spring("left_knee", 5.0, rest=0.2, damping=0.1),
        pc.Spring("right_knee", friction=0.4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ["mini_cheetah", "four_bar", pytest.param("cassie", marks=pytest.mark.ci), "tello"])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_compiled_steps_are_those_in_python(
    name: str, method: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges of rest, powers, sums, friction; on free, coupled and looped joints, and through the coupling function."""
    model = with_springs(name, *LINES.get(name, ()))
    assert model.passive is not None
    q, v = pc.neutral(model), 0.5 * rng.normal(size=model.nv)
    tau = 0.05 * rng.normal(size=(15, model.nv))
    found = as_in_python(monkeypatch, model, q, v, tau, 14.5e-4, 1e-4, method=method, record=4)
    bare = pc.simulate(model, q, v, tau, 14.5e-4, 1e-4, method=method, record=4, passive=False)
    assert np.abs(found.v - bare.v).max() > 1e-4


def test_other_independent_joints_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    springs = pc.Spring("crank", 0.05, damping=1e-3), pc.Spring({"coupler": 1.0, "rocker": -2.0}, 0.02, friction=0.002)
    model, _ = pc.with_independent(with_springs("four_bar", *springs), ["rocker"])
    found = as_in_python(monkeypatch, model, pc.neutral(model), [3.0], [0.3], 0.3, 1e-3, record=3)
    assert len(found.switches) == 1


def test_a_function_gives_torques(monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_springs("four_bar", *LINES["four_bar"])
    as_in_python(monkeypatch, model, pc.neutral(model), [1.0], lambda t, q, v: -0.1 * v, 0.01, 1e-3)


def test_rows_of_batches_are_compiled(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = with_springs("four_bar", *LINES["four_bar"])
    q, v = np.tile(pc.neutral(model), (3, 1)), rng.normal(size=(3, 1))
    alone = [pc.simulate(model, *x, duration=0.05, dt=1e-3) for x in zip(q, v, strict=True)]
    batch = sys.modules[pc.batch.simulate.__module__]
    monkeypatch.setattr(batch, "single_simulate", None)
    found = pc.batch.simulate(model, q, v, duration=0.05, dt=1e-3, threads=2)
    assert np.allclose(found.q, [x.q[-1] for x in alone], atol=1e-13)
    assert np.allclose(found.v, [x.v[-1] for x in alone], atol=1e-12)


@pytest.mark.skipif(BOUNDSCHECK, reason="no compiled steps on a ground")
@pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="no solvers in this Pinocchio")
def test_on_a_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """In flight they are those in Python, and on the ground up to the tolerance of what finds impulses."""
    model, ground = with_springs("mini_cheetah", *LINES["mini_cheetah"]), pc.Ground(friction=0.8)
    feet = pc.contact_points(model, {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")})
    q = pc.on_ground(model, pc.neutral(model), ground, feet, above=1e-4)
    given = model, q, np.full(model.nv, 0.1), None, 0.04, 1e-3
    engine, found = engine_of(monkeypatch, *given, ground=ground, touching=feet)
    assert engine is quick.QuickGroundEngine
    monkeypatch.setattr(run, "engine_for", in_python)
    other = pc.simulate(*given, ground=ground, touching=feet)
    assert found.contact_impulses.any()
    for name in ("q", "v"):
        x, y = getattr(found, name), getattr(other, name)
        assert np.abs(x - y)[:4].max() < 1e-12
        assert np.abs(x - y).max() < 1e-6


BALL = pc.Spring("root_joint", 2.0)
PATH = pc.Spring([("universe", [0.0, 0.0, 1.0]), "FL_knee"], 10.0)


@pytest.mark.parametrize("stated", [BALL, PATH, pc.GravityCompensation("FL_knee", 0.1)])
def test_what_stays_in_python(stated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_springs("mini_cheetah", stated)
    engine, _ = engine_of(monkeypatch, model, pc.neutral(model), np.zeros(model.nv), duration=2e-3)
    assert engine is _compiled.MixedEngine


def slider(mass: float, *springs: pc.Spring) -> pc.ClusterModel:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelPZ(), SE3.Identity(), "slide")
    tree.appendBodyToJoint(1, pin.Inertia(mass, np.zeros(3), np.eye(3)), SE3.Identity())
    return pc.ClusterModel(tree, springs)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-5])
def test_dry_friction_holds_but_for_a_creep(method: str, dt: float) -> None:
    """Friction larger than the weight: friction tanh(v / speed) = weight, at a speed that steps take from it."""
    mass, friction = 0.1, 5.0
    model = slider(mass, pc.Spring("slide", friction=friction))
    speed = max(0.01, dt * friction / mass)
    found = pc.simulate(model, [0.0], [0.0], duration=30.0 * max(dt, 0.01 * mass / friction), dt=dt, method=method)
    creep = -speed * np.arctanh(9.81 * mass / friction)
    assert found.v[-1, 0] == pytest.approx(creep, rel=1e-6)
    assert (np.diff(found.v[:, 0]) < 1e-12).all()  # without a swing
