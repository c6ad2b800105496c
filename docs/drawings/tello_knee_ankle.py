"""Tello's knee-ankle: thigh, shin and foot, and the four-bar in the shin, to scale."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, Figure, at, body, line, link, meet, pin, sheet, text, turn
from matplotlib.patches import Circle

CRANK, ROCKER, ROD = 32.0, 28.0, 171.7  # proportions that follow from the constants
SHIN = np.hypot(208.0 - 33.6 * np.cos(np.pi / 9), 33.6 * np.sin(np.pi / 9))


def draw() -> Figure:
    """Return the drawing."""
    figure, (leg, bars) = sheet(8.8, 4.4, 2)
    hip, knee = np.array([0.0, 200.0]), np.array([30.0, 20.0])
    heel = np.array([-15.0, -130.0])
    for ends, color in (((hip, knee), GREY), ((knee, heel), GREEN)):
        link(leg, *ends, color=color, width=8.0)
    sole = np.array([(-25.0, -22.0), (70.0, -22.0), (70.0, -12.0), (8.0, 10.0), (-8.0, 10.0)])
    body(leg, *(heel + sole), color=GOLD)
    for x in (-22.0, 22.0):
        leg.add_patch(Circle(hip + (x, 0.0), 20.0, fc=BLUE, alpha=0.35, lw=0))
        pin(leg, hip + (x, 0.0), size=6, color=BLUE)
    text(leg, hip + (0.0, 42.0), "motors 1 and 2", BLUE)
    for p in (knee, heel):
        pin(leg, p, size=11)
    line(leg, knee, knee + 0.45 * (knee - hip))
    line(leg, heel, heel + 0.45 * (heel - knee))
    turn(leg, knee, 75.0, -80.5, -106.0)
    text(leg, knee + (30.0, -70.0), "$l_1 = \\frac{1}{2}(y_1 + y_2)$", GREEN, ha="left")
    text(leg, heel + (82.0, 4.0), "$l_2$ by $d = \\frac{1}{2}(y_1 - y_2)$", GOLD, ha="left")
    text(leg, hip + (-42.0, -90.0), "thigh", GREY)
    text(leg, 0.5 * (knee + heel) + (-45.0, 0.0), "shin", GREEN)
    leg.set_xlim(-110.0, 250.0)
    leg.set_ylim(-200.0, 270.0)
    top, ankle = np.array([0.0, SHIN]), np.zeros(2)
    tip = at(top, CRANK, 15.0)
    foot = meet(tip, ROD, ankle, ROCKER, 1)
    link(bars, top, ankle, color=GREEN, width=8.0)
    link(bars, top, tip, color=BLUE)
    link(bars, tip, foot, color=GREY, width=4.0)
    link(bars, ankle, foot, color=GOLD)
    for p in (top, ankle, tip, foot):
        pin(bars, p)
    text(bars, tip + (12.0, 6.0), "crank, turns with $d$", BLUE, ha="left")
    text(bars, top + (-4.0, 22.0), "knee")
    text(bars, ankle + (-14.0, -18.0), "ankle")
    text(bars, 0.5 * (tip + foot) + (22.0, 0.0), "rod")
    text(bars, 0.5 * (top + ankle) + (-26.0, 0.0), "shin", GREEN)
    text(bars, foot + (58.0, -8.0), "foot, turns with $l_2$", GOLD, ha="center")
    bars.set_xlim(-80.0, 160.0)
    bars.set_ylim(-50.0, SHIN + 40.0)
    return figure
