"""Rows shared among threads."""

import _thread
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

PIECES = 8
"""Into how many pieces the rows of a thread are cut: who is slower, or has harder rows, takes fewer of them."""

ROWS = 16
"""Fewer rows of one function are not worth another thread."""

PATIENCE = 10.0
"""How long a thread waits for more to do, [s]."""

Run = Callable[[int, int], object]
_idle: "deque[_Worker]" = deque()
# threads are not copied to the child of a fork
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def share(rows: int, threads: int, grain: int, begin: Callable[[], Run]) -> None:
    """Run pieces of the rows, on this thread and on others.

    Args:
        rows: How many there are.
        threads: How many may work.
        grain: A piece is a multiple of so many rows, but for the last one.
        begin: Makes what runs rows first..last-1; called once per thread, there.
    """
    threads = min(threads, -(-rows // grain))
    if threads <= 1:
        begin()(0, rows)
        return
    step = grain * -(-rows // (grain * threads * PIECES))
    left = deque(range(0, rows, step))
    failed: list[BaseException] = []

    def work() -> None:
        try:
            if not left:
                return
            run = begin()
            while left:
                try:
                    first = left.popleft()
                except IndexError:  # somebody else was quicker
                    return
                run(first, min(first + step, rows))
        except BaseException as error:
            left.clear()
            failed.append(error)

    busy: list[_thread.LockType] = []

    def help_along() -> None:
        lock = _thread.allocate_lock()
        with lock:
            busy.append(lock)
            work()

    for _ in range(threads - 1):
        with suppress(RuntimeError):  # there are no more threads to be had
            _give(help_along)
    work()
    for lock in tuple(busy):  # who has not begun yet finds nothing left to do, and is not waited for
        lock.acquire()
    if failed:
        raise failed[0]


class _Worker:
    """A thread that waits for something to do: to wake one takes a fifth of the time that a new one needs to begin."""

    def __init__(self) -> None:
        self._call = _thread.allocate_lock()
        self._call.acquire()
        self._job: Callable[[], None] | None = None
        _thread.start_new_thread(self._live, ())

    def take(self, job: Callable[[], None]) -> None:
        """Do something; only for one that is not among the idle."""
        self._job = job
        self._call.release()

    def _live(self) -> None:
        while True:
            if not self._call.acquire(timeout=PATIENCE):
                try:
                    _idle.remove(self)
                except ValueError:  # somebody has just taken it, and is about to call
                    self._call.acquire()
                else:
                    return
            job, self._job = self._job, None
            if job is not None:
                job()
            del job  # and the arrays that it knows
            _idle.append(self)


def _give(job: Callable[[], None]) -> None:
    """Have something done by a thread that is idle, or by a new one."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take(job)
