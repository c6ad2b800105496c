"""Create axes for the figures of a page, with colours, line styles and hatches that distinguish curves and bars."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from ..._support.picture_names import literal
from .svg import COLOURS as C
from .svg import figure, inline
from .template import Html

PARTS = ("diagonal", "block", "none", "green", "sky", "rose", "wine", "yellow", "grey")
"""Colours of curves and bars, in the order of their use."""
DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), ":", "-.", (0, (6, 2, 1, 2, 1, 2)))
HATCHES = ("", "////", "\\\\\\\\", "xx", "--", "||", "++", "/", "-")
"""Hatches of bars. None of them has dots, because dots take 250 kB in an SVG path."""
WIDTH = 4.1
SMALL, TEXT = 8.0, 8.5
LONGEST = 26
"""Number of characters that fit beside a figure, or into half of the width of a figure."""
_LINE, _TITLE = 0.155, 44


def tidy(axes: Any, x: str, y: str) -> None:
    """Label axes, draw the grid behind the data, and remove the box."""
    axes.grid(color=C["grid"], linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL, length=2.5, color=C["soft"], labelcolor=C["soft"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(C["soft"])
    axes.set_xlabel(literal(x), fontsize=TEXT, color=C["soft"])
    axes.set_ylabel(literal(y), fontsize=TEXT, color=C["soft"])


def finished(drawn: Any, axes: Any, title: str, key: str, text: str, top: float = 0.28) -> Html:
    """Add a title, and a legend ``top`` inches below the upper edge; convert the figure to HTML."""
    handles, labels = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, labels), default=0) <= LONGEST else 1
    _enlarge(drawn, top + _LINE * math.ceil(len(labels) / columns) + 0.1)
    height = drawn.get_size_inches()[1]
    size = 10.0 * min(1.0, _TITLE / max(1, len(title)))
    drawn.text(0.01, 1.0 - 0.17 / height, literal(title), fontsize=size, fontweight="bold", va="center", color=C["ink"])
    drawn.legend(
        handles,
        labels,
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        loc="upper left",
        labelcolor=C["ink"],
        bbox_to_anchor=(0.0, 1.0 - top / height),
        borderaxespad=0.0,
        borderpad=0.2,
        handlelength=2.6,
        columnspacing=1.2,
    )
    return inline(drawn, key, text)


def _enlarge(drawn: Any, needed: float) -> None:
    """Increase the height of a figure until ``needed`` inches are free above its axes; the axes keep their size."""
    width, height = drawn.get_size_inches()
    boxes = [axes.get_position() for axes in drawn.axes]
    extra = needed - (1.0 - max(box.y1 for box in boxes)) * height
    if extra <= 0.0:
        return
    part = height / (height + extra)
    drawn.set_size_inches(width, height + extra)
    for axes, box in zip(drawn.axes, boxes, strict=True):
        axes.set_position((box.x0, box.y0 * part, box.width, box.height * part))


def broken(name: str) -> str:
    """Break a name into lines of at most ``LONGEST`` characters, preferably after punctuation."""
    lines = [""]
    for piece in re.findall(rf".{{1,{LONGEST - 1}}}?(?:[_\s:./-]|$)|.{{1,{LONGEST}}}", name):
        if len(lines[-1]) + len(piece) > LONGEST:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def tall(names: Sequence[str], least: float) -> float:
    """Return the row height, [inches], that fits the longest of ``names``; the minimum is ``least``."""
    return max(least, 0.06 + 0.14 * max((broken(name).count("\n") + 1 for name in names), default=1))


def rows(names: Sequence[str], height: float, tall: float, x: str) -> tuple[Any, Any, np.ndarray]:
    """Create a figure with axes of height ``tall`` [inches] and one row per name; return figure, axes, y of rows."""
    drawn = figure(WIDTH, height)
    names = [broken(name) for name in names]
    longest = max(len(line) for name in names for line in name.split("\n"))
    margin = min(0.5, max(0.2, (0.14 + 0.066 * longest) / WIDTH))
    axes = drawn.add_axes((margin, 0.48 / height, 0.97 - margin, tall / height))
    y = np.arange(len(names))[::-1]
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_yticks(y, [literal(name) for name in names], linespacing=1.1, multialignment="right")
    tidy(axes, x, "")
    axes.tick_params(axis="y", labelsize=SMALL, labelcolor=C["ink"], length=0)
    return drawn, axes, y


def lines(axes: Any, x: np.ndarray, curves: Iterable[tuple[str, np.ndarray]]) -> None:
    for (name, y), part, dash in zip(curves, cycle(PARTS), cycle(DASHES), strict=False):
        axes.plot(x, y, color=C[part], linestyle=dash, linewidth=1.5, label=literal(name))


def over(x: str, y: str) -> tuple[Any, Any]:
    drawn = figure(WIDTH, 2.9)
    axes = drawn.add_axes((0.16, 0.155, 0.81, 0.565))
    tidy(axes, x, y)
    axes.yaxis.set_label_coords(-0.13, 0.5)
    return drawn, axes
