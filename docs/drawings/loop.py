"""The loop: two branches, and a chain that comes back to the ground."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, INK, RED, Figure, arrow, body, hatch, link, pin, sheet, text


def frame(ax: object, point: np.ndarray, angle: float, name: str, where: tuple[float, float]) -> None:
    """Draw a frame."""
    for turned, length in ((angle, 0.6), (angle + 90.0, 0.6)):
        u = np.radians(turned)
        arrow(ax, point, point + length * np.array([np.cos(u), np.sin(u)]), RED)
    text(ax, point + where, name, RED)


def draw() -> Figure:
    """Return the drawing."""
    figure, (left, right) = sheet(9.0, 3.9, 2)
    ax = left
    body(ax, (-0.7, -0.35), (2.7, -0.35), (2.7, 0.1), (-0.7, 0.1))
    text(ax, (1.1, -0.13), "nearest common ancestor", box=False, fontsize=9)
    p, q = np.array([0.0, 0.1]), np.array([2.2, 0.1])
    one = np.array([-0.5, 1.6])
    a, b = np.array([0.55, 2.55]), np.array([1.65, 2.35])
    link(ax, p, one, color=BLUE)
    link(ax, one, a, color=GREEN)
    link(ax, q, b, color=GOLD)
    for x in (p, one, q):
        pin(ax, x)
    frame(ax, a, 12.0, "a", (-0.32, 0.12))
    frame(ax, b, -8.0, "b", (0.25, -0.25))
    arrow(ax, a + (0.06, 0.0), b - (0.06, 0.0), INK)
    text(ax, 0.5 * (a + b) + (-0.06, -0.22), "t", box=False)
    text(ax, (1.05, 3.55), "constraint equations: the motions\nthat the loop prevents", GREY)
    ax.set_title("between two branches", fontsize=11)
    ax.set_xlim(-1.4, 3.4)
    ax.set_ylim(-0.9, 4.0)
    ax = right
    hatch(ax, (-0.8, -0.35), (3.9, -0.35), 0.16)
    p, d = np.array([0.0, 0.0]), np.array([3.2, 0.0])
    b, c = np.array([0.45, 1.1]), np.array([2.75, 1.9])
    ax.fill((0.0, 0.25, -0.25), (0.0, -0.35, -0.35), fc="white", ec=INK, lw=1.3, zorder=1.8)
    link(ax, p, b, color=BLUE)
    link(ax, b, c, color=GREEN)
    link(ax, c, d, color=GOLD)
    for x in (p, b, c):
        pin(ax, x)
    frame(ax, d, 68.0, "a", (0.4, 0.35))
    pin(ax, d, size=13, color=RED)
    text(ax, (3.2, -0.72), 'b: in the "universe"', RED)
    ax.set_title("a chain that ends on the ground", fontsize=11)
    ax.set_xlim(-1.0, 4.4)
    ax.set_ylim(-1.3, 3.0)
    return figure
