"""Passive forces: springs, dampers, dry friction and gravity compensation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pinocchio as pin

from ..errors import ConstraintError, shown
from ._frames import frame_of
from .rows import Constraint, Row, name_of, number, store

MOST_POWERS = 3
"""Maximum degree of the polynomials of stiffness and damping."""


class PassiveForce(Constraint):
    """Base class of passive forces, which do not couple joints; ``ClusterModel.passive`` contains the forces."""

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        """Return an empty tuple, because a passive force couples no joints."""
        return ()


@dataclass(frozen=True)
class Spring(PassiveForce):
    """A spring, a damper and dry friction along one coordinate; each of the three may be absent.

    The coordinate x is a joint coordinate, a weighted sum of joint coordinates (for example a fixed tendon), or the
    length of a path through points (a cable or a linear spring). With y = x - ``rest`` and the velocity xd of x, the
    force along x is::

        -(k1 y + k2 y^2 + k3 y^3) - (d1 xd + d2 xd |xd| + d3 xd^3) - friction * sign(xd)

    On a joint with several degrees of freedom, the spring opposes the displacement of the joint from ``rest`` (rotation
    vector and translation), and the damper opposes the velocity of the joint. Add the spring to the constraints of a
    model. ``pc.passive_torque`` returns its torque, and ``pc.simulate`` applies this torque; ``pc.rnea`` and ``pc.aba``
    do not include it.

    Args:
        along: Name of a joint or body; or a mapping from joint names to coefficients; or a list of points. A point is
            the name of a frame, or a pair of a frame name and a point in that frame [m].
        stiffness: k1, or (k1, k2, k3), [N m/rad], [N/m], ... A joint with several degrees of freedom accepts only k1.
        rest: Coordinate [rad] or [m] at which the spring force is zero, or an interval (low, high) in which it is zero.
            For a joint with several degrees of freedom, a joint configuration; by default the neutral configuration.
        damping: d1, or (d1, d2, d3), [N m s/rad], [N s/m], ...
        friction: Dry friction, [N m] or [N].
        name: Name in messages; by default composed of the names in ``along``.

    Raises:
        ConstraintError: A name is not a string, a number is not finite, or the friction is negative.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Spring("shin", stiffness=1500.0, damping=0.1).label
        "Spring('shin')"
    """

    along: Any = field(hash=False)
    stiffness: Any = 0.0
    rest: Any = None
    damping: Any = 0.0
    friction: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        owner = self._owner()
        if isinstance(self.along, Mapping):
            if not self.along:
                raise ConstraintError(
                    f"{owner}: the mapping `along` is empty. Specify a coefficient for each joint, such as "
                    "{'knee': 1}."
                )
            checked = {
                name_of(k, "along", owner): number(c, f"the coefficient of {k!r}", owner) for k, c in self.along.items()
            }
            store(self, along=MappingProxyType(checked))
        elif isinstance(self.along, str):
            name_of(self.along, "along", owner)
        elif isinstance(self.along, Sequence) and len(self.along) >= 2:
            store(self, along=tuple(frame_of(p, "along", owner) for p in self.along))
        else:
            raise ConstraintError(
                f"{owner}: along must be a joint name, a dict of coefficients, or a list of two or more points, "
                f"got {shown(self.along)}."
            )
        owner = self.label
        store(self, stiffness=_powers(self.stiffness, "stiffness", owner))
        store(self, damping=_powers(self.damping, "damping", owner))
        store(self, friction=number(self.friction, "friction", owner, positive=True))
        if self.rest is not None:
            values = self.rest if isinstance(self.rest, Sequence) or hasattr(self.rest, "__len__") else (self.rest,)
            store(self, rest=tuple(number(r, "rest", owner) for r in values))

    def _parts(self) -> Sequence[str]:
        if isinstance(self.along, str):
            return [self.along]
        if isinstance(self.along, Mapping):
            return list(self.along)
        return [p if isinstance(p, str) else p.name for p in self.along]

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be pickled or copied, so a dict replaces it here.
        along = dict(self.along) if isinstance(self.along, Mapping) else self.along
        return Spring, (along, self.stiffness, self.rest, self.damping, self.friction, self.name)


@dataclass(frozen=True)
class GravityCompensation(PassiveForce):
    """Gravity compensation: an ideal, massless device that carries a part of a body's weight.

    Args:
        body: Joint or body name.
        mass: Compensated mass, [kg].
        center: Centre of the compensated mass in the joint frame of the body, [m].

    Raises:
        ConstraintError: The name is not a string, or a number is not finite.

    Example:
        >>> import pin_clusters as pc
        >>> pc.GravityCompensation("forearm", 0.8, (0.0, 0.0, 0.12)).mass
        0.8
    """

    body: str
    mass: float
    center: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        name_of(self.body, "body", self._kind)
        store(self, mass=number(self.mass, "mass", self.label))
        store(self, center=tuple(number(c, "center", self.label) for c in self.center))
        if len(self.center) != 3:
            raise ConstraintError(f"{self.label}: center must be three numbers, got {shown(self.center)}.")


def _powers(given: Any, what: str, owner: str) -> tuple[float, ...]:
    listed = tuple(given) if hasattr(given, "__len__") and not isinstance(given, str) else (given,)
    if not 1 <= len(listed) <= MOST_POWERS:
        raise ConstraintError(f"{owner}: {what} must be one to three coefficients, got {shown(given)}.")
    numbers = tuple(number(k, what, owner) for k in listed)
    return numbers + (0.0,) * (MOST_POWERS - len(numbers))
