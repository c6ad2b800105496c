"""Axes of the pictures of a page, narrow enough for a phone; colours, line styles and hatches tell the parts apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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


def tidy(axes: Any, x: str, y: str) -> None:
    """Give axes names, a grid behind, and no box."""
    axes.grid(color=C["grid"], linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL, length=2.5, color=C["soft"], labelcolor=C["soft"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(C["soft"])
    axes.set_xlabel(x, fontsize=TEXT, color=C["soft"])
    axes.set_ylabel(y, fontsize=TEXT, color=C["soft"])


def finished(drawn: Any, axes: Any, title: str, key: str, text: str, top: float = 0.28) -> Html:
    """Write a title, and below it the legend [inches from the top], and return the picture for the page."""
    height = drawn.get_size_inches()[1]
    drawn.text(0.01, 1.0 - 0.17 / height, title, fontsize=10, fontweight="bold", va="center", color=C["ink"])
    drawn.legend(
        *axes.get_legend_handles_labels(), ncols=2, fontsize=SMALL, frameon=False, loc="upper left",
        labelcolor=C["ink"], bbox_to_anchor=(0.0, 1.0 - top / height), borderaxespad=0.0, borderpad=0.2,
        handlelength=2.6, columnspacing=1.2,
    )  # fmt: skip
    return inline(drawn, key, text)


def rows(names: Sequence[str], height: float, tall: float, x: str) -> tuple[Any, Any, np.ndarray]:
    """Return a figure of a height, its axes ``tall`` [inches], and where in them the rows of these names are."""
    drawn = figure(WIDTH, height)
    left = min(0.5, max(0.2, (0.14 + 0.066 * max(map(len, names))) / WIDTH))
    axes = drawn.add_axes((left, 0.48 / height, 0.97 - left, tall / height))
    y = np.arange(len(names))[::-1]
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_yticks(y, names)
    tidy(axes, x, "")
    axes.tick_params(axis="y", labelsize=SMALL, labelcolor=C["ink"], length=0)
    return drawn, axes, y


def over(x: str, y: str) -> tuple[Any, Any]:
    """Return a figure and its axes, for curves."""
    drawn = figure(WIDTH, 2.9)
    axes = drawn.add_axes((0.16, 0.155, 0.81, 0.565))
    tidy(axes, x, y)
    axes.yaxis.set_label_coords(-0.13, 0.5)
    return drawn, axes
