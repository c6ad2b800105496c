"""Calls without a price: functions whose usual call goes from Python to the kernel in machine code.

No C compiler is needed: LLVM is there for the kernels. What is not usual (other types, other sizes, options, errors, a
kernel that is not compiled) is left to the Python function, unchanged; in an interpreter that is not known, all is.
"""

from . import records
from .desk import Desk
from .entries import asking, connect, connect_moves, fast
from .of_tree import written
from .question import Question
from .recollection import GIVEN_INPUTS, HYBRID_NAMES, OWN_INPUTS, Recollection
from .watch import Watch

__all__ = [
    "GIVEN_INPUTS",
    "HYBRID_NAMES",
    "OWN_INPUTS",
    "Desk",
    "Question",
    "Recollection",
    "Watch",
    "asking",
    "connect",
    "connect_moves",
    "fast",
    "records",
    "written",
]
