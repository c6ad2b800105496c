"""Decide whether armature can replace a robot's rotors, and write the answer on one page.

``run`` compares the exact robot with its approximations along a motion (``pc.study``). It checks whether the errors
exceed thresholds. ``write`` writes a self-contained HTML page, and a JSON file with all numbers.
"""

from __future__ import annotations

from .exercised import Exercised
from .page import write
from .reflected import Drive, Reflected
from .result import AuditResult, check, run
from .verdict import Line, ThresholdError, Verdict, Worst
from .walk import Landing, Walked

__all__ = [
    "AuditResult", "Drive", "Exercised", "Landing", "Line", "Reflected", "ThresholdError", "Verdict", "Walked", "Worst",
    "check", "run", "write",
]  # fmt: skip
