"""The bridge from a tree, its clusters and rotors to the kernels' tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..._engine.kernels.tables import layout as at
from ..._engine.kernels.tables.sizes import offsets, rates_of_cluster
from ..._engine.kernels.tables.variations_layout import OF_COLUMN, OF_FREE
from ...constraints.closures import massive
from ..elements import RotorElement
from ..primitives import Primitive, primitives_of
from ..topology import Topology
from ._clusters import Extents, Spinning, write_cluster
from ._loops import Loop, Supply
from ._tree import NEVER as NEVER
from ._tree import TreeTables as TreeTables
from ._tree import pack_tree as pack_tree
from ._velocities import tree_of_velocities
from ._writer import SHUFFLES, Body, Writer


class Condition(NamedTuple):
    """How well the closures of a cluster determine its dependent joints.

    Attributes:
        joints: Ids of its joints.
        dependents: Number of dependent velocities.
        at: Where the kernels leave the squared bound of the condition in the workspace.
    """

    joints: tuple[int, ...]
    dependents: int
    at: int


@dataclass(frozen=True)
class Tables:
    """What the kernels read; see ``kernels.tables.layout``.

    Attributes:
        index: Whole numbers, shape (rows, ROW_WIDTH).
        params: Floats, flat.
        work: What the workspace holds when it is made, flat.
        supplies: Python functions whose derivatives the kernels want in the workspace.
        conditions: One per cluster with closures.
        rates: How many numbers derivatives need besides.
        velocities: The tree of velocities, see ``tree_solve``.
        joint_of_row: For messages: joint ids of the tree of each cluster row.
    """

    index: np.ndarray
    params: np.ndarray
    work: np.ndarray
    joint_of_row: dict[int, tuple[int, ...]]
    supplies: tuple[Supply, ...]
    conditions: tuple[Condition, ...]
    rates: int
    velocities: np.ndarray


def pack(
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Sequence[RotorElement],
    gravity: np.ndarray,
) -> Tables:
    """Return the tables of a model; ``inertia_tree`` is what ``trees.inertia_tree_of`` made of the spanning tree."""
    spinning = {r.joint_id: r for r in rotors if r.spins and r.joint_id is not None}
    chains = {j: primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]) for j in range(1, tree.njoints)}
    bodies: list[Body] = []
    body_of_joint = {0: 0}  # the last primitive's row moves the body of the joint
    align = {0: np.eye(3)}
    groups: list[tuple[int, list[int], list[Body]]] = []  # topology index, columns in v, bodies
    for t in depth_first(topology.clusters, topology.outputs):
        joints = topology.clusters[t]
        staying = [j for j in joints if j not in spinning]
        whole: list[Body] = []
        for j in sorted(staying, key=lambda j: len(list(tree.supports[j]))):
            for i, primitive in enumerate(chains[j]):
                last = i == len(chains[j]) - 1
                body = Body(j, primitive, body_of_joint[tree.parents[j]] if i == 0 else len(bodies), last)
                bodies.append(body)
                body.row = len(bodies)
                whole.append(body)
            body_of_joint[j] = len(bodies)
            align[j] = chains[j][-1].align
            bodies[-1].inertia = inertia_tree.inertias[j]
        loop = topology.loops[t]
        for _ in massive(loop.closures if loop is not None else ()):
            middle = Primitive(at.MIDDLE, pin.SE3.Identity(), np.eye(3), 0, 0, 0)
            bodies.append(Body(0, middle, body_of_joint[topology.outputs[t]], False))
            bodies[-1].row = len(bodies)
            whole.append(bodies[-1])
        if len(joints) == 1 and not topology.members[t]:
            # an untied joint of several degrees of freedom: one cluster per primitive
            for body in whole:
                groups.append((t, _columns(topology, [body.primitive]), [body]))
        else:
            groups.append((t, _columns(topology, [p for j in joints for p in chains[j]]), whole))
    fixed_potential = 0.0
    for j, rotor in spinning.items():
        carrier = body_of_joint[tree.parents[j]]
        if carrier:
            bodies[carrier - 1].inertia = bodies[carrier - 1].inertia + rotor.placement.act(tree.inertias[j])
        else:
            # a balanced rotor on the universe does not move its weight; Pinocchio counts it in the potential energy
            centre = rotor.placement.act(tree.inertias[j].lever)
            fixed_potential -= tree.inertias[j].mass * (gravity @ centre)
    for rod in massive(topology.closures):
        for j, p, mass in rod.masses_of_ends:
            fixed_potential -= 0.0 if j else mass * (gravity @ p)
    out = Writer(len(bodies), len(groups))
    header = out.rows[0]
    header.bodies, header.cluster0 = len(bodies), 1 + len(bodies)
    header.cluster1 = header.cluster0 + len(groups)
    header.nq, header.nv, header.njoints, header.nv_tree = tree.nq, topology.G.shape[1], tree.njoints, tree.nv
    origin = _origin(tree)
    out.put(at.MINUS_GRAVITY, -gravity)
    out.put(at.POTENTIAL, fixed_potential)
    out.put(at.ORIGIN, origin)
    extents, spin = Extents(tree, inertia_tree), Spinning(rotors)
    joint_of_row = {}
    rows_of_g: dict[int, tuple[int, list[int]]] = {}  # of spinning rotors: where the row of G stands, and its columns
    supplies: list[Supply] = []
    conditions: list[Condition] = []
    for g, (t, columns, members) in enumerate(groups):
        row = 1 + len(bodies) + g
        joint_of_row[row] = topology.clusters[t]
        for body in members:
            _write_body(out, tree, body, bodies, align, origin)
        loop = topology.loops[t]
        if loop is None:
            write_cluster(
                out, tree, inertia_tree, topology, spin, row, columns, members, body_of_joint, align, extents, t
            )
            continue
        entry = out.rows[row]
        entry.first, entry.last, entry.nk = members[0].row, members[-1].row + 1, len(columns)
        entry.out = members[0].parent
        entry.smallest = out.append(extents.smallest_d(topology.clusters[t], topology.outputs[t]))
        writer = Loop(out, tree, loop, row, columns, members, body_of_joint, align, origin)
        armature = inertia_tree.armature
        found, functions = writer.write(rotors, armature, [j for j in topology.clusters[t] if j in spinning])
        rows_of_g.update({j: (where, columns) for j, where in found.items()})
        supplies += functions
        head = out.rows[entry.head]
        conditions.append(
            Condition(topology.clusters[t], head.nd, offsets(head.at, head.nd, head.nr, len(columns)).condition)
        )
    _write_ways_up(out)
    home = {j: row for row, joints in joint_of_row.items() for j in joints}
    _write_spinning(out, tree, spinning, body_of_joint, align, chains, rows_of_g, home)
    _write_ground(out, topology, rotors, tree, origin)
    rates = _write_rates(out)
    header.prepared = out.room(tree.nq)
    work = np.zeros(out.work)
    work[header.prepared :] = np.nan
    work[list(out.initial)] = list(out.initial.values())
    index = out.index()
    return Tables(
        index, np.array(out.params), work, joint_of_row, tuple(supplies), tuple(conditions), rates,
        tree_of_velocities(index),
    )  # fmt: skip


def depth_first(clusters: Sequence[tuple[int, ...]], outputs: Sequence[int]) -> list[int]:
    """Return the order in which each cluster is followed by all that hangs from it: kernels finish branch by branch."""
    home = {j: t for t, joints in enumerate(clusters) for j in joints}
    below: dict[int | None, list[int]] = {}
    for t, output in enumerate(outputs):
        below.setdefault(home.get(output), []).append(t)
    order: list[int] = []
    waiting = below.get(None, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += below.get(order[-1], [])[::-1]
    return order


def _write_ways_up(out: Writer) -> None:
    """Write which cluster is above which."""
    header = out.rows[0]
    rows = out.rows[header.cluster0 : header.cluster1]
    for row in rows:
        row.above = out.rows[row.out].cluster if row.out else 0
    for row, following in pairwise(rows):
        row.until = following.above


def _write_ground(
    out: Writer, topology: Topology, rotors: Sequence[RotorElement], tree: pin.Model, origin: np.ndarray
) -> None:
    """Masses on the universe, and momenta of rotors there; where closures change their ratios, their cluster knows."""
    moment = np.zeros(4)
    for r in rotors:
        if r.spins and not r.carrier_id and r.joint_id is not None:
            body = tree.inertias[r.joint_id]
            moment += body.mass * np.append(1.0, r.placement.act(body.lever) - origin)
    for rod in massive(topology.closures):
        for j, p, mass in rod.masses_of_ends:
            moment += 0.0 if j else mass * np.append(1.0, np.asarray(p) - origin)
    out.put(at.GROUND_MASS, moment)
    tied = {iv for loop in topology.loops if loop is not None for iv in (*loop.dependents, *loop.independents)}
    momenta = np.zeros((topology.G.shape[1], 3))
    for r in rotors:
        if r.spins and not r.carrier_id and not any(iv in tied for iv, _ in r.drivers):
            momenta += np.outer(r.row, r.axial_inertia * np.asarray(r.axis))
    rows = [at.Ground(int(i), out.append(momenta[i])) for i in np.flatnonzero(momenta.any(axis=1))]
    out.rows[0].ground0, out.rows[0].ground1 = out.add_all(rows)


def _write_rates(out: Writer) -> int:
    """Write where each cluster keeps what derivatives need; return how much room that is."""
    header, room, sizes = out.rows[0], 0, {at.SINGLE: OF_COLUMN, at.FREE: OF_FREE}
    for row in out.rows[header.cluster0 : header.cluster1]:
        row.at_rates = room
        room += sizes[row.kind] if row.kind in sizes else rates_of_cluster(row.last - row.first, row.nk)
    return room


def _columns(topology: Topology, chain: Sequence[Primitive]) -> list[int]:
    """Indices in v of the independent velocities among the primitives' ones."""
    mine = sorted({p.iv + d for p in chain for d in range(p.nv)})
    places = np.searchsorted(topology.independent, mine)
    free = topology.independent
    return [int(i) for i, iv in zip(places, mine, strict=True) if i < len(free) and free[i] == iv]


