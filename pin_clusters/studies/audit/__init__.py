"""Is armature enough for this robot? One page that says so.

``run`` compares the exact robot with its approximations along a motion (``pc.study``) and judges them by a
threshold; ``write`` makes a page that needs no network, and a file of all numbers.
"""

from __future__ import annotations

from .exercised import Exercised
from .page import write
from .reflected import Drive, Reflected
from .result import AuditResult, check, run
from .verdict import Line, ThresholdError, Verdict, Worst
from .walk import Landing, Walked

__all__ = [
    "AuditResult",
    "Drive",
    "Exercised",
    "Landing",
    "Line",
    "Reflected",
    "ThresholdError",
    "Verdict",
    "Walked",
    "Worst",
    "check",
    "run",
    "write",
]
