"""What acts by itself during steps: springs, dampers and friction, for Python and as the kernels' table."""

from contextlib import suppress

import numpy as np

from .._engine.kernels.tables import passive as at
from ..algorithms.dynamics.minverse import computeMinverse
from ..errors import PinClustersError
from ..model import FRICTION_SPEED, ClusterModel, PassiveForces

Table = tuple[np.ndarray, np.ndarray]
"""Rows of whole numbers, and numbers, as in ``kernels/tables/passive.py``."""


class Forces:
    """Passive forces in steps of one length.

    Dry friction turns its sign smoothly, within the speed that it would itself take away in a step, where that is more
    than ``FRICTION_SPEED``: explicit steps would otherwise jump to and fro about zero. The masses are those of the
    reference pose.

    Attributes:
        compiled: Whether kernels know all of them.
    """

    def __init__(self, model: ClusterModel, forces: PassiveForces, dt: float) -> None:
        self._forces, self.compiled = forces, forces.lines_only
        lines = forces.lines
        self._speeds = np.full(len(lines.friction), FRICTION_SPEED)
        if lines.friction.any():
            rows = lines.to_rate @ model._topology.G
            with suppress(PinClustersError):  # no masses: aba will say so
                response = rows @ computeMinverse(model, model.createData(), model.q_reference) @ rows.T
                self._speeds = np.maximum(self._speeds, dt * lines.friction * np.abs(response).sum(axis=1))

    def torque(self, q: np.ndarray, v_tree: np.ndarray) -> np.ndarray:
        """Return the torque on every joint of the tree, shape (tree.nv,), [N m] or [N]."""
        return self._forces.torque(q, v_tree, self._speeds)

    def table(self, model: ClusterModel) -> Table:
        """Return the table for a choice of independent joints."""
        lines, varying = self._forces.lines, _varying(model)
        rows, terms, coefficients = list[tuple[int, int, int, int]](), list[int](), list[float]()
        begin = 1 + len(lines.friction)
        for length, rate in zip(lines.to_length, lines.to_rate, strict=True):
            of_tree = bool(rate[varying].any())
            rate = rate if of_tree else rate @ model._topology.G
            at_length, at_rate = np.flatnonzero(length), np.flatnonzero(rate)
            first, middle = begin + len(terms), begin + len(terms) + len(at_length)
            rows.append((middle, middle + len(at_rate), first, of_tree))
            terms += [*lines.iq[at_length].tolist(), *at_rate.tolist()]
            coefficients += [*length[at_length].tolist(), *rate[at_rate].tolist()]
        head = len(rows), any(row[at.OF_TREE] for row in rows), 0, 0
        numbers = np.vstack([lines.low, lines.high, lines.stiffness, lines.damping, lines.friction, self._speeds])
        return (
            np.array([head, *rows, *((i, 0, 0, 0) for i in terms)], dtype=np.int64),
            np.concatenate([numbers.T.ravel(), coefficients, [0.0]]),
        )


NOTHING: Table = np.zeros((1, 4), dtype=np.int64), np.zeros(1)
"""The table without forces."""


def _varying(model: ClusterModel) -> np.ndarray:
    """Return which velocities of the tree depend on the independent ones by ratios that vary."""
    topology, found = model._topology, np.zeros(model.own_tree.nv, dtype=bool)
    found[[iv for loop in topology.analyses for iv in loop.dependents]] = True
    joints = model.own_tree.joints
    for row in topology.substituted:
        found[joints[row.dependent].idx_v] |= any(found[joints[m].idx_v] for m, _ in row.terms)
    return found
