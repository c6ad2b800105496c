"""What the firmware of a parallel ankle has to do: from a command at pitch and roll to motors, and what it may ask for.

Two public ankles with two cranks: that of Unitree's G1, whose motors turn about the x axis, and that of TienKung, whose
motors turn about y. `pc.MotorSpace` has the maps, gains, limits and the error of the static map; the same functions go
to C: `python examples/21_ankle_firmware.py --c FOLDER`. Lengths are of github.com/feidedao/Parallel_Ankle_Joint
(2_g1_ankle/urdf/23urdf311.xml, 5_tiangong/urdf/TG10-00.xml), whose author says that they may differ from the makers',
and that inertias do; foot and cranks weigh here about what they do there. The motors' inertia on the cranks (0.00361 kg
m^2) and torque (25 N m) are those of the G1's 5020 in github.com/mujocolab/mjlab (unitree_g1/g1_constants.py), for
both.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import pin_clusters as pc

MOTOR_INERTIA, TORQUE, SPEED = 0.00361, 25.0, 37.0  # [kg m^2], [N m], [rad/s]: of a crank's motor, behind its gear
KP, KD = np.array([40.0, 20.0]), np.array([1.0, 0.5])  # asked for at pitch and roll


class Ankle(NamedTuple):
    """Lengths [m] in axes of the shank at zero: pitch about y at the origin, roll about x below it."""

    roll: tuple[float, float, float]  # where its axis is
    axis: tuple[float, float, float]  # of the cranks
    cranks: tuple[tuple[float, float, float], ...]  # where they turn
    pins: tuple[tuple[float, float, float], ...]  # from there
    foot: tuple[tuple[float, float, float], ...]  # ends of the rods, from the axis of roll
    region: tuple[tuple[float, float], ...]  # of pitch and roll [rad]
    mass: float  # of the foot [kg]


TILT = 2.0 * np.arcsin(0.18661)  # of TienKung's cranks, about y
BACK = (-0.06 * np.cos(TILT), 0.0, 0.06 * np.sin(TILT))
ANKLES = {
    "G1": Ankle(
        (0.0, 0.0, -0.017558), (1.0, 0.0, 0.0), ((0.022, 0.0, 0.15087), (0.022, 0.0, 0.21587)),
        ((0.013, 0.016529, -0.0039746), (0.0175, -0.016359, -0.0046245)),
        ((0.022, 0.015, 0.008), (0.022, -0.015, 0.008)), ((-0.4, 0.3), (-0.2, 0.2)), 0.30033,
    ),
    "TienKung": Ankle(
        (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), ((0.0, 0.043252, 0.215), (0.0, -0.043247, 0.14)), (BACK, BACK),
        ((-0.055821, 0.04325, 0.022), (-0.055821, -0.04325, 0.022)), ((-0.5, 0.4), (-0.35, 0.35)), 0.27084,
    ),
}  # fmt: skip


def build(name: str, a: Ankle) -> pc.ClusterModel:
    """Return a shank that hangs still, with foot, cranks and rods."""
    tree, turns = pin.Model(), pin.JointModelRX() if a.axis[0] else pin.JointModelRY()
    tree.name = name.lower()
    for i, place in enumerate(a.cranks, start=1):
        j = tree.addJoint(0, turns, pin.SE3(np.eye(3), np.array(place)), f"crank_{i}")
        tree.appendBodyToJoint(
            j, pin.Inertia(0.012, 0.3 * np.array(a.pins[i - 1]), 2e-6 * np.eye(3)), pin.SE3.Identity()
        )
    pitch = tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "pitch")
    tree.appendBodyToJoint(pitch, pin.Inertia(0.015, np.zeros(3), 2e-6 * np.eye(3)), pin.SE3.Identity())
    roll = tree.addJoint(pitch, pin.JointModelRX(), pin.SE3(np.eye(3), np.array(a.roll)), "roll")
    inertia = np.diag([2e-4, 1e-3, 1e-3])
    tree.appendBodyToJoint(roll, pin.Inertia(a.mass, np.array([0.03, 0.0, -0.025]), inertia), pin.SE3.Identity())
    tree.armature = np.array([MOTOR_INERTIA, MOTOR_INERTIA, 0.0, 0.0])
    ankle = pc.Differential.ankle_2rsu(
        "crank_1", "crank_2", "pitch", "roll", pins=list(a.pins), foot=list(a.foot), branch=branch(a)
    )
    return pc.ClusterModel(tree, [ankle])


def branch(a: Ankle) -> list[int]:
    """Return on which side of the rod's end on the foot each pin is, about the axis of its crank."""
    sides = [
        np.cross(np.add(a.roll, end) - place, at) @ np.array(a.axis)
        for place, at, end in zip(a.cranks, a.pins, a.foot, strict=True)
    ]
    return [1 if s > 0.0 else -1 for s in sides]


