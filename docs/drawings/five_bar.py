"""The five-bar with both assemblies."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

from _draw import BLUE, GREEN, GREY, Figure, at, ground, line, link, meet, pin, sheet, text, turn


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(6.2, 4.4)
    a, e = (0.0, 0.0), (1.6, 0.0)
    b1, b2 = at(a, 1.4, 128.0), at(e, 1.4, 40.0)
    c, other = meet(b1, 2.1, b2, 2.1, 1), meet(b1, 2.1, b2, 2.1, -1)
    for p in (a, e):
        ground(ax, p, 0.28)
    line(ax, b1, b2)
    line(ax, a, (0.95, 0.0))
    line(ax, e, (2.6, 0.0))
    for start, end in ((b1, other), (b2, other)):
        link(ax, start, end, color=GREEN, dashed=True)
    link(ax, a, b1, color=BLUE)
    link(ax, e, b2, color=BLUE)
    link(ax, b1, c, color=GREEN)
    link(ax, b2, c, color=GREEN)
    for p in (a, e, b1, b2):
        pin(ax, p)
    pin(ax, other, color=GREY)
    pin(ax, c, size=13)
    pin(ax, c, size=6)
    turn(ax, a, 0.5, 0.0, 128.0)
    turn(ax, e, 0.5, 0.0, 40.0)
    text(ax, (0.42, 0.66), "crank 1", BLUE, box=False)
    text(ax, (2.62, 0.22), "crank 2", BLUE)
    text(ax, b1 + (-0.35, 0.05), "$B_1$")
    text(ax, b2 + (0.35, 0.0), "$B_2$")
    text(ax, 0.5 * (b1 + c) + (-0.55, 0.15), "coupler 1", GREEN)
    text(ax, 0.5 * (b2 + c) + (0.55, 0.15), "coupler 2", GREEN)
    text(ax, c + (0.0, 0.35), "pin, branch +1")
    text(ax, other + (0.0, -0.55), "branch -1", GREY)
    ax.set_xlim(-1.9, 3.8)
    ax.set_ylim(-1.5, 3.1)
    return figure
