"""Writes the tables that the kernels read for a tree, its clusters and its rotors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..._support.groups import grouped
from ...constraints.closures import massive
from ...kernels.tables import layout as at
from ...kernels.tables.layout import FREE, SINGLE, Cluster, Header
from ...kernels.tables.sizes import offsets, rates_of_cluster
from ...kernels.tables.variations_layout import OF_COLUMN, OF_FREE
from ..elements import RotorElement
from ..primitives import Primitive
from ..topology import Topology
from ._clusters import write_cluster
from ._loops import Loop, Supply
from ._tree import NEVER as NEVER
from ._tree import TreeTables as TreeTables
from ._tree import pack_tree as pack_tree
from ._writer import Body, Robot, Writer, put_body


class Condition(NamedTuple):
    """Location of the condition number of K_d, the columns of K for the dependent velocities of a cluster."""

    joints: tuple[int, ...]  # joint ids of the cluster
    dependents: int  # number of dependent velocities
    at: int  # offset in the workspace of an upper bound of the squared condition number


@dataclass(frozen=True)
class Tables:
    """The structure and the numbers of a model as arrays for the kernels, stored in ``model.tables``.

    Attributes:
        index: Integers, int64, shape (rows, ROW_WIDTH). ``kernels.tables.layout`` defines the columns.
        params: Constant floats, a flat array. The rows of ``index`` contain offsets in this array.
        work: Initial content of a workspace, a flat array.
        joint_of_row: Maps the row of a cluster in ``index`` to the joint ids of the cluster, for messages.
        supplies: Python functions whose derivatives are copied into the workspace before a kernel runs.
        conditions: One ``Condition`` per cluster with loop-closure constraints.
        rates: Number of floats that derivatives need in addition to the workspace.
        velocities: Order and ancestors of the independent velocities, for ``tree.solve``.
        topology: Clusters, coupling matrix and analyses of the loops; joints are given by their ids.
        tree: Tables for the kernels of the spanning tree.
    """

    index: np.ndarray
    params: np.ndarray
    work: np.ndarray
    joint_of_row: dict[int, tuple[int, ...]]
    supplies: tuple[Supply, ...]
    conditions: tuple[Condition, ...]
    rates: int
    velocities: np.ndarray
    topology: Topology
    tree: TreeTables


def pack(
    tree: pin.Model,
    inertia_tree: pin.Model,
    topology: Topology,
    rotors: Sequence[RotorElement],
    gravity: np.ndarray,
    packed: TreeTables,
) -> Tables:
    """Return the tables of a model; gravity is in [m/s^2], and ``packed`` is the result of ``pack_tree``."""
    robot = Robot(tree, inertia_tree, topology, rotors)
    groups = _grouped(robot)
    fixed_potential = 0.0
    for j, rotor in robot.spinning.items():
        carrier = robot.body_of_joint[tree.parents[j]]
        if carrier:
            moved = robot.bodies[carrier - 1]
            if tree.inertias[j] != pin.Inertia.Zero():  # Pinocchio adds no inertias to negative ones.
                moved.inertia = moved.inertia + rotor.placement.act(tree.inertias[j])
        else:
            # As in Pinocchio, include the constant potential energy of balanced rotors on the universe.
            centre = rotor.placement.act(tree.inertias[j].lever)
            fixed_potential -= tree.inertias[j].mass * (gravity @ centre)
    for rod in massive(topology.closures):
        for j, p, mass in rod.masses_of_ends:
            fixed_potential -= 0.0 if j else mass * (gravity @ p)
    out = Writer(len(robot.bodies), len(groups))
    header = out.rows[0]
    header.bodies, header.cluster0 = len(robot.bodies), 1 + len(robot.bodies)
    header.cluster1 = header.cluster0 + len(groups)
    header.nq, header.nv, header.njoints, header.nv_tree = tree.nq, topology.G.shape[1], tree.njoints, tree.nv
    out.put(at.MINUS_GRAVITY, -gravity)
    out.put(at.POTENTIAL, fixed_potential)
    out.put(at.ORIGIN, robot.origin)
    joint_of_row = {}
    rows_of_g: dict[int, tuple[int, list[int]]] = {}  # joint id of a rotor -> offset and columns of its row of G
    supplies: list[Supply] = []
    conditions: list[Condition] = []
    for row, (t, columns, members) in enumerate(groups, header.cluster0):
        joint_of_row[row] = topology.clusters[t]
        for body in members:
            _write_body(out, robot, body)
        loop = topology.loops[t]
        if loop is None:
            write_cluster(out, robot, row, columns, members, t)
            continue
        entry = out.rows[row]
        entry.first, entry.last, entry.nk = members[0].row, members[-1].row + 1, len(columns)
        entry.out = members[0].parent
        entry.smallest = out.append(robot.smallest_d(t))
        rows_of_rotors, functions = Loop(out, robot, loop, row, columns, members).write()
        rows_of_g.update({j: (where, columns) for j, where in rows_of_rotors.items()})
        supplies += functions
        head = out.rows[entry.head]
        conditions.append(
            Condition(topology.clusters[t], head.nd, offsets(head.at, head.nd, head.nr, len(columns)).condition)
        )
    _write_ways_up(out)
    home = {j: row for row, joints in joint_of_row.items() for j in joints}
    _write_spinning(out, robot, rows_of_g, home)
    _write_ground(out, robot)
    rates = _write_rates(out)
    header.prepared = out.reserve(tree.nq)
    work = np.zeros(out.work)
    work[header.prepared :] = np.nan
    work[list(out.initial)] = list(out.initial.values())
    index = out.index(at.ROW_WIDTH)
    return Tables(
        index,
        np.array(out.params),
        work,
        joint_of_row,
        tuple(supplies),
        tuple(conditions),
        rates,
        tree_of_velocities(index),
        topology,
        packed,
    )


def _grouped(robot: Robot) -> list[tuple[int, list[int], list[Body]]]:
    """Create the bodies; return for each cluster its index in the topology, its columns in v, and its bodies."""
    tree, topology, bodies = robot.tree, robot.topology, robot.bodies
    groups: list[tuple[int, list[int], list[Body]]] = []
    for t in depth_first(topology.clusters, topology.outputs):
        joints = topology.clusters[t]
        staying = [j for j in joints if j not in robot.spinning]
        bodies_of_cluster: list[Body] = []
        for j in sorted(staying, key=lambda j: len(list(tree.supports[j]))):
            chain = robot.chains[j]
            for i, primitive in enumerate(chain):
                parent = robot.body_of_joint[tree.parents[j]] if i == 0 else len(bodies)
                bodies_of_cluster.append(robot.add(j, primitive, parent, last=primitive is chain[-1]))
            robot.body_of_joint[j] = len(bodies)
            robot.align[j] = chain[-1].align
            bodies[-1].inertia = robot.inertia_tree.inertias[j]
        loop = topology.loops[t]
        for _ in massive(loop.closures if loop is not None else ()):
            middle = Primitive(at.MIDDLE, pin.SE3.Identity(), np.eye(3), 0, 0, 0)
            bodies_of_cluster.append(robot.add(0, middle, robot.body_of_joint[topology.outputs[t]], last=False))
        if len(joints) == 1 and not topology.members[t]:
            # If a joint with several degrees of freedom is uncoupled, each of its primitives becomes a cluster.
            for body in bodies_of_cluster:
                groups.append((t, _columns(topology, [body.primitive]), [body]))
        else:
            groups.append((t, _columns(topology, [p for j in joints for p in robot.chains[j]]), bodies_of_cluster))
    return groups


def depth_first(clusters: Sequence[tuple[int, ...]], outputs: Sequence[int]) -> list[int]:
    """Return a depth-first order of the clusters, in which the descendants of a cluster directly follow it."""
    home = {j: t for t, joints in enumerate(clusters) for j in joints}
    below = grouped((home.get(output), t) for t, output in enumerate(outputs))
    order: list[int] = []
    waiting = below.get(None, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += below.get(order[-1], [])[::-1]
    return order


def _write_ways_up(out: Writer) -> None:
    header = out.rows[0]
    rows = out.rows[header.cluster0 : header.cluster1]
    for row in rows:
        row.above = out.rows[row.out].cluster if row.out else 0
    for row, following in pairwise(rows):
        row.until = following.above


def _write_ground(out: Writer, robot: Robot) -> None:
    """Write the masses fixed to the universe, and the momenta of rotors on it whose ratios are constant."""
    topology, rotors, origin = robot.topology, robot.rotors, robot.origin
    moment = np.zeros(4)
    for r in rotors:
        if r.spins and not r.carrier_id and r.joint_id is not None:
            body = robot.tree.inertias[r.joint_id]
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
    """Write the offset of each cluster's data for derivatives; return the total size."""
    header, size, sizes = out.rows[0], 0, {at.SINGLE: OF_COLUMN, at.FREE: OF_FREE}
    for row in out.rows[header.cluster0 : header.cluster1]:
        row.at_rates = size
        size += sizes[row.kind] if row.kind in sizes else rates_of_cluster(row.last - row.first, row.nk)
    return size


