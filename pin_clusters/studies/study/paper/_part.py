"""Define a part of the report. Of its functions, only ``measure`` evaluates dynamics; the others use stored results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..plots import Figure
from ._effort import Effort

Results = dict[str, Any]
Rows = list[tuple[str, ...]]
CONFIRMED, CORRECTED, NOT_HERE = "confirmed", "corrected", "not measured here"


@dataclass(frozen=True)
class Statement:
    """A statement in a paper, and whether the measurement confirms it."""

    text: str  # statement, in the paper's words
    source: str  # name of the paper, and the page or table
    measured: str  # description of the measured values
    holds: bool | None  # whether the measurement confirms the statement; None if it was not measured

    @property
    def verdict(self) -> str:
        return NOT_HERE if self.holds is None else CONFIRMED if self.holds else CORRECTED


@dataclass(frozen=True)
class Part:
    key: str  # name of the part in JSON and on the command line
    title: str  # heading of the part
    timed: str  # description of the timed calls
    measure: Callable[[Effort, Callable[[], None]], Results]  # calls its second argument after each step
    figures: Mapping[str, Callable[[Figure, Results], None]]  # drawing functions, by file name without suffix
    tables: Callable[[Results], list[tuple[str, Rows]]]  # returns the title and the rows of each table, header first
    statements: Callable[[Results], list[Statement]]  # returns the papers' statements with verdicts
    says: Callable[[Results], list[str]]  # returns further sentences about the results
    seconds: tuple[float, float]  # approximate duration of a full and of a quick run, [s]


def nothing(results: Results) -> list[str]:
    return []


def agreeing(subject: str, methods: Mapping[str, str] | None = None) -> Callable[[Results], list[str]]:
    def says(results: Results) -> list[str]:
        left_out = {
            (methods or {}).get(method, method): reason for method, reason in results.get("left_out", {}).items()
        }
        return [
            f"{subject} agree to {results['agreement']:.0e} of the largest entry.",
            *(f"{method}: left blank. {reason}" for method, reason in left_out.items()),
        ]

    return says


def us(x: float) -> str:
    return f"{x:.0f}" if x >= 100.0 else f"{x:.3g}"


def per_cent(x: float) -> str:
    return f"x {1.0 + x / 100.0:.0f}" if x > 900.0 else f"{x:+.0f} %" if abs(x) >= 10.0 else f"{x:+.1f} %"


def times_table(head: str, rows: Sequence[Results], size: str, methods: Mapping[str, str]) -> Rows:
    return [(head, *methods.values())] + [
        (str(r[size]), *(us(r["times"][method]["median_us"]) if method in r["times"] else "-" for method in methods))
        for r in rows
    ]


def in_all(rows: Sequence[Results], methods: Iterable[str]) -> list[str]:
    return [method for method in methods if method in rows[-1]["times"]]


def span(values: Sequence[float]) -> str:
    low, high = per_cent(min(values)), per_cent(max(values))
    return low if low == high else f"{low} to {high}"
