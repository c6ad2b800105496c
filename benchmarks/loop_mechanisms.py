"""The mechanisms whose accuracy is measured: every constraint and kind of loop, alone and together.

Those of ``tests/samples/mechanisms.py``, more that have no test of their own there, and the robots of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import loop_cases
import numpy as np
import pinocchio as pin
from samples import coupled
from samples import linkages as mechanism_models
from samples import mechanisms as loop_models
from samples import trees as models
from samples.mechanisms import Builder, Mechanism

import pin_clusters as pc

X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Sample:
    """A model with assembled poses, to be compared.

    Attributes:
        model: The mechanism.
        poses: Assembled configurations.
        twin: The same mechanism by other constraints; None if there is none.
        exact: Worst misalignment of its geometry.
    """

    model: pc.ClusterModel
    poses: list[np.ndarray]
    twin: pc.ClusterModel | None = None
    exact: float = 0.0


def physical(make: Callable[[np.random.Generator], Mechanism]) -> Callable[[np.random.Generator], Mechanism]:
    """Return the mechanism with bodies that MuJoCo takes: whose moments of inertia fulfil the triangle inequality."""

    def made(rng: np.random.Generator) -> Mechanism:
        m = make(rng)
        for j in range(1, m.tree.njoints):
            m.tree.inertias[j] = models.inertia(rng)
        return m

    return made


def fixed(name: str) -> Callable[[np.random.Generator], Mechanism]:
    """Return what makes a mechanism of the tests."""
    make = loop_models.FIXED[name]
    return physical(make) if name in loop_models.LIBRARY else make


Make = Callable[[np.random.Generator, int], list[Sample]]


def of_mechanism(make: Callable[[np.random.Generator], Mechanism]) -> Make:
    """Return what samples a mechanism."""

    def sample(rng: np.random.Generator, states: int) -> list[Sample]:
        m = make(rng)
        model, twin = m.build(), None
        if len(m.constraints) == 1 and hasattr(m.constraints[0], "generic"):
            twin = pc.ClusterModel(m.tree, m.constraints[0].generic(m.tree), m.q0, independent=m.independent)
        # where the twin is all that has closures, it tells which poses are assembled
        judge = model if model.closures or twin is None else twin
        poses = [loop_models.random_pose(judge, m.q0, rng, m.spread, 10.0 * m.exact) for _ in range(states)]
        if not model.closures:
            poses = [np.asarray(pc.project(model, q)) for q in poses]
        return [Sample(model, poses, twin, m.exact)]

    return sample


def of_robot(name: str, *, armature: bool = False) -> Make:
    """Return what samples a robot of the package or of the benchmarks; its rotors as armature if wanted."""

    def sample(rng: np.random.Generator, states: int) -> list[Sample]:
        model = loop_cases.tello_leg() if name == "tello_leg" else loop_cases.make(name)
        if armature:
            model = loop_cases.without_rotors(model)
        pin.seed(states)
        twin = None
        if any(hasattr(c, "generic") for c in model.constraints):
            others = []
            for i, c in enumerate(model.constraints):  # two legs have the same mechanisms, whose names must differ
                parts = c.generic(model.tree) if hasattr(c, "generic") else []
                others += [replace(part, name=f"{part.name} {i}") for part in parts] or [c]
            twin = pc.ClusterModel(model.tree, others, model.q_reference, independent=model.independent_joints)
        return [Sample(model, [pc.randomConfiguration(model) for _ in range(states)], twin)]

    return sample


def at_random(seeds: range) -> Make:
    """Return what samples random mechanisms, two poses each."""

    def sample(rng: np.random.Generator, states: int) -> list[Sample]:
        found: list[Sample] = []
        for seed in seeds[: max(1, states // 2)]:
            found += of_mechanism(lambda rng, seed=seed: loop_models.random_one(rng, seed))(rng, 2)
        return found

    return sample


def chain(rng: np.random.Generator, kind: str) -> Mechanism:
    """Seven hinges and slides about any axes, whose end makes a joint of a kind with the ground."""
    while True:
        b = Builder(rng)
        up: str | None = None
        for i in range(7):
            slides = i in (2, 5) and kind != "fixed"
            joint = pin.JointModelPrismaticUnaligned(models.unit(rng)) if slides else models.unit(rng)
            up = b.add(f"j{i}", up, joint, models.placement(rng), 0.3 * rng.normal())
        q, tip = b.q(), models.placement(rng)
        data = b.tree.createData()
        pin.forwardKinematics(b.tree, data, q)
        end = data.oMi[7] * tip
        loop = pc.Loop((up, tip), ("universe", end), kind, X)
        if kind == "universal":  # its two axes are across
            loop = pc.Loop((up, tip), ("universe", end), kind, X, Y)
        loose = loop_models.Loose(b.tree, [loop], q)
        K = loop_models.NullSpace(loose, loop_models.expand(loose)).jacobian(q)
        independent = loop_models.choose_independent(b.tree, K)
        if independent is not None:
            nv = 7 - loop_models.KINDS_OF_LOOPS[kind]
            return Mechanism(b.tree, [loop], q, independent, nv, spread=0.15)


def gears(rng: np.random.Generator, differential: Callable[..., Any], *, pinion: bool) -> Mechanism:
    """Three gears about one axis in a housing that moves, and a pinion on the third."""
    b = Builder(rng)
    b.add("housing", None, models.unit(rng), models.placement(rng), 0.3)
    for name in ("left", "right", "carrier"):
        b.add(name, "housing", Y, 0.1 * Y, 0.0)
    if pinion:
        b.add("pinion", "carrier", X, 0.1 * X, 0.0)
    constraint = differential()
    return Mechanism(b.tree, [constraint], b.q(), ("housing", *constraint.independent), 3)


def bevel(rng: np.random.Generator) -> Mechanism:
    """A bevel differential in a housing that moves."""
    return gears(rng, lambda: pc.Differential.bevel("left", "right", "carrier", "pinion", ratio=1.5), pinion=True)


def planetary(rng: np.random.Generator) -> Mechanism:
    """A planetary stage in a housing that moves."""
    return gears(rng, lambda: pc.Differential.planetary("left", "carrier", "right", 20, 60), pinion=False)


def parallelogram(rng: np.random.Generator) -> Mechanism:
    """A parallelogram below one more joint."""
    points = ((0.0, 0.0), (0.1, 0.2), (0.5, 0.2), (0.4, 0.0))
    tree, closure = mechanism_models.four_bar(int(rng.integers(1000)), points=points)
    linkage = pc.Differential.parallelogram("crank", "coupler", "rocker", closure)
    return Mechanism(tree, [linkage], np.zeros(tree.nq), (str(tree.names[1]), "crank"), 2, spread=0.3)


def hip(rng: np.random.Generator) -> Mechanism:
    """Tello's hip on random bodies."""
    b = Builder(rng)
    for name in ("rotor_1", "rotor_2", "gimbal"):
        b.add(name, None, X, models.placement(rng), 0.0)
    b.add("thigh", "gimbal", Y, models.placement(rng), 0.0)
    differential = pc.Differential.tello_hip("rotor_1", "rotor_2", "gimbal", "thigh")
    b.pose |= {"rotor_1": np.array([0.9155]), "rotor_2": np.array([0.1501]), "gimbal": np.array([0.0726])}
    b.pose["thigh"] = np.array([-0.0680])
    return b.mechanism([differential], differential.independent, 2)


