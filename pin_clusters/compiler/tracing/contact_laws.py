"""Contact laws of a traced time step, and the sweeps that solve them."""

from dataclasses import dataclass, field

import numpy as np

from ...algorithms._shared.points import Points
from ...kernels.tables import tree_layout as tl
from .. import operations
from ._sources import source
from .expressions import Number, select, square_root
from .functions import of_kernel
from .program import objects
from .run import Run

_ROUND = 1e-30  # [m^2/s^2]; keeps the square root of a tangential velocity or impulse differentiable at zero
_SHIFTS = 4
"""Number of sweeps that compute the displacement of points that would be below the ground."""
_PERIOD, _LONGEST = 3, 20.0
"""Number of sweeps between extrapolations, and largest factor of an extrapolation."""
_ON_CONE = 1.0 - 1e-5
"""Share of the friction limit (squared) above which a point slides; a float32 on the cone is within 1e-6 of it."""
_LEAST_GAIN = 0.5
"""Smallest change of a sliding point's normal velocity by its impulse, relative to the normal impulse alone."""


@dataclass(frozen=True)
class ContactSet:
    """Points that can touch the ground, and joints with position limits.

    Attributes:
        sweeps: Number of Gauss-Seidel sweeps.
        axes: Two tangents and the normal of the ground as rows, shape (3, 3).
        height: Signed distance of the ground from the world origin along the normal, [m].
        joints: Ids of the joints that carry the points, shape (m,).
        places: Positions of the points in the frames of these joints, shape (m, 3), [m].
        radii: Radii of the balls around the points, shape (m,), [m].
        stops: For each joint with position limits: index in q, index in the tree velocity, lower limit and upper limit
            (infinite without a limit), shape (stops, 4).
    """

    sweeps: int = 10
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    height: float = 0.0
    joints: tuple[int, ...] = ()
    places: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    radii: np.ndarray = field(default_factory=lambda: np.zeros(0))
    stops: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))

    @property
    def rows(self) -> int:
        """Number of rows of the contact laws: three per point, one per joint with stops."""
        return 3 * len(self.joints) + len(self.stops)


