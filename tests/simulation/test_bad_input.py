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
        ({"dt": 0.0}, pc.SimulationError, "dt = 0 s, but it must be positive"),
        ({"dt": -1e-3}, pc.SimulationError, "dt = -0.001 s"),
        ({"dt": np.nan}, pc.SimulationError, "dt = nan"),
        ({"dt": "1e-3"}, pc.ArgumentTypeError, "dt must be a number of seconds, got '1e-3'"),
        ({"duration": np.inf}, pc.SimulationError, "duration = inf"),
        ({"duration": 0.0}, pc.SimulationError, "duration = 0 s"),
        ({"duration": True}, pc.ArgumentTypeError, "duration must be a number"),
        ({"duration": 1.0, "dt": 2.0}, pc.SimulationError, "dt = 2 s is longer than duration = 1 s"),
        ({"duration": 1.0, "dt": 1e-12}, pc.SimulationError, r"1e\+12 steps.*larger dt"),
        ({"duration": 1e5, "dt": 1e-4}, pc.SimulationError, "record="),
        ({"method": "rk5"}, pc.SimulationError, "'rk5' is not known. Did you mean 'rk4'"),
        ({"method": 4}, pc.SimulationError, "method 4 is not known. Known names: rk4, semi_implicit, rkmk4"),
        ({"record": 0}, pc.SimulationError, "record must be a whole number of steps, at least 1, got 0"),
        ({"record": 2.0}, pc.SimulationError, "record"),
        ({"dynamics": 3}, pc.ArgumentTypeError, "dynamics must be a function"),
        ({"progress": 3}, pc.ArgumentTypeError, "progress must be a function"),
        ({"v0": np.zeros(3)}, pc.ShapeError, "v0 has size 3"),
        ({"q0": np.zeros(3)}, pc.ShapeError, "q0 has size 3"),
        ({"q0": np.full(9, np.nan)}, pc.PinClustersError, "q"),
        ({"tau": "none"}, pc.ArgumentTypeError, "tau"),
        ({"tau": 3.0}, pc.ShapeError, "tau"),
        ({"tau": np.zeros(3)}, pc.ShapeError, "tau has size 3"),
        ({"tau": np.zeros((1, 4))}, pc.ShapeError, r"pass tau\[0\]"),
        ({"tau": [[1.0, 2.0], [3.0]]}, pc.ArgumentTypeError, "tau is not an array of numbers"),
        ({"switch": "no"}, pc.ArgumentTypeError, "switch must be True or False, got 'no'"),
    ],
)
def test_arguments(arm: pc.ClusterModel, changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        run(arm, **changes)


def test_a_pinocchio_model(arm: pc.ClusterModel) -> None:
    with pytest.raises(pc.ArgumentTypeError, match=r"Wrap it: model = pc\.ClusterModel"):
        pc.simulate(arm.tree, pc.neutral(arm), np.zeros(arm.nv))  # type: ignore[arg-type]
    with pytest.raises(pc.ArgumentTypeError, match=r"Wrap it: model = pc\.ClusterModel"):
        simulation.ode(arm.tree, pc.neutral(arm))  # type: ignore[arg-type]


def test_a_start_off_the_manifold(arm: pc.ClusterModel) -> None:
    q = pc.neutral(arm)
    q[1] += 0.1
    with pytest.raises(pc.ConfigurationError, match=r"off the couplings.*pc\.project"):
        run(arm, q0=q)
    bar = pc.load("four_bar")
    q = pc.neutral(bar)
    q[1] += 0.1
    with pytest.raises(pc.ConfigurationError, match=r"off the loops.*pc\.project"):
        run(bar, q0=q)
    v = np.zeros(arm.nv)
    v[0] = np.inf
    with pytest.raises(pc.SimulationError, match=r"v0\[0\] = inf is not finite"):
        run(arm, v0=v)


@pytest.mark.jitless
def test_torque_arrays_of_the_wrong_shape(arm: pc.ClusterModel) -> None:
    n = arm.nv
    wrong = {
        (51, n): r"needs .* \(50, 4\).*tau\[:-1\]", (n, 50): r"Pass tau\.T", (49, n): r"Resample it",
        (50, int(arm.tree.nv)): r"idx_v_independent", (50, n, 1): "tau",
    }  # fmt: skip
    assert n == 4
    for shape, says in wrong.items():
        with pytest.raises(pc.ShapeError, match=says):
            run(arm, tau=np.zeros(shape), duration=0.05)
    bar = pc.load("four_bar")
    with pytest.raises(pc.ShapeError, match=r"tau\[:, None\]"):
        run(bar, tau=np.zeros(50), duration=0.05)
    tau = np.zeros((50, n))
    tau[7, 2] = np.nan
    with pytest.raises(pc.SimulationError, match=r"tau\[7, 2\] = nan"):
        run(arm, tau=tau, duration=0.05)
    with pytest.raises(pc.ArgumentTypeError, match="complex"):
        run(arm, tau=np.zeros((50, n), dtype=complex), duration=0.05)


def _raises(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    if t > 0.0201:
        raise KeyError("no such row")
    return 0.1 * np.ones(len(v))


@pytest.mark.parametrize(
    ("tau", "says"),
    [
        (_raises, r"tau raised at t = 0\.0205 s: KeyError: 'no such row'"),
        (lambda t, q, v: v * np.nan if t > 0.0201 else v, r"tau gave nan for .* at t = 0\.0205 s"),
        (lambda t, q, v: v[:2] if t > 0.0201 else v, r"at t = 0\.0205 s: what tau returned has size 2"),
        (lambda t, q, v: None if t > 0.0201 else v, r"at t = 0\.0205 s: what tau returned"),
    ],
)
def test_functions_that_fail_keep_what_was_computed(arm: pc.ClusterModel, tau: Callable[..., Any], says: str) -> None:
    v0 = np.full(arm.nv, 0.2)
    with pytest.raises(pc.SimulationError, match=says) as caught:
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
    with pytest.raises(pc.SimulationError, match=r"dynamics raised at t = 0 s: ZeroDivisionError") as caught:
        run(arm, dynamics=lambda q, v, tau: 1 / 0)
    assert len(caught.value.result.time) == 0
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(pc.SimulationError, match=r"what dynamics returned has size 1"):
        run(arm, dynamics=lambda q, v, tau: [0.0])
    with pytest.raises(pc.SimulationError, match=r"progress raised RuntimeError: full") as caught:
        run(arm, duration=0.01, progress=lambda done, total: (_ for _ in ()).throw(RuntimeError("full")))
    assert len(caught.value.result.time) > 1


def test_too_stiff_feedback(arm: pc.ClusterModel) -> None:
    """Gains that a step of 10 ms cannot bear: the joint, the time and the cure are said."""
    q = pc.neutral(arm)
    with pytest.raises(
        pc.SimulationError, match=r"diverges.*velocity of joint 'j\d'.*smaller step \(dt = 0\.01"
    ) as caught:
        run(arm, v0=np.full(arm.nv, 0.1), tau=lambda t, q, v: -300.0 * v, duration=2.0, dt=0.01)
    kept = caught.value.result
    assert 2 < len(kept.time) < 100
    assert np.isfinite(kept.v).all()
    fine = run(arm, v0=np.full(arm.nv, 0.1), tau=lambda t, q, v: -300.0 * v, duration=0.02, dt=1e-5, record=100)
    assert np.abs(fine.v[-1]).max() < 1.0
    assert np.array_equal(kept.q[0], q)


def test_stiff_feedback_that_swings_from_step_to_step_is_said(arm: pc.ClusterModel) -> None:
    with pytest.raises(pc.SimulationError, match=r"sign from step to step.*too stiff"):
        run(arm, v0=np.full(arm.nv, 0.1), tau=lambda t, q, v: -300.0 * v, duration=2.0, dt=0.01, method="semi_implicit")


@pytest.mark.parametrize("method", simulation.METHODS)
def test_a_passive_robot_that_gains_energy(method: str) -> None:
    """A pendulum that swings 25 times per second cannot be followed in steps of 40 ms."""
    tree = pin.Model()
    tree.gravity = pin.Motion(np.array([0.0, 0.0, -9.81]), np.zeros(3))
    tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "pendulum")
    tree.appendBodyToJoint(1, pin.Inertia(1.0, np.array([0.0, 0.0, -4e-4]), np.zeros((3, 3))), pin.SE3.Identity())
    model = pc.ClusterModel(tree)
    with pytest.raises(pc.SimulationError, match=r"diverges.*'pendulum'.*smaller step") as caught:
        pc.simulate(model, [1.0], [0.0], duration=200.0, dt=0.04)
    assert len(caught.value.result.time) > 2
    assert np.isfinite(caught.value.result.energy).all()


def test_a_loop_that_cannot_follow_large_steps() -> None:
    bar = pc.load("four_bar")
    with pytest.raises(pc.SimulationError, match=r"diverges") as caught:
        pc.simulate(bar, pc.neutral(bar), [50.0], [1e4], 2.0, 0.05)
    assert caught.value.result is not None


def test_a_file_that_is_none(tmp_path: Path) -> None:
    for name, content in (("text.npz", b"hello"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(pc.LoadError, match="not a simulation"):
            pc.SimulationResult.from_npz(tmp_path / name)
    np.savez(tmp_path / "other.npz", q=np.zeros(3))
    with pytest.raises(pc.LoadError, match="not a simulation"):
        pc.SimulationResult.from_npz(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError):
        pc.SimulationResult.from_npz(tmp_path / "none.npz")
    about = '{"format": 1, "switches": [], "joints": [], "units": [], "idx_q": []}'  # no method
    arrays = dict.fromkeys(("time", "q", "v", "a", "tau", "energy", "residual", "v_tree"), np.zeros(1))
    np.savez(tmp_path / "half.npz", about=np.array(about), **arrays)  # type: ignore[arg-type]
    with pytest.raises(pc.LoadError, match="'method'"):
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
    with pytest.raises(pc.ShapeError, match="2 nv = 8"):
        f(0.0, np.zeros(3))
    with pytest.raises(pc.ShapeError, match="unpack"):
        f.unpack(np.zeros((3, 5)))
    with pytest.raises(pc.ShapeError, match="steps are the solver's"):
        simulation.ode(arm, q, np.zeros((10, arm.nv)))
    with pytest.raises(pc.ConfigurationError):
        simulation.ode(arm, q + 0.1)
    with pytest.raises(pc.ArgumentTypeError, match="dynamics"):
        simulation.ode(arm, q, dynamics=1)  # type: ignore[arg-type]
    with pytest.raises(pc.SimulationError, match=r"tau gave nan at t = 0\.5 s"):
        simulation.ode(arm, q, lambda t, q, v: v * np.nan)(0.5, f.y0(np.zeros(arm.nv)))
    free = trees.geared_arm(floating=True).build()
    g = simulation.ode(free, pc.neutral(free))
    y = g.y0(np.zeros(free.nv))
    y[5] = 5.5
    assert np.isfinite(g(0.0, y)).all()
    y[5] = 6.2
    with pytest.raises(pc.SimulationError, match="whole turn"):
        g(0.0, y)


def test_poor_energy_is_a_warning() -> None:
    # the step is so long that the rocker jumps over its dead centre
    rocker, _ = pc.with_independent(pc.load("four_bar"), ["rocker"])
    q, v = pc.neutral(rocker), [6.0]
    with pytest.warns(pc.PinClustersWarning, match=r"energy went off by .*dt = 0.01 s now; try 0.0025 s\)\.$"):
        poor = pc.simulate(rocker, q, v, duration=2.0, dt=1e-2)
    assert np.abs(poor.energy - poor.energy[0]).max() > 0.05 * 2.4
    good = pc.simulate(rocker, q, v, duration=2.0, dt=2.5e-3)  # warnings are errors here
    assert np.abs(good.energy - good.energy[0]).max() < 1e-2
