"""Provide executors for sweeps: processes on this machine, the current process, or a Dask cluster."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from ..._support import extras
from ...errors import NotAvailableError
from . import _tasks
from .result import SweepError

_T = TypeVar("_T")
_ENDED_BY_POOL = -signal.SIGTERM


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InProcess(Executor):
    """Executor that runs each task immediately in the calling thread, for debuggers and restricted systems.

    Example:
        >>> from pin_clusters import sweeps
        >>> sweeps.run(dict, [{"x": 1.5}, {"x": 2.5}], executor=sweeps.InProcess())["x"].tolist()
        [1.5, 2.5]
    """

    _max_workers = 1

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(ProcessPoolExecutor):
    """Pool of processes that ignore Ctrl-C. If a process dies, ``deaths`` reports the case that it was computing.

    The processes are spawned, because a process with threads (Numba, BLAS) can hang after a fork. Use the pool as a
    context manager, which ends the processes.

    Args:
        workers: Number of processes; by default the number of cores that this process may use.

    Example:
        >>> from pin_clusters import sweeps
        >>> with sweeps.Processes(2) as executor:  # doctest: +SKIP
        ...     result = sweeps.run(my_module.study, range(100), executor=executor)
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._seen: dict[int, Any] = {}
        context = multiprocessing.get_context("spawn")
        self._notes = context.RawArray("q", 3 * self.workers)
        super().__init__(self.workers, context, _tasks.prepare, (self._notes, context.Value("i", 0)))

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        with _interrupts_blocked():  # new processes inherit the signal mask, so only the parent handles Ctrl-C
            future = super().submit(fn, *args, **kwargs)
        self._seen.update(self._processes or {})
        return future

    def start(self) -> None:
        for _ in range(self.workers):
            self.submit(_tasks.ready)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the pool; after an exception, terminate its processes and cancel all tasks."""
        if kind is not None:
            for process in self._seen.values():
                process.terminate()
        self.shutdown(cancel_futures=kind is not None)

    def deaths(self) -> list[tuple[int, int, int]]:
        """Return exit code, chunk and case of dead workers; omit workers that the pool terminated, if others died."""
        try:
            self.submit(_tasks.ready)
        except RuntimeError:  # the pool is broken or has ended
            self.shutdown()  # wait until the thread of the pool has collected the exit codes
        notes = {
            pid: chunk_and_case
            for pid, *chunk_and_case in np.frombuffer(self._notes, dtype=np.int64).reshape(-1, 3).tolist()
        }
        ended = []
        for pid, process in self._seen.items():
            chunk, case = notes.get(pid, (_tasks.BETWEEN, _tasks.BETWEEN))
            if process.exitcode and chunk != _tasks.BETWEEN:
                ended.append((int(process.exitcode), chunk, case))
        return [death for death in ended if death[0] != _ENDED_BY_POOL] or ended


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def capacity(executor: Executor) -> int:
    """Return the number of chunks that an executor can process at once, or 64 if the number is unknown."""
    workers = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)  # an attribute of Dask's executor
    if workers is None and client is not None:
        workers = sum(client.nthreads().values())
    return workers if isinstance(workers, int) and workers > 0 else 64


@contextmanager
def open_executor(workers: int | None = None, dask: str | None = None) -> Iterator[Executor]:
    """Open the executor that the command-line options select; close it at the end of the ``with`` block.

    Args:
        workers: Number of processes. If 1, tasks run in this process; if None, all cores are used.
        dask: Address of a Dask scheduler, such as ``tcp://host:8786``, or ``"local"`` for a Dask cluster on this
            machine. If None, a process pool is used.

    Yields:
        The executor.

    Raises:
        NotAvailableError: Dask is not installed.
        SweepError: The Dask scheduler does not answer.

    Example:
        >>> from pin_clusters import sweeps
        >>> with sweeps.open_executor(workers=1) as executor:
        ...     sweeps.run(dict, [{"x": 1.5}], executor=executor)["x"].tolist()
        [1.5]
    """
    if dask is None:
        with InProcess() if workers == 1 else Processes(workers) as executor:
            yield executor
        return
    try:
        import distributed
    except ImportError:
        raise NotAvailableError(f"--dask requires Dask, which is not installed. {extras.cure('dask')}") from None
    if dask == "local":
        cluster = distributed.LocalCluster(
            n_workers=workers or cores(),
            threads_per_worker=1,
            dashboard_address=":0",  # any free port, because another cluster may use the default port
            silence_logs=logging.ERROR,
        )
        with cluster, distributed.Client(cluster) as client:
            client.run(_ignore_interrupts)
            yield client.get_executor()
        return
    try:
        client = distributed.Client(dask, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise SweepError(
            f"no Dask scheduler answers at {dask} ({' '.join(str(error).split()) or type(error).__name__}). Start a "
            "scheduler (dask scheduler; dask worker ADDRESS on each machine) or use --dask local."
        ) from None
    with client:
        yield client.get_executor()


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes, because only the parent process must handle it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
