"""Draw the figures of the page; they are narrow enough for a phone."""

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from ..._support.picture_names import literal
from ..pages.axes import DASHES, PARTS, SMALL, WIDTH, finished, lines, over, rows, tall, tidy
from ..pages.svg import COLOURS as C
from ..pages.svg import figure
from ..pages.template import Html
from .coordinates import Coordinate
from .lengths import Sensitivity
from .ranges import JointRange
from .region import Region
from .torques import Torques, distinct
from .transmission import Transmission
from .words import axis, degrees, number, place, reasons

_WIDEST = 400.0  # Largest angle on the axis of the range figure, [degrees]
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_NET = 4  # The figure of dependent joints draws every fourth grid line
_STEEP = 4.0  # Unbounded curves are cut at this multiple of their 75 % quantile


def range_bars(joint_ranges: Sequence[JointRange]) -> Html:
    names = [r.joint for r in joint_ranges]
    height = 1.35 + tall(names, 0.25) * len(joint_ranges)
    drawn, axes, y = rows(names, height, height - 1.2, "angle [deg]")
    ends = [x for r in joint_ranges for x in (*r.span, *r.limits) if math.isfinite(x)]
    widest = min(_WIDEST, max((abs(math.degrees(x)) for x in ends), default=90.0) * 1.05 + 1.0)
    labels = {"limits": "limits of the file", "range": "reached through the loops", "turn": "turns fully"}
    for r, height_of_bar in zip(joint_ranges, y, strict=True):
        low, high = (float(np.clip(math.degrees(x), -widest, widest)) for x in r.limits)
        axes.plot(
            [low, high],
            [height_of_bar, height_of_bar],
            color=C["grey"],
            linewidth=1.2,
            zorder=2,
            label=labels.pop("limits", None),
        )
        for x, limit in ((low, r.limits[0]), (high, r.limits[1])):
            if abs(math.degrees(limit)) <= widest:
                axes.plot(
                    [x, x], [height_of_bar - 0.22, height_of_bar + 0.22], color=C["grey"], linewidth=1.2, zorder=2
                )
        if r.turns and r.independent:
            start, end, key, look = -180.0, 180.0, "turn", {"color": C["sky"], "hatch": "////"}
        else:
            start, end = (float(np.clip(math.degrees(x), -widest, widest)) for x in r.span)
            key, look = "range", {"color": C["diagonal"]}
        axes.barh(
            height_of_bar,
            end - start,
            0.42,
            left=start,
            edgecolor=C["paper"],
            linewidth=0.0,
            zorder=3,
            label=labels.pop(key, None),
            **look,
        )
        axes.plot([math.degrees(r.reference)], [height_of_bar], marker="|", markersize=8, color=C["ink"], zorder=4)
    axes.set_xlim(-widest, widest) if any(r.span[0] < 0.0 for r in joint_ranges) else axes.set_xlim(0.0, widest)
    text = "Range of motion. " + ", ".join(
        f"{r.joint} {place(r.span[0], r.unit)} to {place(r.span[1], r.unit)}" for r in joint_ranges
    )
    return finished(drawn, axes, "Range of motion of each joint", "ranges", f"{text}.", top=0.3)


def region_map(region: Region, key: str) -> Html:
    x, y = region.x, region.y
    drawn, axes = _square(axis(x.name, x.unit), axis(y.name, y.unit), len(region.edges))
    gx, gy = (degrees(g, c.unit) for g, c in ((region.grid_x, x), (region.grid_y, y)))
    bx, by = (np.concatenate([g[:1], 0.5 * (g[1:] + g[:-1]), g[-1:]]) for g in (gx, gy))
    for k, row in enumerate(region.reached):
        for a, b in _spans(row):
            axes.barh(
                by[k],
                bx[b + 1] - bx[a],
                by[k + 1] - by[k],
                left=bx[a],
                align="edge",
                color=C["diagonal"],
                alpha=0.16,
                linewidth=0,
            )
    _edges(axes, region, x, y)
    text = f"Poses that {x.name} and {y.name} reach together. The range is limited by {', '.join(reasons(region))}."
    return finished(drawn, axes, "Combined range of both joints", key, text)


