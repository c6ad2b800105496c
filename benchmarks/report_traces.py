"""Tables of the accuracy of traces, for ``report.py``."""

from __future__ import annotations

from typing import Any

import traces
from report_loops import markdown, where


def _pair(mine: dict[str, list[float]], names: tuple[str, ...]) -> str:
    """Return the worst errors of some functions, in float64 and float32."""
    found = [mine[name] for name in names if name in mine]
    if not found:
        return "-"
    double, short = (max(pair[k] for pair in found) for k in (0, 1))
    return f"{double:.0e}, {short:.0e}"


def accuracy(results: dict[str, Any]) -> str:
    """Return the tables of ``traces.py``: robots by groups of functions, functions over all robots, the fuzz."""
    robots, fuzz = results["robots"], results["fuzz"]
    rows = [[f"`{name}`", *(_pair(mine, names) for names in traces.GROUPS.values())] for name, mine in robots.items()]
    functions = [name for names in traces.GROUPS.values() for name in names]
    each = []
    for name in functions:
        found = [(mine[name], robot) for robot, mine in robots.items() if name in mine]
        double, short = (max(found, key=lambda one: one[0][k]) for k in (0, 1))
        each.append([f"`{name}`", f"{double[0][0]:.0e} (`{double[1]}`)", f"{short[0][1]:.0e} (`{short[1]}`)"])
    count = sum(fuzz["kinds"].values())
    random = {kind: n for kind, n in fuzz["kinds"].items() if kind in ("trees", "loops", "families")}
    kinds = f"{', '.join(f'{n} {kind}' for kind, n in random.items())}, {count - sum(random.values())} of the library"
    worst = max(fuzz["worst"].items(), key=lambda pair: pair[1])
    parts = [
        *([where(results)] if "machine" in results else []),
        "Worst error of traced functions in float64 and float32, compared with the generic kernels and divided by "
        f"max(1, largest entry). Each robot has {results['states']} random states with its own base and as many with a "
        "floating base. For functions that invert M, the error in float64 is also divided by max(1, cond(M) / 1000), "
        "and the error in float32 is amplified by cond(M).",
        markdown(["", *traces.GROUPS], rows),
        "Worst error of each function over all robots:",
        markdown(["", "float64", "float32"], each),
        f"Random mechanisms: {count} ({kinds}), {fuzz['floating']} with a floating base, {fuzz['loops']} with closed "
        f"loops, and with external forces if the function accepts them. The worst error is {worst[1]:.0e} "
        f"(`{worst[0]}`). {len(fuzz['refused'])} mechanisms cannot be traced, because they contain compiled functions "
        "of the user.",
    ]
    return "\n\n".join(parts)
