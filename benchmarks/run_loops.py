"""Measure closed loops against Pinocchio: ``python benchmarks/run_loops.py [--quick] [--robots NAME ...]``."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import loop_cases
import loop_timing
import timing

import pin_clusters as pc

RESULTS = Path(__file__).parent / "results" / "loops.json"


def measure(robots: list[str], effort: dict[str, Any]) -> dict[str, Any]:
    """Measure the chosen robots, each in every section that has it."""
    single = {"repeats": effort["repeats"], "block": effort["block"]}
    found: dict[str, Any] = {"rivalry": {}, "project": {}, "batch": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        for name in robots:
            if name in loop_cases.RIVALRY:
                found["rivalry"][name] = loop_timing.rivalry(loop_cases.RIVALRY[name], **single)
                show(name, found["rivalry"][name])
            if name == "tello":
                found["tello"] = loop_timing.tello(**single)
                show(name, found["tello"])
            if name in loop_cases.PROJECTED:
                found["project"][name] = loop_timing.projections(name, **single)
                show(f"{name}, project", found["project"][name])
            if name in loop_cases.BATCHED:
                found["batch"][name] = loop_timing.batches(name, **single, size=effort["states"])
                show(f"{name}, batch", found["batch"][name])
    return found


def show(name: str, found: dict[str, Any]) -> None:
    """Print the numbers of one robot."""
    print(f"\n{name}")
    for solver, r in found.get("rivals", {}).items():
        print(f"  {solver}: {r}")
    for what, t in found["times"].items():
        print(f"  {what:28} {t['median_us']:9.3f} us   min {t['min_us']:9.3f}   spread {100 * t['spread']:4.1f} %")
    for gate in found.get("gates", ()):
        verdict = "met" if gate["met"] else "NOT MET"
        print(f"  {gate['what']:50} {gate['value']:7.3f}   goal {gate['limit']:<5g} {verdict}")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks."""
    known = [*loop_cases.RIVALRY, "tello"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=known, help=f"of {', '.join(known)}")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/loops.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.robots if name not in known]
    if unknown:
        parser.error(f"unknown robot {unknown[0]!r}; known: {', '.join(known)}")
    effort = loop_cases.QUICK if chosen.quick else loop_cases.FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    results |= measure(chosen.robots, effort)
    output = chosen.output or (None if chosen.quick else RESULTS)
    timing.write(results, output)
    if output is not None:
        print(f"\nwritten: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