def firmware(space: pc.MotorSpace, theta: np.ndarray, w: np.ndarray, command: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return torques of motors, and of joints, for a command (x, v, tau) of joints: cut so that its direction stays."""
    x_wanted, v_wanted, tau = command
    x = space.forward(theta)
    tau = tau + KP * (x_wanted - x) + KD * (v_wanted - space.joint_velocity(x, w))
    motor = space.motor_torque(x, tau)
    return motor / max(1.0, np.abs(motor).max() / TORQUE), tau


def gait(a: Ankle, t: np.ndarray, hertz: float) -> np.ndarray:
    """Return pitch and roll of a swinging foot."""
    phase = 2.0 * np.pi * hertz * t
    return np.stack([0.25 * np.sin(phase) - 0.05, 0.5 * a.region[1][1] * np.sin(2.0 * phase + 0.4)], axis=1)


def main(folder: str | None = None) -> dict[str, dict[str, Any]]:
    """Print what the firmware has to know of each ankle; returns the numbers."""
    found: dict[str, dict[str, Any]] = {}
    limits, speeds = np.full(2, TORQUE), np.full(2, SPEED)
    for name, a in ANKLES.items():
        model = build(name, a)
        space = pc.MotorSpace(model, ["pitch", "roll"], ["crank_1", "crank_2"], region=a.region)
        x, tau = np.array([0.3, 0.1]), np.array([15.0, 2.0])
        gains = space.joint_to_motor_gains(x, KP, KD, tau)
        motor, wanted = firmware(space, space.inverse(x), np.zeros(2), (x + np.array([0.5, 0.2]), np.zeros(2), tau))
        t = np.linspace(0.0, 2.0, 401)
        errors = {hertz: space.static_map_error(t, gait(a, t, hertz)) for hertz in (0.5, 1.0, 2.0)}
        standing = space.static_map_error(t, gait(a, t, 1.0), tau=np.tile([30.0, 3.0], (len(t), 1)))
        safe = space.safe_limits(None, limits), space.safe_limits(None, speeds, speed=True)
        print(f"{name}: pitch 0.3, roll 0.1 rad are cranks at {np.round(space.inverse(x), 4)} rad")
        print(f"  gains {KP} N m/rad at the joints are, at the motors,\n{np.round(gains.stiffness, 2)}")
        alone, lost = np.round(gains.diagonal_stiffness, 2), 100.0 * gains.lost_stiffness
        print(f"  or {alone} alone, which is {lost:.0f} % off at the joints")
        print(
            f"  a command of {np.round(wanted, 1)} N m is {np.round(motor, 1)} N m at the motors, of at most {TORQUE:g}"
        )
        print(
            f"  safe all over the region: {np.round(safe[0], 1)} N m and {np.round(safe[1], 1)} rad/s at pitch and roll"
        )
        for hertz, e in errors.items():
            print(f"  the static map, swinging at {hertz} Hz: {e.rms:.0f} % off (rms), {e.worst:.0f} % at worst")
        print(
            f"  at 1 Hz with 30 N m of the ground at pitch: {standing.rms:.0f} % off, {standing.worst:.0f} % at worst"
        )
        if folder is not None:
            exported = pc.codegen.export(model, f"{folder}/{model.name}", space.programs, name=f"{model.name}_ankle")
            print(f"  in C: {f'{folder}/{model.name}/{exported.name}.c'}")
        found[name] = {
            "space": space, "gains": gains, "errors": errors, "safe": safe, "motor": motor,
            "polygons": {p: space.torque_polygon(np.array([p, 0.0]), limits) for p in (-0.5, 0.0, 0.4)},
        }  # fmt: skip
    return found


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--c"] and len(sys.argv) > 2 else None)
