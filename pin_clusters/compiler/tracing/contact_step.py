"""One time step with ground contact as a traced function: equations (1) to (6) of ``docs/ground.md``.

The program contains every contact point and every stop. A contact that stays open gets no impulse, because its gap
divided by the time step is added to its velocity. The program therefore needs no branches and no active set, and it can
run for many robots side by side. A fixed number of sweeps of projected Gauss-Seidel solves the contact laws; the output
``violation`` is their residual.
"""

from dataclasses import dataclass, field

import numpy as np

from ...algorithms._shared.points import Points
from ...kernels.tables import tree_layout as tl
from ...model import ClusterModel, alike, parameter_columns
from .. import operations
from ._sources import source
from .expressions import Number, select, square_root
from .functions import of_kernel
from .inertial import inertial_map
from .moves import integrate
from .program import objects
from .run import Run

_ROUND = 1e-30  # [m^2/s^2]; keeps the square root of a tangential velocity or impulse differentiable at zero
_SHIFTS = 4
"""Number of sweeps that compute the displacement of points that would be below the ground."""


@dataclass(frozen=True)
class Lines:
    """Springs, dampers and dry friction along sums of joint coordinates; one row per spring.

    Attributes:
        to_length: Matrix from q to the lengths of the springs, shape (n, nq).
        to_rate: Matrix from the tree velocity to the rates of the springs, shape (n, tree.nv).
        numbers: For each spring: bounds of its rest length, three coefficients of stiffness, three of damping, dry
            friction, and the speed below which friction changes its sign smoothly, shape (n, 10), as in ``pc.Spring``.
    """

    to_length: np.ndarray
    to_rate: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class ContactStep:
    """Constants of a traced time step.

    Attributes:
        dt: Time step h, [s].
        sweeps: Number of Gauss-Seidel sweeps.
        axes: Two tangents and the normal of the ground as rows, shape (3, 3).
        height: Signed distance of the ground from the world origin along the normal, [m].
        joints: Ids of the joints that carry the points, shape (m,).
        places: Positions of the points in the frames of these joints, shape (m, 3), [m].
        radii: Radii of the balls around the points, shape (m,), [m].
        stops: For each stop: index in q, side (1: lower limit, -1: upper limit), index of the independent velocity,
            side times limit, and derivative of the distance with respect to the velocity, shape (stops, 5).
        driven: Index in q and index in v of each joint with a PD drive, shape (nu, 2).
        target_bounds: Smallest and largest target of these joints, shape (nu, 2), [rad] or [m].
        joint_limits: Largest torque of each independent joint, inf without a limit, shape (nv,).
        motors: Matrix B from motor torques to independent torques, for motors with a torque limit, shape (nv, motors).
        motor_limits: Largest torques of these motors, [N m], shape (motors,).
        lines: Springs, dampers and dry friction, or None.
        newton: Number of Newton steps that close loops after each half of the step.
    """

    dt: float
    sweeps: int
    axes: np.ndarray
    height: float
    joints: tuple[int, ...]
    places: np.ndarray
    radii: np.ndarray
    stops: np.ndarray = field(default_factory=lambda: np.zeros((0, 5)))
    driven: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    target_bounds: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    joint_limits: np.ndarray = field(default_factory=lambda: np.zeros(0))
    motors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    motor_limits: np.ndarray = field(default_factory=lambda: np.zeros(0))
    lines: Lines | None = None
    newton: int = 2

    @property
    def rows(self) -> int:
        """Number of rows of the contact laws: three per point, one per stop."""
        return 3 * len(self.joints) + len(self.stops)


def contact_step(run: Run, step: ContactStep) -> dict[str, np.ndarray]:
    """Return the state after a step, the torques, and the quantities that describe the contacts.

    ``run`` needs the inputs q, v, tau, target, kp, kd, strength, friction and last; a constant input is an array of
    floats. If joints are driven, its model must be the result of ``drive_model``.
    """
    phases, h, q, v = source("steps.phases"), step.dt, run["q"], run["v"]
    middle = _moved(run, q, phases.half_way(h, v))
    demand, added = _drive(run, step, q, v)
    run = _at(_with_armature(run, step, added), middle["q"])
    if "wrench" in run.inputs:
        run.inputs["fext"] = _on_base(run)
    free = v
    for time in (0.5 * h, h):
        free = phases.after(time, v, _accelerate(run, free, demand, step.lines))
    contacts = _Contacts(run, step, free)
    last = _turned(step, run["last"], step.axes)
    impulses = contacts.impulses(last, run["friction"][0])
    after, delay = free + contacts.response @ impulses, contacts.delay(impulses)
    increment = phases.correction(h, delay, free, after) + contacts.out_of_ground(impulses, delay)
    end = _moved(run, run["q"], increment)
    outputs = {
        "q_next": end["q"],
        "v_next": after,
        "tau_applied": demand - added * ((after - v) / h),
        "impulses": _turned(step, impulses, step.axes.T),
        "gaps": contacts.gaps,
        "violation": objects([contacts.violation(impulses, run["friction"][0])]),
    }
    if "residual" in end:
        outputs["residual"] = end["residual"]
    return outputs


