"""The UniSim backend: its conformance test, state round trips, resets, sensors and an episode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from worlds.robots import GAINS, robot

import pin_clusters as pc

pytestmark = pytest.mark.ci
pytest.importorskip("unisim", reason="needs UniSim: pip install '.[unisim]'")


def backend_of(name: str, n: int, **options: Any) -> Any:
    of = robot(name)
    worlds = pc.Worlds(
        of.model, n, ground=pc.Ground(), touching=of.feet, dt=2e-3, drive=pc.Drive(*GAINS[name]), q=of.q, vary="gains",
        sensors={"imu": ("gyro", "root_joint")}, **options,
    )  # fmt: skip
    return pc.unisim.WorldsBackend(worlds)


@pytest.mark.parametrize("name", ["mini_cheetah", pytest.param("tello", marks=pytest.mark.long)])
def test_conformance(name: str) -> None:
    from unisim.conformance import assert_backend_conformance

    assert_backend_conformance(backend_of(name, 4))


@pytest.mark.parametrize("name", ["tello", pytest.param("mini_cheetah", marks=pytest.mark.long)])
def test_a_state_comes_back_and_resets_are_masked(name: str) -> None:
    backend, rng = backend_of(name, 5), np.random.default_rng(0)
    nu = backend.num_actuators
    before = {key: x.copy() for key, x in backend._host_get_state().items()}
    qpos = before["qpos"][[1, 3]] + 0.05 * rng.standard_normal((2, 7 + nu))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1)[:, None]
    qvel = rng.standard_normal((2, 6 + nu))
    backend._host_set_state(np.array([1, 3]), qpos, qvel)
    after = backend._host_get_state()
    np.testing.assert_allclose(after["qpos"][[1, 3]], qpos, atol=1e-9)
    np.testing.assert_allclose(after["qvel"][[1, 3]], qvel, atol=1e-9)
    np.testing.assert_array_equal(after["qpos"][[0, 2, 4]], before["qpos"][[0, 2, 4]])
    if backend.model.closures:
        assert np.abs(pc.residual(backend.model, backend._worlds.q[3])).max() < 1e-9
    backend._host_reset(np.array([3]))
    np.testing.assert_allclose(backend._host_get_state("qpos")["qpos"][3], backend.get_default_qpos(), atol=1e-12)
    np.testing.assert_allclose(backend._host_get_state("qpos")["qpos"][1], qpos[0], atol=1e-9)


def test_sensors_against_finite_differences() -> None:
    import pinocchio as pin

    backend, dt = backend_of("mini_cheetah", 2), 2e-3
    qvel = np.zeros((2, 18))
    qvel[:, 3:6] = [0.5, -0.3, 0.8]
    backend._host_set_state(np.arange(2), np.tile(backend.get_default_qpos(), (2, 1)), qvel)
    ctrl = np.tile(backend.get_default_qpos()[7:], (2, 1))
    backend._host_step(ctrl, 1)
    first = backend._host_get_state("qpos")["qpos"][0, 3:7].copy()
    backend._host_step(ctrl, 1)
    second = backend._host_get_state("qpos")["qpos"][0, 3:7]
    R1, R2 = (pin.Quaternion(*x).toRotationMatrix() for x in (first, second))
    # the difference quotient is the mean over a step, in which the feet change the rate by up to 0.3 rad/s
    np.testing.assert_allclose(pin.log3(R1.T @ R2) / dt, backend.get_sensor_view("imu")[0], atol=0.3)
    assert backend.get_sensor_names() == ("imu",)


def test_an_episode() -> None:
    backend = backend_of("mini_cheetah", 3)
    backend._host_reset()
    ctrl = np.tile(backend.get_default_qpos()[7:], (3, 1))
    for _ in range(20):
        backend._host_step(ctrl, 5)
    height = backend._host_get_state("qpos")["qpos"][:, 2]
    assert (np.abs(height - backend.get_default_qpos()[2]) < 0.05).all()
    assert not backend._worlds.status.any()


def test_gains_are_reset_terms() -> None:
    backend = backend_of("mini_cheetah", 3)
    assert backend.get_dr_capabilities().supported_reset_terms == {"kp", "kd"}
    np.testing.assert_array_equal(backend.get_reset_term_default("kp"), np.full((3, 12), 40.0))
    with pytest.raises(KeyError):
        backend.get_reset_term_default("mass")


def test_bad_input() -> None:
    with pytest.raises(pc.ArgumentTypeError):
        pc.unisim.WorldsBackend(3)
    with pytest.raises(pc.NotAvailableError):
        pc.unisim.WorldsBackend(pc.Worlds(pc.load("mit_humanoid_leg"), 2, drive=pc.Drive()))
    with pytest.raises(pc.NotAvailableError):
        pc.unisim.WorldsBackend(pc.Worlds(robot("mini_cheetah").model, 2))
    backend = backend_of("mini_cheetah", 2)
    with pytest.raises(ValueError, match="ctrl has shape"):
        backend._host_step(np.zeros(12))
    with pytest.raises(pc.UnknownNameError):
        backend.get_body_ids(["nope"])
    with pytest.raises(KeyError):
        backend.get_sensor_view("nope")
