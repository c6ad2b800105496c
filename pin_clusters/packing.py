"""The bridge from a tree, its clusters and rotors to the kernels' tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ._kernels import layout as at
from .elements import RotorElement
from .primitives import Primitive, primitives
from .topology import Topology


@dataclass(frozen=True)
class Tables:
    """What the kernels read; see ``_kernels.layout``.

    Attributes:
        index: Whole numbers, shape (rows, ROW_WIDTH).
        params: Floats, flat.
        work_size: How many floats the workspace needs.
        joint_of_row: For messages: joint ids of the tree of each cluster row.
    """

    index: np.ndarray
    params: np.ndarray
    work_size: int
    joint_of_row: dict[int, tuple[int, ...]]


@dataclass
class _Body:
    """A body of the kernels, before it is written."""

    joint: int
    primitive: Primitive
    parent: int
    last: bool
    inertia: pin.Inertia = field(default_factory=pin.Inertia.Zero)
    row: int = 0


class _Writer:
    """Grows ``params`` and the lists of ``index``."""

    def __init__(self, bodies: int, clusters: int) -> None:
        self.params: list[float] = [0.0] * ((bodies + 1) * at.BODY_PARAMS)
        self.rows: list[list[int]] = [[0] * at.ROW_WIDTH for _ in range(1 + bodies + clusters)]
        self.work = (bodies + 1) * at.BODY_WORK

    def append(self, values: np.ndarray) -> int:
        offset = len(self.params)
        self.params.extend(float(x) for x in np.asarray(values).ravel())
        return offset

    def add_row(self, *values: int) -> int:
        self.rows.append([*values, *[0] * (at.ROW_WIDTH - len(values))])
        return len(self.rows) - 1

    def add_list(self, values: Sequence[int]) -> int:
        """Return the first of the rows that hold a list."""
        first = len(self.rows)
        for v in values:
            self.add_row(int(v))
        return first

    def room(self, size: int) -> int:
        offset = self.work
        self.work += size
        return offset


# identity and the two cyclic exchanges of axes, in the order of layout.SHUFFLE
_SHUFFLES = tuple(np.roll(np.eye(3), i, axis=0) for i in range(3))


def pack(
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Sequence[RotorElement],
    gravity: np.ndarray,
) -> Tables:
    """Write the tables of a model.

    Args:
        tree: Spanning tree.
        inertia_tree: The tree with the inertias of ``Rotor`` constraints in their carriers, and armature as it acts.
        topology: Its clusters.
        rotors: Its rotors.
        gravity: Linear acceleration of gravity, shape (3,).

    Returns:
        The tables.
    """
    spinning = {r.joint_id: r for r in rotors if r.spins and r.joint_id is not None}
    chains = {j: primitives(tree.joints[j], tree.jointPlacements[j], tree.names[j]) for j in range(1, tree.njoints)}
    bodies: list[_Body] = []
    body_of_joint = {0: 0}  # the last primitive's row moves the body of the joint
    align = {0: np.eye(3)}
    groups: list[tuple[int, list[int], list[_Body]]] = []  # topology index, columns in v, bodies
    for t, joints in enumerate(topology.clusters):
        staying = [j for j in joints if j not in spinning]
        whole: list[_Body] = []
        for j in sorted(staying, key=lambda j: len(list(tree.supports[j]))):
            for i, primitive in enumerate(chains[j]):
                last = i == len(chains[j]) - 1
                body = _Body(j, primitive, body_of_joint[int(tree.parents[j])] if i == 0 else len(bodies), last)
                bodies.append(body)
                body.row = len(bodies)
                whole.append(body)
            body_of_joint[j] = len(bodies)
            align[j] = chains[j][-1].align
            bodies[-1].inertia = inertia_tree.inertias[j]
        if len(joints) == 1 and not topology.members[t]:
            # an untied joint of several degrees of freedom: one cluster per primitive
            for body in whole:
                groups.append((t, _columns(topology, [body.primitive]), [body]))
        else:
            groups.append((t, _columns(topology, [p for j in joints for p in chains[j]]), whole))
    fixed_potential = 0.0
    for j, rotor in spinning.items():
        carrier = body_of_joint[int(tree.parents[j])]
        if carrier:
            bodies[carrier - 1].inertia = bodies[carrier - 1].inertia + rotor.placement.act(tree.inertias[j])
        else:
            # a balanced rotor on the universe does not move its weight; Pinocchio counts it in the potential energy
            centre = rotor.placement.act(np.asarray(tree.inertias[j].lever))
            fixed_potential -= float(tree.inertias[j].mass * (gravity @ centre))
    out = _Writer(len(bodies), len(groups))
    header = out.rows[0]
    header[at.NB], header[at.CLUSTER0], header[at.CLUSTER1] = (
        len(bodies),
        1 + len(bodies),
        1 + len(bodies) + len(groups),
    )
    header[at.NQ], header[at.NV], header[at.NJOINTS] = tree.nq, topology.G.shape[1], tree.njoints
    out.params[at.MINUS_GRAVITY : at.MINUS_GRAVITY + 3] = (-gravity).tolist()
    origin = _origin(tree)
    out.params[at.POTENTIAL] = fixed_potential
    out.params[at.ORIGIN : at.ORIGIN + 3] = origin.tolist()
    joint_of_row = {}
    for g, (t, columns, members) in enumerate(groups):
        row = 1 + len(bodies) + g
        joint_of_row[row] = topology.clusters[t]
        for body in members:
            _write_body(out, tree, body, bodies, align, origin)
        _write_cluster(out, tree, inertia_tree, topology, rotors, row, columns, members, body_of_joint, align, t)
    _write_spinning(out, tree, topology, spinning, body_of_joint, align, chains)
    return Tables(
        np.ascontiguousarray(out.rows, dtype=np.int64),
        np.array(out.params, dtype=np.float64),
        out.work,
        joint_of_row,
    )


def _columns(topology: Topology, chain: Sequence[Primitive]) -> list[int]:
    """Indices in v of the independent velocities among the primitives' ones."""
    mine = {p.iv + d for p in chain for d in range(p.nv)}
    return [i for i, iv in enumerate(topology.independent) if int(iv) in mine]


