"""What motors give: limits at the rotors' side of gears and differentials, at the joints of others."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support import grounds

import pin_clusters as pc
from pin_clusters.verification import reference

pytestmark = grounds.NEEDED


def arm(ratio: float, most: float, own: float) -> pc.ClusterModel:
    """A shoulder with a geared rotor that is a body, and an elbow without a rotor."""
    tree = pin.Model()
    shoulder = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "shoulder")
    elbow = tree.addJoint(shoulder, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), "elbow")
    rotor = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "rotor")
    for j in (shoulder, elbow):
        tree.appendBodyToJoint(j, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0])))
    tree.appendBodyToJoint(rotor, pin.Inertia(0.1, np.zeros(3), 1e-4 * np.eye(3)), pin.SE3.Identity())
    limit = tree.effortLimit.copy()
    limit[:] = [7.0, own, most]  # the geared joint's own is not asked
    tree.effortLimit = limit
    return pc.ClusterModel(tree, [pc.Gear("shoulder", "rotor", ratio)])


def test_a_gear_gives_ratio_times_its_motor() -> None:
    model = arm(10.0, 2.0, 5.0)  # 20 N m at the shoulder, 5 at the elbow
    assert tuple(model.independent_joints) == ("shoulder", "elbow")
    for asked, given in (
        ([12.0, 3.0], [12.0, 3.0]), ([30.0, -9.0], [20.0, -5.0]), ([-21.0, 0.0], [-20.0, 0.0]),
    ):  # fmt: skip
        r = pc.simulate(model, pc.neutral(model), np.zeros(2), asked, 0.02, 1e-3, limits="effort")
        assert np.abs(r.tau[:-1] - given).max() < 1e-12
        assert np.abs(r.unmet_torque[:-1] - np.subtract(asked, given)).max() < 1e-12
        free = pc.simulate(model, pc.neutral(model), np.zeros(2), given, 0.02, 1e-4, method="rk4")
        assert np.abs(r.q[-1] - free.q[-1]).max() < 1e-4


def test_a_differential_gives_what_its_motors_give_together() -> None:
    """Tello's: of two motors one is at its limit; by virtual work, from the coupling's own Jacobian."""
    model, _ = grounds.robot("tello")
    tree = model.tree.copy()
    limit = np.full(tree.nv, 1e308)
    for name in tree.names:
        if "rotor" in name:
            limit[tree.joints[tree.getJointId(name)].idx_v] = 3.0
    tree.effortLimit = limit
    model = pc.ClusterModel(tree, model.constraints, q_reference=model.q_reference, preferred=model.preferred)
    q = pc.neutral(model)
    rotors = [tree.joints[r.joint_id].idx_v for r in model.rotors]
    # with each rotor on its carrier, its speed is a combination of independent velocities
    B = np.array([[1.0 if iv == c else 0.0 for c in model.idx_v_independent] for iv in range(tree.nv)])
    G = reference.coupling_jacobian(model, q)
    B = np.array([sum((G[iv] * ratio for iv, ratio in r.drivers), np.zeros(model.nv)) for r in model.rotors])
    assert len(rotors) == len(B) == 10
    rng = np.random.default_rng(3)
    u = 5.0 * rng.normal(size=10)
    asked = B.T @ u
    r = pc.simulate(model, q, np.zeros(model.nv), asked, 1e-3, 1e-3, limits="effort")
    assert (np.abs(u) > 3.0).any()
    assert np.abs(r.tau[0] - B.T @ np.clip(u, -3.0, 3.0)).max() < 1e-9
    assert np.abs(r.unmet_torque[0] - B.T @ (u - np.clip(u, -3.0, 3.0))).max() < 1e-9


def test_limits_of_positions_alone_leave_torques_alone() -> None:
    model = arm(10.0, 2.0, 5.0)
    q, v = pc.neutral(model), np.zeros(2)
    r = pc.simulate(model, q, v, [30.0, 9.0], 5e-3, 1e-3, limits="position")
    assert np.abs(r.tau[:-1] - [30.0, 9.0]).max() == 0.0
    assert not r.unmet_torque.any()
    both = pc.simulate(model, q, v, [30.0, 9.0], 5e-3, 1e-3, limits=True)
    assert np.abs(both.tau[:-1] - [20.0, 5.0]).max() < 1e-12


def test_a_robot_on_its_legs_falls_when_motors_are_weak() -> None:
    model, _ = grounds.robot("mini_cheetah")
    feet = grounds.feet("mini_cheetah")
    home = pc.integrate(model, pc.neutral(model), np.r_[np.zeros(6), np.tile([0.0, -0.8, 1.6], 4)])
    q = pc.on_ground(model, home, touching=feet)
    ends = []
    for most in (20.0, 0.1):
        tree = model.tree.copy()
        tree.effortLimit = np.where(tree.effortLimit < 1e300, most, tree.effortLimit)
        weak = pc.ClusterModel(tree, model.constraints, q_reference=model.q_reference, preferred=model.preferred)
        held = grounds.held(weak, home, 100.0, 2.0)
        r = pc.simulate(weak, q, np.zeros(18), held, 0.15, ground=pc.Ground(), touching=feet, limits="effort")
        ends.append((r.q[-1, 2] - q[2], np.abs(r.unmet_torque).max()))
    assert abs(ends[0][0]) < 0.03
    assert ends[0][1] == pytest.approx(0.0, abs=1e-9)
    assert ends[1][0] < ends[0][0] - 0.01
    assert ends[1][1] > 0.1


def test_motors_give_what_voltage_and_speed_allow() -> None:
    N, J, load, k, R, V, peak = 10.0, 1e-4, 0.1, 0.1, 0.5, 24.0, 2.0
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "wheel")
    tree.appendBodyToJoint(1, pin.Inertia(1.0, np.zeros(3), load * np.eye(3)), pin.SE3.Identity())
    tree.gravity.linear = np.zeros(3)
    motor = pc.Motor(ratio=N, rotor_inertia=J, voltage=V, torque_constant=k, resistance=R, peak_torque=peak)
    model = pc.ClusterModel(tree, [pc.Rotor("wheel", motor=motor)])
    h = 1e-3
    r = pc.simulate(model, [0.0], [0.0], [100.0], 1.0, h, limits="effort")
    inertia = load / N**2 + J
    corner, rate = (V - peak * R / k) / k, k**2 / R / inertia
    until = corner / (peak / inertia)
    expected = np.where(
        r.time < until, peak / inertia * r.time, V / k - (V / k - corner) * np.exp(-rate * (r.time - until))
    )
    assert np.abs(N * r.v[:, 0] - expected).max() < h * peak / inertia  # torques are held during steps
    assert r.tau[0, 0] == pytest.approx(N * peak)
    assert r.unmet_torque[0, 0] == pytest.approx(100.0 - N * peak)
    beyond, brakes = (
        pc.simulate(model, [0.0], [1.1 * V / k / N], [x], 2 * h, h, limits="effort").tau[0, 0] for x in (50.0, -50.0)
    )
    assert (beyond, brakes) == pytest.approx((0.0, -N * peak))
    tree.effortLimit = np.array([5.0])  # of the joint, which holds, too
    both = pc.ClusterModel(tree, [pc.Rotor("wheel", motor=motor)])
    assert pc.simulate(both, [0.0], [0.0], [50.0], h, h, limits="effort").tau[0, 0] == pytest.approx(5.0)
