"""Tables of ``calls.py``: all functions in all calling styles; for ``report.py``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from call_forms import limit
from report_loops import markdown, where

SHOWN = 100
"""The largest number of rows of a list. The table of all ratios contains the remaining rows."""


class Cell(NamedTuple):
    """A call on a robot, for which both packages have a time."""

    function: str
    call: str
    style: str
    robot: str
    ratio: float
    limit: float
    slow_calls: int

    @property
    def excess(self) -> float:
        """The ratio divided by its limit."""
        return self.ratio / self.limit

    def columns(self) -> list[str]:
        """Return what identifies the cell."""
        return [f"`{self.call}`", self.style, f"`{self.robot}`"]


def cells(results: dict[str, Any]) -> list[Cell]:
    """Return all cells with a ratio; those furthest above their limits come first."""
    found = [
        Cell(
            row["function"], row["call"], row["style"], robot, x["pc"] / x["pin"],
            limit(row["function"], results["loops"][robot]), x.get("warm", 1),
        )
        for row in results["rows"]
        for robot, x in row["cells"].items()
        if "pin" in x
    ]  # fmt: skip
    return sorted(found, key=lambda cell: -cell.excess)


def failures(results: dict[str, Any]) -> list[list[str]]:
    """Return the calls that raise an error here but not in Pinocchio, with their robots."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in results["rows"]:
        for robot, x in row["cells"].items():
            if "error" in x:
                key = f"`{row['call']}`", row["style"], x["error"].replace("|", "\\|").replace(robot, "...")
                found.setdefault(key, []).append(f"`{robot}`")
    return [[call, style, ", ".join(robots), error] for (call, style, error), robots in found.items()]


def _grouped(results: dict[str, Any], key: str, head: list[str]) -> str:
    """Return a table with one row per function or style: its median, and the cell furthest above its limit."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells(results):
        groups.setdefault(getattr(cell, key), []).append(cell)
    rows = [
        [
            f"`{name}`" if key == "function" else name, f"{len(group)}", f"{np.median([x.ratio for x in group]):.2f}",
            f"{sum(x.excess > 1.0 for x in group)}", f"{group[0].ratio:.2f}", f"{group[0].limit:g}",
            *group[0].columns(),
        ]
        for name, group in groups.items()
    ]  # fmt: skip
    return markdown([*head, "call", "style", "robot"], rows)


def by_style(results: dict[str, Any]) -> str:
    """Return the table of styles."""
    found = cells(results)
    above = sum(cell.excess > 1.0 for cell in found)
    return "\n\n".join([
        where(results),
        f"{len(found)} ratios, of which {above} are above their limit; {len(failures(results))} calls fail.",
        _grouped(results, "style", ["style", "cells", "median", "above the limit", "largest", "limit"]),
    ])  # fmt: skip


def _listed(rows: list[list[str]], head: list[str]) -> str:
    """Return a table of the first rows, or a sentence if there are none."""
    if not rows:
        return "None."
    more = len(rows) - SHOWN
    return markdown(head, rows[:SHOWN]) + (f"\n\n[All ratios](#all-ratios) include {more} more." if more > 0 else "")


def whole(results: dict[str, Any]) -> str:
    """Return the tables of the page of all calls."""
    found = cells(results)
    slow = [[*cell.columns(), f"{cell.slow_calls}"] for cell in found if cell.slow_calls > 1]
    above = [[*cell.columns(), f"{cell.ratio:.2f}", f"{cell.limit:g}"] for cell in found if cell.excess > 1.0]
    robots = list(results["loops"])
    everything = markdown(
        ["call", "style", *(f"`{robot}`" for robot in robots)],
        ([f"`{row['call']}`", row["style"], *(_shown(row["cells"][x]) for x in robots)] for row in results["rows"]),
    )
    return "\n\n".join([
        "## By style", "The call in each row has the largest ratio relative to its limit.", by_style(results),
        "## By function", _grouped(results, "function", ["function", "cells", "median", "above", "largest", "limit"]),
        "## Above the limit", _listed(above, ["call", "style", "robot", "ratio", "limit"]),
        "## Calls that fail", "These calls raise an error here, but not in Pinocchio.",
        _listed(failures(results), ["call", "style", "robots", "error"]),
        "## More than one slow call",
        "In these cells, the second call or later ones still took more than five times the usual time.",
        _listed(slow, ["call", "style", "robot", "slow calls"]),
        "## Functions that are not measured",
        markdown(["function", "reason"], ([f"`{name}`", reason] for name, reason in results["left_out"].items())),
        "## All ratios",
        "`error`: the call raises an error here. `-`: Pinocchio raises an error, or its result is not finite.",
        f"<details>\n<summary>{len(results['rows'])} calls</summary>", everything, "</details>",
    ])  # fmt: skip


def _shown(x: dict[str, Any]) -> str:
    return f"{x['pc'] / x['pin']:.2f}" if "pin" in x else "error" if "error" in x else "-"
