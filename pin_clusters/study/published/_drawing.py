"""How the figures look: one style per method, and what figures of times have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..plots import head, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# colours of Okabe and Ito, which the colour-blind can tell apart; markers and line styles say the same again
STYLES: dict[str, dict[str, Any]] = {
    "cluster": {"color": "#000000", "linestyle": "-", "linewidth": 2.0, "marker": "o"},
    "kernel": {"color": "#000000", "linestyle": (0, (1, 1)), "linewidth": 2.0, "marker": "."},
    "approximate": {"color": "#0072B2", "linestyle": (0, (3.5, 2)), "linewidth": 1.6, "marker": "s"},
    "pinocchio": {"color": "#56B4E9", "linestyle": "-.", "linewidth": 1.6, "marker": "D"},
    "projection": {"color": "#D55E00", "linestyle": "-", "linewidth": 1.6, "marker": "^"},
    "least": {"color": "#E69F00", "linestyle": ":", "linewidth": 1.6, "marker": "<"},
    "lagrange": {"color": "#882255", "linestyle": "-", "linewidth": 1.6, "marker": "v"},
    "other": {"color": "#009E73", "linestyle": "-", "linewidth": 1.6, "marker": "X"},
    "second": {"color": "#E69F00", "linestyle": (0, (3.5, 2)), "linewidth": 1.6, "marker": "P"},
    "published": {"color": "#777777", "linestyle": "none", "marker": "_", "markersize": 13, "markeredgewidth": 2.2},
}
LABELS = {
    "cluster": "cluster algorithm, exact",
    "kernel": "cluster algorithm, kernel alone",
    "approximate": "approximate, same code",
    "pinocchio": "approximate, Pinocchio",
    "projection": "projection, exact",
    "least": "its Pinocchio part alone",
    "lagrange": "Lagrange multipliers, exact",
    "published": "published",
}
MARKER = 4.0


def panels(figure: Figure, n: int, *, height: float = 4.9, left: float = 0.075, gap: float = 0.24) -> list[Any]:
    """Make a row of panels that leaves room for a head."""
    figure.set_size_inches(9.6, height)
    grid = figure.add_gridspec(
        1, n, left=left, right=0.98, top=1.0 - 1.45 / height, bottom=0.52 / height, wspace=gap
    )
    return [figure.add_subplot(grid[0, k]) for k in range(n)]


def curve(axes: Any, key: str, x: Sequence[float], y: Sequence[float], **more: Any) -> None:
    """Draw one method."""
    axes.plot(x, y, **{"markersize": MARKER, **STYLES[key], **more})


def logarithmic(axes: Any, title: str, x: str, y: str) -> None:
    """Name a panel of times, both axes logarithmic, with numbers as people write them."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain(axes.xaxis)
    named(axes, title, x, y)


def plain(axis: Any) -> None:
    """Write 2, 5, 10, 20 at a logarithmic axis instead of powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def named(axes: Any, title: str, x: str, y: str) -> None:
    """Name a panel and its axes, and tidy it."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    tidy(axes)


def headed(figure: Figure, title: str, lines: tuple[str, ...], labels: Mapping[str, str]) -> None:
    """Write title, lines and the legend; a method's label is given, or its usual one if it is empty."""
    styles = {key: {"markersize": MARKER, **STYLES[key]} for key in labels}
    head(figure, title, lines, {key: text or LABELS[key] for key, text in labels.items()}, styles=styles)


def guide(axes: Any, x: Sequence[float], y: float, power: float) -> None:
    """Draw a thin line that grows with a power, from a first point, and write the power at its end."""
    first, last = float(x[0]), float(x[-1])
    end = y * (last / first) ** power
    axes.plot([first, last], [y, end], color="#999999", linewidth=0.8, linestyle=":", zorder=1.0)
    axes.annotate(
        f"$\\propto N^{{{power:g}}}$" if power != 1 else "$\\propto N$", (last, end), fontsize=8, color="#777777",
        xytext=(-4, 3), textcoords="offset points", ha="right",
    )  # fmt: skip
