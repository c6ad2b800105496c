"""Computes the derivative of log6 without branches; it is accurate up to half a turn and smooth at the identity."""

import math
from typing import Final

from ..._support.arrays import in_order
from ...compiler.numba_jit.jit import inline
from ..numbers.spatial import angular, cross, dot3


def _zeta(s: int) -> float:
    n = 50  # number of terms that are summed; the Euler-Maclaurin formula gives the remainder
    return in_order(k**-s for k in range(2, n)) + n ** (1.0 - s) / (s - 1.0) + 0.5 * n**-s + s / 12.0 * n ** (-s - 1.0)


# For angles up to half a turn, each term is at most a sixteenth of the previous term, so 14 terms suffice.
_TERMS: Final = tuple(_zeta(4 + 2 * j) / math.pi ** (4 + 2 * j) for j in range(14))
_PI2: Final = math.pi**2


@inline
def coefficients(log):
    """Return the coefficients of ad^2 and ad^4 in 1 + ad / 2 + ..., the inverse of the right Jacobian of exp.

    Let y be the squared angle of ``log`` and c = (1 - (angle / 2) cot(angle / 2)) / y. The partial fractions of the
    cotangent all have the same sign. The first fraction is evaluated directly; the others form a series in y.
    """
    w = angular(log)
    y = dot3(w, w)
    h, series = 0.25 * y, 0.0
    for j in range(len(_TERMS)):
        series = series * h + _TERMS[len(_TERMS) - 1 - j]
    slope = 0.125 * (1.0 / (_PI2 * (_PI2 - h)) + series)  # (c - 1 / 12) / y
    c = 1.0 / 12.0 + slope * y
    fourth = 1.5 * slope - 0.5 * c * c
    return 0.125 - 0.5 * c * (1.0 - c * y) + 2.0 * fourth * y, fourth


@inline
def rate_of_log(log, second, fourth, x):
    """Return the derivative of ``log`` = log6(M) along the motion x of the placement M; x is in the axes of M."""
    bracket = cross(log, x)
    double_bracket = cross(log, bracket)
    return x + bracket * 0.5 + double_bracket * second + cross(log, cross(log, double_bracket)) * fourth
