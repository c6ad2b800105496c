"""Ground plane with Coulomb friction."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._support.arrays import array, real
from ...errors import ArgumentTypeError, ShapeError, SimulationError, shown

ROUGHEST = 10.0
"""Largest accepted coefficient of friction; a larger value is probably an angle in degrees or a mistake."""


@dataclass(frozen=True)
class Ground:
    """A plane with Coulomb friction that a simulated robot can touch.

    Attributes:
        friction: Coefficient of friction of all contacts with the plane, 0 to 10.
        normal: Outward normal in world axes. The constructor normalizes the vector.
        height: Signed distance of the plane from the world origin along the normal, [m].

    Raises:
        SimulationError: A value is not finite or is out of its range, or the normal is zero.
        ArgumentTypeError: A type is wrong.
        ShapeError: The normal does not have three entries.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Ground(friction=0.6, normal=(0.0, 0.0, 2.0)).normal
        (0.0, 0.0, 1.0)
    """

    friction: float = 0.8
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    height: float = 0.0

    def __post_init__(self) -> None:
        friction = number("Ground: friction", self.friction)
        if not 0.0 <= friction <= ROUGHEST:
            raise SimulationError(
                f"Ground: friction = {friction:g}, but a coefficient of friction must be between 0 and {ROUGHEST:g} "
                "(rubber on concrete: about 0.8). For a friction angle, pass its tangent."
            )
        normal = array("Ground: normal", self.normal)
        if normal.shape != (3,):
            raise ShapeError(f"Ground: normal has shape {normal.shape}, expected (3,): x, y, z.")
        length = float(np.linalg.norm(normal))
        if not 1e-9 < length < math.inf:
            raise SimulationError(f"Ground: normal = {normal.tolist()} must be a finite, non-zero vector.")
        x, y, z = (normal / length).tolist()
        for name, value in (
            ("friction", friction),
            ("normal", (x, y, z)),
            ("height", number("Ground: height", self.height)),
        ):
            object.__setattr__(self, name, value)

    @property
    def axes(self) -> np.ndarray:
        """Matrix with two tangents and the normal as rows, shape (3, 3); the normal is the last row."""
        return axes_of(np.array(self.normal))


def axes_of(n: np.ndarray) -> np.ndarray:
    """Return a matrix whose rows are two tangents of the plane and its unit normal n, shape (3, 3)."""
    t = np.cross(np.eye(3)[int(np.argmin(np.abs(n)))], n)
    t /= np.linalg.norm(t)
    return np.array([t, np.cross(n, t), n])


def number(name: str, x: Any) -> float:
    value = real(x)
    if value is None:
        raise ArgumentTypeError(f"{name} must be a number, got {shown(x)}.")
    if not math.isfinite(value):
        raise SimulationError(f"{name} = {value} is not finite.")
    return value
