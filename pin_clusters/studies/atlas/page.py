"""Write the pages of the atlas: one page with a table of all robots, and one page for each robot."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..pages import template
from ..pages.axes import finished, rows
from ..pages.svg import COLOURS as C
from ..pages.template import Html, Words
from .compared import Examined
from .entries import BLOCK, DIAGONAL, MOTIONS, NONE, PUBLISHED, Entry, row, spanned, two
from .sheets import sheet

_LOOKS = {
    PUBLISHED: ("block", "X", 6),
    NONE: ("grey", "o", 4),
    DIAGONAL: ("diagonal", "s", 5),
    BLOCK: ("green", "D", 3),
}
_SMALLEST = 0.01  # Errors below this value are drawn at this value, [%]


def index(entries: Sequence[Entry], pictures: Mapping[str, str]) -> str:
    computed = [e for e in entries if e.judged]
    wrong_count = sum(any(j.low < 0.9 or j.high > 1.1 for j in e.published) for e in computed)
    sets = {name: [e.error(name) for e in computed] for name in (PUBLISHED, NONE, DIAGONAL)}
    picture = dots([e.title for e in computed], sets, "Torque error at the worst joint", "all") if computed else ""
    return template.page("atlas", __package__, {
        "heading": "Errors of armature, robot by robot", "robot": "", "known": len(computed), "off": wrong_count,
        "sentence": f"Published and correct armature of {len(computed)} robots, and the torque errors of both.",
        "missing": len(entries) - len(computed), "picture": picture, "no_pictures": not any(pictures.values()),
        "heads": [f"{name} [%]" if k else name for k, name in enumerate(row(entries[0]))],
        "rows": [
            {
                "name": e.name, "title": e.title, "png": pictures[e.name], "cells": _cells(e), "verdict": e.verdict,
                "state": "" if e.judged else e.state,
            } for e in entries
        ],
    })  # fmt: skip


def _cells(e: Entry) -> list[dict[str, Any]]:
    span, *errors = row(e).values()
    high = max((j.high for j in e.published), default="")
    shown = [{"key": "" if math.isnan(x) else f"{x:.6g}", "text": two(x), "loud": not k} for k, x in enumerate(errors)]
    return [{"key": high, "text": span, "loud": False}, *shown]


def dots(names: list[str], sets: dict[str, list[float]], title: str, key: str) -> Html:
    high = 0.19 * len(names)
    drawn, axes, y = rows(names, 1.35 + high, high, "RMS error, % of peak torque")
    axes.set_xscale("log")
    for name, values in sets.items():
        colour, mark, size = _LOOKS[name]
        x = np.maximum(values, _SMALLEST)
        axes.plot(x, y, mark, markersize=size, color=C[colour], label=name, clip_on=False, zorder=3)
    largest = np.nanmax([*map(np.nanmax, (x for x in sets.values() if np.isfinite(x).any())), 1.0])
    axes.set_xlim(_SMALLEST, 1.6 * largest)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    text = ", ".join(f"{name} at most {np.nanmax(x):.2g} per cent" for name, x in sets.items() if np.isfinite(x).any())
    return finished(drawn, axes, title, key, f"{title}: {text}.", top=0.3)


def robot(x: Examined) -> str:
    e, robot_sheet = x.entry, sheet(x.entry.name)
    places = [j.where for j in e.published] if e.judged else [p["where"] for p in robot_sheet.published]
    sources = [
        {"joint": m.get("joint") or ", ".join(m["joints"]), "source": m["source"], "sure": m["sure"]}
        for m in robot_sheet.motors
    ]
    return template.page("atlas", __package__, {
        "heading": e.robot, "sentence": e.verdict, "robot": f"--only {e.name}", "verdict": e.verdict, "png": x.picture,
        "state": "" if e.judged else e.state, "known": bool(e.judged), "picture": _by_joint(e) if e.judged else "",
        "joints": _joints(e), "sets": _sets(e), "name": e.name, "file": e.file, "digest": e.digest,
        "commit": robot_sheet.file.get("version", "")[:12], "notes": list(robot_sheet.notes), "said": list(x.said),
        "gait": e.gait, "where": [{"k": k, "where": text} for k, text in enumerate(places, 1)], "sources": sources,
    }, "robot.html")  # fmt: skip


def _by_joint(e: Entry) -> Html:
    sets = {j.name: j.percent["sine"] for j in (e.worst, *e.judged) if j and (j.name != PUBLISHED or j is e.worst)}
    equal_joints = dict[tuple[str, ...], list[str]]()
    for joint in sets[DIAGONAL]:
        equal_joints.setdefault(tuple(f"{x.get(joint, math.nan):.3g}" for x in sets.values()), []).append(joint)
    errors = {name: [x.get(joints[0], math.nan) for joints in equal_joints.values()] for name, x in sets.items()}
    return dots([_few(joints) for joints in equal_joints.values()], errors, "Torque error by joint", "joints")


def _few(names: Sequence[str]) -> str:
    return names[0] + (f" and {len(names) - 1} more" if names[1:] else "")


def _joints(e: Entry) -> Html:
    head = ["joints", "ratio", "rotor [kg m²]", "ratio² J", "all stages", "rotor / all stages [%]"]
    head += [f"published {k + 1}" for k in range(len(e.published))]
    lines = []
    for x in e.joints:
        count = f"{len(x.turns)} of " if x.turns[1:] else ""
        turns = [count + ", ".join(dict.fromkeys(f"{v:.4g}" for v in values)) for values in zip(*x.turns, strict=True)]
        stated = ["" if p is None else f"{p:.4g} ({p / x.total:.2g})" for p in x.published]
        numbers = [f"{x.first:.5g}", f"{x.total:.5g}", f"{100.0 * x.first / x.total:.1f}", *stated]
        lines.append([_few(x.joints), *(turns or ["", ""]), *numbers])
    return template.table(
        head, lines, "Armature, kg m² (kg for prismatic joints); in brackets: published / correct.", "Armature"
    )


def _sets(e: Entry) -> Html:
    errors = *MOTIONS, "inertia at ends", "touch-down"
    head = ["armature", "published / correct", Words("worst joint"), *(f"{x} [%]" for x in errors)]
    names, lines = [f"{PUBLISHED} {k}" for k in range(len(e.published), 0, -1)], []
    for j in e.judged:
        name, over = (names.pop(), spanned(j.low, j.high)) if j.name == PUBLISHED else (j.name, "")
        percentages = *(j.worst(m)[1] for m in MOTIONS), j.push, j.landing
        lines.append([name, over, Words(j.worst("sine")[0]), *map(two, percentages)])
    caption = (
        "Largest torque error at joints with a motor; largest errors of inertia and touch-down impulse at chain ends."
    )
    return template.table(head, lines, caption, "Errors")
