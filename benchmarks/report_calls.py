"""Tables of calls: the functions of a control cycle, motions, and the overhead of a call; for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where


def everyday(results: dict[str, Any]) -> str:
    """Return the table of ``everyday.py``: ratios, and all functions once."""
    robots = results["robots"]
    names = next(iter(robots.values()))["ratio"]
    rows = [[f"`{name}`", *(f"{r['ratio'][name]:.2f}" for r in robots.values())] for name in names]
    once = [r["once"] for r in robots.values()]
    rows.append(["each once, this package / Pinocchio [us]", *(f"{x['pc']:.0f} / {x['pin']:.0f}" for x in once)])
    return "\n\n".join([
        where(results),
        "Time for the exact robot in this package, divided by the time of Pinocchio's function of the same name for "
        "the approximate robot. For robots with closed loops, Pinocchio computes the open spanning tree. Below 1, this "
        "package is faster.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
    ])  # fmt: skip


def moves(results: dict[str, Any]) -> str:
    """Return the table of ``moves.py``."""
    robots = results["robots"]
    rows = []
    for name in ("integrate", "difference", "project", "project, one held", "computeStaticTorque"):
        times = [r["moves"]["times"][f"pc.{name}"]["median_us"] for r in robots.values()]
        rows.append([f"`{name}`".replace(", one held`", "`, one joint held"), *(f"{t:.2f}" for t in times)])
    for method in ("semi_implicit", "rk4"):
        times = [r["steps"][method]["beyond_function_us"] for r in robots.values()]
        rows.append([f"step of `simulate` with a torque function, `{method}`", *(f"{t:.1f}" for t in times)])
    return "\n\n".join([
        where(results),
        "Time in microseconds. The steps of the simulation exclude the time of the torque function itself.",
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
        "Each cell contains *empty, overhead of total* in microseconds, with the generic kernels. *Empty* is the time "
        "of a call whose kernel does nothing. *Overhead* is the total time of a call minus the time of its kernel in a "
        "compiled loop. The overhead is larger than the empty call, because the kernel runs slower after Python code, "
        "which changes the caches and the branch prediction.",
        markdown(["", *(f"`{name}`" for name in robots)], rows),
    ])  # fmt: skip
