"""The four-bar: both assemblies, and the serial shape."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

from _draw import BLUE, GOLD, GREEN, GREY, INK, Figure, at, ground, line, link, meet, pin, sheet, text, turn


def draw() -> Figure:
    """Return the drawing."""
    figure, (left, right) = sheet(8.6, 3.7, 2)
    for ax, serial in ((left, False), (right, True)):
        a, d = (0.0, 0.0), (3.7, 0.0)
        b = at(a, 1.2, 62.0)
        c, other = meet(b, 2.9, d, 2.6, 1), meet(b, 2.9, d, 2.6, -1)
        for p in (a, d):
            ground(ax, p, 0.32)
        line(ax, a, d)
        line(ax, b, d)
        link(ax, a, b, color=BLUE)
        link(ax, b, c, color=GREEN)
        link(ax, c, d, color=GOLD)
        if not serial:
            link(ax, b, other, color=GREEN, dashed=True)
            link(ax, other, d, color=GOLD, dashed=True)
            pin(ax, other, color=GREY)
            text(ax, other + (0.0, -0.35), "branch -1", GREY)
            text(ax, c + (-0.1, 0.38), "C", INK)
            text(ax, c + (1.05, 0.05), "branch +1", INK)
        for p in (a, b, c, d):
            pin(ax, p)
        pin(ax, d if serial else c, size=13)  # the closure
        pin(ax, d if serial else c, size=6)
        text(ax, (-0.38, 0.0), "A")
        text(ax, b + (-0.3, 0.22), "B")
        text(ax, (4.12, 0.05), "D")
        if serial:
            text(ax, c + (0.1, 0.35), "C")
        turn(ax, a, 0.62, 0.0, 62.0, "crank", BLUE, 1.95)
        text(ax, 0.5 * (b + c) + (-0.45, 0.38), "coupler", GREEN)
        text(ax, 0.5 * (c + d) + ((0.62, 0.1)), "rocker", GOLD)
        ax.set_title("rocker on the ground" if not serial else "rocker on the coupler", fontsize=11)
        note = "closure: C" if not serial else "closure: D"
        text(ax, (1.85, -2.35), f"{note} (double circle)", GREY)
        ax.set_xlim(-0.8, 4.9)
        ax.set_ylim(-2.6, 3.3)
    return figure
