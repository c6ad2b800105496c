"""Kinematics of universal ankles, which consist of a pitch joint and a roll joint in either order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import floats
from ...errors import ConstraintError
from .._frames import Attachment, coordinate_joint, frame_of, line_joint, resolve_frame
from .._harmonics import Angle, rotation

Anchor = str | Attachment | tuple[float, ...]


def anchors(value: object, what: str, owner: str) -> tuple[Anchor, Anchor]:
    """Check a pair of points; each point is a frame, or three numbers in the joint frame of its body."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
        raise ConstraintError(f"{owner}: {what} must be two points, one for each rod, got {value!r}.")
    first, second = (_anchor(v, f"{what}[{i}]", owner) for i, v in enumerate(value))
    return first, second


def _anchor(value: Any, what: str, owner: str) -> Anchor:
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and len(value) == 3:
        point = floats(value)
        if point is None or point.shape != (3,) or not np.all(np.isfinite(point)):
            raise ConstraintError(f"{owner}: {what} must be three finite numbers, got {value!r}.")
        return tuple(point.tolist())
    return frame_of(value, what, owner)


def rod_lengths(value: Any, what: str, owner: str) -> tuple[float, float] | None:
    """Return two checked rod lengths [m]; one number applies to both rods, and None is returned unchanged."""
    if value is None:
        return None
    lengths = floats(value)
    if lengths is None or lengths.shape not in ((), (1,), (2,)) or not np.all(np.isfinite(lengths) & (lengths > 0.0)):
        raise ConstraintError(f"{owner}: {what} must be one or two positive lengths [m], got {value!r}.")
    first, second = np.broadcast_to(lengths, 2).tolist()
    return first, second


def anchor_point(tree: pin.Model, anchor: Anchor, joint: int, what: str, owner: str) -> np.ndarray:
    """Return a point in the joint frame of its body, [m]."""
    if isinstance(anchor, tuple):
        return np.array(anchor)
    j, placement = resolve_frame(tree, anchor, owner)
    if j != joint:
        raise ConstraintError(
            f"{owner}: {what} must be on the body of {tree.names[joint]!r}, got a frame on {tree.names[j]!r}."
        )
    return np.array(placement.translation)


def turn(axis: np.ndarray, angle: Any) -> np.ndarray:
    """Return the rotation about a unit axis by an angle, which is a real or complex number or an ``Angle``."""
    if isinstance(angle, Angle):
        return rotation(axis, angle)
    along, skew = np.outer(axis, axis), pin.skew(axis)
    return along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * skew


@dataclass(frozen=True, eq=False)
class Ankle:
    """A foot on two revolute joints; in all tuples, the upper joint comes first."""

    shank: int  # joint id of the parent body of the upper joint
    joints: tuple[int, int]  # joint ids
    pitch_first: bool  # whether the upper joint is the pitch joint
    rotations: tuple[np.ndarray, ...]  # rotations of the joint placements
    origins: tuple[np.ndarray, ...]  # positions of the joints in their parent bodies, [m]
    axes: tuple[np.ndarray, ...]  # joint axes in the joint frames

    @classmethod
    def read(cls, tree: pin.Model, pitch: str, roll: str, owner: str) -> "Ankle":
        p, r = (coordinate_joint(tree, name, owner) for name in (pitch, roll))
        axes = {j: line_joint(tree, name, owner)[1] for j, name in ((p, pitch), (r, roll))}
        if tree.parents[r] == p:
            joints = (p, r)
        elif tree.parents[p] == r:
            joints = (r, p)
        else:
            raise ConstraintError(
                f"{owner}: neither of the joints {tree.names[p]!r} and {tree.names[r]!r} hangs from the other. A "
                "universal ankle has two revolute joints in series; for other ankles use pc.Rod."
            )
        placements = [tree.jointPlacements[j] for j in joints]
        return cls(
            tree.parents[joints[0]],
            joints,
            joints[0] == p,
            tuple(np.array(M.rotation) for M in placements),
            tuple(np.array(M.translation) for M in placements),
            tuple(axes[j] for j in joints),
        )

    @property
    def foot(self) -> int:
        return self.joints[1]

    @property
    def pitch_roll(self) -> tuple[int, int]:
        """Joint ids: the pitch joint, then the roll joint."""
        return self.joints if self.pitch_first else self.joints[::-1]

    def turns(self, pitch: Any, roll: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotations of the two joints relative to their parent bodies, upper joint first."""
        angles = (pitch, roll) if self.pitch_first else (roll, pitch)
        first, second = (R @ turn(n, x) for R, n, x in zip(self.rotations, self.axes, angles, strict=True))
        return first, second

    def foot_point(self, point: np.ndarray, pitch: Any, roll: Any) -> np.ndarray:
        """Return a point of the foot, expressed in the joint frame of the shank."""
        first, second = self.turns(pitch, roll)
        return self.origins[0] + first @ (self.origins[1] + second @ point)

    def square_distance(self, point: np.ndarray, other: np.ndarray, pitch: Any, roll: Any) -> Any:
        """Return the squared distance from a point of the foot to a point of the shank, expanded into few terms."""
        first, second = self.turns(pitch, roll)
        offset, low = self.origins[0] - other, second @ point
        constant = offset @ offset + self.origins[1] @ self.origins[1] + point @ point
        return constant + 2.0 * (offset @ (first @ (self.origins[1] + low))) + 2.0 * (self.origins[1] @ low)
