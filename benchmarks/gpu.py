"""Batches on a GPU, checked and measured; where there is none it says so, and nothing fails.

python benchmarks/gpu.py [ROBOT ...]   # writes results/gpu.json. Needs pip install '.[cuda]' torch

Results against those of the CPU, in float64 and float32; on a stream of its own, and in a graph, the same to the bit;
states per second from 1e3 to 1e6 rows; and a step of 4096 robots (aba, then integrate) in one graph.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import pin_clusters as pc
from pin_clusters.errors import NotAvailableError

HERE = Path(__file__).parent
ROBOTS = ("mini_cheetah", "mit_humanoid", "tello", "jvrc1", "four_bar")
LIMITS = {"float64": 1e-12, "float32": 1e-4}
GOALS = {"float64": 5e8, "float32": 1e9}
"""Of mini_cheetah: exact forward dynamics per second."""
GOAL_STEP = 50.0  # us
DT = 1e-3


def why_not() -> str:
    """Say what is missing; nothing if there is a GPU."""
    try:
        import torch
    except ImportError:
        return "torch, whose arrays are used here, is not installed"
    if not torch.cuda.is_available():
        return "torch finds no GPU"
    try:
        from pin_clusters.programs.cuda.driver import driver

        driver().architecture(0)
    except NotAvailableError as error:
        return str(error)
    return ""


def states(model: pc.ClusterModel, rows: int) -> list[np.ndarray]:
    """Return q, v and tau of some states about the reference configuration, rows of which repeat."""
    rng = np.random.default_rng(0)
    own = min(rows, 256)
    q = np.tile(model.q_reference, (own, 1))
    q = pc.batch.integrate(model, q, 0.1 * rng.normal(size=(own, model.nv)), threads=2)
    repeated = -(-rows // own)
    return [np.tile(q, (repeated, 1))[:rows], *rng.normal(size=(2, rows, model.nv))]


def here(model: pc.ClusterModel, rows: int, dtype: str) -> list[Any]:
    """Return the same on the GPU."""
    import torch

    return [torch.tensor(x, dtype=getattr(torch, dtype), device="cuda") for x in states(model, rows)]


def errors(model: pc.ClusterModel, dtype: str) -> dict[str, float]:
    """Return how far results are from those of the CPU, over the largest entry of each row: median over rows, worst."""
    q, v, tau = states(model, 1000)
    found = {}
    import torch

    for name, given in (("aba", (q, v, tau)), ("rnea", (q, v, tau)), ("integrate", (q, DT * v)), ("crba", (q,))):
        there = [torch.tensor(x, dtype=getattr(torch, dtype), device="cuda") for x in given]
        got = getattr(pc.batch, name)(model, *there).cpu().numpy().astype(float).reshape(len(q), -1)
        right = getattr(pc.batch, name)(model, *given).reshape(len(q), -1)
        rows = np.abs(got - right).max(axis=1) / np.abs(right).max(axis=1)
        found[name], found[f"{name}, worst row"] = float(np.median(rows)), float(rows.max())
    return found


def streams_and_graphs(model: pc.ClusterModel) -> dict[str, bool]:
    """Return whether a stream of its own, and a graph, give the same bits as the usual stream."""
    import torch

    q, v, tau = here(model, 1000, "float64")
    right, found = pc.batch.aba(model, q, v, tau), {}
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        other = pc.batch.aba(model, q, v, tau)
    side.synchronize()
    found["stream"] = bool(torch.equal(other, right))
    out, graph = torch.zeros_like(v), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        pc.batch.aba(model, q, v, tau, out=out)
    found["not run while it is captured"] = not bool(out.any())
    graph.replay()
    torch.cuda.synchronize()
    found["graph"] = bool(torch.equal(out, right))
    return found


def seconds(call: Any, repeats: int = 20) -> float:
    """Return the least time of a call, by events on its stream."""
    import torch

    best = np.inf
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        end.synchronize()
        best = min(best, 1e-3 * start.elapsed_time(end))
    return float(best)


def throughput(model: pc.ClusterModel, dtype: str) -> dict[str, float]:
    """Return forward dynamics per second, by rows."""
    import torch

    found = {}
    for rows in (1000, 4096, 10_000, 100_000, 1_000_000):
        q, v, tau = here(model, rows, dtype)
        out = torch.empty_like(v)
        found[str(rows)] = rows / seconds(lambda q=q, v=v, tau=tau, out=out: pc.batch.aba(model, q, v, tau, out=out))
    return found


def step(model: pc.ClusterModel, dtype: str, rows: int = 4096) -> float:
    """Return the time of a step of many robots in one graph, in us."""
    import torch

    q, v, tau = here(model, rows, dtype)
    a, q_next, dv = torch.empty_like(v), torch.empty_like(q), torch.empty_like(v)

    def run() -> None:
        pc.batch.aba(model, q, v, tau, out=a)
        torch.add(v, a, alpha=DT, out=dv)
        torch.mul(dv, DT, out=dv)
        pc.batch.integrate(model, q, dv, out=q_next)

    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return 1e6 * seconds(graph.replay, 200)


def measure(robots: tuple[str, ...]) -> dict[str, Any]:
    """Return all of it."""
    import torch

    found: dict[str, Any] = {"device": torch.cuda.get_device_name(), "robots": {}}
    for robot in robots:
        model = pc.load(robot)
        found["robots"][robot] = about = {"streams and graphs": streams_and_graphs(model)}
        for dtype in LIMITS:
            about[dtype] = {
                "errors": errors(model, dtype), "states per second": throughput(model, dtype),
                "step of 4096, us": step(model, dtype),
            }  # fmt: skip
        print(robot, json.dumps(about, indent=1), flush=True)
    return found


def said(found: dict[str, Any]) -> list[str]:
    """Return which limits and goals are missed."""
    missed = []
    for robot, about in found["robots"].items():
        missed += [f"{robot}: {what} fails" for what, good in about["streams and graphs"].items() if not good]
        for dtype, limit in LIMITS.items():
            worst = {name: x for name, x in about[dtype]["errors"].items() if "worst" not in name and not x <= limit}
            missed += [f"{robot}, {dtype}: {name} is off by {x:.1e}" for name, x in worst.items()]
            if robot == "mini_cheetah":
                fastest = max(about[dtype]["states per second"].values())
                if fastest < GOALS[dtype]:
                    missed.append(f"{robot}, {dtype}: {fastest:.2e} states per second, of {GOALS[dtype]:.0e}")
                if about[dtype]["step of 4096, us"] > GOAL_STEP:
                    missed.append(f"{robot}, {dtype}: a step takes {about[dtype]['step of 4096, us']:.0f} us")
    return missed


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    robots = tuple(parser.parse_args(arguments).robots)
    missing = why_not()
    if missing:
        print(f"nothing is measured: {missing}")
        return
    found = measure(robots)
    print("\n".join(said(found)) or "all goals are met")
    if robots == ROBOTS:
        (HERE / "results" / "gpu.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
