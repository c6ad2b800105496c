"""Bad input to simulations: each is refused with what was given and the cure, and nothing computed is lost."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import trees
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters import simulation


@pytest.fixture(scope="module")
def arm() -> pc.ClusterModel:
    return trees.geared_arm().build()


def run(model: Any, **changes: Any) -> pc.SimulationResult:
    if isinstance(model, pc.ClusterModel):
        changes = {"q0": pc.neutral(model), "v0": np.zeros(model.nv)} | changes
    return pc.simulate(model, **changes)


@pytest.mark.jitless
@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"dt": 0.0}, pc.SimulationError, "dt 0"),
        ({"dt": -1e-3}, pc.SimulationError, "dt -0.001"),
        ({"dt": np.nan}, pc.SimulationError, "dt nan"),
        ({"dt": "1e-3"}, pc.ArgumentTypeError, "dt '1e-3'"),
        ({"duration": np.inf}, pc.SimulationError, "duration inf"),
        ({"duration": 0.0}, pc.SimulationError, "duration 0"),
        ({"duration": True}, pc.ArgumentTypeError, "duration"),
        ({"duration": 1.0, "dt": 2.0}, pc.SimulationError, "dt 2 duration 1"),
        ({"duration": 1.0, "dt": 1e-12}, pc.SimulationError, "1e+12 dt"),
        ({"duration": 1e5, "dt": 1e-4}, pc.SimulationError, "record"),
        ({"method": "rk5"}, pc.SimulationError, "'rk5' 'rk4'"),
        ({"method": 4}, pc.SimulationError, "method 4 rk4 semi_implicit rkmk4"),
        ({"record": 0}, pc.SimulationError, "record 1 0"),
        ({"record": 2.0}, pc.SimulationError, "record"),
        ({"dynamics": 3}, pc.ArgumentTypeError, "dynamics"),
        ({"progress": 3}, pc.ArgumentTypeError, "progress"),
        ({"v0": np.zeros(3)}, pc.ShapeError, "v0 3"),
        ({"q0": np.zeros(3)}, pc.ShapeError, "q0 3"),
        ({"q0": np.full(9, np.nan)}, pc.PinClustersError, "q0"),
        ({"tau": "none"}, pc.ArgumentTypeError, "tau"),
        ({"tau": 3.0}, pc.ShapeError, "tau"),
        ({"tau": np.zeros(3)}, pc.ShapeError, "tau 3"),
        ({"tau": np.zeros((1, 4))}, pc.ShapeError, "tau[0]"),
        ({"tau": [[1.0, 2.0], [3.0]]}, pc.ArgumentTypeError, "tau"),
        ({"switch": "no"}, pc.ArgumentTypeError, "switch 'no'"),
    ],
)
def test_arguments(arm: pc.ClusterModel, changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with raises(error, says):
        run(arm, **changes)


def test_a_pinocchio_model(arm: pc.ClusterModel) -> None:
    with raises(pc.ArgumentTypeError, "pc.ClusterModel"):
        pc.simulate(arm.tree, pc.neutral(arm), np.zeros(arm.nv))  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "pc.ClusterModel"):
        simulation.ode(arm.tree, pc.neutral(arm))  # type: ignore[arg-type]


def test_a_start_off_the_manifold(arm: pc.ClusterModel) -> None:
    q = pc.neutral(arm)
    q[1] += 0.1
    with raises(pc.ConfigurationError, "pc.project"):
        run(arm, q0=q)
    bar = pc.load("four_bar")
    q = pc.neutral(bar)
    q[1] += 0.1
    with raises(pc.ConfigurationError, "pc.project"):
        run(bar, q0=q)
    v = np.zeros(arm.nv)
    v[0] = np.inf
    with raises(pc.SimulationError, "v0[0] inf"):
        run(arm, v0=v)


@pytest.mark.jitless
def test_torque_arrays_of_the_wrong_shape(arm: pc.ClusterModel) -> None:
    n = arm.nv
    wrong = {
        (51, n): "(50, 4) tau[:-1]", (n, 50): "tau.T", (49, n): "simulate tau nv",
        (50, int(arm.tree.nv)): r"idx_v_independent", (50, n, 1): "tau",
    }  # fmt: skip
    assert n == 4
    for shape, says in wrong.items():
        with raises(pc.ShapeError, says):
            run(arm, tau=np.zeros(shape), duration=0.05)
    bar = pc.load("four_bar")
    with raises(pc.ShapeError, "tau[:, None]"):
        run(bar, tau=np.zeros(50), duration=0.05)
    tau = np.zeros((50, n))
    tau[7, 2] = np.nan
    with raises(pc.SimulationError, "tau[7, 2] nan"):
        run(arm, tau=tau, duration=0.05)
    with raises(pc.ArgumentTypeError, "complex128"):
        run(arm, tau=np.zeros((50, n), dtype=complex), duration=0.05)


def _raises(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    if t > 0.0201:
        raise KeyError("no such row")
    return 0.1 * np.ones(len(v))


@pytest.mark.parametrize(
    ("tau", "says"),
    [
        (_raises, "tau t 0.0205 KeyError 'no such row'"),
        (lambda t, q, v: v * np.nan if t > 0.0201 else v, "tau nan t 0.0205"),
        (lambda t, q, v: v[:2] if t > 0.0201 else v, "t 0.0205 tau 2"),
        (lambda t, q, v: None if t > 0.0201 else v, "t 0.0205 tau"),
    ],
)
def test_functions_that_fail_keep_what_was_computed(arm: pc.ClusterModel, tau: Callable[..., Any], says: str) -> None:
    v0 = np.full(arm.nv, 0.2)
    with raises(pc.SimulationError, says) as caught:
        run(arm, v0=v0, tau=tau, duration=0.05)
    kept = caught.value.result
    # step 20 starts at 0.020 s, which is the last good state
    assert kept.time == pytest.approx(np.arange(21) * 1e-3)
    until = run(arm, v0=v0, tau=tau, duration=0.019)
    np.testing.assert_array_equal(kept.q[:20], until.q)


def test_the_last_good_state_is_kept_though_no_sample_was_due(arm: pc.ClusterModel) -> None:
    with pytest.raises(pc.SimulationError) as caught:
        run(arm, tau=_raises, duration=0.05, record=7)
    assert caught.value.result.time == pytest.approx([0.0, 0.007, 0.014, 0.020])


def test_dynamics_that_fail(arm: pc.ClusterModel) -> None:
    with raises(pc.SimulationError, "dynamics t 0 ZeroDivisionError") as caught:
        run(arm, dynamics=lambda q, v, tau: 1 / 0)
    assert len(caught.value.result.time) == 0
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with raises(pc.SimulationError, "dynamics 1"):
        run(arm, dynamics=lambda q, v, tau: [0.0])
    with raises(pc.SimulationError, "progress RuntimeError") as caught:
        run(arm, duration=0.01, progress=lambda done, total: (_ for _ in ()).throw(RuntimeError("full")))
    assert len(caught.value.result.time) > 1


def test_too_stiff_feedback(arm: pc.ClusterModel) -> None:
    """Gains that a step of 10 ms cannot bear: the joint, the time and the cure are said."""
    q = pc.neutral(arm)
    with raises(pc.SimulationError, "dt 0.01") as caught:
        run(arm, v0=np.full(arm.nv, 0.1), tau=lambda t, q, v: -300.0 * v, duration=2.0, dt=0.01)
    kept = caught.value.result
    assert 2 < len(kept.time) < 100
    assert np.isfinite(kept.v).all()
    fine = run(arm, v0=np.full(arm.nv, 0.1), tau=lambda t, q, v: -300.0 * v, duration=0.02, dt=1e-5, record=100)
    assert np.abs(fine.v[-1]).max() < 1.0
    assert np.array_equal(kept.q[0], q)


def test_stiff_feedback_that_swings_from_step_to_step_is_said(arm: pc.ClusterModel) -> None:
    with raises(pc.SimulationError, "simulate"):
        run(arm, v0=np.full(arm.nv, 0.1), tau=lambda t, q, v: -300.0 * v, duration=2.0, dt=0.01, method="semi_implicit")


@pytest.mark.parametrize("method", simulation.METHODS)
def test_a_passive_robot_that_gains_energy(method: str) -> None:
    """A pendulum that swings 25 times per second cannot be followed in steps of 40 ms."""
    tree = pin.Model()
    tree.gravity = pin.Motion(np.array([0.0, 0.0, -9.81]), np.zeros(3))
    tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "pendulum")
    tree.appendBodyToJoint(1, pin.Inertia(1.0, np.array([0.0, 0.0, -4e-4]), np.zeros((3, 3))), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    with raises(pc.SimulationError, "'pendulum'") as caught:
        pc.simulate(model, [1.0], [0.0], duration=200.0, dt=0.04)
    assert len(caught.value.result.time) > 2
    assert np.isfinite(caught.value.result.energy).all()


def test_a_loop_that_cannot_follow_large_steps() -> None:
    bar = pc.load("four_bar")
    with raises(pc.SimulationError) as caught:
        pc.simulate(bar, pc.neutral(bar), [50.0], [1e4], 2.0, 0.05)
    assert caught.value.result is not None


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for name, content in (("text.npz", b"hello"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(content)
        with raises(pc.LoadError, "SimulationResult.to_npz"):
            pc.SimulationResult.from_npz(tmp_path / name)
    np.savez(tmp_path / "other.npz", q=np.zeros(3))
    with raises(pc.LoadError, "other.npz SimulationResult.to_npz"):
        pc.SimulationResult.from_npz(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        pc.SimulationResult.from_npz(tmp_path / "none.npz")
    about = '{"format": 1, "switches": [], "joints": [], "units": [], "idx_q": []}'  # no method
    arrays = dict.fromkeys(("time", "q", "v", "a", "tau", "energy", "residual", "v_tree"), np.zeros(1))
    np.savez(tmp_path / "half.npz", about=np.array(about), **arrays)  # type: ignore[arg-type]
    with raises(pc.LoadError, "'method'"):
        pc.SimulationResult.from_npz(tmp_path / "half.npz")


def test_what_stopped_a_simulation_travels_to_other_processes(arm: pc.ClusterModel) -> None:
    result = run(arm, duration=2e-3)
    for error in (simulation.SimulationInterrupted(result), pc.SimulationError("why", result)):
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back)) == (type(error), str(error))
        assert np.array_equal(back.result.q, result.q)


def test_the_adapter(arm: pc.ClusterModel) -> None:
    q = pc.neutral(arm)
    f = simulation.ode(arm, q)
    with raises(pc.ShapeError, "2 nv 8"):
        f(0.0, np.zeros(3))
    with raises(pc.ShapeError):
        f.unpack(np.zeros((3, 5)))
    with raises(pc.ShapeError, "tau nv"):
        simulation.ode(arm, q, np.zeros((10, arm.nv)))
    with pytest.raises(pc.ConfigurationError):
        simulation.ode(arm, q + 0.1)
    with raises(pc.ArgumentTypeError, "dynamics"):
        simulation.ode(arm, q, dynamics=1)  # type: ignore[arg-type]
    with raises(pc.SimulationError, "tau nan t 0.5"):
        simulation.ode(arm, q, lambda t, q, v: v * np.nan)(0.5, f.y0(np.zeros(arm.nv)))
    free = trees.geared_arm(floating=True).build()
    g = simulation.ode(free, pc.neutral(free))
    y = g.y0(np.zeros(free.nv))
    y[5] = 5.5
    assert np.isfinite(g(0.0, y)).all()
    y[5] = 6.2
    with raises(pc.SimulationError, "'base' q0"):
        g(0.0, y)


def test_poor_energy_is_a_warning() -> None:
    # the step is so long that the rocker jumps over its dead centre
    rocker, _ = pc.with_independent(pc.load("four_bar"), ["rocker"])
    q, v = pc.neutral(rocker), [6.0]
    with warns(pc.PinClustersWarning, "dt 0.01 0.0025"):
        poor = pc.simulate(rocker, q, v, duration=2.0, dt=1e-2)
    assert np.abs(poor.energy - poor.energy[0]).max() > 0.05 * 2.4
    good = pc.simulate(rocker, q, v, duration=2.0, dt=2.5e-3)  # warnings are errors here
    assert np.abs(good.energy - good.energy[0]).max() < 1e-2