class Contacts:
    """Points on the ground and stops of joints in the middle of the step, with J M^-1 J' and M^-1 J'.

    The rows are two tangents and the normal for each point, then one row per joint with stops. Only the nearer stop of
    a joint can act. A positive impulse of a stop increases the joint coordinate.
    """

    def __init__(self, run: Run, of: ContactSet, h: float, free: np.ndarray) -> None:
        self._phases, self._of, self._h, m = source("steps.phases"), of, h, len(of.joints)
        self.gram, self.response, self._free, self.gaps = _points(run, of, free)
        self._strikes = [self._phases.strikes(h, self._free[3 * i + 2], self.gaps[i]) for i in range(m)]
        # A contact opens along its side: 1 for points and lower limits, -1 for upper limits.
        self._sides: list[Number] = [1.0] * m
        self._limits: list[Number] = []
        if len(of.stops):
            self._add_stops(run, free)
        self._normals = [*range(2, 3 * m, 3), *range(3 * m, of.rows)]
        self._right = self._free.copy()
        for i, row in enumerate(self._normals):
            strike = self._strikes[i] if i < m else 0.0
            closing = self._phases.closing_speed(h, strike, self.gaps[i])
            self._right[row] = self._right[row] + self._sides[i] * closing
        self._inverse = [1.0 / self.gram[row, row] for row in self._normals]

    def _add_stops(self, run: Run, free: np.ndarray) -> None:
        for q, lower, upper in zip(run["q"][self._of.stops[:, 0].astype(int)], *self._of.stops[:, 2:].T, strict=True):
            self._sides.append(select(q - lower, upper - q, 1.0, -1.0) if np.isfinite(upper) else 1.0)
            self._limits.append(select(0.0, self._sides[-1], lower, upper) if np.isfinite(lower) else upper)
        rows = run.G[self._of.stops[:, 1].astype(int)]
        (inverse,) = of_kernel(run.at(run["q"]), operations.MINVERSE, run["q"])
        response, cross = inverse @ rows.T, rows @ self.response
        self.gaps = np.concatenate([self.gaps, self._stop_gaps(run["q"])])
        self.gram = np.block([[self.gram, cross.T], [cross, rows @ response]])
        self.response = np.concatenate([self.response, response], axis=1)
        self._free = np.concatenate([self._free, rows @ free])

    def _stop_gaps(self, q: np.ndarray) -> np.ndarray:
        positions = q[self._of.stops[:, 0].astype(int)]
        sides = self._sides[len(self._strikes) :]
        return objects([s * (x - limit) for s, x, limit in zip(sides, positions, self._limits, strict=True)])

    def in_ground_axes(self, impulses: np.ndarray) -> np.ndarray:
        return self._turned(impulses, self._of.axes)

    def in_world_axes(self, impulses: np.ndarray) -> np.ndarray:
        return self._turned(impulses, self._of.axes.T)

    def _turned(self, impulses: np.ndarray, axes: np.ndarray) -> np.ndarray:
        """Express the impulses at points in other axes; the rows of ``axes`` are the new axes in the old frame."""
        turned = impulses.copy()
        for i in range(0, 3 * len(self._of.joints), 3):
            turned[i : i + 3] = axes @ impulses[i : i + 3]
        return turned

    def _outward(self, i: int, x: Number) -> Number:
        """Return the impulse x of contact i, or 0 if the contact would pull."""
        return self._sides[i] * self._phases.open_by(self._sides[i] * x)

    def _speed(self, row: int, impulses: np.ndarray) -> Number:
        return _sum(self._right[row], self.gram[row], impulses)

    def impulses(self, guess: np.ndarray, mu: Number) -> np.ndarray:
        """Solve the contact laws by sweeps over all contacts, with an extrapolation after every third sweep."""
        impulses, slide, step = guess.copy(), self._step_lengths(), objects([0.0] * len(guess))
        for k in range(self._of.sweeps):
            before, last_step = impulses.copy(), step
            for i, row in enumerate(self._normals):
                if i < len(slide):
                    self._solve_point(impulses, row, self._inverse[i], slide[i], mu)
                else:
                    speed = self._speed(row, impulses)
                    impulses[row] = self._outward(i, impulses[row] - speed * self._inverse[i])
            step = impulses - before
            if k % _PERIOD == _PERIOD - 1 and k < self._of.sweeps - 1:
                impulses = self._extrapolated(impulses, step, last_step)
        return impulses

    def _solve_point(self, impulses: np.ndarray, row: int, inverse: Number, slide: Number, mu: Number) -> None:
        """Update the impulse of a point, first along the normal, then along the tangents.

        If the point slides, friction changes in proportion to the normal impulse, so that the first update scales the
        whole impulse. With a change of the normal impulse alone, points whose friction lifts or presses them oscillate
        between two impulses.
        """
        x, y, normal = (impulses[row - a] for a in (2, 1, 0))
        speed, most = self._speed(row, impulses), mu * normal
        own = self.gram[row, row] * normal
        gain = own + self.gram[row, row - 2] * x + self.gram[row, row - 1] * y
        slides = select(_LEAST_GAIN * own, gain, select(_ON_CONE * most * most, x * x + y * y, 1.0, 0.0), 0.0)
        factor = self._phases.open_by(1.0 - speed / select(0.5, slides, gain, 1.0))
        plain = self._phases.open_by(normal - speed * inverse)
        normal, factor = select(0.5, slides, factor * normal, plain), select(0.5, slides, factor, 1.0)
        impulses[row - 2 : row + 1] = x * factor, y * factor, normal
        x = impulses[row - 2] - self._speed(row - 2, impulses) * slide
        y = impulses[row - 1] - self._speed(row - 1, impulses) * slide
        square, most = x * x + y * y + _ROUND, mu * normal
        scale = select(most * most, square, most / square_root(square), 1.0)
        impulses[row - 2 : row] = x * scale, y * scale

    def _extrapolated(self, impulses: np.ndarray, step: np.ndarray, last_step: np.ndarray) -> np.ndarray:
        """Return the limit of the sweeps if each step is a constant multiple of the last step (Anderson, depth one)."""
        along, square = 0.0, _ROUND
        for k, (now, last) in enumerate(zip(step, last_step, strict=True)):
            change = self.gram[k, k] * (now - last)  # the weights give all terms the unit of an energy
            along, square = along - change * now, square + change * (now - last)
        factor = along / square
        factor = self._phases.open_by(select(factor, _LONGEST, factor, _LONGEST))
        impulses = impulses + factor * step
        for i, row in enumerate(self._normals):
            impulses[row] = self._outward(i, impulses[row])
        return impulses

    def _step_lengths(self) -> list[Number]:
        """Return, for each point, the inverse of the largest eigenvalue of the tangential block of J M^-1 J'."""
        lengths = []
        for i in range(0, 3 * len(self._of.joints), 3):
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

    def gaps_at_end(self, impulses: np.ndarray, delay: Number) -> np.ndarray:
        """Predict the gaps at the end of the step from the gaps in the middle and their rates."""
        correction, h, gaps = self._phases.correction, self._h, self.gaps.copy()
        for i, row in enumerate(self._normals):
            free = self._free[row]
            change = correction(h, delay, free, _sum(free, self.gram[row], impulses))
            gaps[i] = gaps[i] + self._sides[i] * change
        return gaps

    def gaps_at(self, run: Run) -> np.ndarray:
        """Return the gaps of the points and of the stops at the configuration of ``run``, [m] or [rad]."""
        of, gaps, first = self._of, list[Number](), run.model.tables.tree.sections.oMi
        placements = run.tree(tl.MOTION) if of.joints else run.zeros(0)
        for joint, place, radius in zip(of.joints, of.places, of.radii, strict=True):
            columns = placements[first + 12 * joint :][:12].reshape(4, 3)  # columns of R, then the position
            gaps.append(of.axes[2] @ (columns[3] + place @ columns[:3]) - (radius + of.height))
        return objects([*gaps, *self._stop_gaps(run["q"])])

    def out_of_ground(self, gaps: np.ndarray) -> np.ndarray:
        """Return the smallest increment that removes negative gaps, to first order; the velocity does not change."""
        push = objects([0.0] * len(self._normals))
        for _ in range(_SHIFTS):
            for i, row in enumerate(self._normals):
                gap = _sum(self._sides[i] * gaps[i], self.gram[row, self._normals], push)
                push[i] = self._outward(i, push[i] - gap * self._inverse[i])
        return self.response[:, self._normals] @ push

    def violation(self, impulses: np.ndarray, mu: Number) -> Number:
        """Return the largest distance between an impulse and its projection, scaled to [m/s] or [rad/s]."""
        phases, worst = self._phases, 0.0
        for i, row in enumerate(self._normals):
            speed = self._speed(row, impulses)
            if i >= len(self._strikes):
                scaled, speed = (self._sides[i] * x for x in (impulses[row] * self.gram[row, row], speed))
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


def _points(run: Run, of: ContactSet, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return J M^-1 J' and M^-1 J' in axes of the ground, the velocities J ``free``, and the gaps of the points."""
    m, nv, normal = len(of.joints), run.model.nv, of.axes[2]
    gram, response = run.zeros(3 * m, 3 * m), run.zeros(nv, 3 * m)
    positions, velocities = run.zeros(m, 3), run.zeros(3 * m)
    if m:
        points = Points(run.model, list(of.joints))
        points.put(of.places, -np.outer(of.radii, normal))
        index, numbers, panel = points.arguments[:3]
        tables, results = (index.copy(), numbers.astype(object), run.zeros(*panel.shape)), (gram, response)
        run.at(run["q"]).call(
            operations.POINTS.passes, run.rest, run["q"], free, *tables, *results, positions, velocities
        )
    axes = np.kron(np.eye(m), of.axes)
    return axes @ gram @ axes.T, response @ axes.T, axes @ velocities, positions @ normal - of.height
