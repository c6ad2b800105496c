"""Looks up the frames and joints that constraints refer to; invalid names raise a ``PinClustersError``."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import between, floats, joint_subspace, placement_defect, unit
from ..errors import ConstraintError, PinClustersWarning, UnknownNameError, UnsupportedJointError, did_you_mean, shown
from .rows import Constraint, model_name, moving_joint_id

UNIVERSE = "universe"
# A direction with seven printed digits has a length error of 1e-7; a larger error means that it is not a unit vector.
UNIT_TOLERANCE = 1e-6


@dataclass(frozen=True, repr=False)
class Attachment:
    """A placement in a named frame. It consists of plain numbers, so it can be compared, hashed and pickled."""

    name: str  # joint, body or any frame of the tree, or ``"universe"``
    translation: tuple[float, ...]  # position in that frame, [m]
    rotation: tuple[float, ...]  # rotation matrix, flattened by rows, shape (9,)

    @property
    def placement(self) -> pin.SE3:
        return pin.SE3(np.array(self.rotation).reshape(3, 3), np.array(self.translation))

    def __repr__(self) -> str:
        if self.rotation == tuple(np.eye(3).ravel()):
            return f"({self.name!r}, {list(self.translation)})"
        return f"({self.name!r}, {self.placement.homogeneous.tolist()})"


def frame_of(value: object, what: str, owner: str) -> str | Attachment:
    if isinstance(value, Attachment) or (isinstance(value, str) and value):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        name, placement = value
        if isinstance(name, str) and name:
            return _attachment(name, placement, what, owner)
    raise ConstraintError(
        f"{owner}: {what} must be the name of a joint, body or frame, or a pair (name, placement) whose placement is "
        f"a pinocchio.SE3, a 4x4 matrix or a point of three numbers, got {shown(value)}."
    )


def frame_pair(value: object, owner: str, where: str) -> tuple[str | Attachment, str | Attachment]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise ConstraintError(f"{owner}: closure must be a pair of frames ({where}), got {shown(value)}.")
    return frame_of(value[0], "closure[0]", owner), frame_of(value[1], "closure[1]", owner)


def _attachment(name: str, placement: object, what: str, owner: str) -> Attachment:
    numbers = placement.homogeneous if isinstance(placement, pin.SE3) else floats(placement)
    if numbers is not None and numbers.shape == (3,):
        M = pin.SE3(np.eye(3), numbers)
    elif numbers is not None and numbers.shape == (4, 4) and np.array_equal(numbers[3], [0.0, 0.0, 0.0, 1.0]):
        M = pin.SE3(numbers)
    else:
        raise ConstraintError(
            f"{owner}: the placement of {what} in {name!r} must be a pinocchio.SE3, a 4x4 matrix with the last "
            f"row 0 0 0 1, or a point of three numbers, got {shown(placement)}."
        )
    defect = placement_defect(M)
    if defect:
        raise ConstraintError(f"{owner}: the placement of {what} in {name!r} {defect}")
    return attached(name, M)


def attached(name: str, placement: pin.SE3) -> Attachment:
    return Attachment(name, tuple(placement.translation.tolist()), tuple(placement.rotation.ravel().tolist()))


def moved_frames(constraint: Any, places: Mapping[str, Attachment]) -> Any:
    """Return a copy of the constraint; each frame named in ``places`` is replaced by its placement in another frame."""

    def moved(given: Any) -> Any:
        if isinstance(given, tuple):
            new = tuple(map(moved, given))
            return given if all(x is y for x, y in zip(given, new, strict=True)) else new
        replacement = places.get(short(given)) if isinstance(given, (str, Attachment)) else None
        if replacement is None or isinstance(given, str):
            return replacement or given
        return attached(replacement.name, replacement.placement * given.placement)

    old = {f.name: getattr(constraint, f.name) for f in fields(constraint) if f.init and f.type in (Any, "Any")}
    new = {name: value for name, given in old.items() if (value := moved(given)) is not given}
    return replace(constraint, **new) if new else constraint


def names_in(given: Any) -> set[str]:
    if isinstance(given, (str, Attachment)):
        return {short(given)}
    if isinstance(given, Constraint):
        given = [getattr(given, f.name) for f in fields(given) if f.name not in ("name", "kind")]  # type: ignore[arg-type]
    return set[str]().union(*map(names_in, given)) if isinstance(given, (list, tuple, Mapping)) else set()


def short(frame: str | Attachment) -> str:
    return frame if isinstance(frame, str) else frame.name


def resolve_frame(tree: pin.Model, frame: str | Attachment, owner: str) -> tuple[int, pin.SE3]:
    """Return a frame's joint id and its placement in the joint frame; joint names take precedence over frame names."""
    name = short(frame)
    extra = pin.SE3.Identity() if isinstance(frame, str) else frame.placement
    if name == UNIVERSE:
        return 0, extra
    if tree.existJointName(name):
        return tree.getJointId(name), extra
    matches = [f for f in tree.frames if f.name == name]
    if not matches:
        raise UnknownNameError(
            f"{owner}: no joint, body or frame {name!r} in {model_name(tree)}."
            + did_you_mean(name, dict.fromkeys([*list(tree.names)[1:], *(f.name for f in tree.frames)]))
        )
    best = next((f for f in matches if f.type == pin.FrameType.BODY), matches[0])
    return best.parentJoint, best.placement * extra