def _columns(topology: Topology, chain: Sequence[Primitive]) -> list[int]:
    velocities = sorted({p.iv + d for p in chain for d in range(p.nv)})
    places = np.searchsorted(topology.independent, velocities)
    free = topology.independent
    return [int(i) for i, iv in zip(places, velocities, strict=True) if i < len(free) and free[i] == iv]


def _write_body(out: Writer, robot: Robot, body: Body) -> None:
    p, row = body.primitive, out.rows[body.row]
    row.parent, row.kind, row.iq, row.ndof = body.parent, p.kind, p.iq, p.nv
    row.joint = body.joint if body.last else -1
    row.root = out.rows[body.parent].root if body.parent else body.row
    if p.kind == at.MIDDLE:
        return
    A_parent = robot.bodies[body.parent - 1].primitive.align if body.parent else np.eye(3)
    origin = 0.0 if body.parent else robot.origin
    row.shuffle = put_body(out, body.row, p, A_parent, body.inertia, p.align, origin)
    row.at_S = body.row * at.BODY_WORK + at.W_S if p.nv == 1 else out.reserve(6 * p.nv)


def _write_spinning(
    out: Writer, robot: Robot, rows_of_g: dict[int, tuple[int, list[int]]], home: dict[int, int]
) -> None:
    rows = []
    for j, r in sorted(robot.spinning.items()):
        free = np.flatnonzero(r.row)
        where, columns = rows_of_g[j] if j in rows_of_g else (out.store(r.row[free]), free.tolist())
        carrier, p, A = robot.body_of_joint[r.carrier_id], robot.chains[j][0], robot.align[r.carrier_id]
        rotation = A.T @ p.placement.rotation @ p.align
        data = np.concatenate(
            [rotation.ravel(), A.T @ p.placement.translation if carrier else np.zeros(3), p.align.ravel()]
        )
        listed, _ = out.add_list(columns)
        rows.append(at.Rotor(carrier, p.iq, p.kind, j, out.append(data), listed, len(columns), where, home[j]))
    out.rows[0].rotor0, out.rows[0].rotor1 = out.add_all(rows)


