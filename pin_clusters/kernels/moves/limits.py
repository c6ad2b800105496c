"""How far, how often, how short: of continuation and of closing."""

from typing import Final

STRIDE: Final = 0.2  # [rad] or [m]: longest predicted step of a dependent joint
SMALLEST_STEP: Final = 1e-6  # part of the whole motion
LIMIT: Final = 0.5  # [rad] or [m]: longest step of a joint when a loop is closed
ITERATIONS: Final = 12
