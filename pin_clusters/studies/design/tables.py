"""Write the results as CSV tables, with lengths in metres and angles in radians."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from .result import MechanismPart, MechanismResult
from .torques import Torques


def tables(result: MechanismResult) -> dict[str, str]:
    texts = {
        "ranges.csv": _rows(r.as_dict() for r in result.ranges),
        "regions.csv": _rows(_regions(result)),
        "transmission.csv": _rows(_transmission(result)),
        "torques.csv": _rows(_torques(result)),
        "torque_corners.csv": _rows(_corners(result)),
        "loads.csv": _rows(x.as_dict() for x in result.loads.parts),
        "lengths.csv": _rows(_lengths(result)),
    }
    return {name: text for name, text in texts.items() if text}


def _rows(rows: Iterable[dict[str, Any]]) -> str:
    listed = list(rows)
    if not listed:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(listed[0]), lineterminator="\n")
    writer.writeheader()
    for row in listed:
        writer.writerow({key: f"{x:.9g}" if isinstance(x, float) else x for key, x in row.items()})
    return out.getvalue()


def _regions(result: MechanismResult) -> Iterator[dict[str, Any]]:
    for p, r in ((p, p.region) for p in result.linkages if p.region):
        names = [c.name for c in r.joints]
        inside = [("reached", "", x) for x in r.positions[r.reached]]
        for kind, joint, x in [*inside, *((e.kind, e.joint, x) for e in r.edges for x in e.positions)]:
            for name, value in zip(names, x, strict=True):
                # The table has one row per joint, because the joints differ between mechanisms.
                yield {"part": p.name, "pose": kind, "because_of": joint, "joint": name, "position": float(value)}


def _transmission(result: MechanismResult) -> Iterator[dict[str, Any]]:
    for p in result.parts:
        for s, t in zip(p.sweeps, p.transmissions, strict=True):
            for i, value in enumerate(t.values):
                common = {"moved": t.moved.name, "unit": t.moved.unit, "value": float(value)}
                inertias = {"inertia": float(t.inertia[i]), "of_rotors": float(t.motors[i])}
                for k, c in enumerate(t.joints):
                    yield (
                        common
                        | {
                            "joint": c.name,
                            "position": float(s.of(c.name)[i]),
                            "ratio": float(t.ratio[i, k]),
                            "torque_ratio": float(t.advantage[i, k]),
                        }
                        | inertias
                    )
                if not t.joints:
                    yield common | dict.fromkeys(("joint", "position", "ratio", "torque_ratio"), "") | inertias


def _torques(result: MechanismResult) -> Iterator[dict[str, Any]]:
    for p, t in _with_torques(result):
        for s in t.sets:
            for k, c in enumerate(t.joints):
                yield {
                    "part": p.name,
                    "pose": s.pose,
                    "joint": c.name,
                    "unit": c.torque_unit,
                    "largest": float(s.largest[k]),
                    "alone": float(s.alone[k]),
                }


def _with_torques(result: MechanismResult) -> list[tuple[MechanismPart, Torques]]:
    return [(p, p.torques) for p in result.parts if p.torques]


def _corners(result: MechanismResult) -> Iterator[dict[str, Any]]:
    for p, t in _with_torques(result):
        for s in t.sets if p.is_linkage else ():
            for n, corner in enumerate(s.corners):
                for c, x in zip(t.joints, corner, strict=True):
                    yield {"part": p.name, "pose": s.pose, "corner": n, "joint": c.name, "torque": float(x)}


def _lengths(result: MechanismResult) -> Iterator[dict[str, Any]]:
    for sensitivity in (p.lengths for p in result.parts if p.lengths):
        for i, name in enumerate(sensitivity.lengths):
            for k, c in enumerate(sensitivity.joints):
                yield {
                    "length": name,
                    "joint": c.name,
                    "per_metre": c.unit,
                    "at_reference": float(sensitivity.at_reference[i, k]),
                    "largest": float(sensitivity.largest[i, k]),
                    "binds": bool(sensitivity.binds[i]),
                }
