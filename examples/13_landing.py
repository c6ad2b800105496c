"""A humanoid lands, and how hard the ground hits it is decided by its rotors and by the belts between them.

An impact lasts no time, so that only inertia resists it. Rigid transmissions spin the rotors up at once, and what one
adds is its inertia times the square of its ratio: at knee and ankle more than the links below have. Armature has that
on the diagonal of the mass matrix, and lacks two couplings. The motor of the ankle sits in the thigh and turns by belts
with knee and ankle, which ties these together. And every rotor is carried round by the body that it sits in. Here the
MIT Humanoid falls upright, and its toes, or its heels, stop at once and do not slip.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc

SPEED, BEND, AXES = 1.0, 0.8, pin.LOCAL_WORLD_ALIGNED  # of the fall [m/s], of knees if nothing else is said [rad], -
POINTS = {"toes": np.array([0.1, 0.0, -0.041]), "heels": np.array([-0.05, 0.0, -0.041])}  # in the foot's frame [m]
BENDS, SCALES = np.linspace(0.1, 1.6, 16), np.linspace(0.1, 1.5, 15)  # of the knees [rad]; of all ratios
FEET, SHOWN = ("left_ankle", "right_ankle"), ("left_ankle_rotor", "left_knee_rotor", "left_hip_ry_rotor")


def humanoid(scale: float = 1.0) -> tuple[pc.ClusterModel, pin.Model]:
    """Return the robot with all ratios scaled, and its tree, in which every rotor is locked."""
    shipped = pc.load("mit_humanoid")
    tree, rotors = pc.baselines.armature_model(shipped, "none"), []
    names = {shipped.joint_idx_v(name): name for name in shipped.independent_joints}
    for r in shipped.rotors:
        driven = r.row.nonzero()[0]
        joints, where = [names[i] for i in driven], {"carrier": r.carrier, "axis": r.axis, "name": r.name}
        rotors.append(pc.Rotor(joints, scale * r.row[driven], axial_inertia=r.axial_inertia, **where))
    return pc.ClusterModel(tree, rotors), tree


def land(lib: ModuleType, model: Any, q: np.ndarray, v: np.ndarray, point: str) -> tuple[np.ndarray, ...]:
    """Return velocities after the impact, impulses of the feet [N s], and the rows of the contacts."""
    data, kind, place = model.createData(), pin.ContactType.CONTACT_3D, pin.SE3(np.eye(3), POINTS[point])
    models = [lib.RigidConstraintModel(kind, model, model.getJointId(foot), place, AXES) for foot in FEET]
    datas = [contact.createData() for contact in models]
    lib.initConstraintDynamics(model, data, models, datas)
    after = lib.impulseDynamics(model, data, q, v, models, datas)
    lib.computeJointJacobians(model, data, q)
    impulses = np.array([d.contact_force.linear for d in datas])
    return after, impulses, lib.getConstraintsJacobian(model, data, models, datas)


def compare(exact: pc.ClusterModel, tree: pin.Model, bend: float, point: str) -> dict[str, tuple[np.ndarray, ...]]:
    """Return velocities and impulses of a landing: exact, and by mass matrices that lack something."""
    bent, before, data = np.zeros(exact.nv), np.zeros(exact.nv), exact.createData()
    for foot in FEET:
        for joint, angle in (("hip_ry", -bend / 2), ("knee", bend), ("ankle", -bend / 2)):
            bent[exact.joint_idx_v(foot.replace("ankle", joint))] = angle
    q, before[2] = pc.integrate(exact, pc.neutral(exact), bent), -SPEED
    after, impulses, J = land(pc, exact, q, before, point)
    spin = sum(r.axial_inertia * np.outer(r.row, r.row) for r in exact.rotors)  # armature is its diagonal
    response = np.linalg.solve(pin.crba(tree, tree.createData(), q) + spin, J.T)
    belts = np.linalg.solve(J @ response, -J @ before)
    # two laws: the ground's impulses and their moments are the change of momentum, and they take this energy
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
    """Return the upward impulses of a landing by all models [N s]."""
    return np.array([impulses[:, 2].sum() for _, impulses in compare(exact, tree, bend, point).values()])


def main() -> dict[str, np.ndarray]:
    """Compare landings; returns upward impulses [N s]: a row per angle or scale, a column per model."""
    exact, tree = humanoid()
    speeds = np.array([r.row for r in exact.rotors if r.name in SHOWN])
    print(f"{pin.computeTotalMass(tree):.1f} kg at {SPEED} m/s, knees bent by {BEND} rad: upward impulse [N s]")
    for point in POINTS:
        found, up = compare(exact, tree, BEND, point), upward(exact, tree, BEND, point)
        words = [f", {name} {x:.3f} ({x / up[0] - 1:+.1%})" for name, x in zip(found, up, strict=True)]
        print(f"  {point}: {up[0]:.3f}, of which {1 - up[3] / up[0]:.1%} by spin of rotors{''.join(words[1:3])}")
        motors = [f"{name} {np.round(speeds @ found[name][0], 1)}" for name in ("exact", "armature")]
        print("    motors of left ankle, knee and hip right after it [rad/s]:", ", ".join(motors))
        assert abs(up[1] - up[0]) > 3 * abs(up[2] - up[0])  # the belts are most of what armature lacks
    swept = {point: np.array([upward(exact, tree, bend, point) for bend in BENDS]) for point in POINTS}
    return swept | {"scaled": np.array([upward(*humanoid(scale), BEND, "toes") for scale in SCALES])}


if __name__ == "__main__":
    main()
