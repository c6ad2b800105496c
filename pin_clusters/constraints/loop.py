"""Loop-closure constraints: two frames form a joint that is not in the tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ConstraintError, did_you_mean
from ._frames import direction, frame_of, opening, perpendicular, short, smallest_turn, two_bodies
from .closures import FrameClosure
from .rows import Constraint, store

# For each kind: ``rotation`` of the closure, and the entries of [t; e] (see ``Loop``) that must be zero.
KINDS: dict[str, tuple[str, tuple[int, ...]]] = {
    "fixed": ("full", (0, 1, 2, 3, 4, 5)),
    "revolute": ("axis", (0, 1, 2, 3, 4)),
    "prismatic": ("full", (0, 1, 3, 4, 5)),
    "cylindrical": ("axis", (0, 1, 3, 4)),
    "spherical": ("none", (0, 1, 2)),
    "universal": ("universal", (0, 1, 2, 5)),
    "planar": ("axis", (2, 3, 4)),
}
ROW_NAMES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
# Axes within this angle [rad] of opposite directions raise an error, because rounding would select the half turn.
OPPOSITE = 1e-6


@dataclass(frozen=True)
class Loop(Constraint):
    """A joint between two bodies that closes a kinematic loop; the joint is not part of the tree.

    The frames may be on any two bodies: on two branches, on a body and one of its ancestors, or on a body and the
    universe. The joints on the path between the two bodies, up to their nearest common ancestor, form a cluster.

    Let t be the position [m] of frame b relative to frame a, in the axes of frame a rotated so that ``axis`` is z. Let
    e be the rotation [rad] of frame b relative to frame a. The equations are:

    =============  =========================================  =====  ================================
    kind           zero in a closed loop                      rows   free motion
    =============  =========================================  =====  ================================
    fixed          t, and e = log3(R_a' R_b)                  6      none
    revolute       all of t, and e across the axis            5      rotation about the axis
    prismatic      t across the axis, and e = log3(R_a' R_b)  5      translation along the axis
    cylindrical    t and e across the axis                    4      rotation and translation
    spherical      t                                          3      rotation
    universal      t, and asin(axis . axis_b)                 4      rotation about axis and axis_b
    planar         t along the axis, and e across it          3      translation across, rotation about
    =============  =========================================  =====  ================================

    "Across the axis" means the two components perpendicular to the axis. If a kind constrains only these components of
    e, e is the shortest rotation vector that maps the axis in frame a to the axis in frame b. Opposite axes therefore
    do not close the loop. For fixed and spherical loops, t and e are in the axes of frame a, not rotated to ``axis``.

    Args:
        frame_a: Name of a joint, body or frame of the tree, or ``"universe"``; or a pair of such a name and a placement
            in that frame: a ``pinocchio.SE3``, a 4x4 matrix, or a point of three numbers [m].
        frame_b: A frame on another body, given in the same way as ``frame_a``.
        kind: Kind of joint, from the table above.
        axis: Axis of the joint in frame a; it has no effect on a spherical loop, or on a fixed loop without ``axis_b``.
        axis_b: The joint axis in frame b; by default it has the same coordinates as ``axis``. Frame b is first rotated
            by the smallest rotation that maps ``axis`` to ``axis_b``. For a universal loop, ``axis_b`` is the axis of
            the cross that is fixed in frame b; its default is y for axis x, z for axis y, and x for axis z. For other
            axes, it is the coordinate axis after the nearest one (order x, y, z, x), made perpendicular to ``axis``.
        name: Name in messages; by default composed of the arguments.

    Raises:
        ConstraintError: A frame is invalid, the kind is unknown, or an axis is zero or not finite.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Loop(("coupler", [0.3, 0.0, 0.0]), "universe", "revolute", axis=(0, 1, 0)).label
        "Loop('coupler', 'universe', 'revolute')"
    """

    frame_a: Any
    frame_b: Any
    kind: str
    axis: Sequence[float] = (1.0, 0.0, 0.0)
    axis_b: Sequence[float] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        owner = self._owner()
        store(self, frame_a=frame_of(self.frame_a, "frame_a", owner), frame_b=frame_of(self.frame_b, "frame_b", owner))
        owner = self.label
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ConstraintError(f"{owner}: unknown kind of loop {self.kind!r}." + did_you_mean(str(self.kind), KINDS))
        store(self, axis=direction(self.axis, "axis", owner))
        if self.axis_b is None:
            return
        store(self, axis_b=direction(self.axis_b, "axis_b", owner))
        opposite = np.pi - opening(np.array(self.axis), np.array(self.axis_b)) < OPPOSITE
        if opposite and self.kind in ("fixed", "prismatic"):
            raise ConstraintError(
                f"{owner}: axis_b is opposite to axis, so the rotation between them is ambiguous, but a {self.kind} "
                "loop needs it. Rotate frame b itself: specify frame_b as (name, placement)."
            )

    def _parts(self) -> tuple[str, ...]:
        return short(self.frame_a), short(self.frame_b), self.kind

    def _turns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotations of frame a and frame b that make the joint axis their z axis."""
        z = np.array([0.0, 0.0, 1.0])
        axis = np.array(self.axis)
        if self.kind == "universal":
            axis_b = perpendicular(axis) if self.axis_b is None else np.array(self.axis_b)
            return smallest_turn(z, axis), smallest_turn(np.array([1.0, 0.0, 0.0]), axis_b)
        to_b = np.eye(3) if self.axis_b is None else smallest_turn(axis, np.array(self.axis_b))
        to_z = np.eye(3) if self.kind in ("fixed", "spherical") else smallest_turn(z, axis)
        return to_z, to_b @ to_z

    def closures(self, tree: pin.Model) -> list[FrameClosure]:
        """Return the loop closure; raise ``ConstraintError`` if both frames are on one body."""
        joint_a, placement_a, joint_b, placement_b = two_bodies(tree, self.frame_a, self.frame_b, self.label)
        turn_a, turn_b = (pin.SE3(R, np.zeros(3)) for R in self._turns())
        rotation, rows = KINDS[self.kind]
        labels = tuple(f"{self.label}: {ROW_NAMES[i]}" for i in rows)
        units = tuple("m" if i < 3 else "rad" for i in rows)
        ends = joint_a, placement_a * turn_a, joint_b, placement_b * turn_b
        return [FrameClosure(self, labels, units, *ends, rotation, np.eye(6)[list(rows)])]
