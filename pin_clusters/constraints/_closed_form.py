"""Closed forms of mechanisms: all assemblies as explicit functions of the independent coordinates."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import coordinates_of, set_coordinate


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The dependent coordinates of one mechanism as explicit functions of the independent coordinates.

    All joints have one degree of freedom. The coordinate of a continuous joint is its angle.

    Attributes:
        independent: Joint ids whose coordinates are given.
        dependent: Joint ids whose coordinates are computed.
        solve: Maps the coordinates of the independent joints, shape (independent,), to the list of all assemblies, each
            of shape (dependent,), with the user's branch first. The list is empty if the mechanism cannot be assembled.
                Link
            angles lie in (-pi, pi]. A coordinate that enters through a gear (rotors) or linearly keeps the value that
            satisfies the equations, which may lie outside this interval.
        explicit: The same for symbolic coordinates, passed one by one. It gives for each dependent joint its value, or
            (a, b, c, gear) if the value is gear times a solution of ``a sin x + b cos x = c``.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    solve: Callable[[np.ndarray], list[np.ndarray]]
    explicit: Callable[..., list[Any]] | None = None

    def solutions(self, tree: pin.Model, q: np.ndarray) -> list[np.ndarray]:
        """Return the dependent coordinates of all assemblies for the independent coordinates in q."""
        return self.solve(coordinates_of(tree, self.independent, q))

    def assemblies(self, tree: pin.Model, q: np.ndarray) -> list[np.ndarray]:
        """Return the same as configurations, with the other joints as in q."""
        configurations = []
        for solution in self.solutions(tree, q):
            configurations.append(q.copy())
            for j, value in zip(self.dependent, solution, strict=True):
                set_coordinate(tree, j, configurations[-1], float(value))
        return configurations


def solutions(explicit: Callable[..., list[Any]], first: Sequence[int], x: np.ndarray) -> list[np.ndarray]:
    """Return all assemblies of an ``explicit`` form; ``first`` (+1 or -1) selects the user's solution of each sine."""
    choices = []
    for row, branch in zip(explicit(*map(float, x)), first, strict=True):
        *sine, gear = row if isinstance(row, tuple) else (row, None)
        choices.append([gear * y for y in sine_equation(*map(float, sine))[::branch]] if gear else sine)
    return [np.array(combination) for combination in itertools.product(*choices)]


def wrap(angle: float) -> float:
    turned = math.remainder(angle, 2.0 * math.pi)  # in [-pi, pi], without rounding
    return math.pi if turned == -math.pi else turned


def sine_equation(a: float, b: float, c: float) -> tuple[float, ...]:
    """Solve ``a sin x + b cos x = c``: return up to two values in (-pi, pi], none if a = b = 0.

    They are ``atan2(a, b) + acos(..)`` and ``atan2(a, b) - acos(..)``, and only one where they coincide.
    """
    size = math.hypot(a, b)
    if size == 0.0:
        return ()
    # Near the dead centre, acos(c / size) loses half of the digits; the root of this product keeps them.
    square = (size - c) * (size + c)
    if square < 0.0:
        if square < -DEAD_CENTRE * size * size:
            return ()
        square = 0.0
    middle, half = math.atan2(a, b), math.atan2(math.sqrt(square), c)
    return (wrap(middle + half), wrap(middle - half)) if square else (wrap(middle + half),)


# Rounding error where two circles touch, relative to the square of a length
DEAD_CENTRE = 1e-14
