"""Compute forces and accelerations for given modes of contacts and stops between events, and find valid modes.

A contact is open, slides or sticks; a stop is open or sticks. If the modes are fixed, the forces l = P x satisfy

    R (J (a_free + M^-1 J' P x) + dJ/dt v) = 0

J is the Jacobian of contacts and stops, and a_free the acceleration without contact forces. R selects all rows of
sticking contacts and stops, and the normal rows of sliding contacts. For sliding contacts, P adds a friction force of
mu times the normal force, opposite to the sliding direction. If rows are redundant, the solution closest to the last
forces is used.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ...algorithms._shared import bridge as _bridge
from ...algorithms.dynamics.minverse import computeMinverse
from ...algorithms.kinematics.kinematics import forwardKinematics
from .._coordinates import Coordinates
from .near import World
from .solver import Impulses

OPEN, SLIDES, STICKS = 0, 1, 2
REST = 1e-8
"""If the sliding direction of a contact reverses below this speed [m/s], the contact sticks."""
_STANDS = 1e-13
"""Sliding speeds [m/s] below this value are rounding errors."""
_SURE, _EXACT = 1e-6, 1e-10
"""Tolerances relative to the largest force: first for forces that are not unique, then for unique forces."""
_SEEN = 1e-6, 1e-5, 1e-4, 1e-3
"""Thresholds, relative to the largest acceleration, above which an acceleration is not zero; tried in this order."""
_FAST = 1e6
"""Tangential term added to the accelerations of sliding contacts, so that the solver keeps the sliding directions."""
_LESS = 0.999
"""Friction factor that makes directions of incipient sliding unique, and smallest cosine of their angular error."""
_ROUNDS = 100


@dataclass
class Modes:
    """Modes of the contacts, followed by the modes of the stops."""

    kinds: np.ndarray  # OPEN, SLIDES or STICKS, shape (contacts + stops,)
    ways: np.ndarray  # sliding directions in tangential coordinates, shape (contacts, 2)
    anchors: np.ndarray  # world positions of sticking contacts, shape (contacts, 3), [m]
    forces: np.ndarray  # Nonunique forces are chosen closest to these forces, shape (3 contacts + stops,), [N] or [N m]


class ModeForces(NamedTuple):
    """Forces and accelerations with fixed modes."""

    a: np.ndarray  # acceleration, shape (nv,)
    l: np.ndarray  # forces on the rows of touching contacts and stops
    rates: np.ndarray  # accelerations of these rows
    ways: np.ndarray  # sliding directions, which friction opposes
    unique: bool  # whether the forces are unique


class ContactState:
    """A state of the robot with the contacts and stops that are closed in this state.

    Attributes:
        pairs: All contacts and stops.
        speeds: Velocities J v of all rows of the contact Jacobian J.
        rows: Indices of the rows of touching contacts and stops.
        points: Indices of the contacts that touch.
    """

    def __init__(
        self, world: World, on: Coordinates, q: np.ndarray, v: np.ndarray, free: np.ndarray | None, touching: np.ndarray
    ) -> None:
        """Compute Jacobian and Delassus matrix; if ``free`` is None, ``forces`` computes impulses and velocities."""
        self.pairs = pairs = world.look(q, np.inf)
        J, n = world.rows(on, q, pairs), pairs.contacts
        self.speeds, self.which, self.points = J @ v, np.flatnonzero(touching), np.flatnonzero(touching[:n])
        self.rows = per_row(touching, n, touching)
        self.u, self.start, held = self.speeds[self.rows], v if free is None else free, J[self.rows]
        self.response = computeMinverse(on.model, on.data, q) @ held.T
        self.G, self.b, self.mu = held @ self.response, self.u, pairs.friction[self.points]
        if free is not None and len(held):
            self.b = held @ free + _bias(world, on, q, v)[self.rows]

    @property
    def slip(self) -> np.ndarray:
        """Tangential velocities of the touching contacts, shape (points, 2), [m/s]."""
        return points_of(self.u, len(self.points))[:, :2]

    def renew(self, modes: Modes) -> None:
        sliding = self.points[(modes.kinds[self.points] == SLIDES) & (np.hypot(*self.slip.T) > REST)]
        slip = points_of(self.speeds, self.pairs.contacts)[sliding, :2]
        modes.ways[sliding] = slip / np.hypot(*slip.T)[:, None]

    def forces(self, modes: Modes, h: float) -> ModeForces:
        """Compute forces and accelerations in the given modes.

        If friction could reverse a slowly sliding contact within a step of length h, the current sliding direction
        would make the equation stiff. Instead, the method uses the direction half a step later, or halfway to rest. No
        direction reverses within a step.
        """
        n, kinds, last = len(self.points), modes.kinds[self.which], modes.forces[self.rows]
        if not n + len(kinds):
            return ModeForces(self.start, last, last, modes.ways[self.points], True)
        slip, before = self.slip, modes.ways[self.points]
        slides, starts = kinds[:n] == SLIDES, np.arange(0, 3 * n, 3)
        rows = np.flatnonzero(per_row(kinds != OPEN, n, kinds == STICKS, False))
        # the velocity of a sticking contact is a rounding error, which does not define a direction
        explicit = ways = _along(np.where((np.hypot(*slip.T) > _STANDS)[:, None], slip, before), before)
        weights = np.maximum(np.abs(self.G[starts[:, None], starts]), np.abs(self.G[starts[:, None] + 1, starts + 1]))
        for _ in range(_ROUNDS):
            P = np.eye(len(self.rows))
            P[starts, starts + 2], P[starts + 1, starts + 2] = -(slides * self.mu * ways.T)
            A = (self.G @ P[:, rows])[rows]
            x, _, rank, _ = np.linalg.lstsq(A, -self.b[rows] - A @ last[rows], rcond=2e-14 * len(rows))
            l = P[:, rows] @ (last[rows] + x)
            rates = self.b + self.G @ l
            grip = weights @ (self.mu * np.maximum(l[starts + 2], 0.0))
            rate = points_of(rates, n)[:, :2]
            if ways is explicit:
                speed, slowing = np.hypot(*slip.T), -np.sum(rate * ways, axis=1)
                slow, horizon = slides & (speed < h * grip), np.full(n, h)
                horizon[slowing > 0.0] = np.minimum(h, (speed / np.maximum(slowing, 1e-300))[slowing > 0.0])
            if not slow.any():
                break
            slip_ahead = slip + 0.5 * horizon[:, None] * (rate + grip[:, None] * ways)
            new = np.where(slow[:, None], _along(slip_ahead, before), ways)
            done = np.abs(new - ways).max() < 1e-12
            ways = new
            if done:
                break
        return ModeForces(self.start + self.response @ l, l, rates, ways, int(rank) == len(rows))

    def wrong(self, modes: Modes, forces: ModeForces, slack: float = _SURE) -> tuple[np.ndarray, np.ndarray]:
        """Return which touching contacts and stops pull, and which sticking contacts violate the friction cone.

        Forces that are not unique may violate the friction cone by ``slack`` times the largest force.
        """
        n, l, kinds = len(self.points), forces.l, modes.kinds[self.which]
        slack = (_EXACT if forces.unique else slack) * float(np.abs(l).max(initial=0.0))
        three = points_of(l, n)
        pulls = np.concatenate([three[:, 2], l[3 * n :]]) < -slack
        return pulls, (kinds[:n] == STICKS) & (np.hypot(*three[:, :2].T) > self.mu * three[:, 2] + slack)

    def _astray(self, modes: Modes, forces: ModeForces) -> bool:
        """Return whether an opening contact closes again, or whether a contact begins to slide in a wrong direction."""
        n, kinds = len(self.points), modes.kinds[self.which]
        rates, lowest = points_of(forces.rates, n), -_EXACT * float(np.abs(self.b).max(initial=0.0))
        opening = np.concatenate([rates[:, 2], forces.rates[3 * n :]])
        begins = (kinds[:n] == SLIDES) & (np.hypot(*self.slip.T) <= REST)
        along = np.sum(rates[:, :2] * forces.ways, axis=1) - _LESS * np.hypot(*rates[:, :2].T)
        return bool((opening[kinds == OPEN] < lowest).any() or (along[begins] < lowest).any())

    def chosen(self, solver: Impulses, modes: Modes, h: float) -> tuple[Modes, bool]:
        """Find modes with the solver; also return whether their forces and accelerations satisfy the contact laws.

        Sliding contacts keep their direction. Slow sliding and sticking are distinguished by the forces, because the
        solver's velocities are too inaccurate. The method raises ``NotSolved`` if the solver finds no solution.
        """
        n, largest = len(self.points), float(np.abs(self.b).max(initial=0.0)) or 1.0
        slip = self.slip
        moving = np.hypot(*slip.T) > REST
        g = self.b / largest
        points_of(g, n)[moving, :2] += _FAST * _along(slip[moving], modes.ways[self.points][moving])
        l = largest * solver.solve(self.G, g, self.mu, modes.forces[self.rows] / largest)
        rates = self.b + self.G @ l
        three, directions = points_of(rates, n), np.where(moving[:, None], slip, -points_of(l, n)[:, :2])
        begins = ~moving & (np.hypot(*three[:, :2].T) > _SEEN[0] * largest)
        if begins.any():  # the direction can be undetermined if several points carry forces, or if rates are small
            weaker_friction = solver.solve(self.G, g, _LESS * self.mu, l / largest)
            directions[begins] = points_of(g + self.G @ weaker_friction, n)[begins, :2]
        for threshold in _SEEN:
            new = deepcopy(modes)
            opens = np.concatenate([three[:, 2], rates[3 * n :]]) > threshold * largest
            slides = moving | (np.hypot(*three[:, :2].T) > threshold * largest)
            new.kinds[self.which] = np.where(opens, OPEN, STICKS)
            new.kinds[self.points[slides & ~opens[:n]]] = SLIDES
            new.ways[self.points] = _along(directions, directions)
            new.forces[:] = 0.0
            new.forces[self.rows] = l
            forces = self.forces(new, h)
            if not any(x.any() for x in self.wrong(new, forces, 10.0 * _SURE)) and not self._astray(new, forces):
                return new, True
        return new, False

    def resolved(self, solver: Impulses, modes: Modes, h: float) -> Modes:
        """Find modes that satisfy the laws; correct violations of the given modes first, then use the solver."""
        modes, n = deepcopy(modes), len(self.points)
        for _ in range(len(self.which) + 1):
            forces = self.forces(modes, h)
            pulls, slips = self.wrong(modes, forces)
            astray = self._astray(modes, forces)
            if not astray and not pulls.any() and not slips.any():
                return modes
            if astray or not forces.unique:
                break
            if pulls.any():  # open pulling contacts first, because they affect the friction of other contacts
                modes.kinds[self.which[pulls]] = OPEN
            else:
                modes.kinds[self.points[slips]] = SLIDES
                directions = -points_of(forces.l, n)[slips, :2]
                modes.ways[self.points[slips]] = _along(directions, directions)
        return self.chosen(solver, modes, h)[0]


def after_impact(held: ContactState, solver: Impulses, modes: Modes) -> tuple[Modes, ModeForces]:
    """Compute the modes and velocities after an impact from the laws for impulses; may raise ``NotSolved``."""
    n, largest = len(held.points), float(np.abs(held.b).max(initial=0.0)) or 1.0
    l = largest * solver.solve(held.G, held.b / largest, held.mu)
    end, small = held.b + held.G @ l, _SURE * max(1.0, largest)
    opens = np.concatenate([points_of(end, n)[:, 2], end[3 * n :]]) > small
    new, slip = replace(deepcopy(modes), forces=np.zeros_like(modes.forces)), points_of(end, n)[:, :2]
    new.kinds[held.which] = np.where(opens, OPEN, STICKS)
    new.kinds[held.points[(np.hypot(*slip.T) > small) & ~opens[:n]]] = SLIDES
    new.forces[held.rows] = l
    for _ in range(3):  # refine the solver's result, because its sliding directions are inaccurate
        held.u = end
        new.ways[held.points] = _along(slip, slip)  # an impact may reverse a sliding direction
        solution = held.forces(new, 0.0)
        end, slip = solution.rates, points_of(solution.rates, n)[:, :2]
    new.forces[:] = 0.0
    return new, solution


def points_of(x: np.ndarray, n: int) -> np.ndarray:
    """Return the entries of x that belong to the contacts, shape (n, 3)."""
    return x[: 3 * n].reshape(n, 3)


def _along(x: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Normalize the rows of x, shape (n, 2); rows that are zero or have reversed keep the direction in ``before``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = x / np.hypot(*x.T)[:, None]
    same_side = np.sum(x * before, axis=1) > 0.0
    new = ~before.any(axis=1) & np.isfinite(unit).all(axis=1)
    return np.where((same_side | new)[:, None], unit, before)


def per_row(normal: np.ndarray, n: int, tangents: np.ndarray, indices: bool = True) -> np.ndarray:
    """Expand masks from contacts to rows: ``normal`` for normal rows and stops, ``tangents`` for tangential rows."""
    mask = np.concatenate([np.zeros(3 * n, dtype=bool), normal[n:]])
    three = points_of(mask, n)
    three[:, 2], three[:, :2] = normal[:n], tangents[:n, None]
    return np.flatnonzero(mask) if indices else mask


def _bias(world: World, on: Coordinates, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute dJ/dt v of all rows, the accelerations at constant v; for balls, J refers to the moving lowest point."""
    forwardKinematics(on.model, on.data, q, v, np.zeros_like(v))
    points, tree, n = world.points, on.data.tree, len(world.points)
    bias = np.zeros(3 * n + len(world.stops))
    for j in np.unique(points.joints).tolist():
        on_joint, V, A = points.joints == j, tree.v[j], tree.a[j]
        axes = world.axes @ tree.oMi[j].rotation
        spin, turn = pin.skew(V.angular), pin.skew(A.angular)
        low = points.places[on_joint] - points.radii[on_joint, None] * axes[2]
        a = A.linear + spin @ V.linear + low @ turn.T + points.places[on_joint] @ (spin @ spin).T
        points_of(bias, n)[on_joint] = a @ axes.T
    if len(world.stops):
        g = _bridge.matrix_and_bias(on.model, on.data, q, v)[1]
        bias[3 * n :] = world.stops.sides * g[world.stops.columns]
    return bias
