"""The results of the study as JSON, rows of a table, and one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import StudyResult
from .rungs import RUNGS

LABELS = {"none": "no armature", "diagonal": "diagonal armature", "block": "block armature"}


def as_dict(result: StudyResult) -> dict[str, Any]:
    """Return the study as plain numbers and text, ready for JSON."""

    def per_joint(values: np.ndarray) -> dict[str, float]:
        return dict(zip(result.joints, map(float, values), strict=True))

    sine = result.sine
    return {
        "robot": result.robot,
        "trajectory": {
            "kind": "q_i = amplitude * sin(2 * pi * frequency * t) for every independent one-dof joint, fixed base",
            "amplitude": sine.amplitude,
            "frequency": sine.frequency,
            "duration": sine.duration,
            "dt": sine.dt,
            "samples": sine.samples,
            "rotors_of_approximations": "dropped" if result.drop_rotors else "locked into their carriers",
        },
        "joints": list(result.joints),
        "unit": unit(result),
        "rms_error": {rung: per_joint(values) for rung, values in result.rms_error.items()},
        "max_exact": per_joint(result.max_exact),
    }


def unit(result: StudyResult) -> str:
    """Return the unit of the numbers, ``"N m"`` unless joints slide."""
    kinds = set(result.units)
    return kinds.pop() if len(kinds) == 1 else "N m (N for prismatic joints)"


def table(result: StudyResult) -> list[tuple[str, ...]]:
    """Return the rows of the table as text: a label, then one number per joint; the last row is the exact torque."""
    rms = result.rms_error
    suffix = ", rotors dropped" if result.drop_rotors else ""
    rows = [(LABELS[r] + suffix, *(f"{x:.3f}" for x in rms[r])) for r in RUNGS]
    rows.append(("largest exact torque", *(f"{x:.2f}" for x in result.max_exact)))
    return rows


def verdict(result: StudyResult) -> str:
    """Say in one sentence whether armature is enough for this robot."""
    if not np.any(result.max_exact > 0.0):
        return f"No torque acts on {result.robot} along this motion, so there is nothing to compare."
    scale = np.maximum(result.max_exact, 1e-9 * result.max_exact.max())
    share = {rung: 100.0 * values / scale for rung, values in result.rms_error.items()}
    worst = int(np.argmax(share["diagonal"]))
    diagonal, block = share["diagonal"][worst], share["block"][worst]
    if diagonal < 1e-6:
        return "Diagonal armature is exact on this motion."
    where = f"{_percent(diagonal)} of the peak torque at {result.joints[worst]}"
    rms = f"{result.rms_error['diagonal'][worst]:.3g} {result.units[worst]}"
    if diagonal < 1.0:
        return f"Diagonal armature is nearly enough on this motion: its RMS error is at most {where} ({rms})."
    text = f"With diagonal armature the RMS error reaches {where} ({rms})"
    if block < 0.95 * diagonal:
        rest = int(np.argmax(share["block"]))
        return (
            f"{text}; with the off-diagonal terms of the belts (block) it is {_percent(block)} there and at most "
            f"{_percent(share['block'][rest])}, at {result.joints[rest]}, which only the exact rotors remove."
        )
    return f"{text}, which only the exact rotors remove."


def _percent(value: float) -> str:
    return f"{value:.2g} %" if value < 10.0 else f"{value:.0f} %"


def write_json(result: StudyResult, path: Path) -> None:
    """Write ``as_dict`` to a file."""
    import json

    path.write_text(json.dumps(as_dict(result), indent=2) + "\n", encoding="utf-8")
