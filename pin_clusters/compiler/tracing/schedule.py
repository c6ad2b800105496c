"""In which order operations are written: few values alive at once, so that they stay in registers.

The order of a trace is that of the algorithm: all bodies outward, then inward, then outward again. What the first pass
finds is then kept until the second needs it. If, from some operation on, everything else is made only when it is needed
(depth first), limbs come one after the other. Where to begin so depends on robot and algorithm: some places are tried.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from .expressions import ARGUMENTS

_PLACES = 8  # that are tried
_LONG = 100_000  # operations from which on nothing is tried: it takes a second per million


def needs_of(operations: np.ndarray, start: int) -> list[list[int]]:
    """Return, for each operation of a program, which others it needs; ``start`` is the place of the first one."""
    return [[x - start for x in row[: ARGUMENTS[op]] if x >= start] for op, *row in operations.tolist()]


def few_alive(needs: list[list[int]]) -> list[int]:
    """Return the operations of a program, each behind those that it needs, in an order of few values alive at once."""
    n = len(needs)
    orders = [list(range(n))]
    if n <= _LONG:
        orders += [_late(needs, range(n * i // _PLACES, n)) for i in range(1, _PLACES)]
        orders.append(_late(needs, reversed(range(n))))
    return min(orders, key=lambda order: most_alive(needs, order))


def most_alive(needs: list[list[int]], order: Sequence[int]) -> int:
    """Return the largest number of results that are kept at once, in an order of operations."""
    last = np.full(len(needs), -1)
    for i, k in enumerate(order):
        last[needs[k]] = i
    # +1 where a result that something needs is made, -1 behind its last use
    made = np.empty(len(needs), dtype=np.intp)
    made[order] = np.arange(len(needs))
    change = np.zeros(len(needs) + 1, dtype=np.intp)
    used = last >= 0
    np.add.at(change, made[used], 1)
    np.add.at(change, last[used], -1)
    return int(np.cumsum(change).max(initial=0))


def _late(needs: list[list[int]], wanted: Iterable[int]) -> list[int]:
    """Return all operations: the wanted ones in their order, each behind what it needs and was not yet there."""
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
    # then what only outputs need, which stand before the first that was wanted, behind their arguments
    return order + [i for i, there in enumerate(done) if not there]
