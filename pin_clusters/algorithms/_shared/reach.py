"""Which velocities move a body, and which clusters forces and torques reach on their way to the base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..._engine.kernels.tables import columns_layout as at
from ..._engine.kernels.tables.layout import FREE, SINGLE, Body, Cluster, Header, Rotor
from ...model import ClusterModel


class Reach:
    """Which clusters the columns reach: those that a force or a torque moves, and all on their way to the base."""

    def __init__(self, model: ClusterModel, columns: int) -> None:
        index = model._index
        n = Header(*(int(x) for x in index[0, : len(Header._fields)]))
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

    def rows(self, packs: int, lanes: int) -> list[list[int]]:
        """Return the kernel's rows."""
        starts = range(0, self._table.shape[1], lanes)
        by_pack = np.array([self._table[:, i : i + lanes].any(axis=1) for i in starts])
        found: list[list[int]] = []
        for P0 in range(0, packs, at.AT_WORK):
            for c in range(len(self._table)):
                numbers = (P0 + np.flatnonzero(by_pack[P0 : P0 + at.AT_WORK, c])).tolist()
                found.append([len(numbers), *numbers])
        return found


def movers(model: ClusterModel, b: int, rotor: int) -> list[int]:
    """Return the independent velocities that move body b, or a spinning rotor whose carrier it is."""
    index = model._index
    found: set[int] = set()
    ways = [b]
    if rotor:
        r = Rotor(*(int(x) for x in index[rotor, : len(Rotor._fields)]))
        driven = {int(index[r.column + k, 0]) for k in range(r.nk)}
        found |= driven
        n = Header(*(int(x) for x in index[0, : len(Header._fields)]))
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
    C = Cluster(*(int(x) for x in index[c, : len(Cluster._fields)]))
    if C.kind in (SINGLE, FREE):
        return list(range(C.column, C.column + C.nk))
    return [int(index[C.column + k, 0]) for k in range(C.nk)]
