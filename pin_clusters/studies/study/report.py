"""The results of the study as JSON, rows of a table, and one sentence."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from ... import approximations
from ...approximations import LABELS, LOOP_RUNGS, ROTOR_RUNGS
from ..pages.results import by_name, plain
from ..pages.results import write_json as write
from ._samples import locked
from .accuracy import StudyResult
from .trajectories import Sine, Wave

EXACT = 1e-6
"""Below this part of the peak torque, [%], an approximation is called exact: rounding is no error."""
DEFINITIONS = {name: approximations.DEFINITIONS[name] for name in (*LOOP_RUNGS, *ROTOR_RUNGS)}
"""What is printed about the approximations of robots with closed loops; the rest is in ``approximations``."""


def as_dict(result: StudyResult) -> dict[str, Any]:
    """Return the study as plain numbers and text, ready for JSON."""
    trajectory, joints = result.trajectory, result.joints
    described: dict[str, Any] = getattr(trajectory, "as_dict", dict)()
    said: dict[str, Any] = {"kind": kind(result)}
    moved = [joints[k] for k in result.actuated]  # a floating base has no centre and no phase
    if result.centre is not None:
        said["centre"] = by_name(moved, result.centre)
        said["amplitude_asked_for"] = described["amplitude"] if result.asked is None else result.asked
        said["cut"] = cut(result) or None
    if result.phase is not None:
        said["phase"] = by_name(moved, result.phase)
    loops = {"approximations": {rung: DEFINITIONS[rung] for rung in result.approximate}} if result.loops else {}
    share = {"rms": result.share(result.rms_error), "peak": result.share(result.peak_error)}
    return {
        "robot": result.robot,
        "trajectory": said
        | described
        | {"samples": len(result.time), "rotors_of_approximations": locked(result.drop_rotors)},
        **loops,
        "joints": list(joints),
        "unit": unit(result),
        "rms_error": plain(result.rms_error, joints),
        "max_exact": by_name(joints, result.max_exact),
        "peak_error": plain(result.peak_error, joints),
        "per_cent_of_largest": plain(share, joints),
        "base": result.base,
        "ground_forces": result.loads,
    }


def kind(result: StudyResult) -> str:
    """Say in one line what moves, and how."""
    trajectory = result.trajectory
    if isinstance(trajectory, Sine):
        formula = f"amplitude * sin(2 * pi * frequency * t{'' if result.phase is None else ' + phase_i'})"
    elif isinstance(trajectory, Wave):
        formula = trajectory.label
    else:
        return f"{trajectory.label}, {result.base} base"
    about = "" if result.centre is None else "centre_i + "
    return f"q_i = {about}{formula} for every independent one-dof joint, {result.base} base"


def motion(result: StudyResult) -> str:
    """Say what moves, as it stands in titles."""
    if not isinstance(result.trajectory, Wave):
        return f"along {result.trajectory.label}"
    about = "as" if result.centre is None else "about the reference pose by"
    apart = "" if result.phase is None else ", joints that share rotors or loops out of phase"
    return f"each joint moving {about} {result.trajectory.label}{apart}"


def ground(result: StudyResult) -> str:
    """Say what becomes of the ground's forces and of a recorded base; empty if there are none."""
    if result.base == "fixed":
        held = "The base is held: its recorded motion is not used, and nor are forces of the ground."
        if getattr(result.trajectory, "moves_base", False):
            return held
        return "Recorded forces act on the joints of the exact and of the approximate robots." if result.loads else ""
    if result.loads:
        return (
            "Recorded forces of the ground act on the joints of the exact and of the approximate robots alike; the "
            "wrench on the base is what they amount to."
        )
    return (
        "No forces of the ground are recorded: largest torques are those without them, which errors do not depend on; "
        "the wrench on the base is what the ground has to give."
    )


def unit(result: StudyResult) -> str:
    """Return the unit of the numbers, ``"N m"`` unless joints slide."""
    kinds = {result.units[k] for k in result.actuated}
    base = ", forces on the base N" if result.base == "floating" else ""
    return (kinds.pop() if len(kinds) == 1 else "N m (N for prismatic joints)") + base


