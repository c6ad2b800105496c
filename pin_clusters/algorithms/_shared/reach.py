"""Where joints are for the kernels, what moves a body, and which clusters forces reach on their way to the base."""

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
    """Which clusters the columns reach: those that a force or a torque moves, and all on their way to the base."""

    def __init__(self, model: ClusterModel, columns: int) -> None:
        index = model.tables.index
        n = _read(Header, index, 0)
        self._of_velocity = {k: c - n.cluster0 for c in range(n.cluster0, n.cluster1) for k in _columns_of(index, c)}
        out = [int(index[c, Cluster._fields.index("out")]) for c in range(n.cluster0, n.cluster1)]
        self._before = [int(index[b, Body._fields.index("cluster")]) - n.cluster0 if b else -1 for b in out]
        self._table = np.zeros((len(out), columns), dtype=bool)

    def add(self, columns: Sequence[int], velocities: Iterable[int]) -> None:
        """Let columns move velocities."""
        for c in {self._of_velocity[k] for k in velocities}:
            way = c
            while way >= 0:
                self._table[way, columns] = True
                way = self._before[way]

    def rows(self) -> list[at.Reach]:
        """Return the kernel's rows."""
        found = [np.flatnonzero(columns) for columns in self._table]
        return [at.Reach(int(x[0]), int(x[-1]) + 1) if x.size else at.Reach(0, 0) for x in found]


def arrays_of(model: ClusterModel, asked: Table, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is asked of so many columns as arrays, and room for them."""
    (room,) = on_a_page(np.zeros(panel_size(model, columns)))
    return asked.index(ROW_WIDTH), np.array(asked.params), room


def panel_size(model: ClusterModel, columns: int) -> int:
    """Return how much room so many columns need."""
    return columns * (6 * (_read(Header, model.tables.index, 0).bodies + 1) + model.nv)


def body_of(model: ClusterModel, j: int) -> int:
    """Return the body of a joint; 0: it has none, being the universe, or that of a rotor that spins."""
    index = model.tables.index
    bodies = index[1 : 1 + int(index[0, Header._fields.index("bodies")]), Body._fields.index("joint")]
    found = np.flatnonzero(bodies == j)
    return 1 + int(found[0]) if j and found.size else 0


def home_of(model: ClusterModel, j: int) -> tuple[int, int, int, np.ndarray, np.ndarray]:
    """Return where a joint is for the kernels.

    Returns:
        Its body, or the carrier of the spinning rotor whose row comes next (else 0); the root; the rotation from the
        kernel's frame to the joint's; the world's position.
    """
    index, params = model.tables.index, model.tables.params
    if j == 0:  # stands where the kernels' world does, wherever that is
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
        if b == 0:  # for the kernels such a rotor is where the universe is
            world = np.array(model.own_tree.jointPlacements[j].translation)
    root = _read(Body, index, b).root if b else 0
    return b, rotor, root, params[at_align:][:9].reshape(3, 3), world


def movers(model: ClusterModel, b: int, rotor: int) -> list[int]:
    """Return the independent velocities that move body b, or a spinning rotor whose carrier it is."""
    index = model.tables.index
    found: set[int] = set()
    ways = [b]
    if rotor:
        r = _read(Rotor, index, rotor)
        driven = {int(index[r.column + k, 0]) for k in range(r.nk)}
        found |= driven
        n = _read(Header, index, 0)
        for c in range(n.cluster0, n.cluster1):
            columns = _columns_of(index, c)
            if driven & set(columns):
                found |= set(columns)
                ways.append(int(index[c, Cluster._fields.index("out")]))
    for way in ways:
        body = way
        while body:
            c = int(index[body, Body._fields.index("cluster")])
            found |= set(_columns_of(index, c))
            body = int(index[c, Cluster._fields.index("out")])
    return sorted(found)


def _columns_of(index: np.ndarray, c: int) -> list[int]:
    """Return the independent velocities of a cluster."""
    C = _read(Cluster, index, c)
    if C.kind in (SINGLE, FREE):
        return list(range(C.column, C.column + C.nk))
    return [int(index[C.column + k, 0]) for k in range(C.nk)]


def _read(kind: Any, index: np.ndarray, row: int) -> Any:
    """Return a row of the tables as one of the named tuples of ``layout``."""
    return kind(*index[row, : len(kind._fields)].tolist())
