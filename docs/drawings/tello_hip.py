"""Tello's hip: side view of one crank, and the two sides from the front. To scale, at the reference pose."""

# ruff: noqa: RUF005 - a pair of numbers is added to an array
from __future__ import annotations

import numpy as np
from _draw import BLUE, GOLD, GREEN, GREY, Figure, arrow, at, body, line, link, meet, pin, sheet, text, turn

ARM, LATERAL, HEIGHT, ROD = 12.8, 11.2, 22.8, 24.8  # [mm]


def draw() -> Figure:
    """Return the drawing."""
    figure, (side, front) = sheet(8.8, 4.6, 2)
    thigh = 17.2  # [deg]: l2 = -0.3 rad lifts the pin, as its axis points into the sheet
    gimbal, motor = np.zeros(2), np.array([0.0, -HEIGHT])
    foot = at(gimbal, ARM, thigh)
    tip = meet(motor, ARM, foot, ROD, -1)
    body(side, (-11.0, -30.0), (-4.0, -30.0), (-4.0, 4.0), (-11.0, 4.0))
    for p in (gimbal, motor):
        link(side, p, p + (-7.0, 0.0), color=GREY, width=4.0)
    line(side, gimbal, (20.0, 0.0))
    line(side, motor, motor + (22.0, 0.0))
    link(side, gimbal, foot, color=GOLD)
    link(side, motor, tip, color=BLUE)
    link(side, tip, foot, color=GREEN, width=4.0)
    for p in (gimbal, motor):
        pin(side, p)
    for p in (tip, foot):
        pin(side, p, size=9, color=GREEN, filled=True)
    angle = float(np.degrees(np.arctan2(*(tip - motor)[::-1])))
    turn(side, motor, 16.5, 0.0, angle, "$-y_i$", BLUE, 1.22)
    turn(side, gimbal, 18.0, 0.0, thigh, "$-l_2$", GOLD, 1.17)
    arrow(side, (-15.0, 0.0), (-15.0, -HEIGHT), GREY, both=True)
    text(side, (-15.0, -0.5 * HEIGHT), "crank")
    text(side, 0.5 * foot + (-1.0, 4.6), "post", GOLD)
    text(side, 0.5 * (motor + tip) + (3.2, -5.5), "post", BLUE)
    text(side, 0.5 * (tip + foot) + (4.2, 0.0), "rod", GREEN)
    text(side, (-7.5, 7.2), "hip clamp", GREY)
    side.set_title("from the side, gimbal straight", fontsize=11)
    side.set_xlim(-20.0, 26.0)
    side.set_ylim(-33.0, 13.0)
    line(front, (0.0, 9.0), (0.0, -4.0))
    body(front, (-4.5, -30.0), (4.5, -30.0), (4.5, -4.0), (-4.5, -4.0))
    link(front, (-LATERAL, foot[1]), (LATERAL, foot[1]), color=GOLD)
    for i, s in ((1, -1.0), (2, 1.0)):
        link(front, (4.5 * s, -HEIGHT), (LATERAL * s, -HEIGHT), color=BLUE, width=5.0)
        link(front, (LATERAL * s, -HEIGHT), (LATERAL * s, tip[1]), color=BLUE)
        link(front, (LATERAL * s, tip[1]), (LATERAL * s, foot[1]), color=GREEN, width=4.0)
        for y in (tip[1], foot[1]):
            pin(front, (LATERAL * s, y), size=9, color=GREEN, filled=True)
        text(front, (17.0 * s, -HEIGHT), f"motor {i}", BLUE)
    turn(front, (0.0, 0.0), 8.0, 205.0, 250.0, color=GOLD)
    pin(front, (0.0, 0.0))
    text(front, (-8.6, -6.8), "$l_1$", GOLD)
    arrow(front, (0.0, 9.6), (LATERAL, 9.6), GREY, both=True)
    text(front, (0.5 * LATERAL, 12.3), "lateral")
    text(front, (-13.5, 8.3), "thigh", GOLD)
    text(front, (0.0, -35.5), "hip clamp", GREY, box=False)
    front.set_title("from the front", fontsize=11)
    front.set_xlim(-23.0, 23.0)
    front.set_ylim(-38.0, 15.0)
    return figure
