"""Measure what friction and losses of motors cost in steps: ``python benchmarks/losses.py [--quick]``; two minutes.

Microseconds per step, interleaved; the robot without losses, with friction of its motors, with losses of gears, and
with both. Steps of 0.1 ms of ``rk4`` under a table of torques that swing or jump, in one simulation and as a row of a
batch, and under a PD controller in Python; and steps of 1 ms on a ground under that controller. Least of the repeats;
the quotients are to the robot without losses. report_motors.py writes the table to docs/measured/motors.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import timing
from ground import ROBOTS, joints_of

import pin_clusters as pc
from pin_clusters.verification.timing import interleaved

RESULTS = Path(__file__).parent / "results" / "losses.json"
MOTORS: dict[str, dict[str, float]] = {
    "bare": {}, "friction": {"viscous": 1e-5, "coulomb": 1e-2}, "gears": {"efficiency": 0.9, "back_efficiency": 0.85},
    "both": {"viscous": 1e-5, "coulomb": 1e-2, "efficiency": 0.9, "back_efficiency": 0.85},
}  # fmt: skip
DT = 1e-4
Case = Callable[[pc.ClusterModel], Any]


def cases(bare: pc.ClusterModel, name: str, steps: int) -> dict[str, tuple[int, Case]]:
    """Return what is measured of a robot: how many steps, and a function of its variant."""
    rng, n = np.random.default_rng(0), len(bare.motors)
    q, v = pc.neutral(bare), rng.normal(size=bare.nv)
    B = pc.actuation_matrix(bare, bare.createData(), q)
    swing = 0.3 * np.sin(6e-3 * np.arange(steps)[:, None] + rng.uniform(0.0, 6.0, n)) @ B.T
    jump = 0.3 * rng.normal(size=(steps, n)) @ B.T
    points, pose, (stiffness, damping), above = ROBOTS[name]
    x, at = np.zeros(bare.nv), joints_of(bare)
    for joint in bare.independent_joints[1:]:
        x[bare.joint_idx_v(joint)] = next((a for end, a in pose.items() if joint.endswith(end)), 0.0)
    touching, ground, tau = pc.contact_points(bare, points), pc.Ground(), np.zeros(bare.nv)
    home = pc.on_ground(bare, pc.integrate(bare, q, x), ground, touching, above=above)

    def control(_: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau[6:] = stiffness * (home[at] - q[at]) - damping * v[6:]
        return tau

    few, still = max(20, steps // 4), np.zeros(bare.nv)
    end, rows = {"record": 10**6}, (q[None], v[None], swing[None])
    return {
        "torques that swing": (steps, lambda m: pc.simulate(m, q, v, swing, steps * DT, DT, **end)),
        "torques that jump": (steps, lambda m: pc.simulate(m, q, v, jump, steps * DT, DT, **end)),
        "swing, a row of a batch": (steps, lambda m: pc.batch.simulate(m, *rows, steps * DT, DT)),
        "PD in Python": (steps, lambda m: pc.simulate(m, home, still, control, steps * DT, DT, **end)),
        "PD in Python, on a ground": (
            few,
            lambda m: pc.simulate(
                m, home, still, control, few * 1e-3, 1e-3, ground=ground, touching=touching, record=10**6
            ),
        ),
    }


def measure(name: str, steps: int, repeats: int) -> dict[str, Any]:
    """Return the times of one robot, us per step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        bare = pc.load(name)
        models = {
            key: pc.ClusterModel(
                bare.tree, [*bare.constraints, *(pc.Motor(r.name, **k) for r in bare.motors)], bare.q_reference
            )
            for key, k in MOTORS.items()
        }
    found: dict[str, Any] = {}
    for what, (count, case) in cases(bare, name, steps).items():
        calls: dict[str, Any] = {key: (case, (model,)) for key, model in models.items()}
        times = interleaved(calls, repeats=repeats, block=1e-3)
        found[what] = {key: 1e6 * t.minimum / count for key, t in times.items()}
        print(f"{name}, {what}: " + ", ".join(f"{k} {x:.2f}" for k, x in found[what].items()), flush=True)
    return found


def main() -> int:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one robot, few steps, nothing is kept")
    quick = parser.parse_args().quick
    robots = ("mini_cheetah",) if quick else ("mini_cheetah", "mit_humanoid")
    results = {name: measure(name, 100 if quick else 2000, 2 if quick else 25) for name in robots}
    if not quick:
        kept = {"machine": timing.machine(), "robots": results}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
