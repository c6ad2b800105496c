"""Pinocchio's joints as the kernels' joints: a chain of primitives whose single axes are z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .._kernels import layout
from ..errors import ModelError, UnsupportedJointError
from ..joints import ROTATION_TOLERANCE, joint_axis, joint_subspace, placement_defect


@dataclass(frozen=True)
class Primitive:
    """One joint of the kernels.

    Attributes:
        kind: One of the kinds of ``_kernels.layout``.
        placement: Its frame in the frame of the tree's parent joint or of the primitive before it.
        align: Rotation from the kernel's frame (axis is z) to the frame of the tree.
        iq: First index in q.
        iv: First index in the tree's v.
        nv: Degrees of freedom.
        pitch: Of a helical joint, [m/rad].
    """

    kind: int
    placement: pin.SE3
    align: np.ndarray
    iq: int
    iv: int
    nv: int
    pitch: float = 0.0


def axis_to_z(axis: np.ndarray) -> np.ndarray:
    """Return a rotation whose third column is the unit axis."""
    for i in range(3):
        if axis[i] == 1.0:  # a coordinate axis: a cyclic exchange has no rounding and costs no multiplication
            return np.roll(np.eye(3), i + 1, axis=0)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def primitives_of(joint: pin.JointModel, placement: pin.SE3, name: str) -> list[Primitive]:
    """Split a joint into primitives, parent first.

    Raises:
        UnsupportedJointError: The joint's type is not known.
        ModelError: Its placement is no rigid one, or its axis is not of unit length.
    """
    return _split(joint, placement, int(joint.idx_q), int(joint.idx_v), name)


def _split(joint: pin.JointModel, placement: pin.SE3, iq: int, iv: int, name: str) -> list[Primitive]:
    kind = joint.shortname()
    defect = placement_defect(placement)
    if defect:
        raise ModelError(f"The placement of joint {name!r} {defect}")
    if "Composite" in kind:
        inner = joint.extract() if hasattr(joint, "extract") else joint
        found: list[Primitive] = []
        for sub, at in zip(inner.joints, inner.jointPlacements, strict=True):
            found += _split(sub, placement * at if not found else at, iq, iv, name)
            iq, iv = iq + sub.nq, iv + sub.nv
        return found
    eye = np.eye(3)
    if kind.endswith("FreeFlyer"):
        return [Primitive(layout.FREEFLYER, placement, eye, iq, iv, 6)]
    if kind.endswith("SphericalZYX"):
        return _chain(layout.REVOLUTE, placement, (eye[2], eye[1], eye[0]), iq, iv)
    if kind.endswith("Spherical"):
        return [Primitive(layout.SPHERICAL, placement, eye, iq, iv, 3)]
    if kind.endswith("Planar"):
        return [Primitive(layout.PLANAR, placement, eye, iq, iv, 3)]
    if kind.endswith("Translation"):
        return _chain(layout.PRISMATIC, placement, (eye[0], eye[1], eye[2]), iq, iv)
    if kind.endswith("Universal"):
        inner = joint.extract() if hasattr(joint, "extract") else joint
        axes = np.array(inner.axis1), np.array(inner.axis2)
        for given in axes:
            _check_axis(given, name)
        return _chain(layout.REVOLUTE, placement, axes, iq, iv)
    if (subspace := joint_subspace(joint)) is not None:
        _check_axis(subspace[3:] if "Prismatic" not in kind and np.any(subspace[3:]) else subspace[:3], name)
    axis = joint_axis(joint)
    if axis is None or "Mimic" in kind:
        raise UnsupportedJointError(
            f"Joint {name!r} is a {kind}, which has no kernel. Supported: all of Pinocchio's joints but mimic "
            "(see pc.expand_mimic) and ellipsoid."
        )
    align = axis_to_z(axis)
    if kind.startswith("JointModelP"):
        return [Primitive(layout.PRISMATIC, placement, align, iq, iv, 1)]
    if kind.startswith("JointModelH"):
        subspace = joint_subspace(joint)
        assert subspace is not None
        pitch = float(subspace[:3] @ axis)
        return [Primitive(layout.HELICAL, placement, align, iq, iv, 1, pitch)]
    if joint.nq == 2:
        return [Primitive(layout.CONTINUOUS, placement, align, iq, iv, 1)]
    if kind.startswith("JointModelR"):
        return [Primitive(layout.REVOLUTE, placement, align, iq, iv, 1)]
    raise UnsupportedJointError(f"Joint {name!r} is a {kind}, which has no kernel.")


def _check_axis(axis: np.ndarray, name: str) -> None:
    """Refuse what Pinocchio computes with in silence: a turn about a longer axis is no rotation."""
    length = float(np.linalg.norm(axis))
    if not abs(length - 1.0) <= ROTATION_TOLERANCE:
        raise ModelError(
            f"The axis of joint {name!r} is {axis}, of length {length:.6g}; it must be a unit vector. Divide it by its "
            "length where the joint is made."
        )


def _chain(kind: int, placement: pin.SE3, axes: tuple[np.ndarray, ...], iq: int, iv: int) -> list[Primitive]:
    """Return joints of one degree of freedom one behind the other at one point."""
    return [
        Primitive(kind, placement if i == 0 else pin.SE3.Identity(), axis_to_z(axis), iq + i, iv + i, 1)
        for i, axis in enumerate(axes)
    ]
