"""The rod between two bodies."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, Figure, arrow, body, ground, link, pin, sheet, text


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(7.0, 3.4)
    base, a = np.array([0.0, 0.0]), np.array([0.75, 1.25])
    foot, b = np.array([4.2, 0.0]), np.array([3.95, 1.15])
    ground(ax, base, 0.28)
    ground(ax, foot, 0.28)
    link(ax, base, a, color=BLUE)
    body(ax, foot + (-0.3, -0.12), foot + (1.5, -0.12), foot + (1.5, 0.12), b + (0.2, 0.1), b + (-0.2, 0.1), color=GOLD)
    link(ax, a, b, color=GREEN, width=4.0)
    for p in (base, foot):
        pin(ax, p)
    for p in (a, b):
        pin(ax, p, size=12, color=GREEN, filled=True)
    text(ax, a + (-0.3, 0.15), "a", GREEN)
    text(ax, b + (0.3, 0.15), "b", GREEN, box=False)
    shift = np.array([0.0, 0.42])
    arrow(ax, a + shift, b + shift, GREY, both=True)
    text(ax, 0.5 * (a + b) + shift, "length")
    text(ax, 0.5 * (a + b) - (0.0, 0.3), "mass (slender)", GREEN)
    text(ax, (2.1, 0.0), "ball joint at each end;\nno body of the tree", GREY)
    ax.set_xlim(-1.0, 6.1)
    ax.set_ylim(-0.6, 2.3)
    return figure
