"""The ankle on two cranks with rods."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _ankle import LEFT, RIGHT, ankle, ends, tabs
from _draw import BLUE, GREEN, GREY, Figure, line, link, pin, sheet, space, text, turn


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(5.6, 5.2)
    ankle(ax)
    tabs(ax)
    for i, (side, end) in enumerate(zip((LEFT, RIGHT), ends(), strict=True), start=1):
        height = 2.6 if side == LEFT else 1.7
        hub, tip = np.array([0.0, side, height]), np.array([-0.8, side, height - 0.1])
        link(ax, space((0, 0, height)), space(hub), color=GREY, width=8.0)
        line(ax, space((0, 1.6 * side, height)), space(hub))
        link(ax, space(hub), space(tip), color=BLUE)
        link(ax, space(tip), space(end), color=GREEN, width=4.0)
        pin(ax, space(hub))
        for p in (tip, end):
            pin(ax, space(p), size=10, color=GREEN, filled=True)
        turn(ax, space(hub), 0.3, -140.0, 18.0, color=BLUE)
        text(ax, space(hub) + (-0.1, -0.5), f"$x_{i}$", BLUE, box=False)
        text(ax, space(tip) + (0.28 * side, 0.12), f"$a_{i}$")
        text(ax, space(end) + (0.38 * side, 0.0), f"$b_{i}$")
        text(ax, space(0.3 * tip + 0.7 * end) + (0.55 * side, 0.0), f"length$_{i}$", GREEN)
    text(ax, space((0, 0, 3.1)) + (0, 0.2), "shank", GREY)
    text(ax, space((1.5, 0.55, -0.45)) + (0.45, 0.0), "foot")
    ax.set_xlim(-2.4, 2.4)
    ax.set_ylim(-1.5, 3.6)
    return figure
