"""The configurations of a four-bar are a curve: three angles, one velocity."""

from __future__ import annotations

import numpy as np
from _draw import BLUE, GREEN, GREY, INK, RED, Figure, arrow, at, ground, link, meet, pin, sheet, text, turn

CRANK, COUPLER, ROCKER, GROUND = 1.0, 2.6, 2.0, 2.8


def angles(crank: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the points B and C at an angle of the crank [deg]."""
    b = at((0, 0), CRANK, crank)
    return b, meet(b, COUPLER, (GROUND, 0.0), ROCKER, 1)


def draw() -> Figure:
    """Return the drawing."""
    figure, (left, right) = sheet(9.2, 3.9, 2)
    a, d = np.zeros(2), np.array([GROUND, 0.0])
    for crank, dashed in ((100.0, True), (60.0, False)):
        b, c = angles(crank)
        link(left, a, b, color=BLUE, dashed=dashed)
        link(left, b, c, color=GREY, dashed=dashed)
        link(left, d, c, color=GREEN, dashed=dashed)
        if not dashed:
            for x in (a, b, c, d):
                pin(left, x)
    ground(left, a, 0.3)
    ground(left, d, 0.3)
    turn(left, a, 0.6, 0.0, 60.0, "$q_1$", BLUE)
    turn(left, d, 0.5, 0.0, np.degrees(np.arctan2(*(angles(60.0)[1] - d)[::-1])), "$q_3$", GREEN)
    text(left, (1.5, -0.75), "three joints in the tree: nq = 3; one moves freely: nv = 1", INK, box=False, fontsize=9)
    left.set_xlim(-1.0, 4.0)
    left.set_ylim(-1.0, 3.0)

    cranks = np.linspace(-180.0, 180.0, 361)
    rockers = np.degrees([np.arctan2(*(angles(x)[1] - d)[::-1]) for x in cranks])
    right.set_aspect("auto")
    right.axis("on")
    for side in ("top", "right"):
        right.spines[side].set_visible(False)
    right.plot(cranks, rockers, color=INK, lw=2.0)
    k = int(np.abs(cranks - 60.0).argmin())
    slope = (rockers[k + 1] - rockers[k - 1]) / (cranks[k + 1] - cranks[k - 1])
    right.plot(cranks[k], rockers[k], "o", color=RED, ms=8, zorder=6)
    arrow(right, (60.0, rockers[k]), (60.0 + 75.0, rockers[k] + 75.0 * slope), RED, width=2.0)
    text(right, (150.0, rockers[k] + 75.0 * slope + 4.0), "$G v$", RED, box=False)
    text(right, (76.0, rockers[k] - 3.0), "$q$", RED, box=False)
    text(right, (-120.0, 96.0), r"$\varphi(q) = 0$", INK, box=False)
    right.set_xlabel("crank $q_1$ [deg]")
    right.set_ylabel("rocker $q_3$ [deg]")
    right.set_xticks([-180, -90, 0, 90, 180])
    return figure
