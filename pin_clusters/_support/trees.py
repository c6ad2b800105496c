"""Queries of trees and joints (paths, motion subspaces, coordinates), and checks of rotor inertias."""

import math
from collections.abc import Collection, Iterable

import numpy as np
import pinocchio as pin

from ..errors import ConfigurationError

# Relative tolerance of rotor checks: rounding in CAD exports is near 1e-15, and a real imbalance is near 1e-3.
SPIN_TOLERANCE = 1e-9
# Rounding of a printed rotation causes errors near 1e-7; larger errors mean that the matrix is not a rotation.
ROTATION_TOLERANCE = 1e-6
# Fields of pin.Model, in any supported version, with one entry per entry of v; PER_POSITION: per entry of q
PER_VELOCITY = (
    "armature",
    "rotorInertia",
    "rotorGearRatio",
    "friction",
    "damping",
    "effortLimit",
    "velocityLimit",
    "lowerEffortLimit",
    "upperEffortLimit",
    "lowerVelocityLimit",
    "upperVelocityLimit",
    "lowerDryFrictionLimit",
    "upperDryFrictionLimit",
)
PER_POSITION = ("lowerPositionLimit", "upperPositionLimit", "positionLimitMargin")


def common_ancestor(tree: pin.Model, bodies: Iterable[int]) -> int:
    """Return the nearest common ancestor of bodies; a body is its own ancestor."""
    paths = [list(tree.supports[b]) for b in bodies]
    shared = [int(level[0]) for level in zip(*paths, strict=False) if len(set(level)) == 1]
    return shared[-1] if shared else 0


def path_below(tree: pin.Model, top: int, j: int) -> list[int]:
    path = list(tree.supports[j])
    return [int(k) for k in path[path.index(top) + 1 :]]


def between(tree: pin.Model, bodies: Collection[int], own: Collection[int] = ()) -> set[int]:
    """Return the joints that move the bodies relative to each other, and the joints of the bodies in ``own``."""
    top = common_ancestor(tree, [int(tree.parents[b]) if b in own else b for b in bodies])
    return {k for b in bodies for k in path_below(tree, top, b)}


def in_q(tree: pin.Model, j: int) -> range:
    return range(tree.idx_qs[j], tree.idx_qs[j] + tree.nqs[j])


def in_v(tree: pin.Model, j: int) -> range:
    return range(tree.idx_vs[j], tree.idx_vs[j] + tree.nvs[j])


def copy_fields(model: pin.Model, j: int, tree: pin.Model, k: int) -> None:
    for names, to, of in ((PER_VELOCITY, in_v(tree, k), in_v(model, j)), (PER_POSITION, in_q(tree, k), in_q(model, j))):
        for name in names:
            if hasattr(model, name):
                getattr(tree, name)[to] = getattr(model, name)[of]


def joint_in_v(tree: pin.Model, i: int) -> int:
    return next(j for j in range(1, tree.njoints) if i in in_v(tree, j))


def joint_in_q(tree: pin.Model, i: int) -> int:
    return next(j for j in range(1, tree.njoints) if i in in_q(tree, j))


def check_finite(tree: pin.Model, name: str, q: np.ndarray) -> None:
    if not np.isfinite(q).all():
        i = int(np.flatnonzero(~np.isfinite(q))[0])
        raise ConfigurationError(f"{name}[{i}] = {q[i]} (joint {tree.names[joint_in_q(tree, i)]!r}) is not finite.")


def slides(tree: pin.Model, j: int) -> bool:
    return tree.joints[j].shortname().startswith("JointModelP") and tree.joints[j].nv == 1


def value_at(q: np.ndarray, iq: int, nq: int) -> float:
    """Return the angle [rad] or position [m] of a joint with one degree of freedom and coordinates q[iq : iq + nq]."""
    return float(q[iq]) if nq == 1 else math.atan2(q[iq + 1], q[iq])


def coordinate(tree: pin.Model, j: int, q: np.ndarray) -> float:
    return value_at(q, tree.idx_qs[j], tree.nqs[j])


def coordinates_of(tree: pin.Model, joints: Iterable[int], q: np.ndarray) -> np.ndarray:
    return np.array([coordinate(tree, j, q) for j in joints])


