"""Measure what friction and losses of motors cost in steps: ``python benchmarks/losses.py [--quick]``; a minute.

Microseconds per step of 0.1 ms of ``rk4`` under a table of torques, interleaved; beside the robot without losses, the
same with friction of its motors, with gears, and with both. A batch has as many rows as threads.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np

import pin_clusters as pc
from pin_clusters.verification.timing import interleaved

MOTORS: dict[str, dict[str, float]] = {
    "bare": {}, "friction": {"viscous": 1e-5, "coulomb": 1e-2}, "gears": {"efficiency": 0.9, "back_efficiency": 0.85},
    "both": {"viscous": 1e-5, "coulomb": 1e-2, "efficiency": 0.9, "back_efficiency": 0.85},
}  # fmt: skip
DT = 1e-4


def measure(name: str, steps: int, repeats: int) -> None:
    """Print the times of one robot, under torques that swing and under such that jump."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        bare = pc.load(name)
        models = {
            key: pc.ClusterModel(
                bare.tree, [*bare.constraints, *(pc.Motor(r.name, **k) for r in bare.motors)], bare.q_reference
            )
            for key, k in MOTORS.items()
        }
    rng, n = np.random.default_rng(0), len(bare.motors)
    q, v = pc.neutral(bare), rng.normal(size=bare.nv)
    B = pc.actuation_matrix(bare, bare.createData(), q)
    swing = 0.3 * np.sin(6e-3 * np.arange(steps)[:, None] + rng.uniform(0.0, 6.0, n)) @ B.T
    for how, tau in (("swing", swing), ("jump", 0.3 * rng.normal(size=(steps, n)) @ B.T)):
        calls: dict[str, Any] = {}
        for key, model in models.items():
            one = lambda model=model, tau=tau: pc.simulate(model, q, v, tau, steps * DT, DT, record=10**6)  # noqa: E731
            calls[key] = (one, ())
        many = {
            f"{key}, batch": (
                lambda model=model, tau=tau: pc.batch.simulate(model, q[None], v[None], tau[None], steps * DT, DT), ()
            )
            for key, model in models.items()
        }  # fmt: skip
        times = interleaved(calls | many, repeats=repeats, block=1e-3)
        text = ", ".join(f"{k} {1e6 * t.median / steps:.2f}" for k, t in times.items())
        print(f"{name}, torques that {how}: {text} us per step", flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one robot, few steps")
    quick = parser.parse_args().quick
    for name in ("mini_cheetah",) if quick else ("mini_cheetah", "mit_humanoid"):
        measure(name, 100 if quick else 2000, 2 if quick else 15)
    return 0


if __name__ == "__main__":
    sys.exit(main())
