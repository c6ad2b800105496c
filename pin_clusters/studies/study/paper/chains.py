"""Measure the errors of the approximations for many random chains and trees with rotors."""

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....approximations import LABELS
from ....compiler.choice import engine
from ....errors import ArgumentTypeError
from .._samples import labels
from ..approximate_dynamics import Progress
from ..plots import STYLES, Figure, head, named, panels
from ..random_chains import SHARES, RandomChains, experiment
from ._experiment import Experiment, documented
from ._part import Rows

_PANELS = {
    "inverse_share": ("inverse dynamics", "torque error / torque [%]"),
    "forward_share": ("forward dynamics", "acceleration error / acceleration [%]"),
    "base_share": ("floating base in flight", "error of its angular acceleration [%]"),
}
_LABEL_OFFSETS = {"none": (7, 4, "left"), "diagonal": (6, -12, "left"), "block": (-7, 4, "right")}
"""Offset of each median's label from its mark, [points], and horizontal alignment of the text."""


@dataclass(frozen=True, eq=False)
class RandomChainsExperiment(Experiment):
    """The errors of the approximations over random robots."""

    found: RandomChains  # results of ``study.random_chains``

    @property
    def title(self) -> str:
        return (
            f"{self.found.robots} random robots x {self.found.states} random states (seed {self.found.seed}); the "
            "relative error of a robot is the mean norm of the error divided by the mean norm of the exact quantity."
        )

    @property
    def summary(self) -> str:
        middle = self.found.quantile("inverse_share", 0.5)
        errors_text = ", ".join(f"{100.0 * x:.3g} % with {LABELS[level]}" for level, x in middle.items())
        return f"Median torque error over the robots: {errors_text}."

    def as_dict(self) -> dict[str, Any]:
        return {"experiment": "random-chains", **self.found.as_dict()}

    def tables(self) -> list[tuple[str, Rows]]:
        tables = []
        for metric, (quantity, _) in _panels(self.found).items():
            rows: Rows = [("", *(f"{100 * share:g} % of the robots" for share in SHARES))]
            values = [self.found.quantile(metric, share) for share in SHARES]
            rows += [(LABELS[r], *(f"{100.0 * x[r]:.3g}" for x in values)) for r in self.found.levels]
            tables.append((f"Quantiles of the error over the robots, {quantity}, %", rows))
        return tables

    def draw(self, figure: Figure) -> None:
        draw_errors(figure, self.found)


def _panels(results: RandomChains) -> dict[str, tuple[str, str]]:
    return {m: text for m, text in _PANELS.items() if np.isfinite(results.values[m]).any()}


def draw_errors(figure: Figure, found: RandomChains, failed: int = 0) -> None:
    shown = _panels(found)
    all_axes = panels(figure, len(shown), left=0.075, gap=0.12, top=1.4, bottom=0.5)
    for k, (axes, (metric, (title, label))) in enumerate(zip(all_axes, shown.items(), strict=True)):
        rows = 100.0 * found._having(metric)
        percentile = 100.0 * np.arange(1, len(rows) + 1) / len(rows)
        for i, (level, middle) in enumerate(found.quantile(metric, 0.5).items()):
            color, median = STYLES[level]["color"], 100.0 * middle
            axes.plot(np.sort(rows[:, i]), percentile, **STYLES[level])
            axes.plot(median, 50.0, marker="o", color=color, markersize=5, zorder=4)
            *offset, alignment = _LABEL_OFFSETS[level]
            axes.annotate(
                f"{median:.2g} %" if median < 100.0 else f"{median:.0f} %",
                (median, 50.0),
                xytext=offset,
                textcoords="offset points",
                ha=alignment,
                fontsize=8,
                color=color,
            )
        axes.axhline(50.0, color="0.6", linewidth=0.8, zorder=1)
        axes.set_xscale("log")
        # In a few robots, all rotors are on the ground, so armature is exact; the axis omits these rounding errors.
        high = 1.2 * float(rows.max())
        axes.set_xlim(max(0.3 * float(np.quantile(rows, 0.03)), 1e-5 * high), high)
        axes.set_ylim(0.0, 100.0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        named(axes, title, label, "" if k else "robots with at most this error [%]")
        axes.tick_params(labelleft=k == 0)
    floating = int(np.count_nonzero(found.values["floating"]))
    missing = f"; {failed} more robots failed" if failed else ""
    head(
        figure,
        f"{found.robots} random robots: error of each approximation",
        (
            f"{found.states} random states each; {floating} robots have a floating base{missing}.",
            "Mean norm of the error divided by the mean norm of the exact quantity; the marks are medians.",
        ),
        labels(found.levels),
    )


@documented
@engine("tables")  # each robot differs, so robot-specific code would not pay off
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
    """Measure the errors of the approximations for random robots.

    Args:
        model: Must be None, because the robots are random.
        drop_rotors: Must be False, because the approximations lock the rotors.
        robots: Number of robots.
        states: Number of states of each robot.
        executor: ``concurrent.futures.Executor`` that studies the robots in parallel.
    """
    if model is not None:
        raise ArgumentTypeError("the experiment 'random-chains' draws its own robots; call it without a robot.")
    if drop_rotors:
        raise ArgumentTypeError("the experiment 'random-chains' locks the rotors; drop_rotors is not available.")
    return RandomChainsExperiment(experiment(robots, states, seed, executor, progress))
