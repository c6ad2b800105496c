"""Robots in states with contact, for the tests of traced steps."""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

import numpy as np

import pin_clusters as pc

FEET: dict[str, Any] = {
    "mini_cheetah": ["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
    "tello": ["left_toe", "left_heel", "right_toe", "right_heel"],
    "cassie": ["left_toe", "left_heel", "right_toe", "right_heel"],
    "mit_humanoid": {
        f"{side}_ankle": [[x, y, -0.041] for x in (-0.05, 0.1) for y in (-0.03, 0.03)] for side in ("left", "right")
    },
}
POSE = {"mini_cheetah": {"hip": -0.8, "knee": 1.6}, "mit_humanoid": {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4}}
GAINS = {"mini_cheetah": (40.0, 1.0), "mit_humanoid": (150.0, 4.0), "tello": (2.5, 0.05), "cassie": (200.0, 6.0)}


class Robot(NamedTuple):
    """A robot, its contact points, and a configuration in which it stands on the ground."""

    model: pc.ClusterModel
    feet: pc.ContactPoints
    q: np.ndarray


@functools.cache
def robot(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # the published inertias of mini_cheetah's hips
        model = pc.load(name)
    feet = pc.contact_points(model, FEET[name])
    q = pc.neutral(model) if model.q_reference is None else np.array(model.q_reference)
    change = np.zeros(model.nv)
    for k, joint in enumerate(model.independent_joints[1:], 6):
        for end, angle in POSE.get(name, {}).items():
            change[k] = angle if joint.endswith(f"_{end}") else change[k]
    return Robot(model, feet, pc.on_ground(model, pc.integrate(model, q, change), touching=feet))


def states(of: Robot, n: int, ground: pc.Ground | None = None, above: float = 0.002) -> tuple[np.ndarray, np.ndarray]:
    """Return n configurations near the standing one, up to ``above`` over the ground, and velocities."""
    rng, q, v = np.random.default_rng(0), [], []
    for _ in range(n):
        change = np.r_[np.zeros(3), 0.1 * rng.uniform(-1.0, 1.0, of.model.nv - 3)]
        changed = pc.integrate(of.model, of.q, change)
        q.append(pc.on_ground(of.model, changed, ground, of.feet, above=above * rng.uniform(0.5, 1.0)))
        v.append(np.r_[0.0, 0.0, -0.5, np.zeros(of.model.nv - 3)] + 0.3 * rng.standard_normal(of.model.nv))
    return np.array(q), np.array(v)
