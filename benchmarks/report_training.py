"""Tables of policies that were trained on exact robots and on armature, from ``trained_on_armature.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where

N, DURATION, BEGIN = 1024, 10.0, 4.0
"""Number of worlds; length of a run [s]; start of the means of speed, cost and reward [s]."""
MEANS = {"reward": "reward per step", "speed": "speed [m/s]", "transport": "cost of transport"}


def tables(results: dict[str, Any]) -> str:
    """Return the table of all runs."""
    rows = []
    for name, one in results["robots"].items():
        for run in one["runs"]:
            for on, x in run["worlds"].items():
                alone = run["simulate"] if on == "exact" else None
                rows.append([
                    f"`{name}`", f"{run['trained']}, seed {run['seed']}", on, f"{100 * x['fall']:.1f} %",
                    *(f"{x[y]:.3f}" if y in x else "" for y in MEANS),
                    f"{alone['distance']:.2f} m in {alone['upright']:.1f} s" if alone else "",
                    f"{alone['landings']}" if alone else "", f"{alone['transport']:.3f}" if alone else "",
                ])  # fmt: skip
    head = ["robot", "trained on", "run on", "falls", *MEANS.values(), "`pc.simulate`", "touch-downs", "cost"]
    budgets = "; ".join(
        f"`{name}`: {one['control_steps'] / 1e6:.1f} million, {max(x['seconds'] for x in one['runs']) / 60:.1f} min"
        for name, one in results["robots"].items()
    )
    return "\n\n".join([
        where(results),
        f"Control steps and largest CPU time of a training: {budgets}.",
        f"Each policy runs without exploration noise for {DURATION:g} s in {N:,} worlds with random friction (0.5 to "
        "1.1) and initial velocity. Falls: share of these worlds. Reward, speed and cost of transport are means over "
        f"the worlds without a fall, after the first {BEGIN:g} s. Cost of transport: the integral of "
        "Σ |torque · speed| of the motors, divided by weight and distance. The last three columns describe one run of "
        f"the exact robot with `pc.simulate`, a time step of 0.5 ms and friction 0.8: distance and time until a fall "
        f"(at most {DURATION:g} s), touch-downs after a lift of at least 1 cm, and cost of transport.",
        markdown(head, rows),
    ])  # fmt: skip


def short(results: dict[str, Any]) -> str:
    """Return the ranges on the exact robot, and the changes from the approximation to the exact robot."""
    rows, changes = [], []
    for name, one in results["robots"].items():
        for trained in ("exact", "armature"):
            found = [run["worlds"]["exact"] for run in one["runs"] if run["trained"] == trained]
            falls = [100 * x["fall"] for x in found]
            means = [[x[y] for x in found if y in x] for y in MEANS]
            rows.append([
                f"`{name}`", trained, f"{min(falls):.1f} to {max(falls):.1f} %",
                *(f"{min(x):.3f} to {max(x):.3f}" if x else "" for x in means),
            ])  # fmt: skip
        pairs = [run["worlds"] for run in one["runs"] if run["trained"] == "armature"]
        row = [f"`{name}`"]
        for y in MEANS:
            change = [
                100 * (x["exact"][y] / x["armature"][y] - 1) for x in pairs if y in x["exact"] and y in x["armature"]
            ]
            row.append(f"{min(change):+.1f} to {max(change):+.1f} %" if change else "")
        changes.append(row)
    return "\n\n".join([
        f"Lowest and highest value over the seeds, in {N:,} worlds of the exact robot:",
        markdown(["robot", "trained on", "falls", *MEANS.values()], rows),
        "Change if a policy trained on the approximation runs on the exact robot instead of the approximation:",
        markdown(["robot", *MEANS.values()], changes),
    ])  # fmt: skip
