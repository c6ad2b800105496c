"""Define the style of each method in the figures, and the elements that all timing figures share."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..plots import Figure, named, titled

# Colour-blind readers can distinguish these colours (Okabe and Ito). Markers and line styles repeat them.
STYLES: dict[str, dict[str, Any]] = {
    "cluster": {"color": "#000000", "linestyle": "-", "linewidth": 2.0, "marker": "o"},
    "approximate": {"color": "#0072B2", "linestyle": (0, (3.5, 2)), "linewidth": 1.6, "marker": "s"},
    "pinocchio": {"color": "#56B4E9", "linestyle": "-.", "linewidth": 1.6, "marker": "D"},
    "projection": {"color": "#D55E00", "linestyle": "-", "linewidth": 1.6, "marker": "^"},
    "least": {"color": "#E69F00", "linestyle": ":", "linewidth": 1.6, "marker": "<"},
    "lagrange": {"color": "#882255", "linestyle": "-", "linewidth": 1.6, "marker": "v"},
    "other": {"color": "#009E73", "linestyle": "-", "linewidth": 1.6, "marker": "X"},
    "second": {"color": "#E69F00", "linestyle": (0, (3.5, 2)), "linewidth": 1.6, "marker": "P"},
    "published": {
        "color": "#000000",
        "linestyle": "none",
        "marker": "D",
        "markersize": 5.5,
        "markerfacecolor": "#ffffff",
        "markeredgewidth": 1.2,
    },
}
LABELS = {
    "cluster": "cluster algorithm, exact",
    "approximate": "approximate, same code",
    "pinocchio": "approximate, Pinocchio",
    "projection": "projection, exact",
    "least": "projection, its part in Pinocchio",
    "lagrange": "Lagrange multipliers, exact",
    "published": "published",
}
MARKER = 4.0


def curves(axes: Any, rows: Sequence[dict[str, Any]], size: str, styles: Mapping[str, str]) -> None:
    for method, key in styles.items():
        points = [(r[size], r["times"][method]["median_us"]) for r in rows if method in r["times"]]
        curve(axes, key, *zip(*points, strict=True))


def curve(axes: Any, key: str, x: Sequence[float], y: Sequence[float], **options: Any) -> None:
    axes.plot(x, y, **{"markersize": MARKER, **STYLES[key], **options})


def logarithmic(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain(axes.xaxis)
    named(axes, title, x, y)


def plain(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def headed(
    figure: Figure, title: str, lines: tuple[str, ...], labels: Mapping[str, str], *, bars: bool = False
) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    height, left = titled(figure, title, lines), 0.025
    handles: list[Any] = []
    for key, text in labels.items():
        style, label = {"markersize": MARKER, **STYLES[key]}, text or LABELS[key]
        filled = bars and key not in ("cluster", "published")
        handles.append(Patch(color=style["color"], label=label) if filled else Line2D([], [], label=label, **style))
    for columns in (4, 3, 2):  # use the largest number of columns that fits
        legend = figure.legend(
            handles=handles,
            ncols=columns,
            fontsize=8.5,
            frameon=False,
            loc="upper left",
            handlelength=2.6,
            borderaxespad=0.0,
            borderpad=0.0,
            columnspacing=1.6,
            labelspacing=0.35,
            bbox_to_anchor=(left, 1.0 - (0.48 + 0.19 * len(lines)) / height),
        )
        if legend.get_window_extent().width < (1.0 - left) * figure.bbox.width or columns == 2:
            break
        legend.remove()


def guide(axes: Any, x: Sequence[float], y: float, power: float) -> None:
    start, stop = float(x[0]), float(x[-1])
    end = y * (stop / start) ** power
    axes.plot([start, stop], [y, end], color="#999999", linewidth=0.8, linestyle=":", zorder=1.0)
    axes.annotate(
        f"$\\propto N^{{{power:g}}}$" if power != 1 else "$\\propto N$",
        (stop, end),
        fontsize=8,
        color="#777777",
        xytext=(0, -11),
        textcoords="offset points",
        ha="right",
    )
