"""How long a run will take, and how much memory: said before, and refused where it is too much."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ...._support.memory import available
from ....errors import ArgumentTypeError
from . import lengths
from ._effort import EFFORTS, Effort
from ._models import chain
from ._part import Part

HOUR = 3600.0
_SAMPLE = 100
_GROWTH = 2.1
"""Power with which the time grows that it takes to make the model of a chain."""
_TABLES = 60.0
"""Bytes per square of the number of links that the tables of such a model take."""


@dataclass(frozen=True)
class Estimate:
    """What a run will take."""

    seconds: float  # time
    memory: float  # largest table of the longest chain, [bytes]
    longest: int  # its links

    @property
    def said(self) -> str:
        """In words."""
        text = f"about {self.seconds / 60.0:.0f} min" if self.seconds < HOUR else f"about {self.seconds / HOUR:.1f} h"
        return text if self.memory < 1e9 else f"{text}, and {self.memory / 1e9:.1f} GB for {self.longest} links"


def estimate(parts: Sequence[Part], effort: Effort) -> Estimate:
    """Return what the parts will take on this machine; of chains from the time that one of 100 links takes."""
    at = {"full": 0, "quick": 1, "tiny": 1}[effort.name]
    seconds = sum(part.seconds[at] for part in parts)
    usual = EFFORTS[effort.name].longest
    memory = 0.0
    if any(part.key == "lengths" for part in parts):
        memory = _TABLES * float(effort.longest) ** 2
        if effort.longest > usual:
            start = time.perf_counter()
            chain(_SAMPLE)
            one = time.perf_counter() - start
            more = [n for n in lengths.wanted(effort) if n > usual]
            seconds += sum(one * (n / _SAMPLE) ** _GROWTH for n in more)
    return Estimate(seconds, memory, effort.longest)


def refuse(found: Estimate, *, patient: bool) -> None:
    """Refuse what takes hours, unless it is wanted, and what does not fit.

    Raises:
        ArgumentTypeError: It would take more than an hour, or more memory than there is.
    """
    memory = available()
    if memory is not None and found.memory > 0.8 * memory:
        raise ArgumentTypeError(
            f"longest={found.longest}: the tables of that chain would take {found.memory / 1e9:.1f} GB, and "
            f"{memory / 1e9:.1f} GB can be had. Take a shorter chain."
        )
    if found.seconds > HOUR and not patient:
        raise ArgumentTypeError(
            f"longest={found.longest}: the run would take {found.said}. Take a shorter chain, or say that you have "
            "the time: patient=True (--patient)."
        )
