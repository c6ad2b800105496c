"""The energy of a passive motion stays, up to the error of the integration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from samples import pool, trees
from support.motion import simulate
from support.tolerances import ENERGY_DRIFT

import pin_clusters as pc


@pytest.mark.parametrize("floating", [False, True])
def test_energy_of_a_passive_motion_is_kept(floating: bool, rng: np.random.Generator) -> None:
    model = trees.geared_arm(floating=floating).build()
    data = model.createData()
    q, v, _, _ = trees.random_state(model, rng)
    before = pc.computeMechanicalEnergy(model, data, q, v)
    T = pc.computeKineticEnergy(model, data, q, v)
    q2, v2 = simulate(model, q, v, 2e-4, 1000)
    assert np.abs(v2 - v).max() > 0.5  # something has happened
    assert np.abs(pc.rnea(model, data, q2, v2, pc.aba(model, data, q2, v2, 0.0 * v2))).max() < 1e-10
    assert abs(pc.computeMechanicalEnergy(model, data, q2, v2) - before) <= ENERGY_DRIFT * T


def runge_kutta(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, dt: float, steps: int) -> Any:
    """Passive motion; each stage moves from q by pc.integrate."""
    data, zero = model.createData(), np.zeros(model.nv)

    def f(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pc.aba(model, data, q, v, zero).copy()

    for _ in range(steps):
        a1 = f(q, v)
        v2 = v + 0.5 * dt * a1
        a2 = f(pc.integrate(model, q, 0.5 * dt * v), v2)
        v3 = v + 0.5 * dt * a2
        a3 = f(pc.integrate(model, q, 0.5 * dt * v2), v3)
        v4 = v + dt * a3
        a4 = f(pc.integrate(model, q, dt * v3), v4)
        q = pc.integrate(model, q, dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
        v = v + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return q, v


@pytest.mark.parametrize("name", ["watt_six_bar", "geared_five_bar", "rssr_massive", "bennett", "delta", "ankle_2rsu"])
def test_runge_kutta_has_order_four(name: str) -> None:
    """Energy error over the step: pc.integrate does not spoil the order."""
    c = pool.case(name)
    model, q = c.model, np.array(c.q)
    data, v = model.createData(), np.full(model.nv, 0.3)
    E0 = pc.computeMechanicalEnergy(model, data, q, v)
    T = pc.computeKineticEnergy(model, data, q, v) + 0.1 * abs(E0)
    lengths, drift = (0.012, 0.006, 0.003), []
    for dt in lengths:
        end, speed = runge_kutta(model, q, v, dt, round(0.12 / dt))
        drift.append(abs(pc.computeMechanicalEnergy(model, data, end, speed) - E0) / T)
    orders = np.diff(np.log(drift)) / np.diff(np.log(lengths))
    assert drift[-1] < 1e-13 or np.median(orders) > 3.6, (drift, orders)
