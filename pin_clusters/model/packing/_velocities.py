"""The tree of velocities, along which the mass matrix has entries."""

import numpy as np

from ..._engine.kernels.tables.layout import FREE, SINGLE, Cluster, Header

WIDTH = 5  # numbers per velocity, as in ``tree_solve``, which imports Numba


def tree_of_velocities(index: np.ndarray) -> np.ndarray:
    """Return the plan of ``tree_solve``: five numbers per velocity in the kernels' order, then those above each.

    The velocities of a cluster follow each other, below the last one of the cluster above.
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
    rows: list[int] = []
    paths: list[int] = []
    for i in range(n):
        path, j = [], above[i]
        while j >= 0:
            path.append(j)
            j = above[j]
        # a row of L has an entry more than its path
        rows += [columns[i], behind[i], WIDTH * n + len(paths), len(path), len(paths) + i]
        paths += path
    return np.array(rows + paths, dtype=np.int64)
