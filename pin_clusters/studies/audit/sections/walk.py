"""What armature does to touch-downs: a sentence, a curve, two tables."""

from __future__ import annotations

from typing import Any

from ...pages.template import Head, Html, table
from ...study._samples import label
from .. import figures
from ..verdict import number, percent
from ..walk import AFTER, IMPACT, Walked


def values(found: Walked | None) -> dict[str, Any]:
    """Return the section, None without a walk."""
    if found is None:
        return {"walk": None}
    every = ("exact", *found.rungs)
    names = ["exact", *(rungs := list(map(label, found.rungs)))]
    blows, torques, speeds = [], [], []
    for i, x in enumerate(found.landings):
        title = f"{x.body}, {x.time['exact']:.3f} s"
        late = [number(1e3 * (x.time[r] - x.time["exact"])) for r in found.rungs]
        off = [_signed(found.off(r)[i]) for r in found.rungs]
        blows.append([title, *(number(x.impulse[r]) for r in every), *off, *late])
        torques.append([title, x.torque_at, *(number(x.torque[r]) for r in every)])
        speeds.append([title, x.speed_at, *(number(x.speed[r]) for r in every)])
    ms, after = f"{1e3 * IMPACT:g}", f"{1e3 * AFTER:g}"
    blow: Head = ["touch-down", (f"first {ms} ms [N s]", names), ("off, of the largest", rungs), ("later [ms]", rungs)]
    peaks = []  # a table each, as one of both is wider than the page
    for what, unit, rows in (("torque", "N m, N", torques), ("speed", "rad/s, m/s", speeds)):
        head: Head = ["touch-down", (f"largest {what} [{unit}]", ["at", *names])]
        said = f"Largest {what} in the next {after} ms, at the joint where it differs most."
        peaks.append(table(head, rows, said, f"Largest {what} after touch-downs"))
    at = found.worst
    return {
        "walk": {
            "sentence": found.sentence,
            "motion": found.motion,
            "dt": f"{1e3 * found.dt:g}",
            "friction": f"{found.friction:g}",
            "harness": number(found.harness) if found.harness else "",
            "share": percent(100.0 * found.harness / found.weight),
            "moment": number(found.moment),
            "after": after,
            "picture": figures.pushes(found, at),
            "at": f"{at.body}, {at.time['exact']:.3f} s",
            "blows": table(blow, blows, f"Impulse of the ground in the first {ms} ms.", "Touch-downs"),
            "peaks": Html("".join(peaks)),
        }
    }


def _signed(x: float) -> str:
    return "-" if x != x else f"{x:+.2g} %"