def table(result: StudyResult) -> list[tuple[str, ...]]:
    """Return the rows of the table as text: a label, then one number per joint; the last row is the exact torque."""
    digits = _digits(result)
    rows = _rows(result, result.rms_error, digits)
    rows.append(("largest exact torque", *(f"{x:.{digits - 1}f}" for x in result.max_exact)))
    return rows


def peak_table(result: StudyResult) -> list[tuple[str, ...]]:
    """Return the rows of the table of largest errors, as in ``table``."""
    return _rows(result, result.peak_error, _digits(result))


def share_table(result: StudyResult) -> list[tuple[str, ...]]:
    """Return the rows of the table of errors as per cent of the largest exact torque, ``RMS/peak``."""
    rms, peak = result.share(result.rms_error), result.share(result.peak_error)
    return [
        (label(result, r), *(f"{_number(x)}/{_number(y)}" for x, y in zip(rms[r], peak[r], strict=True))) for r in rms
    ]


def label(result: StudyResult, rung: str) -> str:
    """Return what a rung is called in tables."""
    return LABELS[rung] + (", rotors dropped" if result.drop_rotors and rung not in LOOP_RUNGS else "")


def _rows(result: StudyResult, errors: dict[str, np.ndarray], digits: int) -> list[tuple[str, ...]]:
    return [(label(result, rung), *(f"{x:.{digits}f}" for x in values)) for rung, values in errors.items()]


def _number(share: float) -> str:
    """Return a per cent number, short."""
    return (
        "0" if share < 5e-3 else f"{share:.2f}" if share < 1.0 else f"{share:.1f}" if share < 100.0 else f"{share:.0f}"
    )


def _digits(result: StudyResult) -> int:
    """Return how many decimals errors need: 3, or more where joints of loops carry little."""
    smallest = min((x for x in result.max_exact if x > 0.0), default=1.0)
    return 3 if not result.loops else int(np.clip(3 - np.floor(np.log10(smallest)), 3, 6))


def cut(result: StudyResult) -> str:
    """Say in one sentence why the amplitude is smaller than what was asked for; empty if it is not."""
    if result.reach is None or result.asked is None or not isinstance(result.trajectory, Wave):
        return ""
    return (
        f"The amplitude is cut from {result.asked:g} to {result.trajectory.amplitude:g}, 0.9 of what all joints can "
        f"swing together: {result.reach.end:g} away from the reference pose {result.reach.reason}."
    )


def verdict(result: StudyResult) -> str:
    """Say in one sentence where each approximation is worst; what is enough, an audit says."""
    if not np.any(result.max_exact > 0.0):
        return f"No torque acts on {result.robot} along this motion, so there is nothing to compare."
    result = _joints_only(result)
    share, parts = result.share(result.rms_error), []
    if float(np.max(share.get("none", 1.0))) < EXACT:
        return (
            f"No rotor of {result.robot} makes a difference on this motion. If its motors are not in the model (few "
            "files have them), state them: pc.Rotor(joint, ratio, axial_inertia=...)."
        )
    for rung, values in share.items():
        worst = int(np.argmax(values >= (1.0 - 1e-9) * values.max()))  # legs that do the same differ by rounding
        rms = f"{result.rms_error[rung][worst]:.3g} {result.units[worst]}"
        where = f"{percent_of(values[worst])} at {result.joints[worst]} ({rms})"
        parts.append(f"{LABELS[rung]}: {'exact on this motion' if values[worst] < EXACT else where}")
    return "Largest RMS error as a part of the joint's peak torque: " + "; ".join(parts) + "."


def _joints_only(result: StudyResult) -> StudyResult:
    """Return the same without the wrench on the base."""
    kept = result.actuated
    return dataclasses.replace(
        result,
        base="fixed",
        joints=tuple(result.joints[k] for k in kept),
        units=tuple(result.units[k] for k in kept),
        exact=result.exact[:, kept],
        approximate={rung: tau[:, kept] for rung, tau in result.approximate.items()},
    )


def percent_of(value: float) -> str:
    """Return a percentage with two digits, as it reads best."""
    if value < EXACT:
        return "0 %"
    return f"{value:.2g} %" if value < 10.0 else f"{value:.0f} %"


def write_json(result: StudyResult, path: Path) -> None:
    """Write ``as_dict`` to a file."""
    write(as_dict(result), path)
