"""Do policies need exact rotors? ``python benchmarks/trained_on_armature.py [--robots NAME ...] [--seeds N]``.

The tasks of examples 23 and 24 are trained on the exact robot and on its armature approximation, with the same seeds,
number of steps and rewards. All policies then run without exploration noise on the exact robot: in 1,024 worlds with
random friction and initial velocity, and in ``pc.simulate`` with a time step of 0.5 ms. The policies that were trained
with armature also run on the approximation. ``report_training.py`` renders the tables. Needs JAX:
``pip install '.[jax]'``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import numpy as np
import ppo
from report_training import BEGIN, DURATION, N
from timing import machine

import pin_clusters as pc
from pin_clusters import approximations
from pin_clusters.studies import drops

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "training.json"
UPDATES = {"mini_cheetah": 400, "mit_humanoid": 400, "tello": 400}
"""Number of updates of each training. The documentation has no results for ``tello``: select it with ``--robots``."""


def _example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mit_humanoid() -> Any:
    """Return the MIT Humanoid with bent knees, for the task of example 24."""
    model = pc.load("mit_humanoid")
    feet = ["left_toe", "left_heel", "right_toe", "right_heel"]
    bent = drops.posed(model, [("*_hip_ry", -0.4), ("*_knee", 0.8), ("*_ankle", -0.4)])
    arm = np.array(["shoulder" in x or "elbow" in x for x in model.independent_joints[1:]])
    gains = np.where(arm, 30.0, 150.0), np.where(arm, 1.0, 4.0), np.where(arm, 0.1, 0.25)
    return ppo.Robot(model, pc.on_ground(model, bent, touching=feet), feet, *gains)


def measured(task: type) -> type:
    """Return the class of a task that also measures the work of the motors."""

    class Measured(task):  # type: ignore[misc, valid-type]
        """Task with ``work``: the sum of ``|torque * speed|`` of all motors, integrated, shape (n,), [J]."""

        def allocate(self, n: int) -> None:
            super().allocate(n)
            self.work, self.random = np.zeros(n), False
            B = pc.actuation_matrix(self.robot.model, self.robot.model.createData(), self.robot.home)
            self.B = B[self.iv]  # constant for these robots

        def add(self, tau: np.ndarray, v: np.ndarray, dt: float) -> None:
            torques = np.linalg.solve(self.B, tau[:, self.iv].T)
            self.work += dt * np.abs(torques * (self.B.T @ v[:, self.iv].T)).sum(axis=0)

        def move(self, targets: np.ndarray) -> None:
            if self.dt:
                super().move(targets)
                for tau, v in zip(self.motion.tau[:-1], self.motion.v[:-1], strict=True):
                    self.add(tau[None], v[None], self.dt)
                return
            for _ in range(self.worlds.substeps):
                self.worlds.step(targets, substeps=1)
                self.add(self.worlds.tau, self.worlds.v, self.worlds.dt)
            self.heights = self.worlds.gaps.reshape(self.n, self.feet, -1).min(axis=2)

    return Measured


def many(task: Any, P: Any) -> dict[str, float]:
    """Run the mean action in all worlds; return means over the worlds without a fall.

    Returns:
        Share of worlds with a ``fall``; ``reward`` per control step, ``speed`` [m/s] and cost of ``transport``, which
        is work / (weight * distance), after the start; ``speed`` is the forward speed of the trunk in its own axes.
    """
    count, start = round(DURATION / ppo.CONTROL), round(BEGIN / ppo.CONTROL)
    fallen, reward, speed = np.zeros(task.n, dtype=bool), np.zeros(task.n), np.zeros(task.n)
    for k in range(count):
        if k == start:
            before = task.work.copy()
        gain, fell, _ = task.step(np.asarray(ppo.network(P["policy"], task.observe())))
        fallen |= fell
        if k >= start:
            reward += gain / (count - start)
            speed += task.v[:, 0] / (count - start)
    up = ~fallen
    if not up.any():
        return {"fall": 1.0}
    weight, distance = pc.computeTotalMass(task.robot.model) * 9.81, speed * (DURATION - BEGIN)
    return {
        "fall": float(fallen.mean()),
        "reward": float(reward[up].mean()),
        "speed": float(speed[up].mean()),
        "transport": float((task.work - before)[up].sum() / (weight * distance[up].sum())),
    }


def alone(task: Any, P: Any) -> dict[str, float]:
    """Run the mean action with ``pc.simulate``; return time upright [s], distance [m], cost and touch-downs."""
    one = task.alone(5e-4)
    rows = ppo.replay(one, P, DURATION)
    weight = pc.computeTotalMass(task.robot.model) * 9.81
    return {
        "upright": rows[-1, 0],
        "distance": rows[-1, 1],
        "transport": one.work[0] / (weight * abs(rows[-1, 1])),
        "landings": sum(ppo.touchdowns(x) for x in rows[:, 3:].T),
    }


def study(name: str, updates: int, seeds: int) -> dict[str, Any]:
    """Train and compare the policies of a robot."""
    task, robot = tasks(name)
    level = "armature" if robot.model.closures else "diagonal"
    robots = {"exact": robot, "armature": replace(robot, model=approximations.robot(robot.model, level))}
    runs = []
    for seed in range(seeds):
        for trained, on in robots.items():
            P, history = ppo.train(task(on, N, seed), updates=updates, seed=seed)
            tenth = max(1, len(history) // 10)
            run: dict[str, Any] = {
                "trained": trained, "seed": seed, "seconds": history[-1, 0],
                "training_reward": float(history[-tenth:, 1].mean()), "worlds": {},
            }  # fmt: skip
            for other in dict.fromkeys((trained, "exact")):
                run["worlds"][other] = many(measured(task)(robots[other], N, seed=1000), P)
            run["simulate"] = alone(measured(task)(robot, 1), P)
            print(name, json.dumps(run), flush=True)
            runs.append(run)
    return {"control_steps": updates * ppo.STEPS * N, "level": level, "runs": runs}


def tasks(name: str) -> tuple[type, Any]:
    """Return the class of the task and the exact robot."""
    walk, step = _example("23_train_walk"), _example("24_train_loops")
    task, robot = {
        "mini_cheetah": (walk.Walk, walk.mini_cheetah),
        "mit_humanoid": (step.Step, mit_humanoid),
        "tello": (step.Step, step.tello),
    }[name]
    return task, robot()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", default=["mini_cheetah", "mit_humanoid"], choices=list(UPDATES))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--updates", type=int, help="number of updates of each training, instead of the defaults")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", pc.PinClustersWarning)
    before = json.loads(arguments.output.read_text(encoding="utf-8")) if arguments.output.is_file() else {"robots": {}}
    results: dict[str, Any] = {"machine": machine(), "robots": before["robots"]}
    for name in arguments.robots:
        results["robots"][name] = study(name, arguments.updates or UPDATES[name], arguments.seeds)
        arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
