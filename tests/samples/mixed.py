"""Robots with joints of all kinds, in an order that is not depth-first, for tests of what runs on Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from pin_clusters.constraints import Belt, Gear, LinearCoupling, Rotor
from pin_clusters.model import ClusterModel

KINDS = ("free", "fixed", "lines", "bare")


def _unit(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def disc(axis, mass, axial, transverse, shift=0.0):
    """Balanced axisymmetric inertia about an axis through the origin, centre of mass shifted along it."""
    outer = np.outer(axis, axis)
    return pin.Inertia(mass, shift * axis, transverse * (np.eye(3) - outer) + axial * outer)


def _composite():
    joint = pin.JointModelComposite(pin.JointModelRX())
    joint.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    joint.addJoint(pin.JointModelRUBZ(), pin.SE3.Random())
    return joint


def robot(kind="free", seed=0):
    """Make a robot.

    "free": all kinds of joints on a free flyer, couplings with (cos, sin) pairs, rotors with and without inertia.
    "fixed": the same on a fixed base. "lines": couplings between joints of one number each. "bare": no constraint.
    """
    pin.seed(seed)
    rng = np.random.default_rng(seed)
    tree = pin.Model()
    tree.name = kind
    ids = {"": 0}

    def add(name, parent, joint, inertia=None):
        ids[name] = tree.addJoint(ids[parent], joint, pin.SE3.Random(), name)
        tree.appendBodyToJoint(ids[name], pin.Inertia.Random() if inertia is None else inertia, pin.SE3.Random())
        if inertia is not None:  # a rotor is centred in its joint
            tree.inertias[ids[name]] = inertia
        tree.addFrame(pin.Frame(f"{name}_tool", ids[name], pin.SE3.Random(), pin.FrameType.OP_FRAME))

    turning = pin.JointModelRevoluteUnaligned
    axes = {name: _unit(rng) for name in ("arm", "arm_rotor", "slide", "turn", "follow", "tip", "far")}
    base = ""
    if kind in ("free", "lines"):
        add("root", "", pin.JointModelFreeFlyer())
        base = "root"
    add("arm", base, turning(axes["arm"]))
    add("ball", base, pin.JointModelSpherical())
    add("arm_rotor", base, turning(axes["arm_rotor"]), disc(axes["arm_rotor"], 0.4, 0.03, 0.02, 0.1))
    add("slide", "arm", pin.JointModelPrismaticUnaligned(axes["slide"]))
    add("spin", "arm", pin.JointModelRUBX())
    add("plane", "ball", pin.JointModelPlanar())
    add("spun", "ball", pin.JointModelRUBZ())
    add("turn", "slide", turning(axes["turn"]))
    add("follow", "ball", turning(axes["follow"]))
    add("zyx", "arm", pin.JointModelSphericalZYX())
    add("helix", "slide", pin.JointModelHX(0.3))
    add("mixed", "slide", _composite())
    add("tip", "mixed", turning(axes["tip"]))
    add("shift", "ball", pin.JointModelTranslation())
    add("cross", "plane", pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])))
    add("far", "cross", turning(axes["far"]))
    tree.armature = rng.uniform(0.0, 0.1, size=tree.nv) * (np.arange(tree.nv) >= (6 if base else 0))
    lines = [
        Gear("arm", "arm_rotor", -7.5, 0.4),
        LinearCoupling("helix", {"slide": 1.3}),
        LinearCoupling("far", {"tip": 0.8, "arm_rotor": -0.1}, 0.25),  # a chain, across branches
    ]
    circles = [
        LinearCoupling("turn", {"spin": 2.0, "slide": 0.7}, 0.2),
        LinearCoupling("follow", {"turn": 0.5}),
        LinearCoupling("spun", {"spin": -3.0, "arm": 0.5}, -1.0),
    ]
    z = _unit(rng)
    heavy, light = disc(z, 0.7, 0.05, 0.03, -0.2), disc(z, 0.3, 0.04, 0.06)
    rotors = [
        Rotor("tip", 9.0, inertia=heavy, axis=z, carrier="mixed", placement=pin.SE3.Random(), armature="keep"),
        Rotor(["arm", "tip"], [12.0, -5.0], axial_inertia=0.01, axis=_unit(rng), carrier="ball", armature="replace"),
        Rotor("helix", 4.0, axial_inertia=0.02, armature="keep", name="on_a_dependent_joint"),
        Rotor("spin", -6.0, inertia=light, axis=z, armature="keep", name="on_a_continuous_joint"),
    ]
    constraints = {"bare": [], "lines": lines + rotors}.get(kind, lines + circles + rotors)
    return ClusterModel(tree, constraints)


def planar_leg():
    """Two links on a fixed base; a gear at the hip, a belt rotor on the thigh. Small enough for formulas."""
    tree = pin.Model()
    at = pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    hip = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hip")
    tree.appendBodyToJoint(hip, pin.Inertia(2.0, np.array([0.25, 0, 0]), 0.1 * np.eye(3)), pin.SE3.Identity())
    hip_rotor = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hip_rotor")
    tree.appendBodyToJoint(hip_rotor, pin.Inertia(0.3, np.zeros(3), 0.01 * np.eye(3)), pin.SE3.Identity())
    knee = tree.addJoint(hip, pin.JointModelRZ(), at, "knee")
    tree.appendBodyToJoint(knee, pin.Inertia(1.0, np.array([0.2, 0, 0]), 0.05 * np.eye(3)), pin.SE3.Identity())
    knee_rotor = tree.addJoint(hip, pin.JointModelRZ(), pin.SE3.Identity(), "knee_rotor")
    tree.appendBodyToJoint(knee_rotor, pin.Inertia(0.2, np.zeros(3), 0.02 * np.eye(3)), pin.SE3.Identity())
    for j in range(1, tree.njoints):
        tree.addFrame(pin.Frame(f"{tree.names[j]}_tool", j, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return ClusterModel(tree, [Gear("hip", "hip_rotor", 6.0), Belt("knee", "knee_rotor", 9.0)], name="planar_leg")


def rotors_as_bodies(model):
    """Return a tree in which every ``Rotor`` constraint is a body, and the G of that tree.

    The joints of the rotors come last, so the tree's own q and v are the first ones. A rotor of axial inertia alone is
    a body without mass, whose axial inertia is taken off its carrier's link.
    """
    tree = model.tree.copy()
    rows = [np.array(model.coupling_matrix)]
    for r in model.rotors:
        if r.source is None:
            continue
        axis = r.placement.rotation.T @ r.axis
        name = tree.addJoint(r.carrier_id, pin.JointModelRevoluteUnaligned(axis), r.placement, r.name)
        if r.inertia is None:
            tree.inertias[name] = pin.Inertia(0.0, np.zeros(3), r.axial_inertia * np.outer(axis, axis))
            link = tree.inertias[r.carrier_id]
            tree.inertias[r.carrier_id] = pin.Inertia(
                link.mass, link.lever, link.inertia - r.axial_inertia * np.outer(r.axis, r.axis)
            )
        else:
            tree.inertias[name] = r.inertia
        rows.append(r.row[None])
        if r.source.armature == "replace":
            armature = np.array(tree.armature)
            armature[[tree.joints[tree.getJointId(joint)].idx_v for joint in r.source.joints]] = 0.0
            tree.armature = armature
    return tree, np.vstack(rows)


def random_state(model, seed=0):
    """Return q on the couplings, v and a."""
    from pin_clusters.model import configuration

    pin.seed(seed)
    rng = np.random.default_rng(seed)
    return configuration.randomConfiguration(model), rng.normal(size=model.nv), rng.normal(size=model.nv)


def error(x, y):
    """Largest difference, relative to the largest entry (at least 1)."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert x.shape == y.shape, (x.shape, y.shape)
    return float(np.abs(x - y).max(initial=0.0) / max(1.0, np.abs(y).max(initial=0.0)))
