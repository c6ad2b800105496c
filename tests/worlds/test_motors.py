"""Gear losses and torque limits of motors in traced steps, against ``pc.simulate``, which computes them in kernels.

Without contacts, both methods evaluate the same formulas, so that the tolerances are rounding errors that grow over a
few steps.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from worlds.robots import Robot, robot, states
from worlds.test_step import step_of

import pin_clusters as pc

H = 1e-3


def with_motors(of: Robot, **values: Any) -> pc.ClusterModel:
    """Return the model with the same motor on every rotor."""
    motors = [pc.Motor(**values).on(rotor.name) for rotor in of.model.rotors]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.ClusterModel(of.model.tree, [*of.model.constraints, *motors])


def chain(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, steps: int) -> np.ndarray:
    """Return the velocities of a sequence of traced steps, shape (steps + 1, nv)."""
    program = pc.trace(model, "step", dt=H, limits="effort")
    state = {"q": q, "v": v, "tau": tau, "loads": np.zeros(dict(program.inputs).get("loads", 0))}
    velocities = [v]
    for _ in range(steps):
        out = step_of(program, state)
        state |= {"q": out["q_next"], "v": out["v_next"], "loads": out.get("loads_next", state["loads"])}
        velocities.append(out["v_next"])
    return np.array(velocities)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["mini_cheetah", pytest.param("tello", marks=pytest.mark.long)])
def test_gear_losses(name: str) -> None:
    """Rotors on moving links, driving and backdriven gears; the losses change the motion by much more than 1e-9."""
    of = robot(name)
    values = {"viscous": 1e-4, "coulomb": 1e-3}
    lossy = with_motors(of, efficiency=0.7, back_efficiency=0.5, **values)
    q, v = states(of, 1)
    size = {"mini_cheetah": 3.0, "tello": 0.3}[name]
    tau = np.r_[np.zeros(6), size * np.random.default_rng(1).standard_normal(of.model.nv - 6)]
    expected = pc.simulate(lossy, q[0], v[0], tau, 30 * H, H, limits="effort").v
    velocities = chain(lossy, q[0], v[0], tau, 30)
    np.testing.assert_allclose(velocities, expected, rtol=0.0, atol=1e-9)
    lossless = chain(with_motors(of, **values), q[0], v[0], tau, 30)
    assert np.abs(lossless - expected).max() > 0.1


@pytest.mark.ci
def test_gear_losses_on_the_ground() -> None:
    """``pc.simulate`` moves points out of the ground at another time, so that only the first steps agree closely."""
    of = robot("mini_cheetah")
    model, ground = with_motors(of, efficiency=0.8), pc.Ground(0.8)
    worlds = pc.Worlds(model, 2, ground=ground, touching=of.feet, dt=H, sweeps=100, q=of.q)
    tau = np.r_[np.zeros(6), np.tile([0.0, 2.0, 4.0], 4)]
    for _ in range(20):
        worlds.step(np.tile(tau, (2, 1)))
    expected = pc.simulate(model, of.q, np.zeros(model.nv), tau, 20 * H, H, ground=ground, touching=of.feet)
    np.testing.assert_allclose(worlds.v[0], expected.v[-1], rtol=0.0, atol=1e-6)
    assert np.abs(worlds.gear_loads).max() > 0.1
    with pytest.raises(pc.NotAvailableError):
        worlds.exact([0])
    worlds.reset(np.array([True, False]))
    assert not worlds.gear_loads[0].any()
    assert worlds.gear_loads[1].any()


@pytest.mark.parametrize("speed", [30.0, *(pytest.param(x, marks=pytest.mark.ci) for x in (-30.0, 0.0, 5.0))])
def test_torque_limits_that_depend_on_the_speed(speed: float) -> None:
    """At the ends of the range, the motors are faster than the no-load speed (110 rad/s) or brake."""
    of = robot("mini_cheetah")
    model = with_motors(of, voltage=24.0, torque_constant=0.2, resistance=0.5, no_load_speed=110.0, peak_torque=4.0)
    q, v, tau = of.q, np.zeros(model.nv), np.zeros(model.nv)
    v[6:], tau[6:] = speed, 60.0
    rotor_speeds = pc.actuation_matrix(model, model.createData(), q).T @ v
    assert (np.abs(rotor_speeds).max() > 110.0) == (abs(speed) > 20.0)
    expected = pc.simulate(model, q, v, tau, H, H, limits="effort").v[-1]
    np.testing.assert_allclose(chain(model, q, v, tau, 1)[-1], expected, rtol=0.0, atol=1e-9)
    drive = pc.Drive(kp=1e5, kd=0.0, limit="motor")
    worlds = pc.Worlds(model, 1, dt=H, q=q, drive=drive)
    worlds.reset(v=v)
    worlds.targets[:] = worlds.rest + np.sign(0.5 - np.arange(12) % 2)
    # Without a ground, ``exact`` uses Runge-Kutta steps; the midpoint rule differs by the rate of change of the
    # gyroscopic accelerations (1e3 rad/s^2 at 30 rad/s) in half a step.
    assert worlds.exact([0])[0].v < 0.1
    worlds.step()
    assert (np.abs(worlds.tau[0, 6:]) < 60.0).all()
