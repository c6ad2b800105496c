"""Exact robots, the serial trees that MuJoCo has of them, and states in the coordinates of both."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters.model import depth_first

LOOP_JOINTS = {"tello": [f"{s}_{j}" for s in ("left", "right") for j in ("hip_roll", "hip_pitch", "knee", "ankle")]}
GEARS = ("mini_cheetah", "mit_humanoid", "jvrc1", "teleop_arm")
LOOPS = ("tello", "ankle_2rsu")
EXAMPLES = Path(__file__).parents[2] / "examples"
SETTINGS = '<size nuserdata="80"/>'


@functools.cache
def exact(name: str) -> pc.ClusterModel:
    """Return the exact robot in the joints of the serial tree."""
    if name == "g1":
        return g1()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # published inertias that no real body has
        model = pc.load(name)
    return pc.with_independent(model, LOOP_JOINTS[name])[0] if name in LOOP_JOINTS else model


def _example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def g1() -> pc.ClusterModel:
    """Return a Unitree G1 with planetary gears, a differential at the waist, and ankles on cranks and rods."""
    motors, firmware = _example("06_audit_g1"), _example("21_ankle_firmware")
    urdf = str(Path(pin.__file__).parents[4] / motors.URDF)
    tree = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
    tree.name, parts = "g1", []
    for motor, kinds in motors.JOINTS.items():
        for joint in list(tree.names)[1:]:
            if joint.endswith(tuple(f"{kind}_joint" for kind in kinds)):
                parts += motors.rotors(motor, [joint], [1.0])
    waist = ["waist_pitch_joint", "waist_roll_joint"]
    for sign in (1.0, -1.0):
        parts += motors.rotors("5020", waist, [1.0, sign], carrier="waist_yaw_joint", axis=(0.0, 1.0, 0.0))
    ankle = firmware.ANKLES["G1"]
    for side in ("left", "right"):
        pitch = tree.getJointId(f"{side}_ankle_pitch_joint")
        at, turns = tree.jointPlacements[pitch], pin.JointModelRX() if ankle.axis[0] else pin.JointModelRY()
        for i, place in enumerate(ankle.cranks):
            placement = at * pin.SE3(np.eye(3), np.array(place))
            j = tree.addJoint(tree.parents[pitch], turns, placement, f"{side}_crank_{i + 1}")
            crank = pin.Inertia(0.012, 0.3 * np.array(ankle.pins[i]), 2e-6 * np.eye(3))
            tree.appendBodyToJoint(j, crank, pin.SE3.Identity())
        cranks, serial_joints = ([f"{side}_{x}" for x in names] for names in (
            ("crank_1", "crank_2"), ("ankle_pitch_joint", "ankle_roll_joint")))  # fmt: skip
        branch = firmware.branch(ankle)
        pins, foot = list(ankle.pins), list(ankle.foot)
        parts.append(pc.Differential.ankle_2rsu(*cranks, *serial_joints, pins=pins, foot=foot, branch=branch))
        for crank_joint in cranks:
            parts += motors.rotors("5020", [crank_joint], [1.0])
    free = [f"{side}_ankle_{x}_joint" for side in ("left", "right") for x in ("pitch", "roll")]
    return pc.ClusterModel(tree, parts, independent=free)


def serial(model: pc.ClusterModel, rotors: bool = True) -> pc.ClusterModel:
    """Return the serial tree without loops; rotors and cranks are fixed to their carriers, or omitted."""
    tree, inertias = model.tree.copy(), [pin.Inertia(x) for x in model.tree.inertias]
    data = tree.createData()
    pin.forwardKinematics(tree, data, model.q_reference)
    free = set(model.independent_joints)
    gone = [j for j in range(1, tree.njoints) if tree.names[j] not in free]
    for r in model.rotors if rotors else ():
        if r.joint_id is None and r.inertia is not None:
            inertias[r.carrier_id] = inertias[r.carrier_id] + r.placement.act(r.inertia)
    for j in reversed(gone):
        if tree.parents[j] and rotors:
            inertias[tree.parents[j]] = inertias[tree.parents[j]] + data.liMi[j].act(inertias[j])
        inertias[j] = pin.Inertia.Zero()
    for j, inertia in enumerate(inertias):
        tree.inertias[j] = inertia
    tree.armature = np.zeros(tree.nv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.ClusterModel(depth_first(tree, gone), name=f"{model.name}_tree")


def tree_text(model: pc.ClusterModel, rotors: bool = True) -> str:
    text = pc.to_mjcf(serial(model, rotors), integrator="Euler")
    return text.replace("<option ", f"{SETTINGS}<option ", 1)


def tree_of(model: pc.ClusterModel, rotors: bool = True, contacts: bool = False) -> Any:
    tree = mujoco.MjModel.from_xml_string(tree_text(model, rotors))
    if not contacts:
        tree.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return tree


def states(model: pc.ClusterModel, rng: np.random.Generator, n: int) -> list[tuple[np.ndarray, ...]]:
    """Return n random states (q, v, tau), within the reach of the loops."""
    size, drawn = 0.3 if model.closures else 1.0, list[tuple[np.ndarray, ...]]()
    while len(drawn) < n:
        try:
            q = pc.integrate(model, pc.neutral(model), size * rng.uniform(-1.0, 1.0, model.nv))
        except pc.BranchLost:
            continue
        drawn.append((q, rng.normal(size=model.nv) * 2.0, rng.normal(size=model.nv) * 5.0))
    return drawn


class Coordinates:
    """MuJoCo's coordinates: the base moves along the axes of the world, and quaternions begin with w."""

    def __init__(self, model: pc.ClusterModel, tree: Any) -> None:
        self.model, self.floating = model, model.tree.nvs[1] == 6
        names = [name for name in model.independent_joints if model.tree.nvs[model.tree.getJointId(name)] == 1]
        self.qpos = [int(tree.joint(name).qposadr[0]) for name in names]
        self.dofs = [int(tree.joint(name).dofadr[0]) for name in names]
        self.q = [int(model.tree.idx_qs[model.tree.getJointId(name)]) for name in names]
        self.v = [int(model.joint_idx_v(name)) for name in names]

    def rotation(self, q: np.ndarray) -> np.ndarray:
        return pin.Quaternion(*q[[6, 3, 4, 5]]).matrix()

    def put(self, data: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray | None = None) -> None:
        data.qpos[self.qpos], data.qvel[self.dofs] = q[self.q], v[self.v]
        if self.floating:
            data.qpos[:7], data.qvel[:6] = q[[0, 1, 2, 6, 3, 4, 5]], self.velocity(q, v)
        if tau is not None:
            data.qfrc_applied[self.dofs] = tau[self.v]
            if self.floating:
                data.qfrc_applied[:6] = self.velocity(q, tau)

    def velocity(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([self.rotation(q) @ v[:3], v[3:6]])

    def acceleration(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, size: int) -> np.ndarray:
        there = np.zeros(size)
        there[self.dofs] = a[self.v]
        if self.floating:
            there[:3], there[3:6] = self.rotation(q) @ (a[:3] + np.cross(v[3:6], v[:3])), a[3:6]
        return there
