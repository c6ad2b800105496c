"""Speed and accuracy of ``pc.Worlds``: ``python benchmarks/many_worlds.py [--states N] [--output FILE]``.

For each robot: CPU time per time step and core (least of 15, ten sweeps, PD drive with torque limits), with and without
stops, passive forces and varied parameters; MuJoCo with the exported robot in the same process; memory per world; time
of the first ``pc.Worlds`` in a new process with a cold and a warm cache. For the accuracy, robots stand, stumble and
fall under random targets, and ``pc.batch.simulate`` repeats single time steps from their states.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import pinocchio as pin
from timing import machine

import pin_clusters as pc
from pin_clusters.model import alike
from pin_clusters.studies import drops, world_rates

RESULTS = Path(__file__).resolve().parent / "results" / "worlds.json"
DT, FRICTION, SWEEPS, ROUNDS = 2e-3, 0.8, (5, 10, 20, 40), 15
SOLE = [[x, y, -0.041] for x in (-0.05, 0.1) for y in (-0.03, 0.03)]
FEET: dict[str, Any] = {
    "mini_cheetah": ["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
    "mit_humanoid": {"left_ankle": SOLE, "right_ankle": SOLE},
    "tello": ["left_toe", "left_heel", "right_toe", "right_heel"],
    "cassie": ["left_toe", "left_heel", "right_toe", "right_heel"],
    "digit_leg": None,
}
POSE = {
    "mini_cheetah": [("*_hip", -0.8), ("*_knee", 1.6)],
    "mit_humanoid": [("*_hip_ry", -0.4), ("*_knee", 0.8), ("*_ankle", -0.4)],
}
GAINS = {
    "mini_cheetah": (40.0, 1.0), "mit_humanoid": (150.0, 4.0), "tello": (2.5, 0.05), "cassie": (200.0, 6.0),
    "digit_leg": (50.0, 2.0),
}  # fmt: skip


def setup(name: str) -> tuple[pc.ClusterModel, dict[str, Any]]:
    """Return a robot and the arguments of its worlds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # the published inertias of mini_cheetah's hips
        model = pc.load(name)
    if FEET[name] is None:
        return model, {"dt": DT}
    feet = pc.contact_points(model, FEET[name])
    q = pc.on_ground(model, drops.posed(model, POSE.get(name, ())), touching=feet)
    return model, {"dt": DT, "ground": pc.Ground(FRICTION), "touching": feet, "q": q}


def rate(model: pc.ClusterModel, dtype: str, **options: Any) -> float:
    """Return the CPU time per time step [us]."""
    worlds = pc.Worlds(model, 1024, substeps=10, dtype=dtype, **options)
    targets = worlds.rest + 0.1 * np.random.default_rng(0).uniform(-1.0, 1.0, (1024, worlds.nu))
    return 1e6 * world_rates._least(lambda: worlds.step(targets)) / 1024 / 10


def speeds(name: str) -> dict[str, Any]:
    """Return times, operations and memory of a robot."""
    model, options = setup(name)
    motor = pc.Drive(*GAINS[name], limit="motor")
    varied = {"vary": ("gains", "strength", "friction", "inertial")}
    cases = {
        "PD drive, torque limits": {"passive": False},
        "also springs and friction": {"passive": True} if model.passive is not None else None,
        "also varied parameters": {"passive": model.passive is not None, **varied},
        "also stops": {"passive": model.passive is not None, **varied, "limits": "position"},
    }
    result: dict[str, Any] = {"times": {}, "mujoco": {}, "notes": []}
    for label, more in cases.items():
        if more is None:
            continue
        try:
            result["times"][label] = {d: rate(model, d, drive=motor, **options, **more) for d in ("float64", "float32")}
        except pc.NotAvailableError as error:
            result["notes"].append(f"{name}, {label}: {error}")
    one = pc.Worlds(model, 1, drive=motor, passive=False, **options)
    result["operations"], result["bytes"] = len(one.program.operations), one.nbytes
    result["mujoco"], notes = world_rates._of_mujoco(model, one.q[0], one, options.get("ground"))
    result["notes"] += notes
    return result


