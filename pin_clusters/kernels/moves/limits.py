"""Limits of Newton's method and of continuation on closed loops; all implementations use them."""

from typing import Final

STRIDE: Final = 0.2  # [rad] or [m]: longest predicted step of a dependent joint
SMALLEST_STEP: Final = 1e-6  # fraction of the whole motion
FASTEST: Final = 1e9  # largest change of a dependent joint along the whole motion that counts as determined
LIMIT: Final = 0.5  # [rad], and [m] or fraction of the loop length: longest step of a joint when a loop is closed
ITERATIONS: Final = 12
FAR: Final = 1e3  # largest scaled residual from which Newton's method continues
GROWTH: Final = 2.0  # largest growth of the largest residual in one step of the dependent joints
GROWTH_OF_ALL: Final = 10.0  # the same for a step of least norm of all joints
STALLED: Final = 0.3  # a residual above this fraction of the previous residual has stopped decreasing