def _origin(tree: pin.Model) -> np.ndarray:
    """Return a point near the robot: placements far from the universe would cost digits."""
    roots = [j for j in range(1, tree.njoints) if tree.parents[j] == 0]
    fixed = [j for j in roots if "FreeFlyer" not in tree.joints[j].shortname()]
    return np.array(tree.jointPlacements[fixed[0]].translation) if fixed else np.zeros(3)


def _write_body(
    out: Writer, tree: pin.Model, body: Body, bodies: list[Body], align: dict[int, np.ndarray], origin: np.ndarray
) -> None:
    p, row = body.primitive, out.rows[body.row]
    row.parent, row.kind, row.iq, row.ndof = body.parent, p.kind, p.iq, p.nv
    row.joint = body.joint if body.last else -1
    row.root = out.rows[body.parent].root if body.parent else body.row
    if p.kind == at.MIDDLE:
        return
    A_parent = bodies[body.parent - 1].primitive.align if body.parent else np.eye(3)
    position = np.array(p.placement.translation) - (origin if body.parent == 0 else 0.0)
    inertia = body.inertia
    rotational = p.align.T @ inertia.inertia @ p.align
    rotation = A_parent.T @ p.placement.rotation @ p.align
    row.shuffle = next((i for i, P in enumerate(SHUFFLES, 1) if np.array_equal(rotation, P)), 0)
    for offset, values in (
        (at.ROTATION, rotation),
        (at.POSITION, A_parent.T @ position),
        (at.MASS, inertia.mass),
        (at.LEVER, p.align.T @ inertia.lever),
        (at.INERTIA, rotational[np.triu_indices(3)]),
        (at.PITCH, p.pitch),
        (at.ALIGN, p.align),
    ):
        out.put(body.row * at.BODY_PARAMS + offset, values)
    row.at_S = body.row * at.BODY_WORK + at.W_S if p.nv == 1 else out.room(6 * p.nv)


def _write_spinning(
    out: Writer,
    tree: pin.Model,
    spinning: dict[int, RotorElement],
    body_of_joint: dict[int, int],
    align: dict[int, np.ndarray],
    chains: dict[int, list[Primitive]],
    rows_of_g: dict[int, tuple[int, list[int]]],
    home: dict[int, int],
) -> None:
    """Where external forces on spinning rotors of the tree go."""
    rows = []
    for j, r in sorted(spinning.items()):
        free = np.flatnonzero(r.row)
        where, columns = rows_of_g[j] if j in rows_of_g else (out.store(r.row[free]), free.tolist())
        p, A = chains[j][0], align[r.carrier_id]
        data = np.concatenate(
            [
                (A.T @ p.placement.rotation @ p.align).ravel(),
                A.T @ p.placement.translation if body_of_joint[r.carrier_id] else np.zeros(3),
                p.align.ravel(),
            ]
        )
        carrier, listed = body_of_joint[r.carrier_id], out.add_list(columns)
        rows.append(at.Rotor(carrier, p.iq, p.kind, j, out.append(data), listed, len(columns), where, home[j]))
    out.rows[0].rotor0, out.rows[0].rotor1 = out.add_all(rows)
