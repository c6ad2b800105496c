"""Run cases in a worker: each case has one function call and one random generator, and BLAS uses one thread."""

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
    """A chunk, or a part of a chunk, that is sent to a worker."""

    function: Callable[..., Any]  # function of the sweep
    chunk: int  # number of the chunk
    items: Sequence[tuple[int, Any]]  # number and value of each case
    seed: int  # seed of the sweep
    with_rng: bool  # whether the function has a parameter ``rng``


@dataclass(frozen=True)
class Report:
    """Results that a worker returns."""

    outcomes: Outcomes  # results and failures
    worker: str  # host name and process id
    seconds: float  # computing time, [s]
    peak: int  # peak memory of the process, [bytes]


def generator(seed: int, case: int) -> np.random.Generator:
    """Return a generator with the seed sequence ``np.random.SeedSequence(seed).spawn(n)[case]``, for any n > case."""
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
    """Copy the results of a case to new arrays, because the function may reuse its arrays."""
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(
            f"the function of a sweep must return a dict of numbers and arrays, got {type(values).__name__}."
        )
    arrays = {}
    for key, value in values.items():
        if not isinstance(key, str) or not key:
            raise ArgumentTypeError(f"the function of a sweep must return a dict with string keys, got {key!r}.")
        try:
            array = np.array(value)
        except ValueError as error:
            raise ArgumentTypeError(f"the value of {key!r} is not an array of numbers: {error}.") from None
        if array.dtype.kind not in _KINDS:
            raise ArgumentTypeError(
                f"the value of {key!r} must be a number, a string, or an array of numbers or strings, got "
                f"{array.dtype} ({type(value).__name__})."
            )
        arrays[key] = array
    return arrays


_lock = threading.Lock()
_users = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, because rounding errors depend on the number of threads.

    Most libraries have one limit per process. If several threads set this limit, the last one to finish restores the
    original limit. OpenMP has one limit per thread.
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
    """Allow this thread to set the limit of OpenBLAS; by default, threadpoolctl allows only the first thread."""
    import threadpoolctl

    allow = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if allow is not None:
        allow(force=True)


def peak_memory() -> int:
    """Return the peak memory of this process, [bytes], or 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(largest if sys.platform == "darwin" else 1024 * largest)


def ready() -> None:
    """Do nothing; a call that returns shows that the process has started and imported its modules."""


BETWEEN = -1
"""Value that an idle process writes to its row of ``notes`` (see ``prepare``) instead of chunk and case numbers."""
_own_note: np.ndarray | None = None


def prepare(notes: Any, begun: Any) -> None:
    """Initialize a process of the pool.

    ``notes`` contains one shared row (process id, chunk, case) per worker. ``Processes.deaths`` reads these rows to
    find the case at which a worker died. The shared counter ``begun`` is the index of the next free row.
    """
    global _own_note
    with begun.get_lock():
        _own_note = np.frombuffer(notes, dtype=np.int64).reshape(-1, 3)[begun.value]
        begun.value += 1
    for name in _ONE_THREAD:  # libraries that the process loads later read these variables
        os.environ[name] = "1"


def _note(chunk: int, case: int) -> None:
    if _own_note is not None:
        _own_note[:] = os.getpid(), chunk, case
