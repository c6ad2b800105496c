"""Landings of the MIT Humanoid in MuJoCo: rotors as bodies, armature, and ``pc.mujoco.Exact``."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import pin_clusters as pc

from . import exact_mujoco as em

DURATION, SPEED, GAP = 2e-3, 1.4, 5e-4
SOLE = [[x, y, -0.041] for x in (-0.05, 0.1) for y in (-0.03, 0.03)]
POINTS = {"left_ankle": SOLE, "right_ankle": SOLE}
TILTS = {"toes": 0.3, "heels": -0.3, "flat": 0.0}


def pose(model: pc.ClusterModel, tilt: float) -> np.ndarray:
    turn = np.zeros(model.nv)
    for side in ("left", "right"):
        for joint, angle in (("hip_ry", -0.3), ("knee", 0.6), ("ankle", -0.3 + tilt)):
            turn[model.joint_idx_v(f"{side}_{joint}")] = angle
    q = pc.integrate(model, pc.neutral(model), turn)
    q = pc.on_ground(model, q, touching=pc.contact_points(model, POINTS), above=0.0)
    q[2] += GAP
    return q


def scene(text: str, dt: float, damping: float) -> Any:
    spec = mujoco.MjSpec.from_string(text)
    spec.option.timestep, spec.option.integrator = dt, mujoco.mjtIntegrator.mjINT_EULER
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
    for geom in list(spec.geoms):
        geom.contype = geom.conaffinity = 0
    contact = {"contype": 1, "conaffinity": 1, "friction": [0.8, 0, 0]}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1], **contact)
    contact |= {"condim": 3, "priority": 1, "solref": [max(2 * dt, 1e-4), damping], "mass": 0}
    contact |= {"solimp": [0.99, 0.999, 0.001, 0.5, 2], "size": [1e-3, 0, 0], "type": mujoco.mjtGeom.mjGEOM_SPHERE}
    for joint, points in POINTS.items():
        body = next(b for b in spec.bodies if any(j.name == joint for j in b.joints))
        for x, y, z in points:
            body.add_geom(pos=[x, y, z + 1e-3], **contact)
    return spec.compile()


def impulse(tree: Any, model: pc.ClusterModel, q: np.ndarray) -> float:
    """Return the vertical impulse of all contacts in the first milliseconds, [N s]."""
    d, at = mujoco.MjData(tree), em.Coordinates(model, tree)
    at.put(d, q, np.zeros(model.nv))
    for i in range(tree.njnt):  # rotors that are bodies
        j = model.tree.getJointId(tree.joint(i).name)
        if 0 < j < model.tree.njoints and model.tree.nqs[j] == 1:
            d.qpos[tree.jnt_qposadr[i]] = q[model.tree.idx_qs[j]]
    d.qvel[2], total, force = -SPEED, 0.0, np.zeros(6)
    for _ in range(round(DURATION / tree.opt.timestep)):
        mujoco.mj_step(tree, d)
        for c in range(d.ncon):
            mujoco.mj_contactForce(tree, d, c, force)
            total += tree.opt.timestep * float(d.contact[c].frame.reshape(3, 3).T[2] @ force[:3])
    return total


def landing(model: pc.ClusterModel, kind: str, dt: float, damping: float = 1.0) -> dict[str, float]:
    q = pose(model, TILTS[kind])
    tree = scene(pc.to_mjcf(model), dt, damping)
    impulses = {"bodies": impulse(scene(pc.to_mjcf(model, "exact"), dt, damping), model, q)}
    impulses["diagonal"] = impulse(scene(pc.to_mjcf(model, "diagonal"), dt, damping), model, q)
    with pc.mujoco.Exact(model, tree):
        impulses["callback"] = impulse(tree, model, q)
    return impulses
