"""Draw the figures of the sweeps as PNG files."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._support.picture_names import literal
from ...approximations import LABELS
from ..study.paper.chains import draw_errors
from ..study.plots import STYLES, new_figure, save_figure

if TYPE_CHECKING:
    from ..study.random_chains import RandomChains
    from .ratio import RatioSweep

_MARKERS = {"none": "o", "diagonal": "s", "block": "D", "unconstrained": "^", "frozen": "v", "no rotor": "o"}
_PANEL = (3.1, 2.45)


def ratio(result: "RatioSweep", path: Path) -> None:
    n = len(result.joints)
    columns = min(n, 3 if n <= 9 else 4)
    rows = math.ceil(n / columns)
    head = 0.95
    figure = new_figure(figsize=(max(_PANEL[0] * columns, 6.4), _PANEL[1] * rows + head))
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    shown = result.rms[result.rms > 0.0]
    for k, axes in enumerate(grid.flat):
        if k >= n:
            axes.set_visible(False)
            continue
        geared = np.isfinite(result.ratios[k])
        ratio_as_given = result.ratios[k] if geared else 1.0
        x = result.factors * ratio_as_given
        for r, level in enumerate(result.levels):
            y = result.rms[:, r, k]
            visible = y > 1e-9 * max(result.peak[:, k].max(), 1e-300)  # smaller values are rounding errors
            axes.plot(x[visible], y[visible], **_marked(level))
        axes.set_yscale("log")
        axes.set_title(
            literal(result.joints[k]) + (f"  (original: {ratio_as_given:.4g})" if geared else ""), fontsize=9
        )
        axes.axvline(ratio_as_given, color="0.6", linewidth=0.8, zorder=1)
        axes.set_xscale("log")
        axes.grid(True, which="major", alpha=0.35, linewidth=0.6)
        axes.tick_params(labelsize=8)
        _plain_ticks(axes, x)
        if k % columns == 0:
            unit = result.units[0] if len(set(result.units)) == 1 else "N m or N"
            axes.set_ylabel(f"RMS torque error [{unit}]", fontsize=8)
        if k >= n - columns:
            axes.set_xlabel("gear ratio" if geared else "factor of all ratios", fontsize=8)
    if shown.size:
        grid[0, 0].set_ylim(max(shown.min() * 0.6, shown.max() * 1e-6), shown.max() * 1.8)
    title = f"{literal(result.robot)}: error of the approximations over the gear ratio at constant reflected inertia"
    _finish(figure, path, result.levels, title, f"{literal(result.motion)}; grey line: original robot", head - 0.1)


def robots(result: "RandomChains", path: Path, failed: int = 0) -> None:
    figure = new_figure()
    draw_errors(figure, result, failed)
    save_figure(figure, path, facecolor="white")


def _marked(level: str) -> dict[str, Any]:
    return STYLES[level] | {"marker": _MARKERS.get(level, "x"), "markersize": 4.0}


def _finish(figure: Any, path: Path, levels: tuple[str, ...], title: str, below: str, head: float) -> None:
    from matplotlib.lines import Line2D

    inch = 1.0 / figure.get_figheight()
    # suptitle is not used, because tight_layout would reserve space for it in addition to ``head``.
    figure.text(0.5, 1.0 - 0.12 * inch, title, ha="center", va="top", fontsize=11)
    handles = [Line2D([], [], label=LABELS[level], **_marked(level)) for level in levels]
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 1.0 - 0.28 * inch),
        ncols=len(handles),
        fontsize=8,
        frameon=False,
    )
    figure.text(0.5, 1.0 - 0.68 * inch, below, ha="center", va="center", fontsize=8, color="0.35")
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - head * inch))
    save_figure(figure, path, facecolor="white")


def _plain_ticks(axes: Any, x: np.ndarray) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    ticks = [float(x[0])]
    for value in x[1:].tolist():
        if value / ticks[-1] > 1.9:
            ticks.append(value)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
