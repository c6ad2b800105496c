"""Measure batches of everything: ``python benchmarks/batches.py [--quick] [--robots NAME ...]``.

Each function of ``pc.batch`` on one thread and on two, beside the function of one state in a loop of Python, and, for
``rnea`` and ``aba``, Pinocchio's batches of the approximate robot (``baselines.armature_model``) on as many threads.
Rows are different states; results go to the same arrays each time. Then the kernels of ``aba`` and ``rnea`` alone, per
link of chains that fit a cache and that do not.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import operational
import pinocchio as pin
import timing

import pin_clusters as pc
from pin_clusters import batch
from pin_clusters.approximations.armature import independent_q
from pin_clusters.batch._program import Each, Program, Workspace
from pin_clusters.compiler import entry_points as kernels
from pin_clusters.files import readers as loaders
from pin_clusters.verification import baselines
from pin_clusters.verification.timing import Call, Timing, interleaved

RESULTS = Path(__file__).parent / "results" / "batches.json"
ROBOTS = ("mini_cheetah", "mit_humanoid", "jvrc1", "tello", "four_bar", "planar_leg_linkage")
ARMATURE = ("mini_cheetah", "mit_humanoid", "jvrc1")
"""Robots that Pinocchio can approximate."""
FUNCTIONS = (
    "rnea", "aba", "nonLinearEffects", "crba", "computeMinverse", "inverse_operational_inertia", "forwardKinematics",
    "integrate", "project", "simulate", "computeRNEADerivatives", "computeABADerivatives",
)  # fmt: skip
LARGE = ("simulate", "computeRNEADerivatives", "computeABADerivatives")
"""Of which a row is much work."""
THREADS = (1, 2)
LENGTHS = (24, 1000)
"""Of chains."""
STEPS, SHARE = 20, 16
"""Of a simulation; of how many times less rows there are then."""
MANY = 65536
"""Rows of which the price of a call and of waking a thread is no part."""
FULL = {"repeats": 15, "block": 5e-3, "rows": 4096}
QUICK = {"repeats": 3, "block": 1e-3, "rows": 256}


class States:
    """States of a robot near its neutral pose, and what is computed of them."""

    def __init__(self, model: pc.ClusterModel, rows: int) -> None:
        rng, start = np.random.default_rng(0), pc.neutral(model)
        spread = 0.1 / max(1.0, float(np.abs(pc.coupling_jacobian(model, model.createData(), start)).max()))
        self.model, self.spread = model, spread
        self.q = batch.integrate(model, np.tile(start, (rows, 1)), spread * rng.standard_normal((rows, model.nv)))
        self.v, self.x = rng.standard_normal((2, rows, model.nv))
        self.frames = [model.getFrameId(model.names[j]) for j in operational.tips(model.tree)]
        # near the couplings and loops, as after a step of somebody else
        self.near = self.q + 1e-4 * spread * rng.standard_normal(self.q.shape)

    def arguments(self, name: str) -> tuple[list[np.ndarray], list[Any]]:
        """Return what is a row per state, and what is the same for all."""
        q, v, x = self.q, self.v, self.x
        return {
            "rnea": ([q, v, x], []), "aba": ([q, v, x], []), "nonLinearEffects": ([q, v], []), "crba": ([q], []),
            "computeMinverse": ([q], []), "inverse_operational_inertia": ([q], [self.frames]),
            "forwardKinematics": ([q], []), "integrate": ([q, 0.1 * self.spread * v], []), "project": ([self.near], []),
            "simulate": ([q, 0.0 * v, 0.0 * x], [STEPS * 1e-4, 1e-4]),
            "computeRNEADerivatives": ([q, v, x], []), "computeABADerivatives": ([q, v, x], []),
        }[name]  # fmt: skip

    def calls(self, name: str) -> tuple[dict[str, Call], dict[str, int]]:
        """Return the calls of a function, and how many rows each of them has."""
        given, same = self.arguments(name)
        rows = len(self.q) // (SHARE if name in LARGE else 1)
        given = [np.ascontiguousarray(x[:rows]) for x in given]
        f: Callable[..., Any] = getattr(batch, name)
        first = f(self.model, *given, *same)
        out = first[1:] if name == "simulate" else first

        def on(threads: int) -> Any:
            return f(self.model, *given, *same, threads=threads, out=out)

        single, data, few = getattr(pc, name), self.model.createData(), min(rows, max(4, rows // 64))
        before = (self.model,) if name in ("integrate", "project", "simulate") else (self.model, data)

        def one_by_one() -> None:
            for n in range(few):
                single(*before, *(x[n] for x in given), *same)

        found: dict[str, Call] = {f"{threads} threads": (on, (threads,)) for threads in THREADS}
        found["one by one"] = one_by_one, ()
        return found, {**{f"{threads} threads": rows for threads in THREADS}, "one by one": few}

    def parallel(self, name: str) -> dict[str, Call]:
        """Return the same with Pinocchio's batches, on the approximate robot."""
        tree = baselines.armature_model(self.model, "diagonal")
        # Pinocchio wants a state per column
        columns = (np.asfortranarray(x.T) for x in (self.q[:, independent_q(self.model, tree)], self.v, self.x))
        pool, given = pin.ModelPool(tree, max(THREADS)), list(columns)
        out, f = np.empty_like(given[1]), getattr(pin, f"{name}InParallel")
        return {f"Pinocchio, {threads} threads": (f, (threads, pool, *given, out)) for threads in THREADS}


