"""Programs and their workspaces. A program is a sequence of kernel calls that is executed for each row."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._support.arrays import on_a_page
from ..compiler import entry_points as kernels
from ..compiler.native.words import DATA, SIZES, words_of
from ..model import ClusterModel
from ._marks import STATES, Report, all_one_by_one, finish, mark_input, one_by_one
from ._sharing import ROWS, Run, share
from ._tables import Batch


class Workspace:
    """Workspace of a model for one thread; kernels that run one after the other share this workspace."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        (self._work,) = on_a_page(model.tables.work)

    def tables(self, result: np.ndarray) -> kernels.Pointer:
        return kernels.Pointer(self._model.tables.index, self._model.tables.params, self._work, result)


class Each(NamedTuple):
    table: np.ndarray  # contiguous array with one row per state
    shape: tuple[int, ...]  # shape in which the entry point receives a row


class Program:
    """Kernel calls that one thread executes for each row; the program keeps their arguments alive."""

    def __init__(self, status: np.ndarray) -> None:
        self._status = status
        self._calls: list[tuple[int, int]] = []
        self._words: list[list[int]] = []
        self._moving: list[tuple[int, int, int, int]] = []
        self._kept: list[Any] = []

    def call(self, kernel: kernels.Kernel, status: int, *arguments: Any) -> None:
        """Append a call of an entry point. If the call fails for a row, the row receives ``status``.

        ``arguments`` can be tables, integers, arrays that all rows share, or ``Each`` objects.
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
        """Return a function run(first, last) that executes the program for the rows first to last - 1."""
        width = next(size for size in SIZES if size >= max(map(len, self._words)))
        words = np.zeros((len(self._words), width), dtype=np.int64)
        for line, row in zip(words, self._words, strict=True):
            line[: len(row)] = row
        moving = np.array(
            [(k * width + offset, start, step) for k, offset, start, step in self._moving], dtype=np.int64
        )
        self._tables = np.array(self._calls, dtype=np.int64), words, moving.reshape(-1, 3)
        self._rows = kernels.rows.function()
        return self._run

    def _run(self, first: int, last: int) -> None:
        self._rows(*self._tables, self._status, first, last)


def programmed(batch: Batch, write: Callable[[Program], None]) -> Callable[[], Run]:
    def begin() -> Run:
        program = Program(batch.status)
        write(program)
        return program.ready()

    return begin


def run_each(
    batch: Batch,
    begin: Callable[[], Run] | None,
    of_row: Callable[[int], Any],
    report: Report = STATES,
    *,
    grain: int = ROWS,
    level: int = 2,
    check_results: bool = True,
    retry: bool = False,
) -> None:
    """Run kernels for one state on each row. Each thread calls ``begin`` once. If it is None, ``of_row`` runs each row.

    If ``retry`` is true, ``of_row`` runs failed rows again. ``level`` and ``check_results`` are passed to ``finish``.
    """
    if batch.rows == 0:
        return
    if begin is None:
        all_one_by_one(batch, of_row, level + 1, report)
        return
    first = iter([begin()])  # this call compiles all kernels before other threads start
    share(batch.rows, batch.threads, grain, lambda: next(first, None) or begin())
    if retry and batch.status.any():
        mark_input(batch)
        one_by_one(batch, of_row, np.flatnonzero(batch.status).tolist())
    finish(batch, level + 1, report, check_results=check_results)
