"""Passive forces of simulation steps (springs, dampers, friction, gear losses), in Python and as kernel tables."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..algorithms.dynamics.losses import Losses, numbers_of_motors, spins_of_carriers
from ..algorithms.dynamics.minverse import computeMinverse
from ..algorithms.dynamics.motor import varying_rates
from ..compiler.tracing.step_forces import Gears, Lines
from ..errors import ModelError, NotAvailableError, PinClustersError
from ..kernels.tables import layout as at_joints
from ..kernels.tables import passive as at
from ..model import FRICTION_SPEED, ClusterData, ClusterModel, PassiveForces, once_per, primitives_of


class Table(NamedTuple):
    """Kernel tables of the passive forces, see ``kernels/tables/passive.py``; the default tables contain no forces."""

    terms: np.ndarray = np.zeros((at.FIRST, at.WIDTH + 1), dtype=np.int64)
    factors: np.ndarray = np.zeros(at.FIRST)
    rows: np.ndarray = np.zeros((0, at.BLOCK))

    @property
    def loads(self) -> np.flatiter:
        """Gear loads of the previous step, [N m], if the losses use lagged loads."""
        return self.rows[self.terms[0, at.LINES] :, at.REST : at.REST + at.LANES].flat


_MOST_ITERATIONS, _CONVERGED = 100, 1e-13
_LEAST_SHARE = 0.01
_ZERO = 1e-14
"""Coefficients below this magnitude are rounding errors, which the tables omit."""


class Forces:
    """Passive forces for time steps of fixed length.

    Dry friction and losses change their sign gradually within a range of speeds around zero; otherwise, explicit steps
    would oscillate about zero speed. The width of this range is ``FRICTION_SPEED``, or the speed change that the
    friction causes in one step if this change is larger. The speed change is computed with the mass matrix at the
    reference pose.

    ``stages`` is the number of stages of the Runge-Kutta method, or 0 in simulations with contacts, stops or torque
    limits. In these simulations, gears may transmit contact forces, which are known only at the end of a step. The gear
    losses are then computed from the loads of the previous step (lagged loads).

    Attributes:
        gears: Indices of the motors whose gears have losses.
        loads: Loads of these gears in the previous step, [N m]; used only if the losses use lagged loads.
        compiled: Whether kernels can compute all of these forces.
    """

    def __init__(self, model: ClusterModel, forces: PassiveForces, dt: float, rtol: float, stages: int) -> None:
        self._forces, self._rtol, self._stages, self._lagged = forces, rtol, stages, not stages
        lines, G = forces.lines, model.tables.topology.G
        self._drivers, self._numbers = numbers_of_motors(model)
        inertia, viscous, coulomb, *factors = self._numbers
        self.gears = np.flatnonzero(np.any(factors, axis=0))
        self.loads = np.zeros(len(self.gears))
        rubbing = np.flatnonzero(viscous + coulomb)  # the last entries of ``lines`` are the friction of these motors
        self._lines = np.full(len(inertia), -1)
        self._lines[rubbing] = len(lines.friction) - len(rubbing) + np.arange(len(rubbing))
        self._torques = np.linalg.pinv((self._drivers @ G).T) if len(self.gears) else self._drivers[:, :0]
        self._fixed = not len(self.gears) or not self._drivers[:, varying_rates(model)].any()
        self._carriers = _Carriers.of(model, self.gears)
        self.compiled = forces.lines_only and self._fixed and self._carriers is not None
        dry = np.flatnonzero(lines.friction)
        self._speeds = np.full(len(lines.friction), FRICTION_SPEED)
        self._reach, self._share = np.zeros(len(inertia)), np.ones(len(inertia))
        if len(dry) or len(self.gears):
            rows = np.concatenate([lines.to_rate[dry], self._drivers[self.gears]]) @ G
            with suppress(PinClustersError):  # if the mass matrix is singular, aba raises the error
                response = rows @ _inverse(model) @ rows.T
                spun, _ = spins_of_carriers(model, model.q_reference, np.zeros(len(G)), np.zeros(len(G)))
                effect = (self._drivers + spun)[self.gears] @ G @ _inverse(model)
                reach, rotor_response = dt * np.abs(response).sum(axis=1), np.sum(effect * rows[len(dry) :], axis=1)
                self._speeds[dry] = np.maximum(FRICTION_SPEED, reach[: len(dry)] * lines.friction[dry])
                self._reach[self.gears] = reach[len(dry) :]
                self._share[self.gears] = np.maximum(1.0 - inertia[self.gears] * rotor_response, _LEAST_SHARE)
        self._of_motors = np.full(len(inertia), FRICTION_SPEED)
        self._of_motors[rubbing] = self._speeds[self._lines[rubbing]]

    def torque(self, q: np.ndarray, v_tree: np.ndarray) -> np.ndarray:
        """Compute the passive torques on every tree joint, without gear losses, shape (tree.nv,), [N m] or [N]."""
        return self._forces.torque(q, v_tree, self._speeds)

    def traced(self, model: ClusterModel) -> tuple[Lines, Gears | None]:
        """Return springs, dampers, friction and gear losses for a traced step.

        Raises:
            NotAvailableError: The model has springs at ball joints or between points, gravity compensation, or a gear
                with losses whose ratio changes with the configuration.
        """
        if not (self._forces.lines_only and self._fixed):
            raise NotAvailableError(
                f"model {model.name!r}: a traced step supports springs, dampers and friction along joint coordinates, "
                "and losses of gears with a constant ratio, but not springs at ball joints or between points, gravity "
                "compensation, or losses of other gears. Pass passive=False, or use pc.simulate."
            )
        lines, to_length = self._forces.lines, np.zeros((len(self._speeds), model.nq))
        to_length[:, lines.iq] = lines.to_length
        numbers = lines.low, lines.high, *lines.stiffness, *lines.damping, lines.friction, self._speeds
        springs, gears = Lines(to_length, lines.to_rate, np.column_stack(numbers)), self.gears
        if not len(gears):
            return springs, None
        motors = [model.motors[k] for k in gears]
        of_gears = np.column_stack([*self._numbers[:, gears], self._reach[gears], self._of_motors[gears]])
        return springs, Gears(
            self._drivers[gears],
            self._torques[gears],
            tuple(motor.carrier_id for motor in motors),
            np.array([motor.axis for motor in motors]),
            of_gears,
        )

    def lost(
        self,
        model: ClusterModel,
        data: ClusterData,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        accelerate: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Compute the torques that the gear losses subtract from the independent torques, shape (nv,).

        ``tau`` contains the motor torques. ``accelerate(x)`` returns the acceleration without losses for the torques
        ``tau`` plus ``x``. If the equations of the loss model have no solution, the method raises ``ModelError``.
        """
        law = Losses(model, data, q, v, self._of_motors)
        net_torque = law.motor_torque(tau) - law.friction
        load = np.zeros(len(net_torque))
        if self._lagged:
            load[self.gears] = self.loads
            loss, _ = self._loss(law.speeds, load)
        else:
            a, identity = accelerate(np.zeros(len(v))), np.eye(len(net_torque))
            response = law.whole @ np.array([accelerate(row) - a for row in law.rows]).T
            relief = identity - law.inertia[:, None] * response  # decrease of load i per unit of loss j
            free, loss = law.load(net_torque, model, a), np.zeros(len(net_torque))
            locks = np.diag(relief) * law.factors.min(axis=0) <= -1.0
            for iteration in range(2 * _MOST_ITERATIONS):
                # Restart with a better guess: a locking gear loses about the torque that stops its rotor in one step.
                if iteration == _MOST_ITERATIONS:
                    loss = np.where(locks, law.speeds / np.maximum(self._reach, 1e-300), 0.0)
                right, slope = self._loss(law.speeds, free - relief @ loss)
                if np.abs(right - loss).max() <= _CONVERGED * np.abs([net_torque, free, loss]).max():
                    break
                loss = loss + np.linalg.solve(identity + slope[:, None] * relief, right - loss)
            else:
                raise ModelError(
                    "the equations of the gear losses have no solution: a joint cannot drive its gear "
                    "(back_efficiency), and the inertia behind the gear is too large. Model the elasticity of this "
                    "drive as a pc.Spring."
                )
        self._last = law, net_torque - loss
        return np.asarray(loss @ law.rows)

    def _loss(self, w: np.ndarray, load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the gear losses at rotor speeds ``w``, and their derivatives with respect to the loads."""
        c = np.where(load * w > 0.0, *self._numbers[3:])
        speed_change = self._reach * c * np.abs(load)
        x = w / np.maximum(FRICTION_SPEED, speed_change)
        turn = np.tanh(x)
        steep = turn - np.where(speed_change > FRICTION_SPEED, x * (1.0 - turn**2), 0.0)
        return c * turn * np.abs(load), c * np.where(load > 0.0, steep, -steep)

    def keep(self, model: ClusterModel, a: np.ndarray) -> None:
        """Store the gear loads of a step with mean acceleration ``a``; the next step uses them as its lagged loads."""
        if len(self.gears):
            law, net_torque = self._last
            self.loads = law.load(net_torque, model, a)[self.gears]

    def table(self, model: ClusterModel) -> Table:
        lines, varying, G = self._forces.lines, varying_rates(model), model.tables.topology.G
        # The friction of motors whose gears have losses is in ``of_gears`` instead.
        line_rows = np.setdiff1d(np.arange(len(lines.friction)), self._lines[self.gears])
        carriers = self._carriers or _Carriers()
        line_count, n = len(line_rows), len(self.gears)
        m = line_count + len(carriers.links)  # one row per line, then one row per carrier link
        first, lane = -(-m // at.LANES), np.concatenate([np.arange(m), np.arange(n)]) % at.LANES
        block = np.concatenate([np.arange(m) // at.LANES, first + np.arange(n) // at.LANES])
        turning = np.eye(len(G))[[link.iv for link in carriers.links]].reshape(-1, len(G))
        rates = np.concatenate([lines.to_rate[line_rows], turning, self._drivers[self.gears]])
        of_tree = np.any(rates[:, varying], axis=1, keepdims=True)
        lists = [
            (0, lines.to_length[line_rows], lines.iq),
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
        slots = [(int(b), int(k)) for b, k in zip(block, lane, strict=True)]
        for i, link in enumerate(carriers.links, line_count):
            parent = slots[i if link.parent is None else line_count + link.parent]
            terms += [(*slots[i], link.iq, link.kind), (*parent, link.axis, 0)]
        terms += [(*slots[m + gear], *slots[line_count + link]) for gear, link, _ in carriers.carried]
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
        for rows, numbers, columns in ((slice(line_count), springs, line_rows), (slice(m, None), of_gears, self.gears)):
            for i, x in enumerate(numbers, at.LOW // at.LANES):
                fields[block[rows], i, lane[rows]] = x[columns]
        # SIMD lanes without gears also need a positive value, because kernels divide by this value.
        fields[first:, at.LEAST // at.LANES] = FRICTION_SPEED
        fields[first:, at.BEGUN // at.LANES] = np.nan
        fields[first:, at.REST // at.LANES :] = 0.0 if self._lagged else np.nan
        return Table(np.array(terms, dtype=np.int64), np.array(factors), fields.reshape(-1, at.BLOCK))


class _Link(NamedTuple):
    """A joint between the universe and a gear carrier, see ``kernels/tables/passive.py``."""

    iv: int
    iq: int
    kind: int
    parent: int | None
    axis: int
    turn: np.ndarray


class _Carriers(NamedTuple):
    """Joints that rotate gear carriers, parents first, and (gear, last link, rotor axis) for each carried rotor."""

    links: tuple[_Link, ...] = ()
    carried: tuple[tuple[int, int, np.ndarray], ...] = ()

    @classmethod
    def of(cls, model: ClusterModel, gears: np.ndarray) -> "_Carriers | None":
        """Find the gear carriers; return None if the chain to a carrier has a ball joint after a rotating joint."""
        tree, links, carried, link_index = (
            model.own_tree,
            list[_Link](),
            list[tuple[int, int, np.ndarray]](),
            dict[int, int](),
        )
        for k, r in ((k, model.motors[i]) for k, i in enumerate(gears)):
            last, R = None, np.eye(3)  # R: rotation from the frame of the last link to the current one
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
                        offset, kind = (2, at.CIRCLE) if p.kind == at_joints.PLANAR else (0, at.ANGLE)
                        kind = at.CIRCLE if p.kind == at_joints.CONTINUOUS else kind
                        axes = [(p.iv + offset, p.iq + offset, at.FIXED if last is None else kind, 2)]
                    for iv, iq, kind, axis in axes:
                        if iv not in link_index:
                            turn = np.eye(3) if kind == at.AXIS else p.align.T @ R
                            links.append(_Link(iv, iq, kind, last, axis, turn))
                            link_index[iv] = len(links) - 1
                        last = link_index[iv]
                    R = p.align
            if last is not None:
                carried.append((k, last, R.T @ r.axis))
        return cls(tuple(links), tuple(carried))


@once_per("tables.params")
def _inverse(model: ClusterModel) -> np.ndarray:
    """Return M^-1 at the reference pose."""
    return computeMinverse(model, model.createData(), model.q_reference).copy()
