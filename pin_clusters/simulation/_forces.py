"""What acts by itself during steps: springs, dampers, friction, losses of gears; in Python, and as kernels' tables."""

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..algorithms.dynamics.losses import Losses, numbers_of_motors, spins_of_carriers
from ..algorithms.dynamics.minverse import computeMinverse
from ..errors import ModelError, PinClustersError
from ..kernels.tables import layout as at_joints
from ..kernels.tables import passive as at
from ..model import FRICTION_SPEED, ClusterData, ClusterModel, PassiveForces, once, primitives_of


class Table(NamedTuple):
    """As in ``kernels/tables/passive.py``; without forces by itself."""

    terms: np.ndarray = np.zeros((at.FIRST, at.WIDTH + 1), dtype=np.int64)
    factors: np.ndarray = np.zeros(at.FIRST)
    rows: np.ndarray = np.zeros((0, at.BLOCK))

    @property
    def loads(self) -> np.flatiter:
        """Loads of gears in the last step, if they are lagged."""
        return self.rows[self.terms[0, at.LINES] :, at.REST : at.REST + at.LANES].flat


_MOST_TURNS, _SETTLED = 100, 1e-13
_LEAST_SHARE = 0.01
_ZERO = 1e-14
"""Smaller parts of what a motor gives are rounding."""


