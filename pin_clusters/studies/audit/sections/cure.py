"""Show how to represent rotors in other simulators: armature values, their range, and code."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ...pages.alike import alike
from ...pages.template import Html, table
from .. import figures, snippets
from ..reflected import Reflected
from ..result import AuditResult
from ..verdict import percent

_SMALL = 5e-3  # off-diagonal entries below this fraction of the diagonal are omitted
_UNITS = "kg m² (kg for prismatic joints)"


def values(result: AuditResult) -> dict[str, Any]:
    r = result.reflected
    return {"instead": _instead(result) if r.drives else None, "lines": _lines(result) if result.scripts else None}


def _instead(result: AuditResult) -> dict[str, Any]:
    r, best = result.reflected, result.verdict.best
    loops = r.low is not None
    kind = "changing" if loops else best or "exact"
    return {
        **{name: name == kind for name in ("changing", "none", "diagonal", "block", "exact")},
        "within": best,
        "shared": bool(r.off_diagonal),
        **(_range(result) if loops else {"range": "", "turning": None}),
        "armature": _armature(r),
        "off_diagonal": "" if loops or not r.off_diagonal else _off_diagonal(r),
    }


def _armature(r: Reflected) -> Html:
    with_tendons, extra = snippets.joint_armature(r), bool(snippets.tendons(r))
    columns = {"armature": r.armature}
    if r.own:
        columns["armature in the file"] = r.own
    if extra:
        columns["with tendons"] = with_tendons
    rows = [[name, *(f"{values.get(name, 0.0):.6g}" for values in columns.values())] for name in r.armature]
    caption = f"Armature for the joints, {_UNITS}"
    caption += ": the diagonal approximation." if r.low is None else ", with exact loops in the other simulator."
    if extra:
        caption += " The column with tendons excludes rotors that several joints turn; see the tendons below."
    return table(["joint", *columns], rows, caption, "Armature")


def _off_diagonal(r: Reflected) -> Html:
    diagonal = dict(zip(r.joints, np.diag(r.matrix), strict=True))
    rows = [
        [f"{a} - {b}", f"{x:.6g}", f"{100.0 * x / float(np.sqrt(diagonal[a] * diagonal[b])):.0f} %"]
        for (a, b), x in r.off_diagonal.items()
    ]
    return table(
        ["pair of joints", "off-diagonal entry", "relative to the geometric mean of the diagonal entries"],
        rows,
        f"Off-diagonal entries of the block approximation, {_UNITS}: joints that turn a rotor together.",
        "Off-diagonal reflected inertia",
    )


def _range(result: AuditResult) -> dict[str, Any]:
    r = result.reflected
    assert r.along is not None  # the robot has closed loops
    blocks = [(r.joints, r.matrix, r.along), *((s.joints, s.reference, s.along) for s in r.links)]
    linked = {name for side in r.links for name in side.motors}
    rows: list[list[str]] = []
    turning: list[tuple[str, np.ndarray, float]] = []
    for joints, reference, along in blocks:
        low, high = along.min(axis=0), along.max(axis=0)
        for i, name in enumerate(joints):
            if name in linked:
                continue  # the page shows the inertia of these motors in link coordinates
            for k in range(i, len(joints)):
                largest = float(max(abs(low[i, k]), abs(high[i, k])))
                scale = float(np.sqrt(reference[i, i] * reference[k, k]))
                if i != k and largest <= _SMALL * scale:
                    continue
                spread = 100.0 * float(high[i, k] - low[i, k]) / scale
                title = name if i == k else f"{name} - {joints[k]}"
                numbers = (low[i, k], reference[i, k], high[i, k])
                rows.append([title, *(_inertia(x, scale) for x in numbers), percent(spread)])
                if i == k and spread > 0.1:
                    turning.append((name, along[:, i, i], float(reference[i, i])))
    caption = (
        "Reflected inertia along this motion, kg m² (kg for prismatic joints); range in per cent of the value in the "
        "reference pose."
    )
    if any(" - " in row[0] for row in rows):
        caption += " Rows with two joints are off-diagonal entries."
    if r.links:
        caption += " Motors of differentials are replaced by the joints of the links that they move."
    head = ["joint", "smallest", "reference pose", "largest", "range"]
    return {
        "range": table(head, rows, caption, "Range of the reflected inertia"),
        "turning": _turning(result, turning) if turning else None,
    }


def _inertia(value: float, scale: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-9 * scale else "0"


def _turning(result: AuditResult, turning: list[tuple[str, np.ndarray, float]]) -> Html:
    turning = sorted(turning, key=lambda x: -float(np.ptp(x[1])) / x[2])
    shown = [turning[i] for i, *_ in alike([along for _, along, _ in turning])[:5]]
    names, entries = [x[0] for x in shown], [(x[1], x[2]) for x in shown]
    return figures.over_range(result.study.time[result.reflected.samples], entries, names)


def _lines(result: AuditResult) -> dict[str, Any]:
    coupling_rotors = snippets.tendons(result.reflected)
    return {
        "tendons": bool(coupling_rotors),
        "tendons_since": snippets.MUJOCO,
        "inverse_since": snippets.MUJOCO_INVERSE,
        "cancelling": bool(snippets.cancelling(result.reflected)),
        "apart": ", ".join(d.rotor for d in coupling_rotors if d.apart),
        **{name: Html(escape(script, quote=False)) for name, script in result.scripts.items()},
    }
