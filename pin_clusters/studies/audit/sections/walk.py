"""Show the errors that armature causes at touch-down, as a sentence, a figure and two tables."""

from __future__ import annotations

from typing import Any

from ...pages.template import Head, Html, table
from ...study._samples import label
from .. import figures
from ..verdict import number, percent
from ..walk import AFTER, IMPACT, Walked


def values(walk_result: Walked | None) -> dict[str, Any]:
    if walk_result is None:
        return {"walk": None}
    robots = ("exact", *walk_result.levels)
    names = ["exact", *(levels := list(map(label, walk_result.levels)))]
    impulse_rows, torques, speeds = [], [], []
    for i, x in enumerate(walk_result.landings):
        title = f"{x.body}, {x.time['exact']:.3f} s"
        late = [number(1e3 * (x.time[r] - x.time["exact"])) for r in walk_result.levels]
        errors = [_signed(walk_result.off(r)[i]) for r in walk_result.levels]
        impulse_rows.append([title, *(number(x.impulse[r]) for r in robots), *errors, *late])
        torques.append([title, x.torque_at, *(number(x.torque[r]) for r in robots)])
        speeds.append([title, x.speed_at, *(number(x.speed[r]) for r in robots)])
    ms, after = f"{1e3 * IMPACT:g}", f"{1e3 * AFTER:g}"
    columns: Head = ["touch-down", (f"first {ms} ms [N s]", names), ("error / largest", levels), ("later [ms]", levels)]
    peaks = []  # separate tables, because a single table would be wider than the page
    for quantity, unit, rows in (("torque", "N m, N", torques), ("speed", "rad/s, m/s", speeds)):
        head: Head = ["touch-down", (f"largest {quantity} [{unit}]", ["at", *names])]
        caption = f"Largest {quantity} in the {after} ms after touch-down, at the joint where it differs most."
        peaks.append(table(head, rows, caption, f"Largest {quantity} after touch-downs"))
    worst = walk_result.worst
    return {
        "walk": {
            "sentence": walk_result.sentence,
            "motion": walk_result.motion,
            "dt": f"{1e3 * walk_result.dt:g}",
            "friction": f"{walk_result.friction:g}",
            "harness": number(walk_result.harness) if walk_result.harness else "",
            "share": percent(100.0 * walk_result.harness / walk_result.weight),
            "moment": number(walk_result.moment),
            "after": after,
            "picture": figures.pushes(walk_result, worst),
            "at": f"{worst.body}, {worst.time['exact']:.3f} s",
            "impulses": table(columns, impulse_rows, f"Ground impulse in the first {ms} ms.", "Touch-downs"),
            "peaks": Html("".join(peaks)),
        }
    }


def _signed(x: float) -> str:
    return "-" if x != x else f"{x:+.2g} %"
