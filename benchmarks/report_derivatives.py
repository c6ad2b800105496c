"""Tables of the speed and the accuracy of derivatives, for ``report.py``."""

from __future__ import annotations

import math
from typing import Any

import derivatives
from report_loops import markdown, where

ORACLES = ("reference", "differences", "laws")
GROUPS = ("trees", "loops", "robots")
WHAT = ("dtau_dq", "dtau_dv", "M")
ORDER = (
    *WHAT, "ddq_dq", "ddq_dv", "Minv", "gravity", "static torque", "C", "dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da",
    "C: C v", "C: dM/dt - 2 C skew", "C: dtau_dv = 2 C", "gravity: symmetric", "ddq_dq: backward", "ddq_dv: backward",
    "motions by q", "motions by v", "motions by a", "dvcom_dq", "dAg", "dJ_dq",
    *(f"contacts: {name}" for name in ("ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau")),
    *(f"impact: {name}" for name in ("after_dq", "after_dv", "impulse_dq", "impulse_dv")),
    "regressor of torques", "regressors of energies", "regressor of the centre",
)  # fmt: skip


def speed(results: dict[str, Any]) -> str:
    """Return the tables of ``derivatives.py``: ratios, batches and differences, compiling, goals."""
    robots = results["robots"]
    names = list(dict.fromkeys(name for r in robots.values() for name in r["ratio"]))
    rows = [[f"`{n}`", *(f"{r['ratio'][n]:.2f}" if n in r["ratio"] else "-" for r in robots.values())] for n in names]
    more = [
        [f"`pc.batch.{n}`, one row [us] (divided by Pinocchio's call)"]
        + [f"{r['times'][f'batch.{n}']['median_us']:.1f} ({r['rows'][n]:.2f})" for r in robots.values()]
        for n in next(iter(robots.values()))["rows"]
    ]
    more.append(["central finite differences of `pc.aba` / `computeABADerivatives`"])
    more[-1] += [f"{r['differences']:.0f}" for r in robots.values()]
    head = ["", *(f"`{name}`" for name in robots)]
    parts = [
        where(results),
        "Time for the exact robot in this package, divided by the time of Pinocchio's function of the same name for "
        "the approximate robot. For robots with closed loops, Pinocchio computes the open spanning tree. Both return "
        "new arrays. The contacts are points of the feet or hands.",
        markdown(head, rows),
        "Batches on one thread, and the cost of finite differences:",
        markdown(head, more),
    ]
    return "\n\n".join([*parts, markdown(["goal", "measured", "limit", ""], goals(results))])


def goals(results: dict[str, Any]) -> list[list[str]]:
    """Return what was to be reached: goal, number, limit, whether it was."""
    robots, found = results["robots"], []

    def add(what: str, value: float, limit: float, least: bool = False) -> None:
        met = value >= limit if least else value <= limit
        found.append([what, f"{value:.2f}", f"{limit:g}", "met" if met else "not met"])

    for robot in (name for name in derivatives.ARMATURE if name in robots):
        for name, limit in derivatives.GOALS.items():
            add(f"`{name}`, `{robot}`", robots[robot]["ratio"][name], limit)
    if "tello" in robots:
        for name in ("computeRNEADerivatives", "computeABADerivatives"):
            add(f"`{name}`, `tello`", robots["tello"]["ratio"][name], derivatives.OPEN_TREE)
    if "mini_cheetah" in robots:
        for name, value in robots["mini_cheetah"]["rows"].items():
            add(f"one row of `pc.batch.{name}`, `mini_cheetah`", value, derivatives.ROWS[name])
        value = robots["mini_cheetah"]["differences"]
        what = "finite differences of `pc.aba` / `computeABADerivatives`, `mini_cheetah`"
        add(what, value, derivatives.DIFFERENCES, True)
    return found


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
        f"{groups['trees']['mechanisms']} random trees with all joint types, couplings and rotors, "
        f"{groups['loops']['mechanisms'] - groups['loops']['inexact']} mechanisms with closed loops (rods with and "
        f"without mass, gears, rotors), {groups['functions']['mechanisms']} mechanisms with a user-defined `Coupling`, "
        f"and the shipped robots with a fixed and a floating base."
    )
    sloppy = groups["loops"]["sloppy"]
    if sloppy:
        largest = max(max(errors.values()) for errors in sloppy.values())
        text += (
            f" The table excludes {groups['loops']['inexact']} mechanisms that are misaligned, because a right angle "
            f"is given as 1.5708. Their results have an error of a few times the misalignment, here {largest:.0e}."
        )
    if left := groups["robots"]["singular"]:
        names = " and ".join(f"`{name.split(', ')[0]}`" for name in left)
        text += (
            f" The tables also exclude {names} with a floating base: they are planar and have no thickness, so their "
            "mass matrix is singular."
        )
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
        where(results), text, markdown(["", *(f"{g}: {o}" for g, o in columns)], rows),
        "Worst error of all results for user-defined couplings, by the derivatives that the user gives. Without a "
        "Jacobian, second derivatives are finite differences of finite differences:",
        functions, "Worst error of all results for the shipped robots:", bases, _dead_centres(results["dead centres"]),
    ])  # fmt: skip


def _dead_centres(near: dict[str, list[dict[str, float]]]) -> str:
    """Return errors towards dead centres, and with which power of cond(K_d) errors and sizes grow."""
    table = [
        [name, f"{row['condition']:.0e}", *(f"{row[f'error, {what}']:.0e}" for what in WHAT)]
        for name, rows in near.items()
        for row in rows[::3]
    ]
    sizes = {what: [_power(rows, f"size, {what}") for rows in near.values()] for what in WHAT}
    powers = ", ".join(f"{what} with power {sum(found) / len(found):.1f}" for what, found in sizes.items())
    errors = [_power(rows, f"error, {what}") for what in WHAT for rows in near.values()]
    most = max(row[f"error, {what}"] / row["condition"] for what in WHAT for rows in near.values() for row in rows)
    return "\n\n".join([
        "Relative errors near a singularity (dead centre) of the independent joint, at the same v and a. The reference "
        "uses another independent joint and transforms the result. The derivatives grow with powers of cond(K_d): "
        f"{powers}. Their relative errors grow with power {min(errors):.1f} to {max(errors):.1f}, and remain below "
        f"{most:.0e} cond(K_d). Rounding of q alone makes the velocities of the dependent joints equally uncertain.",
        markdown(["linkage", "cond(K_d)", *(f"`{what}`" for what in WHAT)], table),
    ])  # fmt: skip


def _power(rows: list[dict[str, float]], key: str) -> float:
    """Return the slope of the logarithm over that of cond(K_d), by least squares."""
    points = [(math.log(r["condition"]), math.log(max(r[key], 1e-17))) for r in rows[2:] if key in r]
    x0, y0 = (sum(c) / len(points) for c in zip(*points, strict=True))
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def _error(found: dict[str, float], oracle: str) -> str:
    return f"{found[oracle]:.0e}" if oracle in found else "-"
