"""Derivatives of functions that come without them, and calls of compiled ones."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], Any]

# Eighth-order central differences: offsets 1 to 4
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
# The same of second derivatives: offsets 0 to 4
SECOND_WEIGHTS = (-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)
# The error is step^8 / 630 x ninth derivative + 1e-16 / step. For sines of angles, 1e-14 at 0.02 rad; functions of a
# length turn over some 0.1 m, so a metre's step is smaller.
ANGLE_STEP = 0.02
LENGTH_STEP = 1e-3
# A difference of differences loses less to rounding with a wider outer step
OUTER = 2.5
COMPLEX_STEP = 1e-30


def central_differences(function: Function, x: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return d function / d x by eighth-order central differences; the new axis is the last one."""
    columns = []
    for k, step in enumerate(steps):
        total: Any = 0.0
        for n, weight in enumerate(WEIGHTS, start=1):
            ahead, behind = x.copy(), x.copy()
            ahead[k] += n * step
            behind[k] -= n * step
            # the width that was really taken, after rounding
            width = (ahead[k] - behind[k]) / (2.0 * n)
            total = total + weight / width * (np.asarray(function(ahead)) - np.asarray(function(behind)))
        columns.append(total)
    return np.stack(columns, axis=-1)


def first_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """Return the derivative of a function of a number at 0, by eighth-order central differences."""
    at = [n * step for n in range(1, 5)]
    total: Any = sum(weight * (function(s) - function(-s)) for weight, s in zip(WEIGHTS, at, strict=True))
    return total / step


def second_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """Return the second derivative of a function of a number at 0, by eighth-order central differences."""
    total = SECOND_WEIGHTS[0] * function(0.0)
    for n, weight in enumerate(SECOND_WEIGHTS[1:], start=1):
        total = total + weight * (function(n * step) + function(-n * step))
    return total / (step * step)


@dataclass(frozen=True)
class ComplexStep:
    """The Jacobian of a function that takes complex numbers, to rounding."""

    function: Function

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return d function / d x, shape (rows, x)."""
        columns = []
        for k in range(len(x)):
            z = np.asarray(x, dtype=complex)
            z[k] += COMPLEX_STEP * 1j
            columns.append(np.atleast_1d(np.asarray(self.function(z))).imag / COMPLEX_STEP)
        return np.stack(columns, axis=-1)


@cache
def _pointer(address: int) -> Callable[[int, int], None]:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)


def call_compiled(address: int, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return what ``void f(const double* x, double* out)`` writes."""
    given = np.ascontiguousarray(x, dtype=float)
    out = np.zeros(shape)
    _pointer(address)(given.ctypes.data, out.ctypes.data)
    return out