def drive_model(model: ClusterModel, driven: np.ndarray) -> ClusterModel:
    """Return the model with 1 kg m^2 or 1 kg of armature added to each driven joint, so that its tables contain it."""
    tree = model.own_tree.copy()
    armature = np.array(tree.armature)
    armature[model.idx_v_independent[driven[:, 1]]] += 1.0
    tree.armature = armature
    return alike(model, tree=tree) if len(driven) else model


def _at(run: Run, q: np.ndarray) -> Run:
    """Return a run at another configuration with the same tables."""
    other = Run(run.model, {**run.inputs, "q": q}, steps=run.steps)
    other.params, other.work = run.params, run.work.copy()
    return other


def _moved(run: Run, q: np.ndarray, increment: np.ndarray) -> dict[str, np.ndarray]:
    moving = _at(run, q)
    moving.inputs["v"] = increment
    return integrate(moving)


def _accelerate(run: Run, v: np.ndarray, tau: np.ndarray, lines: Lines | None) -> np.ndarray:
    run = _at(run, run["q"])
    if lines is not None:
        to_rate = lines.to_rate @ run.G
        tau = tau + to_rate.T @ _spring_forces(lines, run["q"], to_rate @ v)
    (a,) = of_kernel(run, operations.ABA, run["q"], v, tau)
    return np.asarray(a)


