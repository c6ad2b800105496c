"""Simulations: accelerations, flight, frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...pages.alike import alike
from ...pages.template import Head, Html, table
from ...study._samples import label
from ...study.metrics import FlightError, ForwardError
from .. import figures
from ..result import AuditResult
from ..simulated import FrameError
from ..verdict import number, percent

_JOINTS = 6


def values(result: AuditResult) -> dict[str, Any]:
    """Return what the approximations do to a simulation."""
    found = result.simulated
    base = (
        f"{label(r)}: turning {_relative(x['angular'])}, translation {_relative(x['linear'])}"
        for r, x in found.forward.base.items()
    )
    free = found.free and {"sentence": _both(result), "table": _accelerations(result, found.free, "in free flight")}
    return {
        "states": found.forward.samples,
        "ground_left_out": result.study.loads,
        "accelerations": _accelerations(result, found.forward, "along the motion"),
        "base_moves": "; ".join(base),
        "free": free,
        "in_flight": result.verdict.flight,
        "flight": None if found.flight is None else _flight(found.flight),
        "frames": [_frame(frame, i) for i, frame in enumerate(found.frames)],
    }


def _both(result: AuditResult) -> str:
    """Return the number of free flight beside that of the motion, for the joint at which free flight is worst."""
    worst, forward = result.verdict.free[asked := result.verdict.asked], result.simulated.forward
    text = f"The largest error of {label(asked)} in free flight is {percent(worst.percent)}, at {worst.joint}"
    if worst.joint in forward.names:
        along = forward.relative[asked][forward.names.index(worst.joint)]
        text += f"; along the motion this joint has {_relative(along)}"
    return f"{text}."


def _accelerations(result: AuditResult, forward: ForwardError, where: str) -> Html:
    asked = result.verdict.asked
    joints = {result.study.joints[k] for k in result.study.actuated}
    columns = [k for k, name in enumerate(forward.names) if name in joints]
    errors = {rung: x[columns] for rung, x in forward.relative.items()}
    order = np.argsort(-np.round(errors[asked], 9), kind="stable")
    numbers = np.array([*errors.values()]).T[order]
    rows = []
    for i, *_ in alike(list(numbers))[:_JOINTS]:
        k = columns[order[i]]
        rows.append([forward.names[k], *map(_relative, numbers[i]), number(forward.exact[k])])
    names = [label(r) for r in errors]
    head: Head = ["joint", ("RMS error of the acceleration, % of its RMS", names), "RMS [rad/s², m/s²]"]
    caption = f"Acceleration of the worst joints {where}; of joints with the same numbers, such as mirror images, one."
    return table(head, rows, caption, f"Errors of the accelerations {where}")


def _flight(flight: FlightError) -> dict[str, Any]:
    rungs = list(flight.base_error)

    def base(what: str, kind: str, unit: str) -> list[str]:
        return [what, *(_relative(flight.relative[r][kind]) for r in rungs), f"{number(flight.base[kind])} {unit}"]

    rows = [
        base("turning of the base", "angular", "rad/s²"),
        base("translation of the base", "linear", "m/s²"),
        ["spurious external moment", *(f"{number(flight.momentum_rate[r]['angular'])} N m" for r in rungs), "0 N m"],
    ]
    caption = (
        "Acceleration of the base less free fall: RMS of the error as per cent of the exact one. Spurious external "
        "moment: RMS of the rate of angular momentum about the centre of mass, which should be zero."
    )
    return {
        "spin": number(flight.spin),
        "momentum": number(flight.momentum),
        "spin_rate": number(flight.spin_rate),
        "table": table(["", *map(label, rungs), "exact, RMS"], rows, caption, "Errors in flight"),
    }


def _frame(error: FrameError, i: int) -> dict[str, Any]:
    mean, largest = error.osim.mean, error.osim.largest
    found: dict[str, Any] = {
        "frame": error.frame,
        "picture": None,
        "not_simulated": error.reason,
        "drift": None,
        "inertia": [f"{label(r)}: {percent(100.0 * mean[r])}, at most {percent(100.0 * largest[r])}" for r in mean],
    }
    drift = error.drift
    if drift is None:
        return found
    distance = {rung: 1e3 * x for rung, x in drift.distance.items()}
    moves = drift.length >= 1e-9
    if moves:
        # logarithms have no zero: the first sample is where all start
        lines = {r: np.where(x[1:] > 0.0, x[1:], np.nan) for r, x in distance.items()}
        found["picture"] = figures.curves(
            drift.time[1:], lines, f"drift{i}", f"Drift of {error.frame} in open loop", "time [s]", "distance [mm]"
        )
    found["drift"] = {
        "duration": f"{drift.time[-1]:.2g}",
        "length": number(1e3 * drift.length),
        "off": ", ".join(f"{label(r)} {_most(x)} mm" for r, x in distance.items()),
        "stopped": ", ".join(map(label, drift.stopped)) if moves else "",
    }
    return found


def _most(values: np.ndarray) -> str:
    """Return the largest number: the last one may be small by chance, where paths cross."""
    known = values[np.isfinite(values)]
    return number(float(known.max())) if len(known) else "-"


def _relative(value: Any) -> str:
    return percent(100.0 * float(value)) if np.isfinite(value) else "-"
