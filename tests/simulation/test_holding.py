"""The PD controller that holds a robot: its gains follow the rule that it states, and robots stand with it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises
from support.scenes import load

import pin_clusters as pc
from pin_clusters.simulation.holding import Hold

ARM, MASS, INERTIA = 0.3, 2.0, 0.05
SOLE = [[x, y, -0.041] for x in (-0.05, 0.1) for y in (-0.03, 0.03)]
SOLES = {"left_ankle": SOLE, "right_ankle": SOLE}
CROUCH = {
    "mini_cheetah": {"hip": -0.8, "knee": 1.6},
    "mit_humanoid": {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4},
}
FEET = {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")}


def pendulum(*, rotor: float = 0.0, mass: float = MASS) -> pc.ClusterModel:
    tree = pin.Model()
    joint = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "hinge")
    body = pin.Inertia(mass, np.array([ARM, 0.0, 0.0]), INERTIA * np.eye(3))
    tree.appendBodyToJoint(joint, body, pin.SE3.Identity())
    tree.addFrame(pin.Frame("tip", joint, pin.SE3(np.eye(3), np.array([ARM, 0.0, 0.0])), pin.OP_FRAME))
    motor = [pc.Rotor("hinge", 10.0, axial_inertia=rotor)] if rotor else []
    return pc.ClusterModel(tree, motor)


@pytest.mark.parametrize("rotor", [0.0, 3e-3])
def test_gains_of_a_pendulum(rotor: float) -> None:
    hold = Hold(pendulum(rotor=rotor), np.zeros(1), 1e-3)
    kp = 5.0 * 9.81 * MASS * ARM
    assert hold.kp == pytest.approx([kp])
    assert hold.kd == pytest.approx([0.04 * kp])
    # horizontal: its own weight, turning +x down
    assert hold.tau0 == pytest.approx([-9.81 * MASS * ARM])
    assert hold(0.0, np.array([0.1]), np.array([2.0])) == pytest.approx(hold.tau0 - 0.1 * kp - 2.0 * 0.04 * kp)


def test_gains_end_at_what_steps_can_follow() -> None:
    dt, alone = 0.02, INERTIA + MASS * ARM**2
    hold = Hold(pendulum(), np.zeros(1), dt)
    assert hold.kp == pytest.approx([alone * (0.2 / dt) ** 2])
    assert hold.kp[0] < 5.0 * 9.81 * MASS * ARM
    limp = Hold(pendulum(), np.zeros(1), dt, kp=0.0, kd=0.0)
    assert not np.any(limp(0.0, np.ones(1), np.ones(1)))


def test_springs_and_floating_bases_are_not_driven() -> None:
    model = load("cassie")
    hold = Hold(model, model.q_reference, 1e-3)
    free = {n for n in model.independent_joints[1:] if hold.kp[model.joint_idx_v(n)] == 0.0}
    assert free == {f"{side}_{part}" for side in ("left", "right") for part in ("shin", "heel_spring")}
    assert not np.any(hold.kp[:6])
    assert not np.any(hold.tau0[:6])


@pytest.mark.parametrize(("name", "touching"), [("mini_cheetah", FEET), ("mit_humanoid", SOLES)])
def test_robots_land_and_stay_where_they_stand(name: str, touching: dict[str, list[float]]) -> None:
    model, ground = load(name), pc.Ground()
    bend = np.zeros(model.nv)
    for joint in model.independent_joints[1:]:
        bend[model.joint_idx_v(joint)] = next((x for end, x in CROUCH[name].items() if joint.endswith(end)), 0.0)
    home = pc.on_ground(model, pc.integrate(model, model.q_reference, bend), ground, touching)
    start = pc.on_ground(model, home, ground, touching, above=0.1)
    hold = Hold(model, home, 1e-3, ground, touching)
    result = pc.simulate(model, start, np.zeros(model.nv), hold, 1.2, ground=ground, touching=touching)
    assert {t.body for t in result.touchdowns} == set(touching)
    assert np.abs(pc.difference(model, home, result.q[-1])).max() < 0.02  # the pose, and where it stands
    weight = 9.81 * sum(I.mass for I in model.inertia_tree.inertias)
    last = result.contact_impulses[-201:-1].sum(axis=(0, 1)) / 0.2
    np.testing.assert_allclose(last, [0.0, 0.0, weight], atol=0.03 * weight)


def test_negative_gains_are_refused() -> None:
    for name in ("kp", "kd"):
        with raises(pc.SimulationError, f"{name} -1"):
            Hold(pendulum(), np.zeros(1), 1e-3, **{name: -1.0})
