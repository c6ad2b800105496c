"""Tables of the README: validation and speed; ``report.py`` puts them there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from report_loops import markdown, where

EXACT = 1e-9
"""Mechanisms whose files state angles with fewer digits are known to fewer digits, and are left out [rad]."""


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / "results" / name).read_text(encoding="utf-8"))
    return found


def _largest(errors: list[float | None]) -> str:
    return f"{max(e for e in errors if e is not None):.0e}"


def validation() -> str:
    """Return the table of worst errors, and the numbers of tests."""
    trees, loops = _read("accuracy.json"), _read("accuracy_loops.json")
    derivatives, checks = _read("derivatives_accuracy.json")["groups"], _read("reliability.json")["found"]
    mechanisms = [m for m in loops["mechanisms"].values() if m.get("misaligned", 0.0) < EXACT]

    def closed(oracle: str) -> list[str]:
        compared = [m for m in mechanisms if any(e is not None for e in m["worst"].get(oracle, {}).values())]
        errors = [e for m in compared for e in m["worst"][oracle].values()]
        return [f"{len(compared)} mechanisms, {sum(m['states'] for m in compared):,} states", _largest(errors)]

    slopes = [e.get("differences") for g in derivatives.values() for e in g["worst"].values()]
    own = [e for robot in trees["worst"].values() for name, e in robot.items() if not name.startswith("pin.")]
    states = 2 * trees["states_per_robot_and_base"]
    table = markdown(
        ["compared with", "cases", "worst relative error"],
        [
            [
                "Pinocchio, rotors as bodies, projected",
                f"{len(trees['worst'])} robots, {states} states each",
                _largest(own),
            ],
            ["Pinocchio, closed loops, projected", *closed("projection")],
            ["Lagrange multipliers (KKT system)", *closed("KKT")],
            ["MuJoCo's mass matrix and inverse dynamics", *closed("MuJoCo")],
            [
                "derivatives: central differences",
                f"{sum(g['mechanisms'] for g in derivatives.values())} trees, mechanisms and robots",
                _largest(slopes),
            ],
        ],
    )  # fmt: skip
    fuzzed = sum(checks[name]["calls"] for name in ("fuzz", "fuzz_traced", "walk"))
    samples = checks["samples"]
    return (
        f"{table}\n\nEvery change runs more than {checks['tests']['every change'] // 100 * 100:,} tests, which use "
        f"{samples['trees']} random trees and {samples['loops']} mechanisms with closed loops. {fuzzed:,} "
        "fuzzed calls of the C extension agreed bit for bit with Python. [Accuracy](docs/accuracy.md) and "
        "[reliability](docs/reliability.md) have all results."
    )


def speed(table: str, results: dict[str, Any]) -> str:
    """Return the short section on speed: the table of ratios, and batches."""
    gains = [r["batch"]["speedup"]["aba"] for r in results["robots"].values()]
    return "\n\n".join([
        "Time per call from Python in microseconds: the exact robot in pin_clusters / the robot with armature in "
        "Pinocchio = ratio. `nv` is the number of independent velocities; the tree with all rotors has the number in "
        "parentheses. The last column is Pinocchio's time for exact results by projection, divided by the time of "
        "`pc.aba`. The first call generates code for the robot without branches and zeros, so later calls are fast.",
        table,
        f"A batch on one thread (`pc.batch.aba`) takes {min(gains):.0f} to {max(gains):.0f} times less time per state "
        "than `pin.abaInParallel`. [Performance](docs/performance.md) has closed loops, derivatives and contacts.",
        where(results),
    ])  # fmt: skip
