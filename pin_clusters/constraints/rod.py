"""The rod: two points at a constant distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ConstraintError
from ._frames import frame_of, short, two_bodies
from .closures import RodClosure
from .rows import Constraint, number, store


@dataclass(frozen=True)
class Rod(Constraint):
    """A rod with a ball joint at each end, without a body of the tree: ``|b - a| = length``.

    With a mass it is an exact slender rod that needs no coordinate: kinetic energy
    ``mass / 6 (va.va + va.vb + vb.vb)``, half of its weight at each end. (Its spin about itself, which nothing holds
    and nothing sees, has no inertia.)

    Args:
        a: One end: name of a joint, body or frame of the tree (its origin), ``"universe"``, or a pair of a name and a
            point in that frame.
        b: The other end, on another body.
        length: [m]; by default the distance in the reference pose of the model.
        mass: [kg].
        name: For messages; by default made of the two names.

    Raises:
        ConstraintError: An end is no frame, the length is 0 or negative, or the mass is negative.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Rod(("crank", [0.05, 0.0, 0.0]), "foot_anchor", length=0.3, mass=0.1).label
        "Rod('crank', 'foot_anchor')"
    """

    a: Any
    b: Any
    length: float | None = None
    mass: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        owner = self._owner()
        store(self, a=frame_of(self.a, "a", owner), b=frame_of(self.b, "b", owner))
        owner = self.label
        if self.length is not None:
            length = number(self.length, "length", owner, positive=True)
            if length == 0.0:
                raise ConstraintError(
                    f"{owner}: the length is 0, and a distance of zero has no direction. Two points that coincide are "
                    "a ball joint: pc.Loop(a, b, 'spherical')."
                )
            store(self, length=length)
        store(self, mass=number(self.mass, "mass", owner, positive=True))

    def _parts(self) -> tuple[str, ...]:
        return short(self.a), short(self.b)

    def closures(self, tree: pin.Model) -> list[RodClosure]:
        """Return the rod with the names resolved in ``tree``.

        Raises:
            UnknownNameError: A name is unknown.
            ConstraintError: Both ends are on one body, or the path leads through a floating base.
        """
        joint_a, placement_a, joint_b, placement_b = two_bodies(tree, self.a, self.b, self.label)
        ends = joint_a, np.array(placement_a.translation), joint_b, np.array(placement_b.translation)
        return [RodClosure(self, (f"{self.label}: length",), ("m",), *ends, self.length, self.mass)]
