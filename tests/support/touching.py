"""Contacts at random, and what they may be asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from samples import trees

import pin_clusters as pc


def contacts(model: pc.ClusterModel, rng: np.random.Generator, kinds: list[Any], axes: Any) -> list[Any]:
    """With the world and with another body; on rotors' bodies, where there are some, in half of the cases."""
    rotors = [r.joint_id for r in model.rotors if r.joint_id is not None]
    found = []
    for kind in kinds:
        one = int(rng.choice(rotors)) if rotors and rng.random() < 0.5 else int(rng.integers(1, model.njoints))
        two = int(rng.choice([j for j in range(model.njoints) if j != one])) if rng.random() < 0.5 else 0
        found.append(pc.RigidConstraintModel(kind, model, one, trees.placement(rng), two, trees.placement(rng), axes))
    return found


def correct(models: list[Any], rng: np.random.Generator) -> None:
    """Gains, and a motion that is asked for."""
    for c in models:
        gains = c.m_baumgarte_parameters if hasattr(c, "m_baumgarte_parameters") else c.corrector
        if hasattr(pin, "lcaba"):  # one gain for all rows in Pinocchio 4
            gains.Kp, gains.Kd = 30.0, 7.0
        else:
            gains.Kp[:], gains.Kd[:] = 30.0, 7.0
        c.desired_contact_placement = trees.placement(rng)
        c.desired_contact_velocity = pin.Motion(rng.normal(size=6))
        c.desired_contact_acceleration = pin.Motion(rng.normal(size=6))
