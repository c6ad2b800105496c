"""Functions of sweeps that other processes can import."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import pin_clusters as pc
from pin_clusters.study import random_chains


def square(case: int) -> dict[str, Any]:
    return {"square": case**2, "root": float(case) ** 0.5}


def drawn(case: int, rng: np.random.Generator) -> dict[str, Any]:
    return {"x": rng.random(3)}


def robot(case: int, rng: np.random.Generator) -> dict[str, Any]:
    """A random robot, and BLAS on matrices large enough for several threads."""
    A = rng.normal(size=(160, 160))
    return random_chains.case(case, rng=rng, states=2) | {"solved": np.linalg.solve(A, A @ A)[0]}


def torque(model: pc.ClusterModel, rng: np.random.Generator) -> dict[str, Any]:
    data = model.createData()
    q, v, a = model.q_reference, rng.normal(size=model.nv), rng.normal(size=model.nv)
    return {"tau": pc.rnea(model, data, q, v, a), "M": pc.crba(model, data, q)}


def kinetic_energy(model: pc.ClusterModel) -> dict[str, Any]:
    return {"T": pc.computeKineticEnergy(model, model.createData(), pc.neutral(model), np.ones(model.nv))}


def sometimes(case: int, bad: tuple[int, ...] = (3, 8)) -> dict[str, Any]:
    if case in bad:
        return {"x": _inverse(0.0 * case)}
    return {"x": 1.0 / (case + 1)}


def _inverse(x: float) -> float:
    if not x:
        raise ZeroDivisionError(f"{x:g} has no inverse")
    return 1.0 / x


def mixed(case: int) -> dict[str, Any]:
    """Arrays of many sizes, texts, keys that are not always there."""
    found: dict[str, Any] = {"ragged": np.arange(case), "text": f"case {case}", "flag": case % 2 == 0}
    if case % 3:
        found["some/times"] = np.full((2, case), float(case))
    return found


def wrong(case: Any) -> Any:
    return [np.zeros(3), {"x": object()}, {1: 2.0}, {"x": [[1.0], [1.0, 2.0]]}, {"x": None}, {}][case]


def deadly(case: int) -> dict[str, Any]:
    if case == 7:
        os._exit(11)
    return {"x": case}


def blas_threads(case: int) -> dict[str, Any]:
    np.linalg.solve(np.eye(3), np.ones(3))
    return {"threads": max(x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas")}


def interrupted(case: int) -> dict[str, Any]:
    if case == 5:
        raise KeyboardInterrupt
    return {"x": case}


def slow(case: int, seconds: float = 0.02) -> dict[str, Any]:
    time.sleep(seconds)
    return {"x": case * np.ones(3)}


def counted(case: int, folder: str) -> dict[str, Any]:
    """Note that it was called."""
    (Path(folder) / f"{case}-{time.monotonic_ns()}").touch()
    return {"x": case / 3.0}


class Times:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def of(self, case: int) -> dict[str, Any]:
        return {"x": self.factor * case}
