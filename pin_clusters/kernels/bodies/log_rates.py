"""Derivative of the logarithm of a placement: smooth at the identity, exact up to half a turn, without a branch."""

import math
from typing import Final

from ..._support.arrays import in_order
from ...compiler.numba_jit.jit import inline
from ..numbers.spatial import angular, cross, dot3


def _zeta(s: int) -> float:
    """Return the sum of k^-s from k = 2 on; what lies behind the first ones by Euler and Maclaurin."""
    n = 50
    return in_order(k**-s for k in range(2, n)) + n ** (1.0 - s) / (s - 1.0) + 0.5 * n**-s + s / 12.0 * n ** (-s - 1.0)


# at half a turn each is a sixteenth of the one before
_TERMS: Final = tuple(_zeta(4 + 2 * j) / math.pi ** (4 + 2 * j) for j in range(14))
_PI2: Final = math.pi**2


@inline
def coefficients(log):
    """Of ad^2 and ad^4 in the inverse of the right Jacobian of exp, 1 + ad / 2 + ..., at a motion.

    With y the square of its angle and c = (1 - (angle / 2) cot(angle / 2)) / y: by the partial fractions of the
    cotangent, all of one sign, of which the first stands alone and the others are a series in y.
    """
    w = angular(log)
    y = dot3(w, w)
    h, rest = 0.25 * y, 0.0
    for j in range(len(_TERMS)):
        rest = rest * h + _TERMS[len(_TERMS) - 1 - j]
    slope = 0.125 * (1.0 / (_PI2 * (_PI2 - h)) + rest)  # (c - 1 / 12) / y
    c = 1.0 / 12.0 + slope * y
    fourth = 1.5 * slope - 0.5 * c * c
    return 0.125 - 0.5 * c * (1.0 - c * y) + 2.0 * fourth * y, fourth


@inline
def rate_of_log(log, second, fourth, x):
    """How a logarithm changes as its placement is displaced by x in its own axes."""
    one = cross(log, x)
    two = cross(log, one)
    return x + one * 0.5 + two * second + cross(log, cross(log, two)) * fourth
