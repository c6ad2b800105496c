"""The tree of velocities, along which the mass matrix has entries."""

from __future__ import annotations

import numpy as np

from ..._kernels.layout import FREE, ROW_WIDTH, SINGLE, Cluster, Header


def tree_of_velocities(index: np.ndarray) -> np.ndarray:
    """Return the rows of ``tree_solve``: one per velocity in the kernels' order, then those above each.

    The velocities of a cluster follow each other, below the last one of the cluster above.

    Args:
        index: The kernels' table.
    """
    header = Header(*index[0, : len(Header._fields)].tolist())
    last = {0: -1}  # of each cluster
    columns: list[int] = []
    above: list[int] = []
    for row in range(header.cluster0, header.cluster1):
        c = Cluster(*index[row, : len(Cluster._fields)].tolist())
        alone = c.kind in (SINGLE, FREE)
        up = last[c.above]
        for k in range(c.nk):
            columns.append(c.column + k if alone else int(index[c.column + k, 0]))
            above.append(up)
            up = len(columns) - 1
        last[row] = up
    n = len(columns)
    behind = list(range(1, n + 1))
    for i in reversed(range(n)):
        if above[i] >= 0:
            behind[above[i]] = max(behind[above[i]], behind[i])
    rows: list[tuple[int, ...]] = []
    paths: list[tuple[int]] = []
    for i in range(n):
        first, j = n + len(paths), above[i]
        while j >= 0:
            paths.append((j,))
            j = above[j]
        rows.append((columns[i], above[i], behind[i], first, n + len(paths)))
    table = np.zeros((max(1, n + len(paths)), ROW_WIDTH), dtype=np.int64)
    for line, row in zip(table, [*rows, *paths], strict=False):
        line[: len(row)] = row
    return table
