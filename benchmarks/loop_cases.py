"""Robots with closed loops that are measured, and what they should reach."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import pin_clusters as pc

X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Case:
    """A robot, and how many times faster than Pinocchio's fastest constrained algorithm ``pc.aba`` should be.

    Attributes:
        make: Returns the robot.
        api: Goal for the call through the Python API; None: reported only.
        kernel: Goal for the bare kernel; None: reported only.
    """

    make: Callable[[], pc.ClusterModel]
    api: float | None = None
    kernel: float | None = None


def add(
    tree: pin.Model, parent: int, joint: pin.JointModel, where: np.ndarray, name: str, mass: float, to: np.ndarray
) -> int:
    """Add a uniform bar from the joint's origin ``to`` a point; return the joint's id."""
    j = tree.addJoint(parent, joint, pin.SE3(np.eye(3), np.asarray(where, dtype=float)), name)
    length = float(np.linalg.norm(to))
    along = to / length
    across = np.eye(3) - np.outer(along, along)
    inertia = mass * length**2 / 12.0 * across + 0.02 * mass * length**2 * np.eye(3)
    tree.appendBodyToJoint(j, pin.Inertia(mass, 0.5 * to, inertia), pin.SE3.Identity())
    return int(j)


def four_legs() -> pc.ClusterModel:
    """A trunk with four legs; each knee is driven from the hip by a four-bar, each motor is a rotor.

    About the size of Mini Cheetah. Crank, coupler and shank of a leg are on the thigh: 5 joints, 3 motors.
    """
    tree = pin.Model()
    tree.name = "four_legs"
    trunk = tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "trunk")
    tree.appendBodyToJoint(trunk, pin.Inertia.FromBox(3.3, 0.38, 0.2, 0.1), pin.SE3.Identity())
    constraints: list[object] = []
    crank_length, arm, pivot, knee = 0.035, 0.030, 0.010, 0.210
    rod = (crank_length - arm) * X - (knee - pivot) * Z
    for name, front, side in (("FL", 1, 1), ("FR", 1, -1), ("HL", -1, 1), ("HR", -1, -1)):
        roll, pitch, crank, coupler, shank = (
            f"{name}_{part}" for part in ("roll", "pitch", "crank", "coupler", "shank")
        )
        hip = add(tree, trunk, pin.JointModelRX(), 0.19 * front * X + 0.05 * side * Y, roll, 0.54, 0.06 * side * Y)
        thigh = add(tree, hip, pin.JointModelRY(), 0.06 * side * Y, pitch, 0.63, -knee * Z)
        first = add(tree, thigh, pin.JointModelRY(), -pivot * Z, crank, 0.05, -crank_length * X)
        add(tree, first, pin.JointModelRY(), -crank_length * X, coupler, 0.06, rod)
        add(tree, thigh, pin.JointModelRY(), -knee * Z, shank, 0.15, -0.2 * Z)
        constraints += [
            pc.FourBar(crank, coupler, shank, ((coupler, rod), (shank, -arm * X)), name=f"{name} linkage"),
            pc.Rotor(roll, 6.0, axial_inertia=3.3e-5),
            pc.Rotor(pitch, 6.0, axial_inertia=3.3e-5),
            pc.Rotor(crank, 9.33, axial_inertia=3.3e-5),
        ]
    branch = _branch(tree, constraints[0])
    constraints = [_on(c, branch) if isinstance(c, pc.FourBar) else c for c in constraints]
    return pc.ClusterModel(tree, constraints, pin.neutral(tree))


def _on(linkage: pc.FourBar, branch: int) -> pc.FourBar:
    joints = linkage.crank, linkage.coupler, linkage.rocker
    return pc.FourBar(*joints, linkage.closure, branch, linkage.name)


def _branch(tree: pin.Model, linkage: object) -> int:
    """Return the branch on which the coupler is at zero when the crank is."""
    assert isinstance(linkage, pc.FourBar)
    solutions = {b: _on(linkage, b).closed_form(tree).solve(np.zeros(1))[0] for b in (1, -1)}
    return min(solutions, key=lambda b: float(np.abs(solutions[b]).max()))


def slider_crank() -> pc.ClusterModel:
    """Crank 0.1 m, coupler 0.3 m, the slider's line 0.02 m above the crank's axis; in a vertical plane."""
    tree = pin.Model()
    tree.name = "slider_crank"
    crank = add(tree, 0, pin.JointModelRY(), 0.0 * X, "crank", 0.2, 0.1 * X)
    add(tree, crank, pin.JointModelRY(), 0.1 * X, "coupler", 0.3, 0.3 * X)
    add(tree, 0, pin.JointModelPX(), 0.02 * Z, "slider", 0.5, 0.05 * X)
    linkage = pc.SliderCrank("crank", "coupler", "slider", (("coupler", 0.3 * X), "slider"))
    tip = np.sqrt(0.3**2 - 0.02**2)
    reference = np.array([0.0, -np.arcsin(0.02 / 0.3), 0.1 + tip])
    return pc.ClusterModel(tree, [linkage], reference)


def delta_of_three_rods() -> pc.ClusterModel:
    """Shipped ``delta`` with one rod of double mass in place of each pair: what its platform needs for position."""
    shipped = pc.load("delta")
    rods = [c for c in shipped.constraints if isinstance(c, pc.Rod)]
    single = []
    for one, two in zip(rods[::2], rods[1::2], strict=True):
        ends = [
            (a.name, tuple(0.5 * (np.array(a.translation) + np.array(b.translation))))
            for a, b in ((one.a, two.a), (one.b, two.b))
        ]
        single.append(pc.Rod(*ends, length=one.length, mass=one.mass + two.mass, name=one.name))
    others = [c for c in shipped.constraints if not isinstance(c, pc.Rod)]
    return pc.ClusterModel(shipped.tree, [*others, *single], shipped.q_reference, name="delta_of_three_rods")


def tello_leg() -> pc.ClusterModel:
    """Left leg of the shipped ``tello`` on a fixed torso."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        whole = pc.load("tello", root_joint=None)
    both, tree, ids = whole.tree, pin.Model(), {0: 0}
    tree.name, tree.gravity = "tello_leg", both.gravity
    for j in range(1, both.njoints):
        if both.names[j].startswith("left_"):
            ids[j] = tree.addJoint(ids[both.parents[j]], both.joints[j], both.jointPlacements[j], both.names[j])
            tree.appendBodyToJoint(ids[j], both.inertias[j], pin.SE3.Identity())
    kept = [c for c in whole.constraints if "'left_" in c.label]
    reference = np.concatenate([whole.q_reference[both.idx_qs[j] : both.idx_qs[j] + both.nqs[j]] for j in ids if j])
    independent = [name for name in whole.independent_joints if name.startswith("left_")]
    return pc.ClusterModel(tree, kept, reference, independent=independent)


