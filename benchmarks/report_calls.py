"""Tables of calls: the functions of a control cycle, moves, and the price of a call; for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where


def everyday(results: dict[str, Any]) -> str:
    """Return the table of ``everyday.py``: ratios, and all functions once."""
    robots = results["robots"]
    names = next(iter(robots.values()))["ratio"]
    rows = [[f"`{name}`", *(f"{r['ratio'][name]:.2f}" for r in robots.values())] for name in names]
    once = [r["once"] for r in robots.values()]
    rows.append(["all once, here / Pinocchio, us", *(f"{x['pc']:.0f} / {x['pin']:.0f}" for x in once)])
    return "\n\n".join([
        where(results),
        "Time over that of Pinocchio's function of the same name, on the approximate robot (on the spanning tree where "
        "there are closed loops); below 1, exact is faster.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
    ])  # fmt: skip


def moves(results: dict[str, Any]) -> str:
    """Return the table of ``moves.py``."""
    robots = results["robots"]
    rows = []
    for name in ("integrate", "difference", "project", "project, one held", "computeStaticTorque"):
        times = [r["moves"]["times"][f"pc.{name}"]["median_us"] for r in robots.values()]
        rows.append([name, *(f"{t:.2f}" for t in times)])
    for method, label in (("semi_implicit", "step of `simulate` under a function, semi_implicit"), ("rk4", "rk4")):
        rows.append([label, *(f"{r['steps'][method]['beyond_function_us']:.1f}" for r in robots.values())])
    return "\n\n".join([
        where(results),
        "Microseconds; steps without the time of the user's function itself.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
    ])  # fmt: skip


def prices(results: dict[str, Any]) -> str:
    """Return the table of ``prices.py``."""
    robots = results["robots"]
    rows = [
        [
            f"`{name}`",
            *(
                f"{x['own']['median_us']:.2f}, {x['price_us']:.2f} of {x['call']['median_us']:.2f}"
                for x in (r[name] for r in robots.values())
            ),
        ]
        for name in next(iter(robots.values()))
    ]
    return "\n\n".join([
        where(results),
        "The price of a call from Python [us]: the time of a call whose kernel does nothing; what a call takes beyond "
        "its kernel in a loop of nothing else, of its whole time. The difference is what the kernel loses because "
        "Python ran before it: caches and predicted branches.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
    ])  # fmt: skip
