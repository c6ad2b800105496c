"""Axes of the pictures of a page, narrow enough for a phone; colours, line styles and hatches tell the parts apart."""

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
"""Colours of parts, in their order."""
DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), ":", "-.", (0, (6, 2, 1, 2, 1, 2)))
HATCHES = ("", "////", "\\\\\\\\", "xx", "--", "||", "++", "/", "-")
"""Lines only: dots make a path of a quarter of a megabyte."""
WIDTH = 4.1
SMALL, TEXT = 8.0, 8.5
LONGEST = 26
"""Characters for which there is room beside a picture, and in half of its width."""
_LINE, _TITLE = 0.155, 44


def tidy(axes: Any, x: str, y: str) -> None:
    """Give axes names, a grid behind, and no box."""
    axes.grid(color=C["grid"], linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL, length=2.5, color=C["soft"], labelcolor=C["soft"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(C["soft"])
    axes.set_xlabel(literal(x), fontsize=TEXT, color=C["soft"])
    axes.set_ylabel(literal(y), fontsize=TEXT, color=C["soft"])


def finished(drawn: Any, axes: Any, title: str, key: str, text: str, top: float = 0.28) -> Html:
    """Write a title, and below it the legend [inches from the top], and return the picture for the page.

    Long names go below each other, and the picture grows where the legend needs more room than there is.
    """
    handles, labels = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, labels), default=0) <= LONGEST else 1
    _make_room(drawn, top + _LINE * math.ceil(len(labels) / columns) + 0.1)
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


def _make_room(drawn: Any, needed: float) -> None:
    """Make a figure taller until there are so many inches above its axes, which keep their size."""
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
    """Return a name in lines that a picture has room for, broken behind signs where it has some."""
    lines = [""]
    for piece in re.findall(rf".{{1,{LONGEST - 1}}}?(?:[_\s:./-]|$)|.{{1,{LONGEST}}}", name):
        if len(lines[-1]) + len(piece) > LONGEST:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def tall(names: Sequence[str], least: float) -> float:
    """Return how tall a row has to be for names in lines, [inches]."""
    return max(least, 0.06 + 0.14 * max((broken(name).count("\n") + 1 for name in names), default=1))


def rows(names: Sequence[str], height: float, tall: float, x: str) -> tuple[Any, Any, np.ndarray]:
    """Return a figure of a height, its axes ``tall`` [inches], and where in them the rows of these names are."""
    drawn = figure(WIDTH, height)
    names = [broken(name) for name in names]
    longest = max(len(line) for name in names for line in name.split("\n"))
    left = min(0.5, max(0.2, (0.14 + 0.066 * longest) / WIDTH))
    axes = drawn.add_axes((left, 0.48 / height, 0.97 - left, tall / height))
    y = np.arange(len(names))[::-1]
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_yticks(y, [literal(name) for name in names], linespacing=1.1, multialignment="right")
    tidy(axes, x, "")
    axes.tick_params(axis="y", labelsize=SMALL, labelcolor=C["ink"], length=0)
    return drawn, axes, y


def lines(axes: Any, x: np.ndarray, curves: Iterable[tuple[str, np.ndarray]]) -> None:
    """Draw curves of those names over x, which colours and line styles tell apart."""
    for (name, y), part, dash in zip(curves, cycle(PARTS), cycle(DASHES), strict=False):
        axes.plot(x, y, color=C[part], linestyle=dash, linewidth=1.5, label=literal(name))


def over(x: str, y: str) -> tuple[Any, Any]:
    """Return a figure and its axes, for curves."""
    drawn = figure(WIDTH, 2.9)
    axes = drawn.add_axes((0.16, 0.155, 0.81, 0.565))
    tidy(axes, x, y)
    axes.yaxis.set_label_coords(-0.13, 0.5)
    return drawn, axes
