"""Gear pairs between two joints of the tree."""

from dataclasses import dataclass

import pinocchio as pin

from ..errors import ConstraintError
from .linear import make_row
from .rows import Constraint, Row, moving_joint_id, name_of, number, store


@dataclass(frozen=True)
class Gear(Constraint):
    """A gear pair between two joints of the tree: ``q_rotor = ratio * q_link + offset``.

    The axes of the joints define their positive senses, so the sign of the ratio matters.

    Args:
        link: Joint on the output side, or the body that it moves; this joint stays independent.
        rotor: Joint on the motor side, or the body that it moves; this joint becomes dependent.
        ratio: Turns of the rotor per turn of the link; not 0.
        offset: Rotor position at zero link position, [rad] or [m].

    Raises:
        ConstraintError: A name is not a string, the ratio is 0 or not finite, or link and rotor are the same.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Gear("knee", "knee_rotor", 9.33).ratio
        9.33
    """

    link: str
    rotor: str
    ratio: float = None  # type: ignore[assignment]  # required; a missing ratio raises in __post_init__
    offset: float = 0.0

    def __post_init__(self) -> None:
        owner = self.label
        name_of(self.link, "link", owner)
        name_of(self.rotor, "rotor", owner)
        if self.link == self.rotor:
            raise ConstraintError(f"{owner}: joint {self.link!r} is coupled to itself. Specify two different joints.")
        ratio = number(self.ratio, "ratio", owner, nonzero=True)
        store(self, ratio=ratio, offset=number(self.offset, "offset", owner))

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        """Return the linear equation of the gear, with joint ids of ``tree``."""
        rotor, link = (moving_joint_id(tree, name, self.label) for name in (self.rotor, self.link))
        return (make_row(rotor, (link,), (self.ratio,), self.offset, self),)
