"""The pages of the atlas: the table of all robots, and a page for each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..pages import template
from ..pages.axes import WIDTH, finished, rows
from ..pages.svg import COLOURS as C
from ..pages.template import Html, Words, number
from ..study._samples import label
from .compared import BLOCK, DIAGONAL, NONE, Entry, Examined, Judged
from .result import AtlasResult
from .sheets import sheet

STATES = {
    "unknown": "unknown", "no file": "no file", "not here": "not on this machine", "other version": "unknown version",
    "failed": "failed",
}  # fmt: skip
_FLOOR = 0.01


def index(result: AtlasResult) -> str:
    """Return the page with the table, which its reader can sort."""
    entries = result.entries
    known = [e for e in entries if e.state == "known"]
    pictures = {x.entry.name: x.picture for x in result.examined}
    off = [e for e in known if e.worst and (e.worst.low < 0.9 or e.worst.high > 1.1)]
    values = {
        "heading": "How wrong is armature, robot by robot", "robot": "",
        "sentence": f"{len(known)} robots with the armature of their gears and rotors beside what is published.",
        "known": len(known), "missing": len(entries) - len(known), "off": len(off), "picture": errors(known),
        "no_pictures": not any(pictures.values()), "rows": [_row(e, pictures[e.name]) for e in entries],
    }  # fmt: skip
    return template.page("atlas", __package__, values)


def _row(e: Entry, picture: str) -> dict[str, Any]:
    worst, none, diagonal, block = e.worst, e.named(NONE), e.named(DIAGONAL), e.named(BLOCK)
    cells = [_cell(math.nan, "")] * 9
    if none and diagonal:
        span = "" if worst is None else _span(min(j.low for j in e.published), max(j.high for j in e.published))
        cells = [
            _cell(worst.high if worst else math.nan, span),
            _percent(worst, "sine", bold=True), _percent(none, "sine"), _percent(diagonal, "sine"),
            _percent(block, "sine"), _percent(worst, "chirp"), _percent(worst or none, "gait"),
            _cell(worst.push if worst else math.nan), _cell(diagonal.push),
        ]  # fmt: skip
    said = STATES.get(e.state, "")
    return {
        "name": e.name, "title": e.robot.split(",")[0].split(" (")[0], "png": picture, "cells": cells, "state": said,
        "verdict": e.verdict,
    }  # fmt: skip


def _span(low: float, high: float) -> str:
    return f"{number(float(f'{low:.2g}'))}" if high - low < 0.01 else f"{low:.2g} to {high:.2g}"


def _cell(value: float, text: str | None = None, title: str = "", bold: bool = False) -> dict[str, Any]:
    shown = number(float(f"{value:.2g}")) if text is None else text
    return {
        "key": "" if math.isnan(value) else f"{value:.6g}",
        "text": shown if shown != "-" else "",
        "title": title,
        "bold": bold,
    }


def _percent(j: Judged | None, motion: str, bold: bool = False) -> dict[str, Any]:
    joint, value = j.worst(motion) if j else ("", math.nan)
    return _cell(value, None, joint, bold)


def errors(entries: list[Entry], key: str = "all") -> Html:
    """Draw the largest error of each robot with published armature, and with what gears and rotors make."""
    shown = [e for e in entries if e.judged]
    if not shown:
        return Html("")
    names = [e.robot.split(",")[0].split(" (")[0] for e in shown]
    sets = {
        "published, the worst": [e.worst.worst("sine")[1] if e.worst else math.nan for e in shown],
        "none": [_of(e, NONE) for e in shown],
        "what gears and rotors make": [_of(e, DIAGONAL) for e in shown],
    }
    return _dots(names, sets, "Torque error at the worst joint of each robot", key)


def _of(e: Entry, name: str) -> float:
    found = e.named(name)
    return found.worst("sine")[1] if found else math.nan


def by_joint(e: Entry) -> Html:
    """Draw the error at each group of joints that are alike."""
    groups = [line.joints for line in e.joints]
    judged = [("published, the worst", e.worst), *[(x, e.named(x)) for x in (NONE, DIAGONAL, BLOCK)]]
    sets = {}
    for name, j in judged:
        if j is not None:
            along = [max((j.percent["sine"].get(n, math.nan) for n in names), default=math.nan) for names in groups]
            sets["what gears and rotors make" if name == DIAGONAL else label(name) if name == BLOCK else name] = along
    seen = [k for k in range(len(groups)) if any(math.isfinite(x[k]) for x in sets.values())]
    names = [groups[k][0] + (f" and {len(groups[k]) - 1} more" if groups[k][1:] else "") for k in seen]
    return _dots(names, {name: [x[k] for k in seen] for name, x in sets.items()}, "Torque error by joint", "joints")


_LOOKS = {
    "published, the worst": ("block", "X", 6.0),
    "none": ("grey", "o", 4.0),
    "what gears and rotors make": ("diagonal", "s", 4.6),
}


def _dots(names: list[str], sets: dict[str, list[float]], title: str, key: str) -> Html:
    high = 0.19 * max(1, len(names))
    drawn, axes, y = rows(names, 1.35 + high, high, "RMS error, % of peak torque")
    axes.set_xscale("log")
    for name, values in sets.items():
        colour, mark, size = _LOOKS.get(name, ("green", "D", 3.4))
        axes.plot(
            np.maximum(values, _FLOOR), y, linestyle="none", marker=mark, markersize=size, color=C[colour], label=name,
            clip_on=False, zorder=3,
        )  # fmt: skip
    most = max((x for values in sets.values() for x in values if math.isfinite(x)), default=1.0)
    axes.set_xlim(_FLOOR, 10.0 ** math.ceil(math.log10(max(1.2 * most, 1.0))))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    text = ", ".join(f"{name} at most {np.nanmax(x):.2g} per cent" for name, x in sets.items() if np.isfinite(x).any())
    return finished(drawn, axes, title, key, f"{title}: {text}.", top=0.3)


def robot(x: Examined) -> str:
    """Return the page of a robot."""
    e, of = x.entry, sheet(x.entry.name)
    rungs = [("published", j.where, j) for j in e.published]
    rungs += [(name, "", j) for name in (NONE, DIAGONAL, BLOCK) if (j := e.named(name))]
    values = {
        "heading": e.robot, "sentence": e.verdict, "robot": f"--only {e.name}", "state": STATES.get(e.state, ""),
        "verdict": e.verdict, "png": x.picture, "known": bool(e.judged), "picture": by_joint(e) if e.judged else "",
        "joints": _joints(e) if e.joints else "", "sets": _sets(rungs) if rungs else "", "audit": bool(x.audit),
        "name": e.name, "file": e.file, "digest": e.digest, "version": of.file.get("version", "")[:12],
        "landing": e.landing, "notes": list(of.notes), "said": list(x.said), "gait": e.gait,
        "where": [{"k": k + 1, "where": j.where} for k, j in enumerate(e.published)] or [
            {"k": k + 1, "where": p["where"]} for k, p in enumerate(of.published)
        ],
        "sources": [
            {"joint": m.get("joint") or ", ".join(m["joints"]), "source": m.get("source", ""), "sure": m.get("sure", "")}
            for m in of.motors
        ],
    }  # fmt: skip
    return template.page("atlas", __package__, values | {"own_version": values["version"]}, "robot.html")


def _joints(e: Entry) -> Html:
    count = len(e.published)
    head = ["joints", "ratio", "rotor [kg m²]", "ratio² J", "with all stages", "first rotor's part [%]"]
    head += [f"published {k + 1}" for k in range(count)]
    lines = []
    for line in e.joints:
        motors = f"{len(line.turns)} of " if len(line.turns) > 1 else ""
        ratios = motors + ", ".join(dict.fromkeys(number(r) for r, _ in line.turns))
        inertia = ", ".join(dict.fromkeys(f"{J:.4g}" for _, J in line.turns))
        published = ["" if p is None else f"{p:.4g} ({p / line.total:.2g})" for p in line.published]
        part = f"{100.0 * line.first / line.total:.1f}"
        lines.append([", ".join(line.joints[:2]) + (f" and {len(line.joints) - 2} more" if line.joints[2:] else ""),
                      ratios, inertia, f"{line.first:.5g}", f"{line.total:.5g}", part, *published])  # fmt: skip
    return template.table(
        head,
        lines,
        "Armature [kg m², of sliding joints kg]; in brackets over that with all stages.",
        "Armature of joints",
    )


def _sets(rungs: list[tuple[str, str, Judged]]) -> Html:
    head = ["armature", Words("worst joint, sine"), "sine [%]", "chirp [%]", "own gait [%]", "inertia at ends [%]"]
    lines, k = [], 0
    for name, _, j in rungs:
        k += name == "published"
        title = (
            f"published {k}"
            if name == "published"
            else "what gears and rotors make"
            if name == DIAGONAL
            else label(name)
        )
        errors = [number(float(f"{j.worst(m)[1]:.3g}")) for m in ("sine", "chirp", "gait")]
        lines.append([title, Words(j.worst("sine")[0]), *errors, number(float(f"{j.push:.3g}"))])
    return template.table(
        head, lines, "Largest errors of any joint, of peak torque, and of the inertia a push feels.", "Errors"
    )


__all__ = ["WIDTH", "by_joint", "errors", "index", "robot"]
