"""One PNG: per joint the torques and the errors of the approximations."""

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._support.picture_names import literal
from ..._support.whole_files import whole
from ...approximations import LOOP_RUNGS
from . import report
from ._samples import labels, locked, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

    from .accuracy import StudyResult
else:
    Figure = Any  # Matplotlib is imported when something is drawn

# Okabe and Ito's colours, and Tol's wine red, which the colour-blind can tell apart; line styles say the same again
STYLES: dict[str, dict[str, Any]] = {
    "exact": {"color": "#000000", "linestyle": "-", "linewidth": 2.2, "zorder": 2.0},
    "none": {"color": "#E69F00", "linestyle": ":", "linewidth": 1.6, "zorder": 2.1},
    "block": {"color": "#D55E00", "linestyle": "-", "linewidth": 1.5, "zorder": 2.2},
    # on top and dashed: without belts block and diagonal are the same, and both must be seen
    "diagonal": {"color": "#0072B2", "linestyle": (0, (3.5, 3.5)), "linewidth": 1.5, "zorder": 2.3},
    # on top: it can be the same as "no rotor"
    "unconstrained": {"color": "#882255", "linestyle": ":", "linewidth": 2.0, "zorder": 2.4},
    "frozen": {"color": "#009E73", "linestyle": "-.", "linewidth": 1.5, "zorder": 2.15},
    "no rotor": {"color": "#E69F00", "linestyle": "-", "linewidth": 1.8, "zorder": 2.2},
    "armature": {"color": "#0072B2", "linestyle": (0, (3.5, 3.5)), "linewidth": 1.5, "zorder": 2.3},
}
_PERIODS = 2.0
_ROWS = 16
_DPI = 110
_LEFT = 0.068
_WHAT = {False: "transmissions", True: "loops and transmissions"}
_SIZES = (8.5, 7.9, 7.3, 6.7, 6.1)
"""Font sizes of what stands above the panels of errors; the first at which all of it fits is taken."""


def save(result: "StudyResult", path: Path) -> None:
    """Draw the study and write it as PNG.

    A row per joint: torques on the left, errors on the right; of a sine over the first periods (they repeat).
    """
    n = len(result.joints)
    stacks = math.ceil(n / _ROWS)
    rows = math.ceil(n / stacks)
    height = 1.45 * rows + 1.75
    figure = new_figure(figsize=(9.6 * stacks, height))
    grid = figure.add_gridspec(
        rows,
        2 * stacks,
        left=_LEFT / stacks,
        right=1.0 - 0.02 / stacks,
        top=1.0 - 1.32 / height,
        bottom=0.5 / height,
        hspace=0.32,
        wspace=0.22 if stacks == 1 else 0.26,
    )
    shown = shown_samples(result)
    rms = result.rms_error
    titles: list[Any] = []
    for k, name in enumerate(result.joints):
        row, stack = k % rows, k // rows
        last = row == rows - 1 or k == n - 1
        torque, error = panels = [figure.add_subplot(grid[row, 2 * stack + i]) for i in range(2)]
        text = _rms_line({rung: float(x[k]) for rung, x in rms.items()}, float(result.max_exact[k]))
        # the wrench on a base says it itself
        what = "moment" if name.startswith("base moment") else "force" if result.units[k] == "N" else "torque"
        titles.append(draw_joint(panels, result, k, shown, name, text, what=what, last=last))
        for axes in panels:
            axes.yaxis.set_label_coords(-0.12 if stacks == 1 or axes is torque else -0.15, 0.5)
            axes.tick_params(labelbottom=last)
            _not_rounding(axes, result, k)
    _fit(titles, error.get_window_extent().width)
    _study_head(figure, result)
    save_figure(figure, path)


def new_figure(**options: Any) -> Figure:
    """Return an empty figure."""
    # not pyplot: it would look for a window system, and takes longer to import
    with quiet_about_its_folder():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(dpi=_DPI, **options)
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: Path, **options: Any) -> None:
    """Write a figure to a file, all of it or nothing, in the format that its ending says."""
    with whole(path) as (part,):
        figure.savefig(part, format=path.suffix[1:] or "png", **options)


def draw_joint(
    panels: list[Any], result: "StudyResult", k: int, shown: np.ndarray, title: str, text: str, *, what: str, last: bool
) -> Any:
    """Draw the torques of a joint on one panel, their errors on another, whose title is returned."""
    torque, error = panels
    time = result.time[shown]
    for rung in result.approximate:
        torque.plot(time, result.approximate[rung][shown, k], **STYLES[rung])
        error.plot(time, result.error(rung)[shown, k], **STYLES[rung])
    torque.plot(time, result.exact[shown, k], **STYLES["exact"])
    error.axhline(0.0, **STYLES["exact"] | {"linewidth": 0.9})
    for axes, name in ((torque, what), (error, "error")):
        axes.set_xlim(0.0, float(time[-1]) or 1.0)
        axes.margins(y=0.12)
        axes.locator_params(axis="y", nbins=4)
        axes.set_ylabel(f"{name} [{result.units[k]}]", fontsize=8.5)
        axes.set_xlabel("time [s]" if last else "", fontsize=9)
        tidy(axes)
    torque.set_title(literal(title), fontsize=10, loc="left", pad=3.0, fontweight="bold")
    return error.set_title(text, loc="left", pad=3.0, color="#333333")


