"""Measure a step on a ground from Python, by share, beside MuJoCo's: ``python benchmarks/ground.py [--quick]``.

Robots land and stand under a PD controller in Python that is called every step. Each run makes the same motion, so the
time of a step is its least over the runs; means and quantiles are over the steps. Kernels are the compiled code, its
calls included; the solver is Pinocchio's, with what hands the system over; Python is the rest, the controller first.
``simulate`` is all of ``pc.simulate`` with that controller, over its steps, its arguments and its result included;
``batch`` all of ``pc.batch.simulate`` in one process, of rows that make the same motion by its recorded torques.
MuJoCo steps the exact robot that ``pc.to_mjcf`` writes, damped, with balls of 1 mm at the same points, in between.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import timing
from report_loops import markdown, where

import pin_clusters as pc
from pin_clusters.simulation._compiled import CompiledMoves
from pin_clusters.simulation._settings import Settings
from pin_clusters.simulation.ground.compiled_steps import Steps
from pin_clusters.simulation.ground.near import Stops, World
from pin_clusters.simulation.ground.points import NO_POINTS

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
ROWS = 16
"""Of the batch."""
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
    world = World(model, ground, touching, None, Stops(model, any_end=False))
    given = Settings(
        model, q0, np.zeros(model.nv), torque, DT, steps, steps * DT, "moreau", record=1, dynamics=None, switch=True,
        progress=None, contacts=None, passive=None, world=world,
    )  # fmt: skip
    run = Steps(CompiledMoves(model, model), given, NO_POINTS, torque, steps)
    (tau,), q, v = torque, run.q, run.v
    at = joints_of(model)
    home = q0[at]

    def control() -> None:
        tau[6:] = stiffness * (home - q[at]) - damping * v[6:]

    return run, q0, np.zeros(model.nv), control


def peer(name: str) -> Callable[[int], np.ndarray] | None:
    """Return what times steps of MuJoCo [ns], None without it."""
    try:
        import mujoco
    except ImportError:
        return None
    model = pc.load(name)
    root = ET.fromstring(pc.to_mjcf(model, "exact", timestep=DT))
    for geom in root.iter("geom"):
        geom.attrib.update({"contype": "0", "conaffinity": "0"})
    points = pc.contact_points(model, ROBOTS[name][0])
    for joint, place in zip(points.joints.tolist(), points.places, strict=True):
        (body,) = [b for b in root.iter("body") if any(j.get("name") == model.names[joint] for j in b.findall("joint"))]
        pos = " ".join(map(repr, place.tolist()))
        ET.SubElement(body, "geom", type="sphere", size="1e-3", pos=pos, mass="0", contype="2", conaffinity="1")
    floor = ET.SubElement(root.find("worldbody"), "geom", type="plane", size="9 9 1", contype="1", conaffinity="2")
    there = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    data = mujoco.MjData(there)
    mujoco.mj_forward(there, data)
    balls = there.geom_contype == 2
    floor.set("pos", f"0 0 {float(data.geom_xpos[balls, 2].min()) - 1e-3}")
    there = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    there.dof_damping[6:] = np.maximum(there.dof_damping[6:], 1.0)
    data = mujoco.MjData(there)

    def run(steps: int) -> np.ndarray:
        mujoco.mj_resetData(there, data)
        took, clock = np.zeros(steps), time.perf_counter_ns
        for k in range(steps):
            start = clock()
            mujoco.mj_step(there, data)
            took[k] = clock() - start

        return took if data.ncon else np.full(steps, np.nan)  # it does not stand

    return run


def whole(name: str, steps: int) -> tuple[Callable[[], float], Callable[[], float]]:
    """Return what times a step of ``pc.simulate``, and of ``pc.batch.simulate`` [ns]."""
    run, q0, v0, _ = prepare(name, 1)
    model, (points, _, (stiffness, damping), _) = run._on.model, ROBOTS[name]
    at = joints_of(model)
    home, out = q0[at], np.zeros(model.nv)

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out[6:] = stiffness * (home - q[at]) - damping * v[6:]
        return out

    span: Any = (steps * DT, DT)
    on: Any = {"ground": pc.Ground(), "touching": points}
    tau = pc.simulate(model, q0, v0, control, *span, **on).tau[:-1]
    rows = [np.array([x] * ROWS) for x in (q0, v0, tau)]

    def one() -> float:
        start = time.perf_counter_ns()
        pc.simulate(model, q0, v0, control, *span, **on)
        return (time.perf_counter_ns() - start) / steps

    def many() -> float:
        start = time.perf_counter_ns()
        pc.batch.simulate(model, *rows, *span, **on)
        return (time.perf_counter_ns() - start) / (steps * ROWS)

    return one, many


def joints_of(model: pc.ClusterModel) -> np.ndarray:
    """Return where in q the independent joints behind the base are."""
    return np.array([model.own_tree.joints[model.getJointId(j)].idx_q for j in model.independent_joints[1:]])


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
    iterations, (once, batch), other = np.zeros(steps), whole(name, steps), peer(name)
    every, of_rows, theirs = np.inf, np.inf, np.full(steps, np.inf)
    for i in range(2 * runs):
        every, of_rows = min(every, once()), min(of_rows, batch())
        if other is not None:
            theirs = np.minimum(theirs, other(steps))
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
    us["simulate"], us["batch"] = every, of_rows
    if other is not None:
        us["MuJoCo"] = np.median(theirs)
    by = dict(zip(("kernels", "solver", "Python"), np.median(shares[touched], axis=0) / 1e3, strict=True))
    return {
        "points": len(run.gaps), "steps": steps, "touching": int(touched.sum()),
        "us": {key: round(float(x) / 1e3, 2) for key, x in us.items()},
        "median share, touching": {key: round(float(x), 2) for key, x in by.items()},
        "iterations": [float(np.median(iterations)), float(iterations.max())],
    }  # fmt: skip


def table(results: dict[str, Any]) -> str:
    """Return the table for the page."""
    head = ["", "mean", "95 %", "kernels", "solver", "Python"]
    head += ["whole `pc.simulate`", "`pc.batch.simulate`", "MuJoCo's `mj_step`"]
    rows = []
    for name, x in results["robots"].items():
        us, share = x["us"], x["median share, touching"]
        values = (
            us["mean"],
            us["95 %"],
            *share.values(),
            us["simulate"],
            *(us.get(x, np.nan) for x in ("batch", "MuJoCo")),
        )
        told = (f"{value:.1f}" if value == value else "-" for value in values)  # NaN: it did not stand there
        rows.append([f"`{name}`, {x['points']} points", *told])
    text = (
        "Microseconds per step of 1 ms. The robots land and stand under a PD controller in Python. *Kernels*, *solver* "
        "and *Python* are median parts of a step in contact. *Whole* includes arguments and results of the call. "
        "The batch uses recorded torques instead of the controller, and one core. MuJoCo simulates the exact robot "
        "that `pc.to_mjcf` writes, in the same process."
    )
    return f"{where(results)}\n\n{text}\n\n{markdown(head, rows)}"


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