def simulated(
    name: str, model: pc.ClusterModel, options: dict[str, Any], q: np.ndarray, v: np.ndarray, targets: np.ndarray,
    status: np.ndarray | None = None,
) -> Any:  # fmt: skip
    """Return one time step by ``pc.batch.simulate``; armature represents the part of the drive that is implicit."""
    (kp, kd), tree, tau = GAINS[name], model.own_tree.copy(), np.zeros_like(v)
    iq, iv = pc.Drive(kp, kd).of(model)[0].T
    armature = np.array(tree.armature)
    armature[model.idx_v_independent[iv]] += DT * kd + DT**2 * kp
    tree.armature = armature
    tau[:, iv] = kp * (targets - q[:, iq] - DT * v[:, iv]) - kd * v[:, iv]
    contact = {"ground": options["ground"], "touching": options["touching"]}
    return pc.batch.simulate(alike(model, tree=tree), q, v, tau, DT, DT, passive=False, status=status, **contact)


def accuracy(name: str, states: int) -> dict[str, Any]:
    """Return quantiles of the difference to ``pc.batch.simulate`` after one step, by number of sweeps."""
    model, options = setup(name)
    if "ground" not in options:
        return {}
    kp, kd = GAINS[name]
    drive, n = pc.Drive(kp, kd), 500
    worlds = {s: pc.Worlds(model, n, drive=drive, passive=False, sweeps=s, **options) for s in SWEEPS}
    rng, main = np.random.default_rng(0), worlds[10]
    errors: dict[int, list[float]] = {s: [] for s in SWEEPS}
    violation: dict[int, list[float]] = {s: [] for s in SWEEPS}
    deepest, residuals, pushing, falls, failed = 0.0, list[float](), 0, 0, 0
    while len(errors[10]) < states:
        targets = main.rest + 0.3 * rng.uniform(-1.0, 1.0, (n, main.nu))
        for _ in range(int(rng.integers(5, 25))):
            main.step(targets)
        down = (main.q[:, 2] < 0.5 * options["q"][2]) | (main.status != 0)
        falls += int(down.sum())
        main.reset(down)
        main.step(targets)  # a step after a reset, so that no point is below the ground in the middle of the next step
        state = main.state()
        status = np.zeros(n, dtype=np.int8)
        exact = simulated(name, model, options, main.q.copy(), main.v.copy(), targets, status)
        for s, w in worlds.items():
            w.restore(state)
            w.step(targets)
            good = (status == 0) & (w.status == 0)
            failed += int(np.count_nonzero(w.status)) * (s == 10)
            errors[s] += np.abs(w.v - exact.v).max(axis=1)[good].tolist()
            violation[s] += w.violation[good].tolist()
        good = main.status == 0
        deepest = max(deepest, depth(model, options["touching"], main.q[good]))
        residuals += main.residual[good].tolist()
        pushing += int(main.in_contact.any(axis=1).sum())
    shares = (0.5, 0.95, 0.999, 1.0)
    return {
        "states": len(errors[10]),
        "pushing": pushing / len(errors[10]),
        "falls": falls,
        "failed": failed,
        "deepest": deepest,
        "residual": float(np.quantile(residuals, 0.999)),
        "largest residual": max(residuals),
        "speed": {s: [float(np.quantile(x, share)) for share in shares] for s, x in errors.items()},
        "violation": {s: [float(np.quantile(x, share)) for share in shares] for s, x in violation.items()},
    }


def depth(model: pc.ClusterModel, feet: pc.ContactPoints, q: np.ndarray) -> float:
    """Return how far the lowest point is below the ground in any of the configurations [m], with Pinocchio."""
    tree, deepest = model.own_tree, 0.0
    data = tree.createData()
    for row in q:
        pin.forwardKinematics(tree, data, row)
        for joint, place in zip(feet.joints.tolist(), feet.places, strict=True):
            deepest = max(deepest, -float(data.oMi[joint].act(place)[2]))
    return deepest


