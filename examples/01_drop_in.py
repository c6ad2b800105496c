"""An existing Pinocchio loop becomes exact: the model gets its motors, and ``pin.`` becomes ``pc.``.

An arm of six joints follows a reference by computed torque, in a simulation. Its motors are carried by the upper arm
and the shoulder, and the one that drives the wrist does so by a belt over the elbow. The usual script adds their
reflected inertia as armature; the exact one states where each motor is and what turns it.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

DT, STEPS = 1e-3, 1000
# joints over which the belt runs, gear ratios, axial inertia of the rotor [kg m^2], body that carries the motor
MOTORS = [
    (["shoulder2_joint"], [6.0], 6e-4, "shoulder1_joint"),
    (["elbow_joint"], [9.0], 2e-4, "shoulder3_joint"),
    (["elbow_joint", "wrist1_joint"], [12.0, 12.0], 1e-4, "shoulder3_joint"),
]


def reference(t: float, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration of the reference at time t [s], each of shape (nv,)."""
    phase = 2.0 * np.pi * t + np.arange(nv)
    w = 2.0 * np.pi
    return 0.5 * np.sin(phase), 0.5 * w * np.cos(phase), -0.5 * w * w * np.sin(phase)


def before(model: pin.Model) -> np.ndarray:
    """Run the loop with Pinocchio; returns the motor torques, shape (STEPS, nv)."""
    data = model.createData()
    q, v = pin.neutral(model), np.zeros(model.nv)
    log = np.zeros((STEPS, model.nv))
    for k in range(STEPS):
        q_ref, v_ref, a_ref = reference(k * DT, model.nv)
        a_wanted = a_ref + 40.0 * (v_ref - v) + 400.0 * (q_ref - q)
        log[k] = pin.rnea(model, data, q, v, a_wanted)
        a = pin.aba(model, data, q, v, log[k])
        v = v + DT * a
        q = pin.integrate(model, q, DT * v)
    return log


def after(model: pc.ClusterModel) -> np.ndarray:
    """Run the same loop with exact motors: only the prefix is another one."""
    data = model.createData()
    q, v = pc.neutral(model), np.zeros(model.nv)
    log = np.zeros((STEPS, model.nv))
    for k in range(STEPS):
        q_ref, v_ref, a_ref = reference(k * DT, model.nv)
        a_wanted = a_ref + 40.0 * (v_ref - v) + 400.0 * (q_ref - q)
        log[k] = pc.rnea(model, data, q, v, a_wanted)
        a = pc.aba(model, data, q, v, log[k])
        v = v + DT * a
        q = pc.integrate(model, q, DT * v)
    return log


def main() -> None:
    tree = pin.buildSampleModelManipulator()
    approximate = tree.copy()
    for joints, ratios, inertia, _ in MOTORS:
        for joint, ratio in zip(joints, ratios, strict=True):
            approximate.armature[approximate.joints[approximate.getJointId(joint)].idx_v] += ratio**2 * inertia
    rotors = [
        pc.Rotor(joints, ratios, axial_inertia=inertia, carrier=carrier, axis=(0, 1, 0))
        for joints, ratios, inertia, carrier in MOTORS
    ]
    exact = pc.ClusterModel(tree, rotors)

    with_armature, with_motors = before(approximate), after(exact)
    print("largest torque and RMS error of the armature approximation [N m]")
    for i, joint in enumerate(exact.independent_joints):
        peak = np.abs(with_motors[:, i]).max()
        error = np.sqrt(np.mean((with_armature[:, i] - with_motors[:, i]) ** 2))
        print(f"  {joint:16s} {peak:8.3f} {error:8.3f}   {100 * error / peak:5.1f} %")


if __name__ == "__main__":
    main()
