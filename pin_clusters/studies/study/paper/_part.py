"""A part of the report: what it measures, draws, tabulates and says. All but the first works on what JSON keeps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..plots import Figure
from ._effort import Effort

Found = dict[str, Any]
Rows = list[tuple[str, ...]]
CONFIRMED, CORRECTED, NOT_HERE = "confirmed", "corrected", "not measured here"


@dataclass(frozen=True)
class Statement:
    """A statement of a paper, and what became of it."""

    text: str  # what is stated
    source: str  # where
    measured: str  # what was measured, with its numbers
    holds: bool | None  # whether it does here; None: it was not measured

    @property
    def verdict(self) -> str:
        """In a word."""
        return NOT_HERE if self.holds is None else CONFIRMED if self.holds else CORRECTED


@dataclass(frozen=True)
class Part:
    """One study."""

    key: str  # its name in JSON and on the command line
    title: str  # its heading
    timed: str  # what exactly is timed, in words
    # takes an effort and what to call when a step is done; returns plain numbers
    measure: Callable[[Effort, Callable[[], None]], Found]
    # what draws each figure, by the name of its file without ending
    figures: Mapping[str, Callable[[Figure, Found], None]]
    # returns tables as text: a title, and rows of which the first is the head
    tables: Callable[[Found], list[tuple[str, Rows]]]
    statements: Callable[[Found], list[Statement]]  # returns what it has to say about the papers
    says: Callable[[Found], list[str]]  # returns sentences about what was found
    seconds: tuple[float, float]  # about how long it takes: a full run, and a quick one


def nothing(found: Found) -> list[str]:
    """Say nothing more about what was found."""
    return []


def agreeing(who: str, methods: Mapping[str, str] | None = None) -> Callable[[Found], list[str]]:
    """Return what says how exact some methods are, and what was left out, and why; ``methods`` are their labels."""

    def says(found: Found) -> list[str]:
        left_out = {(methods or {}).get(how, how): why for how, why in found.get("left_out", {}).items()}
        return [
            f"{who} agree to {found['agreement']:.0e} of the largest entry.",
            *(f"{how}: left blank. {why}" for how, why in left_out.items()),
        ]

    return says


def us(x: float) -> str:
    """Return microseconds with three digits."""
    return f"{x:.0f}" if x >= 100.0 else f"{x:.3g}"


def per_cent(x: float) -> str:
    """Return a percentage with its sign; of what is more than ten times as much, the factor."""
    return f"x {1.0 + x / 100.0:.0f}" if x > 900.0 else f"{x:+.0f} %" if abs(x) >= 10.0 else f"{x:+.1f} %"


def times_table(head: str, rows: Sequence[Found], size: str, methods: Mapping[str, str]) -> Rows:
    """Return the table of times against a size, which has that name in each row; methods with their labels."""
    return [(head, *methods.values())] + [
        (str(r[size]), *(us(r["times"][how]["median_us"]) if how in r["times"] else "-" for how in methods))
        for r in rows
    ]


def in_all(rows: Sequence[Found], methods: Iterable[str]) -> list[str]:
    """Return the methods that were timed at the largest size, and so at all."""
    return [how for how in methods if how in rows[-1]["times"]]


def span(values: Sequence[float]) -> str:
    """Return the smallest and the largest percentage."""
    low, high = per_cent(min(values)), per_cent(max(values))
    return low if low == high else f"{low} to {high}"
