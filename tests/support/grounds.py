"""Robots and blocks that fall, and what they may touch the ground with."""

from __future__ import annotations

import itertools
import warnings
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc

NEEDED = pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="solvers of contact came with pin 4.1")
BLOCK = (0.4, 0.2, 0.1)
SOLES = [(x, y, -0.041) for x in (-0.05, 0.1) for y in (-0.03, 0.03)]
PLATE = [(x, y, -0.1) for x in (-0.08, 0.12) for y in (-0.05, 0.05)]
TRUNK = [(x, y, z) for x in (-0.15, 0.15) for y in (-0.1, 0.1) for z in (-0.06, 0.06)]
_TOUCHING = {
    "mini_cheetah": {f"{leg}_knee": (0.0, 0.0, -0.195) for leg in ("FL", "FR", "HL", "HR")},
    "mit_humanoid": {f"{side}_ankle": SOLES for side in ("left", "right")},
    "tello": {f"{side}_ankle": SOLES for side in ("left", "right")},
    "tello_with_arms": {f"{side}_ankle": SOLES for side in ("left", "right")},
    "cassie": {f"{side}_foot": [(-0.01, -0.08, 0.0), (0.09, 0.06, 0.0)] for side in ("left", "right")},
    "jvrc1": {f"{side}_ankle_pitch": PLATE for side in ("left", "right")},
}  # fmt: skip


def corners(size: tuple[float, float, float]) -> np.ndarray:
    """Of a box around the origin, shape (8, 3)."""
    return 0.5 * np.array(list(itertools.product(*[(-x, x) for x in size])))


def block(
    size: tuple[float, float, float] = BLOCK, mass: float = 2.0, base: pin.JointModel | None = None
) -> pc.ClusterModel:
    """A body on a free flyer."""
    tree = pin.Model()
    body = tree.addJoint(0, base or pin.JointModelFreeFlyer(), pin.SE3.Identity(), "block")
    tree.appendBodyToJoint(body, pin.Inertia.FromBox(mass, *size), pin.SE3.Identity())
    return pc.ClusterModel(tree)


@cache
def robot(name: str) -> tuple[pc.ClusterModel, pc.ContactPoints]:
    """A robot and its points: those of the feet, and eight of its trunk; of a block its corners."""
    if name == "block":
        model = block()
        return model, pc.contact_points(model, {"block": corners(BLOCK)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = stopped(pc.load(name)) if name == "tello" else pc.load(name)
    return model, pc.contact_points(model, {**_TOUCHING[name], model.names[1]: TRUNK})


def stopped(model: pc.ClusterModel) -> pc.ClusterModel:
    """Tello with stops before the dead centres of its linkages; the file's are none."""
    tree, home = model.tree.copy(), model.q_reference
    low, high = tree.lowerPositionLimit.copy(), tree.upperPositionLimit.copy()
    for j, name in enumerate(tree.names):
        if name.endswith(("hip_roll", "hip_pitch", "knee", "ankle")):
            at = tree.joints[j].idx_q
            low[at], high[at] = home[at] - 0.5, home[at] + 0.5
    tree.lowerPositionLimit, tree.upperPositionLimit = low, high
    return pc.ClusterModel(tree, model.constraints, q_reference=home, preferred=model.preferred)


def feet(name: str) -> dict[str, np.ndarray]:
    """The points of the feet alone."""
    return {joint: np.array(x, dtype=float) for joint, x in _TOUCHING[name].items()}


def held(model: pc.ClusterModel, home: np.ndarray, stiffness: float, damping: float):
    """A controller that holds the joints, not the base, in a pose."""
    driven = np.arange(model.nv) >= 6
    return lambda t, q, v: driven * (stiffness * pc.difference(model, q, home) - damping * v)