def knee_ankle(rng: np.random.Generator) -> Mechanism:
    """Tello's knee and ankle on random bodies."""
    b = Builder(rng)
    for name in ("rotor_1", "rotor_2", "shin"):
        b.add(name, None, Y, models.placement(rng), 0.0)
    b.add("foot", "shin", Y, models.placement(rng), 0.0)
    differential = pc.Differential.tello_knee_ankle("rotor_1", "rotor_2", "shin", "foot")
    b.pose |= {"rotor_1": np.array([0.9898]), "rotor_2": np.array([0.8424]), "shin": np.array([0.1527])}
    return b.mechanism([differential], differential.independent, 2)


_TITLES = {
    "four_bar": "Loop revolute: four-bar",
    "four_bar_serial": "Loop revolute to the ground: four-bar",
    "four_bar_spherical": "Loop spherical: four-bar",
    "four_bar_on_free_flyer": "Loop revolute: four-bar on a free flyer",
    "four_bar_serial_on_free_flyer": "Loop revolute to the base: four-bar on a free flyer",
    "slider_crank": "Loop revolute: slider-crank",
    "slider_crank_serial": "Loop prismatic: slider-crank",
    "six_bar": "Loop revolute: six-bar, 3 degrees of freedom",
    "watt_six_bar": "Nested loops: Watt six-bar",
    "geared_five_bar": "Loop and LinearCoupling: geared five-bar",
    "rotors_on_a_loop": "Rotors in a loop: four-bar",
    "rotors_on_a_loop_on_free_flyer": "Rotors in a loop: four-bar on a free flyer",
    "rssr": "Rod: RSSR",
    "rssr_massive": "Rod with mass: RSSR",
    "spatial_ball_loop": "Loop spherical: R-U-S-R",
    "spatial_ball_in_tree": "Loop universal: R-U-S-R",
    "bennett": "Loop revolute: Bennett",
    "bennett_fixed": "Loop fixed: Bennett",
    "sarrus": "Loop revolute: Sarrus",
    "delta": "Rods with mass: delta",
    "delta_massless": "Rods: delta",
    "delta_pairs": "Rods with mass: delta, redundant pairs",
    "sloppy_four_bar": "Loop revolute: four-bar with 1.5708",
    "FourBar": "FourBar",
    "FourBar_serial": "FourBar, serial",
    "SliderCrank": "SliderCrank",
    "five_bar": "Differential.five_bar",
    "push_rod_ankle": "Differential.push_rod_ankle",
    "ankle_2rsu": "Differential.ankle_2rsu",
}
ROBOTS = (
    "four_bar", "four_bar_change_point", "watt_six_bar", "six_bar", "planar_leg_linkage", "ankle_2rsu", "delta",
    "cassie_leg", "cassie", "robotiq_2f85", "digit_leg", "kangaroo_leg", "tello_leg", "tello", "tello_with_arms",
    "four_legs",
)  # fmt: skip
ARMATURE = ("ankle_2rsu", "cassie_leg", "four_legs")
"""Robots whose rotors have no place in Pinocchio's contacts: they are compared without as well."""
MECHANISMS: dict[str, Make] = {
    **{f"Loop {kind}: seven joints": of_mechanism(lambda rng, kind=kind: chain(rng, kind))
       for kind in loop_models.KINDS_OF_LOOPS},
    **{title: of_mechanism(fixed(name))
       for name, title in _TITLES.items()},
    "Differential.parallelogram": of_mechanism(physical(parallelogram)),
    "Differential.bevel": of_mechanism(bevel),
    "Differential.planetary": of_mechanism(planetary),
    "Differential.tello_hip": of_mechanism(hip),
    "Differential.tello_knee_ankle": of_mechanism(knee_ankle),
    "Coupling, Python": of_mechanism(lambda rng: coupled.mechanism(rng, "Python")),
    "Coupling, compiled": of_mechanism(lambda rng: coupled.mechanism(rng, "compiled")),
    "random planar mechanisms": at_random(range(1, 49, 2)),
    "random spatial mechanisms": at_random(range(0, 48, 2)),
    **{f"robot {name}": of_robot(name) for name in ROBOTS},
    **{f"robot {name}, rotors as armature": of_robot(name, armature=True) for name in ARMATURE},
}  # fmt: skip
