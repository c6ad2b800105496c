"""Limits for Newton's method and continuation on closed loops, shared by all implementations."""

from typing import Final

STRIDE: Final = 0.2  # longest predicted step of a dependent joint [rad] or [m]
SMALLEST_STEP: Final = 1e-6  # smallest step, as a fraction of the whole motion
FASTEST: Final = 1e9  # largest predicted change of a dependent joint in a motion; a larger change counts as a failure
LIMIT: Final = 0.5  # longest Newton step of a joint: [rad], or [m] or a fraction of the loop length
ITERATIONS: Final = 12
FAR: Final = 1e3  # largest scaled residual from which Newton's method continues
GROWTH: Final = 2.0  # largest allowed growth factor of the largest residual in one step of the dependent joints
GROWTH_OF_ALL: Final = 10.0  # like GROWTH, for a least-norm step of all joints
STALLED: Final = 0.3  # a residual above this fraction of the previous residual has stopped decreasing
