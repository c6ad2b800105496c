"""Rods, which keep two points at a constant distance."""

import dataclasses
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ArgumentTypeError, ConstraintError, InertiaError, PinClustersWarning
from ._frames import frame_of, short, two_bodies
from .closures import RodClosure
from .rows import Constraint, number, store

SLOPPY = 0.01
"""Largest accepted relative deviation from an axisymmetric inertia; not 0, because files contain rounded numbers."""


@dataclass(frozen=True)
class Rod(Constraint):
    """A rod with a ball joint at each end, which needs no body in the tree: ``|b - a| = length``.

    A rod with ``mass`` is an exact model of a slender rod: its kinetic energy is ``mass / 6 * (va.va + va.vb + vb.vb)``
    for the velocities va and vb of its ends, and half of its weight acts at each end. For a rod that is not slender,
    ``inertia`` specifies the centre of mass and the transverse moment of inertia. Spin of the rod about its own axis is
    not modelled. A rod that does not spin never starts to spin, because its inertia must be axisymmetric.

    Args:
        a: One end of the rod: the name of a joint, body or frame of the tree, or ``"universe"``, for its origin; or a
            pair of such a name and a point in this frame [m].
        b: The other end of the rod, on another body; given in the same way.
        length: Length, [m]; by default the distance between the two ends in the reference pose of the model.
        mass: Mass of a slender rod, [kg].
        name: Name in messages; by default composed of the names of the ends.
        inertia: Inertia of a rod that is not slender, instead of ``mass``: ``pin.Inertia`` [kg, m, kg m^2] in a frame
            with its origin at end a and its x axis towards end b. The inertia must be axisymmetric about x, up to 1 %.
            A warning reports any deviation, which is neglected.

    Raises:
        ConstraintError: An end is not a valid frame, the length is not positive, or the mass is negative.
        InertiaError: ``inertia`` is not axisymmetric about the rod.
        ArgumentTypeError: ``inertia`` is not a ``pin.Inertia``.

    Warns:
        PinClustersWarning: The inertia is not exactly axisymmetric.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Rod(("crank", [0.05, 0.0, 0.0]), "foot_anchor", length=0.3, mass=0.1).label
        "Rod('crank', 'foot_anchor')"
        >>> import numpy as np, pinocchio as pin
        >>> body = pin.Inertia(0.16, np.array([0.25, 0.0, 0.0]), np.diag([4e-6, 4.5e-3, 4.5e-3]))
        >>> pc.Rod("hip", "heel", length=0.5, inertia=body).mass
        0.16
    """

    a: Any
    b: Any
    length: float | None = None
    mass: float = 0.0
    name: str | None = None
    inertia: pin.Inertia | None = field(default=None, hash=False)
    # Derived from ``inertia``: distance of the centre of mass from end a [m], transverse moment of inertia [kg m^2].
    _moments: tuple[float, float] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        owner = self._owner()
        store(self, a=frame_of(self.a, "a", owner), b=frame_of(self.b, "b", owner))
        owner = self.label
        if self.length is not None:
            length = number(self.length, "length", owner, positive=True)
            if length == 0.0:
                raise ConstraintError(
                    f"{owner}: the length is 0, so the rod has no direction. To join two coincident points, use "
                    "pc.Loop(a, b, 'spherical')."
                )
            store(self, length=length)
        store(self, mass=number(self.mass, "mass", owner, positive=True))
        if self.inertia is not None:
            self._take_inertia(owner)

    def _take_inertia(self, owner: str) -> None:
        if not isinstance(self.inertia, pin.Inertia):
            raise ArgumentTypeError(f"{owner}: inertia must be a pinocchio.Inertia, got {type(self.inertia).__name__}.")
        inertia = self.inertia.copy()
        mass, (x, y, z), I = float(inertia.mass), inertia.lever, np.array(inertia.inertia)
        if self.mass not in (0.0, mass):
            raise InertiaError(f"{owner}: mass is {self.mass:g} kg, but inertia has {mass:g} kg. Omit mass=.")
        if not (np.isfinite([mass, x, y, z, *I.ravel()]).all() and mass > 0.0):
            raise InertiaError(f"{owner}: inertia must be finite and have a positive mass, got {mass:g} kg.")
        moment = 0.5 * float(I[1, 1] + I[2, 2])
        if not (moment > 0.0 and I[0, 0] <= (2.0 + SLOPPY) * moment and np.linalg.eigvalsh(I)[0] >= -SLOPPY * moment):
            raise InertiaError(
                f"{owner}: inertia about its centre is {np.diag(I)} kg m^2, which is impossible for a rigid body. "
                "Check the units."
            )
        offset = max(abs(y), abs(z)) / max(np.sqrt(moment / mass), abs(x))
        uneven = max(np.abs([I[1, 1] - I[2, 2], 2.0 * I[1, 2], 2.0 * I[0, 1], 2.0 * I[0, 2]])) / moment
        if max(offset, uneven) > SLOPPY:
            raise InertiaError(
                f"{owner}: inertia is not axisymmetric about x (centre of mass {inertia.lever} m, inertia about it "
                f"{I.tolist()} kg m^2), so the spin of the rod about its axis would matter. Express the inertia in "
                "a frame with x from end a to end b, or model the rod as a body with a universal joint."
            )
        if max(offset, uneven) > 1e-9:
            warnings.warn(
                f"{owner}: the inertia was made axisymmetric; the change relative to its transverse moment is "
                f"{max(offset, uneven):.2g}.",
                PinClustersWarning,
                stacklevel=4,
            )
        store(self, mass=mass, inertia=inertia, _moments=(float(x), moment))

    def with_mass(self, mass: float) -> "Rod":
        """Return a copy of the rod with another mass [kg] and the same mass distribution."""
        if self.inertia is None or not self.mass:
            return dataclasses.replace(self, mass=mass)
        part, I = mass / self.mass, self.inertia
        if not mass:
            return dataclasses.replace(self, mass=0.0, inertia=None)
        return dataclasses.replace(self, mass=mass, inertia=pin.Inertia(mass, I.lever, part * np.array(I.inertia)))

    def _parts(self) -> tuple[str, ...]:
        return short(self.a), short(self.b)

    def closures(self, tree: pin.Model) -> list[RodClosure]:
        """Return the closure with joint ids of ``tree``; raise ``ConstraintError`` if both ends are on one body."""
        joint_a, placement_a, joint_b, placement_b = two_bodies(tree, self.a, self.b, self.label)
        ends = joint_a, np.array(placement_a.translation), joint_b, np.array(placement_b.translation)
        moments = self._moments or (None, 0.0)
        return [RodClosure(self, (f"{self.label}: length",), ("m",), *ends, self.length, self.mass, *moments)]
