"""Limits of Newton's method on closed loops, of continuation along a motion, and of closing. All versions use these."""

from typing import Final

STRIDE: Final = 0.2  # [rad] or [m]: longest predicted step of a dependent joint
SMALLEST_STEP: Final = 1e-6  # part of the whole motion
FASTEST: Final = 1e9  # change of a dependent joint along the whole motion, above which it is not determined
LIMIT: Final = 0.5  # [rad], and [m] or part of the length of the loop: longest step of a joint when a loop is closed
ITERATIONS: Final = 12
FAR: Final = 1e3  # largest scaled value of a row from which Newton's method goes on
GROWTH: Final = 2.0  # factor by which the largest value may grow in one step of the dependent joints
GROWTH_OF_ALL: Final = 10.0  # the same of the shortest step of all joints
STALLED: Final = 0.3  # a value that is more than this part of the one before has reached rounding
