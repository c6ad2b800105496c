"""Write the section about one linkage, with figures, torques and sensitivities."""

from typing import Any

import numpy as np

from ..pages.template import Html, table
from . import figures
from .lengths import Sensitivity
from .result import MechanismPart
from .torques import Torques, distinct
from .words import number, part

_LENGTHS = 10


def linkage(p: MechanismPart, key: str, mirrored: list[str]) -> dict[str, Any]:
    """Return the template values of a section; figure names begin with ``key``; ``mirrored`` names mirror images."""
    dependents = [name for name in p.cluster.dependent if name not in p.cluster.rotors]
    return {
        "title": p.name + (f" → {', '.join(dependents)}" if dependents else ""),
        "about": _about(p),
        "twins": "; ".join(mirrored),
        "pictures": Html("".join(f"<figure>{x}</figure>" for x in _pictures(p, key))),
        "torques": _torques(p.torques) if p.torques and len(p.torques.sets) + len(p.torques.joints) > 2 else "",
        "motors": _motors(p),
        **_lengths(p.lengths),
    }


def _about(p: MechanismPart) -> str:
    labels = [str(c.label) for c in p.cluster.constraints if not str(c.label).startswith("Rotor")]
    constraints = f"Constraints: {', '.join(map(part, labels))}. " if labels else ""
    sentences = []
    for t in p.transmissions:
        if not t.joints:
            continue
        ratios = ", ".join(f"{c.name} {number(float(x))}" for c, x in zip(t.joints, t.ratio[t.reference], strict=True))
        where = "in every pose" if t.constant else "in the reference pose"
        sentences.append(f"Velocity ratios to {t.moved.name} {where}: {ratios}.")
    return constraints + " ".join(sentences)


def _pictures(p: MechanismPart, key: str) -> list[Html]:
    pictures: list[Html] = []
    if p.region is not None and p.loops:
        pictures.append(figures.region_map(p.region, f"{key}region"))
        links = [c for c in p.region.joints if c.column < 0 and not c.rotor]
        if len(links) == 2:
            pictures.append(figures.net(p.region, links[0], links[1], f"{key}net"))
    for n, t in enumerate(p.transmissions):
        if t.joints and not t.constant:
            pictures.append(figures.ratios(t, f"{key}ratio{n}"))
        if np.isfinite(t.inertia).any() and float(np.nanmax(t.inertia)) > 0.0 and _changes(t.inertia):
            pictures.append(figures.inertia(t, f"{key}inertia{n}"))
    if p.torques is not None:
        if p.torques.along is not None and _changes(p.torques.along):
            pictures.append(figures.torque_range(p.torques, p.sweeps[0].moved, f"{key}torque"))
        elif len(p.torques.joints) == 2 and p.torques.along is None:
            pictures.append(figures.polygons(p.torques, f"{key}torque"))
            if all(len(s.speeds) for s in p.torques.sets):
                pictures.append(figures.polygons(p.torques, f"{key}speed", speeds=True))
            if p.gains is not None and p.region is not None:
                pictures.append(figures.gain_map(p.region, p.torques, p.gains, f"{key}gains"))
    if p.lengths is not None:
        pictures.append(figures.length_bars(p.lengths, _worst(p.lengths)[:_LENGTHS], f"{key}lengths"))
    return pictures


def _changes(values: np.ndarray) -> bool:
    finite = values[np.isfinite(values).reshape(len(values), -1).all(axis=1)]
    return bool(len(finite)) and bool((np.ptp(finite, axis=0) > 1e-4 * np.abs(finite).max(axis=0)).any())


def _torques(t: Torques) -> Html:
    names = [f"{c.name} [{c.torque_unit}]" for c in t.joints]
    separate = len(t.joints) > 1 and t.along is None
    head: list[Any] = ["pose", ("largest", names), *([("alone", names)] if separate else [])]
    rows = [[s.pose, *map(number, s.largest), *(map(number, s.alone) if separate else ())] for s in distinct(t)]
    if len(rows) == 1 < len(t.sets):
        rows[0][0] = "every pose"
    caption = "Largest torque of the motors at each joint" + (
        "; alone: with zero torque at the other joints." if separate else ", which carries the entire torque."
    )
    return table(head, rows, caption, "Torque of the motors")


def _motors(p: MechanismPart) -> str:
    if not p.motors or p.torques is None:
        return ""
    limits = [f"{m.name} {number(m.limit)} {m.unit} ({m.source})" for m in p.motors if m.given]
    unlimited = [m.name for m in p.motors if not m.given]
    text = f"Limits of the motors: {', '.join(limits)}." if limits else ""
    if unlimited:
        text += f" No limit is given for {', '.join(unlimited)}, so the numbers are for 1 {p.motors[0].unit}."
    return text.strip()


def _worst(sensitivity: Sensitivity) -> list[int]:
    """Return the indices of the lengths by decreasing sensitivity; omit lengths with ``binds``, unless all have it."""
    order = np.argsort(-np.round(sensitivity.largest.max(axis=1), 9), kind="stable")
    free = [int(i) for i in order if not sensitivity.binds[i]]
    return free or [int(i) for i in order]


def _lengths(sensitivity: Sensitivity | None) -> dict[str, Any]:
    if sensitivity is None:
        return {"lengths": "", "more_lengths": "", "number_of_lengths": 0, "binding": ""}
    order = _worst(sensitivity)
    main, complete = order[:_LENGTHS], [*order, *(i for i in range(len(sensitivity.lengths)) if i not in order)]
    units = ["mm" if c.slides else "mrad" for c in sensitivity.joints]
    names = [f"{c.name} [{u}/mm]" for c, u in zip(sensitivity.joints, units, strict=True)]
    caption = "Displacement of each dependent joint per millimetre: in the reference pose, and largest over the range"

    def shown(which: list[int]) -> Html:
        any_binds = any(sensitivity.binds[which])
        rows = [
            [
                sensitivity.lengths[i],
                *map(number, sensitivity.at_reference[i]),
                *map(number, sensitivity.largest[i]),
                *["binds" if sensitivity.binds[i] else ""] * any_binds,
            ]
            for i in which
        ]
        head: list[Any] = ["length", ("in the reference pose", names), ("largest", names), *["closes?"] * any_binds]
        return table(head, rows, f"{caption}.", "Sensitivity to lengths")

    binding = ""
    if sensitivity.binds.any():
        binding = (
            f"{int(sensitivity.binds.sum())} lengths bind: the loops cannot close for another value, for example if a "
            "joint of a planar linkage moves out of the plane. Play and elastic deformation must absorb such errors."
        )
    details = shown(complete) if len(complete) > len(main) else ""
    return {
        "lengths": shown(main),
        "more_lengths": details,
        "number_of_lengths": len(sensitivity.lengths),
        "binding": binding,
    }
