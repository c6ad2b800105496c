"""Draw the results of the study as a PNG file: the torques and the errors of the approximations at each joint."""

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
from ...approximations import LOOP_LEVELS
from . import report
from ._samples import labels, locked, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

    from .accuracy import StudyResult
else:
    Figure = Any  # importing Matplotlib is slow, so only the drawing functions import it

# Colour-blind readers can distinguish these colours (Okabe and Ito, Tol). Line styles give the same information.
STYLES: dict[str, dict[str, Any]] = {
    "exact": {"color": "#000000", "linestyle": "-", "linewidth": 2.2, "zorder": 2.0},
    "none": {"color": "#E69F00", "linestyle": ":", "linewidth": 1.6, "zorder": 2.1},
    "block": {"color": "#D55E00", "linestyle": "-", "linewidth": 1.5, "zorder": 2.2},
    # "diagonal" is dashed and on top, because it coincides with "block" if there are no belts.
    "diagonal": {"color": "#0072B2", "linestyle": (0, (3.5, 3.5)), "linewidth": 1.5, "zorder": 2.3},
    # "unconstrained" is on top because it can coincide with "no rotor".
    "unconstrained": {"color": "#882255", "linestyle": ":", "linewidth": 2.0, "zorder": 2.4},
    "frozen": {"color": "#009E73", "linestyle": "-.", "linewidth": 1.5, "zorder": 2.15},
    "no rotor": {"color": "#E69F00", "linestyle": "-", "linewidth": 1.8, "zorder": 2.2},
    "armature": {"color": "#0072B2", "linestyle": (0, (3.5, 3.5)), "linewidth": 1.5, "zorder": 2.3},
}
_PERIODS = 2.0
_ROWS = 16
_DPI = 110
_LEFT = 0.068
_SUBJECT = {False: "transmissions", True: "loops and transmissions"}
_SIZES = (8.5, 7.9, 7.3, 6.7, 6.1)  # Font sizes of the error panels' titles; the largest size that fits is used


def save(result: "StudyResult", path: Path) -> None:
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
        is_lowest = row == rows - 1 or k == n - 1
        torque, error = panels = [figure.add_subplot(grid[row, 2 * stack + i]) for i in range(2)]
        text = _rms_line({level: float(x[k]) for level, x in rms.items()}, float(result.max_exact[k]))
        quantity = "moment" if name.startswith("base moment") else "force" if result.units[k] == "N" else "torque"
        titles.append(draw_joint(panels, result, k, shown, name, text, what=quantity, last=is_lowest))
        for axes in panels:
            axes.yaxis.set_label_coords(-0.12 if stacks == 1 or axes is torque else -0.15, 0.5)
            axes.tick_params(labelbottom=is_lowest)
            _not_rounding(axes, result, k)
    _fit(titles, error.get_window_extent().width)
    _study_head(figure, result)
    save_figure(figure, path)


def new_figure(**options: Any) -> Figure:
    # This module avoids pyplot, which searches for a window system and takes longer to import.
    with quiet_about_its_folder():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(dpi=_DPI, **options)
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: Path, **options: Any) -> None:
    with whole(path) as (part,):
        figure.savefig(part, format=path.suffix[1:] or "png", **options)


def draw_joint(
    panels: list[Any], result: "StudyResult", k: int, shown: np.ndarray, title: str, text: str, *, what: str, last: bool
) -> Any:
    torque, error = panels
    time = result.time[shown]
    for level in result.approximate:
        torque.plot(time, result.approximate[level][shown, k], **STYLES[level])
        error.plot(time, result.error(level)[shown, k], **STYLES[level])
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
    """Suppress Matplotlib's message about a temporary cache folder, unless the user set ``MPLCONFIGDIR``."""

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
    if len(rms) <= 3:
        return "RMS:  " + "   ".join(f"{level} {x:.3f}" for level, x in rms.items())
    # Errors that are only rounding are printed as 0.
    return "RMS:  " + "   ".join(f"{level} {x if x > 1e-12 * largest else 0.0:.2g}" for level, x in rms.items())


def _fit(titles: list[Any], width: float) -> None:
    for size in _SIZES:
        for title in titles:
            title.set_fontsize(size)
        if all(title.get_window_extent().width <= width for title in titles):
            return


def shown_samples(result: "StudyResult", points: int = 400, of_all: int = 1200) -> np.ndarray:
    period = getattr(result.trajectory, "period", None)
    if period is None:
        return spread(len(result.time), of_all)
    end = int(np.searchsorted(result.time, _PERIODS * period * (1.0 + 1e-9), side="right"))
    return spread(max(end, 1), points)


def tidy(axes: Any) -> None:
    axes.tick_params(labelsize=8, length=2.5)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def named(axes: Any, title: str, x: str, y: str) -> None:
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
    figure.set_size_inches(9.6, height)
    grid = figure.add_gridspec(
        rows, n, left=left, right=right, top=1.0 - top / height, bottom=bottom / height, wspace=gap, **more
    )
    return [figure.add_subplot(grid[i, k]) for i in range(rows) for k in range(n)]


def _not_rounding(axes: Any, result: "StudyResult", k: int) -> None:
    peak = max(float(x) for x, unit in zip(result.max_exact, result.units, strict=True) if unit == result.units[k])
    low, high = axes.get_ylim()
    if high - low < 1e-9 * peak:
        middle = 0.5 * (high + low)
        axes.set_ylim(middle - 1e-3 * peak, middle + 1e-3 * peak)


def titled(figure: Any, title: str, lines: tuple[str, ...], left: float = 0.025, spacing: float = 0.19) -> float:
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
    loops = result.loops
    rotors = locked(result.drop_rotors, "left out")
    approximate = f"In the approximations the rotors are {rotors}. "
    if loops:
        only_loop_levels = set(result.approximate) <= set(LOOP_LEVELS)
        approximate = "" if only_loop_levels else f"In the last two approximations the rotors are {rotors}. "
    x = (_LEFT - 0.045) / math.ceil(len(result.joints) / _ROWS)
    cut = "" if result.reach is None else f" (reduced from {result.asked:g}: loops limit it to {result.reach.end:g})"
    motion = literal(report.motion(result)).replace("moving", "moves").replace("2 pi", "2$\\pi$")
    # Use the nominal duration if the motion has one, because the last sample may be slightly earlier.
    duration = float(getattr(result.trajectory, "duration", result.time[-1] - result.time[0]))
    head(
        figure,
        f"{literal(result.robot)}: torque errors of approximate {_SUBJECT[loops]}",
        (
            f"Inverse dynamics, {result.base} base; {motion}{cut}.",
            f"{approximate}Error = approximate $-$ exact; RMS over {duration:.3g} s.",
        ),
        {"exact": "exact" if loops else "exact rotors"} | labels(result.approximate),
        x,
        spacing=0.18,
        gap=0.12,
    )
