"""Joint and tendon equalities: what they lock, and couplings of what they leave."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...._support.arrays import in_order
from ....constraints import LinearCoupling
from ....errors import LoadError
from ._bodies import Joint
from ._equalities import Equation
from ._polynomial import PolynomialCoupling

SAME = 1e-9
"""Values of a joint that differ less are one, [rad] or [m]."""


def resolve(equations: Sequence[Equation]) -> tuple[list[Equation], dict[str, float]]:
    """Return the equations without what is held, and the displacement of joints that are held, by name."""
    waiting = list(equations)
    locked: dict[str, float] = {}
    moved = True
    while moved:
        moved, rest = False, []
        for equation in waiting:
            equation = _without(equation, locked)
            total = {**equation.left}
            if len(equation.coefficients) <= 2:
                slope = equation.coefficients[1] if len(equation.coefficients) > 1 else 0.0
                for name, c in equation.right.items():
                    total[name] = total.get(name, 0.0) - slope * c
            elif not equation.left:
                raise LoadError(
                    f"{equation.owner}: what follows is held by another equality, and a polynomial of degree "
                    f"{len(equation.coefficients) - 1} does not say where that leaves the rest. State the lock alone."
                )
            else:
                rest.append(equation)
                continue
            total = {name: c for name, c in total.items() if c != 0.0}
            constant = equation.coefficients[0]
            if len(total) > 1:
                rest.append(Equation(equation.name, total, {}, (constant,)))
            elif total:
                ((name, c),) = total.items()
                locked[name] = constant / c
                moved = True
            elif abs(constant) > SAME:
                raise LoadError(
                    f"{equation.owner} contradicts the other equalities: the joints that it names are held where it "
                    f"is off by {constant:.3g}. Remove one of them."
                )
        waiting = rest
    return waiting, locked


def _without(equation: Equation, locked: Mapping[str, float]) -> Equation:
    """Put the values of locked joints in."""
    if not any(name in locked for name in (*equation.left, *equation.right)):
        return equation
    left = {n: c for n, c in equation.left.items() if n not in locked}
    right = {n: c for n, c in equation.right.items() if n not in locked}
    held = [in_order(c * locked[n] for n, c in side.items() if n in locked) for side in (equation.left, equation.right)]
    # p(y + held) as a polynomial of y
    shifted = np.polynomial.Polynomial(equation.coefficients)(np.polynomial.Polynomial([held[1], 1.0]))
    coefficients = [float(c) for c in np.atleast_1d(shifted.coef)]
    coefficients[0] -= held[0]
    if not right:
        coefficients = coefficients[:1]
    return Equation(equation.name, left, right, tuple(coefficients))


def couplings(
    equations: Sequence[Equation],
    joints: Mapping[str, Joint],
    leading: Sequence[str],
    independent: Collection[str] = (),
) -> list[tuple[str, Any]]:
    """Return a coupling for each equation, with its owner.

    Of a linear equation any joint can follow: one that no other equation determines, and rather one that no motor
    drives.

    Args:
        equations: As resolved.
        joints: All joints by name.
        leading: Names of joints that shall rather be independent.
        independent: Names of joints that the caller asks to be independent.
    """

    def readiness(name: str) -> int:
        return 0 if name in independent else 1 if name in leading else 2

    found: list[tuple[str, Any]] = []
    followers = {next(iter(e.left)): e.owner for e in equations if len(e.coefficients) > 2 and len(e.left) == 1}
    groups = {name: {name} for name in joints}  # joints that equations tie to each other
    for equation in sorted(equations, key=lambda e: len(e.coefficients) <= 2):
        names = list(dict.fromkeys([*equation.left, *equation.right]))
        if len(equation.coefficients) > 2:
            found.append((equation.owner, _polynomial(equation, joints)))
            continue
        open_ones = [n for n in names if n not in followers]
        if not open_ones or (len(names) == 2 and groups[names[0]] is groups[names[1]]):
            raise LoadError(
                f"{equation.owner}: other equalities tie the joints {', '.join(map(repr, names))} already, so that it "
                "repeats or contradicts them. Remove one."
            )
        first = max(open_ones, key=readiness)
        followers[first] = equation.owner
        if len(names) == 2:
            union = groups[names[0]] | groups[names[1]]
            for name in union:
                groups[name] = union
        c = equation.left
        share = {n: -c[n] / c[first] for n in names if n != first}
        offset = equation.coefficients[0] / c[first] + joints[first].ref
        offset -= in_order(k * joints[n].ref for n, k in share.items())
        found.append((equation.owner, LinearCoupling(first, share, offset)))
    return found


def _polynomial(equation: Equation, joints: Mapping[str, Joint]) -> PolynomialCoupling:
    both = {**equation.left, **equation.right}
    return PolynomialCoupling(
        tuple(equation.left.items()),
        tuple(equation.right.items()),
        equation.coefficients,
        tuple((name, joints[name].ref) for name in both),
        equation.name,
    )
