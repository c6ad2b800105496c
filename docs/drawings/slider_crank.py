"""The slider-crank."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, Figure, arrow, at, body, ground, hatch, line, link, pin, sheet, text, turn


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(7.2, 2.9)
    a, offset = np.array([0.0, 0.0]), -0.35
    b = at(a, 1.0, 55.0)
    reach = np.sqrt(3.0**2 - (b[1] - offset) ** 2)
    c, other = np.array([b[0] + reach, offset]), np.array([b[0] - reach, offset])
    ground(ax, a, 0.3)
    line(ax, (-2.6, offset), (5.0, offset))
    link(ax, b, other, color=GREEN, dashed=True)
    body(ax, other + (-0.45, -0.25), other + (0.45, -0.25), other + (0.45, 0.25), other + (-0.45, 0.25))
    body(ax, c + (-0.5, -0.28), c + (0.5, -0.28), c + (0.5, 0.28), c + (-0.5, 0.28), color=GOLD)
    hatch(ax, c + (-1.0, -0.28), c + (1.2, -0.28), 0.12)
    link(ax, a, b, color=BLUE)
    link(ax, b, c, color=GREEN)
    for p in (a, b):
        pin(ax, p)
    pin(ax, other, color=GREY)
    pin(ax, c, size=13)
    pin(ax, c, size=6)
    turn(ax, a, 0.5, 0.0, 55.0, "crank", BLUE, 1.75)
    line(ax, a, (0.9, 0.0))
    text(ax, (-0.36, 0.1), "A")
    text(ax, b + (-0.25, 0.22), "B")
    text(ax, 0.5 * (b + c) + (0.2, 0.32), "coupler", GREEN)
    text(ax, c + (-0.3, 0.58), "slider, branch +1", GOLD, ha="left")
    text(ax, other + (0.0, 0.52), "branch -1", GREY)
    arrow(ax, c + (0.65, 0.0), c + (1.25, 0.0), GOLD)
    text(ax, c + (1.5, 0.22), "u", GOLD)
    ax.set_xlim(-2.8, 5.6)
    ax.set_ylim(-1.0, 1.35)
    return figure
