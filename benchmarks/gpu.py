"""Check and measure batches on a GPU: here, or on another machine with a bundle.

    python benchmarks/gpu.py [ROBOT ...]   # writes results/gpu.json; needs a GPU and pip install '.[cuda]' torch
    python benchmarks/gpu.py --bundle DIR  # writes CUDA kernels, inputs, expected outputs and DIR/run.py; no GPU needed

Here ``pc.batch`` runs on PyTorch tensors. The script compares results with the CPU in float64 and float32, checks that
another stream and a captured graph give the same bits, and measures states per second from 1e3 to 1e6 rows and a step
of 4096 robots (``aba``, then ``integrate``) in one graph. Without a GPU it prints what is missing.

A bundle needs no installation of this package: ``DIR/run.py`` checks and measures the kernels with Python, NumPy and
the NVIDIA driver, derivatives and vector-Jacobian products included.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import gpu_bundle
import numpy as np
from gpu_run import row_errors

import pin_clusters as pc
from pin_clusters.errors import NotAvailableError

HERE = Path(__file__).parent
ROBOTS = ("mini_cheetah", "mit_humanoid", "tello", "jvrc1", "four_bar")
LIMITS = {"float64": 1e-12, "float32": 1e-4}
GOALS = {"float64": 5e8, "float32": 1e9}
"""Calls of ``aba`` per second, for mini_cheetah."""
GOAL_STEP = 50.0  # us
DT = 1e-3


def why_not() -> str:
    """Return what is missing; an empty text if there is a GPU."""
    try:
        import torch
    except ImportError:
        return "torch, whose arrays are used here, is not installed"
    if not torch.cuda.is_available():
        return "torch finds no GPU"
    try:
        from pin_clusters.export.cuda.driver import driver

        driver().architecture(0)
    except NotAvailableError as error:
        return str(error)
    return ""


def states(model: pc.ClusterModel, rows: int) -> list[np.ndarray]:
    """Return q, v and tau of states about the reference configuration, which repeat after ``gpu_bundle.STATES``."""
    given = gpu_bundle.states(model)
    repeated = -(-rows // gpu_bundle.STATES)
    return [np.tile(given[name], (repeated, 1))[:rows] for name in ("q", "v", "tau")]


def here(model: pc.ClusterModel, rows: int, dtype: str) -> list[Any]:
    """Return the states as tensors on the GPU."""
    import torch

    return [torch.tensor(x, dtype=getattr(torch, dtype), device="cuda") for x in states(model, rows)]


def errors(model: pc.ClusterModel, dtype: str) -> dict[str, float]:
    """Return the errors relative to the CPU (``row_errors``): the median over the rows, and the worst row."""
    q, v, tau = states(model, 1000)
    found = {}
    import torch

    for name, given in (("aba", (q, v, tau)), ("rnea", (q, v, tau)), ("integrate", (q, DT * v)), ("crba", (q,))):
        there = [torch.tensor(x, dtype=getattr(torch, dtype), device="cuda") for x in given]
        rows = row_errors(getattr(pc.batch, name)(model, *there).cpu().numpy(), getattr(pc.batch, name)(model, *given))
        found[name], found[f"{name}, worst row"] = float(np.median(rows)), float(rows.max())
    return found


def streams_and_graphs(model: pc.ClusterModel) -> dict[str, bool]:
    """Return whether another stream and a captured graph give the same bits as the current stream."""
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
    """Return the checks and measurements of robots."""
    import torch

    found: dict[str, Any] = {"device": torch.cuda.get_device_name(), "date": time.strftime("%Y-%m-%d"), "robots": {}}
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
    """Return the limits and goals that are missed."""
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


def write_bundle(given: argparse.Namespace) -> int:
    """Write a bundle as the command line asks; return the exit code."""
    start = time.monotonic()
    try:
        made = gpu_bundle.write(
            given.bundle, given.robots or gpu_bundle.ROBOTS, given.functions, architectures=given.cubins,
            sources_only=given.sources_only,
        )  # fmt: skip
    except NotAvailableError as error:
        print(f"no bundle was written: {error}")
        return 1
    size = sum(path.stat().st_size for path in given.bundle.rglob("*") if path.is_file()) / 2**20
    print(f"{len(made['kernels'])} kernels, {size:.1f} MiB, {time.monotonic() - start:.0f} s: {given.bundle}")
    print(f"on a machine with a GPU: python {given.bundle / 'run.py'}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "robots", nargs="*", help=f"shipped robots (default: {', '.join(ROBOTS)}; without jvrc1 in a bundle)"
    )
    parser.add_argument("--bundle", type=Path, metavar="DIR", help="write a bundle for another machine into DIR")
    parser.add_argument(
        "--functions", nargs="+", choices=gpu_bundle.FUNCTIONS, default=gpu_bundle.FUNCTIONS, help="of the bundle"
    )
    parser.add_argument(
        "--cubins",
        nargs="*",
        default=gpu_bundle.ARCHITECTURES,
        metavar="ARCHITECTURE",
        help="architectures of the bundle's cubins (default: sm_90); other GPUs compile its PTX",
    )
    parser.add_argument(
        "--sources-only",
        action="store_true",
        help="write a bundle without PTX and cubins, which needs no NVRTC but runs only with --cpu",
    )
    given = parser.parse_args(arguments)
    if given.bundle:
        return write_bundle(given)
    robots = tuple(given.robots) or ROBOTS
    missing = why_not()
    if missing:
        print(f"nothing is measured: {missing}")
        return 0
    found = measure(robots)
    print("\n".join(said(found)) or "all goals are met")
    if robots == ROBOTS:
        (HERE / "results" / "gpu.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
