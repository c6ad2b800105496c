"""Belts and other transmissions between two bodies that may be several joints apart."""

from dataclasses import dataclass

import pinocchio as pin

from .._support.trees import common_ancestor, path_below
from ..errors import ConstraintError
from .linear import make_row
from .rows import Constraint, Row, moving_joint_id, name_of, number, store


@dataclass(frozen=True)
class Belt(Constraint):
    """A transmission between two bodies, with its pulleys on the nearest common ancestor (NCA) of the two bodies.

    The equation is ``sum(q, NCA to successor) = ratio * sum(q, NCA to predecessor) + offset``, where ``sum(q, A to B)``
    is the sum of the coordinates of all joints on the path from body A to body B. The axis of each joint defines its
    positive sense. URDF+ (arXiv 2411.19753) calls this constraint ``<coupling>``.

    Args:
        predecessor: Name of a link or joint, usually on the output side.
        successor: Name of a link or joint, usually the rotor.
        ratio: Turns of the successor per turn of the predecessor; not 0.
        offset: Offset in the equation, [rad] or [m].
        dependent: Joint (or body), on one of the two paths, that becomes dependent; by default the last joint on the
            path to the successor.

    Raises:
        ConstraintError: A name is not a string, the ratio is 0 or not finite, or the two names are equal.

    Example:
        The thigh carries the ankle rotor. A belt turns this rotor in proportion to the sum of knee and ankle angles:

        >>> import pin_clusters as pc
        >>> pc.Belt("ankle", "ankle_rotor", 12.0).ratio
        12.0
    """

    predecessor: str
    successor: str
    ratio: float = None  # type: ignore[assignment]  # required; a missing ratio raises in __post_init__
    offset: float = 0.0
    dependent: str | None = None

    def __post_init__(self) -> None:
        owner = self.label
        name_of(self.predecessor, "predecessor", owner)
        name_of(self.successor, "successor", owner)
        if self.dependent is not None:
            name_of(self.dependent, "dependent", owner)
        if self.predecessor == self.successor:
            raise ConstraintError(f"{owner}: {self.predecessor!r} is coupled to itself. Specify two different links.")
        ratio = number(self.ratio, "ratio", owner, nonzero=True)
        store(self, ratio=ratio, offset=number(self.offset, "offset", owner))

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        """Return the coupling; raise ``ConstraintError`` if one link is an ancestor of the other."""
        first, last = (moving_joint_id(tree, name, self.label) for name in (self.predecessor, self.successor))
        if first == last:
            raise ConstraintError(
                f"{self.label}: both names refer to joint {tree.names[first]!r}, which would be coupled to itself. "
                "Specify two different links."
            )
        nca = common_ancestor(tree, (first, last))
        before, after = path_below(tree, nca, first), path_below(tree, nca, last)
        if not before or not after:
            raise ConstraintError(
                f"{self.label}: {tree.names[nca]!r} is an ancestor of the other link, so the belt has joints on one "
                "side only. Use LinearCoupling for joints that lie on one path."
            )
        for j in (*before, *after):
            moving_joint_id(tree, tree.names[j], self.label)
        dependent = after[-1] if self.dependent is None else moving_joint_id(tree, self.dependent, self.label)
        if dependent in after:
            terms = {j: self.ratio for j in before} | {j: -1.0 for j in after if j != dependent}
            offset = self.offset
        elif dependent in before:
            terms = {j: 1.0 / self.ratio for j in after} | {j: -1.0 for j in before if j != dependent}
            offset = -self.offset / self.ratio
        else:
            names = ", ".join(repr(tree.names[j]) for j in (*before, *after))
            raise ConstraintError(
                f"{self.label}: dependent joint {self.dependent!r} is not on the path between the two links. "
                f"Choose one of {names}."
            )
        return (make_row(dependent, tuple(terms), tuple(terms.values()), offset, self),)
