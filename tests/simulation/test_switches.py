"""Through a dead centre of the independent joints: against the same motion in coordinates that are regular there."""

from __future__ import annotations

import numpy as np
import pytest
from support.messages import raises, warns

import pin_clusters as pc

DURATION = 0.3


@pytest.fixture(scope="module")
def rocker() -> pc.ClusterModel:
    """A four-bar whose independent joint, the rocker, swings: at both ends it does not say where the crank goes."""
    return pc.with_independent(pc.load("four_bar"), ["rocker"])[0]


def in_crank(model: pc.ClusterModel, tau: float, v0: float, dt: float) -> pc.SimulationResult:
    """The same motion with the crank independent; the torque of the rocker is turned into one of the crank."""
    crank = pc.load("four_bar")
    data, at = crank.createData(), int(model.idx_v_independent[0])

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return tau * pc.coupling_jacobian(crank, data, q)[at]

    q = pc.neutral(crank)
    start = v0 / pc.coupling_jacobian(crank, data, q)[at]
    return pc.simulate(crank, q, start, torque, DURATION, dt)


@pytest.mark.parametrize("tau", [0.0, 0.4])
def test_results_are_those_of_regular_coordinates(rocker: pc.ClusterModel, tau: float) -> None:
    errors = []
    for dt in (1e-3, 5e-4):
        found = pc.simulate(rocker, pc.neutral(rocker), [3.0], [tau], DURATION, dt)
        exact = in_crank(rocker, tau, 3.0, dt)
        assert [(s.old, s.new) for s in found.switches] == [(("rocker",), ("crank",))]
        assert 0.0 < found.switches[0].time < DURATION
        # the rocker turned back, the crank went on
        assert found.v[:, 0].min() < -1.0 < 1.0 < found.v[:, 0].max()
        assert np.abs(np.diff(np.sign(exact.v[:, 0]))).max() == 0.0
        errors.append(max(np.abs(found.q - exact.q).max(), np.abs(found.v_tree - exact.v_tree).max() / 100.0))
        np.testing.assert_array_equal(found.v, found.v_tree[:, rocker.idx_v_independent])
        assert np.array_equal(found.tau, np.full_like(found.tau, tau))
    # until the switch the rocker's equation stiffens towards its end; beyond it both are of order 4
    assert errors[0] < 1e-6
    assert errors[1] < errors[0] / 8.0


def test_a_step_that_fails_is_done_again_with_other_joints(rocker: pc.ClusterModel) -> None:
    """Steps so long that the condition is still good at the start of the one that would jump over the dead centre."""
    with warns(pc.PinClustersWarning, "simulate dt"):
        result = pc.simulate(rocker, pc.neutral(rocker), [6.0], duration=DURATION, dt=0.02)
    assert [s.new for s in result.switches] == [("crank",)]
    with pytest.raises(pc.SimulationError):
        pc.simulate(rocker, pc.neutral(rocker), [6.0], duration=DURATION, dt=0.02, switch=False)


def test_acceleration_is_that_of_the_original_coordinates(rocker: pc.ClusterModel) -> None:
    result = pc.simulate(rocker, pc.neutral(rocker), [3.0], [0.4], DURATION, 2.5e-4)
    slope = (result.v[2:, 0] - result.v[:-2, 0]) / (result.time[2:] - result.time[:-2])
    assert result.switches
    # central differences of 0.25 ms at some 40 rad/s
    np.testing.assert_allclose(result.a[1:-1, 0], slope, rtol=0.0, atol=1e-3 * np.abs(slope).max())


def test_a_function_sees_the_original_velocity(rocker: pc.ClusterModel) -> None:
    def damper(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -0.1 * v

    result = pc.simulate(rocker, pc.neutral(rocker), [3.0], damper, DURATION, 1e-3)
    assert result.switches
    np.testing.assert_allclose(result.tau, -0.1 * result.v, rtol=1e-12, atol=1e-15)
    assert np.all(np.diff(result.energy) < 1e-6)
    power = -0.1 * result.v[:, 0] ** 2
    work = np.sum(0.5 * (power[1:] + power[:-1])) * 1e-3
    # the trapezoidal rule is off by some dt^2, times the square of some 40 rad/s^2
    assert work == pytest.approx(result.energy[-1] - result.energy[0], rel=1e-3)


def test_without_switch_it_is_an_error_that_keeps_the_way_there(rocker: pc.ClusterModel) -> None:
    with raises(pc.SimulationError, "'rocker' switch=True") as caught:
        pc.simulate(rocker, pc.neutral(rocker), [3.0], None, DURATION, 1e-3, switch=False)
    assert isinstance(caught.value.__cause__, pc.BranchLost | pc.SingularClusterError)
    kept = caught.value.result
    whole = pc.simulate(rocker, pc.neutral(rocker), [3.0], None, DURATION, 1e-3)
    assert 10 < len(kept.time) < len(whole.time)
    assert kept.switches == ()
    np.testing.assert_allclose(kept.q[:10], whole.q[:10], rtol=0.0, atol=1e-12)


def test_with_dynamics_independent_joints_are_not_changed(rocker: pc.ClusterModel) -> None:
    data = rocker.createData()
    with raises(pc.SimulationError, "dynamics"):
        pc.simulate(
            rocker,
            pc.neutral(rocker),
            [3.0],
            None,
            DURATION,
            1e-3,
            dynamics=lambda q, v, tau: pc.aba(rocker, data, q, v, tau),
        )


def test_no_switch_where_none_is_needed() -> None:
    model = pc.load("four_bar")
    result = pc.simulate(model, pc.neutral(model), [6.0], None, 1.0, 1e-3)
    assert result.switches == ()
    assert np.ptp(result.q[:, 0]) > 2.0 * np.pi  # whole turns


def test_a_change_point_is_an_error() -> None:
    """There K itself loses rank: no choice of independent joints helps."""
    model = pc.load("four_bar_change_point")
    q = pc.neutral(model)
    with raises(pc.SimulationError, "'crank' 'coupler' 'rocker'") as caught:
        pc.simulate(model, q, np.full(model.nv, 3.0), None, 3.0, 1e-3)
    assert caught.value.result.time[-1] > 0.0
