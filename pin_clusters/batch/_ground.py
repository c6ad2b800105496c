"""Compiled steps on a ground that all rows of a batch share, so that nothing is allocated for each row."""

from itertools import pairwise

import numpy as np

from ..algorithms._shared.points import Points
from ..compiler import entry_points as kernels
from ..kernels.tables import ground as at
from ..simulation import ContactPoints
from ..simulation._compiled import CompiledMoves
from ..simulation._settings import Settings
from ..simulation.ground.compiled_engine import supported
from ..simulation.ground.compiled_steps import Steps
from ..simulation.ground.solver import NotSolved
from .moves import project

_ROWS = 500
"""Largest number of steps in one call of the kernel."""
_CLOSED = 1e-8
"""Distance of a configuration from its projection, far below the tolerance of ``pc.configuration.check``."""


class GroundSteps:
    """The steps of a simulation with ground, for many initial states one after the other.

    Attributes:
        torque: Torques of the next simulation, shape (1, nv) or (steps, nv), [N m] or [N]; write to this array.
    """

    def __init__(self, settings: Settings, guards: ContactPoints, table: bool) -> None:
        model = settings.model
        self._settings, self._moves = settings, CompiledMoves(model, model)
        self.torque = np.zeros((settings.steps if table else 1, model.nv))
        self._steps = Steps(self._moves, settings, guards, self.torque, _ROWS)
        self._due = [*(k * settings.record for k in range(settings.samples - 1)), settings.steps]
        assert settings.world is not None
        points, normal = settings.world.points, self._steps.normal
        self._data, self._points = model.createData(), Points(model, points.joints.tolist(), columns=False, rates=False)
        self._points.put(points.places, -points.radii[:, None] * normal)
        self._still = np.zeros(model.nv)
        self.height = 0.0 if settings.world.ground is None else settings.world.ground.height

    def closed(self, q: np.ndarray) -> np.ndarray:
        """Return for each row of q whether it certainly satisfies the constraints, shape (N,)."""
        status = np.zeros(len(q), dtype=np.int8)
        with np.errstate(all="ignore"):
            distance = np.abs(project(self._settings.model, q, status=status) - q).max(axis=1)
            return np.asarray((status == 0) & (distance <= _CLOSED * np.maximum(1.0, np.abs(q).max(axis=1))))

    @classmethod
    def of(cls, settings: Settings, table: bool) -> "GroundSteps | None":
        """Return the steps, or None if a simulation needs steps in Python."""
        guards = supported(settings)
        return None if guards is None or not kernels.JIT else cls(settings, guards, table)

    def _is_inside(self, q: np.ndarray) -> bool:
        """Return whether a point is below the ground, a joint is beyond a stop, or this cannot be excluded."""
        world, points = self._settings.world, self._points
        assert world is not None
        if world.shapes is not None or (len(world.stops) and world.stops.gaps(q).min() < 0.0):
            return True
        if not points.joints:
            return False
        points.run(self._settings.model, self._data, q, self._still, points.arguments[3:])
        return bool((points.arguments[5] @ self._steps.normal).min() < self.height)

    def run(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Simulate one row; return all samples of q and v, or None if ``pc.simulate`` must repeat the row.

        The caller must have checked that q satisfies the constraints.

        Raises:
            SimulationError: q is below the ground or beyond a stop.
        """
        s, steps = self._settings, self._steps
        assert s.world is not None
        if self._is_inside(q):
            s.world.begin(s.model, q)
        steps.forget()
        steps.begin(0, q, v)
        samples_q, samples_v = np.empty((s.samples, s.model.nq)), np.empty((s.samples, s.model.nv))
        samples_q[0], samples_v[0] = q, v
        try:
            for i, (begin, end) in enumerate(pairwise(self._due), 1):
                for first in range(begin, end, _ROWS):
                    steps.begin(first, steps.q, steps.v)
                    if steps.run(min(first + _ROWS, end)) != at.DONE:
                        return None
                samples_q[i], samples_v[i] = steps.q, steps.v
        except NotSolved:
            return None
        return samples_q, samples_v
