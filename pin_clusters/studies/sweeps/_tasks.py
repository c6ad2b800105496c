"""Code of the workers: one call of the function per case, with its own random generator and BLAS on one thread."""

import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError
from ._tables import CaseFailure, Outcomes

_KINDS = "biufcSU"
_FRAMES = 5
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Work:
    """A chunk, or a part of it, that is sent to a worker."""

    function: Callable[..., Any]  # called with each case
    chunk: int  # number of the chunk
    items: Sequence[tuple[int, Any]]  # number of each case, and the case
    seed: int  # seed of the sweep
    with_rng: bool  # whether the function takes a generator


@dataclass(frozen=True)
class Report:
    """Answer of a worker."""

    outcomes: Outcomes  # results and failures
    worker: str  # host name and process id
    seconds: float  # computing time, [s]
    peak: int  # largest memory of the process so far, [bytes]


def generator(seed: int, case: int) -> np.random.Generator:
    """Return the generator of a case, which depends only on the seed and the number of the case.

    Its seed sequence equals ``np.random.SeedSequence(seed).spawn(n)[case]`` for any n above ``case``.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(case,)))


def run(work: Work) -> Report:
    start = time.perf_counter()
    outcomes: Outcomes = {}
    with one_blas_thread():
        for case, argument in work.items:
            _note(work.chunk, case)
            outcomes[case] = _outcome(work, case, argument)
    _note(BETWEEN, BETWEEN)
    return Report(outcomes, f"{socket.gethostname()}:{os.getpid()}", time.perf_counter() - start, peak_memory())


def _outcome(work: Work, case: int, argument: Any) -> dict[str, np.ndarray] | CaseFailure:
    try:
        extra = {"rng": generator(work.seed, case)} if work.with_rng else {}
        return _checked(work.function(argument, **extra))
    except (Exception, SystemExit) as error:  # KeyboardInterrupt comes from the user, not from the case
        frames = error.__traceback__ and error.__traceback__.tb_next
        tail = "".join(traceback.format_exception(type(error), error, frames, limit=-_FRAMES))
        return CaseFailure(case, type(error).__name__, str(error), tail)


def _checked(values: Any) -> dict[str, np.ndarray]:
    """Return the results of a case as arrays; copies, because the function may reuse its arrays."""
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(
            f"the function of a sweep must return a dict of numbers and arrays, got {type(values).__name__}."
        )
    arrays = {}
    for key, value in values.items():
        if not isinstance(key, str) or not key:
            raise ArgumentTypeError(f"the dict that the function of a sweep returns must have text keys, got {key!r}.")
        try:
            array = np.array(value)
        except ValueError as error:
            raise ArgumentTypeError(f"the value of {key!r} is not an array of numbers: {error}.") from None
        if array.dtype.kind not in _KINDS:
            raise ArgumentTypeError(
                f"the value of {key!r} must be a number, a text or an array of them, got {array.dtype} "
                f"({type(value).__name__})."
            )
        arrays[key] = array
    return arrays


_lock = threading.Lock()
_users = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, because the rounding depends on the number of threads.

    Most libraries have one limit per process. Threads that run chunks concurrently share it, and the last thread
    restores it. Other libraries (OpenMP) have one limit per thread.
    """
    from threadpoolctl import threadpool_limits

    global _users, _limits
    with _lock:
        if _users == 0:
            _allow_this_thread()
            _limits = threadpool_limits(limits=1, user_api="blas")
        _users += 1
    try:
        with threadpool_limits(limits=1, user_api="blas"):
            yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _allow_this_thread()
                _limits.restore_original_limits()
                _allow_this_thread()


def _allow_this_thread() -> None:
    """Allow this thread to set the limit of OpenBLAS; recent threadpoolctl accepts only the first thread that did."""
    import threadpoolctl

    allow = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if allow is not None:
        allow(force=True)


def peak_memory() -> int:
    """Return the largest memory of this process so far, [bytes]; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(largest if sys.platform == "darwin" else 1024 * largest)


def ready() -> None:
    """Do nothing; a process that runs this has started and imported its modules."""


BETWEEN = -1
"""Chunk and case of an idle process."""
_own_note: np.ndarray | None = None


def prepare(notes: Any, begun: Any) -> None:
    """Initialize a process of the pool.

    Args:
        notes: Shared integers with one row (process id, chunk, case) per worker, from which ``Processes.deaths`` finds
            the case of a dead worker.
        begun: Shared number of used rows.
    """
    global _own_note
    with begun.get_lock():
        _own_note = np.frombuffer(notes, dtype=np.int64).reshape(-1, 3)[begun.value]
        begun.value += 1
    for name in _ONE_THREAD:  # for libraries that are loaded later, which threadpoolctl cannot limit now
        os.environ[name] = "1"


def _note(chunk: int, case: int) -> None:
    if _own_note is not None:
        _own_note[:] = os.getpid(), chunk, case
