"""Study the errors of each approximation for many random robots in random states.

The robots resemble the random chains of arXiv 2311.13732 (400 robots with 25 states each). In addition, they
have branches, belts, arbitrary joint axes, floating bases and many gear ratios; see ``study.random_robots``.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import approximations
from ..._support import old_names
from ..._support.arrays import whole_number
from ...algorithms.dynamics.aba import aba
from ...algorithms.dynamics.rnea import rnea
from ...approximations import LEVELS
from ...compiler.choice import engine
from ..pages.results import Result, by_name, told
from . import random_robots
from .approximate_dynamics import Progress, along

ROBOTS, STATES = 400, 25  # Numbers of robots and of states per robot in the paper's study
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)  # Reported quantiles of the error over the robots
METRICS = ("inverse", "inverse_share", "forward", "forward_share", "base", "base_share")  # Error metrics of ``case``


@engine("tables")  # each robot differs, so robot-specific code would not pay off
def case(number: int, *, rng: np.random.Generator, states: int = STATES) -> dict[str, Any]:
    """Compute the errors of the approximations for one random robot, which is one case of a sweep.

    Forward dynamics use the inverse-dynamics joint torques; a floating base is in free flight. ``rng`` supplies all
    random numbers; ``number`` is not used.

    Returns:
        Mean Euclidean norm of the error over the states, one value for each of ``approximations.LEVELS``, shape (3,):
        ``inverse`` for the joint torques [N m], ``forward`` for the joint accelerations [rad/s^2], and ``base`` for the
        base's angular acceleration [rad/s^2] (NaN for a fixed base). ``..._share`` is the error divided by the mean
        norm of the exact quantity. ``links``, ``belts``, ``floating``, ``branches`` and ``ratio`` describe the robot.
    """
    drawn = random_robots.robot(rng)
    model, base = drawn.model, 6 * drawn.floating
    q, v, a = random_robots.states(drawn, states, rng)
    approximate_models = approximations.of(model)
    torque = along(model, approximate_models, rnea, q, v, a)
    free = torque[0].copy()
    free[:, :base] = 0.0
    acceleration = along(model, approximate_models, aba, q, v, free)
    metrics: dict[str, Any] = {}
    for name, values, part in (
        ("inverse", torque, slice(base, None)),
        ("forward", acceleration, slice(base, None)),
        ("base", acceleration, slice(3, 6)),
    ):
        if name == "base" and not drawn.floating:
            metrics["base"] = metrics["base_share"] = np.full(len(approximate_models), np.nan)
            continue
        exact, approximate_values = values[0][:, part], np.array(list(values[1].values()))[:, :, part]
        metrics[name] = np.linalg.norm(approximate_values - exact, axis=2).mean(axis=1)
        metrics[f"{name}_share"] = metrics[name] / np.linalg.norm(exact, axis=1).mean()
    return metrics | {key: getattr(drawn, key) for key in ("links", "belts", "floating", "branches", "ratio")}


@dataclass(frozen=True, eq=False)
class RandomChains(Result):
    """Errors of the approximations over random robots."""

    robots: int  # number of robots
    states: int  # number of states per robot
    seed: int  # seed of the random numbers
    values: dict[str, np.ndarray]  # arrays with one row per robot, by the names that ``case`` returns

    @property
    def levels(self) -> tuple[str, ...]:
        return LEVELS

    rungs = old_names.attribute("levels")

    def mean(self, metric: str) -> dict[str, float]:
        return by_name(LEVELS, np.mean(self._having(metric), axis=0))

    def quantile(self, metric: str, share: float) -> dict[str, float]:
        return by_name(LEVELS, np.quantile(self._having(metric), share, axis=0))

    def _having(self, metric: str) -> np.ndarray:
        rows = self.values[metric]
        return np.asarray(rows[np.isfinite(rows).all(axis=1)])

    def as_dict(self) -> dict[str, Any]:
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


@engine("tables")  # each robot differs, so robot-specific code would not pay off
def experiment(
    robots: int = ROBOTS,
    states: int = STATES,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> RandomChains:
    """Compute the errors for the random robots that ``pin-clusters sweep robots`` draws from the same seed."""
    for name, value, least in (("robots", robots, 1), ("states", states, 1), ("seed", seed, 0)):
        whole_number(f"random_chains.experiment: {name}", value, least)
    draw = partial(_seeded, seed=int(seed), states=int(states))
    cases = []
    for values in map(draw, range(robots)) if executor is None else executor.map(draw, range(robots), chunksize=20):
        cases.append(values)
        if progress is not None:
            progress(len(cases), robots)
    return RandomChains(robots, states, seed, {key: np.array([metrics[key] for metrics in cases]) for key in cases[0]})


def _seeded(number: int, seed: int, states: int) -> dict[str, Any]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    return case(number, rng=rng, states=states)
