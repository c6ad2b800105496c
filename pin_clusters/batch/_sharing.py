"""Rows shared among threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

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

    others = [threading.Thread(target=work) for _ in range(threads - 1)]
    for other in others:
        other.start()
    work()
    for other in others:
        other.join()
    if failed:
        raise failed[0]
