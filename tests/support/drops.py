"""Random drops of robots: which steps are not solved, how laws are kept. ``python tests/support/drops.py 100``.

Each has a pose, a velocity, a ground, a friction at random; it is limp or held, with stops or without them.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import pin_clusters as pc

if __name__ == "__main__":
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
from samples import mechanisms
from support import grounds

ROBOTS = "mini_cheetah", "mit_humanoid", "tello", "cassie", "jvrc1", "block"


class Drop(NamedTuple):
    """What came out: the text of an error is empty if there was none."""

    robot: str
    seed: int
    steps: int
    pushed: int
    gap: float
    cone: float
    into: float
    power: float
    work: float
    iterations: int
    loops: float
    energy: float
    error: str
    seconds: float


def setting(name: str, seed: int) -> tuple[pc.ClusterModel, dict[str, Any]]:
    """A robot above a ground, and what ``pc.simulate`` is to be given."""
    rng = np.random.default_rng([seed, *name.encode()])
    model, points = grounds.robot(name)
    tilt = rng.normal(size=3) * 0.3 + [0.0, 0.0, 1.0]
    ground = pc.Ground(float(rng.choice([0.0, 0.2, 0.5, 0.8, 1.2])), tuple(tilt), float(rng.normal()))
    spread = 0.0 if model.nv == 6 else 0.5 if name == "tello" else 0.1 if name == "cassie" else 0.4
    q = pc.neutral(model)
    if model.closures:
        q = mechanisms.random_pose(model, q, rng, spread)
    x = (
        rng.normal(size=model.nv)
        * np.r_[np.zeros(3), np.full(3, 1.0), np.full(model.nv - 6, 0.0 if model.closures else spread)]
    )
    q = pc.integrate(model, q, x)
    q = pc.on_ground(model, q, ground, points, above=float(rng.uniform(0.0, 0.1)))
    v = np.r_[rng.normal(size=3), rng.normal(size=model.nv - 3) * rng.choice([0.0, 1.0, 3.0])]
    held = grounds.held(
        model, q, *{"tello": (10.0, 0.1), "block": (0.0, 0.0), "jvrc1": (30.0, 0.3)}.get(name, (100.0, 2.0))
    )
    limits = bool(rng.random() < 0.5) or name == "tello"
    if limits:
        low, high = model.tree.lowerPositionLimit, model.tree.upperPositionLimit
        limits = bool(((q >= low) & (q <= high)).all())
    return model, dict(
        q0=q, v0=v, tau=held if rng.random() < 0.7 else None, ground=ground, touching=points, limits=limits,
        dt=float(rng.choice([5e-4, 1e-3, 2e-3])),
    )  # fmt: skip


def drop(name: str, seed: int, duration: float = 0.4) -> Drop:
    """Let one fall."""
    model, how = setting(name, seed)
    begun, error = time.process_time(), ""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            r = pc.simulate(model, duration=duration, **how)
        except pc.SimulationError as failed:
            r, error = failed.result, str(failed)
    seconds = time.process_time() - begun
    last, off = r.contact_laws, 0.0
    if how["tau"] is None and not error:
        lowest = np.minimum.accumulate(r.energy)
        off = float((r.energy - lowest).max() / max(1.0, np.ptp(r.energy)))
    pushed = int(r.contact_impulses.any(axis=(1, 2)).sum())
    return Drop(
        name, seed, len(r.time) - 1, pushed, float(r.gap.min(initial=0.0)),
        *last.max(axis=0, initial=0.0).tolist(),
        float(r.contact_work.max(initial=0.0)), int(r.contact_iterations.max(initial=0)),
        float(r.residual.max(initial=0.0)), off, error, seconds,
    )  # fmt: skip


def main(count: int, robots: Any = ROBOTS) -> None:
    """Print a table, and what was said where a step was not solved."""
    heads = (
        "drops", "steps", "contact", "failed", "gap [m]", "cone [N s]", "into [m/s]", "power [J]", "work [J]", "iter.",
        "loops", "energy", "ms/step",
    )  # fmt: skip
    widths = 6, 8, 8, 7, 10, 11, 11, 10, 10, 7, 9, 8, 8
    print("robot".ljust(14) + "".join(h.rjust(w) for h, w in zip(heads, widths, strict=True)))
    said = []
    for name in robots:
        found = [drop(name, seed) for seed in range(count)]
        said += [(d.robot, d.seed, d.steps, d.error) for d in found if d.error]
        steps, worst = sum(d.steps for d in found), lambda at: max(getattr(d, at) for d in found)  # noqa: B023
        print(f"{name:14}{count:6}{steps:8}{sum(d.pushed for d in found):8}{sum(bool(d.error) for d in found):7}"
              f"{min(d.gap for d in found):10.1e}{worst('cone'):11.1e}{worst('into'):11.1e}{worst('power'):10.1e}"
              f"{worst('work'):10.1e}{worst('iterations'):7}{worst('loops'):9.0e}{worst('energy'):8.0e}"
              f"{1e3 * sum(d.seconds for d in found) / max(steps, 1):8.2f}", flush=True)  # fmt: skip
    for line in said:
        print(*line)


if __name__ == "__main__":
    main(int((sys.argv[1:2] or [100])[0]), sys.argv[2].split(",") if len(sys.argv) > 2 else ROBOTS)
