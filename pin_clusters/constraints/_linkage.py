"""What planar linkages share: a pin that closes them, and a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from ..errors import ConstraintError
from ._closed_form import ClosedForm
from ._frames import frame_pair
from ._planar import Point
from .closures import Closure, FrameClosure
from .loop import Loop
from .rows import Constraint, store


@dataclass(frozen=True, eq=False)
class LinkageGeometry:
    """A linkage in its plane.

    Attributes:
        pin: The two points that the pin holds together.
        joints: Joint ids, the independent ones first.
        branch: +1 or -1.
    """

    pin: tuple[Point, Point]
    joints: tuple[int, ...]
    branch: int

    def solve(self, x: np.ndarray) -> list[np.ndarray]:
        """Return the other coordinates for the independent ones, in all assemblies."""
        raise NotImplementedError


class Linkage(Constraint):
    """A planar linkage: frozen dataclasses with ``closure``, ``branch`` and ``independent`` derive from it."""

    _tied: ClassVar[str] = "one on each of the two bodies that the pin ties"
    closure: Any
    branch: int
    independent: Any

    def __post_init__(self) -> None:
        self._owner()
        self._check_joints()
        closure = frame_pair(self.closure, self.label, self._tied)
        store(self, closure=closure, branch=check_branch(self.branch, self.label))

    def geometry(self, tree: pin.Model) -> LinkageGeometry:
        """Return the linkage as it is in ``tree``; raises what ``closures`` raises."""
        raise NotImplementedError

    def closures(self, tree: pin.Model) -> list[Closure]:
        """Return the two rows of the pin, [m].

        Raises:
            UnknownNameError: A name is unknown.
            UnsupportedJointError: A joint is of another type.
            ConstraintError: The joints do not form this linkage in a plane, or a link has length 0.
        """
        a, b = self.geometry(tree).pin
        labels = f"{self.label}: x", f"{self.label}: y"
        ends = a.link.joint, a.frame, b.link.joint, b.frame
        return [FrameClosure(self, labels, ("m", "m"), *ends, "none", np.eye(6)[:2])]

    def closed_form(self, tree: pin.Model) -> ClosedForm:
        """Return the other joints as functions of the independent ones; up to two assemblies."""
        geometry, count = self.geometry(tree), len(self.independent)
        return ClosedForm(geometry.joints[:count], geometry.joints[count:], geometry.solve)

    def generic(self, tree: pin.Model) -> list[Loop]:
        """Return the same pin as a Loop, for comparison."""
        a, b = ((tree.names[p.link.joint], p.frame) for p in self.geometry(tree).pin)
        return [Loop(a, b, "revolute", axis=(0.0, 0.0, 1.0), name=f"generic {self.label}")]


def check_branch(value: object, owner: str) -> int:
    """Return a branch, +1 or -1."""
    if isinstance(value, bool) or value not in (1, -1):
        raise ConstraintError(f"{owner}: branch must be +1 or -1 (the two ways to assemble it), got {value!r}.")
    return 1 if value == 1 else -1