def measure(model: pc.ClusterModel, *, repeats: int, block: float, rows: int, parallel: bool) -> dict[str, Any]:
    """Time all functions of a robot: nanoseconds per row, and ratios."""
    states, found = States(model, rows), {}
    for name in FUNCTIONS:
        calls, sizes = states.calls(name)
        if parallel and name in ("rnea", "aba"):
            more = states.parallel(name)
            calls, sizes = {**calls, **more}, {**sizes, **dict.fromkeys(more, rows)}
        t = {
            k: Timing(x.samples / sizes[k], x.calls)
            for k, x in interleaved(calls, repeats=repeats, block=block).items()
        }
        ratio = {"single": t["one by one"].ratio(t["1 threads"]), "two threads": t["1 threads"].ratio(t["2 threads"])}
        for threads in THREADS if "Pinocchio, 1 threads" in t else ():
            ratio[f"Pinocchio, {threads}"] = t[f"Pinocchio, {threads} threads"].ratio(t[f"{threads} threads"])
        found[name] = {
            "ns": {k: round(1e9 * x.median, 1) for k, x in t.items()},
            "ratio": {k: round(x, 3) for k, x in ratio.items()},
        }
    return found


def shared(model: pc.ClusterModel, many: int, *, repeats: int, block: float, rows: int) -> dict[str, float]:
    """Time many rows of ``rnea`` and ``aba`` on one thread and on two; the ratio of each."""
    states, found = States(model, rows), {}
    given = [np.tile(x, (max(1, many // rows), 1)) for x in (states.q, states.v, states.x)]
    out = np.empty_like(given[1])
    for name in ("rnea", "aba"):
        f = getattr(batch, name)
        calls: dict[str, Call] = {
            f"{threads}": (lambda threads, f=f: f(model, *given, threads=threads, out=out), (threads,))
            for threads in THREADS
        }
        t = interleaved(calls, repeats=repeats, block=block)
        found[name] = round(t["1"].ratio(t["2"]), 3)
    return found


def per_link(*, repeats: int, block: float, rows: int) -> dict[str, Any]:
    """Time the kernels of ``aba`` and ``rnea`` alone per link of chains: of one state, and of packs."""
    calls: dict[str, Call] = {}
    parts: dict[str, int] = {}
    for n in LENGTHS:
        model, count = operational.chain(n), max(8, rows // n // 8 * 8)
        rng = np.random.default_rng(0)
        q, v, x = 0.1 * rng.standard_normal((3, count, n))
        out, status = np.empty((count, n)), np.zeros(count, dtype=np.int8)
        for name in ("rnea", "aba"):
            program = Program(status)
            rows_of = [Each(table, (n,)) for table in (q, v, x, out)]
            program.call(getattr(kernels, name), 1, Workspace(model).tables(np.zeros(n)), *rows_of)
            calls[f"{name} {n}"] = program.ready(), (0, count)
            function = getattr(batch, name)
            calls[f"batch.{name} {n}"] = _into, (function, model, q, v, x, out)
            parts |= dict.fromkeys((f"{name} {n}", f"batch.{name} {n}"), count * n)
    t = {
        k: Timing(x.samples / parts[k], x.calls)
        for k, x in interleaved(calls, repeats=repeats, block=block).items()
    }  # fmt: skip
    short, long = LENGTHS
    names = ("rnea", "aba", "batch.rnea", "batch.aba")
    return {
        "lengths": LENGTHS,
        "ns": {k: round(1e9 * x.median, 2) for k, x in t.items()},
        "ratio": {name: round(t[f"{name} {long}"].ratio(t[f"{name} {short}"]), 3) for name in names},
    }


def _into(function: Callable[..., Any], model: pc.ClusterModel, q: Any, v: Any, x: Any, out: Any) -> None:
    function(model, q, v, x, out=out)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows and repeats; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=ROBOTS, choices=ROBOTS)
    parser.add_argument("--output", type=Path, help="JSON file (default: results/batches.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    effort, many = (QUICK, QUICK["rows"]) if chosen.quick else (FULL, MANY)
    results: dict[str, Any] = {"machine": timing.machine(), "effort": effort, "many": many, "lanes": batch.lanes}
    results |= {"robots": {}, "shared": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = loaders.load(name)
        results["robots"][name] = found = measure(model, **effort, parallel=name in ARMATURE)
        print(f"\n{name}: ns per row")
        for function, x in found.items():
            print(f"  {function:28}", *(f"{k} {y:9.0f} " for k, y in x["ns"].items()), x["ratio"])
        results["shared"][name] = shared(model, many, **effort)
    print("\nshared:", results["shared"])
    results["links"] = per_link(**effort)
    print("\nper link:", results["links"])
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
