"""Measure moves and steps: ``python benchmarks/moves.py [--quick] [--robots NAME ...]``; half a minute.

- integrate, difference: of a step of 0.01 times a random velocity, beside Pinocchio's function on the spanning tree,
  which knows neither couplings nor loops;
- project: from 0.01 off (rad and m alike), and with one joint held;
- static torque: under random forces on all bodies, beside Pinocchio's on the spanning tree; and its price, the time of
  a call from Python without that of the kernel, which a loop in Numba calls;
- steps of ``pc.simulate`` under a function that gives torques: the time of a step without that of the function itself,
  and beside the step under constant torques, whose loop calls nothing.

All functions of a robot are timed in alternation (``pin_clusters/verification/timing.py``).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import kernel_loop
import numpy as np
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters.files import readers as loaders
from pin_clusters.verification.timing import Call, Timing, interleaved

RESULTS = Path(__file__).parent / "results" / "moves.json"
ROBOTS = ("four_bar", "teleop_arm", "mini_cheetah", "mit_humanoid", "jvrc1", "tello")
FULL = {"repeats": 61, "block": 2e-3, "steps": 1000}
QUICK = {"repeats": 5, "block": 5e-4, "steps": 100}
METHODS = {"semi_implicit": 1, "rk4": 4}
"""Calls of the function per step."""
DT = 1e-4


def moves(model: pc.ClusterModel, effort: dict[str, Any]) -> dict[str, Any]:
    """Time integrate, difference, project and static torques of one robot."""
    rng, tree = np.random.default_rng(0), model.tree
    start = pc.neutral(model)
    v = 0.01 * rng.standard_normal(model.nv)
    q = pc.integrate(model, start, v)
    v_tree = pin.difference(tree, start, q)
    off = pin.integrate(tree, q, 0.01 * rng.standard_normal(tree.nv))
    held = model.independent_joints[-1]
    data, own, rest = model.createData(), tree.createData(), np.zeros(model.nv)
    fext = rng.standard_normal((model.njoints, 6))
    theirs = pin.StdVec_Force()
    theirs.extend(pin.Force(f) for f in fext)
    pc.computeStaticTorque(model, data, q, fext)
    kernel = data._kernels["rnea"].function(), (data._pointers["forced"].address, q, rest, rest, np.zeros(model.nv))
    calls: dict[str, Call] = {
        "pc.integrate": (pc.integrate, (model, start, v)),
        "pin.integrate": (pin.integrate, (tree, start, v_tree)),
        "pc.difference": (pc.difference, (model, start, q)),
        "pin.difference": (pin.difference, (tree, start, q)),
        "pc.project": (pc.project, (model, off)),
        "pc.project, one held": (pc.project, (model, off, held)),
        "pc.computeStaticTorque": (pc.computeStaticTorque, (model, data, q, fext)),
        "pin.computeStaticTorque": (pin.computeStaticTorque, (tree, own, q, theirs)),
        "kernel of static torques": kernel_loop.of_kernel(kernel),
    }
    t = interleaved(calls, repeats=effort["repeats"], block=effort["block"])
    loop = t["kernel of static torques"]
    t["kernel of static torques"] = Timing(loop.samples / kernel_loop.CALLS, loop.calls)
    price = t["pc.computeStaticTorque"].samples - t["kernel of static torques"].samples
    return {
        "times": {name: timing.number(x) for name, x in t.items()},
        "ratio": {
            name: round(t[f"pc.{name}"].ratio(t[f"pin.{name}"]), 4)
            for name in ("integrate", "difference", "computeStaticTorque")
        },
        "price_us": round(1e6 * float(np.median(price)), 4),
    }


def steps(model: pc.ClusterModel, effort: dict[str, Any]) -> dict[str, Any]:
    """Time steps of a simulation under a function, per method."""
    q, zero, n = pc.neutral(model), np.zeros(model.nv), effort["steps"]
    found: dict[str, Any] = {}

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return zero

    def run(tau: Any, method: str, steps: int) -> None:
        pc.simulate(model, q, zero, tau, steps * DT, DT, method=method, record=10**6)

    for method, stages in METHODS.items():
        calls: dict[str, Call] = {
            "function": (run, (torque, method, n + 1)),
            "function, start": (run, (torque, method, 1)),
            "constant": (run, (zero, method, n + 1)),
            "constant, start": (run, (zero, method, 1)),
            "itself": (torque, (0.0, q, zero)),
        }
        t = interleaved(calls, repeats=max(3, effort["repeats"] // 4), block=effort["block"])
        step, constant = ((t[x].samples - t[f"{x}, start"].samples) / n for x in ("function", "constant"))
        itself = stages * t["itself"].samples
        found[method] = {
            name: round(1e6 * float(np.median(x)), 3)
            for name, x in {
                "step_us": step,
                "function_us": itself,
                "beyond_function_us": step - itself,
                "constant_us": constant,
                "price_us": step - itself - constant,
            }.items()
        }
    return found


def show(robot: str, found: dict[str, Any]) -> None:
    """Print the numbers of one robot."""
    print(f"\n{robot}: nv = {found['nv']} of {found['nv_tree']}")
    for name, t in found["moves"]["times"].items():
        print(f"  {name:28} {t['median_us']:9.3f} us   min {t['min_us']:9.3f}   spread {100 * t['spread']:4.1f} %")
    print("  ratios to Pinocchio:", found["moves"]["ratio"])
    print(f"  price of a static torque: {found['moves']['price_us']:.3f} us")
    for method, numbers in found["steps"].items():
        print(f"  step, {method}:", numbers)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=ROBOTS, help=f"default: {', '.join(ROBOTS)}")
    parser.add_argument("--output", type=Path, help="JSON file (default: results/moves.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.robots if name not in loaders.robots()]
    if unknown:
        parser.error(f"unknown robot {unknown[0]!r}; known: {', '.join(loaders.robots())}")
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "robots": {}}
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = pc.load(name)
        found = {"nv": model.nv, "nv_tree": model.tree.nv}
        found |= {"moves": moves(model, effort), "steps": steps(model, effort)}
        results["robots"][name] = found
        show(name, found)
    output = chosen.output or (None if chosen.quick else RESULTS)
    timing.write(results, output)
    if output is not None:
        print(f"\nwritten: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
