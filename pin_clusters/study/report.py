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
    share = {rung: values / scale for rung, values in result.rms_error.items()}
    worst = int(np.argmax(share["diagonal"]))
    percent = 100.0 * share["diagonal"]
    if percent[worst] < 1e-6:
        return "Diagonal armature is exact here: this robot has no rotor that it would describe wrongly on this motion."
    text = (
        f"With diagonal armature the torque is wrong by {_percent(percent[worst])} of its peak at {result.joints[worst]} "
        f"(RMS {result.rms_error['diagonal'][worst]:.3g} {result.units[worst]})"
    )
    block = 100.0 * share["block"]
    if block[worst] < 0.95 * percent[worst]:
        text += f"; the off-diagonal terms of the belts (block) bring that down to {_percent(block[worst])}"
        rest = int(np.argmax(block))
        return text + f", and leave at most {_percent(block[rest])}, at {result.joints[rest]}, which only exact rotors remove."
    return text + "; only exact rotors remove that."


def _percent(value: float) -> str:
    return f"{value:.2g} %" if value < 10.0 else f"{value:.0f} %"


def write_json(result: StudyResult, path: Path) -> None:
    """Write ``as_dict`` to a file."""
    import json

    path.write_text(json.dumps(as_dict(result), indent=2) + "\n", encoding="utf-8")
