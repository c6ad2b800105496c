"""Distribution of rows among threads."""

import _thread
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

PIECES = 8
"""Number of pieces (groups of rows) per thread. With several pieces, a slower thread can process fewer rows."""
ROWS = 16
"""Minimum number of rows per thread."""
PATIENCE = 10.0
"""Time after which an idle thread ends, [s]."""

Run = Callable[[int, int], object]
_idle: "deque[_Worker]" = deque()
# The threads do not exist in a forked child process.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def share(rows: int, threads: int, grain: int, begin: Callable[[], Run]) -> None:
    """Distribute the rows among this thread and up to ``threads`` - 1 other threads.

    The size of each piece except the last is a multiple of ``grain``. Each thread calls ``begin`` once. ``begin``
    returns the function run(first, last), which processes the rows first to last - 1.
    """
    threads = min(threads, -(-rows // grain))
    if threads <= 1:
        begin()(0, rows)
        return
    step = grain * -(-rows // (grain * threads * PIECES))
    starts = deque(range(0, rows, step))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            if not starts:
                return
            run = begin()
            while starts:
                try:
                    first = starts.popleft()
                except IndexError:  # another thread has taken the last piece
                    return
                run(first, min(first + step, rows))
        except BaseException as error:
            starts.clear()
            failed.append(error)

    busy: list[_thread.LockType] = []

    def help_along() -> None:
        lock = _thread.allocate_lock()
        with lock:
            busy.append(lock)
            work()

    for _ in range(threads - 1):
        with suppress(RuntimeError):  # the system cannot start more threads
            _give(help_along)
    work()
    # Threads that start later find no rows left, so only the locks of threads that have started are needed.
    for lock in tuple(busy):
        lock.acquire()
    if failed:
        raise failed[0]


class _Worker:
    """A reusable thread. Waking an idle thread takes a fifth of the time needed to start a new thread."""

    def __init__(self) -> None:
        self._call = _thread.allocate_lock()
        self._call.acquire()
        self._job: Callable[[], None] | None = None
        _thread.start_new_thread(self._live, ())

    def take(self, job: Callable[[], None]) -> None:
        """Run a job in this thread. The caller must first remove the worker from ``_idle``."""
        self._job = job
        self._call.release()

    def _live(self) -> None:
        while True:
            if not self._call.acquire(timeout=PATIENCE):
                try:
                    _idle.remove(self)
                except ValueError:  # another thread has just taken this worker and will release the lock
                    self._call.acquire()
                else:
                    return
            job, self._job = self._job, None
            if job is not None:
                job()
            del job  # an idle worker must not keep the arrays of its last job alive
            _idle.append(self)


def _give(job: Callable[[], None]) -> None:
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take(job)
