"""The tables of ``mujoco_files.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown, where


def files(results: dict[str, Any]) -> str:
    """Return the errors of the files of ``pc.to_mjcf`` in MuJoCo."""
    robots = results["robots"]
    steps = next(iter(next(iter(robots.values()))["files"].values()))
    head = [
        "robot", "file", "motion [rad]", *(f"{s['integrator']}, {1e3 * s['step']:g} ms" for s in steps),
        "gap [m, rad]",
    ]  # fmt: skip
    rows = [
        [f"`{name}`", level, f"{found['motion']:.2f}", *(f"{s['largest']:.1e}" for s in errors),
         f"{errors[-1]['opening']:.0e}" if errors[-1]["opening"] else "-"]
        for name, found in robots.items()
        for level, errors in found["files"].items()
    ]  # fmt: skip
    own = max(found["here"] for found in robots.values())
    return (
        f"{where(results)}\n\n{markdown(head, rows)}\n\n"
        "The errors are the largest errors of an independent joint over 2 s [rad]. The last "
        "column is the gap of the equality constraints at the end, with the shortest time step. The reference solution "
        f"changes by at most {own:.0e} rad if its time step is four times longer. MuJoCo {results['mujoco']}. "
        "`benchmarks/mujoco_files.py` defines torques and "
        "initial states."
    )
