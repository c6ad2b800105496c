"""Random chains and trees with rotors, many of them."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....approximations import LABELS
from ....errors import ArgumentTypeError
from .._samples import labels
from ..plots import STYLES, Figure, head, named, panels
from ..random_chains import SHARES, RandomChains, experiment
from ..rungs import Progress
from ._experiment import Experiment, Rows, documented

_PANELS = {
    "inverse_share": ("inverse dynamics", "torque error / torque [%]"),
    "forward_share": ("forward dynamics", "acceleration error / acceleration [%]"),
    "base_share": ("floating base in flight", "error of its angular acceleration [%]"),
}


@dataclass(frozen=True, eq=False)
class RandomChainsExperiment(Experiment):
    """The errors of the approximations over random robots.

    Attributes:
        found: See ``study.random_chains``.
    """

    found: RandomChains

    @property
    def title(self) -> str:
        """What was done."""
        return (
            f"{self.found.robots} random robots x {self.found.states} random states (seed {self.found.seed}); the "
            "error of a robot is the mean norm of its error over the mean norm of the exact quantity."
        )

    @property
    def summary(self) -> str:
        """What the median robot has."""
        middle = self.found.quantile("inverse_share", 0.5)
        said = ", ".join(f"{100.0 * x:.3g} % with {LABELS[rung]}" for rung, x in middle.items())
        return f"Median torque error over the robots: {said}."

    def as_dict(self) -> dict[str, Any]:
        """Return the summary, ready for JSON."""
        return {"experiment": "random-chains", **self.found.as_dict()}

    def tables(self) -> list[tuple[str, Rows]]:
        """Return quantiles over the robots."""
        found = []
        for metric, (what, _) in self._panels().items():
            rows: Rows = [("", *(f"{100 * share:g} % of the robots" for share in SHARES))]
            values = [self.found.quantile(metric, share) for share in SHARES]
            rows += [(LABELS[r], *(f"{100.0 * x[r]:.3g}" for x in values)) for r in self.found.rungs]
            found.append((f"Error that a part of the robots does not exceed, {what}, %", rows))
        return found

    def _panels(self) -> dict[str, tuple[str, str]]:
        return {m: text for m, text in _PANELS.items() if np.isfinite(self.found.values[m]).any()}

    def draw(self, figure: Figure) -> None:
        """Draw how many robots stay below an error."""
        shown = self._panels()
        all_axes = panels(figure, len(shown), left=0.075, gap=0.12, top=1.4, bottom=0.5)
        for k, (axes, (metric, (title, label))) in enumerate(zip(all_axes, shown.items(), strict=True)):
            rows = 100.0 * self.found._having(metric)
            part = 100.0 * np.arange(1, len(rows) + 1) / len(rows)
            for i, rung in enumerate(self.found.rungs):
                axes.plot(np.sort(rows[:, i]), part, **STYLES[rung])
            axes.set_xscale("log")
            # a few robots have only rotors on the ground, for which armature is exact: they would fill the axis
            axes.set_xlim(max(0.3 * float(np.quantile(rows, 0.03)), 1e-3), 1.2 * float(rows.max()))
            axes.set_ylim(0.0, 100.0)
            named(axes, title, label, "" if k else "robots with at most this error [%]")
            axes.tick_params(labelleft=k == 0)
        head(
            figure, f"{self.found.robots} random robots: error of each approximation",
            (f"{self.found.states} random states each; mean norm of the error over that of the exact quantity.",),
            labels(self.found.rungs),
        )  # fmt: skip


@documented
def run(
    model: object = None,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
    robots: int = 400,
    states: int = 25,
    seed: int = 0,
    executor: Executor | None = None,
) -> RandomChainsExperiment:
    """Measure the approximations of random robots.

    Args:
        model: None: the robots are random.
        drop_rotors: False: the approximations have locked rotors.
        robots: How many robots.
        states: How many states of each.
        executor: Any ``concurrent.futures.Executor``.

    Raises:
        ArgumentTypeError: A robot was given, or a number is not allowed.
    """
    if model is not None:
        raise ArgumentTypeError("the experiment 'random-chains' makes its own robots; leave the robot out.")
    if drop_rotors:
        raise ArgumentTypeError("the experiment 'random-chains' locks the rotors; drop_rotors is not available.")
    return RandomChainsExperiment(experiment(robots, states, seed, executor, progress))
