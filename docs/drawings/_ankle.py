"""Shank, universal joint and foot, for the ankles and Tello's hip."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import GOLD, GREY, INK, arrow, body, line, link, pin, space, text

LEFT, RIGHT = 1.0, -1.0  # y to the left would be mirrored: y points right on the sheet


def ankle(ax: object) -> None:
    """Draw the parts that the ankles share; x to the front, z up, the centre of the universal joint at 0."""
    sole = [(1.5, 0.55, -0.45), (1.5, -0.55, -0.45), (-0.7, -0.55, -0.45), (-0.7, 0.55, -0.45)]
    body(ax, *[space(p) for p in sole], color=GOLD)
    link(ax, space((0, 0, 0)), space((0, 0, -0.45)), color=GOLD)
    link(ax, space((0, 0, 0)), space((0, 0, 3.1)), color=GREY, width=9.0)
    line(ax, space((0, -0.75, 0)), space((0, 0.75, 0)))
    line(ax, space((-0.6, 0, 0)), space((1.7, 0, 0)))
    arrow(ax, space((0, 0.4, 0)), space((0, 0.8, 0)), INK)
    arrow(ax, space((1.4, 0, 0)), space((1.9, 0, 0)), INK)
    text(ax, space((0, 0.5, 0)) + (0.05, -0.24), "pitch", box=False)
    text(ax, space((2.0, 0, 0)) + (-0.15, -0.16), "roll", box=False)
    pin(ax, space((0, 0, 0)), size=13)


def ends() -> list[np.ndarray]:
    """Return where the rods are tied to the foot."""
    return [np.array([-0.75, s, 0.0]) for s in (LEFT, RIGHT)]


def tabs(ax: object) -> None:
    """Draw what carries the rods' ends on the foot."""
    for end in ends():
        link(ax, space(end), space((-0.7, 0.55 * np.sign(end[1]), -0.45)), color=GOLD, width=3.0)
