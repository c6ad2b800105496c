"""Audit a Unitree G1: add rotors from published motor data to its URDF, and check whether armature is accurate enough.

The URDF comes from example-robot-data (BSD-3, from unitree_ros) and has no rotors. The motor data are:

- Published in `g1_constants.py` of mjlab ("from Unitree"; github.com/mujocolab/mjlab, Apache-2.0): rotor inertias,
  tooth numbers and positions of the four motor types. The motor shaft and both outputs of the planetary stages turn, so
  each motor has three rotors. The script checks the armature of these rotors against the published armature.
- Assumed: a rotor is mounted on the parent link of its joint, turns about the joint axis, and is included in the link
  mass. Two motors drive each ankle and the waist by rods. The script models them as a differential with both motors
  about the pitch axis: pitch is the mean of the motor angles, roll half of their difference. mjlab makes the same
  assumption and doubles the armature.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters.studies import audit

URDF = "share/example-robot-data/robots/g1_description/urdf/g1_29dof_rev_1_0.urdf"
# inertia of rotor, carrier of the first stage, output [kg m^2]; ratios of both stages; published armature [kg m^2]
MOTORS = {
    "5020": ((0.139e-4, 0.017e-4, 0.169e-4), (1 + 46 / 18, 1 + 56 / 16), 0.003609725),
    "7520-14": ((0.489e-4, 0.098e-4, 0.533e-4), (4.5, 1 + 48 / 22), 0.010177520),
    "7520-22": ((0.489e-4, 0.109e-4, 0.738e-4), (4.5, 5.0), 0.025101925),
    "4010": ((0.068e-4, 0.0, 0.0), (5.0, 5.0), 0.00425),
}
JOINTS = {  # joints with one motor each
    "5020": ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll"),
    "7520-14": ("hip_pitch", "hip_yaw", "waist_yaw"),
    "7520-22": ("hip_roll", "knee"),
    "4010": ("wrist_pitch", "wrist_yaw"),
}
PAIRS = {"left_ankle": "left_knee_joint", "right_ankle": "right_knee_joint", "waist": "waist_yaw_joint"}  # two 5020


def rotors(motor: str, joints: list[str], signs: list[float], **where: object) -> list[pc.Rotor]:
    """Return the three rotors of a motor; the signs are the directions in which it turns with each joint."""
    inertias, (first, second), _ = MOTORS[motor]
    stages = [(J, n) for J, n in zip(inertias, (first * second, second, 1.0), strict=True) if J > 0.0]
    names = [f"{motor} {'+' if signs[-1] > 0 else '-'}{'+'.join(joints)} x{n:.1f}" for _, n in stages]
    return [
        pc.Rotor(joints, [n * s for s in signs], axial_inertia=J, name=name, **where)
        for name, (J, n) in zip(names, stages, strict=True)
    ]


def g1() -> pc.ClusterModel:
    """Return the G1 with its motors and a fixed pelvis."""
    tree = pin.buildModelFromUrdf(str(Path(pin.__file__).parents[4] / URDF))
    tree.name = "g1"
    found = []
    for motor, kinds in JOINTS.items():
        for joint in tree.names[1:]:
            if joint.endswith(tuple(f"{kind}_joint" for kind in kinds)):
                found += rotors(motor, [joint], [1.0])
    for part, carrier in PAIRS.items():
        for sign in (1.0, -1.0):
            both = [f"{part}_pitch_joint", f"{part}_roll_joint"]
            found += rotors("5020", both, [1.0, sign], carrier=carrier, axis=(0.0, 1.0, 0.0))
    return pc.ClusterModel(tree, found)


def main() -> audit.AuditResult:
    """Audit the robot along a sine, write the page, and return the result."""
    model = g1()
    print(f"{model.name}: {model.nv} joints, {len(model.rotors)} rotors without additional bodies or coordinates")
    result = audit.run(model, duration=2.0, dt=2e-3)
    for motor, kinds in JOINTS.items():
        joint = next(j for j in model.independent_joints if j.endswith(f"{kinds[-1]}_joint"))
        here, published = result.reflected.armature[joint], MOTORS[motor][2]
        print(f"  {motor:8s} reflects {here:.6f} kg m^2, published {published:.6f}")
        assert np.isclose(here, published, rtol=1e-6)
    assert np.isclose(result.reflected.armature["left_ankle_roll_joint"], 2 * MOTORS["5020"][2], rtol=1e-6)
    lines = [line.sentence for line in result.verdict.lines.values()]
    for line in (result.verdict.sentence, *lines, result.verdict.advice):
        print(line)
    torque = result.verdict.torque
    assert torque.enough
    assert torque.worst["none"].percent > 10 * torque.threshold  # the error without armature is far too large
    page, _ = audit.write(result, "audit_g1")
    print(f"page: {page}")
    return result


if __name__ == "__main__":
    main()
