"""Couplings on the joints of closed loops, so that in each of them a joint follows that does follow in the model."""

from collections.abc import Sequence

import numpy as np

from ...constraints import Belt, Gear, LinearCoupling
from ...constraints.closures import path_of
from ...constraints.rows import Row
from ...model import ClusterModel

NOTHING = 1e-12
"""Of the largest coefficient: what is left of one that is eliminated."""


def rows_by_source(model: ClusterModel) -> dict[int, Row]:
    """Return the row of each coupling by the identity of what the user stated.

    A row names a joint that follows. In a cluster with loops that joint may lead all the same, and one that it is said
    to follow may be the dependent one: which they are is chosen from all equations. A file says both at once, so the
    rows of such a cluster are solved for joints that are dependent, those on no loop first, as only rows move them.
    A row that the others imply is not there.
    """
    tree, found = model.own_tree, {id(row.source): row for row in model.coupling_rows}
    looped = {j for closure in model.closures for j in path_of(model.own_tree, closure)}  # on the paths of closures
    for cluster in model.clusters:
        joints = {tree.getJointId(name) for name in cluster.joints}
        if not joints & looped:
            continue
        here = [row for row in model.coupling_rows if row.dependent in joints]
        rows = [row for row in here if isinstance(row.source, (Gear, Belt, LinearCoupling))]
        dependent = [tree.getJointId(name) for name in cluster.dependent]
        others = {row.dependent for row in here} - {row.dependent for row in rows}  # of the library's mechanisms
        alone = [j for j in dependent if j not in looped | others]
        stated = {row.dependent for row in rows}
        if stated <= set(dependent) and set(alone) <= stated:
            continue
        for row in rows:
            del found[id(row.source)]
        found |= {id(row.source): row for row in _solved(rows, alone, [j for j in dependent if j in looped])}
    return found


def _solved(rows: Sequence[Row], first: Sequence[int], then: Sequence[int]) -> list[Row]:
    """Return the rows solved for some joints each (Gauss and Jordan), all of ``first`` if they can be."""
    joints = sorted({j for row in rows for j in (row.dependent, *row.masters)})
    place = {j: i for i, j in enumerate(joints)}
    A = np.zeros((len(rows), len(joints) + 1))
    for equation, row in zip(A, rows, strict=True):
        equation[place[row.dependent]], equation[-1] = 1.0, row.offset
        for j, c in row.terms:
            equation[place[j]] -= c
    size = np.abs(A[:, :-1]).max(axis=0, initial=0.0)
    left, pivots = list(range(len(rows))), dict[int, int]()
    for wanted in (first, then):
        while left and (columns := [place[j] for j in wanted if j in place and place[j] not in pivots.values()]):
            block = np.abs(A[np.ix_(left, columns)]) / size[columns]
            i, k = np.unravel_index(np.argmax(block), block.shape)
            if block[i, k] <= NOTHING:
                break
            own, column = left.pop(int(i)), columns[int(k)]
            A[own] /= A[own, column]
            for other in range(len(rows)):
                if other != own:
                    A[other] -= A[other, column] * A[own]
                    A[other, column] = 0.0
            pivots[own] = column
    solved = []
    for own, column in sorted(pivots.items()):
        terms = {j: float(-A[own, place[j]]) for j in joints if place[j] != column and abs(A[own, place[j]]) > NOTHING}
        row, offset = rows[own], float(A[own, -1])
        solved.append(Row(joints[column], tuple(terms), tuple(terms.values()), offset, row.source, row.tied))
    return solved
