"""The random robots of the paper's accuracy study: what each approximation gets wrong, over many machines and states.

Like the random chains in the library of arXiv 2311.13732 (400 robots of 25 states), but with branches, belts, axes in
any direction, floating bases and many ratios: ``study.random_robots`` says how they are drawn.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import approximations
from ..._support.arrays import whole_number
from ...algorithms.dynamics.aba import aba
from ...algorithms.dynamics.rnea import rnea
from ...approximations import RUNGS
from ...compiler.choice import engine
from ..pages.results import Result, by_name, told
from . import random_robots
from .rungs import Progress, along

ROBOTS, STATES = 400, 25
"""Numbers of the paper's study."""
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Parts of the robots whose largest error is told."""
METRICS = ("inverse", "inverse_share", "forward", "forward_share", "base", "base_share")
"""What is measured for each approximation; see ``case``."""


@engine("tables")  # its robots differ
def case(number: int, *, rng: np.random.Generator, states: int = STATES) -> dict[str, Any]:
    """Draw one robot and measure its approximations: a case of a sweep.

    Forward dynamics are those of the joint torques of the drawn motion; a base that floats is in free flight.

    Args:
        number: Of the case; it decides nothing, as all that is random comes from ``rng``.
        rng: Source of all randomness.
        states: How many states.

    Returns:
        Per approximation (``approximations.RUNGS``), shape (3,), mean over the states of the Euclidean norm of the
        error: ``inverse`` of the joint torques [N m]; ``forward`` of the joint accelerations [rad/s^2]; ``base`` of the
        base's angular acceleration [rad/s^2], NaN where it is fixed. Each again as ``..._share`` of the mean norm of
        the exact quantity. And what the robot is: ``links``, ``belts``, ``floating``, ``branches``, ``ratio``.
    """
    drawn = random_robots.robot(rng)
    model, base = drawn.model, 6 * drawn.floating
    q, v, a = random_robots.states(drawn, states, rng)
    ladder = approximations.of(model)
    torque = along(model, ladder, rnea, q, v, a)
    free = torque[0].copy()
    free[:, :base] = 0.0
    acceleration = along(model, ladder, aba, q, v, free)
    found: dict[str, Any] = {}
    for name, values, part in (
        ("inverse", torque, slice(base, None)),
        ("forward", acceleration, slice(base, None)),
        ("base", acceleration, slice(3, 6)),
    ):
        if name == "base" and not drawn.floating:
            found["base"] = found["base_share"] = np.full(len(ladder), np.nan)
            continue
        exact, rungs = values[0][:, part], np.array(list(values[1].values()))[:, :, part]
        found[name] = np.linalg.norm(rungs - exact, axis=2).mean(axis=1)
        found[f"{name}_share"] = found[name] / np.linalg.norm(exact, axis=1).mean()
    return found | {key: getattr(drawn, key) for key in ("links", "belts", "floating", "branches", "ratio")}


@dataclass(frozen=True, eq=False)
class RandomChains(Result):
    """The errors of the approximations over random robots.

    Attributes:
        robots: Number of robots.
        states: Number of states of each.
        seed: Of the random numbers.
        values: What ``case`` returns, by name, a row per robot.
    """

    robots: int
    states: int
    seed: int
    values: dict[str, np.ndarray]

    @property
    def rungs(self) -> tuple[str, ...]:
        """Names of the approximations: the columns."""
        return RUNGS

    def mean(self, metric: str) -> dict[str, float]:
        """Return the mean of a metric over the robots (those that have it), per approximation."""
        return by_name(RUNGS, np.mean(self._having(metric), axis=0))

    def quantile(self, metric: str, share: float) -> dict[str, float]:
        """Return the value that a share of the robots does not exceed, per approximation."""
        return by_name(RUNGS, np.quantile(self._having(metric), share, axis=0))

    def _having(self, metric: str) -> np.ndarray:
        """Return the rows of robots that have a metric: only bases that float have an acceleration."""
        rows = self.values[metric]
        return np.asarray(rows[np.isfinite(rows).all(axis=1)])

    def as_dict(self) -> dict[str, Any]:
        """Return the summary for JSON."""
        metrics = [m for m in METRICS if np.isfinite(self.values[m]).any()]
        return told(
            self,
            "robots states_per_robot:states seed",
            with_floating_base=int(np.count_nonzero(self.values["floating"])),
            links=int(self.values["links"].sum()),
            belts=int(self.values["belts"].sum()),
            units={"inverse": "N m", "forward": "rad/s^2", "base": "rad/s^2"},
            mean={m: self.mean(m) for m in metrics},
            quantiles={m: {f"{share:g}": self.quantile(m, share) for share in SHARES} for m in metrics},
        )


@engine("tables")  # its robots differ
def experiment(
    robots: int = ROBOTS,
    states: int = STATES,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> RandomChains:
    """Measure the approximations of random robots.

    Robot ``i`` is the same whatever the number of robots and the executor, and that of ``pin-clusters sweep robots``.

    Args:
        robots: How many robots.
        states: How many states of each.
        seed: Of the random numbers.
        executor: Any ``concurrent.futures.Executor``; by default everything runs here, one robot after the other.
        progress: Called with (done, total) now and then.

    Raises:
        ArgumentTypeError: A number is not whole, or too small.
    """
    for name, value, least in (("robots", robots, 1), ("states", states, 1), ("seed", seed, 0)):
        whole_number(f"random_chains.experiment: {name}", value, least)
    one = partial(_seeded, seed=int(seed), states=int(states))
    found = []
    for values in map(one, range(robots)) if executor is None else executor.map(one, range(robots), chunksize=20):
        found.append(values)
        if progress is not None:
            progress(len(found), robots)
    return RandomChains(robots, states, seed, {key: np.array([f[key] for f in found]) for key in found[0]})


def _seeded(number: int, seed: int, states: int) -> dict[str, Any]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    return case(number, rng=rng, states=states)
