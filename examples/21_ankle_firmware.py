"""Compute the firmware functions of a parallel ankle, from pitch and roll commands to motor torques.

The script compares two published ankles with two cranks: Unitree's G1, whose motors turn about the x axis, and
TienKung, whose motors turn about y. `pc.MotorSpace` provides maps, gains, limits and the error of the static map. Run
`python examples/21_ankle_firmware.py --c FOLDER` to export the same functions as C code. The lengths come from
github.com/feidedao/Parallel_Ankle_Joint (2_g1_ankle/urdf/23urdf311.xml, 5_tiangong/urdf/TG10-00.xml). According to this
repository, the lengths may differ from the real robots, and the inertias do. The masses of foot and cranks are similar
to this source. Both ankles have the motor inertia on the cranks (0.00361 kg m^2) and the torque (25 N m) of the 5020
motor of the G1 in github.com/mujocolab/mjlab (unitree_g1/g1_constants.py).
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import pin_clusters as pc

MOTOR_INERTIA, TORQUE, SPEED = 0.00361, 25.0, 37.0  # [kg m^2], [N m], [rad/s]: motor at a crank, after its gear
KP, KD = np.array([40.0, 20.0]), np.array([1.0, 0.5])  # gains at pitch and roll


class Ankle(NamedTuple):
    """Lengths [m] in shank axes at zero angles; pitch turns about y through the origin, roll about x through `roll`."""

    roll: tuple[float, float, float]  # position of the roll axis
    axis: tuple[float, float, float]  # axis of the cranks
    cranks: tuple[tuple[float, float, float], ...]  # centres of the cranks
    pins: tuple[tuple[float, float, float], ...]  # rod pins relative to the centres
    foot: tuple[tuple[float, float, float], ...]  # rod ends relative to the roll axis
    region: tuple[tuple[float, float], ...]  # ranges of pitch and roll [rad]
    mass: float  # mass of the foot [kg]


TILT = 2.0 * np.arcsin(0.18661)  # angle of TienKung's cranks about y
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
    """Return a fixed shank with foot, cranks and rods."""
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
    """Return the assembly mode: for each crank, the side of the rod end on which the pin is, 1 or -1."""
    sides = [
        np.cross(np.add(a.roll, end) - place, at) @ np.array(a.axis)
        for place, at, end in zip(a.cranks, a.pins, a.foot, strict=True)
    ]
    return [1 if s > 0.0 else -1 for s in sides]


def firmware(space: pc.MotorSpace, theta: np.ndarray, w: np.ndarray, command: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return motor and joint torques for a joint command (x, v, tau); scale motor torques down to their limit."""
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
    """Print and return the numbers that the firmware of each ankle needs."""
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
        print(f"{name}: pitch 0.3 and roll 0.1 rad correspond to crank angles {np.round(space.inverse(x), 4)} rad")
        print(f"  joint gains {KP} N m/rad correspond to the motor gains\n{np.round(gains.stiffness, 2)}")
        alone, lost = np.round(gains.diagonal_stiffness, 2), 100.0 * gains.lost_stiffness
        print(f"  diagonal motor gains {alone} have an error of {lost:.0f} % at the joints")
        print(
            f"  a command of {np.round(wanted, 1)} N m needs motor torques {np.round(motor, 1)} N m, limit {TORQUE:g}"
        )
        print(
            f"  safe in the whole region: {np.round(safe[0], 1)} N m and {np.round(safe[1], 1)} rad/s at pitch and roll"
        )
        for hertz, e in errors.items():
            print(f"  error of the static map, swing at {hertz} Hz: {e.rms:.0f} % RMS, {e.worst:.0f} % largest")
        print(f"  error in stance, 30 N m at pitch, 1 Hz: {standing.rms:.0f} % RMS, {standing.worst:.0f} % largest")
        if folder is not None:
            exported = pc.codegen.export(model, f"{folder}/{model.name}", space.programs, name=f"{model.name}_ankle")
            print(f"  C code: {f'{folder}/{model.name}/{exported.name}.c'}")
        found[name] = {
            "space": space, "gains": gains, "errors": errors, "safe": safe, "motor": motor,
            "polygons": {p: space.torque_polygon(np.array([p, 0.0]), limits) for p in (-0.5, 0.0, 0.4)},
        }  # fmt: skip
    return found


if __name__ == "__main__":
    main(sys.argv[2] if sys.argv[1:2] == ["--c"] and len(sys.argv) > 2 else None)
