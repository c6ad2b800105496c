"""Tables of batches of everything, for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where

GOALS = {"rnea": 10.0, "aba": 15.0}
"""Smallest time of Pinocchio's batches over ours per thread, with 8 lanes."""
LOOPS, SINGLE = ("tello", "four_bar"), 6.0
"""Robots with loops, and the smallest time of their single call over that of a row; ``rnea`` and ``aba``."""
THREADS = 1.7
"""Smallest time on one thread over that on two."""
LINK = 1.10
"""Largest time of a kernel per link of a long chain over that of a short one."""


def tables(results: dict[str, Any]) -> str:
    """Return the tables of ``batches.py``."""
    robots = results["robots"]
    functions = list(next(iter(robots.values())))
    heads = ["", *(f"`{name}`" for name in robots)]
    times = [
        [
            f"`{f}`",
            *(f"{r[f]['ns']['1 threads'] / 1e3:.2f} (**{r[f]['ratio']['single']:.1f}**)" for r in robots.values()),
        ]
        for f in functions
    ]
    two = [[f"`{f}`", *(f"{r[f]['ratio']['two threads']:.2f}" for r in robots.values())] for f in functions]
    many = [[f"`{f}`", *(f"{x[f]:.2f}" for x in results["shared"].values())] for f in ("rnea", "aba")]
    peers = [
        [f"`{f}`, {threads} thread{'s' * (threads > 1)}", *(
            f"{r[f]['ratio'][f'Pinocchio, {threads}']:.1f}" if f"Pinocchio, {threads}" in r[f]["ratio"] else "-"
            for r in robots.values()
        )]
        for f in GOALS
        for threads in (1, 2)
    ]  # fmt: skip
    links = results["links"]
    short, long = links["lengths"]
    lines = [
        [f"`{name}`", f"{links['ns'][f'{name} {short}']:.1f}", f"{links['ns'][f'{name} {long}']:.1f}", f"{ratio:.2f}"]
        for name, ratio in links["ratio"].items()
    ]
    return "\n\n".join([
        where(results),
        f"Time per row in microseconds, for {results['effort']['rows']} rows on one thread. In parentheses: the time "
        "of the function for one state, called in a Python loop, divided by the time per row. `simulate` performs 20 "
        "steps.",
        markdown(heads, times),
        "Time on one thread divided by the time on two threads:",
        markdown(heads, two),
        f"The same ratio for {results['many']} rows, where the overhead of the call and of the threads is negligible:",
        markdown(heads, many),
        "Time of Pinocchio's batches for the approximate robot divided by the time of `pc.batch` for the exact robot, "
        "with the same number of threads:",
        markdown(heads, peers),
        f"Time per link in nanoseconds, for geared chains of {short} and {long} links: kernels for one state without "
        "call overhead, and kernels of `pc.batch`.",
        markdown(["", f"{short} links", f"{long} links", "ratio"], lines),
        markdown(["", "measured", "goal", ""], goals(results)),
    ])  # fmt: skip


def goals(results: dict[str, Any]) -> list[list[str]]:
    """Return what was aimed at, and whether it was reached."""
    robots, found = results["robots"], list[tuple[str, float, float, bool]]()
    for f, least in GOALS.items():
        peers = [x for r in robots.values() if (x := r[f]["ratio"].get("Pinocchio, 1")) is not None]
        if peers and results["lanes"] == 8:
            found.append((f"Pinocchio / `pc.batch.{f}`, at least", min(peers), least, min(peers) >= least))
        own = [robots[name][f]["ratio"]["single"] for name in LOOPS if name in robots]
        if own:
            found.append((f"one state / one row, `{f}`, closed loops, at least", min(own), SINGLE, min(own) >= SINGLE))
    worst = min(min(x.values()) for x in results["shared"].values())
    found.append((f"one thread / two threads, {results['many']} rows, at least", worst, THREADS, worst >= THREADS))
    for name in ("rnea", "aba"):
        x = results["links"]["ratio"][name]
        found.append((f"time per link of `{name}`, long chain / short chain, at most", x, LINK, x <= LINK))
    return [[what, f"{x:.2f}", f"{goal:g}", "met" if met else "not met"] for what, x, goal, met in found]
