"""Random chains and trees with rotors, many of them."""

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....approximations import LABELS
from ....compiler.choice import engine
from ....errors import ArgumentTypeError
from .._samples import labels
from ..plots import STYLES, Figure, head, named, panels
from ..random_chains import SHARES, RandomChains, experiment
from ..rungs import Progress
from ._experiment import Experiment, documented
from ._part import Rows

_PANELS = {
    "inverse_share": ("inverse dynamics", "torque error / torque [%]"),
    "forward_share": ("forward dynamics", "acceleration error / acceleration [%]"),
    "base_share": ("floating base in flight", "error of its angular acceleration [%]"),
}
_BESIDE = {"none": (7, 4, "left"), "diagonal": (6, -12, "left"), "block": (-7, 4, "right")}
"""Where the median is written, beside its mark: in points, and which end of the text is there."""


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
        for metric, (what, _) in _panels(self.found).items():
            rows: Rows = [("", *(f"{100 * share:g} % of the robots" for share in SHARES))]
            values = [self.found.quantile(metric, share) for share in SHARES]
            rows += [(LABELS[r], *(f"{100.0 * x[r]:.3g}" for x in values)) for r in self.found.rungs]
            found.append((f"Error that a part of the robots does not exceed, {what}, %", rows))
        return found

    def draw(self, figure: Figure) -> None:
        """Draw how many robots stay below an error."""
        draw_errors(figure, self.found)


def _panels(found: RandomChains) -> dict[str, tuple[str, str]]:
    return {m: text for m, text in _PANELS.items() if np.isfinite(found.values[m]).any()}


def draw_errors(figure: Figure, found: RandomChains, failed: int = 0) -> None:
    """Draw how many robots stay below an error, and say how many more failed."""
    shown = _panels(found)
    all_axes = panels(figure, len(shown), left=0.075, gap=0.12, top=1.4, bottom=0.5)
    for k, (axes, (metric, (title, label))) in enumerate(zip(all_axes, shown.items(), strict=True)):
        rows = 100.0 * found._having(metric)
        part = 100.0 * np.arange(1, len(rows) + 1) / len(rows)
        for i, (rung, middle) in enumerate(found.quantile(metric, 0.5).items()):
            color, median = STYLES[rung]["color"], 100.0 * middle
            axes.plot(np.sort(rows[:, i]), part, **STYLES[rung])
            axes.plot(median, 50.0, marker="o", color=color, markersize=5, zorder=4)
            *beside, at = _BESIDE[rung]
            axes.annotate(
                f"{median:.2g} %" if median < 100.0 else f"{median:.0f} %",
                (median, 50.0),
                xytext=beside,
                textcoords="offset points",
                ha=at,
                fontsize=8,
                color=color,
            )
        axes.axhline(50.0, color="0.6", linewidth=0.8, zorder=1)
        axes.set_xscale("log")
        # a few robots have only rotors on the ground, for which armature is exact: they would fill the axis
        high = 1.2 * float(rows.max())
        axes.set_xlim(max(0.3 * float(np.quantile(rows, 0.03)), 1e-5 * high), high)
        axes.set_ylim(0.0, 100.0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        named(axes, title, label, "" if k else "robots with at most this error [%]")
        axes.tick_params(labelleft=k == 0)
    floating = int(np.count_nonzero(found.values["floating"]))
    missing = f", and {failed} more failed" if failed else ""
    head(
        figure,
        f"{found.robots} random robots: error of each approximation",
        (
            f"{found.states} random states each; {floating} of the robots float{missing}.",
            "Mean norm of the error over that of the exact quantity; the marks are medians.",
        ),
        labels(found.rungs),
    )


@documented
@engine("tables")  # its robots differ
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
