"""Measure the price of calls: ``python benchmarks/prices.py [--quick] [--robots NAME ...]``; a minute.

The price is the time of a call from Python without that of the kernel, which a loop in Numba calls: checks, the result
and its memory; and what the kernel loses, because Python ran in between: caches, predicted branches. To tell these two
apart, the call is timed with a kernel that does nothing, too. All are timed in alternation
(``pin_clusters/verification/timing.py``). Kernels are those by tables (``pc.engine("tables")``), in the loop and in the
calls: what stands around code for one robot is the same.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import kernel_loop
import numba
import numpy as np
import timing

import pin_clusters as pc
from pin_clusters.compiler.entry_points import Kernel
from pin_clusters.compiler.operations import DIRECT_FUNCTIONS
from pin_clusters.files import readers as loaders
from pin_clusters.verification.timing import Timing, interleaved

RESULTS = Path(__file__).parent / "results" / "prices.json"
ROBOTS = ("four_bar", "teleop_arm", "mini_cheetah", "mit_humanoid", "jvrc1", "tello")
FULL = {"repeats": 61, "block": 1e-3}
QUICK = {"repeats": 5, "block": 3e-4}


def idle(kernel: Kernel) -> int:
    """Return the address of what is called like a kernel, and does nothing."""
    signature = kernel.source.signature()
    dispatcher = numba.njit([signature])(_NOTHING[len(signature.args)])
    _kept.append(dispatcher)
    (found,) = dispatcher.overloads.values()
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


_NOTHING = {3: lambda at, q, x: 0, 5: lambda at, q, v, x, out: 0}
_kept: list[Any] = []


def measure(model: pc.ClusterModel, *, repeats: int, block: float) -> dict[str, Any]:
    """Time all functions with machine code of one robot."""
    rng = np.random.default_rng(0)
    nv = model.nv
    with pc.engine("tables"):  # as in the loop
        data, empty = model.createData(), model.createData()
    given = {"q": pc.integrate(model, pc.neutral(model), 0.1 * rng.standard_normal(nv)), "v": rng.standard_normal(nv)}
    given |= {"0": np.zeros(nv), "f": rng.standard_normal((model.njoints, 6))}
    calls: dict[str, Any] = {}
    for entry in DIRECT_FUNCTIONS:
        arguments = [given[x] for x in entry.sizes if x != "0"]
        function = getattr(pc, entry.name)
        function(model, data, *arguments)
        room = {"vector": np.zeros(nv), "matrix": np.zeros((nv, nv))}.get(entry.operation.result)
        inside = [given[x] for x in entry.sizes if x != "f"]
        kernel = data._kernels[entry.operation.name]
        address = data._pointers[entry.tables].address
        calls[entry.name] = function, (model, data, *arguments)
        function(model, empty, *arguments)
        calls[f"{entry.name} of nothing"] = function, (model, empty, *arguments)
        calls[f"kernel of {entry.name}"] = kernel_loop.of_kernel(
            (kernel.function(), (address, *inside, *([] if room is None else [room])))
        )
    empty._forget_plans()
    with ExitStack() as stack:  # plans that are written here run a kernel that does nothing
        for name in ("_code", "_code_with_forces"):
            stack.enter_context(mock.patch.object(pc.ClusterData, name, lambda data, *x: idle(data._kernels[x[-1]])))
        for entry in DIRECT_FUNCTIONS:
            function, arguments = calls[f"{entry.name} of nothing"]
            function(*arguments)
    t = interleaved(calls, repeats=repeats, block=block)
    found: dict[str, Any] = {}
    for entry in DIRECT_FUNCTIONS:
        loop = t[f"kernel of {entry.name}"]
        inner = Timing(loop.samples / kernel_loop.CALLS, loop.calls)
        low, price, high = np.percentile(t[entry.name].samples - inner.samples, [25, 50, 75])
        found[entry.name] = {
            "call": timing.number(t[entry.name]), "kernel": timing.number(inner), "price_us": round(1e6 * price, 3),
            "spread_us": round(1e6 * (high - low) / 2.0, 3), "own": timing.number(t[f"{entry.name} of nothing"]),
        }  # fmt: skip
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=ROBOTS, choices=loaders.robots())
    parser.add_argument("--output", type=Path, help="JSON file (default: results/prices.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "engine": "tables", "robots": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = loaders.load(name)
        results["robots"][name] = found = measure(model, **effort)
        print(f"\n{name}: us per call, of that the kernel, price; call with a kernel that does nothing")
        for function, x in found.items():
            call, kernel = x["call"]["median_us"], x["kernel"]["median_us"]
            print(
                f"  {function:28} {call:8.3f} {kernel:8.3f} {x['price_us']:8.3f} +- {x['spread_us']:.3f}"
                f" {x['own']['median_us']:8.3f}"
            )
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
