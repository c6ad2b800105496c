"""The rows of clusters: how their bodies move with their columns, their armature and spin elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pinocchio as pin

from ..._engine.kernels.tables import layout as at
from ..._engine.kernels.tables.sizes import cluster_work
from ..._support.arrays import in_order
from ..elements import RotorElement
from ..topology import Topology
from ._writer import Body, Writer


def write_cluster(
    out: Writer,
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Spinning,
    row: int,
    columns: list[int],
    members: list[Body],
    body_of_joint: dict[int, int],
    align: dict[int, np.ndarray],
    extents: Extents,
    t: int,
) -> None:
    nk, entry = len(columns), out.rows[row]
    inside = {b.row for b in members}
    output = members[0].parent  # of a split joint's later primitives: the one before
    D, spin = _spin(tree, inertia_tree, topology, rotors, columns, members, body_of_joint, align)
    carriers = [carrier for carrier in spin if carrier in inside]
    entry.first, entry.last, entry.nk, entry.out = members[0].row, members[-1].row + 1, nk, output
    entry.smallest = out.append(extents.smallest_d(topology.clusters[t], topology.outputs[t]))
    entry.kind = at.GENERAL
    alone = members[0].primitive if len(members) == 1 else None
    if alone is not None and alone.nv == nk == 1 and not carriers and topology.G[alone.iv, columns[0]] == 1.0:
        entry.kind, entry.column = at.SINGLE, columns[0]
    elif alone is not None and alone.kind == at.FREEFLYER and output == 0 and not D.any() and not carriers:
        entry.kind, entry.column = at.FREE, columns[0]
    put = out.store if entry.kind == at.GENERAL else out.append
    entry.at_E = put(D)
    entry.at_spin = put(spin[output]) if output in spin else -1
    if entry.kind == at.GENERAL:
        entry.column = out.add_list(columns)
        entry.carrier0, entry.carrier1 = out.add_all(at.Carrier(c, out.store(spin[c])) for c in carriers)
        entry.at_work = out.room(cluster_work(nk, len(carriers)))
    for body in members:
        _write_columns(out, topology.G, body, row, columns, inside)
        if body.parent:
            out.rows[body.parent].bears = 1
    led = {out.rows[b.row].unit for b in members} - {-1}
    if entry.kind == at.GENERAL and not carriers and len(led) == len(members):
        # a column of K is the same for all bodies that it moves: S of the joint that it is the velocity of
        at_K = out.room(6 * nk)
        for mine in (out.rows[body.row] for body in members):
            mine.at_K, mine.at_S = at_K, at_K + 6 * mine.which


def _spin(
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Spinning,
    columns: list[int],
    members: list[Body],
    body_of_joint: dict[int, int],
    align: dict[int, np.ndarray],
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Return D of armature and spin elements, and per carrier the spin momentum per unit velocity, shape (nk, 3)."""
    D = np.zeros((len(columns), len(columns)))
    spin: dict[int, np.ndarray] = {}
    own = rotors.moved_by(columns)
    velocities = {b.primitive.iv + d for b in members for d in range(b.primitive.nv)}
    velocities |= {int(tree.joints[r.joint_id].idx_v) for r in own if r.joint_id is not None}
    armature = np.asarray(inertia_tree.armature)
    for iv in sorted(velocities):
        g = topology.G[iv, columns]
        D += armature[iv] * np.outer(g, g)
    for r in own:
        g, carrier = r.row[columns], body_of_joint[r.carrier_id]
        D += r.axial_inertia * np.outer(g, g)
        if carrier:  # the universe neither turns nor accelerates
            h = r.axial_inertia * np.outer(g, align[r.carrier_id].T @ r.axis)
            spin[carrier] = spin.get(carrier, 0.0) + h
    return D, spin


def _write_columns(out: Writer, G: np.ndarray, body: Body, row: int, columns: list[int], inside: set[int]) -> None:
    """Write how a body moves with the columns of its cluster."""
    mine, kind, p = out.rows[body.row], out.rows[row].kind, body.primitive
    mine.cluster = row
    mine.at_K = out.room(6 * len(columns)) if kind == at.GENERAL else mine.at_S
    mine.sole = columns[0] if kind == at.SINGLE else -1
    rows = G[p.iv : p.iv + p.nv, columns]
    mine.at_G = out.store(rows) if kind == at.GENERAL else 0
    direct = np.count_nonzero(rows) == p.nv and np.all(rows.max(axis=1) == 1.0)
    mine.which = int(np.argmax(rows[0])) if direct else -1
    mine.unit = columns[mine.which] if direct and p.nv == 1 else -1
    if len(columns) < 63:
        mask = sum(1 << int(k) for k in np.flatnonzero(np.any(rows, axis=0)))
        mine.mask = mask | (out.rows[body.parent].mask if body.parent in inside else 0)
    else:
        mine.mask = -1  # more columns than bits: all are taken to move it


class Spinning:
    """Rotors that are spin elements, by the velocities that move them."""

    def __init__(self, rotors: Sequence[RotorElement]) -> None:
        self._rotors = [r for r in rotors if r.spins]
        self._of_column: dict[int, list[int]] = {}
        for i, r in enumerate(self._rotors):
            for k in np.flatnonzero(r.row).tolist():
                self._of_column.setdefault(k, []).append(i)

    def moved_by(self, columns: Iterable[int]) -> list[RotorElement]:
        """Return those that some velocities move, in order."""
        return [self._rotors[i] for i in sorted({i for k in columns for i in self._of_column.get(k, ())})]


class Extents:
    """How heavy what hangs from each joint is, and how far each joint is from the universe."""

    def __init__(self, tree: pin.Model, inertia_tree: pin.Model) -> None:
        self.parents = [int(p) for p in tree.parents]
        self.mass = [float(inertia.mass) for inertia in inertia_tree.inertias]
        self.reach = [0.0] * tree.njoints
        for j in range(1, tree.njoints):
            self.reach[j] = self.reach[self.parents[j]] + float(np.linalg.norm(tree.jointPlacements[j].translation))
        for j in range(tree.njoints - 1, 0, -1):
            self.mass[self.parents[j]] += self.mass[j]

    def smallest_d(self, joints: Sequence[int], output: int) -> np.ndarray:
        """Return the rounding error of D: below it the inertia that a joint sees counts as zero.

        Args:
            joints: Of a cluster.
            output: The body from which it hangs.
        """
        mass = in_order(self.mass[j] for j in joints if self.parents[j] == output)
        reach = max(self.reach[j] for j in joints)
        return np.array([8.0 * np.finfo(float).eps * mass * reach * reach])