WIDTH = 5  # integers per velocity, as in ``kernels.tables.tree_layout``


def tree_of_velocities(index: np.ndarray) -> np.ndarray:
    """Return the input of ``tree.solve``: five numbers per velocity, in the kernels' order, then all ancestors."""
    header = Header(*index[0, : len(Header._fields)].tolist())
    last = {0: -1}  # table row of each cluster -> position of its last velocity in ``columns``
    columns: list[int] = []
    above: list[int] = []
    for row in range(header.cluster0, header.cluster1):
        c = Cluster(*index[row, : len(Cluster._fields)].tolist())
        consecutive = c.kind in (SINGLE, FREE)
        up = last[c.above]
        for k in range(c.nk):
            columns.append(c.column + k if consecutive else int(index[c.column + k, 0]))
            above.append(up)
            up = len(columns) - 1
        last[row] = up
    n = len(columns)
    behind = list(range(1, n + 1))
    for i in reversed(range(n)):
        if above[i] >= 0:
            behind[above[i]] = max(behind[above[i]], behind[i])
    rows: list[int] = []
    paths: list[int] = []
    for i in range(n):
        path, j = [], above[i]
        while j >= 0:
            path.append(j)
            j = above[j]
        # A row of the factor L has one entry for the velocity and one for each of its ancestors.
        rows += [columns[i], behind[i], WIDTH * n + len(paths), len(path), len(paths) + i]
        paths += path
    return np.array(rows + paths, dtype=np.int64)
