"""All assemblies of a mechanism at once, where geometry gives them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .._support.trees import coordinates_of, set_coordinate


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The dependent coordinates of one mechanism as explicit functions of the others.

    All joints have one degree of freedom. A continuous joint counts by its angle.

    Attributes:
        independent: Joint ids whose coordinates are given.
        dependent: Joint ids whose coordinates follow.
        solve: Coordinates of the independents, shape (independent,), to the list of all assemblies, each of shape
            (dependent,), the user's branch first; empty where the mechanism cannot be assembled. Link angles lie in
            (-pi, pi]. A coordinate that enters through a gear (rotors) or linearly keeps the value that closes the
            equations, which may lie outside.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    solve: Callable[[np.ndarray], list[np.ndarray]]

    def solutions(self, tree: pin.Model, q: np.ndarray) -> list[np.ndarray]:
        """Return the assemblies with the independent coordinates of q, as coordinates of the dependent joints."""
        return self.solve(coordinates_of(tree, self.independent, q))

    def assemblies(self, tree: pin.Model, q: np.ndarray) -> list[np.ndarray]:
        """Return them as whole configurations, with the other joints as in q."""
        found = []
        for solution in self.solutions(tree, q):
            found.append(q.copy())
            for j, value in zip(self.dependent, solution, strict=True):
                set_coordinate(tree, j, found[-1], float(value))
        return found


def wrap(angle: float) -> float:
    """Return the angle in (-pi, pi]."""
    turned = math.remainder(angle, 2.0 * math.pi)  # in [-pi, pi], without rounding
    return math.pi if turned == -math.pi else turned


def sine_equation(a: float, b: float, c: float) -> tuple[float, ...]:
    """Solve ``a sin x + b cos x = c``.

    Returns:
        ``atan2(a, b) + acos(..)`` and ``atan2(a, b) - acos(..)``, in (-pi, pi]; one where they meet, none where there
        is no solution, or where a = b = 0 (any angle, or none).
    """
    size = math.hypot(a, b)
    if size == 0.0:
        return ()
    # the root of a product keeps its digits near the dead centre, where acos(c / size) loses half of them
    square = (size - c) * (size + c)
    if square < 0.0:
        if square < -DEAD_CENTRE * size * size:
            return ()
        square = 0.0
    middle, half = math.atan2(a, b), math.atan2(math.sqrt(square), c)
    return (wrap(middle + half), wrap(middle - half)) if square else (wrap(middle + half),)


# Relative to the square of a length: what rounding leaves where two circles touch
DEAD_CENTRE = 1e-14
