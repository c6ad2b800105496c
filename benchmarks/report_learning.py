"""Tables of functions for learning: float32, and a step of many robots; for ``report.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where


def float32(results: dict[str, Any]) -> str:
    """Return the table of errors of float32."""
    found = results["float32"]
    names = next(iter(found.values()))
    rows = [
        [f"`{robot}`", *(f"{e[name][which]:.0e}" for name in names for which in ("median", "worst"))]
        for robot, e in found.items()
    ]
    heads = [f"{name}: {which}" for name in names for which in ("median", "worst")]
    return "\n\n".join([
        f"Error of float32 over the largest entry of the exact result, median and worst of {results['states']} states "
        "around the reference pose, whose numbers are those of float32. `backward`: products with the derivatives of "
        "`aba`.",
        markdown(["robot", *heads], rows),
    ])  # fmt: skip


def step(results: dict[str, Any]) -> str:
    """Return what a step of many robots takes."""
    if "step" not in results:
        return "Not measured: PyTorch is not installed."
    found = results["step"]
    n, times, kept = found["rows"], found["times"], found["kept_bytes"]
    rows = [
        [
            kind,
            *(f"{times[f'{kind}, {way}']['min_us'] / 1e3:.1f}" for way in ("forward", "and backward")),
            *(f"{1e3 * times[f'{kind}, {way}']['min_us'] / n:.0f}" for way in ("forward", "and backward")),
            f"{kept[kind] / 2**20:.1f}", f"{kept[kind] / n:.0f}",
        ]
        for kind in kept
    ]  # fmt: skip
    heads = ["", "step [ms]", "and its gradient [ms]", "per robot [ns]", "and its gradient [ns]", "kept [MiB]",
             "per robot [B]"]  # fmt: skip
    return "\n\n".join([
        f"{n} Mini Cheetahs, {found['inputs']} numbers each (configuration, velocity, torque, inertial parameters), on "
        "one thread; the least time of many. What is kept for the way back are inputs of functions, not what they "
        "compute on the way.",
        markdown(heads, rows),
        where(results) + f" PyTorch {found['torch']}.",
    ])  # fmt: skip
