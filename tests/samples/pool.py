"""The samples that laws and oracles run on: trees and closed loops alike, each made once per process, when asked for.

A key names a sample: a name of ``mechanisms.FIXED``; the seed of ``mechanisms.random_one``; ``"tree-5"``, the fifth
random tree with couplings and rotors; ``"planar-3"``, the third of a family of ``families``.
"""

from __future__ import annotations

import functools
import warnings
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from samples import families, mechanisms, trees

import pin_clusters as pc

Key = str | int

# seeds of mechanisms.random_one: planar (odd) and spatial (even), fixed and floating, one and two loops, rods, rotors
RANDOM = (*range(100, 112), 1494)  # the last one has a rod with mass on the universe, above another loop
FIXED = (
    "four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "watt_six_bar", "geared_five_bar",
    "rssr_uneven", "spatial_ball_in_tree", "spatial_ball_loop", "bennett", "sarrus", "delta", "delta_pairs",
    "sloppy_four_bar", "ankle_2rsu", "slider_crank_serial",
)  # fmt: skip
LOOPS: tuple[Key, ...] = (*FIXED, *RANDOM)
MORE = tuple(name for name in mechanisms.FIXED if name not in FIXED)
EXACT = tuple(key for key in LOOPS if key != "sloppy_four_bar")
FAMILIES = tuple(f"{name}-{seed}" for name, (_, n) in families.FAMILIES.items() for seed in range(n))
TREES = tuple(f"tree-{seed}" for seed in range(40))
ALL: tuple[Key, ...] = (*TREES, *LOOPS, *MORE, *FAMILIES)

# one of each kind of kernel and closure: also without the JIT, and with checked bounds
JITLESS = {
    "tree-0", "tree-1", "rotors_on_a_loop_on_free_flyer", "rssr_uneven", "geared_five_bar", "ankle_2rsu",
    "spatial_ball_in_tree", "bennett", "plate_that_follows", "plate_that_leads", 1494,
}  # fmt: skip
# The everyday run has one sample for each kind of cluster and loop closure: couplings and rotors on a fixed base; the
# same on a free flyer; frames with rotors; equations in sines and cosines; rods; frames above a rod with mass.
EVERYDAY = {
    "tree-0", "tree-1", "rotors_on_a_loop_on_free_flyer", "ankle_2rsu", "plate_that_follows", 1494,
}  # fmt: skip
# A tree and a closed loop suffice where a test takes seconds and others check the same quantities.
TWO = {"tree-0", "rotors_on_a_loop_on_free_flyer"}
# The same choice among the families of mechanisms: a planar and a spatial one.
FAMILIES_EVERYDAY = {"planar-0", "spatial-0"}
# CI adds further joint types, mixed closures, random mechanisms and geometry that does not close exactly.
IN_CI = {
    *JITLESS, *(f"tree-{seed}" for seed in (2, 3, 7)), *(name for name in FIXED if name != "delta"), 100, 101, 103,
    "planar-0", "spatial-0", "spatial-2", "spatial-5", "bennett-0",
} - EVERYDAY  # fmt: skip

left_out: frozenset[str] = frozenset()
"""Markers that this run leaves out (set by conftest.py): no test is made for such a parameter."""

FEW = 3
"""So many parameters of a test are in the everyday run, where other tests check the same on further robots."""


def each(
    keys: Iterable[Key] = ALL, *, jitless: bool = True, everyday: Iterable[Key] = EVERYDAY
) -> pytest.MarkDecorator:
    """Parametrize a test by ``key``: ``everyday`` in each run, ``IN_CI`` with --ci as well, all with --long."""
    found, everyday = [], set(everyday)
    for key in keys:
        marks = [] if key in everyday else [pytest.mark.ci if key in IN_CI | EVERYDAY else pytest.mark.long]
        if jitless and key in JITLESS:
            marks.append(pytest.mark.jitless)
        found.append(pytest.param(key, marks=marks, id=str(key)))
    return pytest.mark.parametrize("key", _of_this_run(found))


def some(
    values: Iterable[Any], often: Iterable[Any] | int, jitless: Iterable[Any] = (), *,
    rest: str = "long", everyday: int = FEW,
) -> list[Any]:  # fmt: skip
    """Return parameters of a test or fixture, with markers that choose in which runs each has a test.

    Args:
        values: All of them.
        often: Those for CI, or how many of the first ones.
        jitless: Those that are quick in plain Python.
        rest: Marker of the values that are not in ``often``.
        everyday: How many of ``often`` the everyday run has.
    """
    values = list(values)
    often = values[:often] if isinstance(often, int) else list(often)
    first, jitless = often[:everyday], list(jitless)
    found = []
    for x in values:
        marks = [] if x in first else [pytest.mark.ci if x in often else getattr(pytest.mark, rest)]
        marks += [pytest.mark.jitless] * (x in jitless)
        found.append(pytest.param(x, id=str(x), marks=marks))
    return _of_this_run(found)


def _of_this_run(parameters: list[Any]) -> list[Any]:
    """Return the parameters that this run has, or all if it has none: then pytest deselects the tests and says so."""
    return [x for x in parameters if not any(mark.name in left_out for mark in x.marks)] or parameters


