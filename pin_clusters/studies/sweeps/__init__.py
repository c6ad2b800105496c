"""Studies over many robots and parameters: on all cores, on several machines, interrupted and continued.

``run`` calls a function once per case through any ``concurrent.futures.Executor``; ``load`` reads what a folder has.
"""

from __future__ import annotations

from ._tables import CaseFailure
from .engine import load, run
from .pool import InProcess, Processes, open_executor
from .result import Effort, SweepError, SweepFolderError, SweepInterrupted, SweepResult

__all__ = [
    "CaseFailure",
    "Effort",
    "InProcess",
    "Processes",
    "SweepError",
    "SweepFolderError",
    "SweepInterrupted",
    "SweepResult",
    "load",
    "open_executor",
    "run",
]
