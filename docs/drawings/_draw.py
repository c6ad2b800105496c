"""Parts of the drawings: links, pins, ground, angles, labels. Angles in degrees, anticlockwise."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "pin_clusters", "font.size": 11.0, "mathtext.fontset": "dejavusans"})

INK, GREY, BLUE, RED, GREEN, GOLD, VIOLET = "#222222", "#8a8f98", "#2b6cb0", "#c0392b", "#2f855a", "#b7791f", "#6b46c1"
Place = Sequence[float] | np.ndarray


def sheet(width: float, height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a white figure of that size [inches] with axes without frames, x and y to one scale."""
    figure, axes = plt.subplots(1, panels, figsize=(width, height), squeeze=False, layout="constrained")
    for ax in axes[0]:
        ax.set_aspect("equal")
        ax.axis("off")
    return figure, list(axes[0])


def at(center: Place, radius: float, angle: float) -> np.ndarray:
    """Return a point on a circle."""
    return np.asarray(center, float) + radius * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])


def meet(b: Place, rb: float, d: Place, rd: float, side: int = 1) -> np.ndarray:
    """Return where two circles meet, left (+1) or right (-1) of the line from b to d."""
    b, d = np.asarray(b, float), np.asarray(d, float)
    distance = np.linalg.norm(d - b)
    ahead = (distance**2 + rb**2 - rd**2) / (2 * distance)
    toward = (d - b) / distance
    return b + ahead * toward + side * np.sqrt(rb**2 - ahead**2) * np.array([-toward[1], toward[0]])


def space(point: Place) -> np.ndarray:
    """Return where a point in space (x to the front left, y to the right, z up) is on the sheet."""
    x, y, z = point
    return np.array([0.92 * y - 0.5 * x, z - 0.38 * x - 0.16 * y])


def link(ax: Axes, *points: Place, color: str = INK, width: float = 6.0, dashed: bool = False, z: float = 2) -> None:
    """Draw a bar through points."""
    x, y = np.array([np.asarray(p, float) for p in points]).T
    style = (0, (1.2, 1.1)) if dashed else "-"
    caps = {"dash_capstyle": "butt"} if dashed else {"solid_capstyle": "round", "solid_joinstyle": "round"}
    ax.plot(x, y, color=color, lw=width, ls=style, zorder=z, alpha=0.45 if dashed else 1.0, **caps)


def body(ax: Axes, *points: Place, color: str = GREY) -> None:
    """Draw a plate."""
    ax.fill(*np.array([np.asarray(p, float) for p in points]).T, color=color, alpha=0.28, lw=0, zorder=1)


def pin(ax: Axes, point: Place, size: float = 9.0, color: str = INK, filled: bool = False) -> None:
    """Draw a joint."""
    ax.plot(*point, "o", ms=size, mfc=color if filled else "white", mec=color, mew=1.6, zorder=6)


def ground(ax: Axes, point: Place, size: float, angle: float = -90.0) -> None:
    """Draw what is fixed under a joint, in the direction of ``angle``."""
    u, v = at((0, 0), size, angle), at((0, 0), size, angle + 90.0)
    p = np.asarray(point, float)
    ax.fill(*np.array([p, p + u + 0.7 * v, p + u - 0.7 * v]).T, fc="white", ec=INK, lw=1.3, zorder=1.8)
    hatch(ax, p + u - 1.1 * v, p + u + 1.1 * v, 0.35 * size)


def hatch(ax: Axes, start: Place, end: Place, depth: float) -> None:
    """Draw the edge of something fixed; the hatching is right of the way from start to end."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([along[1], -along[0]])
    ax.plot(*np.array([start, end]).T, color=INK, lw=1.3, zorder=3)
    for s in np.arange(0.4 * depth, np.linalg.norm(end - start), depth):
        p = start + s * along
        ax.plot(*np.array([p, p + depth * (across - 0.7 * along)]).T, color=INK, lw=0.8, zorder=3)


def text(ax: Axes, point: Place, words: str, color: str = INK, box: bool = True, **how: object) -> None:
    """Write at a point."""
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1.0} if box else None
    ax.text(
        *point, words, color=color, ha=how.pop("ha", "center"), va=how.pop("va", "center"), bbox=back, zorder=8, **how
    )


def turn(ax: Axes, center: Place, radius: float, start: float, end: float, words: str = "", color: str = INK,
         out: float = 1.45) -> None:  # fmt: skip
    """Draw an angle from one direction to another, with an arrow at its end."""
    t = np.linspace(start, end, 60)
    path = np.array([at(center, radius, x) for x in t])
    ax.plot(*path[:-3].T, color=color, lw=1.3, zorder=5)
    ax.annotate("", path[-1], path[-6], arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3}, zorder=5)
    if words:
        text(ax, at(center, out * radius, 0.5 * (start + end)), words, color, box=False)


def arrow(ax: Axes, start: Place, end: Place, color: str = INK, both: bool = False, width: float = 1.4) -> None:
    """Draw an arrow."""
    style = "<|-|>" if both else "-|>"
    how = {"arrowstyle": style, "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=how, zorder=5)


def line(ax: Axes, *points: Place, color: str = GREY) -> None:
    """Draw a thin dashed line."""
    ax.plot(*np.array([np.asarray(p, float) for p in points]).T, color=color, lw=1.0, ls=(0, (4, 3)), zorder=1.5)