def set_coordinate(tree: pin.Model, j: int, q: np.ndarray, value: float) -> None:
    i = tree.idx_qs[j]
    q[i : i + tree.nqs[j]] = (math.cos(value), math.sin(value)) if tree.nqs[j] == 2 else value


def floats(value: object) -> np.ndarray | None:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None


def unit(axis: object) -> np.ndarray | None:
    """Normalize an axis, shape (3,); return None if the axis is not a finite, non-zero vector."""
    a = floats(axis)
    if a is None or a.shape != (3,) or not np.all(np.isfinite(a)) or not np.any(a):
        return None
    a = a / np.abs(a).max()  # the squares of 1e200 or 1e-200 would overflow or underflow
    return a / np.linalg.norm(a)


def is_finite(inertia: pin.Inertia) -> bool:
    return all(bool(np.all(np.isfinite(part))) for part in (inertia.mass, inertia.lever, inertia.inertia))


def placement_defect(placement: pin.SE3) -> str:
    """Return why a placement is not a rigid transform and how to fix it, or ``""`` for a rigid transform."""
    rotation = placement.rotation
    if not (np.all(np.isfinite(rotation)) and np.all(np.isfinite(placement.translation))):
        return "is not finite."
    deviation = np.abs(rotation.T @ rotation - np.eye(3)).max()
    if deviation > ROTATION_TOLERANCE or np.linalg.det(rotation) < 0.0:
        return (
            f"contains no rotation matrix (error of R'R {deviation:.1e}, det R = {np.linalg.det(rotation):.3g}). "
            "Use a right-handed orthonormal matrix; normalize() of pin.SE3 removes rounding errors."
        )
    return ""


def joint_subspace(joint: pin.JointModel) -> np.ndarray | None:
    """Return the motion subspace in the joint frame, shape (6,); None unless the joint has one degree of freedom."""
    if joint.nv != 1:
        return None
    data = joint.createData()
    # joint.calc reads q at joint.idx_q, so q also needs entries for all earlier joints.
    q = np.zeros(joint.idx_q + joint.nq)
    if joint.nq == 2:
        q[-2] = 1.0  # cos of a joint with q = (cos, sin)
    joint.calc(data, q)
    return np.asarray(data.S, dtype=float).reshape(6, -1)[:, 0]


def joint_axis(joint: pin.JointModel) -> np.ndarray | None:
    """Return the axis in the joint frame, shape (3,); None unless the joint has one degree of freedom."""
    subspace = joint_subspace(joint)
    return None if subspace is None else unit(subspace[3:] if np.any(subspace[3:]) else subspace[:3])


def centred(tree: pin.Model, j: int) -> bool:
    """Return whether m d^2 is at most half of the inertia about the joint axis; d: distance of the axis to the COM."""
    subspace, inertia = joint_subspace(tree.joints[j]), tree.inertias[j]
    if subspace is None or np.any(subspace[:3]):
        return False
    arm = np.cross(inertia.lever, axis := subspace[3:])
    return bool(inertia.mass * (arm @ arm) <= axis @ inertia.inertia @ axis)


def spin_defect(inertia: pin.Inertia, axis: np.ndarray) -> str:
    """Return why a body is not a balanced, axisymmetric rotor about an axis through its origin; ``""`` for a rotor."""
    rotational = inertia.inertia
    axial = float(axis @ rotational @ axis)
    transverse = 0.5 * (np.trace(rotational) - axial)
    outer = np.outer(axis, axis)
    asymmetry = np.abs(rotational - transverse * (np.eye(3) - outer) - axial * outer).max()
    scale = max(np.abs(rotational).max(), 1e-300)
    if asymmetry > SPIN_TOLERANCE * scale:
        return f"its inertia is not symmetric about the axis (deviation {asymmetry / scale:.1e} of its largest entry)"
    offset = np.linalg.norm(np.cross(inertia.lever, axis))
    gyration = np.sqrt(scale / inertia.mass) if inertia.mass > 0.0 else 0.0
    if inertia.mass > 0.0 and offset > SPIN_TOLERANCE * max(gyration, 1e-3):
        return f"its centre of mass is {offset:.2e} m off the axis"
    return ""
