"""``pin-clusters info``: print clusters, rotors, reflected inertia, loop-closure constraints and the reference pose."""

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..approximations.armature import reflected_inertia
from ..constraints.closures import RodClosure
from ..files.writers.motors import told
from ..model import ClusterModel
from ..model.configuration import residual
from ..studies import composition
from ..studies.study._samples import column_names
from .tables import put, say, table_of

_LONG = 40


def show(model: ClusterModel, out: Console) -> None:
    spinning = sum(r.spins for r in model.rotors)
    closed = sum(loop is not None for loop in model.tables.topology.loops)
    loops = f", {_few(closed, len(model.clusters))}with closed loops" if closed else ""
    out.print(f"[bold]{escape(model.name)}[/]")
    motors = "" if len(model.motors) == len(model.rotors) else f"{_count(len(model.motors), 'motor')} with "
    say(
        out,
        f"nq = {model.nq}, nv = {model.nv} independent of {model.tree.nv} in the spanning tree; "
        f"{_count(len(model.clusters), 'cluster')}{loops}; "
        f"{motors}{_count(len(model.rotors), 'rotor')}"
        + (f", {spinning} of them spin elements" if model.rotors else ""),
    )
    put(out, _clusters(model))
    if closed:
        _show_loops(model, out)
    if model.rotors:
        put(out, _rotors(model))
        put(out, _reflected(model))
    if armature := _armature(model):
        put(out, table_of("Armature of the file (reflected inertia)", "lr", ("joint", "kg m2 (kg)"), armature))
    if not model.rotors:
        reflected = "only the armature above" if armature else "nothing"
        consequence = "" if model.dependent_joints else ", and all results equal Pinocchio's"
        say(out, f"No rotors: {reflected} is reflected{consequence}.{told(model)}")


def _armature(model: ClusterModel) -> list[tuple[str, str]]:
    armature = composition.file_armature(model).items()
    return [(name, ", ".join(f"{x:.5g}" for x in dict.fromkeys(a))) for name, a in armature]


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _few(n: int, total: int) -> str:
    return "" if n == total == 1 else "all " if n == total else f"{n} "


def _clusters(model: ClusterModel) -> Table:
    rows = [
        (str(i), c.output_body, ", ".join(c.independent) or "-", ", ".join(c.dependent) or "-")
        for i, c in enumerate(model.clusters, start=1)
    ]
    return table_of("Clusters", "rlll", ("#", "parent body", "independent", "dependent"), rows)


def _rotors(model: ClusterModel) -> Table:
    # With loops, rotor speeds as functions of v depend on the pose; as functions of tree velocities, they do not.
    speed = "speed, at any pose" if model.closures else "speed"
    rows = []
    for r, factors in zip(model.rotors, composition.rotor_speeds(model).values(), strict=True):
        terms = " ".join(f"{factor:+g} {joint}" for joint, factor in factors.items())
        kind = ("spin element" if r.spins else f"body: {r.reason}") + ", gear stage" * (not r.driven)
        rows.append((r.name, r.carrier, terms or "0", f"{r.axial_inertia:.5g}", kind))
    return table_of("Rotors", "lllrl", ("rotor", "carrier", speed, "axial inertia, kg m2", "handled as"), rows)


def _reflected(model: ClusterModel) -> Table:
    where = " at the reference pose" if model.closures else ""
    title = f"Reflected inertia: mass matrix of the rotors{where}, kg m2 (kg for sliding joints)"
    heads = ("joint", "diagonal (armature)", "off-diagonal (not in armature)")
    labels, rows = column_names(model), []
    reflected = reflected_inertia(model, rotors=model.rotors)
    for i in np.flatnonzero(np.diag(reflected)):
        off_diagonal = [f"{labels[k]}: {reflected[i, k]:.5g}" for k in np.flatnonzero(reflected[i]) if k != i]
        rows.append((labels[i], f"{reflected[i, i]:.5g}", ", ".join(off_diagonal) or "-"))
    return table_of(title, "lrl", heads, rows)


def _show_loops(model: ClusterModel, out: Console) -> None:
    put(out, _closed_loops(model))
    say(
        out,
        "Equations: number of solved and of all constraint equations; the others are redundant. Dropped: residual of "
        "the redundant equations, in rad or relative to the loop's length. Condition number of the dependent joints: "
        "1 is best, above 1e8 is singular; worst: largest value at sampled poses of the assembly mode.\n",
    )
    rods = [c for c in model.closures if isinstance(c, RodClosure)]
    if rods:
        put(out, _rods(model, rods))
    put(out, _pose(model))
    gap = np.abs(residual(model, model.q_reference)).max()
    say(out, f"Largest residual of all constraint equations at the reference pose: {gap:.1e} (m or rad).\n")


def _closed_loops(model: ClusterModel) -> Table:
    heads = ("cluster", "closed by", "equations", "worst\ncondition", "at the\nreference", "dropped")
    rows = [
        (
            str(loop.cluster + 1),
            # Long labels omit their joint names, which the table of clusters also lists.
            ", ".join(x.split("(")[0] if len(x) > _LONG else x for x in loop.closed_by),
            f"{loop.solved} of {loop.stated}" + (", chosen at each pose" if loop.chosen_at_each_pose else ""),
            f"{loop.worst_condition:.3g}",
            f"{loop.condition:.3g}",
            f"{loop.dropped:.1e}" if loop.dropped > 1e-12 else "-",
        )
        for loop in composition.closed_loops(model)
    ]
    return table_of("Closed loops", "rlrrrr", heads, rows)


def _rods(model: ClusterModel, rods: list[RodClosure]) -> Table:
    names = model.tree.names
    rows = [
        (
            rod.source.label,
            names[rod.joint_a],
            names[rod.joint_b],
            f"{rod.length:.6g}",
            f"{rod.mass:g}" if rod.mass > 0.0 else "-",
        )
        for rod in rods
    ]
    return table_of("Rods", "lllrr", ("rod", "from the body of", "to the body of", "length, m", "mass, kg"), rows)


def _pose(model: ClusterModel) -> Table:
    independent, rows = set(model.independent_joints), []
    for name, q in composition.reference_pose(model).items():
        text = ", ".join(f"{x + 0.0:.6g}" for x in np.round(q, 12))
        rows.append((name, "independent" if name in independent else "dependent", text))
    return table_of("Reference pose (pc.neutral)", "lll", ("joint", "moves", "q, rad (m for sliding joints)"), rows)
