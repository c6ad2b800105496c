"""Entry points that are called for each row, at their addresses, by one kernel; and what they work on."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import on_a_page
from ..compiler import entry_points as kernels
from ..compiler.native.words import DATA, SIZES, words_of
from ..model import ClusterModel
from ._marks import STATES, Said, all_one_by_one, finish, mark_input, one_by_one
from ._sharing import ROWS, Run, share
from ._tables import Batch


class Room:
    """Workspace of a model for one thread; kernels that run one after the other share it."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        (self._work,) = on_a_page(model.tables.work)

    def tables(self, result: np.ndarray) -> kernels.Pointer:
        """Return tables with a result, as kernels find them."""
        return kernels.Pointer(self._model.tables.index, self._model.tables.params, self._work, result)


class Each(NamedTuple):
    """An argument of which every row has its own."""

    table: np.ndarray  # contiguous, a row per state
    shape: tuple[int, ...]  # of a row, as the entry point sees it


class Program:
    """What is done for each row, on the room of one thread; it keeps all that it is given alive."""

    def __init__(self, status: np.ndarray) -> None:
        """Begin.

        Args:
            status: Of the rows; written where an entry point reports something.
        """
        self._status = status
        self._calls: list[tuple[int, int]] = []
        self._words: list[list[int]] = []
        self._moving: list[tuple[int, int, int, int]] = []
        self._kept: list[Any] = []

    def call(self, kernel: kernels.Kernel, status: int, *arguments: Any) -> None:
        """Call an entry point.

        Args:
            kernel: The entry point.
            status: Of rows for which it reports something.
            arguments: Tables, whole numbers, arrays that are the same for all rows, or ``Each``.
        """
        words: list[int] = []
        for x in arguments:
            if isinstance(x, Each):
                size = int(np.prod(x.shape, dtype=np.int64))
                strides = [8 * int(np.prod(x.shape[i + 1 :], dtype=np.int64)) for i in range(len(x.shape))]
                self._moving.append((len(self._calls), len(words) + DATA, x.table.ctypes.data, 8 * size))
                words += [0, 0, size, 8, x.table.ctypes.data, *x.shape, *strides]
            else:
                words += words_of(x.address if isinstance(x, kernels.Pointer) else x)
        self._calls.append((kernel.address(), status))
        self._words.append(words)
        self._kept.append(arguments)

    def ready(self) -> Callable[[int, int], object]:
        """Return what runs rows first..last-1."""
        width = next(size for size in SIZES if size >= max(map(len, self._words)))
        words = np.zeros((len(self._words), width), dtype=np.int64)
        for line, row in zip(words, self._words, strict=True):
            line[: len(row)] = row
        moving = np.array([(k * width + at, start, step) for k, at, start, step in self._moving], dtype=np.int64)
        self._tables = np.array(self._calls, dtype=np.int64), words, moving.reshape(-1, 3)
        self._rows = kernels.rows.function()
        return self._run

    def _run(self, first: int, last: int) -> None:
        self._rows(*self._tables, self._status, first, last)


def programmed(batch: Batch, write: Callable[[Program], None]) -> Callable[[], Run]:
    """Return what makes a program for a thread; ``write`` writes the calls."""

    def begin() -> Run:
        program = Program(batch.status)
        write(program)
        return program.ready()

    return begin


def run_each(
    batch: Batch,
    begin: Callable[[], Run] | None,
    of_row: Callable[[int], Any],
    said: Said = STATES,
    *,
    grain: int = ROWS,
    level: int = 2,
    look: bool = True,
    again: bool = False,
) -> None:
    """Run kernels of one state for each row; where ``begin``, asked once per thread, is None, ``of_row`` of its number.

    ``look``: results that are not finite are still to be found. ``again``: ``of_row`` tries once more where kernels
    failed. ``level``: how many calls the user is away from what calls this.
    """
    if batch.rows == 0:
        return
    if begin is None:
        all_one_by_one(batch, of_row, level + 1, said)
        return
    first = iter([begin()])  # made here, so that all is compiled before threads begin
    share(batch.rows, batch.threads, grain, lambda: next(first, None) or begin())
    if again and batch.status.any():
        mark_input(batch)
        one_by_one(batch, of_row, np.flatnonzero(batch.status).tolist())
    finish(batch, level + 1, said, look=look)
