"""Rods as two point masses each, in independent coordinates, with derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constraints.closures import massive
from ..null_space import rod_points
from ._closure_rates import placed
from ._coupling_rates import CouplingRates, Rates
from ._ends import Along, End, Motion, split


@dataclass(frozen=True, eq=False)
class _Point:
    """A point mass.

    Attributes:
        mass: [kg].
        J: Its velocity = J v, shape (3, nv).
        J_q: J_q[:, k, m] is the derivative of column k along direction m, shape (3, nv, nv).
        force: Mass times acceleration less gravity, shape (3,).
        force_q: Its derivatives, shape (3, nv).
        force_v: Its derivatives, shape (3, nv).
    """

    mass: float
    J: np.ndarray
    J_q: np.ndarray
    force: np.ndarray
    force_q: np.ndarray
    force_v: np.ndarray


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum of the rods about the origin of the world, [linear; angular], its rate, and their derivatives.

    Attributes:
        mass: Of all rods, [kg].
        moment: Mass times centre of mass, shape (3,).
        moment_q: Its derivatives, shape (3, nv).
        h: Shape (6,).
        rate: Shape (6,).
        h_q: Shape (6, nv).
        rate_q: Shape (6, nv).
        rate_v: Shape (6, nv).
        rate_a: Shape (6, nv).
    """

    mass: float
    moment: np.ndarray
    moment_q: np.ndarray
    h: np.ndarray
    rate: np.ndarray
    h_q: np.ndarray
    rate_q: np.ndarray
    rate_v: np.ndarray
    rate_a: np.ndarray


class RodRates:
    """The rods of a model that have mass, at a state.

    Attributes:
        any: Whether there are some.
    """

    def __init__(self, coupling: CouplingRates, rates: Rates, v: np.ndarray) -> None:
        self.v, self.coupling, self.nv = v, coupling, coupling.model.nv
        self.rods = massive(coupling.model.closures)
        self.any = bool(self.rods) and self.nv > 0
        if not self.any:
            self.points: list[_Point] = []
            return
        G, zero = coupling.G, coupling.nothing
        self.by_q = coupling.whole(Along(G, rates.v_q, rates.a_q))
        self.by_v = coupling.whole(Along(zero, G, rates.a_v))
        self.by_a = coupling.whole(Along(zero, zero, G))
        self.motion = Motion(coupling.simple.tree, coupling.full_q, coupling.map @ rates.v, coupling.map @ rates.a)
        self.points = [p for k in range(len(self.rods)) for p in self._points(k)]

    def torque(self) -> np.ndarray:
        """Return what moves them, shape (nv,)."""
        return sum((p.J.T @ p.force for p in self.points), np.zeros(self.nv))

    def mass_matrix(self) -> np.ndarray:
        """Return their share in the mass matrix, shape (nv, nv)."""
        return sum((p.mass * p.J.T @ p.J for p in self.points), np.zeros((self.nv, self.nv)))

    def dtau_dq(self) -> np.ndarray:
        """Return the derivatives of ``torque`` with respect to q, shape (nv, nv)."""
        parts = (np.einsum("ikm,i->km", p.J_q, p.force) + p.J.T @ p.force_q for p in self.points)
        return sum(parts, np.zeros((self.nv, self.nv)))

    def dtau_dv(self) -> np.ndarray:
        """Return the derivatives of ``torque`` with respect to v, shape (nv, nv)."""
        return sum((p.J.T @ p.force_v for p in self.points), np.zeros((self.nv, self.nv)))

    def coriolis_matrix(self) -> np.ndarray:
        """Return J' m dJ/dt, shape (nv, nv)."""
        return sum((p.mass * p.J.T @ (p.J_q @ self.v) for p in self.points), np.zeros((self.nv, self.nv)))

    def momentum(self) -> Momentum:
        """Return momentum and rate, with derivatives."""
        found = []
        for by in (self.by_q, self.by_v, self.by_a):
            total = np.zeros((self.nv + 1, 15), dtype=complex)
            for k, rod in enumerate(self.rods):
                ends = self._ends(k, self.motion, by)
                for m, weight in rod_points(rod):
                    x, xd, xdd = (m * (weight * one + (1.0 - weight) * two) for one, two in _moves(ends))
                    total += np.hstack([x, xd, np.cross(x, xd) / m, xdd, np.cross(x, xdd) / m])
            found.append(split(total))
        (value, q), (_, v), (_, a) = found
        mass = float(sum(rod.mass for rod in self.rods))
        return Momentum(mass, value[:3], q[:3], value[3:9], value[9:], q[3:9], q[9:], v[9:], a[9:])

    def _points(self, k: int) -> list[_Point]:
        """The point masses of rod k."""
        coupling = self.coupling
        gravity = np.array(coupling.model.gravity.linear)
        state = [_moves(self._ends(k, self.motion, by))[2] for by in (self.by_q, self.by_v)]
        # at rest, and with the acceleration G e_i, a point accelerates as it moves with the velocity G e_i
        units = [
            _moves(self._ends(k, motion, coupling.whole(Along(coupling.G, coupling.nothing, coupling.H[:, i]))))[2]
            for i, motion in enumerate(coupling.units)
        ]
        found = []
        for m, weight in rod_points(self.rods[k]):

            def mean(pair: tuple[np.ndarray, np.ndarray], weight: float = weight) -> tuple[np.ndarray, np.ndarray]:
                return split(weight * pair[0] + (1.0 - weight) * pair[1])

            columns = [mean(pair) for pair in units]
            (acceleration, by_q), (_, by_v) = (mean(pair) for pair in state)
            J, J_q = (np.stack([c[i] for c in columns], axis=1) for i in (0, 1))
            found.append(_Point(m, J, J_q, m * (acceleration - gravity), m * by_q, m * by_v))
        return found

    def _ends(self, k: int, motion: Motion, along: Along) -> tuple[End, End]:
        ids = self.coupling.simple.ids
        a, b = (motion.end(int(ids[j]), placed(x), along) for j, x in self.rods[k].ends)
        return a, b


def _moves(ends: tuple[End, End]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Places, velocities and accelerations of both ends."""
    a, b = ends
    return (a.x, b.x), (a.xd, b.xd), (a.xdd, b.xdd)
