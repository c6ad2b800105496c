"""Expands geometric equations of linkages into the terms of a HarmonicClosure.

Example: the equation of a four-bar linkage::

    crank, rocker = coordinates(2)
    pin_a = rotation((0, 0, 1), crank) @ (0.1, 0.0, 0.0)
    pin_b = (0.3, 0.0, 0.0) + rotation((0, 0, 1), rocker) @ (0.12, 0.0, 0.0)
    row = square(pin_b - pin_a) - 0.25**2

Points are NumPy arrays of ``Harmonic`` and numbers, so NumPy's ``+``, ``-`` and ``@`` apply to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import pinocchio as pin

from .._support.arrays import in_order
from .closures import COS, LINEAR, SIN, HarmonicClosure

MOST_FACTORS = 3


class _Arithmetic:
    """Base class that derives the other operators from ``__add__`` and ``__mul__`` of its subclass."""

    __slots__ = ()

    def __radd__(self: Any, other: Any) -> Any:
        return self + other

    def __rmul__(self: Any, factor: Any) -> Any:
        return self * factor

    def __truediv__(self: Any, divisor: float) -> Any:
        return self * (1.0 / divisor)

    def __neg__(self: Any) -> Any:
        return self * -1.0

    def __sub__(self: Any, other: Any) -> Any:
        return self + other * -1.0

    def __rsub__(self: Any, other: Any) -> Any:
        return -self + other


@dataclass(frozen=True)
class Angle(_Arithmetic):
    """A linear combination of coordinates, plus a phase [rad]."""

    weights: tuple[float, ...]
    phase: float = 0.0

    def __add__(self, other: Angle | float) -> Angle:
        if isinstance(other, Angle):
            weights = tuple(a + b for a, b in zip(self.weights, other.weights, strict=True))
            return Angle(weights, self.phase + other.phase)
        return Angle(self.weights, self.phase + float(other))

    def __mul__(self, factor: float) -> Angle:
        return Angle(tuple(float(factor) * w for w in self.weights), float(factor) * self.phase)


Factor = tuple[int, Angle]
Scalar = Union["Harmonic", float, int]


class Harmonic(_Arithmetic):
    """A sum of products, each of at most three sines, cosines or angles."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[tuple[Factor, ...], float]) -> None:
        self.terms = {factors: c for factors, c in terms.items() if c != 0.0}

    def __add__(self, other: Scalar) -> Harmonic:
        terms = dict(self.terms)
        for factors, c in _harmonic(other).terms.items():
            terms[factors] = terms.get(factors, 0.0) + c
        return Harmonic(terms)

    def __mul__(self, other: Scalar) -> Harmonic:
        total = Harmonic({})
        for first, c in self.terms.items():
            for second, d in _harmonic(other).terms.items():
                total = total + _product((*first, *second), c * d)
        return total


def _harmonic(value: Scalar) -> Harmonic:
    return value if isinstance(value, Harmonic) else Harmonic({(): float(value)})


def coordinates(count: int) -> tuple[Angle, ...]:
    return tuple(Angle(tuple(row)) for row in np.eye(count).tolist())


def linear(angle: Angle) -> Harmonic:
    """Return an angle, or the coordinate of a prismatic joint, as a linear term."""
    return Harmonic({((LINEAR, angle),): 1.0})


def sin(angle: Angle) -> Harmonic:
    return _wave(SIN, angle)


def cos(angle: Angle) -> Harmonic:
    return _wave(COS, angle)


def _wave(kind: int, angle: Angle) -> Harmonic:
    """Return a sine or cosine; make the angle's first weight positive, so that sin(x) and sin(-x) become one term."""
    leading = next((w for w in angle.weights if w != 0.0), 0.0)
    if leading == 0.0:
        return Harmonic({(): float(np.sin(angle.phase) if kind == SIN else np.cos(angle.phase))})
    if leading < 0.0:
        return Harmonic({((kind, -angle),): -1.0 if kind == SIN else 1.0})
    return Harmonic({((kind, angle),): 1.0})


def _product(factors: Sequence[Factor], coefficient: float) -> Harmonic:
    """Return a product; product-to-sum formulas expand it into terms with at most MOST_FACTORS factors."""
    if len(factors) <= MOST_FACTORS:
        ordered = tuple(sorted(factors, key=lambda f: (f[0], f[1].weights, f[1].phase)))
        return Harmonic({ordered: coefficient})
    waves = [f for f in factors if f[0] != LINEAR]
    if len(waves) < 2:
        raise NotImplementedError(f"A term has {len(factors)} factors, of which {len(waves)} are sines or cosines.")
    (kind_a, a), (kind_b, b) = waves[:2]
    remaining = list(factors)
    for wave in waves[:2]:
        remaining.remove(wave)
    if kind_a == kind_b:
        pair = cos(a - b) + cos(a + b) * (1.0 if kind_a == COS else -1.0)
    else:
        pair = sin(a + b) + sin(a - b) * (1.0 if kind_a == SIN else -1.0)
    total = Harmonic({})
    for pair_factors, c in pair.terms.items():
        total = total + _product((*pair_factors, *remaining), 0.5 * c * coefficient)
    return total


def rotation(axis: Sequence[float] | np.ndarray, angle: Angle) -> np.ndarray:
    """Return the rotation about a unit axis, shape (3, 3), by Rodrigues' formula."""
    n = np.asarray(axis, dtype=float)
    along = np.outer(n, n)
    return pin.skew(n).astype(object) * sin(angle) + (np.eye(3) - along).astype(object) * cos(angle) + along


def square(vector: np.ndarray) -> Any:
    return in_order(component * component for component in vector)


def _above_rounding(row: Scalar) -> dict[tuple[Factor, ...], float]:
    """Return the terms of an equation, but omit terms whose coefficient is a rounding error, such as cos(pi / 2)."""
    terms = _harmonic(row).terms
    least = np.finfo(float).eps * max((abs(c) for c in terms.values()), default=0.0)
    return {factors: c for factors, c in terms.items() if abs(c) > least}


def harmonic_closure(
    source: Any, joints: Sequence[int], rows: Iterable[Scalar], labels: Sequence[str], units: Sequence[str]
) -> HarmonicClosure:
    """Return the closure with the equations ``rows`` = 0; coordinate i belongs to the joint with id ``joints[i]``."""
    index: dict[Angle, int] = {}
    terms = tuple(
        tuple(
            (c, tuple((kind, index.setdefault(angle, len(index))) for kind, angle in factors))
            for factors, c in _above_rounding(row).items()
        )
        for row in rows
    )
    weights = np.array([a.weights for a in index]).reshape(len(index), len(joints))
    phases = np.array([a.phase for a in index])
    return HarmonicClosure(source, tuple(labels), tuple(units), tuple(joints), weights, phases, terms)
