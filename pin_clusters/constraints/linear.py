"""Linear couplings of joints, which also represent gears and belts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pinocchio as pin

from ..errors import ConstraintError, shown
from .rows import Constraint, Row, moving_joint_id, name_of, number, store


@dataclass(frozen=True, repr=False)
class LinearCoupling(Constraint):
    """A linear coupling of a joint to other joints: ``dependent = sum(coefficient * independent) + offset``.

    The axes of the joints define their positive senses, so signs matter. All joints are in the tree and have one degree
    of freedom. An independent joint may be the dependent joint of another coupling; such chains are supported.

    Args:
        dependent: Name of the dependent joint, or of the body that it moves.
        independent: Coefficient of each independent joint, by joint or body name; [rad/rad], [m/rad] or similar.
        offset: Value of the dependent joint if all independent joints are zero, [rad] or [m].

    Raises:
        ConstraintError: A name is not a string, a coefficient or the offset is not a finite number, a coefficient is 0,
            there is no independent joint, or a joint is coupled to itself.

    Example:
        >>> import pin_clusters as pc
        >>> pc.LinearCoupling("wrist_rotor", {"elbow": -6.0, "wrist": -6.0, "roll": 6.0}).offset
        0.0
    """

    dependent: str
    independent: Mapping[str, float] = field(hash=False)
    offset: float = 0.0

    def __post_init__(self) -> None:
        owner = self.label
        name_of(self.dependent, "dependent", owner)
        if not isinstance(self.independent, Mapping) or not self.independent:
            raise ConstraintError(
                f"{owner}: independent must map joint names to coefficients, such as {{'knee': 6.0}}, "
                f"got {shown(self.independent)}."
            )
        checked = {
            name_of(k, "independent", owner): number(c, f"the coefficient of {k!r}", owner, nonzero=True)
            for k, c in self.independent.items()
        }
        if self.dependent in checked:
            raise ConstraintError(f"{owner}: joint {self.dependent!r} is coupled to itself. Specify other joints.")
        # A read-only mapping makes this field immutable, like the other fields.
        store(self, independent=MappingProxyType(checked), offset=number(self.offset, "offset", owner))

    def __reduce__(self) -> "tuple[type[LinearCoupling], tuple[object, ...]]":
        # A read-only mapping cannot be pickled or copied, so a dict replaces it here.
        return LinearCoupling, (self.dependent, dict(self.independent), self.offset)

    def __repr__(self) -> str:
        return f"LinearCoupling({self.dependent!r}, {dict(self.independent)!r}, offset={self.offset!r})"

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        """Return the coupling with joint ids of ``tree``."""
        dependent = moving_joint_id(tree, self.dependent, self.label)
        masters = tuple(moving_joint_id(tree, n, self.label) for n in self.independent)
        return (make_row(dependent, masters, tuple(self.independent.values()), self.offset, self),)


def make_row(
    dependent: int, masters: tuple[int, ...], coefficients: tuple[float, ...], offset: float, source: object
) -> Row:
    """Return the equation of a linear coupling; joints are given by their ids, and ``source`` is the constraint."""
    return Row(dependent, masters, coefficients, offset, source, (dependent, *masters))
