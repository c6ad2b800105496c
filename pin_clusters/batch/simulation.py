"""Simulations of many robots of one kind, at once."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import ArrayLike, whole_number
from ..compiler import entry_points as kernels
from ..errors import ArgumentTypeError, SimulationError
from ..model import ClusterModel
from ..model.configuration import neutral
from ..simulation import Ground
from ..simulation import simulate as single_simulate
from ..simulation._plan import can_move
from ..simulation._settings import settings
from ._marks import SIMULATIONS, finish
from ._program import run_each
from ._runs import NUMBERS, Runs
from ._tables import OWN, Batch, Given, documented, on_device, states, there

_NEVER = 10**9
"""Record every so many steps: only start and end."""


class Motions(NamedTuple):
    """Where N simulations led.

    Attributes:
        time: [s]: of the samples, shape (samples,); of the end, shape (), if nothing was recorded.
        q: Configurations, shape (N, nq), or (N, samples, nq) if samples were recorded.
        v: Independent velocities, shape (N, nv) or (N, samples, nv).
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray


@documented
def simulate(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    method: str | None = None,
    record: int | None = None,
    switch: bool = True,
    passive: bool = True,
    ground: Ground | None = None,
    touching: Any = None,
    limits: bool | str = False,
    self_collisions: bool = False,
    processes: int = 1,
    threads: int = 1,
    out: tuple[np.ndarray, np.ndarray] | None = None,
    status: np.ndarray | None = None,
) -> Motions:
    """Simulate the motions of a robot from N states, each as ``pc.simulate`` does.

    Rows that need other independent joints on the way, near a dead centre, run one after the other. The energy is not
    watched: too large a step shows only if the motion goes beyond all bounds (status 3).

    Args:
        q: Starts, shape (N, nq), on the couplings and loops.
        v: Starts, shape (N, nv), [rad/s] or [m/s].
        tau: None for no torque; shape (N, nv) for constant ones; shape (N, steps, nv), held during each step. [N m] or
            [N].
        duration: [s]. If it is no multiple of ``dt``, the last step is shorter.
        dt: Length of a step, [s].
        method: As of ``pc.simulate``.
        record: Keep every n-th step, start and end included; None for the end alone.
        switch: Whether independent joints may be changed inside; if not, a dead centre ends a row.
        passive: Whether springs and the like act, as in ``pc.simulate``; what it does in Python, row after row.
        ground: As of ``pc.simulate``; the rows then run one after the other in each process.
        touching: As of ``pc.simulate``.
        limits: As of ``pc.simulate``.
        self_collisions: As of ``pc.simulate``.
        processes: How many processes share the rows: solvers of contacts let no other thread run. Each takes a second
            or two to begin, and a script that asks for them needs its ``if __name__ == "__main__":``.
        out: Where to write q and v of the result.
        status: Where to write what became of each row, shape (N,), int8: 0 it is good, 1 it starts off the couplings or
            loops, or a loop cannot follow, 2 a loop is singular or a joint moves no inertia, 3 the input is not finite,
            the motion diverges, it begins below the ground or contacts have no solution. Rows that are not good are
            NaN; without ``status`` a warning says how many failed.

    Returns:
        Times, configurations and velocities.

    Raises:
        SimulationError: An argument is not allowed.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q = np.tile(pc.neutral(model), (3, 1))
        >>> end = pc.batch.simulate(model, q, np.array([[0.0], [1.0], [2.0]]), duration=0.1)
        >>> end.q.shape, end.v.shape
        ((3, 3), (3, 1))
    """
    given = states(model, q, ("v", v))
    if there(given):
        if passive and model.passive is not None:
            raise SimulationError(
                "simulate: springs and the like (model.passive) do not act on a device. Pass passive=False, or arrays "
                "in memory."
            )
        return on_device("simulate", model, given, None, status)
    s = settings(
        model, neutral(model), np.zeros(model.nv), None, duration, dt, method, _NEVER if record is None else record,
        None, switch, None, (), passive, ground, touching, limits, self_collisions, begin=False,
    )  # fmt: skip
    table = tau is not None and np.ndim(tau) == 3
    shape = (s.steps, model.nv) if table else (model.nv,)
    if tau is not None:
        given.append(Given("tau", tau, shape, f"{s.steps} steps of {OWN}" if table else OWN))
    q_out, v_out = _pair(out)
    samples = () if record is None else (s.samples,)
    work = model.tables.work.size + model.tree.nv * model.nv + NUMBERS + 20 * model.nq
    batch = Batch(
        "simulate",
        model,
        given,
        threads,
        status,
        ("q of out", q_out, (*samples, model.nq)),
        ("v of out", v_out, (*samples, model.nv)),
        rows_of_work=model.nq + model.nv + 9,
        work=work,
    )
    time = np.array([s.time(min(k * s.record, s.steps)) for k in range(s.samples)] if samples else s.duration)
    result = Motions(time, *batch.out)
    if batch.rows == 0:
        return result

    how = {
        "method": method,
        "record": record,
        "switch": switch,
        "passive": passive,
        "ground": ground,
        "touching": touching,
        "limits": limits,
        "self_collisions": self_collisions,
    }
    if (count := whole_number("processes", processes, 1)) > 1 and batch.rows > 1:
        _in_processes(min(count, batch.rows), batch, (duration, dt), how, shape)
        finish(batch, 1, SIMULATIONS)
        return result

    def of_row(n: int) -> tuple[np.ndarray, np.ndarray]:
        start_q, start_v, *torques = (x[n] for x in batch.tables)
        torque = torques[0].reshape(shape) if torques else None
        found = single_simulate(model, start_q, start_v, torque, duration, dt, **{**how, "record": s.record})
        return (found.q, found.v) if samples else (found.q[-1], found.v[-1])

    compiled = kernels.JIT and can_move(model) and s.world is None and (s.passive is None or s.passive.compiled)
    begin = Runs(batch, s, of_end=not samples).begin if compiled else None
    run_each(batch, begin, of_row, SIMULATIONS, grain=1, again=True)
    return result


def _in_processes(count: int, batch: Batch, span: tuple[float, float], how: Any, shape: tuple[int, ...]) -> None:
    """Run rows in processes, each as a batch of its own."""
    ends = np.linspace(0, batch.rows, count + 1).astype(int).tolist()
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        parts = [slice(*pair) for pair in pairwise(ends)]
        rows = [tuple(x[part] for x in batch.tables) for part in parts]
        work = [pool.submit(_part, batch.model, x, shape, span, how) for x in rows]
        for part, future in zip(parts, work, strict=True):
            *found, batch.status[part] = future.result()
            for out, x in zip(batch.out, found, strict=True):
                out[part] = x


def _part(model: ClusterModel, rows: Any, shape: tuple[int, ...], span: tuple[float, float], how: Any) -> Any:
    """Return q, v and status of some rows."""
    q, v, *tau = rows
    status = np.zeros(len(q), dtype=np.int8)
    torque = tau[0].reshape(len(q), *shape) if tau else None
    found = simulate(model, q, v, torque, *span, **how, status=status)
    return found.q, found.v, status


def _pair(out: Any) -> tuple[Any, Any]:
    if out is None:
        return None, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise ArgumentTypeError(f"out must be two arrays, for q and v, got {type(out).__name__}. Leave it out.")
    return out[0], out[1]
