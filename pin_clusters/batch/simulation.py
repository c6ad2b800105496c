"""Simulation of many copies of a robot at once."""

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
from ._ground import GroundSteps
from ._marks import SIMULATIONS, finish
from ._program import run_each
from ._runs import NUMBERS, Runs
from ._tables import OWN, Batch, RowArgument, documented, on_device, on_gpu_rows, states

_NEVER = 10**9
"""Recording interval, in steps, that is longer than any simulation, so that only the start and the end are recorded."""


class Motions(NamedTuple):
    """Result of N simulations.

    Attributes:
        time: Times of the recorded samples, shape (samples,), [s]; if ``record`` is None, the final time, shape ().
        q: Configurations, shape (N, samples, nq), [rad] or [m]; if ``record`` is None, final ones, shape (N, nq).
        v: Independent velocities, shape (N, samples, nv), [rad/s] or [m/s]; if ``record`` is None, shape (N, nv).
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
    """Simulate a robot from N initial states, like ``pc.simulate``.

    Rows whose independent joints must be changed near a singularity are simulated in one thread. The energy is not
    monitored; therefore, a time step that is too large is detected only if the motion diverges.

    Args:
        q: Initial configurations, shape (N, nq); they must satisfy the constraints.
        v: Initial velocities, shape (N, nv), [rad/s] or [m/s].
        tau: Torques, [N m] or [N]: zero by default, shape (N, nv) for constant torques, or shape (N, steps, nv) for
            torques that are constant during each step.
        duration: Duration, [s]. If it is not a multiple of ``dt``, the last step is shorter.
        dt: Time step, [s].
        method: As in ``pc.simulate``.
        record: Recording interval in steps; the start and the end are also recorded. None records only the end.
        switch: Whether the independent joints may be changed internally. If False, a row fails at a singularity.
        passive: Whether springs and other passive forces act. Forces from Python functions are evaluated row by row.
        ground: As in ``pc.simulate``. With a ground, each process simulates its rows one after the other.
        touching: As in ``pc.simulate``.
        limits: As in ``pc.simulate``.
        self_collisions: As in ``pc.simulate``.
        processes: Number of processes, for parallel simulations with ground. A process takes 1 s to 2 s to start, and
            the script needs ``if __name__ == "__main__":``.
        out: Two arrays, for q and v of the result.
        status: Array for the status of each row, shape (N,), int8. 0: valid; 1: the initial state violates the
            constraints, or a loop cannot be closed after a step; 2: a loop is singular, or an independent joint moves
            no inertia; 3: the input is not finite, the motion diverges or starts below the ground, or contacts have no
            solution. Failed rows are NaN. If ``status`` is None, a warning reports failed rows.

    Returns:
        Times, configurations and velocities of the recorded samples, or of the end if ``record`` is None.

    Raises:
        SimulationError: An argument is invalid.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q = np.tile(pc.neutral(model), (3, 1))
        >>> end = pc.batch.simulate(model, q, np.array([[0.0], [1.0], [2.0]]), duration=0.1)
        >>> end.q.shape, end.v.shape
        ((3, 3), (3, 1))
    """
    arguments = states(model, q, ("v", v))
    if on_gpu_rows(arguments):
        if passive and model.passive is not None:
            raise SimulationError(
                "simulate: springs and other passive forces (model.passive) are not available on a GPU. Pass "
                "passive=False, or arrays in host memory."
            )
        return on_device("simulate", model, arguments, None, status)
    s = settings(
        model, neutral(model), np.zeros(model.nv), None, duration, dt, method, _NEVER if record is None else record,
        None, switch, None, (), passive, ground, touching, limits, self_collisions, begin=False,
    )  # fmt: skip
    table = tau is not None and np.ndim(tau) == 3
    shape = (s.steps, model.nv) if table else (model.nv,)
    if tau is not None:
        arguments.append(RowArgument("tau", tau, shape, f"{s.steps} steps of {OWN}" if table else OWN))
    q_out, v_out = _pair(out)
    samples = () if record is None else (s.samples,)
    work = model.tables.work.size + model.tree.nv * model.nv + NUMBERS + 20 * model.nq
    batch = Batch(
        "simulate",
        model,
        arguments,
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

    options = {
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
        _in_processes(min(count, batch.rows), batch, (duration, dt), options, shape)
        finish(batch, 2, SIMULATIONS)
        return result

    on_ground = GroundSteps.of(s, table) if can_move(model) and not s.effort else None
    closed = () if on_ground is None else on_ground.closed(batch.tables[0])

    def of_row(n: int) -> tuple[np.ndarray, np.ndarray]:
        start_q, start_v, *torques = (x[n] for x in batch.tables)
        torque = torques[0].reshape(shape) if torques else None
        if on_ground is not None and closed[n]:
            on_ground.torque[:] = 0.0 if torque is None else torque
            if (states := on_ground.run(start_q, start_v)) is not None:
                return states if samples else (states[0][-1], states[1][-1])
        motion = single_simulate(model, start_q, start_v, torque, duration, dt, **{**options, "record": s.record})
        return (motion.q, motion.v) if samples else (motion.q[-1], motion.v[-1])

    compiled = kernels.JIT and can_move(model) and s.world is None and (s.passive is None or s.passive.compiled)
    begin = Runs(batch, s, of_end=not samples).begin if compiled else None
    run_each(batch, begin, of_row, SIMULATIONS, grain=1, retry=True)
    return result


def _in_processes(count: int, batch: Batch, span: tuple[float, float], options: Any, shape: tuple[int, ...]) -> None:
    ends = np.linspace(0, batch.rows, count + 1).astype(int).tolist()
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        parts = [slice(*pair) for pair in pairwise(ends)]
        rows = [tuple(x[part] for x in batch.tables) for part in parts]
        work = [pool.submit(_part, batch.model, x, shape, span, options) for x in rows]
        for part, future in zip(parts, work, strict=True):
            *results, batch.status[part] = future.result()
            for out, x in zip(batch.out, results, strict=True):
                out[part] = x


def _part(model: ClusterModel, rows: Any, shape: tuple[int, ...], span: tuple[float, float], options: Any) -> Any:
    q, v, *tau = rows
    status = np.zeros(len(q), dtype=np.int8)
    torque = tau[0].reshape(len(q), *shape) if tau else None
    motions = simulate(model, q, v, torque, *span, **options, status=status)
    return motions.q, motions.v, status


def _pair(out: Any) -> tuple[Any, Any]:
    if out is None:
        return None, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise ArgumentTypeError(f"out must be None or two arrays, for q and v, got {type(out).__name__}.")
    return out[0], out[1]
