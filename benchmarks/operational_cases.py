"""The mechanisms on which the operational family is judged: random ones with gears, belts, loops and rods, and robots.

The random ones are those of ``tests/samples/pool.py``, and random robots of ``pin_clusters.studies.study``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import numpy as np
import pinocchio as pin
from samples import pool
from support.frames import with_frames

import pin_clusters as pc
from pin_clusters.studies import study

BELTED = 40
"""Number of random robots with gears and belts."""


class Case(NamedTuple):
    """A mechanism with frames on every body.

    Attributes:
        model: Two frames on each body.
        pose: Makes an assembled configuration.
        exact: Worst misalignment of its geometry.
    """

    model: pc.ClusterModel
    pose: Callable[[np.random.Generator], np.ndarray]
    exact: float = 0.0


Makers = dict[str, Callable[[np.random.Generator], Case]]


def cases() -> dict[str, Makers]:
    """Return what makes the mechanisms, by group and name."""
    trees = {str(key): _of_pool(key) for key in pool.TREES}
    trees |= {f"belts-{seed}": _belted for seed in range(BELTED)}
    loops = {str(key): _of_pool(key) for key in pool.ALL if key not in pool.TREES}
    robots = {f"{name}, {base}": _shipped(name, base) for name in sorted(pc.robots()) for base in ("fixed", "floating")}
    return {"trees": trees, "loops": loops, "robots": robots}


def _of_pool(key: pool.Key) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        case = pool.case(key)
        return Case(with_frames(case.model, rng), case.pose, case.exact)

    return make


def _belted(rng: np.random.Generator) -> Case:
    drawn = study.random_robots.robot(rng)
    return Case(with_frames(drawn.model, rng), lambda rng: study.random_robots.states(drawn, 1, rng)[0][0])


def _shipped(name: str, base: str) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        root = pin.JointModelFreeFlyer() if base == "floating" else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            model = with_frames(pc.load(name, root_joint=root), rng)
        start = pc.neutral(model)

        def pose(rng: np.random.Generator) -> np.ndarray:
            if not model.closures:
                pin.seed(int(rng.integers(1 << 30)))
                return pc.randomConfiguration(model)
            return pc.integrate(model, start, 0.1 * rng.uniform(-1.0, 1.0, model.nv))

        return Case(model, pose)

    return make
