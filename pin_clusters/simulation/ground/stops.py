"""Joints at the ends of their ranges; dependent joints of couplings and loops too."""

import numpy as np

from ...model import ClusterModel

_NONE = 1e300
"""Pinocchio's largest number stands for no bound."""


class Stops:
    """The ends of the ranges of joints with one degree of freedom.

    Attributes:
        columns: Index in the tree's v of each joint, shape (n,).
        sides: 1 for a lower end, -1 for an upper one.
        names: ``"knee > -1.2"``, of each.
        table: Index in q, side, and the one independent velocity that moves it (-1: there is no such) of each, as
            kernels take it; bounds: room is side q - bound; rates: of the room by that velocity.
    """

    def __init__(self, model: ClusterModel, *, any_end: bool = True) -> None:
        tree, rows, self.names = model.own_tree, [], list[str]()
        for j in range(1, tree.njoints if any_end else 0):
            joint = tree.joints[j]
            if joint.nq == joint.nv == 1:
                i = joint.idx_q
                for side, bound in ((1.0, tree.lowerPositionLimit[i]), (-1.0, tree.upperPositionLimit[i])):
                    if abs(bound) < _NONE:
                        rows.append((joint.idx_v, i, side, bound))
                        self.names.append(f"{tree.names[j]} {'>' if side > 0.0 else '<'} {bound:g}")
        table = np.array(rows).reshape(-1, 4)
        self.columns, self._at = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        self.sides, self._bounds = table[:, 2], table[:, 3]
        place = {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
        own, self.rates = np.full(len(table), -1), self.sides.copy()
        for k, column in enumerate(self.columns.tolist()):
            row = np.zeros(0) if model.closures else model.coupling_matrix[column]
            if column in place:
                own[k] = place[column]
            elif np.count_nonzero(row) == 1:
                own[k] = np.argmax(row != 0.0)
                self.rates[k] *= row[own[k]]
        self.table = np.stack([self._at, self.sides, own], axis=1).astype(np.int64)
        self.bounds = self.sides * self._bounds

    def __len__(self) -> int:
        return len(self.columns)

    def room(self, q: np.ndarray) -> np.ndarray:
        """Return how far each joint is from each end, shape (n,), [rad] or [m]."""
        return np.asarray(self.sides * (q[self._at] - self._bounds))
