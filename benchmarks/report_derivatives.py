"""Tables of the accuracy of derivatives, for ``report.py``."""

from __future__ import annotations

import math
from typing import Any

from report_loops import markdown

ORACLES = ("reference", "differences", "laws")
GROUPS = ("trees", "loops", "robots")
WHAT = ("dtau_dq", "dtau_dv", "M")
ORDER = (
    *WHAT, "ddq_dq", "ddq_dv", "Minv", "gravity", "static torque", "C", "dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da",
    "C: C v", "C: dM/dt - 2 C skew", "C: dtau_dv = 2 C", "gravity: symmetric", "ddq_dq: backward", "ddq_dv: backward",
)  # fmt: skip


def accuracy(results: dict[str, Any]) -> str:
    """Return the tables of ``derivatives_accuracy.py``: function x group and oracle, functions of users, robots."""
    groups = results["groups"]
    worst = {name: groups[name]["worst"] for name in GROUPS}
    quantities = sorted({q for one in worst.values() for q in one}, key=ORDER.index)
    columns = [(g, o) for g in GROUPS for o in ORACLES if any(o in x for x in worst[g].values())]
    rows = [
        [f"`{q}`" if " " not in q else q, *(_error(worst[g].get(q, {}), o) for g, o in columns)] for q in quantities
    ]
    count = sum(one["mechanisms"] - one["inexact"] for one in groups.values())
    text = (
        f"{results['states']} random states, with external forces, of each of {count} mechanisms: "
        f"{groups['trees']['mechanisms']} random trees of any joint type (couplings, rotors on any carrier), "
        f"{groups['loops']['mechanisms'] - groups['loops']['inexact']} with closed loops (rods with and without mass, "
        f"gears, rotors), {groups['functions']['mechanisms']} tied by a function, and the shipped robots on a fixed "
        f"and a floating base. Pinocchio {results['pinocchio']}."
    )
    sloppy = groups["loops"]["sloppy"]
    if sloppy:
        largest = max(max(errors.values()) for errors in sloppy.values())
        text += (
            f" Apart: {groups['loops']['inexact']} mechanisms with 1.5708 for a right angle, where results are known "
            f"to some multiples of the misalignment: {largest:.0e}."
        )
    if left := groups["robots"]["singular"]:
        names = " and ".join(f"`{name.split(', ')[0]}`" for name in left)
        text += f" {names} on a floating base, planar without thickness, have a singular mass matrix."
    each = groups["functions"]["each"]
    shown = [o for o in ORACLES if any(e[o] for e in each.values())]
    functions = markdown(
        ["function", *shown], ([name, *(f"{errors[o]:.0e}" for o in shown)] for name, errors in each.items())
    )
    robots = groups["robots"]["each"]
    shown = [o for o in ORACLES if any(e[o] for e in robots.values())]
    bases = markdown(
        ["robot", *shown],
        ([name, *(f"{e[o]:.0e}" for o in shown)] for name, e in robots.items() if name not in left),
    )
    return "\n\n".join([
        text, markdown(["", *(f"{g}: {o}" for g, o in columns)], rows),
        "Functions of users, the worst of all results; without a Jacobian, what differences of differences leave:",
        functions, "The shipped robots, the worst of all results:", bases, _dead_centres(results["dead centres"]),
    ])  # fmt: skip


def _dead_centres(near: dict[str, list[dict[str, float]]]) -> str:
    """Return errors towards dead centres, and with which power of cond(K_d) errors and sizes grow."""
    table = [
        [name, f"{row['condition']:.0e}", *(f"{row[f'error, {what}']:.0e}" for what in WHAT)]
        for name, rows in near.items()
        for row in rows[::3]
    ]
    sizes = {what: [_power(rows, f"size, {what}") for rows in near.values()] for what in WHAT}
    powers = ", ".join(f"{what} with the power {sum(found) / len(found):.1f}" for what, found in sizes.items())
    errors = [_power(rows, f"error, {what}") for what in WHAT for rows in near.values()]
    most = max(row[f"error, {what}"] / row["condition"] for what in WHAT for rows in near.values() for row in rows)
    return "\n\n".join([
        "Towards dead centres of the independent joint, relative errors at the same v and a. The truth is the "
        "reference's in terms of another independent joint, transformed. The derivatives themselves grow with powers "
        f"of cond(K_d): {powers}. Their relative errors grow with its power {min(errors):.1f} to {max(errors):.1f}, "
        f"and stay below {most:.0e} cond(K_d): no worse than the rate of the other joints itself, which rounding of q "
        "makes so uncertain.",
        markdown(["linkage", "cond(K_d)", *(f"`{what}`" for what in WHAT)], table),
    ])  # fmt: skip


def _power(rows: list[dict[str, float]], key: str) -> float:
    """Return the slope of the logarithm over that of cond(K_d), by least squares."""
    points = [(math.log(r["condition"]), math.log(max(r[key], 1e-17))) for r in rows[2:] if key in r]
    x0, y0 = (sum(c) / len(points) for c in zip(*points, strict=True))
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def _error(found: dict[str, float], oracle: str) -> str:
    return f"{found[oracle]:.0e}" if oracle in found else "-"
