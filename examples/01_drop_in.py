"""Port a Pinocchio control loop to exact rotors: add the motors to the model, and replace ``pin.`` by ``pc.``.

A simulated leg tracks a reference with computed-torque control. The usual script adds the reflected inertia of the
motors as armature. The exact script lists the joints that turn each motor. The knee and ankle motors are in the thigh
and drive belts, so the ankle motor also turns with the knee.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

DT, STEPS = 1e-3, 1000
# joints, gear ratios, axial inertia of the rotor [kg m^2]; the motor is on the parent link of the first joint
MOTORS = [
    (["hip_rz"], [6.0], 1.6841e-4),
    (["hip_rx"], [6.0], 1.6841e-4),
    (["hip_ry"], [6.0], 5.548e-4),
    (["knee"], [12.0], 5.548e-4),
    (["knee", "ankle"], [12.0, 12.0], 1.6841e-4),
]


def reference(t: float, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration of the reference at time t [s], each of shape (nv,)."""
    w = 2.0 * np.pi * 1.5
    one = np.ones(nv)
    return 0.5 * np.sin(w * t) * one, 0.5 * w * np.cos(w * t) * one, -0.5 * w * w * np.sin(w * t) * one


def before(model: pin.Model) -> np.ndarray:
    """Run the loop with Pinocchio and return the joint torques, shape (STEPS, nv)."""
    data = model.createData()
    q, v = pin.neutral(model), reference(0.0, model.nv)[1]
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
    """Run the same loop with exact rotors; only the prefix differs."""
    data = model.createData()
    q, v = pc.neutral(model), reference(0.0, model.nv)[1]
    log = np.zeros((STEPS, model.nv))
    for k in range(STEPS):
        q_ref, v_ref, a_ref = reference(k * DT, model.nv)
        a_wanted = a_ref + 40.0 * (v_ref - v) + 400.0 * (q_ref - q)
        log[k] = pc.rnea(model, data, q, v, a_wanted)
        a = pc.aba(model, data, q, v, log[k])
        v = v + DT * a
        q = pc.integrate(model, q, DT * v)
    return log


def main() -> dict[str, np.ndarray]:
    # replace this tree, five links with locked motors, by your own pin.Model
    tree = pc.baselines.armature_model(pc.load("mit_humanoid_leg", root_joint=None), "none")

    approximate = tree.copy()
    for joints, ratios, inertia in MOTORS:
        for joint, ratio in zip(joints, ratios, strict=True):
            approximate.armature[approximate.joints[approximate.getJointId(joint)].idx_v] += ratio**2 * inertia
    exact = pc.ClusterModel(tree, [pc.Rotor(joints, ratios, axial_inertia=j) for joints, ratios, j in MOTORS])

    with_armature, with_motors = before(approximate), after(exact)
    print("largest exact torque and RMS error of the armature approximation [N m]")
    for i, joint in enumerate(exact.independent_joints):
        peak = np.abs(with_motors[:, i]).max()
        error = np.sqrt(np.mean((with_armature[:, i] - with_motors[:, i]) ** 2))
        print(f"  {joint:8s} {peak:8.3f} {error:8.3f}   {100 * error / peak:5.1f} %")
    assert error > 0.2 * peak  # the last joint is the ankle
    return {"armature": with_armature, "exact": with_motors}


if __name__ == "__main__":
    main()
