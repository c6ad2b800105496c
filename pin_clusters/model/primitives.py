"""Converts Pinocchio's joints to the joints of the kernels, which are chains of primitive joints with axis z."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .._support.trees import ROTATION_TOLERANCE, joint_axis, joint_subspace, placement_defect
from ..errors import ModelError, UnsupportedJointError
from ..kernels.tables import layout


@dataclass(frozen=True)
class Primitive:
    """A primitive joint of the kernels, with one or several degrees of freedom."""

    kind: int  # one of the kinds of ``kernels.tables.layout``
    placement: pin.SE3  # placement in the frame of the parent joint or of the previous primitive
    align: np.ndarray  # rotation from the kernel's joint frame (axis z) to the tree's joint frame
    iq: int  # first index in q
    iv: int  # first index in the tree's v
    nv: int  # degrees of freedom
    pitch: float = 0.0  # pitch of a helical joint, [m/rad]


# Joints that are a single primitive: end of Pinocchio's class name, kind of primitive, degrees of freedom.
_WHOLE = (("FreeFlyer", layout.FREEFLYER, 6), ("Spherical", layout.SPHERICAL, 3), ("Planar", layout.PLANAR, 3))


def axis_to_z(axis: np.ndarray) -> np.ndarray:
    """Return a rotation whose third column is the unit axis."""
    for i in range(3):
        if axis[i] == 1.0:  # A cyclic permutation causes no rounding errors and needs no multiplication.
            return np.roll(np.eye(3), i + 1, axis=0)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def primitives_of(joint: pin.JointModel, placement: pin.SE3, name: str) -> list[Primitive]:
    """Split a joint into primitives, parent first; raise an error if its type, placement or axis is not supported."""
    return _split(joint, placement, joint.idx_q, joint.idx_v, name)


def _split(joint: pin.JointModel, placement: pin.SE3, iq: int, iv: int, name: str) -> list[Primitive]:
    kind = joint.shortname()
    defect = placement_defect(placement)
    if defect:
        raise ModelError(f"The placement of joint {name!r} {defect}")
    if "Composite" in kind:
        inner = joint.extract() if hasattr(joint, "extract") else joint
        primitives: list[Primitive] = []
        for sub, joint_placement in zip(inner.joints, inner.jointPlacements, strict=True):
            primitives += _split(sub, placement * joint_placement if not primitives else joint_placement, iq, iv, name)
            iq, iv = iq + sub.nq, iv + sub.nv
        return primitives
    eye = np.eye(3)
    for ending, whole, nv in _WHOLE:
        if kind.endswith(ending):
            return [Primitive(whole, placement, eye, iq, iv, nv)]
    if kind.endswith("SphericalZYX"):
        return _chain(layout.REVOLUTE, placement, (eye[2], eye[1], eye[0]), iq, iv)
    if kind.endswith("Translation"):
        return _chain(layout.PRISMATIC, placement, (eye[0], eye[1], eye[2]), iq, iv)
    if kind.endswith("Universal"):
        inner = joint.extract() if hasattr(joint, "extract") else joint
        axes = np.array(inner.axis1), np.array(inner.axis2)
        for unit_axis in axes:
            _check_axis(unit_axis, name)
        return _chain(layout.REVOLUTE, placement, axes, iq, iv)
    if (subspace := joint_subspace(joint)) is not None:
        _check_axis(subspace[3:] if "Prismatic" not in kind and np.any(subspace[3:]) else subspace[:3], name)
    axis = joint_axis(joint)
    if axis is None or "Mimic" in kind:
        raise UnsupportedJointError(
            f"Joint {name!r} is a {kind}, which is not supported. All of Pinocchio's joints are supported except "
            "mimic joints (see pc.expand_mimic) and ellipsoid joints."
        )
    pitch = 0.0
    if kind.startswith("JointModelP"):
        primitive_kind = layout.PRISMATIC
    elif kind.startswith("JointModelH"):
        assert subspace is not None
        primitive_kind, pitch = layout.HELICAL, float(subspace[:3] @ axis)
    elif joint.nq == 2:
        primitive_kind = layout.CONTINUOUS
    elif kind.startswith("JointModelR"):
        primitive_kind = layout.REVOLUTE
    else:
        raise UnsupportedJointError(f"Joint {name!r} is a {kind}, which is not supported.")
    return [Primitive(primitive_kind, placement, axis_to_z(axis), iq, iv, 1, pitch)]


def _check_axis(axis: np.ndarray, name: str) -> None:
    """Raise ``ModelError`` unless the axis has unit length; otherwise, Pinocchio would compute wrong rotations."""
    length = np.linalg.norm(axis)
    if not abs(length - 1.0) <= ROTATION_TOLERANCE:
        raise ModelError(
            f"The axis of joint {name!r} is {axis}, of length {length:.6g}; it must be a unit vector. Divide it by its "
            "length where the joint is created."
        )


def _chain(kind: int, placement: pin.SE3, axes: tuple[np.ndarray, ...], iq: int, iv: int) -> list[Primitive]:
    return [
        Primitive(kind, placement if i == 0 else pin.SE3.Identity(), axis_to_z(axis), iq + i, iv + i, 1)
        for i, axis in enumerate(axes)
    ]
