"""A rotor: a body of its own, or a spin on its carrier."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREY, INK, RED, Figure, arrow, body, link, pin, sheet, text, turn


def motor(ax: object, spinning: bool) -> None:
    """Draw a thigh with a motor in it, and a shank."""
    hip, knee, foot = np.array([0.0, 3.6]), np.array([1.1, 1.7]), np.array([0.2, 0.0])
    center = hip + 0.36 * (knee - hip)
    link(ax, hip, knee, color=BLUE if spinning else GREY, width=26)
    link(ax, knee, foot, color=INK, width=7)
    pin(ax, hip)
    pin(ax, knee)
    angles = np.linspace(0, 2 * np.pi, 80)
    circle = center + 0.42 * np.array([np.cos(angles), np.sin(angles)]).T
    if spinning:
        ax.plot(*circle.T, color="white", lw=1.2, ls=(0, (3, 2)), zorder=6)
        ax.plot(*center, "o", ms=13, mfc="white", mec=RED, mew=2.0, zorder=7)
        ax.plot(*center, "o", ms=4.5, mfc=RED, mec=RED, zorder=8)
        text(ax, center + (1.55, 0.55), r"$h = J\,s\,(r \cdot v)$", RED)
        arrow(ax, center + (0.85, 0.42), center + (0.18, 0.08), RED)
        text(ax, (2.5, 2.5), "carrier: its own inertia\nand that of the locked rotor", BLUE, box=False, fontsize=9)
    else:
        ax.fill(*circle.T, fc="white", ec=GOLD, lw=2.2, zorder=6)
        for k in range(3):
            u = np.array([np.cos(0.6 + 2.1 * k), np.sin(0.6 + 2.1 * k)])
            ax.plot(*np.array([center, center + 0.42 * u]).T, color=GOLD, lw=1.8, zorder=7)
        pin(ax, center, 6.0)
        turn(ax, center, 0.62, -30.0, 60.0, r"$n\,\dot q$", GOLD)
        text(ax, (2.35, 2.2), "a body with a joint:\nmass, pose, six equations", GOLD, box=False, fontsize=9)
    turn(ax, knee, 0.65, -125.0, -60.0, r"$\dot q$")
    ax.set_xlim(-0.8, 3.6)
    ax.set_ylim(-0.2, 4.2)


def draw() -> Figure:
    """Return the drawing."""
    figure, (left, right) = sheet(8.6, 4.2, 2)
    body(left, (-0.7, 3.75), (0.7, 3.75), (0.7, 4.1), (-0.7, 4.1))
    body(right, (-0.7, 3.75), (0.7, 3.75), (0.7, 4.1), (-0.7, 4.1))
    motor(left, spinning=False)
    motor(right, spinning=True)
    left.set_title("the rotor as a body of the tree", fontsize=11)
    right.set_title("the same rotor as a spin element", fontsize=11)
    return figure
