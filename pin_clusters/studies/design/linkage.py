"""The section of the page about one linkage: pictures, torques, lengths."""

from typing import Any

import numpy as np

from ..pages.template import Html, table
from . import figures
from .lengths import Sensitivity
from .result import MechanismPart
from .torques import Torques, distinct
from .words import number, part

_LENGTHS = 10


def linkage(p: MechanismPart, key: str, twins: list[str]) -> dict[str, Any]:
    """Return the values of a section; ``key`` begins the names of its pictures, ``twins`` have the same numbers."""
    others = [name for name in p.cluster.dependent if name not in p.cluster.rotors]
    return {
        "title": p.name + (f" → {', '.join(others)}" if others else ""),
        "about": _about(p),
        "twins": "; ".join(twins),
        "pictures": Html("".join(f"<figure>{x}</figure>" for x in _pictures(p, key))),
        "torques": _torques(p.torques) if p.torques and len(p.torques.sets) + len(p.torques.joints) > 2 else "",
        "motors": _motors(p),
        **_lengths(p.lengths),
    }


def _about(p: MechanismPart) -> str:
    labels = [str(c.label) for c in p.cluster.constraints if not str(c.label).startswith("Rotor")]
    tied = f"Tied by {', '.join(map(part, labels))}. " if labels else ""
    found = []
    for t in p.transmissions:
        if not t.joints:
            continue
        ratios = ", ".join(f"{c.name} {number(float(x))}" for c, x in zip(t.joints, t.ratio[t.reference], strict=True))
        where = "at every pose" if t.constant else "in the reference pose"
        found.append(f"Velocity per velocity of {t.moved.name} {where}: {ratios}.")
    return tied + " ".join(found)


def _pictures(p: MechanismPart, key: str) -> list[Html]:
    found: list[Html] = []
    if p.region is not None and p.loops:
        found.append(figures.region_map(p.region, f"{key}region"))
        links = [c for c in p.region.joints if c.column < 0 and not c.rotor]
        if len(links) == 2:
            found.append(figures.net(p.region, links[0], links[1], f"{key}net"))
    for n, t in enumerate(p.transmissions):
        if t.joints and not t.constant:
            found.append(figures.ratios(t, f"{key}ratio{n}"))
        if np.isfinite(t.inertia).any() and float(np.nanmax(t.inertia)) > 0.0 and _changes(t.inertia):
            found.append(figures.inertia(t, f"{key}inertia{n}"))
    if p.torques is not None:
        if p.torques.along is not None and _changes(p.torques.along):
            found.append(figures.torque_range(p.torques, p.sweeps[0].moved, f"{key}torque"))
        elif len(p.torques.joints) == 2 and p.torques.along is None:
            found.append(figures.polygons(p.torques, f"{key}torque"))
            if all(len(s.speeds) for s in p.torques.sets):
                found.append(figures.polygons(p.torques, f"{key}speed", speeds=True))
            if p.gains is not None and p.region is not None:
                found.append(figures.gain_map(p.region, p.torques, p.gains, f"{key}gains"))
    if p.lengths is not None:
        found.append(figures.length_bars(p.lengths, _worst(p.lengths)[:_LENGTHS], f"{key}lengths"))
    return found


def _changes(values: np.ndarray) -> bool:
    known = values[np.isfinite(values).reshape(len(values), -1).all(axis=1)]
    return bool(len(known)) and bool((np.ptp(known, axis=0) > 1e-4 * np.abs(known).max(axis=0)).any())


def _torques(t: Torques) -> Html:
    names = [f"{c.name} [{c.torque_unit}]" for c in t.joints]
    alone = len(t.joints) > 1 and t.along is None
    head: list[Any] = ["pose", ("largest", names), *([("alone", names)] if alone else [])]
    rows = [[s.pose, *map(number, s.largest), *(map(number, s.alone) if alone else ())] for s in distinct(t)]
    if len(rows) == 1 < len(t.sets):
        rows[0][0] = "every pose"
    caption = "Torque that the motors can make at each joint" + (
        "; alone: while the others feel none." if alone else ", which takes all of it."
    )
    return table(head, rows, caption, "Torque of the motors")


def _motors(p: MechanismPart) -> str:
    if not p.motors or p.torques is None:
        return ""
    told = [f"{m.name} {number(m.limit)} {m.unit} ({m.source})" for m in p.motors if m.given]
    rest = [m.name for m in p.motors if not m.given]
    text = f"Limits of the motors: {', '.join(told)}." if told else ""
    if rest:
        text += f" No limit is given for {', '.join(rest)}, so that the numbers are for 1 {p.motors[0].unit}."
    return text.strip()


def _worst(found: Sensitivity) -> list[int]:
    """Return the lengths, the worst first; those that bind are apart."""
    order = np.argsort(-np.round(found.largest.max(axis=1), 9), kind="stable")
    free = [int(i) for i in order if not found.binds[i]]
    return free or [int(i) for i in order]


def _lengths(found: Sensitivity | None) -> dict[str, Any]:
    if found is None:
        return {"lengths": "", "more_lengths": "", "number_of_lengths": 0, "binding": ""}
    order = _worst(found)
    few, every = order[:_LENGTHS], [*order, *(i for i in range(len(found.lengths)) if i not in order)]
    units = ["mm" if c.slides else "mrad" for c in found.joints]
    names = [f"{c.name} [{u}/mm]" for c, u in zip(found.joints, units, strict=True)]
    caption = "How far a dependent joint moves for a millimetre more, in the reference pose and at worst over the range"

    def shown(which: list[int]) -> Html:
        some = any(found.binds[which])
        rows = [
            [
                found.lengths[i],
                *map(number, found.at_reference[i]),
                *map(number, found.largest[i]),
                *["binds" if found.binds[i] else ""] * some,
            ]
            for i in which
        ]
        head: list[Any] = ["length", ("in the reference pose", names), ("largest", names), *["closes?"] * some]
        return table(head, rows, f"{caption}.", "Sensitivity to lengths")

    binding = ""
    if found.binds.any():
        binding = (
            f"{int(found.binds.sum())} lengths bind: with another value the loops cannot close, as where a planar "
            "linkage is moved out of its plane or two rods share a task; what is off goes into play, bending and "
            "bearings."
        )
    more = shown(every) if len(every) > len(few) else ""
    return {"lengths": shown(few), "more_lengths": more, "number_of_lengths": len(found.lengths), "binding": binding}
