"""Robots and motions of the tests of studies."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters.files import readers as loaders
from pin_clusters.studies.study import trajectories

LEG = ("hip_rz", "hip_rx", "hip_ry", "knee", "ankle")
# RMS errors in N m of the sine of arXiv 2311.13732, computed by an independent script
LOCKED = {
    "none": (0.267, 0.249, 0.966, 4.310, 1.588),
    "diagonal": (0.196, 0.169, 0.341, 1.045, 0.826),
    "block": (0.196, 0.169, 0.341, 0.301, 0.070),
}
DROPPED = {
    "none": (0.288, 0.266, 0.989, 4.310, 1.588),
    "diagonal": (0.206, 0.178, 0.365, 1.045, 0.826),
    "block": (0.206, 0.178, 0.365, 0.301, 0.070),
}
LARGEST = (7.27, 10.30, 14.75, 11.23, 2.71)
LOOPS = (
    "ankle_2rsu", "cassie", "cassie_leg", "delta", "digit_leg", "four_bar", "four_bar_change_point", "kangaroo_leg",
    "planar_leg_linkage", "robotiq_2f85", "six_bar", "tello", "tello_with_arms", "watt_six_bar",
)  # fmt: skip
WITH_ROTORS = ("ankle_2rsu", "cassie_leg", "tello", "tello_with_arms")


@cache
def load(name: str, floating: bool = False) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return loaders.load(name, root_joint=pin.JointModelFreeFlyer() if floating else None)


def pendulum(
    joint: pin.JointModel, constraints: object = (pc.Rotor("joint", 6.0, axial_inertia=1e-3),)
) -> pc.ClusterModel:
    tree = pin.Model()
    tree.name = "pendulum"
    body = tree.addJoint(0, joint, pin.SE3.Identity(), "joint")
    tree.appendBodyToJoint(body, pin.Inertia(1.0, np.array([0.0, 0.0, -0.3]), 0.01 * np.eye(3)), pin.SE3.Identity())
    return pc.ClusterModel(tree, list(constraints))


def ab_ankle() -> pc.ClusterModel:
    """An ankle on two equal cranks, the independent joints; seen from the side rods and cranks are parallelograms."""
    tree = pin.Model()
    tree.name = "ab_ankle"
    pitch = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "pitch")
    roll = tree.addJoint(pitch, pin.JointModelRX(), pin.SE3.Identity(), "roll")
    tree.appendBodyToJoint(roll, pin.Inertia(0.9, np.array([0.04, 0.0, -0.04]), 0.003 * np.eye(3)), pin.SE3.Identity())
    pins, ends = [], []
    for name, y in (("left", 0.025), ("right", -0.025)):
        crank = tree.addJoint(0, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, y, 0.2])), name)
        tree.appendBodyToJoint(
            crank, pin.Inertia(0.06, np.array([-0.02, 0.0, 0.0]), 1e-5 * np.eye(3)), pin.SE3.Identity()
        )
        pins.append([-0.05, 0.0, 0.0])
        ends.append([-0.05, y, 0.0])
    ankle = pc.Differential.ankle_2rsu("left", "right", "pitch", "roll", pins=pins, foot=ends)
    return pc.ClusterModel(tree, [ankle])


def check_derivatives(model: pc.ClusterModel, motion: trajectories.Trajectory, at: slice = slice(None)) -> None:
    """v and a are the derivatives of q, by central differences, and q is on the couplings."""
    time, q, v, a = motion.states(model)
    assert q.shape == (len(time), model.nq)
    assert v.shape == a.shape == (len(time), model.nv)
    assert max(np.abs(pc.residual(model, row)).max(initial=0.0) for row in q[::20]) < 1e-12
    dt, change = time[1] - time[0], np.abs(np.diff(a, axis=0)).max()
    for i in range(len(time))[1:-1][at]:
        step = pc.difference(model, q[i - 1], q[i + 1]) / (2.0 * dt)
        # the error of central differences is dt^2 / 6 times the jerk, which is change / dt
        assert np.abs(step - v[i]).max() < dt * change + 1e-9
        # no farther off than the acceleration changes from sample to sample (the jerk may jump)
        assert np.abs((v[i + 1] - v[i - 1]) / (2.0 * dt) - a[i]).max() < change
