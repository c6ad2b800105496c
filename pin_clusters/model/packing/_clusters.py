"""Writes the tables of clusters without loops: motion of their bodies, armature, and rotors (spin elements)."""

import numpy as np

from ...kernels.tables import layout as at
from ...kernels.tables.sizes import cluster_work
from ._writer import Body, Robot, Writer


def write_cluster(out: Writer, robot: Robot, row: int, columns: list[int], members: list[Body], t: int) -> None:
    nk, entry, G = len(columns), out.rows[row], robot.topology.G
    inside = {b.row for b in members}
    output = members[0].parent  # for a later primitive of a split joint, the parent is the previous primitive
    D, spin = _spin(robot, columns, members)
    carriers = [carrier for carrier in spin if carrier in inside]
    entry.first, entry.last, entry.nk, entry.out = members[0].row, members[-1].row + 1, nk, output
    entry.smallest = out.append(robot.smallest_d(t))
    entry.kind = at.GENERAL
    single = members[0].primitive if len(members) == 1 else None
    if single is not None and single.nv == nk == 1 and not carriers and G[single.iv, columns[0]] == 1.0:
        entry.kind, entry.column = at.SINGLE, columns[0]
    elif single is not None and single.kind == at.FREEFLYER and output == 0 and not D.any() and not carriers:
        entry.kind, entry.column = at.FREE, columns[0]
    put = out.store if entry.kind == at.GENERAL else out.append
    entry.at_E = put(D)
    entry.at_spin = put(spin[output]) if output in spin else -1
    if entry.kind == at.GENERAL:
        entry.column, _ = out.add_list(columns)
        entry.carrier0, entry.carrier1 = out.add_all(at.Carrier(c, out.store(spin[c])) for c in carriers)
        entry.at_work = out.reserve(cluster_work(nk, len(carriers)))
    for body in members:
        _write_columns(out, G, body, row, columns, inside)
    led = {out.rows[b.row].unit for b in members} - {-1}
    if entry.kind == at.GENERAL and not carriers and len(led) == len(members):
        # All bodies moved by a joint share its column, which is the motion axis S of the joint.
        at_K = out.reserve(6 * nk)
        for body_row in (out.rows[body.row] for body in members):
            body_row.at_K, body_row.at_S = at_K, at_K + 6 * body_row.which


def _spin(robot: Robot, columns: list[int], members: list[Body]) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Return the inertia D of armature and rotors, and for each carrier the rotor momentum per velocity, (nk, 3)."""
    D = np.zeros((len(columns), len(columns)))
    spin: dict[int, np.ndarray] = {}
    elements = robot.moved_by(columns)
    velocities = {b.primitive.iv + d for b in members for d in range(b.primitive.nv)}
    velocities |= {int(robot.tree.joints[r.joint_id].idx_v) for r in elements if r.joint_id is not None}
    armature = np.asarray(robot.inertia_tree.armature)
    for iv in sorted(velocities):
        g = robot.topology.G[iv, columns]
        D += armature[iv] * np.outer(g, g)
    for r in elements:
        g, carrier = r.row[columns], robot.body_of_joint[r.carrier_id]
        D += r.axial_inertia * np.outer(g, g)
        if carrier:  # Rotors on the universe have no moving carrier.
            h = r.axial_inertia * np.outer(g, robot.align[r.carrier_id].T @ r.axis)
            spin[carrier] = spin.get(carrier, 0.0) + h
    return D, spin


def _write_columns(out: Writer, G: np.ndarray, body: Body, row: int, columns: list[int], inside: set[int]) -> None:
    body_row, kind, p = out.rows[body.row], out.rows[row].kind, body.primitive
    body_row.cluster = row
    body_row.at_K = out.reserve(6 * len(columns)) if kind == at.GENERAL else body_row.at_S
    body_row.sole = columns[0] if kind == at.SINGLE else -1
    rows = G[p.iv : p.iv + p.nv, columns]
    body_row.at_G = out.store(rows) if kind == at.GENERAL else 0
    direct = np.count_nonzero(rows) == p.nv and np.all(rows.max(axis=1) == 1.0)
    body_row.which = int(np.argmax(rows[0])) if direct else -1
    body_row.unit = columns[body_row.which] if direct and p.nv == 1 else -1
    if len(columns) < 63:
        mask = sum(1 << int(k) for k in np.flatnonzero(np.any(rows, axis=0)))
        body_row.mask = mask | (out.rows[body.parent].mask if body.parent in inside else 0)
    else:
        body_row.mask = -1  # If there are more columns than bits, all of them are assumed to move the body.
