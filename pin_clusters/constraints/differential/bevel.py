"""The bevel differential."""

from dataclasses import KW_ONLY, dataclass

import pinocchio as pin

from ..coupling import Coupling
from ..linear import make_row
from ..rows import Row, moving_joint_id
from ._base import Differential, LinearMap


@dataclass(frozen=True)
class Bevel(Differential, mechanism="bevel", independent=("left", "right")):
    """A bevel differential: a carrier turns by the mean angle of two side gears; their difference turns its pinion.

    The equations are ``pitch = (left + right) / 2`` and ``roll = ratio * (left - right) / 2``. They are linear and
    explicit, so there are no singular poses.

    Args:
        left: Joint of the left side gear; its parent body carries the differential.
        right: Joint of the right side gear; its axis has the same direction as the axis of ``left``.
        pitch: Joint of the carrier.
        roll: Joint of the pinion on the carrier.
        ratio: Teeth of a side gear divided by teeth of the pinion; negative if the axis of ``roll`` is reversed.

    Raises:
        ConstraintError: A name or the ratio is invalid, or a joint is repeated.
    """

    left: str
    right: str
    pitch: str
    roll: str
    _: KW_ONLY
    ratio: float = 1.0

    def __post_init__(self) -> None:
        self._check_joints()
        self._check_numbers(("ratio",), nonzero=True)

    def rows(self, tree: pin.Model) -> tuple[Row, ...]:
        left, right, pitch, roll = (moving_joint_id(tree, name, self.label) for name in self._parts())
        half = 0.5 * self.ratio
        return (
            make_row(pitch, (left, right), (0.5, 0.5), 0.0, self),
            make_row(roll, (left, right), (half, -half), 0.0, self),
        )

    def generic(self, tree: pin.Model) -> list[Coupling]:
        half = 0.5 * self.ratio
        return self._coupling(LinearMap(((0.5, 0.5, -1.0, 0.0), (half, -half, 0.0, -1.0))))
