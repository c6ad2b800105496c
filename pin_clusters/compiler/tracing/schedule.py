"""Reordering of operations, so that few values must be stored at the same time and most values stay in registers.

A trace follows the algorithm, which visits all bodies outward, then inward, then outward again. Results of the first
pass must be stored until the second pass uses them. If the operations after a starting point are delayed until their
results are needed (depth first), limbs are processed one after the other. Several starting points are tried, because
the best starting point depends on the robot and the algorithm.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from .expressions import ARGUMENTS

_PLACES = 8  # number of positions in the program at which an order may start
_LONG = 100_000  # Longer programs are not reordered, because each trial takes one second per million operations.


def needs_of(operations: np.ndarray, start: int) -> list[list[int]]:
    """For each operation, return the operations that compute its arguments; ``start`` is the place of the first."""
    return [[x - start for x in row[: ARGUMENTS[op]] if x >= start] for op, *row in operations.tolist()]


def few_alive(needs: list[list[int]]) -> list[int]:
    """Return an order in which arguments precede their operations and few values must be stored at the same time."""
    n = len(needs)
    orders = [list(range(n))]
    if n <= _LONG:
        orders += [_late(needs, range(n * i // _PLACES, n)) for i in range(1, _PLACES)]
        orders.append(_late(needs, reversed(range(n))))
    return min(orders, key=lambda order: most_alive(needs, order))


def most_alive(needs: list[list[int]], order: Sequence[int]) -> int:
    last = np.full(len(needs), -1)
    for i, k in enumerate(order):
        last[needs[k]] = i
    # ``change`` is +1 where a result that is used later is computed, and -1 after its last use.
    position = np.empty(len(needs), dtype=np.intp)
    position[order] = np.arange(len(needs))
    change = np.zeros(len(needs) + 1, dtype=np.intp)
    used = last >= 0
    np.add.at(change, position[used], 1)
    np.add.at(change, last[used], -1)
    return int(np.cumsum(change).max(initial=0))


def _late(needs: list[list[int]], wanted: Iterable[int]) -> list[int]:
    """Return an order of all operations: first the operations ``wanted``, each after its arguments, then the others."""
    done, order = [False] * len(needs), []
    for k in wanted:
        stack = [(k, False)]
        while stack:
            i, ready = stack.pop()
            if done[i]:
                continue
            if ready:
                done[i] = True
                order.append(i)
            else:
                stack.append((i, True))
                stack += [(a, False) for a in sorted(needs[i], reverse=True) if not done[a]]
    # The remaining operations are not arguments of any operation in ``order``.
    return order + [i for i, scheduled in enumerate(done) if not scheduled]
