"""Measure a step on a ground from Python, by share: ``python benchmarks/ground.py [--quick]``.

Robots land and stand under a PD controller in Python that is called every step. Each run makes the same motion, so the
time of a step is its least over the runs; means and quantiles are over the steps. Kernels are the compiled code, its
calls included; the solver is Pinocchio's, with what hands the system over; Python is the rest, the controller first.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import timing

import pin_clusters as pc
from pin_clusters.simulation._compiled import CompiledMoves
from pin_clusters.simulation.ground.kernel import Steps
from pin_clusters.simulation.ground.points import NOTHING
from pin_clusters.simulation.ground.stops import Stops

RESULTS = Path(__file__).parent / "results" / "ground.json"
SOLES = {f"{side}_ankle": [(x, y, -0.041) for x in (-0.05, 0.1) for y in (-0.03, 0.03)] for side in ("left", "right")}
FEET = {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")}
CROUCH = {"hip_ry": -0.4, "knee": 0.8, "ankle": -0.4}
ROBOTS: dict[str, tuple[Any, dict[str, float], tuple[float, float], float]] = {
    "mini_cheetah": (FEET, {"hip": -0.8, "knee": 1.6}, (60.0, 1.5), 0.05),
    "mit_humanoid": (SOLES, CROUCH, (200.0, 4.0), 0.01),
    "tello": (SOLES, {}, (10.0, 0.2), 0.0),
}
"""Points, pose, gains of position and speed, height above the ground [m]."""
DT = 1e-3
Clock = Callable[[], int]


def prepare(name: str, steps: int) -> tuple[Steps, np.ndarray, np.ndarray, Callable[[], None]]:
    """Return what makes steps of a robot, its start, and its controller."""
    points, pose, (stiffness, damping), above = ROBOTS[name]
    model, ground = pc.load(name), pc.Ground()
    x = np.zeros(model.nv)
    for joint in model.independent_joints[1:]:
        x[model.joint_idx_v(joint)] = next((a for end, a in pose.items() if joint.endswith(end)), 0.0)
    touching = pc.contact_points(model, points)
    q0 = pc.on_ground(model, pc.integrate(model, pc.neutral(model), x), ground, touching, above=above)
    torque = np.zeros((1, model.nv))
    run = Steps(
        CompiledMoves(model, model), ground, touching, Stops(model, any_end=False), NOTHING, dt=DT, steps=steps,
        last=DT, torque=torque, rows=steps, reach=50 * DT, reach_of_stops=0.05, reach_of_guards=0.0, slack=1.0,
    )  # fmt: skip
    (tau,), q, v = torque, run.q, run.v
    joints = [model.own_tree.joints[model.getJointId(joint)] for joint in model.independent_joints[1:]]
    at = np.array([joint.idx_q for joint in joints])
    home = q0[at]

    def control() -> None:
        tau[6:] = stiffness * (home - q[at]) - damping * v[6:]

    return run, q0, np.zeros(model.nv), control


def measure(name: str, steps: int, runs: int) -> dict[str, Any]:
    """Time the steps of a robot."""
    run, q0, v0, control = prepare(name, steps)
    clock, spent = time.perf_counter_ns, np.zeros(3, dtype=np.int64)
    call, systems = run._call, list(run._systems)

    def timed(function: Callable[..., Any], which: int) -> Callable[..., Any]:
        def timed_call(*given: Any) -> Any:
            start = clock()
            found = function(*given)
            spent[which] += clock() - start
            return found

        return timed_call

    total, shares = np.full(steps, np.inf), np.full((steps, 3), np.inf)
    iterations = np.zeros(steps)
    for i in range(2 * runs):
        split = i % 2 == 1
        run._call = timed(call, 0) if split else call
        run._systems = [(timed(x[0], 1), *x[1:]) for x in systems] if split else systems
        for rarely in ("_solve_well", "_put_back") if split else ():
            setattr(run, rarely, timed(getattr(run, rarely), 1))
        run.begin(0, q0, v0)
        for k in range(steps):
            spent[:] = 0
            start = clock()
            control()
            code = run.run(k + 1)
            took = clock() - start
            assert code == 0, code
            iterations[k] = run.iterations[k]
            if split:
                spent[2] = took - spent[0] - spent[1]
                shares[k] = np.minimum(shares[k], spent)
            else:
                total[k] = min(total[k], took)
        for rarely in ("_solve_well", "_put_back") if split else ():
            delattr(run, rarely)
    touched = run.samples[:steps, run.width + len(run.gaps) : run.width + 4 * len(run.gaps)].any(axis=1)
    us = {"mean": total.mean(), "median": np.median(total), "95 %": np.quantile(total, 0.95)}
    if not touched.all():
        us["in flight"] = total[~touched].mean()
    by = dict(zip(("kernels", "solver", "Python"), np.median(shares[touched], axis=0) / 1e3, strict=True))
    return {
        "points": len(run.gaps), "steps": steps, "touching": int(touched.sum()),
        "us": {key: round(float(x) / 1e3, 2) for key, x in us.items()},
        "median share, touching": {key: round(float(x), 2) for key, x in by.items()},
        "iterations": [float(np.median(iterations)), float(iterations.max())],
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs; a first impression")
    parser.add_argument("--robots", nargs="+", metavar="NAME", default=tuple(ROBOTS), choices=tuple(ROBOTS))
    parser.add_argument("--output", type=Path, help="JSON file (default: results/ground.json, unless --quick)")
    chosen = parser.parse_args(arguments)
    results: dict[str, Any] = {"machine": timing.machine(), "dt": DT, "robots": {}}
    print(*(f"{key}: {value}" for key, value in results["machine"].items()), sep="\n")
    for name in chosen.robots:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            found = results["robots"][name] = measure(name, *((200, 2) if chosen.quick else (500, 10)))
        print(f"\n{name}, {found['points']} points", *(f"  {key}: {x}" for key, x in found.items()), sep="\n")
    timing.write(results, chosen.output or (None if chosen.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
