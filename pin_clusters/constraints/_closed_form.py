"""Closed-form solutions: functions that compute all assemblies of a mechanism from the independent coordinates."""

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

    All joints have one degree of freedom. The coordinate of a continuous joint is its angle. Link angles lie in
    (-pi, pi]; coordinates of rotors, and coordinates from linear equations, can lie outside this interval.
    """

    independent: tuple[int, ...]  # joint ids
    dependent: tuple[int, ...]
    # Maps the independent coordinates, shape (independent,), to the list of all assemblies, each of shape (dependent,).
    # The assembly mode (branch) of the user comes first. The list is empty if the mechanism cannot be assembled.
    solve: Callable[[np.ndarray], list[np.ndarray]]
    # Maps symbolic independent coordinates, passed as separate arguments, to one item per dependent joint: its
    # coordinate, or (a, b, c, gear) if the coordinate is gear times a solution x of ``a sin x + b cos x = c``.
    explicit: Callable[..., list[Any]] | None = None

    def solutions(self, tree: pin.Model, q: np.ndarray) -> list[np.ndarray]:
        return self.solve(coordinates_of(tree, self.independent, q))

    def assemblies(self, tree: pin.Model, q: np.ndarray) -> list[np.ndarray]:
        """Return all assemblies as configurations; joints outside the mechanism keep their values from q."""
        configurations = []
        for solution in self.solutions(tree, q):
            configurations.append(q.copy())
            for j, value in zip(self.dependent, solution, strict=True):
                set_coordinate(tree, j, configurations[-1], float(value))
        return configurations


def solutions(explicit: Callable[..., list[Any]], first: Sequence[int], x: np.ndarray) -> list[np.ndarray]:
    """Return the dependent coordinates of all assemblies; ``first[i]`` is the sign (+1, -1) in joint i's first root."""
    choices = []
    for row, branch in zip(explicit(*map(float, x)), first, strict=True):
        *sine, gear = row if isinstance(row, tuple) else (row, None)
        choices.append([gear * y for y in sine_equation(*map(float, sine))[::branch]] if gear else sine)
    return [np.array(combination) for combination in itertools.product(*choices)]


def wrap(angle: float) -> float:
    turned = math.remainder(angle, 2.0 * math.pi)  # exact, in [-pi, pi]
    return math.pi if turned == -math.pi else turned


def sine_equation(a: float, b: float, c: float) -> tuple[float, ...]:
    """Solve ``a sin x + b cos x = c``; return all roots in (-pi, pi], ``atan2(a, b) +- acos(c / hypot(a, b))``."""
    size = math.hypot(a, b)
    if size == 0.0:
        return ()
    # Near c = +-size, acos(c / size) loses half of the digits, but the square root of this product keeps them.
    square = (size - c) * (size + c)
    if square < 0.0:
        if square < -DEAD_CENTRE * size * size:
            return ()
        square = 0.0
    middle, half = math.atan2(a, b), math.atan2(math.sqrt(square), c)
    return (wrap(middle + half), wrap(middle - half)) if square else (wrap(middle + half),)


# Relative rounding error of a squared length; circles that miss each other by less are treated as tangent.
DEAD_CENTRE = 1e-14
