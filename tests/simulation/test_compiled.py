"""The compiled loop does what the loop in Python does: same numbers up to rounding, same switches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from samples import pool, trees
from support.messages import raises

import pin_clusters as pc
from pin_clusters import simulation
from pin_clusters.compiler.call_layer import native
from pin_clusters.compiler.entry_points import JIT
from pin_clusters.simulation import _compiled, run
from pin_clusters.simulation._engine import PythonEngine
from pin_clusters.simulation.run import engine_for

pytestmark = pytest.mark.skipif(not JIT, reason="there is no compiled loop without the JIT")

# rounding grows along the motion; the numbers are relative to the largest entry
ROUNDING = 1e-9


def both(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> list[pc.SimulationResult]:
    used: list[type] = []

    def watched(settings: Any, recorder: Any) -> Any:
        engine = engine_for(settings, recorder)
        used.append(type(engine))
        return engine

    with monkeypatch.context() as patch:
        patch.setattr(run, "engine_for", watched)
        compiled = pc.simulate(*arguments, **options)
        patch.setattr(run, "engine_for", PythonEngine)
        python = pc.simulate(*arguments, **options)
    assert used == [_compiled.CompiledEngine]
    return [compiled, python]


def same(a: pc.SimulationResult, b: pc.SimulationResult) -> None:
    assert a.switches == b.switches
    assert np.array_equal(a.time, b.time)
    assert np.array_equal(a.tau, b.tau)
    for name in ("q", "v", "a", "energy", "v_tree"):
        x, y = getattr(a, name), getattr(b, name)
        assert np.abs(x - y).max() <= ROUNDING * max(1.0, np.abs(y).max()), name
    assert a.residual.max() < 1e-13
    assert b.residual.max() < 1e-13


def case(key: Any, rng: np.random.Generator) -> tuple[pc.ClusterModel, np.ndarray, np.ndarray]:
    if isinstance(key, str) and key.startswith("tree"):
        # all kinds of joints, couplings and rotors; (cos, sin) joints are in couplings only where Python must do it
        kinds = [k for k in trees.KINDS if k not in ("continuous", "RUBX", "RUBY", "RUBZ")]
        model = trees.random_robot(rng, 9, floating=key.endswith("floating"), kinds=kinds, rotor_bodies=0).build()
        q, v, _, _ = trees.random_state(model, rng, 0.5)
        return model, q, v
    if key == "kinds":
        robot = trees.Robot()
        for i, (name, make) in enumerate(trees.KINDS.items()):
            parent = None if i % 4 == 0 or name == "freeflyer" else robot.nodes[-1].name
            robot.nodes.append(trees.Node(name, parent, make(rng), trees.placement(rng), trees.inertia(rng), 0.1))
        model = robot.build()
        q, v, _, _ = trees.random_state(model, rng, 0.5)
        return model, q, v
    found = pool.case(key)
    return found.model, found.q, 0.3 * rng.normal(size=found.model.nv)


LOOPS = (
    "four_bar", "four_bar_serial_on_free_flyer", "six_bar", "geared_five_bar", "rotors_on_a_loop_on_free_flyer",
    "rssr_massive", "spatial_ball_in_tree", "bennett", "delta", "FourBar", "ankle_2rsu",
)  # fmt: skip


@pytest.mark.parametrize("key", ["kinds", "tree", "tree floating", *LOOPS])
@pytest.mark.parametrize("method", simulation.METHODS)
def test_compiled_and_python_agree(
    key: str, method: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, q, v = case(key, rng)
    tau = 0.05 * rng.normal(size=(23, model.nv))
    same(*both(monkeypatch, model, q, v, tau, 22.5e-4, 1e-4, method=method, record=4))


@pytest.mark.jitless  # skipped there, but run with checked bounds
@pytest.mark.parametrize("tau", [None, "constant"])
def test_a_switch_inside_agrees(tau: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = pc.with_independent(pc.load("four_bar"), ["rocker"])
    torque = None if tau is None else [0.3]
    one, other = both(monkeypatch, model, pc.neutral(model), [3.0], torque, 0.3, 1e-3, record=3)
    assert len(one.switches) == 1
    same(one, other)


def test_what_is_wrong_is_said_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    model = trees.geared_arm().build()
    q, v = pc.neutral(model), np.zeros(model.nv)
    said = []
    for engine in (engine_for, PythonEngine):
        monkeypatch.setattr(run, "engine_for", engine)
        with raises(pc.SimulationError) as caught:
            pc.simulate(model, q, v, np.full(model.nv, 1e14), 0.5, 1e-2)
        said.append((str(caught.value), len(caught.value.result.time)))
    assert said[0] == said[1]


@pytest.mark.parametrize("key", ["kinds", "tree floating", "four_bar_serial_on_free_flyer", "geared_five_bar"])
def test_with_dynamics_only_increments_are_compiled(
    key: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, q, v = case(key, rng)

    def damper(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -0.05 * v

    data = model.createData()
    found = []
    for engine in (_compiled.MixedEngine, PythonEngine):
        monkeypatch.setattr(run, "engine_for", engine)
        found.append(
            pc.simulate(model, q, v, damper, 22.5e-4, 1e-4, method="rkmk4", dynamics=lambda *x: pc.aba(model, data, *x))
        )
    a, b = found
    for name in ("q", "v", "a", "tau", "energy", "v_tree"):
        x, y = getattr(a, name), getattr(b, name)
        assert np.abs(x - y).max() <= ROUNDING * max(1.0, np.abs(y).max()), name


@pytest.mark.parametrize("what", ["function", "dynamics", "continuous", "supplied"])
def test_what_python_must_do(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, options = trees.geared_arm().build(), {}
    if what == "function":
        options["tau"] = lambda t, q, v: -v
    elif what == "dynamics":
        options["dynamics"] = lambda q, v, tau: -v
    elif what == "continuous":
        rng, robot = np.random.default_rng(0), trees.Robot()
        for name, kind in (("a", "RUBX"), ("b", "RY")):
            robot.nodes.append(trees.Node(name, None, trees.KINDS[kind](rng), trees.placement(rng), trees.inertia(rng)))
        robot.constraints.append(lambda names: pc.LinearCoupling("b", {"a": 2.0}, 0.1))
        model = robot.build()
    else:
        tree = pc.load("four_bar").tree
        names = [str(n) for n in tree.names[1:]]
        coupling = pc.Coupling(
            names[:2], lambda x: np.array([np.sin(x[0]) - x[1]]), jacobian=lambda x: np.array([[np.cos(x[0]), -1.0]])
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)  # it is slow
            model = pc.ClusterModel(tree, [coupling])
    used: list[type] = []
    real = engine_for

    def watched(settings: Any, recorder: Any) -> Any:
        engine = real(settings, recorder)
        used.append(type(engine))
        return engine

    monkeypatch.setattr(run, "engine_for", watched)
    q = pc.project(model, pc.neutral(model)) if model.closures else pc.neutral(model)
    result = pc.simulate(model, q, np.full(model.nv, 0.5), duration=0.02, **options)
    # Steps around the user's functions need the extension, which calls them.
    around = _compiled.CompiledEngine if native else _compiled.MixedEngine
    engines = {"function": around, "dynamics": _compiled.MixedEngine}
    assert used == [engines.get(what, PythonEngine)]
    assert result.residual.max() < 1e-12
    assert np.isfinite(result.a).all()
    if what in ("continuous", "supplied"):
        assert np.ptp(result.energy) < 1e-9 * max(1.0, np.abs(result.energy).max())
