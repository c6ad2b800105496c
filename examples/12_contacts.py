"""Port a quadruped script with contacts and touch-downs from Pinocchio; only the prefix changes.

The Mini Cheetah stands, trots two steps in place and stands again. Stance forces hold the trunk, and a PD controller
moves the legs. `script(lib, model)` runs with `pin` on the robot with armature, and with `pc` on the exact robot. The
contacts are Pinocchio's bilateral constraints. A schedule activates them; there is no collision detection.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

DT, LEGS, FOOT = 1e-3, ("FL", "FR", "HL", "HR"), np.array([0.0, 0.0, -0.195])  # [s], -, position in the shank [m]
MOTORS, ROTOR = {"abad": 6.0, "hip": 6.0, "knee": 9.33}, 6.3e-5  # gear ratios; rotor inertia [kg m^2]
ALL, PAIRS, STAND, SWING = (0, 1, 2, 3), ((0, 3), (1, 2)), 100, 150  # legs; diagonal pairs; steps on four, on two feet
STANCE = [s for pair in PAIRS for s in [ALL] * STAND + [pair] * SWING] + [ALL] * STAND  # stance legs of each step
BENT, LIFT = [0.0, -0.8, 1.6], np.array([0.0, -0.08, 0.16])  # stance pose; swing offset, times 27/4 x^2 (1-x) [rad]
KP, KD, TRUNK_P, TRUNK_D = 60.0, 0.6, 200.0, 10.0  # joints [N m/rad, N m s/rad], trunk [1/s^2, 1/s]


def script(lib: ModuleType, model: Any, states: Any = None) -> dict[str, np.ndarray]:
    """Return states, accelerations, contact forces [N] and impulses [N s]; `states` replace the simulated states."""
    data, axes = model.createData(), pin.LOCAL_WORLD_ALIGNED
    feet = [model.getFrameId(f"{leg}_tip") for leg in LEGS]
    places = [(model.frames[i].parentJoint, model.frames[i].placement, axes) for i in feet]
    models = [lib.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *place) for place in places]
    datas = [contact.createData() for contact in models]
    home = q = lib.integrate(model, lib.neutral(model), np.concatenate([np.zeros(6), *[BENT] * 4]))
    v, stance, start, log = np.zeros(model.nv), (), 0, []
    for k, down in enumerate(STANCE):
        q, v = (q, v) if states is None else (states["q"][k], states["v"][k])
        before, force, impulse = v, np.zeros((4, 3)), np.zeros((4, 3))
        if down != stance:
            landing, stance, start = len(down) > len(stance) > 0, down, k
            contacts, results = [models[i] for i in stance], [datas[i] for i in stance]
            lib.initConstraintDynamics(model, data, contacts, results)
            if landing:
                v = lib.impulseDynamics(model, data, q, v, contacts, results)
                impulse[list(stance)] = [d.contact_force.linear for d in results]
        # swing legs rise slowly and land at 1 m/s
        x, offset, rate = (k - start) / SWING, np.zeros((4, 3)), np.zeros((4, 3))
        for i in set(ALL) - set(stance):
            offset[i], rate[i] = 27 / 4 * x**2 * (1 - x) * LIFT, 27 / 4 * (2 * x - 3 * x**2) / (SWING * DT) * LIFT
        wanted = lib.integrate(model, home, np.concatenate([np.zeros(6), *offset]))
        # contact forces that hold the trunk, and the joint torques that produce them
        J = np.vstack([lib.computeFrameJacobian(model, data, q, feet[i], axes)[:3] for i in stance])
        gravity, M = lib.computeGeneralizedGravity(model, data, q), lib.crba(model, data, q)
        pull = TRUNK_P * lib.difference(model, q, home)[:6] - TRUNK_D * v[:6]
        hold = np.linalg.lstsq(J[:, :6].T, gravity[:6] + np.diag(M)[:6] * pull, rcond=None)[0]
        tau = gravity - J.T @ hold + KP * lib.difference(model, q, wanted) - KD * v
        tau[:6], tau[6:] = 0.0, tau[6:] + KD * rate.ravel()
        a = lib.constraintDynamics(model, data, q, v, tau, contacts, results)
        force[list(stance)] = [d.contact_force.linear for d in results]
        log.append((q, before, a, force, impulse))
        v = v + DT * a
        q = lib.integrate(model, q, DT * v)
    return {name: np.array([row[i] for row in log]) for i, name in enumerate(("q", "v", "a", "force", "impulse"))}


def main() -> dict[str, dict[str, np.ndarray]]:
    """Run the script four times; return the runs: exact, with armature, and with armature at the exact states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # the published hip inertias are not physical
        tree = pc.baselines.armature_model(pc.load("mini_cheetah"), "none")  # replace by your own pin.Model
        for leg in LEGS:
            shank, place = tree.getJointId(f"{leg}_knee"), pin.SE3(np.eye(3), FOOT)
            tree.addFrame(pin.Frame(f"{leg}_tip", shank, place, pin.OP_FRAME))
        rotors = [pc.Rotor(f"{leg}_{j}", ratio, axial_inertia=ROTOR) for leg in LEGS for j, ratio in MOTORS.items()]
        exact = pc.ClusterModel(tree, rotors)
        rough = pc.baselines.armature_model(exact)
    found = {"exact": script(pc, exact), "armature": script(pin, rough)}
    same = script(pc, pc.ClusterModel(rough))  # without rotors, both libraries solve the same equations
    miss = max(np.abs(x - found["armature"][k]).max() / np.abs(x).max() for k, x in same.items())
    print(f"{len(STANCE)} steps of the robot with armature: both libraries agree to {miss:.0e}")
    assert miss < 1e-9
    found["there"] = script(pin, rough, found["exact"])
    swings, lands = np.array([len(s) == 2 for s in STANCE]), found["exact"]["impulse"].any(axis=(1, 2))
    print("RMS error of armature over RMS:                at the exact states  in a separate run")
    names = ("joint accelerations during swing", "contact forces during swing", "touch-down impulses")
    for name, key, rows in zip(names, ("a", "force", "impulse"), (swings, swings, lands), strict=True):
        x, *others = (found[run][key][rows][:, 6 * (key == "a") :] for run in ("exact", "there", "armature"))
        errors = [100 * np.linalg.norm(y - x) / np.linalg.norm(x) for y in others]
        print(f"  {name:44}{errors[0]:15.2f} % {errors[1]:18.2f} %")
    assert errors[0] > 5.0
    return found


if __name__ == "__main__":
    main()