class Forces:
    """Passive forces in steps of one length.

    Dry friction and losses turn their sign smoothly, within the speed that they would themselves take away in a step,
    where that is more than ``FRICTION_SPEED``: explicit steps would otherwise jump to and fro about zero. The masses
    are those of the reference pose.

    ``stages`` are those of the method. On a ground, and with stops (0), gears carry what contacts push, which is known
    at the end of a step alone: their loads are those of the last step.

    Attributes:
        gears: Which motors of the model have gears with losses.
        loads: Of these gears in the last step, if they are lagged, [N m].
        compiled: Whether kernels know all of it.
    """

    def __init__(self, model: ClusterModel, forces: PassiveForces, dt: float, rtol: float, stages: int) -> None:
        self._forces, self._rtol, self._stages, self._lagged = forces, rtol, stages, not stages
        lines, G = forces.lines, model.tables.topology.G
        self._drivers, self._numbers = numbers_of_motors(model)
        inertia, viscous, coulomb, *factors = self._numbers
        self.gears = np.flatnonzero(np.any(factors, axis=0))
        self.loads = np.zeros(len(self.gears))
        rubbing = np.flatnonzero(viscous + coulomb)  # whose friction is in the last lines
        self._lines = np.full(len(inertia), -1)
        self._lines[rubbing] = len(lines.friction) - len(rubbing) + np.arange(len(rubbing))
        self._torques = np.linalg.pinv((self._drivers @ G).T) if len(self.gears) else self._drivers[:, :0]
        fixed = not len(self.gears) or not self._drivers[:, _varying(model)].any()
        self._carriers = _Carriers.of(model, self.gears)
        self.compiled = forces.lines_only and fixed and self._carriers is not None
        dry = np.flatnonzero(lines.friction)
        self._speeds = np.full(len(lines.friction), FRICTION_SPEED)
        self._reach, self._share = np.zeros(len(inertia)), np.ones(len(inertia))
        if len(dry) or len(self.gears):
            rows = np.concatenate([lines.to_rate[dry], self._drivers[self.gears]]) @ G
            with suppress(PinClustersError):  # no masses: aba will say so
                response = rows @ _inverse(model) @ rows.T
                spun, _ = spins_of_carriers(model, model.q_reference, np.zeros(len(G)), np.zeros(len(G)))
                whole = (self._drivers + spun)[self.gears] @ G @ _inverse(model)
                reach, own = dt * np.abs(response).sum(axis=1), np.sum(whole * rows[len(dry) :], axis=1)
                self._speeds[dry] = np.maximum(FRICTION_SPEED, reach[: len(dry)] * lines.friction[dry])
                self._reach[self.gears] = reach[len(dry) :]
                self._share[self.gears] = np.maximum(1.0 - inertia[self.gears] * own, _LEAST_SHARE)
        self._of_motors = np.full(len(inertia), FRICTION_SPEED)
        self._of_motors[rubbing] = self._speeds[self._lines[rubbing]]

    def torque(self, q: np.ndarray, v_tree: np.ndarray) -> np.ndarray:
        """Return the torque of all but gears on every joint of the tree, shape (tree.nv,), [N m] or [N]."""
        return self._forces.torque(q, v_tree, self._speeds)

    def lost(
        self,
        model: ClusterModel,
        data: ClusterData,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        accelerate: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Return what gears take off the torques of the independent joints, of which motors give tau; shape (nv,).

        ``accelerate`` returns the acceleration with one more torque, if no gear lost anything.

        Raises:
            ModelError: A gear locks.
        """
        law = Losses(model, data, q, v, self._of_motors)
        left = law.motor_torque(tau) - law.friction
        load = np.zeros(len(left))
        if self._lagged:
            load[self.gears] = self.loads
            loss, _ = self._loss(law.speeds, load)
        else:
            a, one = accelerate(np.zeros(len(v))), np.eye(len(left))
            response = law.whole @ np.array([accelerate(row) - a for row in law.rows]).T
            less = one - law.inertia[:, None] * response  # of loads, by losses
            free, loss = law.load(left, model, a), np.zeros(len(left))
            locks = np.diag(less) * law.factors.min(axis=0) <= -1.0
            for turn in range(2 * _MOST_TURNS):
                if turn == _MOST_TURNS:  # a gear that locks loses about what stops its rotor within the step
                    loss = np.where(locks, law.speeds / np.maximum(self._reach, 1e-300), 0.0)
                right, slope = self._loss(law.speeds, free - less @ loss)
                if np.abs(right - loss).max() <= _SETTLED * np.abs([left, free, loss]).max():
                    break
                loss = loss + np.linalg.solve(one + slope[:, None] * less, right - loss)
            else:
                raise ModelError(
                    "no losses of gears obey their law in this state: one locks (its joint cannot drive it: "
                    "back_efficiency) with too much inertia behind it. State what is elastic there, as a pc.Spring."
                )
        self._last = law, left - loss
        return np.asarray(loss @ law.rows)

    def _loss(self, w: np.ndarray, load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return losses of gears at speeds of the rotors and under loads, and by how much they change with these."""
        c = np.where(load * w > 0.0, *self._numbers[3:])
        own = self._reach * c * np.abs(load)
        x = w / np.maximum(FRICTION_SPEED, own)
        turn = np.tanh(x)
        steep = turn - np.where(own > FRICTION_SPEED, x * (1.0 - turn**2), 0.0)
        return c * turn * np.abs(load), c * np.where(load > 0.0, steep, -steep)

    def keep(self, model: ClusterModel, a: np.ndarray) -> None:
        """Remember the loads of a step with a mean acceleration, for the next one."""
        if len(self.gears):
            law, left = self._last
            self.loads = law.load(left, model, a)[self.gears]

    def table(self, model: ClusterModel) -> Table:
        """Return the table for a choice of independent joints."""
        lines, varying, G = self._forces.lines, _varying(model), model.tables.topology.G
        own = np.setdiff1d(np.arange(len(lines.friction)), self._lines[self.gears])  # others are of gears
        carriers = self._carriers or _Carriers()
        lined, n = len(own), len(self.gears)
        m = lined + len(carriers.links)  # links have lanes behind the lines, for their rates
        first, lane = -(-m // at.LANES), np.concatenate([np.arange(m), np.arange(n)]) % at.LANES
        block = np.concatenate([np.arange(m) // at.LANES, first + np.arange(n) // at.LANES])
        turning = np.eye(len(G))[[link.iv for link in carriers.links]].reshape(-1, len(G))
        rates = np.concatenate([lines.to_rate[own], turning, self._drivers[self.gears]])
        of_tree = np.any(rates[:, varying], axis=1, keepdims=True)
        lists = [
            (0, lines.to_length[own], lines.iq),
            (m, self._torques[self.gears], np.arange(model.nv)),
            (0, np.where(of_tree, 0.0, rates @ G), np.arange(model.nv)),
            (0, np.where(of_tree, rates, 0.0), np.arange(len(G))),
        ]
        terms, ends = [(first, self._lagged, self._stages, at.LANES), (0,) * 4, (0,) * 4], list[int]()
        factors = [self._rtol, 0.0, 0.0]
        for begin, matrix, index in lists:
            for row, k in np.argwhere(np.abs(matrix) > _ZERO).tolist():
                terms.append((int(block[begin + row]), int(lane[begin + row]), int(index[k]), 0))
                factors.append(float(matrix[row, k]))
            ends.append(len(terms))
        terms[1] = ends[0], ends[1], ends[2], ends[3]
        place = [(int(b), int(k)) for b, k in zip(block, lane, strict=True)]
        for i, link in enumerate(carriers.links, lined):
            parent = place[i if link.parent is None else lined + link.parent]
            terms += [(*place[i], link.iq, link.kind), (*parent, link.axis, 0)]
        terms += [(*place[m + gear], *place[lined + link]) for gear, link, _ in carriers.carried]
        terms[2] = ends[3] + 2 * len(carriers.links), len(terms), len(terms), 0
        turns = [link.turn.ravel() for link in carriers.links] + [axis for *_, axis in carriers.carried]
        factors += [0.0] * (len(terms) - len(factors)) + np.concatenate([np.zeros(0), *turns]).tolist()
        springs = lines.low, lines.high, *lines.stiffness, *lines.damping, lines.friction, 1.0 / self._speeds
        inertia, viscous, coulomb, *factors_of_loss = self._numbers
        no, endless = np.zeros_like(inertia), np.full_like(inertia, np.inf)
        of_gears = (
            -endless, endless, no, no, no, viscous, no, no, coulomb, 1.0 / self._of_motors,
            inertia, self._share, *factors_of_loss, self._reach,
        )  # fmt: skip
        fields = np.zeros((first - (-n // at.LANES), at.BLOCK // at.LANES, at.LANES))
        for rows, numbers, chosen in ((slice(lined), springs, own), (slice(m, None), of_gears, self.gears)):
            for i, x in enumerate(numbers, at.LOW // at.LANES):
                fields[block[rows], i, lane[rows]] = x[chosen]
        fields[first:, at.LEAST // at.LANES] = FRICTION_SPEED  # of lanes without gears, too
        fields[first:, at.BEGUN // at.LANES] = np.nan
        fields[first:, at.REST // at.LANES :] = 0.0 if self._lagged else np.nan
        return Table(np.array(terms, dtype=np.int64), np.array(factors), fields.reshape(-1, at.BLOCK))


class _Link(NamedTuple):
    """A turning axis between the universe and a carrier; see ``kernels/tables/passive.py``."""

    iv: int
    iq: int
    kind: int
    parent: int | None
    axis: int
    turn: np.ndarray


class _Carriers(NamedTuple):
    """The axes that turn carriers of gears, each behind its parent, and gear, link and axis of each rotor there."""

    links: tuple[_Link, ...] = ()
    carried: tuple[tuple[int, int, np.ndarray], ...] = ()

    @classmethod
    def of(cls, model: ClusterModel, gears: np.ndarray) -> "_Carriers | None":
        """Find those of gears; None if a ball joint that is not on the universe is among them."""
        tree, links, found, known = model.own_tree, list[_Link](), list[tuple[int, int, np.ndarray]](), dict[int, int]()
        for k, r in ((k, model.motors[i]) for k, i in enumerate(gears)):
            last, R = None, np.eye(3)  # from the frame of the last link to the present one
            for j in list(tree.supports[r.carrier_id])[1:]:
                for p in primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]):
                    R = p.placement.rotation.T @ R
                    if p.kind == at_joints.PRISMATIC:
                        continue
                    if p.kind in (at_joints.FREEFLYER, at_joints.SPHERICAL):
                        if last is not None:
                            return None
                        axes = [(p.iv + p.nv - 3 + i, 0, at.AXIS if i else at.FIXED, i) for i in range(3)]
                    else:
                        more, kind = (2, at.CIRCLE) if p.kind == at_joints.PLANAR else (0, at.ANGLE)
                        kind = at.CIRCLE if p.kind == at_joints.CONTINUOUS else kind
                        axes = [(p.iv + more, p.iq + more, at.FIXED if last is None else kind, 2)]
                    for iv, iq, kind, axis in axes:
                        if iv not in known:
                            turn = np.eye(3) if kind == at.AXIS else p.align.T @ R
                            links.append(_Link(iv, iq, kind, last, axis, turn))
                            known[iv] = len(links) - 1
                        last = known[iv]
                    R = p.align
            if last is not None:
                found.append((k, last, R.T @ r.axis))
        return cls(tuple(links), tuple(found))


_inverses: dict[int, np.ndarray] = {}


def _inverse(model: ClusterModel) -> np.ndarray:
    """Return M^-1 at the reference pose; it is kept."""
    key = id(model.tables.params)
    if key not in _inverses:
        _inverses[key] = computeMinverse(model, model.createData(), model.q_reference).copy()
        weakref.finalize(model.tables.params, _inverses.pop, key, None)
    return _inverses[key]


@once
def _varying(model: ClusterModel) -> np.ndarray:
    """Return which velocities of the tree depend on the independent ones by ratios that vary."""
    topology, found = model.tables.topology, np.zeros(model.own_tree.nv, dtype=bool)
    found[[iv for loop in topology.analyses for iv in loop.dependents]] = True
    joints = model.own_tree.joints
    for row in topology.substituted:
        found[joints[row.dependent].idx_v] |= any(found[joints[m].idx_v] for m, _ in row.terms)
    return found
