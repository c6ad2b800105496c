"""All functions of batches by name, with rows to give them, and the same one state after the other."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import pin_clusters as pc
from pin_clusters.compiler import operations

STEPS, DT, RECORD = 5, 1e-4, 2


class Rows(NamedTuple):
    """States, and what is asked of them."""

    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    fext: np.ndarray
    step: np.ndarray  # increments
    off: np.ndarray  # configurations near the manifold
    frames: list[int]

    def count(self, name: str) -> int:
        """How many rows a function is given: simulations are few."""
        return min(3, len(self.q)) if name == "simulate" else len(self.q)

    def first(self, n: int) -> Rows:
        """The same of the first rows."""
        return Rows(*(x[:n] for x in self[:-1]), self.frames)


def near(model: pc.ClusterModel, q0: np.ndarray, rng: np.random.Generator, n: int) -> Rows:
    """Different assembled poses near one, and rates."""
    # dependent joints that are fast are near a dead centre
    spread = 0.02 / max(1.0, float(np.abs(pc.coupling_jacobian(model, model.createData(), q0)).max()))
    q = np.array([pc.integrate(model, q0, spread * rng.normal(size=model.nv)) for _ in range(n)]).reshape(n, model.nq)
    v, x, step = rng.normal(size=(3, n, model.nv))
    off = q + 1e-3 * spread * rng.normal(size=q.shape)
    frames = sorted({model.nframes - 1, min(1, model.nframes - 1)})
    return Rows(q, v, x, rng.normal(size=(n, model.njoints, 6)), spread * step, off, frames)


@functools.cache
def model_of(name: str) -> pc.ClusterModel:
    """A shipped robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


@functools.cache
def given_of(name: str, n: int) -> Rows:
    """Rows of a shipped robot; not to be written to."""
    model = model_of(name)
    return near(model, pc.neutral(model), np.random.default_rng(0), n)


def _placements(model: pc.ClusterModel, data: pc.ClusterData, q: Any, frames: list[int] | None = None) -> np.ndarray:
    pc.framesForwardKinematics(model, data, q)
    wanted = list(data.oMi) if frames is None else [data.oMf[i] for i in frames]
    return np.array([pin.SE3ToXYZQUAT(x) for x in wanted])


def _simulated(model: pc.ClusterModel, q: Any, v: Any, tau: Any = None, **options: Any) -> np.ndarray:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)  # what is said of its energy
            found = pc.simulate(model, q, v, tau, STEPS * DT, DT, **options)
    except pc.SimulationError:
        n = 1 + -(-STEPS // options.get("record", STEPS))
        return np.full(n * (model.nq + model.nv), np.nan)
    return np.concatenate([found.q.ravel(), found.v.ravel()])


# of each function: the tables that it is given, what else, and the function of one state
FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    **{
        one.name: (" ".join("x" if x in ("a", "tau") else x for x in (*one.inputs, *["fext"] * one.forced)), single)
        for one in operations.STATE_FUNCTIONS
        if one.operation.group == "data" and hasattr(pc.batch, one.name)
        for single in [getattr(pc, one.name)]
    },
    "inverse_operational_inertia": ("q frames", pc.inverse_operational_inertia),
    "forwardKinematics": ("q", _placements),
    "integrate": ("q step", lambda model, data, q, v: pc.integrate(model, q, v)),
    "project": ("off", lambda model, data, q: pc.project(model, q)),
    "simulate": ("q v x", lambda model, data, q, v, x: _simulated(model, q, v, x, record=RECORD)),
}


def batch(name: str, model: pc.ClusterModel, given: Rows, **options: Any) -> np.ndarray:
    """Run a batch; all numbers of a row side by side."""
    n, tables = given.count(name), FUNCTIONS[name][0].split()
    arguments = [x if t == "frames" else x[:n] for t in tables for x in [getattr(given, t)]]
    if name == "simulate":
        options |= {"duration": STEPS * DT, "dt": DT, "record": RECORD}
        _, q, v = pc.batch.simulate(model, *arguments, **options)
        return np.concatenate([q.reshape(n, -1 if n else 0), v.reshape(n, -1 if n else 0)], axis=1)
    found = getattr(pc.batch, name)(model, *arguments, **options)
    return found.reshape(n, -1 if n else 0)


def one_by_one(name: str, model: pc.ClusterModel, given: Rows) -> np.ndarray:
    """Run the function of one state for all rows; what it refuses is NaN."""
    tables, f = FUNCTIONS[name]
    data, found = model.createData(), []
    for n in range(given.count(name)):
        found.append(
            f(model, data, *(x if t == "frames" else x[n] for t in tables.split() for x in [getattr(given, t)]))
        )
    return np.array(found).reshape(len(found), -1)


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """Worst error of a row, relative to its largest number; rows that are NaN must be so in both."""
    good = np.isfinite(wanted).all(axis=1)
    if not np.array_equal(good, np.isfinite(found).all(axis=1)):
        return np.inf
    found, wanted = found[good], wanted[good]
    scale = np.maximum(np.abs(wanted).max(axis=1, initial=0.0), 1e-300)
    return float((np.abs(found - wanted).max(axis=1, initial=0.0) / scale).max(initial=0.0))
