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
        "Error in float32, divided by the largest entry of the result in float64: median and worst of "
        f"{results['states']} states around the reference pose. The states are rounded to float32. `backward`: the "
        "vector-Jacobian product of `aba`.",
        markdown(["robot", *heads], rows),
    ])  # fmt: skip


def step(results: dict[str, Any]) -> str:
    """Return the table of the step of many robots."""
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
    heads = ["", "step [ms]", "step and gradient [ms]", "step per robot [ns]", "step and gradient per robot [ns]",
             "memory [MiB]", "memory per robot [B]"]  # fmt: skip
    return "\n\n".join([
        f"One step of {n} robots (`mini_cheetah`) on one thread, smallest time of many. Each robot has "
        f"{found['inputs']} inputs: configuration, velocity, torque and inertial parameters. Memory: the inputs that "
        "are stored for the gradient. Intermediate results are not stored.",
        markdown(heads, rows),
        where(results) + f" PyTorch {found['torch']}.",
    ])  # fmt: skip
