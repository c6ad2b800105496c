"""One PNG: per joint the torques and the errors of the approximations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .report import LABELS
from .rungs import RUNGS

if TYPE_CHECKING:
    from . import StudyResult

# Okabe and Ito's colours, which the colour-blind can tell apart; line styles say the same once more
STYLES: dict[str, dict[str, Any]] = {
    "exact": {"color": "#000000", "linestyle": "-", "linewidth": 1.6},
    "none": {"color": "#E69F00", "linestyle": ":", "linewidth": 1.6},
    "diagonal": {"color": "#0072B2", "linestyle": "--", "linewidth": 1.3},
    "block": {"color": "#D55E00", "linestyle": "-", "linewidth": 1.1},
}
_PERIODS = 2.0
_POINTS = 400
_ROWS = 16
_DPI = 110


def save(result: StudyResult, path: Path) -> None:
    """Draw the study and write it as PNG.

    A row per joint: torques on the left, errors on the right, over the first periods (they repeat).

    Args:
        result: The study.
        path: Where to; the folder must exist.

    Raises:
        OSError: The file cannot be written.
    """
    # not pyplot: it would look for a window system, and takes longer to import
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    n = len(result.joints)
    stacks = math.ceil(n / _ROWS)
    rows = math.ceil(n / stacks)
    height = max(1.35 * rows + 1.5, 3.4)
    figure = Figure(figsize=(9.6 * stacks, height), dpi=_DPI)
    FigureCanvasAgg(figure)
    left, right = 0.075 / stacks, 1.0 - 0.02 / stacks
    grid = figure.add_gridspec(
        rows, 2 * stacks, left=left, right=right, top=1.0 - 1.12 / height, bottom=0.5 / height, hspace=0.2,
        wspace=0.2 if stacks == 1 else 0.28,
    )  # fmt: skip
    shown = _shown(result)
    rms = result.rms_error
    for k, name in enumerate(result.joints):
        row, stack = k % rows, k // rows
        last = row == rows - 1 or k == n - 1
        torque = figure.add_subplot(grid[row, 2 * stack])
        error = figure.add_subplot(grid[row, 2 * stack + 1])
        time = result.time[shown]
        for rung in RUNGS:
            torque.plot(time, result.approximate[rung][shown, k], **STYLES[rung])
            error.plot(time, result.error(rung)[shown, k], **STYLES[rung])
        torque.plot(time, result.exact[shown, k], zorder=1, **STYLES["exact"])
        error.axhline(0.0, **STYLES["exact"] | {"linewidth": 0.8, "zorder": 1})
        torque.set_ylabel(f"{name}\n[{result.units[k]}]", fontsize=9)
        text = "RMS  " + "   ".join(f"{rung} {rms[rung][k]:.3f}" for rung in RUNGS)
        error.set_title(text, fontsize=8, loc="right", pad=2.0, color="#333333")
        for axes in (torque, error):
            _tidy(axes, float(time[-1]), last)
        if row == 0:
            torque.set_title("torque", fontsize=10, loc="left", pad=2.0)
            error.set_title("error", fontsize=10, loc="left", pad=2.0)
    _head(figure, result, height)
    figure.savefig(path)


def _shown(result: StudyResult) -> np.ndarray:
    """Return the indices of the samples that are drawn: few, and over whole periods."""
    end = int(np.searchsorted(result.time, _PERIODS / result.sine.frequency * (1.0 + 1e-9), side="right"))
    return np.unique(np.linspace(0, max(end, 1) - 1, _POINTS).astype(int))


def _tidy(axes: Any, end: float, last: bool) -> None:
    axes.set_xlim(0.0, end or 1.0)
    axes.margins(y=0.12)
    axes.locator_params(axis="y", nbins=4)
    axes.tick_params(labelsize=8, labelbottom=last, length=2.5)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if last:
        axes.set_xlabel("time [s]", fontsize=9)


def _head(figure: Any, result: StudyResult, height: float) -> None:
    """Write title, subtitle and legend above the panels."""
    from matplotlib.lines import Line2D

    sine = result.sine
    rotors = "dropped" if result.drop_rotors else "locked into their carriers"
    x = 0.075 / math.ceil(len(result.joints) / _ROWS)
    figure.text(x, 1.0 - 0.3 / height, f"{result.robot}: what approximate transmissions get wrong", fontsize=13)
    subtitle = (
        f"inverse dynamics, fixed base, each joint moves as {sine.amplitude:g} sin(2$\\pi$ {sine.frequency:g} Hz t); "
        f"rotors of the approximations are {rotors}; error = approximate $-$ exact"
    )
    figure.text(x, 1.0 - 0.53 / height, subtitle, fontsize=8.5, color="#333333")
    labels = {"exact": "exact rotors"} | LABELS
    handles = [Line2D([], [], label=labels[key], **style) for key, style in STYLES.items()]
    figure.legend(
        handles=handles, ncols=4, fontsize=9, frameon=False, loc="upper left", handlelength=2.8, borderaxespad=0.0,
        borderpad=0.0, bbox_to_anchor=(x, 1.0 - 0.63 / height),
    )  # fmt: skip
