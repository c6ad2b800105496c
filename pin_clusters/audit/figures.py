"""The pictures of the page, narrow enough for a phone. Colours, line styles and markers all tell the curves apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from ..study import StudyResult
from ._svg import COLOURS as C
from ._svg import figure, inline
from ._template import Html
from .verdict import label

_DASHED = (0, (3.5, 2.5))
STYLES: dict[str, dict[str, Any]] = {
    rung: {"color": C[colour], "linestyle": line, "linewidth": width, "marker": marker, "zorder": order}
    for rung, colour, line, width, marker, order in (
        ("exact", "ink", "-", 1.9, "o", 2.0),
        ("none", "none", ":", 1.5, "o", 2.1),
        ("block", "block", "-", 1.3, "D", 2.2),
        ("diagonal", "diagonal", _DASHED, 1.4, "s", 2.3),
        ("unconstrained", "wine", ":", 1.8, "X", 2.4),
        ("frozen", "green", "-.", 1.4, "^", 2.15),
        ("no rotor", "none", "-", 1.5, "o", 2.2),
        ("armature", "diagonal", _DASHED, 1.4, "s", 2.3),
    )
}
PARTS = ("diagonal", "block", "none", "green", "sky", "rose", "wine", "yellow", "grey")
"""Colours of the parts of an error, in their order."""
HATCHES = ("", "////", "\\\\\\\\", "xx", "--", "||", "++", "/", "-")
"""Lines only: dots make a path of a quarter of a megabyte."""
WIDTH = 4.1
_SMALL, _TEXT = 8.0, 8.5
_POINTS = 300
_FLOOR = 1e-3


def tidy(axes: Any, x: str, y: str) -> None:
    """Give axes names, a grid behind, and no box."""
    axes.grid(color=C["grid"], linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=_SMALL, length=2.5, color=C["soft"], labelcolor=C["soft"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(C["soft"])
    axes.set_xlabel(x, fontsize=_TEXT, color=C["soft"])
    axes.set_ylabel(y, fontsize=_TEXT, color=C["soft"])


def legend(drawn: Any, axes: Any, top: float, columns: int = 2) -> None:
    """Put a legend below the title, [inches from the top]."""
    height = drawn.get_size_inches()[1]
    drawn.legend(
        *axes.get_legend_handles_labels(), ncols=columns, fontsize=_SMALL, frameon=False, loc="upper left",
        labelcolor=C["ink"], bbox_to_anchor=(0.0, 1.0 - top / height), borderaxespad=0.0, borderpad=0.2,
        handlelength=2.6, columnspacing=1.2,
    )  # fmt: skip


def title(drawn: Any, text: str) -> None:
    """Write a title."""
    height = drawn.get_size_inches()[1]
    drawn.text(0.01, 1.0 - 0.17 / height, text, fontsize=10, fontweight="bold", va="center", color=C["ink"])


def _beside_names(drawn: Any, names: Sequence[str], tall: float) -> Any:
    """Return axes of a height [inches] with room for names on the left."""
    height = drawn.get_size_inches()[1]
    left = min(0.5, max(0.2, (0.14 + 0.066 * max(map(len, names))) / WIDTH))
    return drawn.add_axes((left, 0.48 / height, 0.97 - left, tall / height))


def dots(study: StudyResult, threshold: float, order: Sequence[int]) -> Html:
    """Draw the error of every joint and approximation as a dot, and the threshold."""
    percent = {rung: x[list(order)] for rung, x in study.share(study.rms_error).items()}
    rows, names = len(order), [study.joints[k] for k in order]
    height = 1.35 + 0.185 * rows
    drawn = figure(WIDTH, height)
    axes = _beside_names(drawn, names, height - 1.33)
    largest = max(float(values.max()) for values in percent.values())
    smallest = min(float(v) for values in percent.values() for v in values if v > _FLOOR) if largest > _FLOOR else 0.1
    low = 10.0 ** np.floor(np.log10(min(smallest, threshold, 1.0)))
    high = 10.0 ** np.ceil(np.log10(1.2 * max(largest, threshold)))
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.axvspan(threshold, high, color=C["block"], alpha=0.09, linewidth=0)
    axes.axvline(threshold, color=C["ink"], linewidth=1.1)
    y = np.arange(rows)[::-1]
    for rung, values in percent.items():
        style = STYLES[rung]
        size, face = (7.5, "none") if rung == "block" else (4.6, style["color"])
        axes.plot(
            np.maximum(values, low), y, linestyle="none", marker=style["marker"], markersize=size, markerfacecolor=face,
            markeredgecolor=style["color"], markeredgewidth=1.3, label=label(rung), clip_on=False, zorder=3,
        )  # fmt: skip
    axes.set_ylim(-0.6, rows - 0.4)
    axes.set_yticks(y, names)
    tidy(axes, "RMS error, % of peak torque", "")
    axes.tick_params(axis="y", labelsize=_SMALL, labelcolor=C["ink"], length=0)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.annotate(
        f"threshold {threshold:g} %", (threshold, 1.0), xycoords=("data", "axes fraction"), xytext=(3, 2),
        textcoords="offset points", fontsize=_SMALL, color=C["ink"], ha="left" if threshold < 0.4 * high else "right",
    )  # fmt: skip
    title(drawn, "RMS torque error of each joint")
    legend(drawn, axes, top=0.3)
    text = ", ".join(f"{label(r)} at most {float(x.max()):.2g} per cent" for r, x in percent.items())
    return inline(drawn, "dots", f"RMS torque error of each joint as per cent of its peak torque: {text}.")


def torque(study: StudyResult, k: int, key: str) -> Html:
    """Draw torque and error of one joint over the first two periods."""
    drawn = figure(WIDTH, 3.5)
    upper, lower = drawn.add_axes((0.14, 0.5, 0.83, 0.27)), drawn.add_axes((0.14, 0.125, 0.83, 0.27))
    # two periods if the motion repeats
    period = getattr(study.trajectory, "period", None)
    span = 2.0 * float(period) if period else float(study.time[-1])
    end = min(len(study.time), int(np.searchsorted(study.time, span * (1.0 + 1e-9), side="right")))
    shown = np.unique(np.linspace(0, max(end, 1) - 1, _POINTS).astype(int))
    time = study.time[shown]
    for axes, base in ((upper, False), (lower, True)):
        for rung in ("exact", *study.approximate):
            style = {name: value for name, value in STYLES[rung].items() if name != "marker"}
            if rung == "exact":
                y = np.zeros_like(time) if base else study.exact[shown, k]
                style |= {"linewidth": 0.9} if base else {}
            else:
                y = (study.error(rung) if base else study.approximate[rung])[shown, k]
            axes.plot(time, y, label=label(rung), **style)
        axes.set_xlim(0.0, float(time[-1]) or 1.0)
        axes.locator_params(axis="y", nbins=4)
        tidy(axes, "time [s]" if base else "", f"{'error' if base else 'torque'} [{study.units[k]}]")
        axes.yaxis.set_label_coords(-0.105, 0.5)
    upper.tick_params(labelbottom=False)
    title(drawn, study.joints[k])
    legend(drawn, upper, top=0.28)
    rms = ", ".join(f"{label(r)} {x[k]:.3g}" for r, x in study.rms_error.items())
    return inline(drawn, key, f"Torque and error over time at {study.joints[k]}. RMS error in {study.units[k]}: {rms}.")


def parts(names: Sequence[str], joints: Sequence[str], shares: np.ndarray, rung: str) -> Html:
    """Draw which parts make the error of each joint, as stacked signed bars.

    Args:
        names: Of the parts.
        joints: Names of the rows.
        shares: ``<part, total> / <total, total>``, shape (joints, parts), [%].
        rung: The approximation whose error it is.
    """
    rows = len(joints)
    lines = (len(names) + 1) // 2
    height = 1.05 + 0.34 * rows + 0.17 * lines
    drawn = figure(WIDTH, height)
    axes = _beside_names(drawn, joints, 0.34 * rows)
    y = np.arange(rows)[::-1].astype(float)
    positive, negative = np.zeros(rows), np.zeros(rows)
    for name, values, part, hatch in zip(names, shares.T, cycle(PARTS), cycle(HATCHES), strict=False):
        axes.barh(
            y, values, 0.62, left=np.where(values >= 0.0, positive, negative), color=C[part], hatch=hatch,
            edgecolor=C["paper"], linewidth=0.6, label=name,
        )  # fmt: skip
        positive += np.maximum(values, 0.0)
        negative += np.minimum(values, 0.0)
    axes.axvline(0.0, color=C["ink"], linewidth=1.0)
    axes.axvline(100.0, color=C["ink"], linewidth=0.8, linestyle=":")
    axes.set_yticks(y, list(joints))
    axes.set_ylim(-0.6, rows - 0.4)
    tidy(axes, "share of the squared error [%]", "")
    axes.tick_params(axis="y", labelsize=_SMALL, labelcolor=C["ink"], length=0)
    title(drawn, f"What the error of {label(rung)} is made of")
    legend(drawn, axes, top=0.3)
    worst = ", ".join(f"{n} {x:.0f} per cent" for n, x in zip(names, shares[0], strict=True) if abs(x) >= 0.5)
    return inline(drawn, "parts", f"Shares of the error by cause. At {joints[0]}: {worst}.")


def curves(x: np.ndarray, lines: dict[str, np.ndarray], key: str, heading: str, x_label: str, y_label: str) -> Html:
    """Draw a curve per approximation in its style, over a logarithmic axis."""
    drawn = figure(WIDTH, 2.9)
    axes = drawn.add_axes((0.16, 0.155, 0.81, 0.565))
    for name, y in lines.items():
        axes.plot(x, y, label=label(name), **{k: v for k, v in STYLES[name].items() if k != "marker"})
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda x, _: f"{x:g}")
    tidy(axes, x_label, y_label)
    axes.yaxis.set_label_coords(-0.13, 0.5)
    title(drawn, heading)
    legend(drawn, axes, top=0.28)
    return inline(drawn, key, f"{heading}. {y_label} over {x_label}: {', '.join(label(n) for n in lines)}.")


def over_range(time: np.ndarray, entries: Sequence[tuple[np.ndarray, float]], names: Sequence[str]) -> Html:
    """Draw the reflected inertia of joints along the motion, relative to what it is in the reference pose.

    Args:
        time: Of the poses, [s].
        entries: Per joint, its values along the motion and the one of the reference pose.
        names: Of the joints.
    """
    drawn = figure(WIDTH, 2.9)
    axes = drawn.add_axes((0.16, 0.155, 0.81, 0.565))
    dashes: list[Any] = ["-", (0, (4, 2)), ":", "-.", (0, (6, 2, 1, 2, 1, 2))]
    looks = zip(cycle(PARTS), cycle(dashes), strict=False)
    for name, (y, constant), (part, dash) in zip(names, entries, looks, strict=False):
        axes.plot(time, 100.0 * y / constant, label=name, color=C[part], linestyle=dash)
    axes.axhline(100.0, color=C["ink"], linewidth=0.9)
    axes.set_xlim(float(time[0]), float(time[-1]))
    tidy(axes, "time [s]", "% of the reference pose")
    axes.yaxis.set_label_coords(-0.13, 0.5)
    title(drawn, "Reflected inertia along the motion")
    legend(drawn, axes, top=0.28)
    return inline(drawn, "range", f"Reflected inertia along the motion in per cent: {', '.join(names)}.")
