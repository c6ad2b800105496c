"""The tables of ``mujoco_files.py``."""

from __future__ import annotations

from typing import Any

from report_loops import markdown


def files(results: dict[str, Any]) -> str:
    """Return the errors of the files of ``pc.to_mjcf`` in MuJoCo."""
    robots = results["robots"]
    steps = next(iter(next(iter(robots.values()))["files"].values()))
    head = [
        "robot", "file", "moves [rad]", *(f"{s['integrator']}, {1e3 * s['step']:g} ms" for s in steps),
        "open by [m, rad]",
    ]  # fmt: skip
    rows = [
        [f"`{name}`", rung, f"{found['motion']:.2f}", *(f"{s['largest']:.1e}" for s in errors),
         f"{errors[-1]['opening']:.0e}" if errors[-1]["opening"] else "-"]
        for name, found in robots.items()
        for rung, errors in found["files"].items()
    ]  # fmt: skip
    own = max(found["here"] for found in robots.values())
    return (
        f"{markdown(head, rows)}\n\nLargest error of an independent joint over 2 s, [rad]; the last column is how open "
        f"the equalities are at the end, with the shortest step. What it is compared with differs by {own:.0e} rad at "
        f"most from the same with four times the step. MuJoCo {results['mujoco']}, Pinocchio {results['pin']}; "
        f"{results['machine']['date']}. Torques and starts: `benchmarks/mujoco_files.py`."
    )