def two_bodies(
    tree: pin.Model, frame_a: str | Attachment, frame_b: str | Attachment, owner: str
) -> tuple[int, pin.SE3, int, pin.SE3]:
    """Return the joint ids and placements of two frames; check that a loop can connect their bodies."""
    joint_a, placement_a = resolve_frame(tree, frame_a, owner)
    joint_b, placement_b = resolve_frame(tree, frame_b, owner)
    if joint_a == joint_b:
        body = f"the body of joint {tree.names[joint_a]!r}" if joint_a else "the universe"
        raise ConstraintError(
            f"{owner}: both frames are on the same body ({body}), which cannot move relative to itself. "
            "Specify frames on two different bodies. Links that are welded together count as one body."
        )
    for j in sorted(between(tree, (joint_a, joint_b))):
        if tree.parents[j] == 0 and tree.joints[j].nv == 6:
            raise ConstraintError(
                f"{owner}: the path between the two frames contains {tree.names[j]!r}, a free joint on the "
                "universe. A connection of a floating base to the world is a contact, not a loop of the mechanism: "
                "use fext or a contact solver. If this body is a platform on legs, attach it to one leg "
                "instead of the free joint, and close the other legs by loops."
            )
    return joint_a, placement_a, joint_b, placement_b


def direction(axis: object, what: str, owner: str) -> tuple[float, ...]:
    """Return an axis as a unit vector; warn if its length is not 1."""
    a = unit(axis)
    if a is None:
        raise ConstraintError(f"{owner}: {what} must be three finite numbers, not all zero, got {shown(axis)}.")
    length = np.linalg.norm(np.asarray(axis, dtype=float))
    if abs(length - 1.0) > UNIT_TOLERANCE:
        warnings.warn(
            f"{owner}: {what} {tuple(np.asarray(axis).tolist())} has length {length:g} and was normalised.",
            PinClustersWarning,
            stacklevel=4,
        )
    return tuple(a.tolist())


def smallest_turn(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the smallest rotation from ``start`` to ``end``; for opposite vectors, about ``perpendicular(start)``."""
    cosine = start @ end
    if cosine < -1.0 + 1e-12:
        across = perpendicular(start)
        return 2.0 * np.outer(across, across) - np.eye(3)
    cross = pin.skew(np.cross(start, end))
    return np.eye(3) + cross + cross @ cross / (1.0 + cosine)


def perpendicular(axis: np.ndarray) -> np.ndarray:
    """Return a unit vector perpendicular to an axis: y for axis x, z for axis y, and x for axis z.

    For any other axis, let n be the coordinate axis after the one nearest to ``axis``, in the order x, y, z, x. The
    result is the component of n perpendicular to ``axis``, normalized.
    """
    next_axis = np.eye(3)[(np.argmax(np.abs(axis)) + 1) % 3]
    across = next_axis - (next_axis @ axis) * axis
    return across / np.linalg.norm(across)


def coordinate_joint(tree: pin.Model, name: str, owner: str) -> int:
    """Return the id of the named joint; raise an error unless it has one coordinate and one degree of freedom."""
    j = moving_joint_id(tree, name, owner)
    if tree.joints[j].nq != 1:
        raise UnsupportedJointError(
            f"{owner}: joint {tree.names[j]!r} is continuous: its coordinates are (cos, sin), without the number of "
            "turns that the equations need. Use a revolute joint instead (in a URDF: type 'revolute' with wide limits)."
        )
    return j


def line_joint(tree: pin.Model, name: str, owner: str, prismatic: bool = False) -> tuple[int, np.ndarray]:
    """Return the id of a revolute (or prismatic) joint, and the joint's unit axis in the joint frame."""
    j = moving_joint_id(tree, name, owner)
    subspace = joint_subspace(tree.joints[j])
    assert subspace is not None  # moving_joint_id has checked that the joint has one degree of freedom
    along, about = subspace[:3], subspace[3:]
    if np.any(about if prismatic else along):
        kind = "prismatic" if prismatic else "revolute"
        raise UnsupportedJointError(
            f"{owner}: joint {tree.names[j]!r} is a {tree.joints[j].shortname()}, but this constraint needs a "
            f"{kind} joint. Use pc.Loop, which accepts any joint."
        )
    return j, along if prismatic else about


def opening(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between two unit vectors [rad]."""
    return math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
