"""Mechanisms with closed loops that several test modules share: each is made once per session."""

from __future__ import annotations

import functools
import warnings
import zlib
from typing import NamedTuple

import numpy as np
from samples import mechanisms

import pin_clusters as pc

# seeds of mechanisms.random_one: planar (odd) and spatial (even), fixed and floating, one and two loops, rods, rotors
RANDOM = tuple(range(100, 112))
FIXED = (
    "four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "watt_six_bar", "geared_five_bar",
    "rssr_massive", "spatial_ball_in_tree", "spatial_ball_loop", "bennett", "sarrus", "delta", "delta_pairs",
    "sloppy_four_bar", "ankle_2rsu", "slider_crank_serial",
)  # fmt: skip
ALL: tuple[str | int, ...] = (*FIXED, *RANDOM)
EXACT = tuple(key for key in ALL if key != "sloppy_four_bar")


class Case(NamedTuple):
    mechanism: mechanisms.Mechanism
    model: pc.ClusterModel
    q: np.ndarray  # assembled, conditioned well


@functools.cache
def _case(key: str | int) -> Case:
    rng = np.random.default_rng(zlib.crc32(str(key).encode()))
    m = mechanisms.FIXED[key](rng) if isinstance(key, str) else mechanisms.random_one(rng, key)
    with warnings.catch_warnings():
        if m.exact:  # says that rows are dropped
            warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = m.build()
    q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
    if m.exact:
        q = pc.project(model, q)  # on the rows that the model solves for
    q.setflags(write=False)
    return Case(m, model, q)


def case(key: str | int) -> Case:
    """The mechanism, its model and a pose, by name or seed."""
    return _case(key)


def error(x: object, y: object) -> float:
    """Largest difference over max(1, largest entry of y)."""
    one, two = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert one.shape == two.shape, (one.shape, two.shape)
    worst = float(np.abs(one - two).max(initial=0.0)) / max(1.0, float(np.abs(two).max(initial=0.0)))
    assert np.isfinite(worst)
    return worst


def slope(f: object, h: float) -> np.ndarray:
    """Derivative at 0, of fourth order."""
    assert callable(f)
    return np.asarray((8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h))


def step_of(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """A time over which the motion is smooth, and how fast it is."""
    data = model.createData()
    rate = max(
        1.0,
        float(np.abs(pc.spanning_velocity(model, data, q, v)).max()),
        float(np.sqrt(np.abs(pc.coupling_bias(model, data, q, v)).max(initial=0.0))),
    )
    return 1e-3 / rate, rate
