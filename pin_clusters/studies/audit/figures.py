"""Draw the figures of the page. They are narrow enough for a phone, and curves differ in colour, style and marker."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from ..._support.picture_names import literal
from ..pages.axes import HATCHES, PARTS, SMALL, WIDTH, finished, lines, over, tall, tidy
from ..pages.axes import rows as _rows
from ..pages.svg import COLOURS as C
from ..pages.svg import figure
from ..pages.template import Html
from ..study import StudyResult, plots
from ..study._samples import label
from .walk import Landing, Walked

_LOOKS = {
    "exact": (1.9, "o"),
    "none": (1.5, "o"),
    "block": (1.3, "D"),
    "diagonal": (1.4, "s"),
    "unconstrained": (1.8, "X"),
    "frozen": (1.4, "^"),
    "no rotor": (1.5, "o"),
    "armature": (1.4, "s"),
}
STYLES = {level: plots.STYLES[level] | {"linewidth": width, "marker": mark} for level, (width, mark) in _LOOKS.items()}
STYLES["diagonal"]["linestyle"] = STYLES["armature"]["linestyle"] = (0, (3.5, 2.5))
_POINTS = 300  # largest number of points per curve
_TINY = 1e-3  # smallest error that affects the limits of the axis, [%]
_BEFORE = 0.012  # time shown before a landing, [s]; the time shown after the landing is three times as long


def _line(level: str) -> dict[str, Any]:
    return {"label": label(level), **STYLES[level], "marker": None}


def dots(study: StudyResult, threshold: float, order: Sequence[int]) -> Html:
    percent = {level: x[list(order)] for level, x in study.share(study.rms_error).items()}
    names = [study.joints[k] for k in order]
    height = 1.35 + tall(names, 0.185) * len(order)
    drawn, axes, y = _rows(names, height, height - 1.33, "RMS error, % of peak torque")
    largest = max(float(values.max()) for values in percent.values())
    smallest = min(float(v) for values in percent.values() for v in values if v > _TINY) if largest > _TINY else 0.1
    low = 10.0 ** np.floor(np.log10(min(smallest, threshold, 1.0)))
    high = 10.0 ** np.ceil(np.log10(1.2 * max(largest, threshold)))
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.axvspan(threshold, high, color=C["block"], alpha=0.09, linewidth=0)
    axes.axvline(threshold, color=C["ink"], linewidth=1.1)
    for level, values in percent.items():
        style = STYLES[level]
        size, face = (7.5, "none") if level == "block" else (4.6, style["color"])
        axes.plot(
            np.maximum(values, low),
            y,
            linestyle="none",
            marker=style["marker"],
            markersize=size,
            markerfacecolor=face,
            markeredgecolor=style["color"],
            markeredgewidth=1.3,
            label=label(level),
            clip_on=False,
            zorder=3,
        )
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.annotate(
        f"threshold {threshold:g} %",
        (threshold, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize=SMALL,
        color=C["ink"],
        ha="left" if threshold < 0.4 * high else "right",
    )
    text = ", ".join(f"{label(r)} at most {float(x.max()):.2g} per cent" for r, x in percent.items())
    text = f"RMS torque error of each joint as per cent of its peak torque: {text}."
    return finished(drawn, axes, "RMS torque error of each joint", "dots", text, top=0.3)


def torque(study: StudyResult, k: int, key: str) -> Html:
    drawn = figure(WIDTH, 3.5)
    upper, lower = drawn.add_axes((0.14, 0.5, 0.83, 0.27)), drawn.add_axes((0.14, 0.125, 0.83, 0.27))
    shown = plots.shown_samples(study, _POINTS, _POINTS)
    time = study.time[shown]
    for axes, base in ((upper, False), (lower, True)):
        exact = study.exact[shown, k] - (study.exact[shown, k] if base else 0.0)
        axes.plot(time, exact, **_line("exact") | ({"linewidth": 0.9} if base else {}))
        for level in study.approximate:
            y = study.error(level) if base else study.approximate[level]
            axes.plot(time, y[shown, k], **_line(level))
        axes.set_xlim(0.0, float(time[-1]) or 1.0)
        axes.locator_params(axis="y", nbins=4)
        tidy(axes, "time [s]" if base else "", f"{'error' if base else 'torque'} [{study.units[k]}]")
        axes.yaxis.set_label_coords(-0.105, 0.5)
    upper.tick_params(labelbottom=False)
    rms = ", ".join(f"{label(r)} {x[k]:.3g}" for r, x in study.rms_error.items())
    text = f"Torque and error over time at {study.joints[k]}. RMS error in {study.units[k]}: {rms}."
    return finished(drawn, upper, study.joints[k], key, text)


def parts(names: Sequence[str], joints: Sequence[str], shares: np.ndarray, level: str) -> Html:
    """Draw ``shares``, (joints, parts), [%], as bars: the share of each cause in the squared error of a joint."""
    high = tall(joints, 0.34) * len(joints)
    height = 1.05 + high + 0.17 * ((len(names) + 1) // 2)
    drawn, axes, y = _rows(joints, height, high, "share of the squared error [%]")
    positive, negative = np.zeros((2, len(joints)))
    for name, values, part, hatch in zip(names, shares.T, cycle(PARTS), cycle(HATCHES), strict=False):
        axes.barh(
            y,
            values,
            0.62,
            left=np.where(values >= 0.0, positive, negative),
            color=C[part],
            hatch=hatch,
            edgecolor=C["paper"],
            linewidth=0.6,
            label=literal(name),
        )
        positive += np.maximum(values, 0.0)
        negative += np.minimum(values, 0.0)
    axes.axvline(0.0, color=C["ink"], linewidth=1.0)
    axes.axvline(100.0, color=C["ink"], linewidth=0.8, linestyle=":")
    worst = ", ".join(f"{n} {x:.0f} per cent" for n, x in zip(names, shares[0], strict=True) if abs(x) >= 0.5)
    text = f"Shares of the error by cause. At {joints[0]}: {worst}."
    return finished(drawn, axes, f"Parts of the error of {label(level)}", "parts", text, top=0.3)


def curves(x: np.ndarray, lines: dict[str, np.ndarray], key: str, heading: str, x_label: str, y_label: str) -> Html:
    drawn, axes = over(x_label, y_label)
    for name, y in lines.items():
        axes.plot(x, y, **_line(name))
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda x, _: f"{x:g}")
    text = f"{heading}. {y_label} over {x_label}: {', '.join(map(label, lines))}."
    return finished(drawn, axes, heading, key, text)


def over_range(time: np.ndarray, entries: Sequence[tuple[np.ndarray, float]], names: Sequence[str]) -> Html:
    drawn, axes = over("time [s]", "% of the reference value")
    lines(axes, time, zip(names, (100.0 * y / constant for y, constant in entries), strict=True))
    axes.axhline(100.0, color=C["ink"], linewidth=0.9)
    axes.set_xlim(float(time[0]), float(time[-1]))
    text = f"Reflected inertia along the motion, in per cent of the reference pose: {', '.join(names)}."
    return finished(drawn, axes, "Reflected inertia along the motion", "range", text)


def pushes(walk: Walked, at: Landing) -> Html:
    drawn, axes = over("time [s]", "accumulated ground impulse [N s]")
    shown = np.abs(walk.time - at.time["exact"] - _BEFORE) < 2.0 * _BEFORE
    for name, y in walk.pushed.items():
        x = y[shown, walk.bodies.index(at.body)]
        axes.plot(walk.time[shown], x - x[0], **_line(name))
    text = f"Accumulated ground impulse on {at.body} at {at.time['exact']:.3f} s: {', '.join(walk.pushed)}."
    return finished(drawn, axes, f"Touch-down of {at.body}", "pushes", text)