def net(region: Region, x: Coordinate, y: Coordinate, key: str) -> Html:
    """Draw the region that two dependent joints can reach, with lines of constant independent coordinates."""
    drawn, axes = _square(axis(x.name, x.unit), axis(y.name, y.unit), len(region.edges))
    px, py = (degrees(region.positions[:, :, region.index(c.name)], c.unit) for c in (x, y))
    middle = [int(np.argmin(np.abs(g))) for g in (region.grid_y - 0.0, region.grid_x - 0.0)]
    for i in range(middle[0] % _NET, px.shape[0], _NET):
        axes.plot(px[i], py[i], color=C["diagonal"], linewidth=0.7, alpha=0.7)
    for i in range(middle[1] % _NET, px.shape[1], _NET):
        axes.plot(px[:, i], py[:, i], color=C["grey"], linewidth=0.7, alpha=0.8)
    _edges(axes, region, x, y)
    text = f"The combined range in the coordinates of {x.name} and {y.name}."
    return finished(drawn, axes, "Combined range of the dependent joints", key, text)


def _edges(axes: Any, region: Region, x: Coordinate, y: Coordinate) -> None:
    looks = zip(cycle(_MARKERS), cycle(("block", "green", "wine", "none", "rose", "sky", "grey")), strict=False)
    for e, reason, (marker, colour) in zip(region.edges, reasons(region), looks, strict=False):
        xs, ys = (degrees(e.positions[:, region.index(c.name)], c.unit) for c in (x, y))
        axes.plot(
            xs,
            ys,
            linestyle="none",
            marker=marker,
            markersize=3.2,
            color=C[colour],
            markeredgewidth=0.0,
            label=literal(reason),
        )


