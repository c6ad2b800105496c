"""The ankle on two linear actuators."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _ankle import LEFT, RIGHT, ankle, ends, tabs
from _draw import BLUE, GREY, Figure, arrow, link, pin, sheet, space, text


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(5.6, 5.2)
    ankle(ax)
    tabs(ax)
    for i, (side, end) in enumerate(zip((LEFT, RIGHT), ends(), strict=True), start=1):
        top = np.array([-0.75, side, 2.7])
        link(ax, space(top), space((0, 0, 2.7)), color=GREY, width=3.5)
        middle = 0.45 * top + 0.55 * end
        link(ax, space(top), space(middle), color=BLUE, width=9.0)
        link(ax, space(middle), space(end), color=BLUE, width=3.5)
        pin(ax, space(top))
        pin(ax, space(end))
        out = np.array([0.38 * side, 0.0])
        text(ax, space(top) + 1.1 * out + (0, 0.1), f"$a_{i}$")
        text(ax, space(end) + 1.1 * out, f"$b_{i}$")
        arrow(ax, space(middle) + out, space(0.2 * middle + 0.8 * end) + out, BLUE)
        text(ax, space(0.6 * middle + 0.4 * end) + 2.1 * out, f"$x_{i}$", BLUE)
    text(ax, space((0, 0, 3.1)) + (0, 0.2), "shank", GREY)
    text(ax, space((1.5, 0.55, -0.45)) + (0.45, 0.0), "foot")
    ax.set_xlim(-2.4, 2.4)
    ax.set_ylim(-1.5, 3.6)
    return figure
