"""Calls without a price: functions whose usual call goes from Python to the kernel in machine code.

No C compiler is needed: LLVM is there for the kernels. What is not usual (other types, other sizes, options, errors, a
kernel that is not compiled) is left to the Python function, unchanged; in an interpreter that is not known, all is.
"""

from __future__ import annotations

from .desk import (
    ALL,
    ALSO,
    CHANGED,
    COUPLING,
    COUPLING_TABLES,
    DESK_SIZE,
    ENERGIES,
    FORCES,
    GIVEN_INPUTS,
    HYBRID_NAMES,
    KEPT,
    KNOWN,
    NFRAMES,
    NJOINTS,
    NQ,
    NV,
    NV_AGAIN,
    OWN_INPUTS,
    PLACES,
    RATE_TABLES,
    SIX,
    TAU,
    ZEROS,
)
from .entries import asking, connect, connect_moves, fast
from .model_desk import MOST_HOLDS, WAY, Desk
from .question import Question
from .recollection import Recollection

__all__ = [
    "ALL",
    "ALSO",
    "CHANGED",
    "COUPLING",
    "COUPLING_TABLES",
    "DESK_SIZE",
    "ENERGIES",
    "FORCES",
    "GIVEN_INPUTS",
    "HYBRID_NAMES",
    "KEPT",
    "KNOWN",
    "MOST_HOLDS",
    "NFRAMES",
    "NJOINTS",
    "NQ",
    "NV",
    "NV_AGAIN",
    "OWN_INPUTS",
    "PLACES",
    "RATE_TABLES",
    "SIX",
    "TAU",
    "WAY",
    "ZEROS",
    "Desk",
    "Question",
    "Recollection",
    "asking",
    "connect",
    "connect_moves",
    "fast",
]
