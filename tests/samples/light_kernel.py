"""A kernel that is compiled in a tenth of a second: for tests of where compiled code is kept, and when it is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from pin_clusters.compiler.numba_jit.jit import Source, compiled


def light_at(address: Any, x: Any) -> Any:
    """Return a number that tells what was given."""
    return address + x.shape[0]


LIGHT = Source(light_at, ("i0", "f1"), "light (for tests)", None, False)


def answer() -> bool:
    """Compile the kernel, or load it; whether its result is right."""
    _, function = compiled(LIGHT)
    return bool(function(3, np.ones(2)) == 5)
