"""Steps in compiled code: all of them where torques are an array or none; else the increments alone."""

from __future__ import annotations

import numpy as np

from .._kernels import entry_points as kernels
from .._kernels import plan as at
from ..configuration.manifold import manifold
from ..model import ClusterModel, loops_of
from ._coordinates import Coordinates
from ._engine import PythonEngine, State
from ._groups import parts_of
from ._recorder import Recorder
from ._settings import Settings


class _Prepared:
    """What the kernel gets for one choice of independent joints; everything that has an address is kept alive."""

    def __init__(self, on: Coordinates) -> None:
        model, data = on.model, on.data
        shape = manifold(model)
        joints = np.array([(p.kind, p.iq, p.at) for p in parts_of(model)], dtype=np.int64).reshape(-1, 3)
        self.loops = loops = loops_of(model) if model.closures else None
        entries = left = np.zeros(0, dtype=np.int64)
        if loops:
            entries, left = loops.entries, loops.independent_entries
        follower, leader = np.nonzero(shape.map)
        ends = np.searchsorted(follower, np.arange(len(shape.dependents) + 1))
        followers = np.stack([shape.dependents, ends[:-1], ends[1:]], axis=1)
        lists = np.concatenate([shape.leaders[leader], entries, left, on.columns])
        columns = np.zeros((len(lists), 3), dtype=np.int64)
        columns[:, 0] = lists
        sizes = [len(joints), len(followers), len(leader)], [loops is not None, len(entries), len(left)]
        self.plan = np.concatenate([sizes, joints, followers, columns]).astype(np.int64)
        self.ratios = np.concatenate([shape.map[follower, leader], shape.offsets])
        pointers = data._pointers
        self.calls = np.array([
            data._aba.address(), kernels.move.address() if loops else 0, data._energy.address(),
            kernels.coupling.address() if loops else 0, loops.pointer.address if loops else 0,
            pointers["energy"].address, pointers["coupling"].address, on.own,
        ], dtype=np.int64)  # fmt: skip
        self.energies, self.coupling = pointers["energy"].arrays[-1], pointers["coupling"].arrays[-1]


class CompiledMoves(Coordinates):
    """Coordinates whose increments are compiled; what they cannot follow is left to Python, which says why."""

    def __init__(self, model: ClusterModel, given: ClusterModel) -> None:
        super().__init__(model, given)
        self.prepared = _Prepared(self)
        self._spare, self._held = np.zeros((2, model.nq))

    def move(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the configuration after an increment."""
        out, p = np.empty(self.model.nq), self.prepared
        if np.isfinite(x).all() and kernels.moved.call(
            self.data._pointers["ddq"], p.calls, p.plan, p.ratios, q, x, out, self._spare, self._held
        ) == 0:  # fmt: skip
            return out
        return super().move(q, x)


class MixedEngine(PythonEngine):
    """Runs steps in Python, but for increments: torques and dynamics are functions of the user."""

    coordinates = CompiledMoves


class CompiledEngine(MixedEngine):
    """Runs steps in one call; what it cannot do, or must report, is left to Python."""

    batch = 1000

    def __init__(self, settings: Settings, recorder: Recorder) -> None:
        super().__init__(settings, recorder)
        model = settings.model
        self._torque_table = np.zeros((1, model.nv)) if settings.torque is None else settings.torque
        self._lengths = np.array([settings.dt, settings.step(settings.steps - 1)])
        self._clock = np.zeros(8, dtype=np.int64)
        self._room = np.zeros((5 + 3 * len(self.method.positions), model.nq))

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        """Run until step ``end``."""
        assert isinstance(on, CompiledMoves)
        s, clock, method, prepared = self.settings, self._clock, self.method, on.prepared
        limits = on.limits**2 if s.switch else np.full(len(on.limits), np.inf)
        nq, nv, n = s.model.nq, s.model.nv, s.model.tree.nv
        samples = np.empty((self.batch // s.record + 2, 4 + nq + 2 * nv + (2 * n if on.at.size else 0)))
        both = np.concatenate([state.q, state.v])
        clock[:] = state.k, end, s.steps, s.record, method.corrected, 0, self.recorder.wants(state.k), 0
        kernels.simulate.call(
            on.data._pointers["ddq"], prepared.calls, prepared.plan, clock, prepared.ratios, self._lengths, limits,
            prepared.coupling, prepared.energies, both, self._torque_table, method.positions, method.velocities,
            self._room, samples,
        )  # fmt: skip
        self._take(on, samples[: clock[at.SAMPLES]])
        state.k, state.q, state.v = int(clock[at.STEP]), both[:nq].copy(), both[nq:].copy()
        if clock[at.STOPPED]:
            super().advance(on, state, state.k + 1)  # says what is wrong

    def _take(self, on: Coordinates, samples: np.ndarray) -> None:
        """Record samples."""
        s, r, m = self.settings, self.recorder, len(samples)
        nq, nv, n = s.model.nq, s.model.nv, s.model.tree.nv
        to = slice(r.count, r.count + m)
        steps = samples[:, 0].astype(np.int64)
        r.time[to], r.kinetic[to], r.energy[to] = steps * s.dt, samples[:, 1], samples[:, 1] + samples[:, 2]
        r.residual[to] = samples[:, 3]
        r.q[to] = samples[:, 4 : 4 + nq]
        r.tau[to] = self._torque_table[np.minimum(steps, len(self._torque_table) - 1)]
        v, a = samples[:, 4 + nq : 4 + nq + nv], samples[:, 4 + nq + nv : 4 + nq + 2 * nv]
        if on.at.size:
            v_tree, a_tree = samples[:, -2 * n : -n], samples[:, -n:]
        else:
            v_tree, a_tree = v @ s.model.coupling_matrix.T, a
        r.v_tree[to] = v_tree
        r.v[to], r.a[to] = (v, a) if on.own else (v_tree[:, on.columns], a_tree[:, on.columns])
        r.count += m


def engine_for(settings: Settings, recorder: Recorder) -> PythonEngine:
    """Return the fastest engine that can do what is asked."""
    model = settings.model
    known = kernels.JIT and not model._tables.supplies and manifold(model).linear
    if not known or (model.closures and not loops_of(model).compiled):
        return PythonEngine(settings, recorder)
    alone = settings.dynamics is None and not callable(settings.torque)
    return (CompiledEngine if alone else MixedEngine)(settings, recorder)
