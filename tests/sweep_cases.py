"""Functions of sweeps that other processes can import."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import pin_clusters as pc
from pin_clusters.studies import sweeps
from pin_clusters.studies.study import random_chains


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


def known_again(folder: str, names: tuple[str, ...]) -> tuple[int, str]:
    """Continue a sweep over robots here; return how many cases were computed, and the digest."""
    found = sweeps.run(torque, loaded(names), folder=folder, resume=True, executor=sweeps.InProcess())
    return found.effort.computed, found.digest


def loaded(names: tuple[str, ...]) -> list[pc.ClusterModel]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return [pc.load(name) for name in names]


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


WORKSPACE = np.zeros(3)


def reused(case: int) -> dict[str, Any]:
    """The same array each time, with other numbers, as the functions of Pinocchio return."""
    WORKSPACE[:] = case
    return {"x": WORKSPACE}


def blas_threads(case: int) -> dict[str, Any]:
    np.linalg.solve(np.eye(3), np.ones(3))
    return {"threads": max(x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas")}


def interrupted(case: int) -> dict[str, Any]:
    if case == 5:
        raise KeyboardInterrupt
    return {"x": case}


def counted(case: int, folder: str) -> dict[str, Any]:
    """Note that it was called."""
    os.close(tempfile.mkstemp(prefix=f"{case}-", dir=folder)[0])
    return {"x": case / 3.0}


class Times:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def of(self, case: int) -> dict[str, Any]:
        return {"x": self.factor * case}
