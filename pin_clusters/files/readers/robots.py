"""What the URDF of a robot cannot say: its reference pose, and constraints that have no element.

The reference pose chooses among the assemblies of the loops, and is where ``pc.neutral`` starts from. A robot whose
zero pose is assembled and regular needs none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import set_coordinate
from ...constraints import Differential, Rod, Rotor


@dataclass(frozen=True)
class Extra:
    """What is added to the URDF of a robot.

    Attributes:
        constraints: Makes the constraints, when the robot is loaded.
        reference: Coordinates of the reference pose, [rad] or [m], by joint; the others are those of ``pin.neutral``.
    """

    constraints: Callable[[], tuple[Any, ...]] = tuple
    reference: Mapping[str, float] = field(default_factory=dict)


def reference_pose(tree: pin.Model, reference: Mapping[str, float]) -> np.ndarray:
    """Return ``pin.neutral`` with some joints at given coordinates, shape (nq,)."""
    q = np.array(pin.neutral(tree))
    for name, value in reference.items():
        set_coordinate(tree, tree.getJointId(name), q, value)
    return q


def _tello() -> tuple[Any, ...]:
    """Hip and knee-ankle differentials of both legs; their parameters are the defaults of the library."""
    differentials: list[Any] = []
    for side in ("left", "right"):
        hip = (f"{side}_{joint}" for joint in ("hip_rotor_1", "hip_rotor_2", "hip_roll", "hip_pitch"))
        knee = (f"{side}_{joint}" for joint in ("knee_ankle_rotor_1", "knee_ankle_rotor_2", "knee", "ankle"))
        differentials += [Differential.tello_hip(*hip), Differential.tello_knee_ankle(*knee)]
    return tuple(differentials)


def _cassie_leg() -> tuple[Any, ...]:
    """The achilles rod, which a URDF would need a ball joint for, and the motors."""
    # gear, and the published armature, which stands for an inertia of armature / gear^2
    motors = (
        ("hip_roll", 25.0, 0.038125),
        ("hip_yaw", 25.0, 0.038125),
        ("hip_pitch", 16.0, 0.09344),
        ("knee", 16.0, 0.09344),
        ("foot", 50.0, 0.01225),
    )
    achilles = Rod(
        ("hip_pitch_link", (0.0, 0.0, 0.045)),
        ("heel_spring_link", (0.11877, -0.01, 0.0)),
        length=0.5012,
        mass=0.1567,
        name="achilles_rod",
    )
    return (achilles, *(Rotor(j, gear, axial_inertia=armature / gear**2) for j, gear, armature in motors))


def _ankle_2rsu() -> tuple[Any, ...]:
    """Two rods from cranks on the shank to the foot, and the motors of the cranks."""
    parts: list[Any] = []
    for side, lateral, length in (("left", 0.04, 0.2), ("right", -0.04, 0.13)):
        crank = f"crank_{side}"
        tip, foot = (f"{crank}_link", (-0.04, 0.0, 0.0)), ("ankle_roll_link", (-0.04, lateral, 0.0))
        parts.append(Rod(tip, foot, length=length, mass=0.05, name=f"rod_{side}"))
        parts.append(Rotor(crank, 18.0, axial_inertia=2.5e-5))
    return tuple(parts)


def _delta() -> tuple[Any, ...]:
    """Three pairs of parallel rods between arms and platform."""
    arm, platform, half = 0.235, 0.045, 0.03  # length of an arm, radius of the platform, half the width of a pair
    rods: list[Any] = []
    for i, turn in enumerate((0.0, 2.0 * math.pi / 3.0, -2.0 * math.pi / 3.0), 1):
        c, s = math.cos(turn), math.sin(turn)
        for side, y in (("a", half), ("b", -half)):
            end = (c * platform - s * y, s * platform + c * y, 0.0)
            rods.append(
                Rod((f"arm_{i}_link", (arm, y, 0.0)), ("platform_z_link", end), 0.65, 0.04, name=f"rod_{i}{side}")
            )
    return tuple(rods)


def _tello_reference() -> dict[str, float]:
    """Knees bent by 0.6 rad, feet flat; the rotors follow from the equations of the differentials."""
    leg = {
        "hip_roll": 0.0, "hip_pitch": -0.3, "knee": 0.6, "ankle": -0.3,
        "hip_rotor_1": -0.840248247352743, "hip_rotor_2": -0.840248247352743,
        "knee_ankle_rotor_1": 5.260773727313684, "knee_ankle_rotor_2": 1.9392262726863156,
    }  # fmt: skip
    return {f"{side}_{joint}": value for side in ("left", "right") for joint, value in leg.items()}


EXTRAS: dict[str, Extra] = {
    "ankle_2rsu": Extra(_ankle_2rsu),
    "cassie_leg": Extra(
        _cassie_leg,
        {
            "hip_roll": 0.0045, "hip_pitch": 0.4973, "knee": -1.1997, "tarsus": 1.4266743773100152,
            "foot": -1.59681, "foot_crank": -1.4888221959593044, "plantar_rod": 1.4704214511612228,
        },
    ),
    "delta": Extra(_delta),
    "four_bar_change_point": Extra(reference={"crank": 1.0, "coupler": -1.0, "rocker": 1.0}),
    "planar_leg_linkage": Extra(reference={"shank_driver": 1.0, "shank_support": 1.0, "foot": -1.0}),
    "six_bar": Extra(
        reference={
            "left_1": 1.2, "left_2": 0.3, "left_3": -1.5,
            "right_1": 1.9364851620639003, "right_2": -2.098894510500566,
        },
    ),
    "tello": Extra(_tello, _tello_reference()),
    "tello_with_arms": Extra(_tello, _tello_reference()),
}  # fmt: skip
