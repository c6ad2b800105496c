"""Where a sweep runs: processes of this machine, this process, or a Dask cluster."""

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
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InProcess(Executor):
    """An executor that does the work at once, in this process and thread: for debuggers, and where nothing may start.

    Example:
        >>> from pin_clusters import sweeps
        >>> sweeps.run(dict, [{"x": 1.5}, {"x": 2.5}], executor=sweeps.InProcess())["x"].tolist()
        [1.5, 2.5]
    """

    _max_workers = 1

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Call a function and return a future that is done."""
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(ProcessPoolExecutor):
    """A pool of new processes that survives Ctrl-C until it is told to end, and knows who died where.

    The processes are spawned, not forked: a fork of a process with threads (Numba, BLAS) may hang.

    Args:
        workers: How many processes; by default as many as there are cores for this process.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._seen: dict[int, Any] = {}
        context = multiprocessing.get_context("spawn")
        self._notes = context.RawArray("q", 3 * self.workers)
        super().__init__(self.workers, context, _tasks.prepare, (self._notes, context.Value("i", 0)))

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Hand work to the pool; may start a process."""
        with _interrupts_blocked():  # new processes inherit this: Ctrl-C, sent to all, is for the parent to handle
            future = super().submit(fn, *args, **kwargs)
        self._seen.update(self._processes or {})
        return future

    def start(self) -> None:
        """Start all processes, which otherwise start when they are needed."""
        for _ in range(self.workers):
            self.submit(_tasks.ready)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the pool; at once, and dropping work that has begun, if something went wrong."""
        if kind is not None:
            for process in self._seen.values():
                process.terminate()
        self.shutdown(cancel_futures=kind is not None)

    def deaths(self) -> list[tuple[int, int, int]]:
        """Return exit code, chunk and case of the workers that died; of all that were ended, if none stands out."""
        try:
            self.submit(_tasks.ready)
        except RuntimeError:  # it is broken, or was ended
            self.shutdown()  # its thread collects the processes; before it has, they may have no exit code
        notes = {pid: at for pid, *at in np.frombuffer(self._notes, dtype=np.int64).reshape(-1, 3).tolist()}
        found = []
        for pid, process in self._seen.items():
            chunk, case = notes.get(pid, (_tasks.BETWEEN, _tasks.BETWEEN))
            if process.exitcode and chunk != _tasks.BETWEEN:
                found.append((int(process.exitcode), chunk, case))
        return [death for death in found if death[0] != _ENDED_BY_POOL] or found


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let Ctrl-C wait."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def capacity(executor: Executor) -> int:
    """Return how many chunks an executor can work on at once; a guess if it does not tell."""
    workers = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)  # Dask's
    if workers is None and client is not None:
        workers = sum(client.nthreads().values())
    return workers if isinstance(workers, int) and workers > 0 else 64


@contextmanager
def open_executor(workers: int | None = None, dask: str | None = None) -> Iterator[Executor]:
    """Give the executor that the options of a command ask for, and end it afterwards.

    Args:
        workers: Number of processes; 1 runs in this process, None takes all cores.
        dask: Address of a Dask scheduler, such as ``tcp://host:8786``, or ``"local"`` for a cluster of processes on
            this machine; None takes a process pool.

    Raises:
        NotAvailableError: Dask is not installed.
        SweepError: The scheduler does not answer.
    """
    if dask is None:
        with InProcess() if workers == 1 else Processes(workers) as executor:
            yield executor
        return
    try:
        import distributed
    except ImportError:
        raise NotAvailableError(f"Dask is not installed, which --dask needs. {extras.cure('dask')}") from None
    if dask == "local":
        cluster = distributed.LocalCluster(
            n_workers=workers or cores(),
            threads_per_worker=1,
            dashboard_address=":0",  # any port: another cluster may have the usual one
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
            f"no Dask scheduler answers at {dask} ({' '.join(str(error).split()) or type(error).__name__}). Start one "
            "(dask scheduler; dask worker ADDRESS on each machine) or give --dask local."
        ) from None
    with client:
        yield client.get_executor()


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the one that started the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
