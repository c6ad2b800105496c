"""``pin-clusters sweep``: parse the factors and print the results."""

from fractions import Fraction

import click
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..approximations import LABELS, LEVELS
from ..errors import ArgumentTypeError
from ..studies.study.random_chains import RandomChains
from ..studies.sweeps import SweepResult
from ..studies.sweeps import robots as random_robots
from ..studies.sweeps.ratio import RatioSweep
from . import tables

_ACROSS = 8
_SHOWN_FAILURES = 5


def parsed(text: str) -> list[float]:
    factors = []
    for part in text.split(","):
        try:
            value = float(Fraction(part.strip()))
        except (ValueError, ZeroDivisionError, OverflowError):
            value = 0.0
        if not value > 0.0:
            raise ArgumentTypeError(f"--factors: {part.strip()!r} must be a number above 0. Use --factors 1/3,1,10.")
        factors.append(value)
    return factors


def show_ratio(found: RatioSweep, out: Console) -> None:
    tables.say(
        out,
        f"[bold]{escape(found.robot)}[/]: all ratios multiplied by f, rotor inertias divided by f^2; inverse dynamics "
        f"with {escape(found.motion)}",
        markup=True,
    )
    if found.kept:
        tables.say(out, f"Motors of closed loops are not changed: {', '.join(found.kept)}.")
    across = len(found.joints) <= _ACROSS
    units = set(found.units)
    unit = units.pop() if len(units) == 1 else "N m (N for prismatic joints)"
    share = 100.0 * found.rms / np.where(found.peak > 0.0, found.peak, np.inf)[:, None, :]
    if across:
        geared = zip(found.joints, found.ratios, strict=True)
        heads = ["f", "", *(name if np.isnan(ratio) else f"{name} ({ratio:.4g} f)" for name, ratio in geared)]
        title, sides = f"RMS torque error, {unit}", "rl" + "r" * len(found.joints)
    else:
        heads = ["f", *(LABELS[level] for level in found.levels)]
        title, sides = "RMS torque error at the worst joint, % of its peak torque", "r" * len(heads)
    rows: list[list[str] | None] = []
    for i, factor in enumerate(found.factors.tolist()):
        if across:
            for r, level in enumerate(found.levels):
                rows.append(["" if r else f"{factor:.4g}", LABELS[level], *(f"{x:.4g}" for x in found.rms[i, r])])
            rows.append(None)
        else:
            worst = enumerate(share[i].argmax(axis=1).tolist())
            rows.append([f"{factor:.4g}", *(f"{share[i, r, j]:.2g} ({found.joints[j]})" for r, j in worst)])
    tables.put(out, tables.table_of(title, sides, heads, rows))
    for r, level in enumerate(found.levels):
        j = int(share[-1, r].argmax())
        first, last = found.rms[0, r, j], found.rms[-1, r, j]
        if not last > 0.0:
            continue
        tables.say(
            out,
            f"{LABELS[level]}: the error at {found.joints[j]} is {last:.3g} {found.units[j]} ({share[-1, r, j]:.2g} % "
            f"of the peak torque) at f = {found.factors[-1]:.4g}, {first / last:.3g} times less than at "
            f"f = {found.factors[0]:.4g}.",
        )


def show_robots(found: SweepResult, states: int, out: Console) -> None:
    effort = found.effort
    summary = random_robots.summary(found, states)
    if len(found.index):
        links, belts, floating = (int(np.sum(summary.values[key])) for key in ("links", "belts", "floating"))
        tables.say(
            out,
            f"[bold]{summary.robots} random robots[/] x {states} states, seed {found.seed}: {links} links, {belts} "
            f"belts, {floating} with a floating base",
            markup=True,
        )
        tables.put(out, _errors(summary))
    for failure in found.failures[:_SHOWN_FAILURES]:
        click.secho(f"warning: {failure}", fg="yellow", err=True)
    if found.failures:
        click.secho(f"warning: {len(found.failures)} of {found.cases} robots failed", fg="yellow", err=True)
    parts = [f"{effort.read} robots were read from earlier runs"] if effort.read else []
    if effort.computed:
        parts.append(
            f"{effort.computed} robots were computed in {effort.seconds:.1f} s by {effort.workers} processes of at "
            f"most {effort.peak / 2**20:.0f} MB"
        )
    tables.say(out, f"{'; '.join(parts)}. Digest of all numbers: {found.digest[:16]}.")


def _errors(summary: RandomChains) -> Table:
    heads = {
        "inverse": ("inverse dynamics", "N m"),
        "forward": ("forward dynamics", "rad/s^2"),
        "base": ("base in flight", "rad/s^2"),
    }
    title = "Mean error over the states of a robot: % of the exact mean, and mean over the robots"
    rows: list[tuple[str, ...] | None] = []
    for name, (head, unit) in heads.items():
        if not np.isfinite(summary.values[name]).any():
            continue
        for i, approximation in enumerate(LEVELS):
            parts = [_percent(summary.quantile(f"{name}_share", share)[approximation]) for share in (0.5, 0.95)]
            rows.append(
                ("" if i else head, LABELS[approximation], *parts, f"{summary.mean(name)[approximation]:.3g} {unit}")
            )
        rows.append(None)
    return tables.table_of(title, "llrrr", ("", "", "median robot", "95 % of robots", "mean"), rows)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 1.0 else f"{100.0 * share:.0f} %"
