"""``pin-clusters info``: what a robot is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from ..baselines.armature import reflected_inertia

if TYPE_CHECKING:
    from rich.console import Console

    from ..model import ClusterModel


def show(model: ClusterModel, out: Console) -> None:
    """Print clusters, rotors and reflected inertia."""
    spinning = sum(r.spins for r in model.rotors)
    out.print(f"[bold]{escape(model.name)}[/]")
    out.print(
        f"nq = {model.nq}, nv = {model.nv} independent of {model.tree.nv} in the spanning tree; "
        f"{len(model.clusters)} clusters; {len(model.rotors)} rotors, {spinning} of them spin elements"
    )
    out.print(_clusters(model))
    if model.rotors:
        out.print(_rotors(model))
        out.print(_reflected(model))
    else:
        out.print("No rotors: nothing is reflected, and all algorithms compute what Pinocchio computes.")


def _table(title: str) -> Table:
    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")


def _clusters(model: ClusterModel) -> Table:
    table = _table("Clusters")
    for column in ("hangs from", "independent", "dependent"):
        table.add_column(column, overflow="fold")
    for c in model.clusters:
        row = (c.output_body, ", ".join(c.independent) or "-", ", ".join(c.dependent) or "-")
        table.add_row(*map(escape, row))
    return table


def _rotors(model: ClusterModel) -> Table:
    table = _table("Rotors")
    for column in ("rotor", "carrier", "speed"):
        table.add_column(column, overflow="fold")
    table.add_column("axial inertia, kg m2", justify="right")
    table.add_column("handled as", overflow="fold")
    labels = velocity_labels(model)
    for r in model.rotors:
        terms = " ".join(f"{r.row[i]:+g} {labels[i]}" for i in np.flatnonzero(r.row))
        kind = "spin element" if r.spins else f"body: {r.reason}"
        table.add_row(*map(escape, (r.name, r.carrier, terms or "0", f"{r.axial_inertia:.5g}", kind)))
    return table


def _reflected(model: ClusterModel) -> Table:
    table = _table("Reflected inertia: what the rotors add to the mass matrix, kg m2 (kg for sliding joints)")
    table.add_column("joint")
    table.add_column("diagonal (armature)", justify="right")
    table.add_column("off-diagonal (armature leaves it out)", overflow="fold")
    labels = velocity_labels(model)
    reflected = reflected_inertia(model)
    for i in np.flatnonzero(np.diag(reflected)):
        others = [f"{labels[k]}: {reflected[i, k]:.5g}" for k in np.flatnonzero(reflected[i]) if k != i]
        table.add_row(*map(escape, (labels[i], f"{reflected[i, i]:.5g}", ", ".join(others) or "-")))
    return table


def velocity_labels(model: ClusterModel) -> list[str]:
    """Return a name for each entry of v: the joint's, with an index if it has several."""
    labels = []
    for name in model.independent_joints:
        nv = model.tree.joints[model.tree.getJointId(name)].nv
        labels += [name] if nv == 1 else [f"{name}[{i}]" for i in range(nv)]
    return labels
