"""A plane to stand on."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._support.arrays import array, real
from ...errors import ArgumentTypeError, ShapeError, SimulationError, shown

ROUGHEST = 10.0
"""No pair of materials is rougher; a larger number is an angle, or a mistake."""


@dataclass(frozen=True)
class Ground:
    """A plane with Coulomb friction, on which a simulation stands, slides and falls.

    Attributes:
        friction: Coefficient of friction of everything that touches it, 0 to 10.
        normal: Out of the ground, in axes of the world; it is made a unit vector.
        height: Of the plane along its normal, from the world's origin, [m].

    Raises:
        SimulationError: A number is not finite or not in its range, the normal is zero.
        ArgumentTypeError: A type is wrong.
        ShapeError: The normal has not three entries.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Ground(friction=0.6, normal=(0.0, 0.0, 2.0)).normal
        (0.0, 0.0, 1.0)
    """

    friction: float = 0.8
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    height: float = 0.0

    def __post_init__(self) -> None:
        """Check, and make the normal a unit vector."""
        friction = number("Ground: friction", self.friction)
        if not 0.0 <= friction <= ROUGHEST:
            raise SimulationError(
                f"Ground: friction = {friction:g}, but a coefficient of friction lies between 0 and {ROUGHEST:g} "
                "(rubber on concrete has about 0.8). Is it an angle? Then pass its tangent."
            )
        normal = array("Ground: normal", self.normal)
        if normal.shape != (3,):
            raise ShapeError(f"Ground: normal has shape {normal.shape}, expected (3,): x, y, z.")
        length = float(np.linalg.norm(normal))
        if not 1e-9 < length < math.inf:
            raise SimulationError(f"Ground: normal = {normal.tolist()} is no direction.")
        x, y, z = (normal / length).tolist()
        for name, value in (
            ("friction", friction),
            ("normal", (x, y, z)),
            ("height", number("Ground: height", self.height)),
        ):
            object.__setattr__(self, name, value)

    @property
    def axes(self) -> np.ndarray:
        """Two tangents and the normal as rows, shape (3, 3): the normal last, as in Pinocchio's cones."""
        return axes_of(np.array(self.normal))


def axes_of(n: np.ndarray) -> np.ndarray:
    """Return two tangents and the unit normal n as rows."""
    t = np.cross(np.eye(3)[int(np.argmin(np.abs(n)))], n)
    t /= np.linalg.norm(t)
    return np.array([t, np.cross(n, t), n])


def number(name: str, x: Any) -> float:
    """Return a finite number."""
    found = real(x)
    if found is None:
        raise ArgumentTypeError(f"{name} must be a number, got {shown(x)}.")
    if not math.isfinite(found):
        raise SimulationError(f"{name} = {found} is not finite.")
    return found
