"""Run compiled time steps; if Python computes the accelerations, only the increments of configurations are compiled."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from .._support.arrays import velocity
from ..compiler import entry_points as kernels
from ..compiler.call_layer import native
from ..compiler.choice import code_of, functions_of
from ..kernels.tables import plan as at
from ..model import ClusterModel, with_loops
from ._coordinates import Coordinates
from ._engine import PythonEngine, State
from ._forces import Forces, Table
from ._held_contacts import Contacts
from ._plan import Workspace, make_plan, plan_of
from ._recorder import Recorder
from ._settings import Settings


class CompiledMoves(Coordinates):
    """``Coordinates`` whose method ``move`` uses a compiled kernel.

    If the kernel cannot solve the loops after an increment, Python repeats the increment and raises the error. The
    object owns every array whose address is stored in the call tables.
    """

    def __init__(self, model: ClusterModel, given: ClusterModel, contacts: Contacts | None = None) -> None:
        super().__init__(model, given, contacts)
        self.plan, self.ratios = plan_of(model) if self.own else make_plan(model, self.columns)
        self.functions = functions_of(model)
        self.space = Workspace(model, self.functions, own=self.own)
        self._q_work, self._q_loops = np.zeros((2, model.nq))
        self._table: Table | None = None

    def table(self, forces: Forces | None) -> Table:
        if self._table is None:
            self._table = Table() if forces is None else forces.table(self.model)
        return self._table

    def move(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        out, space = np.empty(self.model.nq), self.space
        arguments = self.plan, self.ratios, q, x, out, self._q_work, self._q_loops
        if np.isfinite(x).all() and kernels.moved.call(space.pointer, space.calls, *arguments) == 0:
            return out
        return super().move(q, x)

    def _coupling(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.model.closures:
            code = code_of(self.functions, kernels.coupling).call(self.space.tables.coupling, q, v)
            if code != 0:
                return super()._coupling(q, v)  # the Python version raises the error
        n, nv = self.model.own_tree.nv, self.model.nv
        G, g = np.split(self.space.coupling, [n * nv])
        return G.reshape(n, nv), g

    def _energies(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        kernel = kernels.of("energy", with_loops(self.model))
        code_of(self.functions, kernel, "computeMechanicalEnergy").call(self.space.tables.energy, q, v)
        kinetic, potential, _ = self.space.energies.tolist()
        return kinetic, kinetic + potential


class MixedEngine(PythonEngine):
    """Runs steps in Python, with compiled increments of q, if kernels cannot compute the accelerations."""

    coordinates = CompiledMoves


class CompiledEngine(MixedEngine):
    """Runs many steps in one compiled call; if a step fails, Python repeats this step and raises the error."""

    recorder: Recorder

    def __init__(self, settings: Settings, recorder: Recorder) -> None:
        super().__init__(settings, recorder)
        model = settings.model
        self._torque_callback: Any = None
        # Torques that the user's function returned in a failed step; Python uses them when it repeats the step.
        self._callback_results = deque[Callable[..., Any]]()
        if callable(settings.torque):
            arguments = np.zeros(1 + model.nq + 2 * model.nv)
            self._torque_callback = native.Question(settings.torque, self._convert, arguments, model.nq, model.nv)
            self._torque_table = np.zeros((len(self.method.times), model.nv))
        else:
            self.batch = 1000
            self._torque_table = np.zeros((1, model.nv)) if settings.torque is None else settings.torque
        self._lengths = np.array([settings.dt, settings.step(settings.steps - 1)])
        self._clock = np.zeros(9, dtype=np.int64)
        self._stages = np.zeros((5 + 3 * len(self.method.positions), model.nq))

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        assert isinstance(on, CompiledMoves)
        s, clock, method = self.settings, self._clock, self.method
        limits = on.limits**2 if s.switch else np.full(len(on.limits), np.inf)
        nq, nv, n = s.model.nq, s.model.nv, s.model.tree.nv
        samples = np.empty((self.batch // s.record + 2, 4 + nq + 3 * nv + (2 * n if on.at.size else 0)))
        q_and_v = np.concatenate([state.q, state.v])
        clock[:] = state.k, end, s.steps, s.record, method.corrected, 0, self.recorder.wants(state.k), 0, 0
        arguments, times = np.zeros(1), np.zeros((1, 1))
        if self._torque_callback:
            arguments, times = self._torque_callback.asked, self._times(state.k, end)
            on.space.calls[[at.ASK, at.ASK_AT]] = native.ASK, id(self._torque_callback)
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is detected after the step
            kernels.simulate.call(
                on.space.pointer, on.space.calls, on.plan, *on.table(s.passive), clock, on.ratios, self._lengths,
                limits, on.space.coupling, on.space.energies, arguments, q_and_v, self._torque_table, times,
                method.positions, method.velocities, self._stages, samples,
            )  # fmt: skip
        record(self.recorder, on, samples[: clock[at.SAMPLES]])
        state.k, state.q, state.v = int(clock[at.STEP]), q_and_v[:nq].copy(), q_and_v[nq:].copy()
        if clock[at.STOPPED]:
            self._store_callback_results(int(clock[at.ANSWERS]))
            try:
                super().advance(on, state, state.k + 1)  # repeat the step in Python, which may raise the error
            finally:
                self._callback_results.clear()

    def _times(self, begin: int, end: int) -> np.ndarray:
        s, k = self.settings, np.arange(begin, end)
        h = np.where(k < s.steps - 1, *self._lengths)
        return k[:, None] * s.dt + np.array(self.method.times) * h[:, None]

    def _convert(self, given: Any) -> np.ndarray | None:
        """Convert the return value of a torque function; return None if invalid, so that ``_call`` raises the error."""
        model = self.settings.model
        with suppress(Exception):
            return velocity(model, "tau", [given] if np.ndim(given) == 0 and model.nv == 1 else given)
        return None

    def _store_callback_results(self, count: int) -> None:
        if self._torque_callback:
            for tau in self._torque_table[:count].copy():
                self._callback_results.append(lambda *_, tau=tau: tau)
            if hasattr(self._torque_callback, "error"):
                self._callback_results.append(_raising(self._torque_callback.error))
                del self._torque_callback.error
            elif hasattr(self._torque_callback, "given"):
                self._callback_results.append(lambda *_, given=self._torque_callback.given: given)
                del self._torque_callback.given

    def torque(self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self._callback_results:
            return self._call("tau", t, self._callback_results.popleft())
        return super().torque(on, k, t, q, v)


def _raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def record(r: Recorder, on: CompiledMoves, samples: np.ndarray) -> None:
    """Record the samples that the kernel ``keep_sample`` has written."""
    s, m = r.settings, len(samples)
    nq, nv, n = s.model.nq, s.model.nv, s.model.tree.nv
    to = slice(r.count, r.count + m)
    steps = samples[:, 0].astype(np.int64)
    r.time[to], r.kinetic[to], r.energy[to] = steps * s.dt, samples[:, 1], samples[:, 1] + samples[:, 2]
    r.residual[to] = samples[:, 3]
    r.q[to] = samples[:, 4 : 4 + nq]
    v, a, r.tau[to] = (samples[:, 4 + nq + i * nv : 4 + nq + (i + 1) * nv] for i in range(3))
    if on.at.size:
        v_tree, a_tree = samples[:, -2 * n : -n], samples[:, -n:]
    else:
        v_tree, a_tree = v @ s.model.coupling_matrix.T, a
    r.v_tree[to] = v_tree
    r.v[to], r.a[to] = (v, a) if on.own else (v_tree[:, on.columns], a_tree[:, on.columns])
    r.count += m