@contextmanager
def quiet_about_its_folder() -> Iterator[None]:
    """Keep Matplotlib from telling that it puts its caches into a temporary folder, as the home cannot be written.

    Who sets ``MPLCONFIGDIR`` wants to know when that folder does not serve.
    """

    def other(record: logging.LogRecord) -> bool:
        return not any(part in str(record.msg) for part in ("MPLCONFIGDIR", "mkdir -p", "writable directory"))

    if os.environ.get("MPLCONFIGDIR"):
        yield
        return
    logger = logging.getLogger("matplotlib")
    logger.addFilter(other)
    try:
        yield
    finally:
        logger.removeFilter(other)


def _rms_line(rms: dict[str, float], largest: float) -> str:
    """Return what stands above a panel of errors; four numbers need short ones."""
    if len(rms) <= 3:
        return "RMS:  " + "   ".join(f"{rung} {x:.3f}" for rung, x in rms.items())
    # rounding is no error
    return "RMS:  " + "   ".join(f"{rung} {x if x > 1e-12 * largest else 0.0:.2g}" for rung, x in rms.items())


def _fit(titles: list[Any], width: float) -> None:
    """Give all titles one size at which none is wider than its panel, [pixels]."""
    for size in _SIZES:
        for title in titles:
            title.set_fontsize(size)
        if all(title.get_window_extent().width <= width for title in titles):
            return


def shown_samples(result: "StudyResult", points: int = 400, of_all: int = 1200) -> np.ndarray:
    """Return the indices of the samples that are drawn: some of whole periods, or of all."""
    period = getattr(result.trajectory, "period", None)
    if period is None:
        return spread(len(result.time), of_all)
    end = int(np.searchsorted(result.time, _PERIODS * period * (1.0 + 1e-9), side="right"))
    return spread(max(end, 1), points)


def tidy(axes: Any) -> None:
    """Thin grid, no frame at the top and at the right."""
    axes.tick_params(labelsize=8, length=2.5)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def named(axes: Any, title: str, x: str, y: str) -> None:
    """Name a panel and its axes, and tidy it."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    tidy(axes)


def panels(
    figure: Figure,
    n: int,
    rows: int = 1,
    *,
    height: float = 4.9,
    left: float = 0.075,
    right: float = 0.98,
    gap: float = 0.24,
    top: float = 1.6,
    bottom: float = 0.52,
    **more: Any,
) -> list[Any]:
    """Make rows of panels that leave room for a head, [inches] above and below; return them row by row."""
    figure.set_size_inches(9.6, height)
    grid = figure.add_gridspec(
        rows, n, left=left, right=right, top=1.0 - top / height, bottom=bottom / height, wspace=gap, **more
    )
    return [figure.add_subplot(grid[i, k]) for i in range(rows) for k in range(n)]


def _not_rounding(axes: Any, result: "StudyResult", k: int) -> None:
    """Widen an axis that would show rounding errors only."""
    same = max(float(x) for x, unit in zip(result.max_exact, result.units, strict=True) if unit == result.units[k])
    low, high = axes.get_ylim()
    if high - low < 1e-9 * same:
        middle = 0.5 * (high + low)
        axes.set_ylim(middle - 1e-3 * same, middle + 1e-3 * same)


def titled(figure: Any, title: str, lines: tuple[str, ...], left: float = 0.025, spacing: float = 0.19) -> float:
    """Write title and lines at the top of a figure; return its height, [inches]."""
    height = float(figure.get_figheight())
    figure.text(left, 1.0 - 0.3 / height, title, fontsize=13)
    for k, line in enumerate(lines):
        figure.text(left, 1.0 - (0.34 + spacing * (k + 1)) / height, line, fontsize=9, color="#333333")
    return height


def head(
    figure: Any,
    title: str,
    lines: tuple[str, ...],
    labels: dict[str, str],
    left: float = 0.025,
    *,
    spacing: float = 0.19,
    gap: float = 0.26,
) -> None:
    """Write title, lines and, below a gap, a legend above the panels; 1.3 inches are needed."""
    from matplotlib.lines import Line2D

    height = titled(figure, title, lines, left, spacing)
    handles = [Line2D([], [], label=label, **STYLES[key]) for key, label in labels.items()]
    figure.legend(
        handles=handles,
        ncols=len(handles),
        fontsize=9,
        frameon=False,
        loc="upper left",
        handlelength=3.2,
        borderaxespad=0.0,
        borderpad=0.0,
        bbox_to_anchor=(left, 1.0 - (0.34 + spacing * len(lines) + gap) / height),
    )


def _study_head(figure: Any, result: "StudyResult") -> None:
    """Write title, subtitle and legend above the panels."""
    loops = result.loops
    rotors = locked(result.drop_rotors, "left out")
    approximate = f"The approximations have their rotors {rotors}. "
    if loops:
        few = set(result.approximate) <= set(LOOP_RUNGS)
        approximate = "" if few else f"In the last two approximations rotors are {rotors}. "
    x = (_LEFT - 0.045) / math.ceil(len(result.joints) / _ROWS)
    cut = "" if result.reach is None else f" (cut from {result.asked:g}: the loops end at {result.reach.end:g})"
    motion = literal(report.motion(result)).replace("moving", "moves").replace("2 pi", "2$\\pi$")
    # as it was asked for, where the motion says so
    duration = float(getattr(result.trajectory, "duration", result.time[-1] - result.time[0]))
    head(
        figure,
        f"{literal(result.robot)}: what approximate {_WHAT[loops]} get wrong",
        (
            f"Inverse dynamics, {result.base} base; {motion}{cut}.",
            f"{approximate}Error = approximate $-$ exact; RMS over {duration:.3g} s.",
        ),
        {"exact": "exact" if loops else "exact rotors"} | labels(result.approximate),
        x,
        spacing=0.18,
        gap=0.12,
    )
