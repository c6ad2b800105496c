"""Rows shared among threads."""

from __future__ import annotations

import _thread
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

PIECES = 8
"""Into how many pieces the rows of a thread are cut: who is slower, or has harder rows, takes fewer of them."""

ROWS = 16
"""Fewer rows of one function are not worth another thread."""

Run = Callable[[int, int], object]


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

    helpers = _Helpers(work)
    for _ in range(threads - 1):
        with suppress(RuntimeError):  # there are no more threads to be had
            _thread.start_new_thread(helpers.help, ())
    work()
    helpers.dismiss()
    if failed:
        raise failed[0]


class _Helpers:
    """Threads that work along; one that comes when all is done goes away.

    ``threading.Thread`` waits until a thread has begun, in which time many rows can be done.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self._changed = work, threading.Condition()
        self._busy, self._over = 0, False

    def help(self) -> None:
        """Work along; what a thread runs."""
        with self._changed:
            if self._over:
                return
            self._busy += 1
        try:
            self._work()
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify()

    def dismiss(self) -> None:
        """Wait for those that are at work."""
        with self._changed:
            self._over = True
            self._changed.wait_for(lambda: self._busy == 0)
