"""Search in the kernel tables for joints, for velocities that move a body, and for clusters that a force affects."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._support.arrays import on_a_page
from ..._support.tables import Table
from ...kernels.tables import columns_layout as at
from ...model import ClusterModel

from ...kernels.tables.layout import ALIGN, BODY_PARAMS, FREE, ORIGIN, ROW_WIDTH  # isort: skip
from ...kernels.tables.layout import SINGLE, Body, Cluster, Header, Rotor  # isort: skip


class Reach:
    """Clusters that each force or torque column affects: the clusters on which it acts, and all their ancestors."""

    def __init__(self, model: ClusterModel, columns: int) -> None:
        index = model.tables.index
        n = _read(Header, index, 0)
        self._of_velocity = {k: c - n.cluster0 for c in range(n.cluster0, n.cluster1) for k in _columns_of(index, c)}
        out = [int(index[c, Cluster._fields.index("out")]) for c in range(n.cluster0, n.cluster1)]
        self._before = [int(index[b, Body._fields.index("cluster")]) - n.cluster0 if b else -1 for b in out]
        self._table = np.zeros((len(out), columns), dtype=bool)

    def add(self, columns: Sequence[int], velocities: Iterable[int]) -> None:
        """Mark, for these columns, the clusters of the velocities and all clusters between them and the base."""
        for c in {self._of_velocity[k] for k in velocities}:
            cluster = c
            while cluster >= 0:
                self._table[cluster, columns] = True
                cluster = self._before[cluster]

    def rows(self) -> list[at.Reach]:
        reached = [np.flatnonzero(columns) for columns in self._table]
        return [at.Reach(int(x[0]), int(x[-1]) + 1) if x.size else at.Reach(0, 0) for x in reached]


def arrays_of(model: ClusterModel, asked: Table, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    (panel,) = on_a_page(np.zeros(panel_size(model, columns)))
    return asked.index(ROW_WIDTH), np.array(asked.params), panel


def panel_size(model: ClusterModel, columns: int) -> int:
    return columns * (6 * (_read(Header, model.tables.index, 0).bodies + 1) + model.nv)


def body_of(model: ClusterModel, j: int) -> int:
    index = model.tables.index
    bodies = index[1 : 1 + int(index[0, Header._fields.index("bodies")]), Body._fields.index("joint")]
    positions = np.flatnonzero(bodies == j)
    return 1 + int(positions[0]) if j and positions.size else 0


def home_of(model: ClusterModel, j: int) -> tuple[int, int, int, np.ndarray, np.ndarray]:
    """Find a joint in the kernel tables.

    Return the joint's body (for a lumped rotor: its carrier); the row of the lumped rotor, or 0; the root body; the
    matrix from the kernel's body axes to joint axes; and the origin of the kernel's world in the universe.
    """
    index, params = model.tables.index, model.tables.params
    if j == 0:  # for the universe, kernel frame and joint frame are equal
        return 0, 0, 0, np.eye(3), np.zeros(3)
    world = params[ORIGIN : ORIGIN + 3]
    b, rotor = body_of(model, j), 0
    at_align = b * BODY_PARAMS + ALIGN
    if b == 0:
        n = _read(Header, index, 0)
        spinning = index[n.rotor0 : n.rotor1, Rotor._fields.index("joint")]
        rotor = n.rotor0 + int(np.flatnonzero(spinning == j)[0])
        row = _read(Rotor, index, rotor)
        b, at_align = row.carrier, row.at + 12
        if b == 0:  # the kernels place a rotor carried by the universe at the origin of the universe
            world = np.array(model.own_tree.jointPlacements[j].translation)
    root = _read(Body, index, b).root if b else 0
    return b, rotor, root, params[at_align:][:9].reshape(3, 3), world


def movers(model: ClusterModel, b: int, rotor: int) -> list[int]:
    """List the independent velocities that move body b or, if ``rotor`` is not 0, the lumped rotor in row ``rotor``."""
    index = model.tables.index
    velocities: set[int] = set()
    starts = [b]
    if rotor:
        r = _read(Rotor, index, rotor)
        driven = {int(index[r.column + k, 0]) for k in range(r.nk)}
        velocities |= driven
        n = _read(Header, index, 0)
        for c in range(n.cluster0, n.cluster1):
            columns = _columns_of(index, c)
            if driven & set(columns):
                velocities |= set(columns)
                starts.append(int(index[c, Cluster._fields.index("out")]))
    for start in starts:
        body = start
        while body:
            c = int(index[body, Body._fields.index("cluster")])
            velocities |= set(_columns_of(index, c))
            body = int(index[c, Cluster._fields.index("out")])
    return sorted(velocities)


def _columns_of(index: np.ndarray, c: int) -> list[int]:
    C = _read(Cluster, index, c)
    if C.kind in (SINGLE, FREE):
        return list(range(C.column, C.column + C.nk))
    return [int(index[C.column + k, 0]) for k in range(C.nk)]


def _read(kind: Any, index: np.ndarray, row: int) -> Any:
    return kind(*index[row, : len(kind._fields)].tolist())
