"""The parallelogram linkage."""

import cmath
from dataclasses import dataclass
from typing import Any

import pinocchio as pin

from ...errors import ConstraintError
from .._closed_form import wrap
from .._frames import frame_pair
from ..four_bar import FourBar
from ..linear import make_row
from ..loop import Loop
from ..rows import Row, store
from ._base import Differential

# Largest length difference of opposite links, relative to the longest link; the equations assume equal lengths
LENGTH_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Parallelogram(Differential, mechanism="parallelogram", independent=("crank",)):
    """A four-bar linkage whose opposite links have equal lengths, and which always stays a parallelogram.

    The equations are ``rocker = crank + a`` and ``coupler = -crank + b``; the tree determines the offsets a and b. If a
    joint's axis is opposite to the crank's axis, the sign of its angle changes. The equations are linear and explicit.
    They hold for both shapes of ``FourBar`` (parallel and serial), because the coupler keeps its direction.

    A ``FourBar`` with these lengths has a bifurcation (change point) where all four joints are in line: the linkage can
    change to the crossed shape (antiparallelogram), and the loop equations lose rank. This constraint stays a
    parallelogram there and has no singular pose. Inertia or a second coupler carries real machines past such points.

    Args:
        crank: Revolute joint, which stays independent.
        coupler: Revolute joint whose parent body is the crank.
        rocker: Revolute joint whose parent body is the parent body of the crank, or the coupler.
        closure: Two frames that the pin connects, as for ``FourBar``.

    Raises:
        ConstraintError: A name or frame is invalid, or a joint is repeated.
    """

    crank: str
    coupler: str
    rocker: str
    closure: Any

    def __post_init__(self) -> None:
        self._check_joints()
        closure = frame_pair(self.closure, self.label, "one on the coupler, one on the rocker")
        store(self, closure=closure)

    def _four_bar(self) -> FourBar:
        return FourBar(self.crank, self.coupler, self.rocker, self.closure, name=self.label)

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        g = self._four_bar().geometry(tree)
        base = g.d - g.origin
        for what, first, second in (("crank and rocker", g.l1, g.l3), ("coupler and ground link", g.l2, base)):
            if abs(abs(first) - abs(second)) > LENGTH_TOLERANCE * max(abs(first), abs(second), abs(base)):
                raise ConstraintError(
                    f"{self.label}: {what} must have equal lengths, but their lengths are {abs(first):.9g} m and "
                    f"{abs(second):.9g} m. Correct the tree, or use pc.FourBar."
                )
        # The coupler keeps its absolute direction, and the rocker turns with the crank.
        coupler = cmath.phase(base / g.l2)
        rocker = cmath.phase((-g.l1 if g.serial else g.l1) / g.l3)
        s2, s3 = g.signs
        crank_joint, coupler_joint, rocker_joint = g.joints
        # If the rocker is a child of the coupler, its angle is relative to the coupler.
        offset = rocker - coupler if g.serial else rocker
        return (
            make_row(coupler_joint, (crank_joint,), (-s2,), s2 * wrap(coupler), self),
            make_row(rocker_joint, (crank_joint,), (s3,), s3 * wrap(offset), self),
        )

    def generic(self, tree: pin.Model) -> list[Loop]:
        """Return an equivalent ``Loop`` for comparison; this ``Loop`` is singular at the change points."""
        return self._four_bar().generic(tree)