def without_rotors(model: pc.ClusterModel) -> pc.ClusterModel:
    """Return the robot that Pinocchio can express: rotors that are no bodies as armature of the joints they hang on.

    The rotors here have their mass in the carriers already.
    """
    tree, rotors = model.tree.copy(), [c for c in model.constraints if isinstance(c, pc.Rotor)]
    armature = np.array(tree.armature)
    for r in rotors:
        assert r.axial_inertia is not None
        for joint, ratio in zip(r.joints, r.ratios, strict=True):
            armature[tree.joints[tree.getJointId(joint)].idx_v] += r.axial_inertia * ratio**2
    tree.armature = armature
    kept = [c for c in model.constraints if not isinstance(c, pc.Rotor)]
    return pc.ClusterModel(tree, kept, model.q_reference, independent=model.independent_joints)


def shipped(name: str) -> Callable[[], pc.ClusterModel]:
    """Return what loads a robot of the package."""

    def make() -> pc.ClusterModel:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            return pc.load(name)

    return make


RIVALRY = {
    "four_legs": Case(four_legs, api=3.0),
    "cassie_leg": Case(shipped("cassie_leg"), api=3.0),
    "four_bar": Case(shipped("four_bar"), api=2.0, kernel=3.0),
    "slider_crank": Case(slider_crank, api=2.0, kernel=3.0),
    "watt_six_bar": Case(shipped("watt_six_bar"), api=2.0, kernel=3.0),
    "six_bar": Case(shipped("six_bar"), api=2.0, kernel=3.0),
    "planar_leg_linkage": Case(shipped("planar_leg_linkage"), api=2.0, kernel=3.0),
    "ankle_2rsu": Case(shipped("ankle_2rsu"), api=2.0, kernel=3.0),
    "delta": Case(shipped("delta"), api=2.0, kernel=3.0),
    "delta_of_three_rods": Case(delta_of_three_rods, api=2.0, kernel=3.0),
}
PROJECTED = ("four_bar", "slider_crank", "watt_six_bar", "cassie_leg", "delta", "four_legs", "tello")
BATCHED = ("tello", "four_legs", "cassie_leg", "four_bar")
ACCURACY = 1e-8
"""What a rival must reach, relative to max(1, |reference|)."""
GOALS = {"projection": 5.0, "mit_humanoid": 3.0, "project_us": 20.0}

FULL = {"repeats": 41, "block": 4e-3, "states": 1024}
QUICK = {"repeats": 7, "block": 1e-3, "states": 64}


def make(name: str) -> pc.ClusterModel:
    """Return a robot by name."""
    return RIVALRY[name].make() if name in RIVALRY else shipped(name)()
