"""Measure specialised models: ``python benchmarks/specialised.py [--quick] [--output FILE]``."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import loop_cases
import loop_timing
import timing

import pin_clusters as pc
from pin_clusters.compiler.machine_code.machine import object_code
from pin_clusters.compiler.specialising.limbs import limbs_of
from pin_clusters.compiler.specialising.module import module_of
from pin_clusters.compiler.specialising.traced_kernels import BY_CALLED_NAME
from pin_clusters.verification.peers import state
from pin_clusters.verification.timing import Call, interleaved

RESULTS = Path(__file__).parent / "results" / "specialised.json"
FUNCTIONS = ("rnea", "aba")
FULL = {"repeats": 241, "block": 5e-4, "states": 1024}
"""Short blocks, many of them: on a machine that others use most are then not interrupted."""
# of what Pinocchio takes for the approximate robot, at most
TREES: dict[str, dict[str, float]] = {
    "mini_cheetah": {"rnea": 0.12, "aba": 0.10},
    "mit_humanoid": {"rnea": 0.25, "aba": 0.18},
    "jvrc1": {"rnea": 0.25, "aba": 0.18},
    "jvrc1_as_published": {},
    "mit_humanoid_leg": {},
    "teleop_arm": {},
}
TELLO = 0.27
"""Goal of ``aba`` of tello, over Pinocchio's of the approximate mit_humanoid."""
LOOPS = {"four_bar": 5.0, "slider_crank": 5.0, "watt_six_bar": 5.0, "six_bar": 5.0, "planar_leg_linkage": 5.0}
"""Goal of the faster one of Pinocchio's constrained algorithms over ``aba``."""
MORE_LOOPS = ("cassie_leg", "ankle_2rsu", "delta", "four_legs")
BATCHES: dict[str, float] = {"mini_cheetah": 25.0, "mit_humanoid": 0.0, "mit_humanoid_leg": 0.0}
"""Goal of ``abaInParallel`` over ``batch.aba``, on one thread."""


def gate(what: str, value: float, limit: float, *, most: bool) -> dict[str, Any]:
    """Return a goal, and whether it is met."""
    met = value <= limit if most else value >= limit
    return {"what": what, "value": round(value, 3), "limit": limit, "most": most, "met": met}


def made(model: pc.ClusterModel) -> dict[str, dict[str, float]]:
    """Return size and CPU time of making each function, nothing of it kept."""
    found = {}
    for name in FUNCTIONS:
        start = time.process_time()
        text = module_of(model, BY_CALLED_NAME[name])
        traced = time.process_time()
        size = len(object_code(text, optimise=False))
        found[name] = {"kB": round(size / 1e3, 1), "trace_s": round(traced - start, 2)}
        found[name]["compile_s"] = round(time.process_time() - traced, 2)
    return found


def tree(name: str, effort: dict[str, Any]) -> dict[str, Any]:
    """Time a robot without loops against the kernels and against Pinocchio on the approximate robot."""
    model = pc.load(name)
    special, one = pc.specialise(model), state(model)
    plain, theirs = one.cluster_calls(), one.pinocchio_calls()
    own = _calls(special, one.q, one.v, one.x)
    calls: dict[str, Call] = {}
    for f in FUNCTIONS:
        calls |= {f: own[f], f"{f} by tables": plain[f], f"pin.{f}": theirs[f]}
    t = interleaved(calls, repeats=effort["repeats"], block=effort["block"])
    ratios = {f: round(t[f].ratio(t[f"pin.{f}"]), 4) for f in FUNCTIONS}
    gains = {f: round(t[f"{f} by tables"].ratio(t[f]), 3) for f in FUNCTIONS}
    gates = [gate(f"{name}: {f}", ratios[f], limit, most=True) for f, limit in TREES[name].items()]
    gates += [gate(f"{name}: {f}, gain", gains[f], 1.0, most=False) for f in FUNCTIONS]
    times = {key: timing.number(x) for key, x in t.items()}
    limbs = [len(group) for group in limbs_of(model)]
    return {"times": times, "ratio": ratios, "gain": gains, "made": made(model), "limbs": limbs, "gates": gates}


def _calls(special: pc.ClusterModel, *given: Any) -> dict[str, Call]:
    """Return calls of a specialised model, with data of their own."""
    functions: dict[str, Callable[..., Any]] = {"rnea": pc.rnea, "aba": pc.aba}
    data = special.createData()
    return {name: (function, (special, data, *given)) for name, function in functions.items()}


