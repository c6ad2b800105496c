"""Show errors in simulation: accelerations, free flight, and motion of frames."""

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
    errors = result.simulated
    base = (
        f"{label(r)}: turning {_relative(x['angular'])}, translation {_relative(x['linear'])}"
        for r, x in errors.forward.base.items()
    )
    free = errors.free and {"sentence": _both(result), "table": _accelerations(result, errors.free, "in free flight")}
    return {
        "states": errors.forward.samples,
        "ground_left_out": result.study.loads,
        "accelerations": _accelerations(result, errors.forward, "along the motion"),
        "base_moves": "; ".join(base),
        "free": free,
        "in_flight": result.verdict.flight,
        "flight": None if errors.flight is None else _flight(errors.flight),
        "frames": [_frame(frame, i) for i, frame in enumerate(errors.frames)],
    }


def _both(result: AuditResult) -> str:
    worst, forward = result.verdict.free[asked := result.verdict.asked], result.simulated.forward
    text = f"The largest error of {label(asked)} in free flight is {percent(worst.percent)}, at {worst.joint}"
    if worst.joint in forward.names:
        along = forward.relative[asked][forward.names.index(worst.joint)]
        text += f"; along the motion, its error is {_relative(along)}"
    return f"{text}."


def _accelerations(result: AuditResult, forward: ForwardError, where: str) -> Html:
    asked = result.verdict.asked
    joints = {result.study.joints[k] for k in result.study.actuated}
    columns = [k for k, name in enumerate(forward.names) if name in joints]
    errors = {level: x[columns] for level, x in forward.relative.items()}
    order = np.argsort(-np.round(errors[asked], 9), kind="stable")
    numbers = np.array([*errors.values()]).T[order]
    rows = []
    for i, *_ in alike(list(numbers))[:_JOINTS]:
        k = columns[order[i]]
        rows.append([forward.names[k], *map(_relative, numbers[i]), number(forward.exact[k])])
    names = [label(r) for r in errors]
    head: Head = ["joint", ("RMS error of the acceleration, % of its RMS", names), "RMS [rad/s², m/s²]"]
    caption = f"Accelerations of the worst joints {where}; joints with equal numbers are listed once."
    return table(head, rows, caption, f"Errors of the accelerations {where}")


def _flight(flight: FlightError) -> dict[str, Any]:
    levels = list(flight.base_error)

    def base(row_label: str, kind: str, unit: str) -> list[str]:
        return [
            row_label,
            *(_relative(flight.relative[r][kind]) for r in levels),
            f"{number(flight.base[kind])} {unit}",
        ]

    rows = [
        base("turning of the base", "angular", "rad/s²"),
        base("translation of the base", "linear", "m/s²"),
        ["spurious external moment", *(f"{number(flight.momentum_rate[r]['angular'])} N m" for r in levels), "0 N m"],
    ]
    caption = (
        "Acceleration of the base relative to free fall: RMS error in per cent of the exact value. Spurious external "
        "moment: RMS of the rate of angular momentum about the centre of mass, which should be zero."
    )
    return {
        "spin": number(flight.spin),
        "momentum": number(flight.momentum),
        "spin_rate": number(flight.spin_rate),
        "table": table(["", *map(label, levels), "exact, RMS"], rows, caption, "Errors in flight"),
    }


def _frame(error: FrameError, i: int) -> dict[str, Any]:
    mean, largest = error.osim.mean, error.osim.largest
    frame_values: dict[str, Any] = {
        "frame": error.frame,
        "picture": None,
        "not_simulated": error.reason,
        "drift": None,
        "inertia": [f"{label(r)}: {percent(100.0 * mean[r])}, at most {percent(100.0 * largest[r])}" for r in mean],
    }
    drift = error.drift
    if drift is None:
        return frame_values
    distance = {level: 1e3 * x for level, x in drift.distance.items()}
    moves = drift.length >= 1e-9
    if moves:
        # The first sample is zero for all robots, and a logarithmic axis cannot show zero.
        lines = {r: np.where(x[1:] > 0.0, x[1:], np.nan) for r, x in distance.items()}
        frame_values["picture"] = figures.curves(
            drift.time[1:], lines, f"drift{i}", f"Drift of {error.frame} in open loop", "time [s]", "distance [mm]"
        )
    frame_values["drift"] = {
        "duration": f"{drift.time[-1]:.2g}",
        "length": number(1e3 * drift.length),
        "off": ", ".join(f"{label(r)} {_most(x)} mm" for r, x in distance.items()),
        "stopped": ", ".join(map(label, drift.stopped)) if moves else "",
    }
    return frame_values


def _most(values: np.ndarray) -> str:
    finite_values = values[np.isfinite(values)]
    return number(float(finite_values.max())) if len(finite_values) else "-"


def _relative(value: Any) -> str:
    return percent(100.0 * float(value)) if np.isfinite(value) else "-"
