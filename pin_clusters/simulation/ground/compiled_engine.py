"""Engine that runs compiled steps with contacts between a plane and points or balls."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...compiler import entry_points as kernels
from ...kernels.tables import ground as at
from .._compiled import CompiledMoves, record
from .._coordinates import Coordinates
from .._engine import State
from .._settings import Settings
from .compiled_steps import Steps
from .near import World
from .points import NO_POINTS, ContactPoints
from .python_engine import GroundEngine
from .recording import GroundRecorder
from .solver import NotSolved

_ROWS = 500
"""Number of steps between two calls of ``progress``, and number of samples that the arrays can contain."""
_MOST_POINTS = 128
"""Maximum number of points in compiled steps, because these compute J M^-1 J' of all points, even of distant points."""


class CompiledGroundEngine:
    """Runs steps with ``Steps``; Python repeats steps that fail or that no kernel supports, and raises any error."""

    batch = _ROWS
    coordinates = CompiledMoves

    def __init__(self, settings: Settings, recorder: GroundRecorder, world: World, guards: ContactPoints) -> None:
        self.settings, self.recorder, self._world, self._guards = settings, recorder, world, guards
        torque, nv = settings.torque, settings.model.nv
        self._alone = not callable(torque) and recorder.motors is None
        self._row = torque if self._alone and torque is not None else np.zeros((1, nv))
        self._unmet, self._steps = np.zeros((_ROWS, nv)), dict[Any, Steps]()

    @cached_property
    def _python(self) -> GroundEngine:
        return GroundEngine(self.settings, self.recorder, self._world, compiled=True)

    def start(self, on: Coordinates, state: State) -> np.ndarray:
        return self.recorder.end(on, state)

    def acceleration(
        self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return self._python.acceleration(on, k, t, q, v)

    def advance(self, on: Any, state: State, end: int) -> None:
        if on not in self._steps:
            self._steps[on] = Steps(on, self.settings, self._guards, self._row, _ROWS)
        steps, acting = self._steps[on], self.settings.passive
        table = on.table(acting)
        while state.k < end:
            first, code = state.k, at.FAILED
            steps.begin(first, state.q, state.v)
            if acting is not None:
                table.loads[: len(acting.loads)] = acting.loads
            try:
                code = steps.run(end) if self._alone else self._ask_and_run(on, steps, end)
            except NotSolved:
                pass
            finally:  # record the samples even if the user's function raises an exception
                count = steps.step - first
                samples = steps.samples[:count, : steps.width]
                record(self.recorder, on, samples[-first % self.settings.record :: self.settings.record])
                self.recorder.take(first, steps, count, self._unmet[:count])
                state.k, state.q, state.v = first + count, steps.q.copy(), steps.v.copy()
                if acting is not None:
                    acting.loads = table.loads[: len(acting.loads)]
            if code != at.DONE:
                self._python.advance(on, state, state.k + 1)

    def _ask_and_run(self, on: CompiledMoves, steps: Steps, end: int) -> int:
        """Run single steps, because the user's function or the torque limits determine the torques of each step."""
        times, motors, q, v = self.settings.time, self.recorder.motors, steps.q, steps.v
        while (k := steps.step) < end:
            self._row[0] = demand = self._python.torque(on, k, times(k), q, v)
            if motors is not None:
                self._row[0] = motors.give(q, on.velocity(q, v), demand)
                self._unmet[k - steps.first] = demand - self._row[0]
            if code := steps.run(k + 1):
                return code
        return at.DONE


def ground_engine_for(
    settings: Settings, recorder: Any, world: World, compiled: bool
) -> GroundEngine | CompiledGroundEngine:
    if settings.method == "events":
        from .events import EventEngine

        return EventEngine(settings, recorder, world, compiled=compiled)
    guards = supported(settings)
    if compiled and guards is not None:
        return CompiledGroundEngine(settings, recorder, world, guards)
    return GroundEngine(settings, recorder, world, compiled=compiled)


def supported(settings: Settings) -> ContactPoints | None:
    """Return the guard centres of the shapes if compiled steps support the contacts and forces, else None."""
    world = settings.world
    if world is None or settings.method == "events" or kernels.BOUNDSCHECK:
        return None
    in_kernels = settings.passive is None or settings.passive.compiled
    few_points = len(world.points) <= _MOST_POINTS
    guards = NO_POINTS if world.shapes is None else world.shapes.guards
    return guards if in_kernels and few_points else None