def _spans(row: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def _square(x: str, y: str, entries: int) -> tuple[Any, Any]:
    top = 0.36 + 0.17 * ((entries + 1) // 2)
    height = top + 3.4
    drawn = figure(WIDTH, height)
    axes = drawn.add_axes((0.17, 0.48 / height, 0.79, 1.0 - (top + 0.55) / height))
    tidy(axes, x, y)
    return drawn, axes


def ratios(t: Transmission, key: str) -> Html:
    top = 0.42 + 0.17 * ((len(t.joints) + 1) // 2)
    height = top + 3.6
    drawn = figure(WIDTH, height)
    upper, lower = (drawn.add_axes((0.16, y / height, 0.81, 1.45 / height)) for y in (2.12, 0.48))
    x = degrees(t.values, t.moved.unit)
    for axes, values, name in ((upper, t.ratio, "ratio"), (lower, np.abs(t.advantage), "torque ratio")):
        tidy(axes, axis(t.moved.name, t.moved.unit) if axes is lower else "", name)
        axes.yaxis.set_label_coords(-0.13, 0.5)
        lines(axes, x, zip((c.name for c in t.joints), values.T, strict=True))
        axes.axhline(0.0, color=C["ink"], linewidth=0.7)
        _cut(axes, values)
        _here(axes, x[t.reference])
    lower.set_ylim(bottom=0.0)
    upper.tick_params(labelbottom=False)
    reference = ", ".join(f"{c.name} {number(r)}" for c, r in zip(t.joints, t.ratio[t.reference], strict=True))
    text = (
        f"Upper: velocity of each joint divided by the velocity of {t.moved.name}. Lower: torque ratio. "
        f"In the reference pose: {reference}."
    )
    return finished(drawn, upper, f"Ratios to {t.moved.name}", key, text)


def inertia(t: Transmission, key: str) -> Html:
    unit = "kg" if t.moved.slides else "kg m\u00b2"
    drawn, axes = over(axis(t.moved.name, t.moved.unit), f"inertia [{unit}]")
    x = degrees(t.values, t.moved.unit)
    axes.plot(x, t.inertia, color=C["diagonal"], linewidth=1.6, label="total")
    if np.nanmax(t.motors) > 1e-6 * np.nanmax(t.inertia):
        axes.plot(x, t.motors, color=C["block"], linewidth=1.4, linestyle=(0, (4, 2)), label="rotors and armature")
    axes.set_ylim(bottom=0.0)
    axes.ticklabel_format(axis="y", scilimits=(-3, 4))
    axes.yaxis.get_offset_text().set_fontsize(SMALL)
    _cut(axes, np.column_stack([t.inertia, t.motors]), low=0.0)
    _here(axes, x[t.reference])
    at_reference = f"{number(float(t.inertia[t.reference]))} {unit}"
    text = f"Effective inertia at {t.moved.name} over its range, {at_reference} in the reference pose."
    return finished(drawn, axes, f"Inertia at {t.moved.name}", key, text)


def _cut(axes: Any, values: np.ndarray, low: float | None = None) -> None:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    usual = float(np.quantile(np.abs(finite), 0.75))
    bound = max(_STEEP * usual, 1e-12)
    if np.abs(finite).max() > bound:
        axes.set_ylim(-bound if low is None and finite.min() < 0.0 else 0.0 if low is None else low, bound)


def _here(axes: Any, x: float) -> None:
    axes.axvline(x, color=C["soft"], linewidth=0.8, linestyle=(0, (1, 2)))


def polygons(t: Torques, key: str, *, speeds: bool = False) -> Html:
    a, b = t.joints
    units = [f"{c.unit}/s" if speeds else c.torque_unit for c in (a, b)]
    drawn, axes = _square(f"{a.name} [{units[0]}]", f"{b.name} [{units[1]}]", len(sets := distinct(t)))
    for s, colour, dash in zip(sets, cycle(PARTS), cycle(DASHES), strict=False):
        corners = s.speeds if speeds else s.corners
        axes.plot(
            *np.vstack([corners, corners[:1]]).T, color=C[colour], linestyle=dash, linewidth=1.5, label=literal(s.pose)
        )
    axes.fill(*(t.sets[0].speeds if speeds else t.sets[0].corners).T, color=C[PARTS[0]], alpha=0.10, linewidth=0)
    axes.axhline(0.0, color=C["soft"], linewidth=0.7)
    axes.axvline(0.0, color=C["soft"], linewidth=0.7)
    quantity = "speeds" if speeds else "torques"
    text = f"Deliverable {quantity} of the motors at {a.name} and {b.name}, in {len(sets)} poses."
    return finished(drawn, axes, f"Deliverable {quantity}", key, text)


def gain_map(region: Region, t: Torques, stiffness: np.ndarray, key: str) -> Html:
    """Draw contours of the stiffness at two joints over their range; each motor has unit stiffness."""
    drawn = figure(WIDTH, 7.0)
    shown = np.isfinite(stiffness[..., 0])
    x, y = (degrees(region.positions[shown, region.index(c.name)], c.unit) for c in t.joints)
    for k, (c, colour) in enumerate(zip(t.joints, ("diagonal", "block"), strict=True)):
        axes = drawn.add_axes((0.17, 0.56 - 0.49 * k, 0.79, 0.37))
        tidy(axes, *(axis(joint.name, joint.unit) for joint in t.joints))
        values = stiffness[shown, k]
        levels = np.unique([float(f"{z:.3g}") for z in np.quantile(values, (0.1, 0.3, 0.5, 0.7, 0.9))])
        if np.ptp(values) > 1e-3 * values.max():
            axes.clabel(axes.tricontour(x, y, values, levels, colors=[C[colour]]), fontsize=SMALL)
        axes.set_title(literal(f"{c.name}: {values.min():.3g} to {values.max():.3g}"), fontsize=SMALL)
    text = f"Stiffness at {' and '.join(c.name for c in t.joints)} with the other joint fixed, per motor stiffness."
    return finished(drawn, axes, "Joint stiffness per motor stiffness", key, text)


def torque_range(t: Torques, moved: Coordinate, key: str) -> Html:
    assert t.along is not None
    assert t.values is not None
    unit = t.joints[0].torque_unit if len({c.torque_unit for c in t.joints}) == 1 else "N m, N"
    drawn, axes = over(axis(moved.name, moved.unit), f"largest torque [{unit}]")
    x = degrees(t.values, moved.unit)
    lines(axes, x, zip((c.name for c in t.joints), t.along.T, strict=True))
    axes.set_ylim(bottom=0.0)
    _cut(axes, t.along, low=0.0)
    text = f"Largest torque at {', '.join(c.name for c in t.joints)} over the range of {moved.name}."
    return finished(drawn, axes, "Largest torque of the motors", key, text)


def length_bars(sensitivity: Sensitivity, shown: Sequence[int], key: str) -> Html:
    names = [sensitivity.lengths[i] for i in shown]
    height = 1.25 + tall(names, 0.36) * len(names)
    unit = "mm per mm" if all(c.slides for c in sensitivity.joints) else "mrad per mm"
    if len({c.slides for c in sensitivity.joints}) > 1:
        unit = "mrad, mm per mm"
    drawn, axes, y = rows(names, height, height - 1.1, unit)
    bar = 0.7 / len(sensitivity.joints)
    for k, (c, colour) in enumerate(zip(sensitivity.joints, cycle(PARTS), strict=False)):
        y_bar = y + 0.35 - (k + 0.5) * bar
        axes.barh(y_bar, sensitivity.largest[shown, k], bar, color=C[colour], alpha=0.28, linewidth=0)
        axes.barh(
            y_bar, np.abs(sensitivity.at_reference[shown, k]), bar, color=C[colour], linewidth=0, label=literal(c.name)
        )
    text = "Joint displacement per millimetre: " + ", ".join(
        f"{sensitivity.lengths[i]} {number(float(sensitivity.largest[i].max()))}" for i in shown
    )
    return finished(drawn, axes, "Effect of one millimetre", key, text, top=0.3)
