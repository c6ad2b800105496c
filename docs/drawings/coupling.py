"""The coupling: a cam as an example of a user's function."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREY, INK, Figure, arrow, body, ground, hatch, line, pin, sheet, text, turn


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax, box) = sheet(8.4, 3.4, 2)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    radius = 1.0 + 0.35 * np.cos(angle - np.radians(35.0))
    cam = np.array([radius * np.cos(angle), radius * np.sin(angle)])
    ax.fill(*cam, color=BLUE, alpha=0.28, lw=0)
    ax.plot(*cam, color=BLUE, lw=1.6)
    top = np.array([0.0, 1.0 + 0.35 * np.cos(np.radians(55.0))])
    body(ax, top + (-0.18, 0.0), top + (0.18, 0.0), top + (0.18, 1.2), top + (-0.18, 1.2), color=GOLD)
    for s in (-1.0, 1.0):
        start, end = (0.26 * s, 1.7), (0.26 * s, 2.2)
        hatch(ax, *((start, end) if s > 0 else (end, start)), 0.12)
    ground(ax, (0.0, 0.0), 0.3)
    pin(ax, (0.0, 0.0))
    line(ax, (0.0, 0.0), (1.55, 0.0))
    turn(ax, (0.0, 0.0), 0.75, 0.0, 35.0, color=BLUE)
    line(ax, (0.0, 0.0), 1.35 * np.array([np.cos(np.radians(35.0)), np.sin(np.radians(35.0))]))
    text(ax, (1.95, 0.4), "shaft $x_0$", BLUE)
    arrow(ax, (0.75, 1.3), (0.75, 2.0), GOLD)
    text(ax, (0.82, 1.75), "lever $x_1$", GOLD, ha="left")
    ax.set_xlim(-1.8, 2.6)
    ax.set_ylim(-1.2, 2.7)
    for y, words, color in (
        (2.1, "joints of one cluster: x", BLUE),
        (0.8, "your function", INK),
        (-0.5, "phi(x) = 0", GOLD),
    ):
        body(box, (-1.6, y - 0.38), (1.6, y - 0.38), (1.6, y + 0.38), (-1.6, y + 0.38), color=color)
        text(box, (0.0, y), words, color, box=False)
    arrow(box, (0.0, 1.72), (0.0, 1.18), GREY)
    arrow(box, (0.0, 0.42), (0.0, -0.12), GREY)
    box.set_xlim(-2.0, 2.0)
    box.set_ylim(-1.2, 2.7)
    return figure
