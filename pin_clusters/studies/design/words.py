"""Numbers and reasons in words, as the page and the tables have them."""

import math
import re
from typing import Any

import numpy as np

from ..pages.template import number as number
from .ranges import JointRange
from .region import Region
from .sweep import End


def place(x: float, unit: str) -> str:
    """Return where a joint is: angles in degrees, lengths in millimetres."""
    if not math.isfinite(x):
        return "no limit"
    if unit == "m":
        return f"{1e3 * x:.2f} mm"
    found = f"{math.degrees(x):.2f}"
    return ("0.00" if found == "-0.00" else found) + "°"


def span(low: float, high: float, unit: str) -> str:
    """Return an interval in words."""
    if not (math.isfinite(low) or math.isfinite(high)):
        return "no limits"
    return f"{place(low, unit)} to {place(high, unit)}"


def why(end: End, moved: str, joint: str) -> str:
    """Return in words what ends the motion of a joint, where ``moved`` takes it."""
    by = "" if moved in (joint, end.joint) else f" (by {moved})"
    other = "" if end.joint in ("", moved) else f", {end.joint} moves on"
    words = {
        "limit": ("its own limit" if end.joint == joint else f"limit of {end.joint}") + by,
        "dead centre": f"dead centre: {moved} turns back{other}",
        "change point": f"change point: the linkage gains a freedom{by}",
        "turning point": f"turns back while {moved} goes on",
        "full turn": "turns fully" if moved == joint else f"goes on with each turn of {moved}",
        "open": f"the loops do not close farther on{by}",
        "none": "nothing found",
    }
    return words.get(end.kind, end.kind)


def how_often(end: End) -> str:
    """Return how many turns limits allow, where they do not allow any number; else nothing."""
    return f"; the limits end it after {end.turns:.2f} turns" if math.isfinite(end.turns) else ""


def ends(r: JointRange) -> str:
    """Return what ends a range, both ways."""
    low, high = (why(e, by, r.joint) + how_often(e) for e, by in ((r.low_end, r.low_by), (r.high_end, r.high_by)))
    return low if low == high else f"below: {low}; above: {high}"


def reasons(region: Region) -> list[str]:
    """Return what ends what two joints reach together, in few words."""
    words = {"limit": "limit of", "dead centre": "dead centre of", "change point": "change point"}
    return [f"{words.get(e.kind, e.kind)} {e.joint}".strip() for e in region.edges]


def row(r: JointRange, region: Region | None) -> list[str]:
    """Return from where to where a joint goes, what ends it, and how far it goes while only one joint is moved."""
    places = ["a full", "turn"] if r.turns and r.independent else [place(x, r.unit) for x in r.span]
    if r.anywhere is None or r.turns:
        return [*places, ends(r), ""]
    if region is None:
        return [*places, f"one at a time: {ends(r)}", span(r.low, r.high, r.unit)]
    k, at = region.index(r.joint), dict(zip(reasons(region), region.edges, strict=True))
    low, high = (pick(at, key=lambda x: pick(at[x].positions[:, k])) for pick in (min, max))
    text = (low if low == high else f"below: {low}; above: {high}").replace(f"limit of {r.joint}", "its own limit")
    return [*places, text, span(r.low, r.high, r.unit)]


def part(label: str) -> str:
    """Return the label of a constraint without what Python writes about it."""
    label = re.sub(r"^Differential\.(\w+)\('[^()]*'\)", r"\1", label)
    found = re.sub(r"^(?:generic )?\w+\(('[^()]*')\)", lambda m: m[1].replace("', '", " - ").replace("'", ""), label)
    return found.removeprefix("generic ")


def degrees(x: Any, unit: str) -> Any:
    """Return what pictures have on their axes: degrees or millimetres."""
    return np.degrees(x) if unit == "rad" else 1e3 * x


def axis(name: str, unit: str) -> str:
    """Return the name of such an axis."""
    return f"{name} [{'deg' if unit == 'rad' else 'mm'}]"
