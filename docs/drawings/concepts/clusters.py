"""From joints and constraints to clusters: a leg with a geared hip, and belts to knee and ankle."""

from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, INK, RED, Figure, arrow, sheet, text

PLACES = {
    "torso": (0.0, 4.0), "hip": (0.0, 3.0), "knee": (0.0, 2.0), "ankle": (0.0, 1.0),
    "hip rotor": (1.7, 3.0), "knee rotor": (1.7, 2.0), "ankle rotor": (3.4, 2.0),
}  # fmt: skip
PARENTS = {
    "hip": "torso",
    "knee": "hip",
    "ankle": "knee",
    "hip rotor": "torso",
    "knee rotor": "hip",
    "ankle rotor": "hip",
}
COLORS = {"torso": GREY, "hip": BLUE, "knee": GREEN, "ankle": GREEN}


def node(ax: object, place: tuple[float, float], words: str, color: str) -> None:
    """Draw a body with its joint."""
    how = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": color, "linewidth": 2.0}
    ax.text(*place, words, ha="center", va="center", bbox=how, zorder=5, fontsize=10)


def draw() -> Figure:
    """Return the drawing."""
    figure, (left, right) = sheet(9.4, 4.6, 2)
    for corners, color in (
        (((-0.5, 2.72), (2.4, 2.72), (2.4, 3.28), (-0.5, 3.28)), BLUE),
        (((-0.5, 0.65), (4.15, 0.65), (4.15, 2.32), (-0.5, 2.32)), GREEN),
    ):
        left.fill(*np.array(corners).T, color=color, alpha=0.10, lw=0, zorder=0)
    for name, parent in PARENTS.items():
        (x0, y0), (x1, y1) = PLACES[parent], PLACES[name]
        arrow(left, (x0, y0 - 0.2), (x1, y1 + 0.22), GREY)
    for name, place in PLACES.items():
        node(left, place, name, INK)
    for y, end, color in ((3.0, 1.25, BLUE), (2.0, 1.2, GREEN)):
        arrow(left, (0.32, y), (end, y), color, both=True)
        text(left, (0.77, y - 0.15), "gear", color, box=False, fontsize=9)
    left.plot((0.36, 3.4, 3.4), (1.0, 1.0, 1.76), color=GREEN, lw=1.4, zorder=1)
    text(left, (1.9, 0.84), "belt: ankle rotor = 12 (knee + ankle)", GREEN, box=False, fontsize=9)
    left.set_title("bodies of the tree, and what ties their joints", fontsize=11)

    boxes = {
        "torso": ((1.2, 4.0), "torso", GREY), "hip": ((1.2, 2.95), "hip, hip rotor\n1 independent: hip", BLUE),
        "leg": ((1.2, 1.55), "knee, ankle, knee rotor, ankle rotor\n2 independent: knee, ankle", GREEN),
    }  # fmt: skip
    for (x, y), words, color in boxes.values():
        node(right, (x, y), words, color)
    arrow(right, (1.2, 3.78), (1.2, 3.27), INK)
    arrow(right, (1.2, 2.64), (1.2, 1.88), INK)
    text(right, (2.5, 3.52), "hangs from the torso", GREY, box=False, fontsize=9)
    text(right, (2.6, 2.25), "hangs from one body:\nthe thigh (hip)", RED, box=False, fontsize=9)
    text(right, (1.2, 0.75), "a tree again: the recursion steps from cluster to cluster", GOLD, box=False, fontsize=9)
    right.set_title("clusters", fontsize=11)
    left.set_xlim(-0.8, 4.3)
    right.set_xlim(-1.3, 4.0)
    for ax in (left, right):
        ax.set_ylim(0.5, 4.4)
        ax.set_aspect("auto")
    return figure
