"""Format numbers, and reasons why ranges end, for the page and for the printed tables."""

import math
import re
from typing import Any

import numpy as np

from ..pages.template import number as number
from .ranges import JointRange
from .region import Region
from .sweep import End


def place(x: float, unit: str) -> str:
    if not math.isfinite(x):
        return "no limit"
    if unit == "m":
        return f"{1e3 * x:.2f} mm"
    angle = f"{math.degrees(x):.2f}"
    return ("0.00" if angle == "-0.00" else angle) + "°"


def span(low: float, high: float, unit: str) -> str:
    if not (math.isfinite(low) or math.isfinite(high)):
        return "no limits"
    return f"{place(low, unit)} to {place(high, unit)}"


def why(end: End, moved: str, joint: str) -> str:
    """Return, as text, why the range of ``joint`` ends when joint ``moved`` moves."""
    by = "" if moved in (joint, end.joint) else f" (by {moved})"
    moving_on = "" if end.joint in ("", moved) else f" while {end.joint} moves on"
    words = {
        "limit": ("its own limit" if end.joint == joint else f"limit of {end.joint}") + by,
        "dead centre": f"dead centre: {moved} reverses{moving_on}",
        "change point": f"change point: the linkage gains a degree of freedom{by}",
        "turning point": f"reverses while {moved} moves on",
        "full turn": "turns fully" if moved == joint else f"moves on with each turn of {moved}",
        "open": f"the loops do not close beyond{by}",
        "none": "no end found",
    }
    return words.get(end.kind, end.kind)


def how_often(end: End) -> str:
    return f"; joint limits allow {end.turns:.2f} turns" if math.isfinite(end.turns) else ""


def ends(r: JointRange) -> str:
    low, high = (why(e, by, r.joint) + how_often(e) for e, by in ((r.low_end, r.low_by), (r.high_end, r.high_by)))
    return low if low == high else f"below: {low}; above: {high}"


def reasons(region: Region) -> list[str]:
    words = {"limit": "limit of", "dead centre": "dead centre of", "change point": "change point"}
    return [f"{words.get(e.kind, e.kind)} {e.joint}".strip() for e in region.edges]


def row(r: JointRange, region: Region | None) -> list[str]:
    """Return table cells with both ends of a range, their reasons, and the range if only one joint moves."""
    places = ["a full", "turn"] if r.turns and r.independent else [place(x, r.unit) for x in r.span]
    if r.anywhere is None or r.turns:
        return [*places, ends(r), ""]
    if region is None:
        return [*places, f"one at a time: {ends(r)}", span(r.low, r.high, r.unit)]
    k, edges = region.index(r.joint), dict(zip(reasons(region), region.edges, strict=True))
    low, high = (pick(edges, key=lambda x: pick(edges[x].positions[:, k])) for pick in (min, max))
    text = (low if low == high else f"below: {low}; above: {high}").replace(f"limit of {r.joint}", "its own limit")
    return [*places, text, span(r.low, r.high, r.unit)]


def part(label: str) -> str:
    label = re.sub(r"^Differential\.(\w+)\('[^()]*'\)", r"\1", label)
    short = re.sub(r"^(?:generic )?\w+\(('[^()]*')\)", lambda m: m[1].replace("', '", " - ").replace("'", ""), label)
    return short.removeprefix("generic ")


def degrees(x: Any, unit: str) -> Any:
    """Convert angles to degrees and lengths to millimetres, which are the units in the figures."""
    return np.degrees(x) if unit == "rad" else 1e3 * x


def axis(name: str, unit: str) -> str:
    return f"{name} [{'deg' if unit == 'rad' else 'mm'}]"