def _spring_forces(lines: Lines, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    phases, turn, forces = source("steps.phases"), source("steps.passive").turn, []
    for x, w, numbers in zip(lines.to_length @ q, rates, lines.numbers.tolist(), strict=True):
        low, high, k1, k2, k3, d1, d2, d3, friction, slow = numbers
        y, speed = x - phases.higher(low, select(x, high, x, high)), phases.size_of(w)
        force = y * (k1 + y * (k2 + y * k3)) + w * (d1 + speed * (d2 + speed * d3))
        forces.append(-force - friction * turn(w * (1.0 / slow)) if friction else -force)
    return objects(forces)


def _on_base(run: Run) -> np.ndarray:
    """Return external forces in joint frames; ``wrench`` acts on joint 1, in world axes at the origin of its frame."""
    forces, first = run.zeros(6 * run.model.njoints), run.model.tables.tree.sections.oMi + 12
    R = _at(run, run["q"]).tree(tl.MOTION)[first : first + 9].reshape(3, 3)  # rows: axes of the joint
    forces[6:9], forces[9:12] = R @ run["wrench"][:3], R @ run["wrench"][3:]
    return forces


def _turned(step: ContactStep, impulses: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Express the impulses at points in other axes; the rows of ``axes`` are the new axes in the old frame."""
    turned = impulses.copy()
    for i in range(0, 3 * len(step.joints), 3):
        turned[i : i + 3] = axes @ impulses[i : i + 3]
    return turned


def _drive(run: Run, step: ContactStep, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the torque demand, and the inertia that makes the drive implicit, both for each independent velocity.

    A drive is a spring and a damper at the end of the step: tau = kp (target - q - h v_next) - kd v_next. With the
    acceleration a = (v_next - v) / h, it equals kp (target - q - h v) - kd v - (h kd + h^2 kp) a. The last term acts
    like armature, so that the step is stable for all gains. If the torque of a joint or motor is at its limit, the
    joints that it drives get a constant torque and no added inertia.
    """
    demand, added, h = run["tau"].copy(), run.rest, step.dt
    strength = np.full(len(demand), 1.0, dtype=object)
    if len(step.driven):
        iq, iv = step.driven.T.tolist()
        strength[iv] = run["strength"]
        kp, kd = strength[iv] * run["kp"], strength[iv] * run["kd"]
        target = objects([_clamped(x, *b) for x, b in zip(run["target"], step.target_bounds.tolist(), strict=True)])
        demand[iv] = demand[iv] + kp * (target - q[iq] - h * v[iv]) - kd * v[iv]
        added[iv] = h * kd + h * h * kp
    for k in np.flatnonzero(np.isfinite(step.joint_limits)).tolist():
        demand[k] = _limited(demand[k], strength[k] * step.joint_limits[k], added, [k])
    if len(step.motor_limits):
        to_motors, B = np.linalg.pinv(step.motors), step.motors
        torques = to_motors @ demand
        change = objects([0.0] * len(torques))
        for m, limit in enumerate(step.motor_limits.tolist()):
            joints = np.flatnonzero(B[:, m]).tolist()
            share = sum(strength[k] for k in joints) * (1.0 / len(joints))
            change[m] = _limited(torques[m], share * limit, added, joints) - torques[m]
        demand = demand + B @ change
    return demand, added


def _clamped(x: Number, low: float, high: float) -> Number:
    """Return x within its bounds; NaN stays NaN, because comparisons with NaN are false."""
    x = select(x, low, low, x) if np.isfinite(low) else x
    return select(high, x, high, x) if np.isfinite(high) else x


def _limited(x: Number, limit: Number, added: np.ndarray, joints: list[int]) -> Number:
    """Return x within its limit; beyond the limit, set the added inertia of ``joints`` to zero."""
    for k in joints:
        added[k] = select(limit * limit, x * x, 0.0, added[k])
    x = select(x, limit, x, limit)
    return select(-limit, x, x, -limit)


def _with_armature(run: Run, step: ContactStep, added: np.ndarray) -> Run:
    """Return a run in which ``added`` replaces the armature that ``drive_model`` has added."""
    if not len(step.driven):
        return run
    model, numbers = run.model, np.concatenate([run.params.astype(object), run.work])
    terms, columns = inertial_map(model), parameter_columns(model)
    for k in step.driven[:, 1].tolist():
        column = columns.armatures_from + columns.armatures.index(int(model.idx_v_independent[k]))
        for i in np.flatnonzero(terms.of == column).tolist():
            numbers[terms.to[i]] = numbers[terms.to[i]] + terms.coefficients[i] * (added[k] - 1.0)
    changed = _at(run, run["q"])
    changed.params, changed.work = numbers[: run.params.size], numbers[run.params.size :]
    return changed


class _Contacts:
    """Points on the ground and stops of joints in the middle of the step, with J M^-1 J' and M^-1 J'.

    The rows are two tangents and the normal for each point, then one row per stop.
    """

    def __init__(self, run: Run, step: ContactStep, free: np.ndarray) -> None:
        self._phases, self._step, m = source("steps.phases"), step, len(step.joints)
        self.gram, self.response, self._free, self.gaps = _points(run, step, free)
        self._strikes = [self._phases.strikes(step.dt, self._free[3 * i + 2], self.gaps[i]) for i in range(m)]
        if len(step.stops):
            self._add_stops(run, free)
        self._normals = [*range(2, 3 * m, 3), *range(3 * m, step.rows)]
        self._right = self._free.copy()
        for i, row in enumerate(self._normals):
            strike = self._strikes[i] if i < m else 0.0
            self._right[row] = self._right[row] + self._phases.closing_speed(step.dt, strike, self.gaps[i])
        self._inverse = [1.0 / self.gram[row, row] for row in self._normals]

    def _add_stops(self, run: Run, free: np.ndarray) -> None:
        iq, side, iv, bound, rate = self._step.stops.T
        columns = iv.astype(int)
        (inverse,) = of_kernel(_at(run, run["q"]), operations.MINVERSE, run["q"])
        response, cross = inverse[:, columns] * rate, (self.response[columns] * rate[:, None]).T
        self.gaps = np.concatenate([self.gaps, side * run["q"][iq.astype(int)] - bound])
        self.gram = np.block([[self.gram, cross], [cross.T, rate[:, None] * response[columns]]])
        self.response = np.concatenate([self.response, response], axis=1)
        self._free = np.concatenate([self._free, rate * free[columns]])

    def _speed(self, row: int, impulses: np.ndarray) -> Number:
        return _sum(self._right[row], self.gram[row], impulses)

    def impulses(self, guess: np.ndarray, mu: Number) -> np.ndarray:
        """Solve the contact laws by sweeps over all contacts; each contact first gets its normal impulse."""
        impulses, slide = guess.copy(), self._step_lengths()
        for _ in range(self._step.sweeps):
            for i, row in enumerate(self._normals):
                normal = self._phases.open_by(impulses[row] - self._speed(row, impulses) * self._inverse[i])
                impulses[row] = normal
                if i < len(slide):
                    x = impulses[row - 2] - self._speed(row - 2, impulses) * slide[i]
                    y = impulses[row - 1] - self._speed(row - 1, impulses) * slide[i]
                    square, most = x * x + y * y + _ROUND, mu * normal
                    scale = select(most * most, square, most / square_root(square), 1.0)
                    impulses[row - 2], impulses[row - 1] = x * scale, y * scale
        return impulses

    def _step_lengths(self) -> list[Number]:
        """Return, for each point, the inverse of the largest eigenvalue of the tangential block of J M^-1 J'."""
        lengths = []
        for i in range(0, 3 * len(self._step.joints), 3):
            x, y, z = self.gram[i, i], self.gram[i + 1, i + 1], self.gram[i, i + 1]
            d = 0.5 * (x - y)
            lengths.append(1.0 / (0.5 * (x + y) + square_root(d * d + z * z + _ROUND)))
        return lengths

    def delay(self, impulses: np.ndarray) -> Number:
        """Return the time (5) from the middle of the step to the impulses, [s]."""
        way, power = 0.0, 0.0
        for i, strike in enumerate(self._strikes):
            push = strike * self._phases.open_by(impulses[3 * i + 2])
            way = way + push * self._phases.open_by(self.gaps[i])
            power = power - push * self._free[3 * i + 2]
        return self._phases.delay_of(way, power)

    def out_of_ground(self, impulses: np.ndarray, delay: Number) -> np.ndarray:
        """Return the smallest increment that keeps points out of the ground and joints out of their stops.

        The rates of the gaps predict the gaps at the end of the step. The increment does not change the velocity.
        """
        gaps, push = [], objects([0.0] * len(self._normals))
        for i, row in enumerate(self._normals):
            after = _sum(self._free[row], self.gram[row], impulses)
            gaps.append(self.gaps[i] + self._phases.correction(self._step.dt, delay, self._free[row], after))
        for _ in range(_SHIFTS):
            for i, row in enumerate(self._normals):
                gap = _sum(gaps[i], self.gram[row, self._normals], push)
                push[i] = self._phases.open_by(push[i] - gap * self._inverse[i])
        return self.response[:, self._normals] @ push

    def violation(self, impulses: np.ndarray, mu: Number) -> Number:
        """Return the largest distance between an impulse and its projection, scaled to [m/s] or [rad/s]."""
        phases, worst = self._phases, 0.0
        for i, row in enumerate(self._normals):
            speed = self._speed(row, impulses)
            if i >= len(self._strikes):
                scaled = impulses[row] * self.gram[row, row]
                error = phases.size_of(select(scaled, speed, scaled, speed))
            else:
                scale = 3.0 / sum(self.gram[row - a, row - a] for a in range(3))
                x, y, z = (impulses[row - a] / scale for a in (2, 1, 0))
                a, b = self._speed(row - 2, impulses), self._speed(row - 1, impulses)
                error = phases.distance(mu, x, y, z, a, b, speed + mu * square_root(a * a + b * b + _ROUND))
            worst = phases.higher(worst, error) if i else error
        return worst


def _sum(start: Number, factors: np.ndarray, values: np.ndarray) -> Number:
    for factor, value in zip(factors, values, strict=True):
        start = start + factor * value
    return start


def _points(run: Run, step: ContactStep, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return J M^-1 J' and M^-1 J' in axes of the ground, the velocities J ``free``, and the gaps of the points."""
    m, nv, normal = len(step.joints), run.model.nv, step.axes[2]
    gram, response = run.zeros(3 * m, 3 * m), run.zeros(nv, 3 * m)
    positions, velocities = run.zeros(m, 3), run.zeros(3 * m)
    if m:
        points = Points(run.model, list(step.joints))
        points.put(step.places, -np.outer(step.radii, normal))
        index, numbers, panel = points.arguments[:3]
        tables, results = (index.copy(), numbers.astype(object), run.zeros(*panel.shape)), (gram, response)
        _at(run, run["q"]).call(
            operations.POINTS.passes, run.rest, run["q"], free, *tables, *results, positions, velocities
        )
    axes = np.kron(np.eye(m), step.axes)
    return axes @ gram @ axes.T, response @ axes.T, axes @ velocities, positions @ normal - step.height
