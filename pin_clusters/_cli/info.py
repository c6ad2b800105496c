"""``pin-clusters info``: what a robot is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape

from ..armature import reflected_inertia
from ..study._samples import column_names
from . import loop_tables
from .tables import put, say, table_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ..model import ClusterModel


def show(model: ClusterModel, out: Console) -> None:
    """Print clusters, closed loops, rotors and reflected inertia."""
    spinning = sum(r.spins for r in model.rotors)
    closed = sum(loop is not None for loop in model._topology.loops)
    loops = f", {_few(closed, len(model.clusters))}with closed loops" if closed else ""
    out.print(f"[bold]{escape(model.name)}[/]")
    say(
        out,
        f"nq = {model.nq}, nv = {model.nv} independent of {model.tree.nv} in the spanning tree; "
        f"{_count(len(model.clusters), 'cluster')}{loops}; "
        f"{_count(len(model.rotors), 'rotor')}" + (f", {spinning} of them spin elements" if model.rotors else ""),
    )
    put(out, _clusters(model))
    if closed:
        loop_tables.show(model, out)
    if model.rotors:
        put(out, _rotors(model))
        put(out, _reflected(model))
    elif closed:
        say(out, "No rotors: nothing is reflected.")
    else:
        say(out, "No rotors: nothing is reflected, and all algorithms compute what Pinocchio computes.")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _few(n: int, total: int) -> str:
    return "" if n == total == 1 else "all " if n == total else f"{n} "


def _clusters(model: ClusterModel) -> Table:
    table = table_of("Clusters")
    table.add_column("#", justify="right")
    for column in ("hangs from", "independent", "dependent"):
        table.add_column(column, overflow="fold")
    for i, c in enumerate(model.clusters, start=1):
        row = (str(i), c.output_body, ", ".join(c.independent) or "-", ", ".join(c.dependent) or "-")
        table.add_row(*map(escape, row))
    return table


def _rotors(model: ClusterModel) -> Table:
    table = table_of("Rotors")
    # the speed in terms of tree velocities holds at any pose; that in terms of v, with loops, at one
    for column in ("rotor", "carrier", "speed, at any pose" if model.closures else "speed"):
        table.add_column(column, overflow="fold")
    table.add_column("axial inertia, kg m2", justify="right")
    table.add_column("handled as", overflow="fold")
    labels = column_names(model)
    of_tree = {int(joint.idx_v): name for name, joint in zip(model.tree.names, model.tree.joints, strict=True)}
    for r in model.rotors:
        if model.closures:
            terms = " ".join(f"{ratio:+g} {of_tree[iv]}" for iv, ratio in r.drivers)
        else:
            terms = " ".join(f"{r.row[i]:+g} {labels[i]}" for i in np.flatnonzero(r.row))
        kind = "spin element" if r.spins else f"body: {r.reason}"
        table.add_row(*map(escape, (r.name, r.carrier, terms or "0", f"{r.axial_inertia:.5g}", kind)))
    return table


def _reflected(model: ClusterModel) -> Table:
    where = " at the reference pose" if model.closures else ""
    table = table_of(f"Reflected inertia: what the rotors add to the mass matrix{where}, kg m2 (kg for sliding joints)")
    table.add_column("joint")
    table.add_column("diagonal (armature)", justify="right")
    table.add_column("off-diagonal (armature leaves it out)", overflow="fold")
    labels = column_names(model)
    reflected = reflected_inertia(model)
    for i in np.flatnonzero(np.diag(reflected)):
        others = [f"{labels[k]}: {reflected[i, k]:.5g}" for k in np.flatnonzero(reflected[i]) if k != i]
        table.add_row(*map(escape, (labels[i], f"{reflected[i, i]:.5g}", ", ".join(others) or "-")))
    return table
