"""What ``pin-clusters info`` shows about closed loops: equations, rods, the reference pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape

from ..algorithms.condition import condition
from ..configuration import residual
from ..constraints.closures import RodClosure
from .tables import put, say, table_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ..model import Cluster, ClusterModel, LoopAnalysis

_LONG = 40


def show(model: ClusterModel, out: Console) -> None:
    """Print the loops of each cluster, the rods, and the reference pose."""
    put(out, _loops(model))
    say(
        out,
        "Equations: those that are solved, of those that the constraints state; the others repeat them. Dropped: how "
        "far these are open, in rad or as part of the loop's length. Condition of the dependent joints: 1 is best, "
        "and nothing is computed above 1e8; worst of some poses on the branch.\n",
    )
    rods = [c for c in model.closures if isinstance(c, RodClosure)]
    if rods:
        put(out, _rods(model, rods))
    put(out, _pose(model))
    gap = np.abs(residual(model, model.q_reference)).max()
    say(out, f"Largest residual of all stated equations there: {gap:.1e} (m or rad).\n")


def _loops(model: ClusterModel) -> Table:
    table = table_of("Closed loops")
    table.add_column("cluster", justify="right")
    table.add_column("closed by", overflow="fold")
    table.add_column("equations", justify="right")
    for column in ("worst\ncondition", "at the\nreference", "dropped"):
        table.add_column(column, justify="right", no_wrap=True)
    at_reference = iter(condition(model, model.createData(), model.q_reference))
    for i, (cluster, loop) in enumerate(zip(model.clusters, model._topology.loops, strict=True), start=1):
        if loop is None:
            continue
        # pivoted: all are kept, and each pose has its own choice among them
        solved = f"{loop.rank} of {_stated(model, loop)}" + (", chosen at each pose" if loop.pivoted else "")
        row = (
            str(i),
            _closed_by(model, cluster),
            solved,
            f"{loop.worst_condition:.3g}",
            f"{next(at_reference).K_d:.3g}",
            f"{loop.dropped:.1e}" if loop.dropped > 1e-12 else "-",
        )
        table.add_row(*map(escape, row))
    return table


def _closed_by(model: ClusterModel, cluster: Cluster) -> str:
    """Name the constraints that close a cluster's loops, long ones without the joints, which another table has."""
    sources: set[int] = {id(c.source) for c in model.closures} | {id(row.source) for row in model.coupling_rows}
    labels = [str(c.label) for c in cluster.constraints if id(c) in sources]
    return ", ".join(x.split("(")[0] if len(x) > _LONG else x for x in labels)


def _stated(model: ClusterModel, loop: LoopAnalysis) -> int:
    """Count the equations of a cluster as the user stated them; couplings that only follow are none."""
    follow = {id(row) for row in loop.followers}
    implicit = sum(row.dependent in loop.joints and id(row) not in follow for row in model.coupling_rows)
    return sum(c.size for c in loop.closures) + implicit


def _rods(model: ClusterModel, rods: list[RodClosure]) -> Table:
    table = table_of("Rods")
    for column in ("rod", "from the body of", "to the body of"):
        table.add_column(column, overflow="fold")
    for column in ("length, m", "mass, kg"):
        table.add_column(column, justify="right")
    names = model.tree.names
    for rod in rods:
        ends = (names[rod.joint_a], names[rod.joint_b])
        mass = f"{rod.mass:g}" if rod.mass > 0.0 else "-"
        table.add_row(*map(escape, (rod.source.label, *ends, f"{rod.length:.6g}", mass)))
    return table


def _pose(model: ClusterModel) -> Table:
    """List the coordinates of the reference pose, in Pinocchio's order."""
    table = table_of("Reference pose (pc.neutral)")
    table.add_column("joint", overflow="fold")
    table.add_column("moves")
    table.add_column("q, rad (m for sliding joints)", overflow="fold")
    independent = set(model.independent_joints)
    for name, joint in list(zip(model.tree.names, model.tree.joints, strict=True))[1:]:
        q = model.q_reference[joint.idx_q : joint.idx_q + joint.nq]
        if joint.nq == 2 and joint.nv == 1:  # continuous: cosine and sine
            q = np.array([np.arctan2(q[1], q[0])])
        text = ", ".join(f"{x + 0.0:.6g}" for x in np.round(q, 12))
        table.add_row(*map(escape, (name, "independent" if name in independent else "dependent", text)))
    return table
