"""Compute the landing impulse of a humanoid, which depends mostly on its rotors and belts.

An impact is instantaneous, so only inertia resists it. Rigid transmissions spin up the rotors at once. Each rotor adds
its inertia times its squared gear ratio; at knee and ankle, this term exceeds the inertia of the links below. Armature
adds this term to the diagonal of the mass matrix, but ignores two couplings: belts couple the motor of the ankle to
knee and ankle, and every rotor moves with the body that carries it. Here the MIT Humanoid falls upright, and its toes
or heels stop without slip and rebound.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

SPEED, BEND, AXES = 1.0, 0.8, pin.LOCAL_WORLD_ALIGNED  # speed of the fall [m/s], knee angle [rad], -
POINTS = {"toes": np.array([0.1, 0.0, -0.041]), "heels": np.array([-0.05, 0.0, -0.041])}  # in the frame of the foot [m]
BENDS, SCALES = np.linspace(0.1, 1.6, 16), np.linspace(0.1, 1.5, 15)  # knee angles [rad]; factors of all ratios
FEET, SHOWN = ("left_ankle", "right_ankle"), ("left_ankle_rotor", "left_knee_rotor", "left_hip_ry_rotor")


def humanoid(scale: float = 1.0) -> tuple[pc.ClusterModel, pin.Model]:
    """Return the robot with scaled gear ratios, and its tree with locked rotors."""
    shipped = pc.load("mit_humanoid")
    tree, rotors = pc.baselines.armature_model(shipped, "none"), []
    names = {shipped.joint_idx_v(name): name for name in shipped.independent_joints}
    for r in shipped.rotors:
        driven = r.row.nonzero()[0]
        joints, where = [names[i] for i in driven], {"carrier": r.carrier, "axis": r.axis, "name": r.name}
        rotors.append(pc.Rotor(joints, scale * r.row[driven], axial_inertia=r.axial_inertia, **where))
    return pc.ClusterModel(tree, rotors), tree


def land(lib: ModuleType, model: Any, q: np.ndarray, v: np.ndarray, point: str) -> tuple[np.ndarray, ...]:
    """Return velocities after the impact, impulses of the feet [N s], and the contact Jacobian."""
    data, kind, place = model.createData(), pin.ContactType.CONTACT_3D, pin.SE3(np.eye(3), POINTS[point])
    models = [lib.RigidConstraintModel(kind, model, model.getJointId(foot), place, AXES) for foot in FEET]
    datas = [contact.createData() for contact in models]
    lib.initConstraintDynamics(model, data, models, datas)
    after = lib.impulseDynamics(model, data, q, v, models, datas)
    lib.computeJointJacobians(model, data, q)
    impulses = np.array([d.contact_force.linear for d in datas])
    return after, impulses, lib.getConstraintsJacobian(model, data, models, datas)


def compare(exact: pc.ClusterModel, tree: pin.Model, bend: float, point: str) -> dict[str, tuple[np.ndarray, ...]]:
    """Return velocities and impulses of a landing for the exact robot and for three approximations."""
    bent, before, data = np.zeros(exact.nv), np.zeros(exact.nv), exact.createData()
    for foot in FEET:
        for joint, angle in (("hip_ry", -bend / 2), ("knee", bend), ("ankle", -bend / 2)):
            bent[exact.joint_idx_v(foot.replace("ankle", joint))] = angle
    q, before[2] = pc.integrate(exact, pc.neutral(exact), bent), -SPEED
    after, impulses, J = land(pc, exact, q, before, point)
    spin = sum(r.axial_inertia * np.outer(r.row, r.row) for r in exact.rotors)  # armature is its diagonal
    response = np.linalg.solve(pin.crba(tree, tree.createData(), q) + spin, J.T)
    belts = np.linalg.solve(J @ response, -J @ before)
    # check that the impulses equal the change of momentum, and that they dissipate the correct energy
    changes = [pc.computeCentroidalMomentum(exact, data, q, v).vector.copy() for v in (before, after)]
    arms = [data.oMi[exact.getJointId(foot)].act(POINTS[point]) - data.com[0] for foot in FEET]
    given = np.concatenate([impulses.sum(axis=0), np.cross(arms, impulses).sum(axis=0)])
    first, last = (pc.computeKineticEnergy(exact, data, q, v) for v in (before, after))
    assert np.abs(changes[1] - changes[0] - given).max() < 1e-10
    assert abs(first - last - impulses[:, 2].sum() * SPEED / 2) < 1e-10
    rough, locked = (land(pin, m, q, before, point)[:2] for m in (pc.baselines.armature_model(exact), tree))
    with_belts = before + response @ belts, belts.reshape(2, 3)
    return {"exact": (after, impulses), "armature": rough, "armature and belts": with_belts, "no spin": locked}


def upward(exact: pc.ClusterModel, tree: pin.Model, bend: float, point: str) -> np.ndarray:
    """Return the upward impulse of a landing for each model [N s]."""
    return np.array([impulses[:, 2].sum() for _, impulses in compare(exact, tree, bend, point).values()])


def main() -> dict[str, np.ndarray]:
    """Compare landings; return upward impulses [N s] with one row per angle or scale, and one column per model."""
    exact, tree = humanoid()
    speeds = np.array([r.row for r in exact.rotors if r.name in SHOWN])
    print(f"{pin.computeTotalMass(tree):.1f} kg at {SPEED} m/s, knees bent by {BEND} rad: upward impulse [N s]")
    for point in POINTS:
        found, up = compare(exact, tree, BEND, point), upward(exact, tree, BEND, point)
        words = [f", {name} {x:.3f} ({x / up[0] - 1:+.1%})" for name, x in zip(found, up, strict=True)]
        print(f"  {point}: {up[0]:.3f}, of which {1 - up[3] / up[0]:.1%} spin up rotors{''.join(words[1:3])}")
        motors = [f"{name} {np.round(speeds @ found[name][0], 1)}" for name in ("exact", "armature")]
        print("    left ankle, knee and hip motors after impact [rad/s]:", ", ".join(motors))
        assert abs(up[1] - up[0]) > 3 * abs(up[2] - up[0])  # the belts cause most of the error of armature
    swept = {point: np.array([upward(exact, tree, bend, point) for bend in BENDS]) for point in POINTS}
    return swept | {"scaled": np.array([upward(*humanoid(scale), BEND, "toes") for scale in SCALES])}


if __name__ == "__main__":
    main()
