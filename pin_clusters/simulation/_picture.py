"""Figure of a simulation result over time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.picture_names import literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours remain distinct for colour-blind readers; beyond seven joints the line style changes as well.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES: tuple[Any, ...] = ("-", (0, (4.0, 2.0)), (0, (1.2, 1.5)), (0, (6.0, 1.5, 1.2, 1.5)))
_POINTS = 2000
_PER_COLUMN = 22
_SWITCH: dict[str, Any] = {"color": "#888888", "linewidth": 0.9, "linestyle": (0, (2.0, 2.0))}


def draw(result: Any) -> "Figure":
    from matplotlib.figure import Figure

    shown = np.unique(np.linspace(0, len(result.time) - 1, _POINTS).astype(int))
    time = result.time[shown]
    speeds = ("Angular velocities", "Linear velocities") if len(set(result.units)) > 1 else ("Velocities",) * 2
    panels: list[tuple[str, str, dict[int, np.ndarray]]] = []
    for curves, titles, units in (
        (
            {k: result.q[shown, i] for k, i in enumerate(result.idx_q) if i >= 0},
            ("Angles", "Displacements"),
            ("rad", "m"),
        ),
        (dict(enumerate(result.v[shown].T)), speeds, ("rad/s", "m/s")),
        ({k: tau[shown] for k, tau in enumerate(result.tau.T) if np.any(tau)}, ("Torques", "Forces"), ("N m", "N")),
    ):
        for kind, title, unit in zip(("rad", "m"), titles, units, strict=True):
            curves_of_kind = {k: y for k, y in curves.items() if result.units[k] == kind}
            if curves_of_kind:
                panels.append((title, unit, curves_of_kind))
    largest_residual = float(result.residual.max(initial=0.0))
    span = np.diff(result.time, append=np.inf)[shown]
    pushes = {b: result.contact_impulses[shown, b, 2] / span for b in range(len(result.bodies))}
    pushes = {b: y for b, y in pushes.items() if np.any(y)}
    rows = len(panels) + 1 + bool(pushes) + (largest_residual > 0.0)  # the residual of constant couplings is zero
    columns = -(-len(result.joints) // _PER_COLUMN)
    figure = Figure(figsize=(8.2 + 1.7 * columns, 1.2 + 1.65 * rows), dpi=100, layout="constrained")
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    lines: dict[int, Any] = {}
    for ax, (title, unit, curves) in zip(axes, panels, strict=False):
        for k, y in curves.items():
            (lines[k],) = ax.plot(time, y, **_style(k))
        _dress(ax, title, unit)
    energy_change = result.energy[shown] - result.energy[0] if len(shown) else result.energy
    energy = axes[len(panels)]
    energy.plot(time, energy_change, color="#000000", linewidth=1.4)
    _dress(energy, "Change of the sum of kinetic and potential energy", "J")
    if pushes:
        ax = axes[len(panels) + 1]
        for n, (b, y) in enumerate(pushes.items()):
            ax.plot(time, y, **{**_style(n), "linewidth": 1.0}, label=literal(result.bodies[b]))
        _dress(ax, "Vertical contact forces on bodies, averaged between samples", "N")
        ax.legend(fontsize=7.5, frameon=False, ncols=-(-len(pushes) // 4), loc="upper right")
    if largest_residual > 0.0:
        axes[-1].semilogy(time, np.maximum(result.residual[shown], 1e-17), color="#000000", linewidth=1.0)
        axes[-1].set_ylim(1e-17, max(1e-11, 10.0 * largest_residual))
        _dress(axes[-1], "Largest relative residual of couplings and loops", "")
    axes[-1].set_xlabel("time [s]")
    if len(time) > 1:
        axes[-1].set_xlim(float(time[0]), float(time[-1]))
    for ax in axes:
        for switch in result.switches:
            ax.axvline(switch.time, **_SWITCH)
    figure.align_ylabels(axes)
    order = sorted(lines)
    handles, names = [lines[k] for k in order], [literal(result.joints[k]) for k in order]
    if result.switches:
        from matplotlib.lines import Line2D

        handles.append(Line2D([], [], **_SWITCH))
        names.append("change of the\nindependent joints")
    figure.legend(handles, names, loc="outside right upper", fontsize=8.5, frameon=False, ncols=columns)
    figure.suptitle(
        f"{literal(result.robot)}: simulation with {result.method}, dt = {1e3 * result.dt:g} ms", fontsize=12
    )
    return figure


def _style(k: int) -> dict[str, Any]:
    n = len(_COLOURS)
    return {"color": _COLOURS[k % n], "linestyle": _DASHES[k // n % len(_DASHES)], "linewidth": 1.4}


def _dress(ax: Any, title: str, unit: str) -> None:
    ax.set_title(title, fontsize=10, loc="left", pad=3.0)
    ax.set_ylabel(f"[{unit}]" if unit else "", fontsize=9)
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8.5, length=2.5)
    ax.spines[["top", "right"]].set_visible(False)
