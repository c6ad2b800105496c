"""Measure the speed against Pinocchio: ``python benchmarks/run.py [--quick] [--robots NAME ...]``."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import cases
import timing

import pin_clusters as pc
from pin_clusters.files import readers as loaders

RESULTS = Path(__file__).parent / "results" / "bench.json"


def measure(case: cases.Case, effort: dict[str, Any]) -> dict[str, Any]:
    """Measure one robot and judge its gates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = loaders.load(case.robot)
    single = {"repeats": effort["repeats"], "block": effort["block"]}
    found = timing.single_state(model, **single)
    found["batch"] = timing.batches(model, **single, states=effort["states"])
    found["nv"], found["nv_tree"] = model.nv, model.tree.nv
    found["rotors"] = len(model.rotors)
    found["spin_elements"] = sum(r.spins for r in model.rotors)
    found["gates"] = judge(case, found)
    return found


def judge(case: cases.Case, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare the numbers with the gates; nothing is raised, a slow machine is no error."""
    gates = []

    def gate(what: str, value: float, limit: float, met: bool) -> None:
        gates.append({"what": what, "value": value, "limit": limit, "met": met})

    for name, limit in case.gates.items():
        gate(f"pc.{name} / pin.{name}", found["ratio"][name], limit, found["ratio"][name] <= limit)
    if case.overhead is not None:
        for name, value in found["overhead"].items():
            gate(f"pc.{name} with / without rotors", value, case.overhead, value <= case.overhead)
    if case.projection is not None:
        value = found["projection"]
        gate("projection.aba / pc.aba, at least", value, case.projection, value >= case.projection)
    if case.batch is not None and found["batch"]["lanes"] == 8:
        value = found["batch"]["speedup"]["aba"]
        gate("pin.abaInParallel / pc.batch.aba, at least", value, case.batch, value >= case.batch)
    return gates


def show(robot: str, found: dict[str, Any]) -> None:
    """Print the numbers of one robot."""
    spinning = f"{found['rotors']} rotors, {found['spin_elements']} spin elements"
    print(f"\n{robot}: nv = {found['nv']} of {found['nv_tree']}, {spinning}")
    for name, t in {**found["times"], **found["batch"]["times"]}.items():
        print(f"  {name:28} {t['median_us']:9.3f} us   min {t['min_us']:9.3f}   spread {100 * t['spread']:4.1f} %")
    for gate in found["gates"]:
        verdict = "met" if gate["met"] else "NOT MET"
        print(f"  {gate['what']:46} {gate['value']:7.3f}   gate {gate['limit']:<5g} {verdict}")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks."""
    known = [case.robot for case in cases.CASES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats, no compile times; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=known, help=f"of {', '.join(known)}")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/bench.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.robots if name not in loaders.robots()]
    if unknown:
        parser.error(f"unknown robot {unknown[0]!r}; known: {', '.join(loaders.robots())}")
    by_name = {case.robot: case for case in cases.CASES}
    effort = cases.QUICK if chosen.quick else cases.FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "robots": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        found = measure(by_name.get(name, cases.Case(name)), effort)
        results["robots"][name] = found
        show(name, found)
    if not chosen.quick:
        results["first_call_s"] = timing.first_calls()
        print("\nfirst call in a process [s]:", json.dumps(results["first_call_s"], indent=2))
    output = chosen.output or (None if chosen.quick else RESULTS)
    timing.write(results, output)
    if output is not None:
        print(f"\nwritten: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
