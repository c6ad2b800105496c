"""The planetary gear stage."""

from dataclasses import dataclass

import pinocchio as pin

from ...errors import ConstraintError
from .._frames import line_joint, opening
from .._planar import PLANAR_TOLERANCE
from ..coupling import Coupling
from ..linear import make_row
from ..rows import Row
from ._base import Differential, LinearMap


@dataclass(frozen=True)
class Planetary(Differential, mechanism="planetary", independent=("sun", "ring")):
    """A planetary gear stage: sun, carrier and ring turn about a common axis in one housing.

    Willis' equation is ``teeth_sun * (sun - carrier) + teeth_ring * (ring - carrier) = 0``, with angles relative to the
    housing. Hence ``carrier = (teeth_sun * sun + teeth_ring * ring) / (teeth_sun + teeth_ring)``. This equation is
    linear and explicit, so there are no singular poses. If a joint's axis is opposite to the carrier's axis, the sign
    of its angle changes. If the ring is fixed to the housing, use a ``Gear`` with the carrier as link, the sun as rotor
    and ratio ``1 + teeth_ring / teeth_sun``. A ``Rotor`` on the carrier can represent the inertia of the planets.

    Args:
        sun: Revolute joint of the sun gear, whose parent body is the housing.
        carrier: Revolute joint of the planet carrier, whose parent body is the housing.
        ring: Revolute joint of the ring gear, whose parent body is the housing.
        teeth_sun: Number of teeth (or radius) of the sun gear.
        teeth_ring: Number of teeth (or radius, in the same unit) of the ring gear.

    Raises:
        ConstraintError: A name or number is invalid, or a joint is repeated.
    """

    sun: str
    carrier: str
    ring: str
    teeth_sun: float
    teeth_ring: float

    def __post_init__(self) -> None:
        self._check_joints()
        self._check_numbers(("teeth_sun", "teeth_ring"), nonzero=True, positive=True)

    def _coefficients(self, tree: pin.Model) -> tuple[tuple[int, ...], float, float]:
        """Return the joint ids, the carrier turns per turn of the sun, and the carrier turns per turn of the ring."""
        lines = [line_joint(tree, name, self.label) for name in self._parts()]
        joints = tuple(j for j, _ in lines)
        if len({tree.parents[j] for j in joints}) > 1:
            hung = ", ".join(f"{tree.names[j]!r} hangs from {tree.names[tree.parents[j]]!r}" for j in joints)
            raise ConstraintError(
                f"{self.label}: sun, carrier and ring must hang from the same body, the housing, but {hung}. Willis' "
                "equation uses angles relative to the housing; for other angles use pc.LinearCoupling."
            )
        sun, carrier, ring = (tree.jointPlacements[j].rotation @ axis for j, axis in lines)
        signs = []
        for name, axis in ((self.sun, sun), (self.ring, ring)):
            sign = 1.0 if axis @ carrier > 0.0 else -1.0
            tilt = opening(sign * axis, carrier)
            if tilt > PLANAR_TOLERANCE:
                raise ConstraintError(
                    f"{self.label}: the axis of {name!r} deviates by {tilt:.2g} rad from the axis of the carrier "
                    f"{self.carrier!r}, but all joints of a planetary stage share an axis. Check their placements."
                )
            signs.append(sign)
        total = self.teeth_sun + self.teeth_ring
        return joints, signs[0] * self.teeth_sun / total, signs[1] * self.teeth_ring / total

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        (sun, carrier, ring), from_sun, from_ring = self._coefficients(tree)
        return (make_row(carrier, (sun, ring), (from_sun, from_ring), 0.0, self),)

    def generic(self, tree: pin.Model) -> list[Coupling]:
        _, from_sun, from_ring = self._coefficients(tree)
        return self._coupling(LinearMap(((from_sun, -1.0, from_ring),)))
