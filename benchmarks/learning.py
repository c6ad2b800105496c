"""Measure functions for learning: ``python benchmarks/learning.py [--quick]``.

The error of float32 on every shipped robot: ``aba``, ``rnea``, and the derivatives of ``aba`` that go backward, against
the kernels, and the latter against float64; per state, over the largest entry. And what a step of 4096 Mini Cheetahs
with masses and inertias of their own takes in PyTorch, where that is installed: time, and memory kept for the way back.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from timing import machine, number

import pin_clusters as pc
from pin_clusters.export.hosts.routines import routine
from pin_clusters.verification.timing import interleaved

RESULTS = Path(__file__).resolve().parent / "results" / "learning.json"
STATES, SPREAD = 500, 0.3  # about the reference pose [rad] or [m], less where loops do not follow
ROWS, DT, SHARE = 4096, 2e-3, 0.2


def near(model: pc.ClusterModel, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return configurations near the reference pose."""
    data, found, spread = model.createData(), list[np.ndarray](), SPREAD
    while len(found) < n:
        try:
            q = pc.integrate(model, model.q_reference, spread * rng.normal(size=model.nv))
        except pc.BranchLost:
            spread *= 0.9
            continue
        if all(loop.K_d < 100.0 for loop in pc.condition(model, data, q)):
            found.append(q)
    return np.array(found)


def errors(model: pc.ClusterModel, rng: np.random.Generator, n: int) -> dict[str, dict[str, float]]:
    """Return median and worst error of float32 over states."""
    q = near(model, rng, n)
    v, x, bar = rng.normal(size=(3, n, model.nv))
    short = [y.astype(np.float32) for y in (q, v, x, bar)]
    q, v, x, bar = (y.astype(np.float64) for y in short)  # the same numbers: what is measured is arithmetic
    q32, v32, x32, _ = short
    if model.closures:  # loops of the rounded ones are open by that
        q = np.array([pc.project(model, y) for y in q])
    backward = routine(model, "aba").backward()
    pairs = {
        "aba": (routine(model, "aba")([q32, v32, x32]).results[0], pc.batch.aba(model, q, v, x)),
        "rnea": (routine(model, "rnea")([q32, v32, x32]).results[0], pc.batch.rnea(model, q, v, x)),
        "aba, backward": tuple(np.hstack(backward(y).results) for y in (short, [q, v, x, bar])),
    }
    found = {}
    for name, (own, exact) in pairs.items():
        good = np.isfinite(exact).all(axis=1)
        error = np.abs(own - exact)[good].max(axis=1) / np.abs(exact)[good].max(axis=1)
        found[name] = {"median": float(np.median(error)), "worst": float(error.max())}
    return found


def steps(quick: bool) -> dict[str, Any] | None:
    """Return what a step of many robots takes; None without PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    model, rng = pc.load("mini_cheetah"), np.random.default_rng(0)
    n = 64 if quick else ROWS
    aba = pc.torch.function(model, "aba", parameters=("inertial",))
    bodies = pc.tracing.values_of(model, "inertial").reshape(-1, 10)
    inertial = (bodies * (1.0 + SHARE * rng.uniform(-1.0, 1.0, (n, len(bodies), 1)))).reshape(n, -1)
    state = near(model, rng, n), *rng.normal(size=(2, n, model.nv)), inertial

    def step(q: Any, v: Any, tau: Any, inertial: Any) -> tuple[Any, Any]:
        v = v + DT * aba(q, v, tau, inertial)
        return pc.torch.integrate(model, q, DT * v), v

    def forward(given: list[Any]) -> None:
        with torch.no_grad():
            step(*given)

    def both(given: list[Any]) -> None:
        q, v = step(*given)
        torch.autograd.grad(q.sum() + v.sum(), given)

    calls, kept = {}, {}
    for kind in (torch.float32, torch.float64):
        given = [torch.tensor(x, dtype=kind, requires_grad=True) for x in state]
        name = str(kind).removeprefix("torch.")
        calls |= {f"{name}, forward": (forward, (given,)), f"{name}, and backward": (both, (given,))}
        sizes: dict[int, int] = {}

        def pack(x: Any, sizes: dict[int, int] = sizes) -> Any:
            sizes[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
            return x

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            step(*given)
        kept[name] = sum(sizes.values())
        both(given)
    timings = interleaved(calls, repeats=5 if quick else 25)
    return {
        "rows": n,
        "inputs": sum(x.shape[1] for x in state),
        "kept_bytes": kept,
        "times": {name: number(t) for name, t in timings.items()},
        "torch": torch.__version__,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, and write ``results/learning.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few robots and states")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    found: dict[str, Any] = {}
    for robot in ["four_bar", "mit_humanoid_leg"] if chosen.quick else pc.robots():
        found[robot] = errors(pc.load(robot), np.random.default_rng(0), 20 if chosen.quick else STATES)
        print(robot, *(f"{name} {e['median']:.0e} {e['worst']:.0e}" for name, e in found[robot].items()), sep=", ")
    results = {"machine": machine(), "states": 20 if chosen.quick else STATES, "float32": found}
    step = steps(chosen.quick)
    if step is None:
        print("PyTorch is not installed: its step is not measured", file=sys.stderr)
    else:
        results["step"] = step
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
