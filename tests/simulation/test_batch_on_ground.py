"""With a ground, ``pc.batch.simulate`` shares compiled steps between rows and gives the results of ``pc.simulate``."""

from __future__ import annotations

import numpy as np
import pytest
from worlds.robots import Robot, robot, states

import pin_clusters as pc


@pytest.mark.parametrize("name", ["mini_cheetah", "tello", pytest.param("cassie", marks=pytest.mark.ci)])
def test_rows_are_those_of_simulate(name: str) -> None:
    of, ground = robot(name), pc.Ground(friction=0.6)
    q, v = states(of, 8, ground)
    tau = 0.3 * np.random.default_rng(0).standard_normal((8, 12, of.model.nv))
    options = {"ground": ground, "touching": of.feet}
    ends = pc.batch.simulate(of.model, q, v, tau, 0.012, 1e-3, record=5, **options)
    pushes = 0
    for i in (7, 0, 3, 5):
        exact = pc.simulate(of.model, q[i], v[i], tau[i], 0.012, 1e-3, record=5, **options)
        # every row starts without the impulses and solver state of the row before: equal to rounding
        np.testing.assert_allclose(ends.q[i], exact.q, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(ends.v[i], exact.v, rtol=0.0, atol=1e-9)
        pushes += int(exact.contact_impulses.any())
    assert pushes > 0


@pytest.mark.ci
def test_invalid_rows() -> None:
    of, ground = robot("tello"), pc.Ground()
    q, v = states(of, 4, ground)
    q[1, 2] -= 0.1  # below the ground
    q[2, 10] += 0.3  # a loop is open
    v[3, 0] = np.nan
    status = np.zeros(4, dtype=np.int8)
    ends = pc.batch.simulate(of.model, q, v, None, 2e-3, 1e-3, ground=ground, touching=of.feet, status=status)
    assert status.tolist() == [0, 3, 1, 3]
    assert np.isfinite(ends.q[0]).all()
    assert np.isnan(ends.q[1:]).all()


def test_stops_are_left_to_python() -> None:
    of = robot("mini_cheetah")
    q, v = states(of, 2)
    v[1, 8] = 30.0
    options = {"ground": pc.Ground(), "touching": of.feet, "limits": "position"}
    ends = pc.batch.simulate(of.model, q, v, None, 0.02, 1e-3, **options)
    for i in range(2):
        exact = pc.simulate(of.model, q[i], v[i], None, 0.02, 1e-3, **options)
        np.testing.assert_allclose(ends.v[i], exact.v[-1], rtol=0.0, atol=1e-9)


def test_shapes() -> None:
    of = robot("mini_cheetah")
    balls = pc.contact_points(of.model, ["FL_foot", "FR_foot", "HL_foot", "HR_foot"], radius=0.02)
    q, v = states(Robot(of.model, balls, of.q), 2)
    ends = pc.batch.simulate(of.model, q, v, None, 0.01, 1e-3, ground=pc.Ground(), touching=balls)
    exact = pc.simulate(of.model, q[1], v[1], None, 0.01, 1e-3, ground=pc.Ground(), touching=balls)
    np.testing.assert_allclose(ends.v[1], exact.v[-1], rtol=0.0, atol=1e-9)
