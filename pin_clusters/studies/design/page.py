"""Write the page ``mechanism.html`` with ranges, ratios, torques, loads and sensitivities."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..pages import template
from ..pages.alike import alike
from ..pages.results import shown_by
from ..pages.template import Html, Words, table
from . import figures
from .linkage import linkage
from .loads import Load
from .ranges import JointRange
from .result import MechanismPart, MechanismResult
from .tables import tables
from .words import how_often, number, part, place, reasons, row, span, why

_SHOWN, _BARS = 14, 40


def page(result: MechanismResult) -> str:
    """Return the page as HTML text; it has light and dark colours and needs no network access or JavaScript."""
    robot = result.model.name
    rotors = {c.name for p in result.parts for s in p.sweeps for c in s.joints if c.rotor}
    links = [r for r in result.ranges if r.joint not in rotors]
    rotor_ranges = [r for r in result.ranges if r.joint in rotors]
    turning = [r for r in links if r.unit == "rad"][:_BARS]
    parts = result.linkages
    groups = alike([_fingerprint(p) for p in parts])
    loads, more_loads = _loads(result)
    answers = _answers(result, [parts[g[0]] for g in groups])
    values: dict[str, Any] = {
        "heading": f"Mechanisms of {robot}",
        "sentence": " ".join(answers),
        "answers": answers,
        "cards": _cards(result),
        "notes": list(result.notes),
        "bars": figures.range_bars(turning) if turning else "",
        "ranges": _ranges(result, links, "Range of motion"),
        "rotors": {"count": len(rotor_ranges), "table": _ranges(result, rotor_ranges, "Range of the rotors")}
        if rotor_ranges
        else None,
        "linkages": [
            linkage(parts[first], f"part{n}", [parts[i].name for i in mirrored])
            for n, (first, *mirrored) in enumerate(groups)
        ],
        "gears": _gears(result),
        "motion": result.loads.motion,
        "duration": number(result.loads.duration),
        "samples": result.loads.samples,
        "powered": result.loads.by_motors,
        "unpowered": ", ".join(result.loads.on_joints),
        "loads": loads,
        "more_loads": more_loads,
        "shared": any(not x.unique for x in result.loads.parts),
        "map": any(p.region for p in parts),
        "several": any(r.anywhere for r in result.ranges),
        "files": ", ".join(tables(result)),
        "robot": robot,
    }
    return template.page("mechanism", __package__, values)


@shown_by(MechanismResult)
def files(result: MechanismResult) -> dict[str, Callable[[], str]]:
    return {"mechanism.html": lambda: page(result)} | {x: partial(str, text) for x, text in tables(result).items()}


def _fingerprint(p: MechanismPart) -> np.ndarray:
    """Return numbers that are equal for linkages that are mirror images of each other."""
    numbers = [float(len(s.joints)) for s in p.sweeps]
    for s, t in zip(p.sweeps, p.transmissions, strict=True):
        numbers += [abs(float(np.ptp(s.values))), float(t.inertia[t.reference])]
        numbers += sorted(np.abs(t.ratio[t.reference]).tolist())
    return np.round(np.concatenate([[len(numbers)], numbers, np.zeros(64)])[:64], 9)


def _answers(result: MechanismResult, parts: list[MechanismPart]) -> list[str]:
    paragraphs = []
    for p in parts[:4]:
        moved = [result.range(s.moved.name) for s in p.sweeps]
        led = [result.range(c.name) for c in p.sweeps[0].joints if c.column < 0 and not c.rotor]
        text = "; ".join(map(_sentence, moved)) + (f". Then {_goes(led[:4], 'low high')}" if led else "")
        if any(r.anywhere for r in moved) and not any(r.turns for r in moved):
            rotors = [c.name for c in p.sweeps[0].joints if c.rotor]
            linked = [r for r in result.ranges if r in moved + led[:4] and r.joint not in rotors]
            free = f"With {' and '.join(r.joint for r in moved)} free together, {_goes(linked or moved, 'span')}"
            why_ = f"; the range is limited by {', '.join(reasons(p.region))}" if p.region else ""
            text = f"{free}{why_}. One at a time: {text}"
        elif len(moved) > 1:
            text = f"One at a time, the others at rest: {text}"
        paragraphs.append(f"{text}.")
    if len(parts) > 4:
        paragraphs.append(f"The page describes {len(parts) - 4} more linkages below.")
    return paragraphs or ["The robot has no linkages: every joint moves between its own limits."]


def _goes(joint_ranges: list[JointRange], which: str) -> str:
    ways = [(r, r.span if which == "span" else (r.low, r.high)) for r in joint_ranges]
    return ", ".join(f"{r.joint} goes from {place(x, r.unit)} to {place(y, r.unit)}" for r, (x, y) in ways)


def _sentence(r: JointRange) -> str:
    if r.turns:
        end = r.high_end if r.high_end.kind == "full turn" else r.low_end
        return f"{r.joint} turns fully{how_often(end)}"
    low, high = why(r.low_end, r.low_by, r.joint), why(r.high_end, r.high_by, r.joint)
    below = "" if low == high else f" ({low})"
    return f"{r.joint} goes from {place(r.low, r.unit)}{below} to {place(r.high, r.unit)} ({high})"


def _cards(result: MechanismResult) -> list[dict[str, str]]:
    loops = sum(p.loops for p in result.parts)
    motors = sum(len(p.motors) for p in result.parts)
    worst = max(result.loads.parts, key=lambda x: x.force)
    cards = [
        (f"{len(result.model.independent_joints)}", f"of {len(result.ranges)} joints are independent"),
        (f"{loops}", "clusters with closed loops" if loops != 1 else "cluster with closed loops"),
        (f"{motors}", "motors" if motors != 1 else "motor"),
        (f"{number(worst.force)} N", f"largest force on a bearing or rod: {part(worst.part)}"),
    ]
    sensitive = [
        (float(p.lengths.largest.max()), p.lengths)
        for p in result.parts
        if p.lengths is not None and p.lengths.largest.size
    ]
    if sensitive:
        largest, lengths = max(sensitive, key=lambda x: x[0])
        i, k = np.unravel_index(int(np.argmax(lengths.largest)), lengths.largest.shape)
        unit = "mm" if lengths.joints[k].slides else "mrad"
        cards.append((number(largest), f"{unit} at {lengths.joints[k].name} per mm of {lengths.lengths[i]}, at most"))
    return [{"number": a, "text": b} for a, b in cards]


def _ranges(result: MechanismResult, joint_ranges: list[JointRange], label: str) -> Html:
    wide = any(r.anywhere is not None for r in joint_ranges)
    head = ["joint", "from", "to", "limits of the file", *["one at a time"] * wide, Words("limited by")]
    rows = []
    for r in joint_ranges:
        low, high, why_, single = row(r, result.part(r.joint).region)
        rows.append([r.joint, low, high, span(*r.limits, r.unit), *[single] * wide, Words(why_)])
    caption = f"{label}: one independent joint moves while the others stay at the reference pose"
    caption += "; independent joints of one cluster move together." if wide else "."
    return table(head, rows, caption, label)


def _gears(result: MechanismResult) -> dict[str, Any] | None:
    rows = []
    for p in result.parts:
        if p.is_linkage:
            continue
        for t in p.transmissions:
            motor = p.motors[0] if p.motors else None
            largest = p.torques.sets[0].largest[0] if p.torques else math.nan
            unit = "kg" if t.moved.slides else "kg m²"
            ratio = "-" if not t.joints else ", ".join(number(float(x)) for x in t.ratio[t.reference])
            rows.append(
                [
                    t.moved.name,
                    ratio,
                    f"{number(float(t.inertia[t.reference]))} {unit}",
                    f"{number(float(t.motors[t.reference]))} {unit}",
                    "-" if motor is None else f"{number(float(largest))} {t.moved.torque_unit}",
                    "-" if motor is None else Words(motor.source or "not given: unit torque"),
                ]
            )
    if not rows:
        return None
    head = ["joint", "ratio", "inertia", "rotor inertia", "largest torque", Words("motor limit")]
    caption = (
        "Inertia in the reference pose with the other joints held, its part due to rotors, and largest motor torque."
    )
    return {"table": table(head, rows, caption, "Single joints and joints with a gear")}


def _loads(result: MechanismResult) -> tuple[Html, dict[str, Any] | None]:
    parts = sorted(result.loads.parts, key=lambda x: -round(x.force, 9))
    main, remaining = (parts[:_SHOWN], parts[_SHOWN:]) if len(parts) > _SHOWN + 3 else (parts, [])
    caption = "Largest force and moment, and their times. Rods: largest tension (+) and compression (-)."
    shown = _load_table(main, caption, "Loads of bearings, loops and rods")
    return shown, {
        "count": len(remaining),
        "table": _load_table(remaining, caption, "The other loads"),
    } if remaining else None


def _load_table(parts: list[Load], caption: str, label: str) -> Html:
    head = ["part", "kind", "force [N]", "at [s]", "moment [N m]", "at [s]", "rod [N]"]
    rows = []
    for x in parts:
        star = "" if x.unique else " *"
        moment = (
            [number(x.moment) + star, f"{x.moment_time:.2f}"] if x.kind != "rod" and x.moment > 1e-9 else ["-", "-"]
        )
        rod = f"+{number(x.pull)} / -{number(x.push)}" if x.kind == "rod" else "-"
        rows.append([part(x.part), x.kind, number(x.force) + star, f"{x.force_time:.2f}", *moment, rod])
    return table(head, rows, caption, label)
