"""Compiled simulation of many rows."""

import numpy as np

from ..compiler import entry_points as kernels
from ..compiler.choice import code_of, functions_of
from ..kernels.tables import plan as at
from ..model import with_loops
from ..model.configuration.manifold import manifold
from ..simulation._coordinates import LIMIT
from ..simulation._forces import Table
from ..simulation._methods import METHODS
from ..simulation._plan import Workspace, plan_of
from ..simulation._recorder import coupling_residuals
from ..simulation._settings import Settings
from ._marks import OPEN, SINGULAR
from ._program import Each, Program
from ._sharing import Run
from ._tables import Batch

NUMBERS = 2**20
"""Maximum number of sample values that are buffered."""
_STEPS, _ALL_STEPS = 1000, 20000
"""Maximum number of steps of one row, and of all rows together, in one kernel call."""
_OFF = 1e-6
"""Allowed residual of couplings and unit norms in the initial state, as in ``pc.simulate``."""


class Runs:
    """Simulation of all rows. Each row is simulated to its end, or to the first step that only Python can compute."""

    def __init__(self, batch: Batch, settings: Settings, *, of_end: bool) -> None:
        self.batch, self.settings, self.of_end = batch, settings, of_end
        model, s = batch.model, settings
        self._q, self._v, *torques = batch.tables
        self._torque = Each(torques[0], (torques[0].shape[1] // max(1, model.nv), model.nv)) if torques else None
        self._plan, self._ratios = plan_of(model)
        self._table = Table() if s.passive is None else s.passive.table(model)
        self._method = METHODS[s.method]
        self._lengths = np.array([s.dt, s.step(s.steps - 1)])
        bounds = [LIMIT * max(1, c.dependents) for c in model.tables.conditions]
        self._limits = np.array(bounds) ** 2 if s.switch else np.full(len(bounds), np.inf)
        closed = bool(model.closures)
        self._functions = functions_of(model)
        for kernel in (kernels.simulate, kernels.rows):
            kernel.address()
        Workspace(model, self._functions)
        self._steps = min(s.steps, _STEPS)
        width = 4 + model.nq + 3 * model.nv + (2 * model.tree.nv if closed else 0)
        self._samples = (0 if of_end else -(-self._steps // s.record) + 1), width
        capacity = NUMBERS // max(1, self._samples[0] * width)
        batch.status[self._suspicious()] = OPEN
        self._together = max(1, min(capacity, _ALL_STEPS // self._steps))

    def _suspicious(self) -> np.ndarray:
        """Return a mask of the rows whose initial state violates couplings or unit norms."""
        q, shape = self._q, manifold(self.batch.model)
        with np.errstate(all="ignore"):
            violated = ~(coupling_residuals(self.batch.model, q) <= _OFF)
            for _, first, last in shape.units:
                violated |= ~(np.abs(np.linalg.norm(q[:, first:last], axis=1) - 1.0) <= _OFF)
        return violated

    def begin(self) -> Run:
        """Return a function that simulates rows in one thread; rows that stop early get a non-zero status."""
        workspace = Workspace(self.batch.model, self._functions)

        def run(first: int, last: int) -> None:
            for n in range(first, last, self._together):
                self._run(workspace, n, min(n + self._together, last))

        return run

    def _run(self, workspace: Workspace, first: int, last: int) -> None:
        model, s, count = self.batch.model, self.settings, last - first
        nq, nv, status = model.nq, model.nv, self.batch.status[first:last]
        states = np.concatenate([self._q[first:last], self._v[first:last]], axis=1)
        clocks = np.zeros((count, 9), dtype=np.int64)
        clocks[:, [at.STEPS, at.RECORD]] = s.steps, 2**62 if self.of_end else s.record
        clocks[:, at.CORRECTED], clocks[:, at.DUE] = self._method.corrected, not self.of_end
        samples = np.empty((count, *self._samples))
        torque = np.zeros((1, nv)) if self._torque is None else Each(self._torque.table[first:last], self._torque.shape)
        program, table = Program(status), self._table
        rows = Each(np.stack([table.rows] * count), table.rows.shape)
        q, v = Each(self._q[first:last], (nq,)), Each(self._v[first:last], (nv,))
        if model.closures:
            starts = Program(status)
            # ``openness`` reads the placements of all bodies: aba computes them, the coupling kernel only some.
            aba = code_of(self._functions, kernels.of("aba", with_loops(model)))
            starts.call(aba, SINGULAR, workspace.pointer, q, v, np.zeros(nv), np.zeros(nv))
            starts.call(code_of(self._functions, kernels.openness), OPEN, workspace.tables.openness, q)
            starts.ready()(0, count)
        program.call(
            kernels.simulate, SINGULAR, workspace.pointer, workspace.calls, self._plan, table.terms, table.factors,
            rows, Each(clocks, (9,)), self._ratios, self._lengths, self._limits, workspace.coupling, workspace.energies,
            np.zeros(1), Each(states, (nq + nv,)), torque, np.zeros((1, 1)), self._method.positions,
            self._method.velocities, np.zeros((5 + 3 * len(self._method.positions), nq)), Each(samples, self._samples),
        )  # fmt: skip
        run, (q_out, v_out) = program.ready(), self.batch.out
        for begin in range(0, s.steps, self._steps):
            end = min(s.steps, begin + self._steps)
            clocks[:, at.END] = end
            run(0, count)
            if not self.of_end:
                first_sample, last_sample = -(-begin // s.record), -(-end // s.record)
                recorded = samples[:, : last_sample - first_sample, 4:]
                q_out[first:last, first_sample:last_sample] = recorded[..., :nq]
                v_out[first:last, first_sample:last_sample] = recorded[..., nq : nq + nv]
        ends = (slice(first, last),) if self.of_end else (slice(first, last), -1)
        q_out[ends], v_out[ends] = states[:, :nq], states[:, nq:]
        status[clocks[:, at.STEP] < s.steps] = OPEN