def loop(name: str, effort: dict[str, Any]) -> dict[str, Any]:
    """Time a robot with loops against the kernels and Pinocchio's constrained algorithms."""
    model = loop_cases.make(name)
    plain = loop_cases.without_rotors(model)
    samples = loop_timing.states(plain)
    one, special, data = samples[0], pc.specialise(model), model.createData()
    calls: dict[str, Call] = {"aba": _calls(special, *one)["aba"], "aba by tables": (pc.aba, (model, data, *one))}
    against = loop_timing.peers(plain, samples)
    solvers = [s for s in loop_timing.SOLVERS if "workspace" in against[s]]
    for s in solvers:
        work = against[s]["workspace"]
        calls[f"pin.{s}"] = loop_timing.bare_call(work, *loop_timing.prepare(work, one))
    t = interleaved(calls, repeats=effort["repeats"], block=effort["block"])
    faster = min((t[f"pin.{s}"] for s in solvers), key=lambda x: x.median)
    ratio, gain = faster.ratio(t["aba"]), t["aba by tables"].ratio(t["aba"])
    gates = [gate(f"{name}: aba, rival", ratio, LOOPS[name], most=False)] if name in LOOPS else []
    gates.append(gate(f"{name}: aba, gain", gain, 1.0, most=False))
    times = {key: timing.number(x) for key, x in t.items()}
    return {"times": times, "rival": round(ratio, 3), "gain": round(gain, 3), "made": made(model), "gates": gates}


def tello(effort: dict[str, Any]) -> dict[str, Any]:
    """Time tello against Pinocchio on the approximate mit_humanoid."""
    model, rival = pc.load("tello"), state(pc.load("mit_humanoid"))
    (one,) = loop_timing.states(model, 1)
    own = _calls(pc.specialise(model), *one)["aba"]
    calls = {"aba": own, "aba by tables": (pc.aba, (model, model.createData(), *one))}
    t = interleaved(
        calls | {"pin.aba": rival.pinocchio_calls()["aba"]}, repeats=effort["repeats"], block=effort["block"]
    )
    ratio, gain = t["aba"].ratio(t["pin.aba"]), t["aba by tables"].ratio(t["aba"])
    gates = [gate("tello: aba", ratio, TELLO, most=True), gate("tello: aba, gain", gain, 1.0, most=False)]
    times = {key: timing.number(x) for key, x in t.items()}
    return {"times": times, "ratio": round(ratio, 4), "gain": round(gain, 3), "made": made(model), "gates": gates}


def batch(name: str, effort: dict[str, Any]) -> dict[str, Any]:
    """Time rows on one thread against Pinocchio's."""
    model = pc.load(name)
    settings = {"repeats": effort["repeats"], "block": effort["block"], "states": effort["states"]}
    found, before = timing.batches(pc.specialise(model), **settings), timing.batches(model, **settings)
    speedup, times = found["speedup"]["aba"], found["times"]
    # of minima: medians of long blocks favour the shorter one of two on a machine that others share
    least = times["pin.abaInParallel"]["min_us"] / times["pc.batch.aba"]["min_us"]
    gates = [gate(f"{name}: batch.aba", least, BATCHES[name], most=False)] if BATCHES[name] else []
    gates.append(gate(f"{name}: batch.aba, gain", speedup / before["speedup"]["aba"], 1.0, most=False))
    operations = pc.trace(model, "aba").flops
    return found | {"before": before["speedup"], "operations": operations, "gates": gates}


def measure(effort: dict[str, Any], trees: Any = TREES, loops: Any = (*LOOPS, *MORE_LOOPS)) -> dict[str, Any]:
    """Measure all of them."""
    found: dict[str, Any] = {"trees": {}, "loops": {}, "batches": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        for name in trees:
            found["trees"][name] = show(name, tree(name, effort))
        found["tello"] = show("tello", tello(effort))
        for name in loops:
            found["loops"][name] = show(name, loop(name, effort))
        for name in BATCHES:
            found["batches"][name] = show(name, batch(name, effort))
    return found


def show(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Print numbers of one robot, and return them."""
    print(f"\n{name}: {found.get('made', '')}")
    for what, t in found["times"].items():
        print(f"  {what:24} {t['median_us']:9.3f} us   min {t['min_us']:9.3f}   spread {100 * t['spread']:4.1f} %")
    for one in found["gates"]:
        verdict = "met" if one["met"] else "NOT MET"
        print(f"  {one['what']:40} {one['value']:7.3f}   goal {one['limit']:<5g} {verdict}")
    sys.stdout.flush()
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/specialised.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    effort = loop_cases.QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort}
    with pc.engine("tables"):  # what is not specialised
        results |= measure(effort)
    output = chosen.output or (None if chosen.quick else RESULTS)
    timing.write(results, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