FIRST = """
import sys, time; begin = time.process_time()
import warnings; warnings.simplefilter("ignore")
sys.path.insert(0, {folder!r})
import many_worlds, pin_clusters as pc
model, options = many_worlds.setup({name!r})
w = pc.Worlds(model, 8, drive=pc.Drive(*many_worlds.GAINS[{name!r}], limit="motor"), passive=False, **options)
w.step(w.targets)
print(time.process_time() - begin)
"""


def first_calls(name: str) -> dict[str, float]:
    """Return the CPU time of a process that creates worlds and steps, with a cold and with a warm cache [s]."""
    code = FIRST.format(folder=str(Path(__file__).resolve().parent), name=name)
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PIN_CLUSTERS_CACHE": cache}
        run = [sys.executable, "-c", code]
        times = [
            float(subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.split()[-1])
            for _ in range(3)
        ]
    return {"cold": times[0], "warm": min(times[1:])}


def tables(results: dict[str, Any]) -> str:
    """Return the tables for the documentation."""
    from report_loops import markdown, where

    rows, accuracies = [], []
    for name, one in results["robots"].items():
        for label, times in one["times"].items():
            mujoco = one["mujoco"] if label.startswith("PD") else {}
            first = one["first"] if label.startswith("PD") else None
            rows.append([
                f"`{name}`", label, f"{times['float64']:.2f}", f"{times['float32']:.2f}",
                *(f"{1e6 * mujoco[x]:.1f}" if x in mujoco else "" for x in ("exact", "diagonal")),
                f"{first['cold']:.0f} ({first['warm']:.1f})" if first else "",
                f"{one['bytes']}" if first else "",
            ])  # fmt: skip
        for s, x in one["accuracy"].get("speed", {}).items():
            law = one["accuracy"]["violation"][s]
            accuracies.append([f"`{name}`", s, *(f"{y:.1g}" for y in (*x, *law[:3]))])
    head = [
        "robot", "step", "float64 [µs]", "float32 [µs]", "MuJoCo, exact [µs]", "MuJoCo, armature [µs]",
        "first `Worlds` [s]", "bytes per world",
    ]  # fmt: skip
    heads = ["robot", "sweeps", "v: median", "95 %", "99.9 %", "largest", "law: median", "95 %", "99.9 %"]
    extremes = "; ".join(
        f"`{name}`: {a['states']:,} states, {100 * a['pushing']:.0f} % with contact, {a['falls']} falls, {a['failed']} "
        f"failed worlds, deepest point after a step {a['deepest']:.0e} m, loop residual {a['residual']:.0e} "
        f"(99.9 %) and {a['largest residual']:.0e} (largest)"
        for name, one in results["robots"].items()
        if (a := one["accuracy"])
    )
    notes = [f"- {note}" for one in results["robots"].values() for note in one["notes"]]
    return "\n\n".join([
        where(results),
        f"CPU time per time step and core, smallest of {ROUNDS} measurements, with 10 sweeps and 1,024 worlds. First "
        "`Worlds`: CPU time of a new process with an empty cache, and in parentheses with a warm cache.",
        markdown(head, rows),
        "\n".join(notes),
        "Difference of the joint speeds [rad/s] to `pc.batch.simulate` after one time step of 2 ms with random targets "
        f"and violation of the contact laws [m/s]. {extremes}.",
        markdown(heads, accuracies),
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=100_000)
    parser.add_argument("--robots", nargs="+", default=list(FEET))
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    results: dict[str, Any] = {"machine": machine(), "robots": {}}
    for name in arguments.robots:
        one = speeds(name) | {"accuracy": accuracy(name, arguments.states), "first": first_calls(name)}
        results["robots"][name] = one
        print(name, json.dumps(one)[:400], flush=True)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
