"""A biped like Booster's T1: free base, T1's rotors, ankles that two cranks move through rods, or serial ones.

Masses and lengths are near those of T1; ratios and rotor inertias are those of ``robot_models/atlas/booster_t1.yaml``.
The ankle's lengths are TienKung's (``examples/21_ankle_firmware.py``).
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

MOTORS = {  # ratio, rotor inertia [kg m^2]
    "hip_pitch": (18.0, 1.617e-4), "hip_roll": (25.0, 7.65e-5), "hip_yaw": (25.0, 7.65e-5), "knee": (18.0, 1.957e-4),
    "crank_1": (36.0, 2.62e-5), "crank_2": (36.0, 2.62e-5),
}  # fmt: skip
LINKS = {  # axis, place on the parent [m], mass [kg], centre [m], size of a box of this inertia [m]
    "hip_pitch": ("y", (0.0, 0.106, -0.12), 1.02, (0.0, 0.0, -0.02), (0.1, 0.1, 0.1)),
    "hip_roll": ("x", (0.0, 0.0, -0.02), 0.39, (0.0, 0.0, -0.03), (0.06, 0.06, 0.08)),
    "hip_yaw": ("z", (0.0, 0.0, -0.081), 2.17, (0.0, 0.0, -0.06), (0.1, 0.1, 0.16)),
    "knee": ("y", (-0.014, 0.0, -0.134), 1.73, (0.0, 0.0, -0.12), (0.07, 0.07, 0.26)),
    "ankle_pitch": ("y", (0.0, 0.0, -0.28), 0.07, (0.0, 0.0, 0.0), (0.03, 0.03, 0.03)),
    "ankle_roll": ("x", (0.0, 0.0, -0.012), 0.69, (0.0, 0.0, -0.02), (0.2, 0.1, 0.03)),
}  # fmt: skip
FOOT = [(x, y, -0.03) for x in (-0.09, 0.13) for y in (-0.05, 0.05)]
TILT = 2.0 * np.arcsin(0.18661)
PIN = (-0.06 * np.cos(TILT), 0.0, 0.06 * np.sin(TILT))


def biped(parallel: bool = True, bend: float = 0.0) -> pc.ClusterModel:
    """Return the robot; ``bend`` is the angle of its knees in the reference pose [rad]."""
    tree = pin.Model()
    tree.name = "parallel_biped" if parallel else "serial_biped"
    base = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    tree.appendBodyToJoint(base, _box(17.0, (0.2, 0.35, 0.55)), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.15])))
    constraints: list[object] = []
    pose = {"hip_pitch": -0.5 * bend, "knee": bend, "ankle_pitch": -0.5 * bend}
    reference: dict[str, float] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        parent = base
        for link, (axis, place, mass, centre, size) in LINKS.items():
            if link == "ankle_pitch" and parallel:
                cranks = [((0.0, 0.043252, -0.065), f"{side}_crank_1"), ((0.0, -0.043247, -0.14), f"{side}_crank_2")]
                for at, name in cranks:
                    j = tree.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array(at)), name)
                    tree.appendBodyToJoint(j, _box(0.03, (0.06, 0.01, 0.01)), pin.SE3(np.eye(3), 0.3 * np.array(PIN)))
            joint = {"x": pin.JointModelRX(), "y": pin.JointModelRY(), "z": pin.JointModelRZ()}[axis]
            at = np.array(place) * [1.0, sign, 1.0]
            parent = tree.addJoint(parent, joint, pin.SE3(np.eye(3), at), f"{side}_{link}")
            tree.appendBodyToJoint(parent, _box(mass, size), pin.SE3(np.eye(3), np.array(centre)))
            tree.addBodyFrame(f"{side}_{link}_link", parent, pin.SE3.Identity(), 0)
            reference[f"{side}_{link}"] = pose.get(link, 0.0)
        if parallel:
            ends = [(-0.055821, 0.04325, 0.034), (-0.055821, -0.04325, 0.034)]
            names = [f"{side}_{x}" for x in ("crank_1", "crank_2", "ankle_pitch", "ankle_roll")]
            sides = [
                1 if np.cross(np.add((0.0, 0.0, -0.292), end) - place, PIN)[1] > 0.0 else -1
                for end, (place, _) in zip(ends, cranks, strict=True)
            ]
            constraints.append(pc.Differential.ankle_2rsu(*names, pins=[PIN, PIN], foot=ends, branch=sides))
        for name, (ratio, inertia) in MOTORS.items():
            joints, ratios = [f"{side}_{name}"], [ratio]
            if name.startswith("crank") and not parallel:  # one motor for the sum, one for the difference
                joints = [f"{side}_ankle_pitch", f"{side}_ankle_roll"]
                ratios = [ratio, ratio if name.endswith("1") else -ratio]
            constraints.append(pc.Rotor(joints, ratios, axial_inertia=inertia, name=f"{side}_{name}_motor"))
    q = pin.neutral(tree)
    for name, angle in reference.items():
        q[tree.joints[tree.getJointId(name)].idx_q] = angle
    model = pc.ClusterModel(tree, constraints)
    if not bend:
        return model
    return pc.ClusterModel(tree, constraints, pc.project(model, q, hold=[*reference]))


def _box(mass: float, size: tuple[float, float, float]) -> pin.Inertia:
    return pin.Inertia.FromBox(mass, *size)
