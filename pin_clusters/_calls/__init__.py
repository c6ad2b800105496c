"""Calls without a price: functions whose usual call goes from Python to the kernel in machine code.

No C compiler is needed: LLVM is there for the kernels. What is not usual (other types, other sizes, options, errors, a
kernel that is not compiled) is left to the Python function, unchanged; in an interpreter that is not known, all is.
"""

from __future__ import annotations

from .code import (
    ALSO,
    CHANGED,
    COUPLING,
    COUPLING_TABLES,
    ENERGIES,
    KEPT,
    NFRAMES,
    NJOINTS,
    NQ,
    NV,
    NV_AGAIN,
    PLACES,
    SIX,
    ZEROS,
)
from .entries import ALL, DESK_SIZE, connect, fast

__all__ = [
    "ALL", "ALSO", "CHANGED", "COUPLING", "COUPLING_TABLES", "DESK_SIZE", "ENERGIES", "KEPT", "NFRAMES", "NJOINTS",
    "NQ", "NV", "NV_AGAIN", "PLACES", "SIX", "ZEROS", "connect", "fast",
]  # fmt: skip
