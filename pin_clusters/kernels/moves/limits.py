"""Limits of Newton's method and of continuation on closed loops; all implementations use them."""

from typing import Final

STRIDE: Final = 0.2  # longest predicted step of a dependent joint [rad] or [m]
SMALLEST_STEP: Final = 1e-6  # smallest step, as a fraction of the whole motion
FASTEST: Final = 1e9  # largest change of a dependent joint along the whole motion; larger changes count as undetermined
LIMIT: Final = 0.5  # longest step of a joint when a loop is closed [rad], and [m] or fraction of the loop length
ITERATIONS: Final = 12
FAR: Final = 1e3  # largest scaled residual from which Newton's method continues
GROWTH: Final = 2.0  # largest allowed growth factor of the largest residual in one step of the dependent joints
GROWTH_OF_ALL: Final = 10.0  # as GROWTH, for a least-norm step of all joints
STALLED: Final = 0.3  # a residual above this fraction of the previous residual has stopped decreasing
