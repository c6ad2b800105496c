"""Planetary gear stage."""

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
    """A planetary stage: sun, carrier and ring turn about one axis in one housing.

    Willis: ``teeth_sun (sun - carrier) + teeth_ring (ring - carrier) = 0``, each angle relative to the housing, so
    ``carrier = (teeth_sun sun + teeth_ring ring) / (teeth_sun + teeth_ring)``. It is linear: there are no singular
    poses, and the row is explicit. A joint whose axis points the other way counts with the other sign. (With the ring
    fixed to the housing it is a ``Gear`` of ratio ``1 + teeth_ring / teeth_sun`` from carrier to sun. The planets'
    inertia can be given as a ``Rotor`` on the carrier.)

    Args:
        sun: Revolute joint in the housing.
        carrier: Revolute joint in the housing.
        ring: Revolute joint in the housing.
        teeth_sun: Number of teeth (or radius).
        teeth_ring: Number of teeth (or radius, in the same unit).

    Raises:
        ConstraintError: A name or number is ill-formed, or a joint is repeated.
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
        """Return joint ids, and turns of the carrier per turn of sun and of ring."""
        lines = [line_joint(tree, name, self.label) for name in self._parts()]
        joints = tuple(j for j, _ in lines)
        if len({tree.parents[j] for j in joints}) > 1:
            hung = ", ".join(f"{tree.names[j]!r} hangs from {tree.names[tree.parents[j]]!r}" for j in joints)
            raise ConstraintError(
                f"{self.label}: sun, carrier and ring must hang from one body, the housing, but {hung}. Willis' "
                "equation uses angles relative to the housing; for other angles use pc.LinearCoupling."
            )
        sun, carrier, ring = (tree.jointPlacements[j].rotation @ axis for j, axis in lines)
        signs = []
        for name, axis in ((self.sun, sun), (self.ring, ring)):
            sign = 1.0 if axis @ carrier > 0.0 else -1.0
            tilt = opening(sign * axis, carrier)
            if tilt > PLANAR_TOLERANCE:
                raise ConstraintError(
                    f"{self.label}: the axis of {name!r} is {tilt:.2g} rad off the axis of the carrier "
                    f"{self.carrier!r}; a planetary stage has one axis. Check the placements of the joints."
                )
            signs.append(sign)
        total = self.teeth_sun + self.teeth_ring
        return joints, signs[0] * self.teeth_sun / total, signs[1] * self.teeth_ring / total

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        (sun, carrier, ring), from_sun, from_ring = self._coefficients(tree)
        return (make_row(tree, carrier, (sun, ring), (from_sun, from_ring), 0.0, self),)

    def generic(self, tree: pin.Model) -> list[Coupling]:
        _, from_sun, from_ring = self._coefficients(tree)
        return self._coupling(LinearMap(((from_sun, -1.0, from_ring),)))
