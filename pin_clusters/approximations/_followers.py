"""What follows other joints without being a rotor."""

from __future__ import annotations

import numpy as np

from ..joints import joint_subspace
from ..model import ClusterModel


def followers(model: ClusterModel) -> tuple[str, ...]:
    """Return the joints that follow others but belong to no rotor, such as the fingers of a gripper.

    They slide, or carry a body that is not balanced about their axis and turns no faster than what moves it. The
    approximations lock them into their carriers as they do rotors.

    Args:
        model: The robot.

    Returns:
        Names, in the order of ``model.rotors``.
    """
    found = []
    for r in model.rotors:
        if r.joint_id is None or r.spins or r.inertia is None:
            continue
        subspace = joint_subspace(model.tree.joints[r.joint_id])
        slides = subspace is None or not np.any(subspace[3:])
        if slides or max((abs(ratio) for _, ratio in r.drivers), default=0.0) <= 1.0:
            found.append(r.name)
    return tuple(found)