def _origin(tree: pin.Model) -> np.ndarray:
    """Return a point near the robot: placements far from the universe would cost digits."""
    roots = [j for j in range(1, tree.njoints) if tree.parents[j] == 0]
    fixed = [j for j in roots if "FreeFlyer" not in tree.joints[j].shortname()]
    return np.array(tree.jointPlacements[fixed[0]].translation) if fixed else np.zeros(3)


def _write_body(
    out: _Writer, tree: pin.Model, body: _Body, bodies: list[_Body], align: dict[int, np.ndarray], origin: np.ndarray
) -> None:
    p, row = body.primitive, out.rows[body.row]
    row[at.PARENT], row[at.KIND], row[at.IQ], row[at.NDOF] = body.parent, p.kind, p.iq, p.nv
    row[at.JOINT] = body.joint if body.last else -1
    row[at.ROOT] = out.rows[body.parent][at.ROOT] if body.parent else body.row
    A_parent = bodies[body.parent - 1].primitive.align if body.parent else np.eye(3)
    position = np.array(p.placement.translation) - (origin if body.parent == 0 else 0.0)
    inertia = body.inertia
    rotational = p.align.T @ np.asarray(inertia.inertia) @ p.align
    k = body.row * at.BODY_PARAMS
    values = out.params
    rotation = A_parent.T @ p.placement.rotation @ p.align
    row[at.SHUFFLE] = next((i for i, P in enumerate(_SHUFFLES, 1) if np.array_equal(rotation, P)), 0)
    values[k + at.ROTATION : k + at.ROTATION + 9] = rotation.ravel().tolist()
    values[k + at.POSITION : k + at.POSITION + 3] = (A_parent.T @ position).tolist()
    values[k + at.MASS] = float(inertia.mass)
    values[k + at.LEVER : k + at.LEVER + 3] = (p.align.T @ np.asarray(inertia.lever)).tolist()
    values[k + at.INERTIA : k + at.INERTIA + 6] = rotational[np.triu_indices(3)].tolist()
    values[k + at.PITCH] = p.pitch
    values[k + at.ALIGN : k + at.ALIGN + 9] = p.align.ravel().tolist()
    row[at.AT_S] = body.row * at.BODY_WORK + at.W_S if p.nv == 1 else out.room(6 * p.nv)


def _write_cluster(
    out: _Writer,
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Sequence[RotorElement],
    row: int,
    columns: list[int],
    members: list[_Body],
    body_of_joint: dict[int, int],
    align: dict[int, np.ndarray],
    t: int,
) -> None:
    nk, entry = len(columns), out.rows[row]
    inside = {b.row for b in members}
    output = members[0].parent  # of a split joint's later primitives: the one before
    D, spin = _spin(tree, inertia_tree, topology, rotors, columns, members, body_of_joint, align)
    carriers = [carrier for carrier in spin if carrier in inside]
    entry[at.FIRST], entry[at.LAST], entry[at.NK], entry[at.OUT] = members[0].row, members[-1].row + 1, nk, output
    out.append(_smallest_d(tree, inertia_tree, topology.clusters[t]))
    entry[at.AT_D] = out.append(D)
    entry[at.AT_SPIN] = out.append(spin[output]) if output in spin else -1
    alone = members[0].primitive if len(members) == 1 else None
    if alone is not None and alone.nv == nk == 1 and not carriers and topology.G[alone.iv, columns[0]] == 1.0:
        entry[at.TYPE], entry[at.COLUMN] = at.SINGLE, columns[0]
    elif alone is not None and alone.kind == at.FREEFLYER and output == 0 and not D.any() and not carriers:
        entry[at.TYPE], entry[at.COLUMN] = at.FREE, columns[0]
    else:
        entry[at.TYPE] = at.GENERAL
        entry[at.COLUMN] = out.add_list(columns)
        first = len(out.rows)
        for carrier in carriers:
            out.add_row(carrier, out.append(spin[carrier]))
        entry[at.CARRIER0], entry[at.CARRIER1] = first, len(out.rows)
        entry[at.AT_WORK] = out.room(13 * nk + nk * nk + 3 * nk * (1 + len(carriers)))
    for body in members:
        _write_columns(out, topology.G[:, columns], body, row, columns, inside)
        if body.parent:
            out.rows[body.parent][at.BEARS] = 1
    led = {out.rows[b.row][at.UNIT] for b in members} - {-1}
    if entry[at.TYPE] == at.GENERAL and not carriers and len(led) == len(members):
        entry[at.TYPE] = at.HINGES


