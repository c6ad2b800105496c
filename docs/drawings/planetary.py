"""The planetary stage along its axis."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, INK, Figure, arrow, at, link, pin, sheet, text, turn
from matplotlib.patches import Circle, Wedge


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(5.8, 4.3)
    sun, ring = 0.8, 2.2
    planet = 0.5 * (ring - sun)
    ax.add_patch(Wedge((0, 0), ring + 0.32, 0, 360, width=0.32, fc=BLUE, alpha=0.28, lw=0))
    ax.add_patch(Circle((0, 0), ring, fill=False, ec=BLUE, lw=1.6))
    ax.add_patch(Circle((0, 0), sun, fc=GOLD, alpha=0.35, lw=0))
    ax.add_patch(Circle((0, 0), sun, fill=False, ec=GOLD, lw=1.6))
    for angle in (90.0, 210.0, 330.0):
        p = at((0, 0), sun + planet, angle)
        ax.add_patch(Circle(p, planet, fc=GREY, alpha=0.22, lw=0))
        ax.add_patch(Circle(p, planet, fill=False, ec=GREY, lw=1.3))
        link(ax, (0, 0), p, color=GREEN, width=5.0)
        pin(ax, p, color=GREEN)
    pin(ax, (0, 0), size=11)
    turn(ax, (0, 0), 0.55, 120.0, 190.0, color=GOLD)
    turn(ax, (0, 0), 1.1, 345.0, 385.0, color=GREEN)
    turn(ax, (0, 0), ring + 0.5, 35.0, 65.0, color=BLUE)
    for target, place, words, color in (
        (at((0, 0), 0.6, 20), (3.0, 0.75), "sun, teeth_sun", GOLD),
        (at((0, 0), 1.3, 330), (3.0, -0.4), "carrier", GREEN),
        (at((0, 0), ring + 0.16, 320), (3.0, -1.6), "ring, teeth_ring", BLUE),
        (at((0, 0), sun + planet, 205) + (-0.3, -0.2), (-2.95, -1.9), "planet", INK),
    ):
        text(ax, place, words, color, ha="left" if place[0] > 0 else "right")
        arrow(ax, np.add(place, (-0.05 if place[0] > 0 else 0.05, 0.0)), target, color, width=0.9)
    ax.set_xlim(-4.0, 5.3)
    ax.set_ylim(-2.9, 2.9)
    return figure
