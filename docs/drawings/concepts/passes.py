"""The passes of the algorithms over clusters."""

from __future__ import annotations

from _draw import BLUE, GOLD, GREY, INK, RED, Figure, arrow, sheet, text


def chain(ax: object, title: str, steps: list[tuple[str, str, bool, str]]) -> None:
    """Draw clusters in a row, and passes below them: words on the left, what is carried, outward or inward."""
    for x, words in ((0.0, "base"), (1.5, "cluster 1"), (3.0, "cluster 2"), (4.5, "cluster 3")):
        how = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": GREY, "linewidth": 1.8}
        ax.text(x, 0.0, words, ha="center", va="center", bbox=how, zorder=5, fontsize=10)
    for k in range(3):
        ax.plot([1.5 * k, 1.5 * k + 1.5], [0, 0], color=GREY, lw=1.4, zorder=1)
    for k, (carried, found, outward, color) in enumerate(steps):
        y = -0.72 - 0.78 * k
        ends = ((0.1, y), (4.7, y)) if outward else ((4.7, y), (0.1, y))
        arrow(ax, *ends, color, width=2.2)
        text(ax, (2.4, y + 0.24), carried, color, box=False, fontsize=9.5)
        text(ax, (5.0, y), found, INK, box=False, fontsize=9, ha="left")
    ax.set_title(title, fontsize=11, loc="left")
    ax.set_xlim(-0.6, 7.4)
    ax.set_ylim(-0.95 - 0.78 * (len(steps) - 1), 0.45)
    ax.set_aspect("auto")


def draw() -> Figure:
    """Return the drawing."""
    figure, axes = sheet(8.6, 5.6, 1)
    axes[0].remove()
    top, bottom = figure.subplots(2, 1, gridspec_kw={"height_ratios": [2.0, 2.7]})
    for ax in (top, bottom):
        ax.axis("off")
    chain(top, "rnea", [
        (r"poses, $G$, $g$, velocities, accelerations", r"$v_t = G v$, $a_t = G a + g$", True, BLUE),
        (r"forces $f_b$, moments of spin elements", r"$\tau_k = \sum G_b^\top S_b^\top f_b$", False, RED),
    ])  # fmt: skip
    chain(bottom, "aba", [
        (r"poses, $G$, $g$, velocities, accelerations at $a = 0$", r"$K_b$, forces $p_b$", True, BLUE),
        (r"articulated inertia $I^A$, force $p$", r"$D$, $U$, $u$ per cluster", False, RED),
        (r"difference of acceleration $\delta$", r"$a_k = D^{-1}(u - U^\top \delta)$", True, GOLD),
    ])  # fmt: skip
    return figure
