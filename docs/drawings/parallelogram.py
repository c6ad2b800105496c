"""The parallelogram, its change point, and the crossed linkage that branches off there."""

from __future__ import annotations

from _draw import BLUE, GOLD, GREEN, GREY, Figure, at, ground, line, link, meet, pin, sheet, text, turn


def draw() -> Figure:
    """Return the drawing."""
    figure, axes = sheet(9.4, 2.9, 3)
    for ax, angle, title in zip(
        axes, (60.0, 0.0, 60.0), ("parallelogram", "change point", "crossed: use FourBar"), strict=True
    ):
        a, d = (0.0, 0.0), (2.2, 0.0)
        b = at(a, 1.3, angle)
        crossed = title.startswith("crossed")
        c = meet(b, 2.2, d, 1.3, -1) if crossed else at(d, 1.3, angle)
        ground(ax, a, 0.25)
        ground(ax, d, 0.25)
        line(ax, a, d)
        for ends, color in (((a, b), BLUE), ((b, c), GREEN), ((d, c), GOLD)):
            link(ax, *ends, color=GREY if crossed else color)
        for p in (a, b, c, d):
            pin(ax, p)
        if title == "parallelogram":
            turn(ax, a, 0.5, 0.0, angle, "crank", BLUE, 2.0)
            turn(ax, d, 0.5, 0.0, angle, "rocker", GOLD, 2.1)
            text(ax, 0.5 * (b + c) + (0, 0.3), "coupler (keeps its direction)", GREEN)
        if angle == 0.0:
            for p, name, up in ((a, "A", 0.3), (b, "B", 0.3), (d, "D", 0.3), (c, "C", 0.3)):
                text(ax, (p[0], p[1] + up), name)
        ax.set_title(title, fontsize=11)
        ax.set_xlim(-0.6, 3.9)
        ax.set_ylim(-1.6, 1.8)
    return figure
