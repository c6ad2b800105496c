"""Format the results of the study as JSON, as table rows and as one sentence."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from ... import approximations
from ...approximations import LABELS, LOOP_LEVELS, ROTOR_LEVELS
from ..pages.results import by_name, plain
from ..pages.results import write_json as write
from ._samples import locked
from .accuracy import StudyResult
from .trajectories import Sine, Wave

EXACT = 1e-6  # Errors below this percentage of the peak torque are rounding errors: the approximation counts as exact
DEFINITIONS = {name: approximations.DEFINITIONS[name] for name in (*LOOP_LEVELS, *ROTOR_LEVELS)}


def as_dict(result: StudyResult) -> dict[str, Any]:
    trajectory, joints = result.trajectory, result.joints
    described: dict[str, Any] = getattr(trajectory, "as_dict", dict)()
    motion_entries: dict[str, Any] = {"kind": kind(result)}
    moved = [joints[k] for k in result.actuated]  # A floating base has no centre and no phase
    if result.centre is not None:
        motion_entries["centre"] = by_name(moved, result.centre)
        motion_entries["amplitude_asked_for"] = described["amplitude"] if result.asked is None else result.asked
        motion_entries["cut"] = cut(result) or None
    if result.phase is not None:
        motion_entries["phase"] = by_name(moved, result.phase)
    loops = {"approximations": {level: DEFINITIONS[level] for level in result.approximate}} if result.loops else {}
    share = {"rms": result.share(result.rms_error), "peak": result.share(result.peak_error)}
    return {
        "robot": result.robot,
        "trajectory": motion_entries
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
    if not isinstance(result.trajectory, Wave):
        return f"along {result.trajectory.label}"
    about = "as" if result.centre is None else "about the reference pose by"
    phase_text = "" if result.phase is None else ", joints that share rotors or loops out of phase"
    return f"each joint moving {about} {result.trajectory.label}{phase_text}"


def ground(result: StudyResult) -> str:
    if result.base == "fixed":
        held_text = "The base is fixed: its recorded motion and recorded ground forces are ignored."
        if getattr(result.trajectory, "moves_base", False):
            return held_text
        return "Recorded forces act on the joints of the exact and of the approximate robots." if result.loads else ""
    if result.loads:
        return (
            "Recorded ground forces act on the joints of the exact and of the approximate robots; the wrench on the "
            "base is their resultant."
        )
    return (
        "No ground forces are recorded, so the largest torques exclude them; errors do not depend on them. "
        "The wrench on the base is the total force that the ground must supply."
    )


def unit(result: StudyResult) -> str:
    kinds = {result.units[k] for k in result.actuated}
    base = ", forces on the base N" if result.base == "floating" else ""
    return (kinds.pop() if len(kinds) == 1 else "N m (N for prismatic joints)") + base


def table(result: StudyResult) -> list[tuple[str, ...]]:
    digits = _digits(result)
    rows = _rows(result, result.rms_error, digits)
    rows.append(("largest exact torque", *(f"{x:.{digits - 1}f}" for x in result.max_exact)))
    return rows


def peak_table(result: StudyResult) -> list[tuple[str, ...]]:
    return _rows(result, result.peak_error, _digits(result))


def share_table(result: StudyResult) -> list[tuple[str, ...]]:
    rms, peak = result.share(result.rms_error), result.share(result.peak_error)
    return [
        (label(result, r), *(f"{_number(x)}/{_number(y)}" for x, y in zip(rms[r], peak[r], strict=True))) for r in rms
    ]


def label(result: StudyResult, level: str) -> str:
    return LABELS[level] + (", rotors dropped" if result.drop_rotors and level not in LOOP_LEVELS else "")


def _rows(result: StudyResult, errors: dict[str, np.ndarray], digits: int) -> list[tuple[str, ...]]:
    return [(label(result, level), *(f"{x:.{digits}f}" for x in values)) for level, values in errors.items()]


def _number(share: float) -> str:
    return (
        "0" if share < 5e-3 else f"{share:.2f}" if share < 1.0 else f"{share:.1f}" if share < 100.0 else f"{share:.0f}"
    )


def _digits(result: StudyResult) -> int:
    smallest = min((x for x in result.max_exact if x > 0.0), default=1.0)
    return 3 if not result.loops else int(np.clip(3 - np.floor(np.log10(smallest)), 3, 6))


def cut(result: StudyResult) -> str:
    if result.reach is None or result.asked is None or not isinstance(result.trajectory, Wave):
        return ""
    return (
        f"The amplitude is reduced from {result.asked:g} to {result.trajectory.amplitude:g}, 0.9 times the largest "
        f"amplitude that all joints can reach: at {result.reach.end:g} from the reference pose, {result.reach.reason}."
    )


def verdict(result: StudyResult) -> str:
    if not np.any(result.max_exact > 0.0):
        return f"No torque acts on {result.robot} along this motion, so there is nothing to compare."
    result = _joints_only(result)
    share, error_texts = result.share(result.rms_error), []
    if float(np.max(share.get("none", 1.0))) < EXACT:
        return (
            f"The rotors of {result.robot} have no effect on this motion. If the model does not contain the motors "
            "(few files contain them), add them: pc.Rotor(joint, ratio, axial_inertia=...)."
        )
    for level, values in share.items():
        # Torques of identical legs differ only by rounding. The tolerance selects the first of these equal joints.
        worst = int(np.argmax(values >= (1.0 - 1e-9) * values.max()))
        rms = f"{result.rms_error[level][worst]:.3g} {result.units[worst]}"
        error_text = f"{percent_of(values[worst])} at {result.joints[worst]} ({rms})"
        error_texts.append(f"{LABELS[level]}: {'exact on this motion' if values[worst] < EXACT else error_text}")
    return "Largest RMS error relative to the joint's peak torque: " + "; ".join(error_texts) + "."


def _joints_only(result: StudyResult) -> StudyResult:
    columns = result.actuated
    return dataclasses.replace(
        result,
        base="fixed",
        joints=tuple(result.joints[k] for k in columns),
        units=tuple(result.units[k] for k in columns),
        exact=result.exact[:, columns],
        approximate={level: tau[:, columns] for level, tau in result.approximate.items()},
    )


def percent_of(value: float) -> str:
    if value < EXACT:
        return "0 %"
    return f"{value:.2g} %" if value < 10.0 else f"{value:.0f} %"


def write_json(result: StudyResult, path: Path) -> None:
    write(as_dict(result), path)