def _spin(
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Sequence[RotorElement],
    columns: list[int],
    members: list[_Body],
    body_of_joint: dict[int, int],
    align: dict[int, np.ndarray],
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Return D of armature and spin elements, and per carrier the spin momentum per unit velocity, shape (nk, 3)."""
    G, D = topology.G[:, columns], np.zeros((len(columns), len(columns)))
    spin: dict[int, np.ndarray] = {}
    own = [r for r in rotors if r.spins and set(np.flatnonzero(r.row).tolist()) & set(columns)]
    velocities = {b.primitive.iv + d for b in members for d in range(b.primitive.nv)}
    velocities |= {int(tree.joints[r.joint_id].idx_v) for r in own if r.joint_id is not None}
    armature = np.asarray(inertia_tree.armature)
    for iv in sorted(velocities):
        D += armature[iv] * np.outer(G[iv], G[iv])
    for r in own:
        g, carrier = r.row[columns], body_of_joint[r.carrier_id]
        D += r.axial_inertia * np.outer(g, g)
        if carrier:  # the universe neither turns nor accelerates
            h = r.axial_inertia * np.outer(g, align[r.carrier_id].T @ r.axis)
            spin[carrier] = spin.get(carrier, 0.0) + h
    return D, spin


def _write_columns(out: _Writer, G: np.ndarray, body: _Body, row: int, columns: list[int], inside: set[int]) -> None:
    """Write how a body moves with the columns of its cluster."""
    mine, kind, p = out.rows[body.row], out.rows[row][at.TYPE], body.primitive
    mine[at.CLUSTER] = row
    mine[at.AT_K] = out.room(6 * len(columns)) if kind == at.GENERAL else mine[at.AT_S]
    mine[at.SOLE] = columns[0] if kind == at.SINGLE else -1
    rows = G[p.iv : p.iv + p.nv]
    mine[at.AT_G] = out.append(rows) if kind == at.GENERAL else 0
    direct = p.nv == 1 and np.count_nonzero(rows) == 1 and rows.max() == 1.0
    mine[at.WHICH] = int(np.argmax(rows[0])) if direct else -1
    mine[at.UNIT] = columns[mine[at.WHICH]] if direct else -1
    if len(columns) < 63:
        mask = sum(1 << int(k) for k in np.flatnonzero(np.any(rows, axis=0)))
        mine[at.MASK] = mask | (out.rows[body.parent][at.MASK] if body.parent in inside else 0)
    else:
        mine[at.MASK] = -1  # more columns than bits: all are taken to move it


def _smallest_d(tree: pin.Model, inertia_tree: pin.Model, joints: Sequence[int]) -> np.ndarray:
    """Return the rounding error of D: below it the inertia that a joint sees counts as zero."""
    below = {k for j in joints for k in tree.subtrees[j]}
    mass = sum(float(inertia_tree.inertias[k].mass) for k in below)
    reach = 0.0
    for j in joints:
        path = [k for k in tree.supports[j] if k]
        reach = max(reach, sum(float(np.linalg.norm(tree.jointPlacements[k].translation)) for k in path))
    return np.array([8.0 * np.finfo(float).eps * mass * reach * reach])


def _write_spinning(
    out: _Writer,
    tree: pin.Model,
    topology: Topology,
    spinning: dict[int, RotorElement],
    body_of_joint: dict[int, int],
    align: dict[int, np.ndarray],
    chains: dict[int, list[Primitive]],
) -> None:
    """Where external forces on spinning rotors of the tree go."""
    rows = []
    for j, r in sorted(spinning.items()):
        columns = np.flatnonzero(r.row)
        p, A = chains[j][0], align[r.carrier_id]
        data = np.concatenate(
            [
                (A.T @ p.placement.rotation @ p.align).ravel(),
                A.T @ np.asarray(p.placement.translation) if body_of_joint[r.carrier_id] else np.zeros(3),
                p.align.ravel(),
                r.row[columns],
            ]
        )
        rows.append(
            (
                body_of_joint[r.carrier_id],
                p.iq,
                p.kind,
                j,
                out.append(data),
                out.add_list(columns.tolist()),
                len(columns),
            )
        )
    out.rows[0][at.SPIN0] = len(out.rows)
    for values in rows:
        out.add_row(*values)
    out.rows[0][at.SPIN1] = len(out.rows)