class Case(NamedTuple):
    """A sample.

    Attributes:
        key: Its name.
        model: Of it.
        q: Assembled, conditioned well.
        mechanism: With closed loops; None for a tree.
        robot: Recipe of a tree; None for closed loops.
    """

    key: Key
    model: pc.ClusterModel
    q: np.ndarray
    mechanism: mechanisms.Mechanism | None
    robot: trees.Robot | None

    @property
    def exact(self) -> float:
        """Worst misalignment of the geometry."""
        return self.mechanism.exact if self.mechanism is not None else 0.0

    @property
    def rounding(self) -> float:
        """Gate of two routes to the same quantity; loops are relative to max(1, largest), and K_d below 300."""
        return 1e-10 if self.mechanism is not None else 1e-12

    def pose(self, rng: np.random.Generator) -> np.ndarray:
        """Assembled, on the rows that the model solves for: another one each time, where that is cheap."""
        m = self.mechanism
        if m is None:
            return trees.random_state(self.model, rng)[0]
        if self.key not in FAMILIES:
            return np.array(self.q)
        q = mechanisms.random_pose(self.model, self.q, rng, 0.3 * m.spread, 10.0 * m.exact)
        return pc.project(self.model, q) if m.exact else q

    def along(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: float) -> np.ndarray:
        """Pose on a motion that has this velocity and acceleration at t = 0.

        Trees follow their couplings as the user wrote them, so that their offsets and signs are tested as well.
        """
        step = t * v + 0.5 * t * t * a
        if self.robot is None:
            return pc.integrate(self.model, q, step)
        return trees.on_couplings(self.model, pin.integrate(self.model.tree, q, self.model.coupling_matrix @ step))


@functools.cache
def case(key: Key) -> Case:
    """The sample of a key."""
    name, _, seed = str(key).partition("-")
    if name == "tree":
        return _tree(key, int(seed))
    if seed and name in families.FAMILIES:
        return _family(key, name, int(seed))
    rng = np.random.default_rng(zlib.crc32(str(key).encode()))
    m = mechanisms.FIXED[key](rng) if isinstance(key, str) else mechanisms.random_one(rng, key)
    model = build(m)
    q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
    if m.exact:
        q = pc.project(model, q)  # on the rows that the model solves for
    return _case(key, model, q, m, None)


def _case(key: Key, model: pc.ClusterModel, q: np.ndarray, m: Any, robot: Any) -> Case:
    q.setflags(write=False)
    return Case(key, model, q, m, robot)


def _tree(key: Key, seed: int) -> Case:
    """Any joint type, order, coupling and carrier; on the ground and on free flyers."""
    rng = np.random.default_rng([seed, *b"tree"])
    robot = trees.random_robot(
        rng,
        int(rng.integers(1, 10)),
        floating=seed % 2 == 1,
        couplings=int(rng.integers(0, 4)),
        rotor_bodies=int(rng.integers(0, 4)),
        rotors=int(rng.integers(0, 4)),
        chain=float(rng.choice([0.2, 0.6, 1.0])),
    )
    model = robot.build(("as_added", "depth_first", "shuffled")[seed % 3], rng)
    return _case(key, model, trees.random_state(model, rng)[0], None, robot)


def _family(key: Key, name: str, seed: int) -> Case:
    rng = np.random.default_rng([seed, *name.encode()])
    m = families.FAMILIES[name][0](rng, seed)
    model = build(m)
    assert model.rotors  # on joints of the loops
    for _ in range(5):
        q = mechanisms.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
        if np.abs(pin.difference(model.tree, m.q0, q)).max() > 0.05:  # a direction at random may be short
            break
    return _case(key, model, q, m, None)


def build(m: mechanisms.Mechanism) -> pc.ClusterModel:
    """The model of a mechanism, without the warning about rows that are dropped where geometry is inexact."""
    with warnings.catch_warnings():
        if m.exact:
            warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = m.build()
    assert model.nv == m.nv
    assert m.independent is None or set(model.independent_joints) == set(m.independent)
    return model


class State(NamedTuple):
    """A sample at a state."""

    case: Case
    model: pc.ClusterModel
    data: pc.ClusterData
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    fext: np.ndarray


def state(key: Key, rng: np.random.Generator) -> State:
    """The sample at a random state; no force on the universe."""
    c = case(key)
    q = c.pose(rng)
    v, a = rng.normal(size=(2, c.model.nv))
    fext = 5.0 * rng.normal(size=(c.model.njoints, 6))
    fext[0] = 0.0
    return State(c, c.model, c.model.createData(), q, v, a, fext)


def weightless(model: pc.ClusterModel) -> pc.ClusterModel:
    return model.with_gravity(np.zeros(3))


def error(x: object, y: object) -> float:
    """Largest difference over max(1, largest entry of y)."""
    one, two = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert one.shape == two.shape, (one.shape, two.shape)
    worst = float(np.abs(one - two).max(initial=0.0)) / max(1.0, float(np.abs(two).max(initial=0.0)))
    assert np.isfinite(worst)
    return worst


def slope(f: Callable[[float], Any], h: float) -> np.ndarray:
    """Derivative at 0, of fourth order."""
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
