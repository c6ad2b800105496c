"""The section of the page about simulations: accelerations, flight, frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import figures
from .._html import Child, Element, Head, formula, table, tag
from ..result import AuditResult
from ..simulated import FrameError
from ..verdict import label, number, percent

_JOINTS = 6


def section(result: AuditResult) -> Element:
    """Return what the approximations do to a simulation."""
    found = result.simulated
    flying = " and nothing touches the robot: it is in flight" if found.flight is not None else ""
    body: list[Child] = [
        tag("h2", "In a simulation"),
        tag(
            "p",
            "Forward dynamics, which is what a simulator computes: how wrong the accelerations are when the exact "
            f"torques of the motion act on the joints{flying}. {found.forward.samples} states of the motion"
            f"{'; the forces of the ground are left out' if result.study.loads else ''}.",
        ),
        _accelerations(result),
    ]
    if found.flight is not None:
        body += _flight(result)
    for i, frame in enumerate(found.frames):
        body += _frame(frame, i)
    return tag("section", body)


def _accelerations(result: AuditResult) -> Element:
    forward, asked = result.simulated.forward, result.verdict.asked
    joints = {result.study.joints[k] for k in result.study.actuated}
    columns = [k for k, name in enumerate(forward.names) if name in joints]
    relative = forward.relative
    values = {rung: np.array([x[k] for k in columns]) for rung, x in relative.items()}
    order = np.argsort(-np.round(values[asked], 9), kind="stable")
    rows: list[list[Child]] = []
    seen: list[np.ndarray] = []
    for at in order:
        row = np.array([x[at] for x in values.values()])
        if any(np.allclose(row, other, rtol=1e-6, atol=0.0) for other in seen):
            continue  # its mirror image
        seen.append(row)
        name = forward.names[columns[at]]
        rows.append([name, *(_relative(x) for x in row), number(forward.exact[columns[at]])])
        if len(rows) == _JOINTS:
            break
    head: Head = [
        "joint",
        ("RMS error of the acceleration, % of its RMS", [label(r) for r in values]),
        "RMS [rad/s², m/s²]",
    ]
    return table(
        head, rows, "Acceleration of the joints, the worst ones; joints with the same numbers, such as mirror images, "
        "once.", "Errors of the accelerations",
    )  # fmt: skip


def _flight(result: AuditResult) -> list[Child]:
    flight = result.simulated.flight
    assert flight is not None
    rungs = list(flight.base_error)
    rows: list[list[Child]] = [
        [
            "turning of the base", *(_relative(flight.relative[r]["angular"]) for r in rungs),
            f"{number(flight.base['angular'])} rad/s²",
        ],
        [
            "translation of the base", *(_relative(flight.relative[r]["linear"]) for r in rungs),
            f"{number(flight.base['linear'])} m/s²",
        ],
        [
            "moment from nowhere", *(f"{number(flight.momentum_rate[r]['angular'])} N m" for r in rungs), "0 N m",
        ],
    ]  # fmt: skip
    return [
        tag("h3", "The base in flight"),
        tag(
            "p",
            f"The spin of the rotors holds {number(flight.spin)} kg m²/s of angular momentum (RMS), of "
            f"{number(flight.momentum)} in all: as much as the whole robot turning at {number(flight.spin_rate)} "
            "rad/s. An approximation does not see it, so with its accelerations the true momentum would change as if "
            "a moment acted from nowhere.",
        ),
        table(
            ["", *(label(r) for r in rungs), "exact, RMS"], rows,
            "Acceleration of the base less free fall: RMS of the error as per cent of the exact one. Moment from "
            "nowhere: RMS of the rate of angular momentum about the centre of mass, which should be zero.",
            "Errors in flight",
        ),
    ]  # fmt: skip


def _frame(error: FrameError, i: int) -> list[Child]:
    mean, largest = error.osim.mean, error.osim.largest
    body: list[Child] = [tag("h3", f"At {error.frame}")]
    facts = [
        tag("p", formula("Inertia that a push on it feels (operational-space inertia, 3 x 3), error by norm, mean over "
            "the motion and largest:")),
        tag("ul", [
            tag("li", f"{label(r)}: {percent(100.0 * mean[r])}, at most {percent(100.0 * largest[r])}") for r in mean
        ]),
    ]  # fmt: skip
    drift = error.drift
    if drift is None:
        return [*body, *facts, tag("p", f"No simulation in open loop: {error.reason}.")]
    distance = {rung: 1e3 * x for rung, x in drift.distance.items()}
    off = ", ".join(f"{label(r)} {_most(x)} mm" for r, x in distance.items())
    facts.append(
        tag(
            "p",
            f"Open loop: the exact robot and its approximations start in the same state, and the same torques act, "
            f"those that move the exact robot. In {drift.time[-1]:.2g} s the frame goes "
            f"{number(1e3 * drift.length)} mm, and it is off by at most: {off}.",
        )
    )
    if drift.length < 1e-9:
        return [*body, *facts, tag("p", "The frame does not move.")]
    if drift.stopped:
        facts.append(
            tag("p", f"Ended early, as its loops could not follow: {', '.join(label(r) for r in drift.stopped)}.")
        )
    # logarithms have no zero: the first sample is where all start
    picture = figures.curves(
        drift.time[1:], {r: np.where(x[1:] > 0.0, x[1:], np.nan) for r, x in distance.items()}, f"drift{i}",
        f"Drift of {error.frame} in open loop", "time [s]", "distance [mm]", log=True,
    )  # fmt: skip
    return [*body, tag("div", tag("figure", picture), tag("div", facts), class_="plots")]


def _most(values: np.ndarray) -> str:
    """Return the largest number: the last one may be small by chance, where paths cross."""
    known = values[np.isfinite(values)]
    return number(float(known.max())) if len(known) else "-"


def _relative(value: Any) -> str:
    return percent(100.0 * float(value)) if np.isfinite(value) else "-"
