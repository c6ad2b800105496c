"""Rods as two point masses each, and how these move with the independent coordinates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...constraints.closures import RodClosure, massive
from ..null_space import rod_points
from ._closure_rates import placed
from ._coupling_rates import CouplingRates, Rates
from ._ends import Along, Motion, split


def point_masses(coupling: CouplingRates, rates: Rates) -> Iterator[tuple[float, np.ndarray, tuple[np.ndarray, ...]]]:
    """Yield mass, place and rows of each point mass of the rods: three more rows of what is known of the tree.

    The rows are those of G, dG/dq, v, a, dv/dq, da/dq and da/dv, in axes of the world.
    """
    G, zero = coupling.G, coupling.nothing
    motion = Motion(coupling.simple.tree, coupling.full_q, coupling.map @ rates.v, coupling.map @ rates.a)
    by_q, by_v = coupling.whole(Along(G, rates.v_q, rates.a_q)), coupling.whole(Along(zero, G, rates.a_v))
    units = [(unit, coupling.whole(Along(G, zero, coupling.H[:, i]))) for i, unit in enumerate(coupling.units)]

    def point(rod: RodClosure, weight: float, motion: Motion, along: Along) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return place, velocity and acceleration, each with its derivatives."""
        a, b = (motion.end(int(coupling.simple.ids[j]), placed(x), along) for j, x in rod.ends)
        pairs = (a.x, b.x), (a.xd, b.xd), (a.xdd, b.xdd)
        return [split(weight * one + (1.0 - weight) * two) for one, two in pairs]

    for rod in massive(coupling.model.closures) if units else ():
        for mass, weight in rod_points(rod):
            (place, _), (v, v_q), (a, a_q) = point(rod, weight, motion, by_q)
            _, _, (_, a_v) = point(rod, weight, motion, by_v)
            # at rest, and with the acceleration G e_i, a point accelerates as it moves with the velocity G e_i
            columns = [point(rod, weight, *unit)[2] for unit in units]
            J, J_q = (np.stack(x, axis=1) for x in zip(*columns, strict=True))
            yield mass, place, (J, J_q, v, a, v_q, a_q, a_v)
