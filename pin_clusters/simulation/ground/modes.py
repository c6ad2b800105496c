"""How contacts and stops are between events, the forces and accelerations that follow, and the choice that obeys laws.

A contact is open, slides or sticks; a stop is open or sticks. While that stays, forces l = P x follow from

    R (J (a_free + M^-1 J' P x) + dJ/dt v) = 0

with all rows of what sticks, and the normal one of what slides, whose force leans by mu against its way. Redundant rows
take the forces nearest to what the solver found last.
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
"""[m/s]: what turns round while it slides as slowly stands."""
_STANDS = 1e-13
_SURE, _EXACT = 1e-6, 1e-10
"""Beside the largest force: what is rounding of forces that are not unique, and of others."""
_SEEN = 1e-6, 1e-5, 1e-4, 1e-3
"""Beside the largest acceleration: from where on what the solver says may be one."""
_FAST = 1e6
"""Beside accelerations, the rate at which what moves goes on: it keeps its way."""
_LESS = 0.999
"""Of friction, with which it is plain how something begins to slide; of its acceleration, which is along its way."""
_ROUNDS = 100


@dataclass
class Modes:
    """How contacts, then stops are."""

    kinds: np.ndarray  # OPEN, SLIDES or STICKS of each, shape (contacts + stops,)
    ways: np.ndarray  # where what slides goes, in the contact's tangents, shape (contacts, 2)
    anchors: np.ndarray  # where what sticks is kept, shape (contacts, 3), [m]
    forces: np.ndarray  # near which forces shall be that are not unique, shape (3 contacts + stops,)


class Found(NamedTuple):
    """Forces of modes."""

    a: np.ndarray  # acceleration, shape (nv,)
    l: np.ndarray  # forces on the rows of what touches
    rates: np.ndarray  # how the velocities of these rows change
    ways: np.ndarray  # where what slides goes, with the friction that acts
    unique: bool  # whether the forces are


class Held:
    """A state with what touches there.

    Attributes:
        near: All contacts and stops.
        speeds: Velocities of all rows.
        rows: Which of these rows touch; ``points`` which contacts.
    """

    def __init__(
        self, world: World, on: Coordinates, q: np.ndarray, v: np.ndarray, free: np.ndarray | None, touching: np.ndarray
    ) -> None:
        """Look at the state; without a free acceleration, rates are velocities and forces impulses."""
        self.near = near = world.look(q, np.inf)
        J, n = world.rows(on, q, near), near.contacts
        self.speeds, self.which, self.points = J @ v, np.flatnonzero(touching), np.flatnonzero(touching[:n])
        self.rows = per_row(touching, n, touching)
        self.u, self.start, held = self.speeds[self.rows], v if free is None else free, J[self.rows]
        self.response = computeMinverse(on.model, on.data, q) @ held.T
        self.G, self.b, self.mu = held @ self.response, self.u, near.friction[self.points]
        if free is not None and len(held):
            self.b = held @ free + _bias(world, on, q, v)[self.rows]

    @property
    def slip(self) -> np.ndarray:
        """How contacts that touch move along their tangents, shape (points, 2), [m/s]."""
        return points_of(self.u, len(self.points))[:, :2]

    def renew(self, modes: Modes) -> None:
        """Write the way of what slides now."""
        at = self.points[(modes.kinds[self.points] == SLIDES) & (np.hypot(*self.slip.T) > REST)]
        slip = points_of(self.speeds, self.near.contacts)[at, :2]
        modes.ways[at] = slip / np.hypot(*slip.T)[:, None]

    def forces(self, modes: Modes, h: float) -> Found:
        """Return forces and accelerations.

        What slides so slowly that friction could turn it within a step of length h has the way of half a step later, or
        halfway to rest: the velocity itself would make the equation stiff. No way turns back inside a step.
        """
        n, kinds, last = len(self.points), modes.kinds[self.which], modes.forces[self.rows]
        if not n + len(kinds):
            return Found(self.start, last, last, modes.ways[self.points], True)
        slip, before = self.slip, modes.ways[self.points]
        slides, at = kinds[:n] == SLIDES, np.arange(0, 3 * n, 3)
        rows = np.flatnonzero(per_row(kinds != OPEN, n, kinds == STICKS, False))
        # what stands moves by rounding only, and goes nowhere with that
        explicit = ways = _along(np.where((np.hypot(*slip.T) > _STANDS)[:, None], slip, before), before)
        weights = np.maximum(np.abs(self.G[at[:, None], at]), np.abs(self.G[at[:, None] + 1, at + 1]))
        for _ in range(_ROUNDS):
            P = np.eye(len(self.rows))
            P[at, at + 2], P[at + 1, at + 2] = -(slides * self.mu * ways.T)
            A = (self.G @ P[:, rows])[rows]
            x, _, rank, _ = np.linalg.lstsq(A, -self.b[rows] - A @ last[rows], rcond=2e-14 * len(rows))
            l = P[:, rows] @ (last[rows] + x)
            rates = self.b + self.G @ l
            grip = weights @ (self.mu * np.maximum(l[at + 2], 0.0))
            rate = points_of(rates, n)[:, :2]
            if ways is explicit:
                speed, slowing = np.hypot(*slip.T), -np.sum(rate * ways, axis=1)
                slow, soon = slides & (speed < h * grip), np.full(n, h)
                soon[slowing > 0.0] = np.minimum(h, (speed / np.maximum(slowing, 1e-300))[slowing > 0.0])
            if not slow.any():
                break
            ahead = slip + 0.5 * soon[:, None] * (rate + grip[:, None] * ways)
            new = np.where(slow[:, None], _along(ahead, before), ways)
            done = np.abs(new - ways).max() < 1e-12
            ways = new
            if done:
                break
        return Found(self.start + self.response @ l, l, rates, ways, int(rank) == len(rows))

    def wrong(self, modes: Modes, found: Found, slack: float = _SURE) -> tuple[np.ndarray, np.ndarray]:
        """Return what pulls, of all that touches, and which contacts are beyond their cones though they stick.

        Forces that are not unique may miss their cones by ``slack`` beside the largest.
        """
        n, l, kinds = len(self.points), found.l, modes.kinds[self.which]
        slack = (_EXACT if found.unique else slack) * float(np.abs(l).max(initial=0.0))
        three = points_of(l, n)
        pulls = np.concatenate([three[:, 2], l[3 * n :]]) < -slack
        return pulls, (kinds[:n] == STICKS) & (np.hypot(*three[:, :2].T) > self.mu * three[:, 2] + slack)

    def _astray(self, modes: Modes, found: Found) -> bool:
        """Whether what has let go comes back, or what has begun to slide is pushed another way."""
        n, kinds = len(self.points), modes.kinds[self.which]
        rates, least = points_of(found.rates, n), -_EXACT * float(np.abs(self.b).max(initial=0.0))
        away = np.concatenate([rates[:, 2], found.rates[3 * n :]])
        begins = (kinds[:n] == SLIDES) & (np.hypot(*self.slip.T) <= REST)
        along = np.sum(rates[:, :2] * found.ways, axis=1) - _LESS * np.hypot(*rates[:, :2].T)
        return bool((away[kinds == OPEN] < least).any() or (along[begins] < least).any())

    def chosen(self, solver: Impulses, modes: Modes, h: float) -> tuple[Modes, bool]:
        """Return modes that obey the laws at the level of accelerations, and whether forces of theirs say so too.

        What moves keeps its way. The solver's digits do not tell what slides slowly from what sticks: forces do.

        Raises:
            NotSolved: There are none, or they were not found.
        """
        n, largest = len(self.points), float(np.abs(self.b).max(initial=0.0)) or 1.0
        slip = self.slip
        moving = np.hypot(*slip.T) > REST
        g = self.b / largest
        points_of(g, n)[moving, :2] += _FAST * _along(slip[moving], modes.ways[self.points][moving])
        l = largest * solver.solve(self.G, g, self.mu, modes.forces[self.rows] / largest)
        rates = self.b + self.G @ l
        three, to = points_of(rates, n), np.where(moving[:, None], slip, -points_of(l, n)[:, :2])
        begins = ~moving & (np.hypot(*three[:, :2].T) > _SEEN[0] * largest)
        if begins.any():  # which way: forces of several points need not say so, nor such small rates
            less = solver.solve(self.G, g, _LESS * self.mu, l / largest)
            to[begins] = points_of(g + self.G @ less, n)[begins, :2]
        for seen in _SEEN:
            new = deepcopy(modes)
            goes = np.concatenate([three[:, 2], rates[3 * n :]]) > seen * largest
            slides = moving | (np.hypot(*three[:, :2].T) > seen * largest)
            new.kinds[self.which] = np.where(goes, OPEN, STICKS)
            new.kinds[self.points[slides & ~goes[:n]]] = SLIDES
            new.ways[self.points] = _along(to, to)
            new.forces[:] = 0.0
            new.forces[self.rows] = l
            found = self.forces(new, h)
            if not any(x.any() for x in self.wrong(new, found, 10.0 * _SURE)) and not self._astray(new, found):
                return new, True
        return new, False

    def resolved(self, solver: Impulses, modes: Modes, h: float) -> Modes:
        """Return modes that obey the laws, beginning with these: by what is wrong with them, else by the solver."""
        modes, n = deepcopy(modes), len(self.points)
        for _ in range(len(self.which) + 1):
            found = self.forces(modes, h)
            pulls, slips = self.wrong(modes, found)
            astray = self._astray(modes, found)
            if not astray and not pulls.any() and not slips.any():
                return modes
            if astray or not found.unique:
                break
            if pulls.any():  # first: it takes the others' friction with it
                modes.kinds[self.which[pulls]] = OPEN
            else:
                modes.kinds[self.points[slips]] = SLIDES
                to = -points_of(found.l, n)[slips, :2]
                modes.ways[self.points[slips]] = _along(to, to)
        return self.chosen(solver, modes, h)[0]


def after_impact(held: Held, solver: Impulses, modes: Modes) -> tuple[Modes, Found]:
    """Return modes and velocities after an impact: the same laws, of impulses and velocities.

    Raises:
        NotSolved: No impulses were found.
    """
    n, largest = len(held.points), float(np.abs(held.b).max(initial=0.0)) or 1.0
    l = largest * solver.solve(held.G, held.b / largest, held.mu)
    end, small = held.b + held.G @ l, _SURE * max(1.0, largest)
    goes = np.concatenate([points_of(end, n)[:, 2], end[3 * n :]]) > small
    new, slip = replace(deepcopy(modes), forces=np.zeros_like(modes.forces)), points_of(end, n)[:, :2]
    new.kinds[held.which] = np.where(goes, OPEN, STICKS)
    new.kinds[held.points[(np.hypot(*slip.T) > small) & ~goes[:n]]] = SLIDES
    new.forces[held.rows] = l
    for _ in range(3):  # all digits of what the solver found: its ways are exact to few
        held.u = end
        new.ways[held.points] = _along(slip, slip)  # an impact may turn it round
        found = held.forces(new, 0.0)
        end, slip = found.rates, points_of(found.rates, n)[:, :2]
    new.forces[:] = 0.0
    return new, found


def points_of(x: np.ndarray, n: int) -> np.ndarray:
    """Return the rows of contacts, shape (n, 3)."""
    return x[: 3 * n].reshape(n, 3)


def _along(x: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return unit vectors along x; where that is nothing or turns back, those before, shape (n, 2)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        way = x / np.hypot(*x.T)[:, None]
    use = np.sum(x * before, axis=1) > 0.0
    new = ~before.any(axis=1) & np.isfinite(way).all(axis=1)
    return np.where((use | new)[:, None], way, before)


def per_row(normal: np.ndarray, n: int, tangents: np.ndarray, indices: bool = True) -> np.ndarray:
    """Return which rows are meant: of the normals and stops, and of the tangents of contacts."""
    mask = np.concatenate([np.zeros(3 * n, dtype=bool), normal[n:]])
    three = points_of(mask, n)
    three[:, 2], three[:, :2] = normal[:n], tangents[:n, None]
    return np.flatnonzero(mask) if indices else mask


def _bias(world: World, on: Coordinates, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return dJ/dt v of all rows: accelerations at constant velocity; the lowest point of a ball is not of the ball."""
    forwardKinematics(on.model, on.data, q, v, np.zeros_like(v))
    points, tree, n = world.points, on.data.tree, len(world.points)
    found = np.zeros(3 * n + len(world.stops))
    for j in np.unique(points.joints).tolist():
        at, V, A = points.joints == j, tree.v[j], tree.a[j]
        axes = world.axes @ tree.oMi[j].rotation
        spin, turn = pin.skew(V.angular), pin.skew(A.angular)
        low = points.places[at] - points.radii[at, None] * axes[2]
        a = A.linear + spin @ V.linear + low @ turn.T + points.places[at] @ (spin @ spin).T
        points_of(found, n)[at] = a @ axes.T
    if len(world.stops):
        g = _bridge.matrix_and_bias(on.model, on.data, q, v)[1]
        found[3 * n :] = world.stops.sides * g[world.stops.columns]
    return found
