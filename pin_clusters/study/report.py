"""The results of the study as JSON, rows of a table, and one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import StudyResult
from .loop_rungs import LOOP_RUNGS

LABELS = {
    "none": "no armature",
    "diagonal": "diagonal armature",
    "block": "block armature",
    "unconstrained": "unconstrained",
    "frozen": "frozen loops",
    "no rotor": "exact loops, no rotor",
    "armature": "exact loops, armature",
}
DEFINITIONS = {
    "unconstrained": "the independent joints' own rows of the spanning tree, tau = M_ii a + h_i, at the true "
    "configuration and velocity of all joints; what the dependent joints carry, rotors too, is left out",
    "frozen": "the coupling G0 of the reference pose at every pose, as if the loops were gears: "
    "tau = G0' rnea(q, G0 v, G0 a), with rnea of the spanning tree",
    "no rotor": "the loops are exact, the rotors do not spin",
    "armature": "the loops are exact, and J ratio^2 of each rotor is armature of the joints that drive it",
}
"""What is printed about the approximations of robots with closed loops; the rest is in ``study.loop_rungs``."""


def as_dict(result: StudyResult) -> dict[str, Any]:
    """Return the study as plain numbers and text, ready for JSON."""

    def per_joint(values: np.ndarray) -> dict[str, float]:
        return dict(zip(result.joints, map(float, values), strict=True))

    sine = result.sine
    trajectory: dict[str, Any] = {
        "kind": "q_i = amplitude * sin(2 * pi * frequency * t) for every independent one-dof joint, fixed base",
    }
    loops: dict[str, Any] = {}
    if result.centre is not None:
        trajectory["kind"] = trajectory["kind"].replace("q_i = ", "q_i = centre_i + ")
        trajectory["centre"] = per_joint(result.centre)
        trajectory["amplitude_asked_for"] = sine.amplitude if result.asked is None else result.asked
        trajectory["cut"] = cut(result) or None
        loops = {"approximations": {rung: DEFINITIONS[rung] for rung in result.approximate}}
    return {
        "robot": result.robot,
        "trajectory": trajectory
        | {
            "amplitude": sine.amplitude,
            "frequency": sine.frequency,
            "duration": sine.duration,
            "dt": sine.dt,
            "samples": sine.samples,
            "rotors_of_approximations": "dropped" if result.drop_rotors else "locked into their carriers",
        },
        **loops,
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
    rms, digits = result.rms_error, _digits(result)
    suffix = ", rotors dropped" if result.drop_rotors else ""
    rows = [(LABELS[r] + (suffix if r not in LOOP_RUNGS else ""), *(f"{x:.{digits}f}" for x in rms[r])) for r in rms]
    rows.append(("largest exact torque", *(f"{x:.{digits - 1}f}" for x in result.max_exact)))
    return rows


def _digits(result: StudyResult) -> int:
    """Return how many decimals errors need: 3, or more where joints of loops carry little."""
    smallest = min((x for x in result.max_exact if x > 0.0), default=1.0)
    return 3 if result.centre is None else int(np.clip(3 - np.floor(np.log10(smallest)), 3, 6))


def cut(result: StudyResult) -> str:
    """Say in one sentence why the amplitude is smaller than what was asked for; empty if it is not."""
    if result.reach is None or result.asked is None:
        return ""
    return (
        f"The amplitude is cut from {result.asked:g} to {result.sine.amplitude:g}, 0.9 of what all joints can swing "
        f"together: {result.reach.end:g} away from the reference pose {result.reach.reason}."
    )


def verdict(result: StudyResult) -> str:
    """Say in one sentence whether the approximations are enough for this robot."""
    if not np.any(result.max_exact > 0.0):
        return f"No torque acts on {result.robot} along this motion, so there is nothing to compare."
    scale = np.maximum(result.max_exact, 1e-9 * result.max_exact.max())
    share = {rung: 100.0 * values / scale for rung, values in result.rms_error.items()}
    if "diagonal" not in share:
        return _verdict_on_loops(result, share)
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


def _verdict_on_loops(result: StudyResult, share: dict[str, np.ndarray]) -> str:
    """Say where each approximation is worst."""
    parts = []
    for rung, values in share.items():
        worst = int(np.argmax(values))
        rms = f"{result.rms_error[rung][worst]:.3g} {result.units[worst]}"
        if values[worst] < 1e-6:
            parts.append(f"{LABELS[rung]}: exact on this motion")
        else:
            parts.append(f"{LABELS[rung]}: {_percent(values[worst])} at {result.joints[worst]} ({rms})")
    return "Largest RMS error as a part of the joint's peak torque: " + "; ".join(parts) + "."


def _percent(value: float) -> str:
    return f"{value:.2g} %" if value < 10.0 else f"{value:.0f} %"


def write_json(result: StudyResult, path: Path) -> None:
    """Write ``as_dict`` to a file."""
    import json

    path.write_text(json.dumps(as_dict(result), indent=2) + "\n", encoding="utf-8")
