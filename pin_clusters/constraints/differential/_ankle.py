"""The universal ankle: two revolute joints in either order, and points of shank and foot.

What is ill-formed, or on another body than it should be, is refused with a ``ConstraintError``.
"""

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
    """Return a pair of points: frames, or three numbers in the body's joint frame."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
        raise ConstraintError(f"{owner}: {what} must be two points, one per rod, got {value!r}.")
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
    """Return two positive lengths; one number stands for both, None stays."""
    if value is None:
        return None
    given = floats(value)
    if given is None or given.shape not in ((), (1,), (2,)) or not np.all(np.isfinite(given) & (given > 0.0)):
        raise ConstraintError(f"{owner}: {what} must be one or two positive lengths, [m], got {value!r}.")
    first, second = np.broadcast_to(given, 2).tolist()
    return first, second


def anchor_point(tree: pin.Model, anchor: Anchor, joint: int, what: str, owner: str) -> np.ndarray:
    """Return a point in the frame of the joint of its body."""
    if isinstance(anchor, tuple):
        return np.array(anchor)
    j, placement = resolve_frame(tree, anchor, owner)
    if j != joint:
        raise ConstraintError(
            f"{owner}: {what} must be on the body of {tree.names[joint]!r}, and is on that of {tree.names[j]!r}."
        )
    return np.array(placement.translation)


def turn(axis: np.ndarray, angle: Any) -> np.ndarray:
    """Return the rotation about a unit axis by an angle that is a number (real or complex) or an ``Angle``."""
    if isinstance(angle, Angle):
        return rotation(axis, angle)
    along, skew = np.outer(axis, axis), pin.skew(axis)
    return along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * skew


@dataclass(frozen=True, eq=False)
class Ankle:
    """A foot on two revolute joints.

    Attributes:
        shank: Joint id of the body that the upper joint hangs from.
        joints: Joint ids, upper first.
        pitch_first: Whether the upper joint is the one named pitch.
        rotations: Of the placements of the joints, upper first.
        origins: Of the joints in the body that each hangs from.
        axes: Of the joints in their frames.
    """

    shank: int
    joints: tuple[int, int]
    pitch_first: bool
    rotations: tuple[np.ndarray, ...]
    origins: tuple[np.ndarray, ...]
    axes: tuple[np.ndarray, ...]

    @classmethod
    def read(cls, tree: pin.Model, pitch: str, roll: str, owner: str) -> "Ankle":
        """Read it from a tree."""
        p, r = (coordinate_joint(tree, name, owner) for name in (pitch, roll))
        axes = {j: line_joint(tree, name, owner)[1] for j, name in ((p, pitch), (r, roll))}
        if tree.parents[r] == p:
            joints = (p, r)
        elif tree.parents[p] == r:
            joints = (r, p)
        else:
            raise ConstraintError(
                f"{owner}: neither of the joints {tree.names[p]!r} and {tree.names[r]!r} hangs from the other. A "
                "universal ankle is two revolute joints in a row; for another one use pc.Rod."
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
        """Joint id of the foot."""
        return self.joints[1]

    @property
    def pitch_roll(self) -> tuple[int, int]:
        """Joint ids, pitch first."""
        return self.joints if self.pitch_first else self.joints[::-1]

    def turns(self, pitch: Any, roll: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotations of both joints relative to the bodies they hang from, upper first."""
        angles = (pitch, roll) if self.pitch_first else (roll, pitch)
        first, second = (R @ turn(n, x) for R, n, x in zip(self.rotations, self.axes, angles, strict=True))
        return first, second

    def foot_point(self, point: np.ndarray, pitch: Any, roll: Any) -> np.ndarray:
        """Return a point of the foot in the frame of the shank's joint."""
        first, second = self.turns(pitch, roll)
        return self.origins[0] + first @ (self.origins[1] + second @ point)

    def square_distance(self, point: np.ndarray, other: np.ndarray, pitch: Any, roll: Any) -> Any:
        """Return the square of the distance from a point of the foot to one of the shank, with few terms."""
        first, second = self.turns(pitch, roll)
        offset, low = self.origins[0] - other, second @ point
        constant = offset @ offset + self.origins[1] @ self.origins[1] + point @ point
        return constant + 2.0 * (offset @ (first @ (self.origins[1] + low))) + 2.0 * (self.origins[1] @ low)
