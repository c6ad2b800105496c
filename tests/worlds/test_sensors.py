"""Sensors of worlds against Pinocchio's kinematics and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from worlds.robots import GAINS, robot

import pin_clusters as pc

SENSORS = {
    "gyro": ("gyro", "FL_foot"), "acceleration": ("accelerometer", "FL_foot"), "speed": ("velocimeter", "FL_foot"),
    "place": ("framepos", "FL_foot"), "attitude": ("framequat", "FL_foot"), "force": ("touch", "FL_foot"),
}  # fmt: skip


def frames_of(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray) -> tuple[pin.SE3, pin.Motion]:
    tree = model.own_tree
    data = tree.createData()
    pin.forwardKinematics(tree, data, q, pc.coupling_jacobian(model, model.createData(), q) @ v)
    frame = tree.getFrameId("FL_foot")
    return pin.updateFramePlacement(tree, data, frame).copy(), pin.getFrameVelocity(tree, data, frame, pin.LOCAL)


def test_sensors() -> None:
    of, h = robot("mini_cheetah"), 1e-3
    worlds = pc.Worlds(
        of.model, 8, ground=pc.Ground(), touching=of.feet, dt=h, drive=pc.Drive(*GAINS["mini_cheetah"]), q=of.q,
        sensors=SENSORS,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    v = 0.3 * rng.standard_normal((8, of.model.nv))
    worlds.reset(v=v)
    for _ in range(8):
        before = worlds.q.copy(), worlds.v.copy()
        worlds.step(worlds.rest + 0.2 * rng.uniform(-1.0, 1.0, (8, 12)))
    touches = 0
    for i in range(8):
        M, nu = frames_of(of.model, worlds.q[i], worlds.v[i])
        np.testing.assert_allclose(worlds.sensors["gyro"][i], nu.angular, atol=1e-10)
        np.testing.assert_allclose(worlds.sensors["speed"][i], nu.linear, atol=1e-10)
        np.testing.assert_allclose(worlds.sensors["place"][i], M.translation, atol=1e-12)
        x, y, z, w = worlds.sensors["attitude"][i]
        np.testing.assert_allclose(pin.Quaternion(w, x, y, z).toRotationMatrix(), M.rotation, atol=1e-12)
        # the mean acceleration of the step differs from that at its end by h times a jerk of up to 1e4 m/s^3
        then, slow = frames_of(of.model, *(x[i] for x in before))
        mean = (M.rotation @ nu.linear - then.rotation @ slow.linear) / h
        expected = M.rotation.T @ (mean - np.array([0.0, 0.0, -9.81]))
        np.testing.assert_allclose(worlds.sensors["acceleration"][i], expected, atol=0.05 * (1 + np.abs(mean).max()))
        np.testing.assert_allclose(worlds.sensors["force"][i, 0], worlds.contact_impulses[i, 0, 2] / h, rtol=1e-12)
        touches += int(worlds.sensors["force"][i, 0] > 0.0)
    assert 0 < touches


@pytest.mark.parametrize("axis", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 0.5]])
@pytest.mark.parametrize("angle", [0.0, 1.0, 3.1, -3.1])
def test_attitudes_far_from_the_identity(axis: list[float], angle: float) -> None:
    of = robot("mini_cheetah")
    program = pc.trace(of.model, "step", dt=1e-3, sensors={"attitude": ("framequat", "root_joint")})
    q, n = of.q.copy(), np.array(axis) / np.linalg.norm(axis)
    q[3:7] = [*(np.sin(angle / 2) * n), np.cos(angle / 2)]
    outputs = dict(
        zip([x for x, _ in program.outputs], program(q, np.zeros(of.model.nv), np.zeros(of.model.nv)), strict=True)
    )
    assert min(np.abs(outputs["sensor_0"] - s * outputs["q_next"][3:7]).max() for s in (1.0, -1.0)) < 1e-12


@pytest.mark.parametrize(
    ("sensors", "error"),
    [
        (["gyro"], pc.ArgumentTypeError),
        ({"a": "gyro"}, pc.ArgumentTypeError),
        ({"a": ("nope", "FL_foot")}, pc.UnknownNameError),
        ({"a": ("gyro", "nope")}, pc.UnknownNameError),
    ],
)
def test_bad_input(sensors: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        pc.trace(robot("mini_cheetah").model, "step", sensors=sensors)
