"""The bevel differential from above."""

from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, INK, Figure, arrow, body, hatch, line, link, sheet, text


def cone(ax: object, x: float, color: str) -> None:
    """Draw a side gear whose teeth look to the middle."""
    s = np.sign(x)
    body(ax, (x, 0.75), (x, -0.75), (x - 0.45 * s, -0.42), (x - 0.45 * s, 0.42), color=color)


def draw() -> Figure:
    """Return the drawing."""
    figure, (ax,) = sheet(7.0, 4.2)
    line(ax, (-3.2, 0.0), (3.2, 0.0))
    line(ax, (0.0, -0.6), (0.0, 2.9))
    for s, name in ((-1.0, "left"), (1.0, "right")):
        link(ax, (2.9 * s, 0.0), (0.9 * s, 0.0), color=BLUE, width=5.0)
        cone(ax, 0.9 * s, BLUE)
        hatch(ax, (1.95, -0.16), (2.55, -0.16), 0.1) if s > 0 else hatch(ax, (-2.55, -0.16), (-1.95, -0.16), 0.1)
        hatch(ax, (2.55, 0.16), (1.95, 0.16), 0.1) if s > 0 else hatch(ax, (-1.95, 0.16), (-2.55, 0.16), 0.1)
        text(ax, (2.85 * s, -0.85), name, BLUE)
        arrow(ax, (2.6 * s if s > 0 else -3.1, -0.55), (3.1 if s > 0 else -2.6, -0.55), BLUE)
    body(ax, (-0.75, 0.9), (0.75, 0.9), (0.42, 0.45), (-0.42, 0.45), color=GOLD)
    link(ax, (0.0, 0.9), (0.0, 2.5), color=GOLD, width=5.0)
    # carrier: turns about the axis of the side gears and holds the pinion
    for s in (-1.0, 1.0):
        link(ax, (1.35 * s, 0.0), (1.35 * s, 1.45), (0.18 * s, 1.45), color=GREEN, width=4.0)
    text(ax, (1.45, 1.8), "carrier: pitch", GREEN)
    text(ax, (0.12, 2.55), "pinion: roll", GOLD, ha="left")
    arrow(ax, (-0.35, 1.9), (-0.35, 2.4), GOLD)
    text(ax, (0.0, -0.95), "axis of left, right and pitch", GREY)
    text(ax, (0.0, -1.25), "arrows: positive axes of the joints", GREY)
    text(ax, (-2.25, 0.45), "housing", INK, fontsize=9)
    text(ax, (2.25, 0.45), "housing", INK, fontsize=9)
    ax.set_xlim(-3.5, 3.5)
    ax.set_ylim(-1.5, 2.9)
    return figure
