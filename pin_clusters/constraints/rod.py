"""The rod: two points at a constant distance."""

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
"""How far from round an inertia may be: files have few digits."""


@dataclass(frozen=True)
class Rod(Constraint):
    """A rod with a ball joint at each end, without a body of the tree: ``|b - a| = length``.

    With a mass it is an exact slender rod that needs no coordinate: kinetic energy
    ``mass / 6 (va.va + va.vb + vb.vb)``, half of its weight at each end. With an inertia it has the centre and the
    moment of inertia of that, exactly as well. What it would spin about itself is taken out: nothing turns it there
    (its inertia must be the same about all axes across it), so that a rod that does not spin never does.

    Args:
        a: One end: name of a joint, body or frame of the tree (its origin), ``"universe"``, or a pair of a name and a
            point in that frame.
        b: The other end, on another body.
        length: [m]; by default the distance in the reference pose of the model.
        mass: [kg]; of a slender rod.
        name: For messages; by default made of the two names.
        inertia: In place of ``mass``, for a rod that is not slender: ``pin.Inertia`` in a frame whose origin is end a
            and whose x axis points to end b. The centre must be on that axis and the inertia about it round, up to
            1 %; what is left out is said.

    Raises:
        ConstraintError: An end is no frame, the length is 0 or negative, or the mass is negative.
        InertiaError: ``inertia`` is not that of a round rod.
        ArgumentTypeError: ``inertia`` is no ``pin.Inertia``.

    Warns:
        PinClustersWarning: The inertia is not quite round.

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
    # centre from end a [m], and moment of inertia across, [kg m^2]: of ``inertia``
    _moments: tuple[float, float] | None = field(default=None, init=False, repr=False)

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
        if self.inertia is not None:
            self._take_inertia(owner)

    def _take_inertia(self, owner: str) -> None:
        """Check the inertia, and keep what counts of it."""
        if not isinstance(self.inertia, pin.Inertia):
            raise ArgumentTypeError(f"{owner}: inertia must be a pinocchio.Inertia, got {type(self.inertia).__name__}.")
        inertia = self.inertia.copy()
        mass, (x, y, z), I = float(inertia.mass), inertia.lever, np.array(inertia.inertia)
        if self.mass not in (0.0, mass):
            raise InertiaError(f"{owner}: mass is {self.mass:g} kg, and inertia has {mass:g} kg. Leave mass= out.")
        if not (np.isfinite([mass, x, y, z, *I.ravel()]).all() and mass > 0.0):
            raise InertiaError(f"{owner}: inertia must be finite and have a mass; got {mass:g} kg.")
        moment = 0.5 * float(I[1, 1] + I[2, 2])
        if not (moment > 0.0 and I[0, 0] <= (2.0 + SLOPPY) * moment and np.linalg.eigvalsh(I)[0] >= -SLOPPY * moment):
            raise InertiaError(
                f"{owner}: inertia about its centre is {np.diag(I)} kg m^2, which no body has. Units are kg m^2."
            )
        off = max(abs(y), abs(z)) / max(np.sqrt(moment / mass), abs(x))
        uneven = max(np.abs([I[1, 1] - I[2, 2], 2.0 * I[1, 2], 2.0 * I[0, 1], 2.0 * I[0, 2]])) / moment
        if max(off, uneven) > SLOPPY:
            raise InertiaError(
                f"{owner}: inertia is not that of a round rod along x (centre {inertia.lever} m, about it "
                f"{I.tolist()} kg m^2), so how it spins about itself would count. Turn the inertia to a frame with x "
                "from end a to end b; if it is not round, model the rod as a body with a universal joint at one end."
            )
        if max(off, uneven) > 1e-9:
            warnings.warn(
                f"{owner}: inertia is taken as that of a round rod: it misses that by {max(off, uneven):.2g} of its "
                "moment across.",
                PinClustersWarning,
                stacklevel=4,
            )
        store(self, mass=mass, inertia=inertia, _moments=(float(x), moment))

    def with_mass(self, mass: float) -> "Rod":
        """Return the rod with another mass, distributed as before."""
        if self.inertia is None or not self.mass:
            return dataclasses.replace(self, mass=mass)
        part, I = mass / self.mass, self.inertia
        if not mass:
            return dataclasses.replace(self, mass=0.0, inertia=None)
        return dataclasses.replace(self, mass=mass, inertia=pin.Inertia(mass, I.lever, part * np.array(I.inertia)))

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
        moments = self._moments or (None, 0.0)
        return [RodClosure(self, (f"{self.label}: length",), ("m",), *ends, self.length, self.mass, *moments)]
