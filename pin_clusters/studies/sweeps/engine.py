"""Compute the cases of a sweep in chunks and save completed chunks (``run``); read saved results (``load``)."""

import platform
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..._support.docstrings import stock
from ..._support.version import __version__
from ...compiler.choice import chosen
from ...errors import PinClustersError
from ...verification.timing import Progress
from . import _arguments, _folder, _tables, _tasks
from .pool import InProcess, Processes, capacity, cores
from .result import Effort, SweepError, SweepFolderError, SweepInterrupted, SweepResult

_CHUNKS = 100
_LARGEST = 100
RUNNING = """
Args:
    folder: Folder for the results (a manifest and one NPZ file per chunk). If None, no files are written.
    executor: Any ``concurrent.futures.Executor``; the sweep does not shut it down. Default: a pool of processes.
    resume: Whether to continue the same sweep in ``folder``. If the folder is empty, a new sweep starts.
    chunk: Number of cases that are sent and saved together, and that are lost together after a failure. Default: a
        hundredth of the cases, but at most 100.
    seed: Seed of the random generators.
    workers: Number of processes of the default pool. Default: the number of available cores.
    progress: Function that is called from time to time with (completed cases, all cases).
"""
"""Docstring entries of the arguments that all sweeps share."""


@stock(RUNNING)
def run(
    function: Callable[..., Mapping[str, Any]],
    cases: Iterable[Any],
    *,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    resume: bool = False,
    chunk: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Call a function once per case, on many cores or machines, and save the results.

    BLAS runs on one thread. On processors of the same type, results are therefore bitwise identical for all executors,
    numbers of workers and chunk sizes. A function with a parameter ``rng`` receives a generator that depends only on
    ``seed`` and the number of the case. If a case raises an exception, the sweep records the exception and continues.

    Args:
        function: Function that returns a dict of numbers and arrays. The sweep calls ``function(case)``, or
            ``function(case, rng=generator)`` if the function has a parameter ``rng``. To run in other processes, the
            function must be defined at the top level of a module. ``functools.partial`` can bind further parameters.
        cases: The cases, such as robots, numbers or tuples. Cases that run in other processes must be picklable.

    Returns:
        The results, the failures, and the computing time and memory.

    Raises:
        ArgumentTypeError: An argument has the wrong type, or cannot be sent to another process.
        SweepFolderError: The folder cannot be written, belongs to another sweep, or contains results although
            ``resume`` is False. The folder is checked before the computation starts.
        SweepError: A worker died, or a chunk cannot be sent. The attribute ``result`` contains the completed cases.
        SweepInterrupted: The user pressed Ctrl-C. The attribute ``result`` contains the completed cases.

    Example:
        >>> from pin_clusters import sweeps
        >>> def square(case):
        ...     return {"square": case**2}
        >>> sweeps.run(square, range(4), executor=sweeps.InProcess())["square"].tolist()
        [0, 1, 4, 9]
    """
    start = time.perf_counter()
    with_rng = _arguments.check(function, executor, chunk, seed, workers, resume)
    listed = _arguments.listed(cases)
    path = None if folder is None else Path(folder)
    _arguments.check_name(function, folder=path is not None, sent=executor is None)
    old = _folder.read_manifest(path) if path is not None and resume and chunk is None else None
    size = chunk or (max(1, min(_LARGEST, -(-len(listed) // _CHUNKS))) if old is None else old.chunk)
    manifest = _folder.Manifest(
        function=_arguments.name_of(function),
        parameters=_arguments.parameters_of(function),
        cases=len(listed),
        seed=int(seed),
        chunk=int(size),
        digest=_arguments.digest(function, listed),
        versions=_versions(),
    )
    sweep = _Sweep(function, listed, with_rng, manifest, path, progress, start)
    try:
        if path is not None:
            _folder.begin(path, manifest, resume)
            sweep.tables = _folder.read(path, manifest, repair=True)
            sweep.read = sweep.done = sum(map(_tables.count, sweep.tables.values()))
        sweep.tell()
        pending = [number for number in range(manifest.chunks) if number not in sweep.tables]
        if pending:
            pool = Processes(min(workers or cores(), len(pending))) if executor is None else None
            with pool if pool is not None else nullcontext():
                _drive(sweep, pool or executor or InProcess(), pending)
    except KeyboardInterrupt:
        sweep.recount()
        raise SweepInterrupted(sweep.kept("the sweep was interrupted"), sweep.result()) from None
    return sweep.result()


def load(folder: str | Path) -> SweepResult:
    """Read the results of a finished or unfinished sweep from its folder, without changing the folder.

    Args:
        folder: The folder that was given to ``sweeps.run``, or to the option ``--output`` of the command.

    Returns:
        The result, whose attribute ``complete`` is True if all cases have run. Damaged chunks are omitted with a
        warning.

    Raises:
        SweepFolderError: The folder does not contain a sweep.

    Example:
        >>> import tempfile
        >>> from pin_clusters import sweeps
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     done = sweeps.run(dict, [{"x": 1.5}, {"x": 2.5}], folder=folder, executor=sweeps.InProcess())
        ...     sweeps.load(folder)["x"].tolist()
        [1.5, 2.5]
    """
    path = Path(folder)
    manifest = _folder.read_manifest(path)
    if manifest is None:
        raise SweepFolderError(f"{path} does not contain a sweep, because there is no file {_folder.MANIFEST}.")
    tables = _folder.read(path, manifest, repair=False)
    effort = Effort(read=sum(map(_tables.count, tables.values())))
    return _result(manifest, tables, effort)


def _result(manifest: _folder.Manifest, tables: Mapping[int, _tables.Table], effort: Effort) -> SweepResult:
    return SweepResult(manifest.function, manifest.cases, manifest.seed, *_tables.joined(tables), effort)


@dataclass
class _Sweep:
    """A running sweep."""

    function: Callable[..., Any]
    cases: Sequence[Any]
    with_rng: bool
    manifest: _folder.Manifest
    path: Path | None
    progress: Progress | None
    start: float
    tables: dict[int, _tables.Table] = field(default_factory=dict)  # completed chunks by number
    parts: _tables.Outcomes = field(default_factory=dict)  # outcomes of cases in incomplete chunks
    read: int = 0  # number of cases that were read from the folder
    done: int = 0  # number of completed cases
    busy: float = 0.0  # sum of the computing times of the workers, [s]
    peaks: dict[str, int] = field(default_factory=dict)  # peak memory of each worker, [bytes]

    def work(self, chunk: int, cases: Iterable[int]) -> _tasks.Work:
        items = [(i, self.cases[i]) for i in cases]
        return _tasks.Work(self.function, chunk, items, self.manifest.seed, self.with_rng)

    def keep(self, chunk: int, report: _tasks.Report) -> None:
        """Store a report; if its chunk is complete, write the chunk to the folder."""
        self.busy += report.seconds
        self.peaks[report.worker] = max(report.peak, self.peaks.get(report.worker, 0))
        self.parts |= report.outcomes
        cases = self.manifest.range_of(chunk)
        if all(case in self.parts for case in cases):
            table = _tables.packed({case: self.parts.pop(case) for case in cases})
            if self.path is not None:
                _folder.write(self.path, chunk, table)
            self.tables[chunk] = table
            self.done += len(cases)
            self.tell()

    def recount(self) -> None:
        """Count the completed chunks again, because Ctrl-C may have prevented the count of a written chunk."""
        if self.path is not None:
            self.tables = _folder.read(self.path, self.manifest, repair=False)
        self.done = sum(map(_tables.count, self.tables.values()))

    def tell(self) -> None:
        if self.progress is not None:
            self.progress(self.done, len(self.cases))

    def result(self) -> SweepResult:
        effort = Effort(
            seconds=time.perf_counter() - self.start,
            busy=self.busy,
            computed=self.done - self.read,
            read=self.read,
            workers=len(self.peaks),
            peak=max(self.peaks.values(), default=0),
            own=_tasks.peak_memory(),
        )
        return _result(self.manifest, self.tables, effort)

    def kept(self, event: str) -> str:
        if self.path is None:
            advice = "The sweep has no folder, so only the attribute result of this exception contains their results"
        else:
            advice = f"{self.path} contains their results. Run the same sweep with resume=True (--resume) to continue"
        return f"{event} after {self.done} of {len(self.cases)} cases. {advice}."


def _drive(sweep: _Sweep, executor: Executor, pending: Sequence[int]) -> None:
    """Run all pending chunks; submit only enough chunks at a time to keep the executor busy."""
    limit = capacity(executor)
    queue = deque((chunk, sweep.manifest.range_of(chunk)) for chunk in pending)
    if limit > 1 and len(pending) > 1:
        # Run one case alone first, so that its kernels are compiled and cached before all workers need them.
        chunk, cases = queue.popleft()
        queue.extendleft((chunk, part) for part in (cases[1:], cases[:1]) if part)
    window = 1
    waiting: dict[Future[_tasks.Report], int] = {}
    chunk = pending[0]
    try:
        if isinstance(executor, Processes):
            executor.start()
        while queue or waiting:
            while queue and len(waiting) < window:
                chunk, cases = queue.popleft()
                waiting[executor.submit(_tasks.run, sweep.work(chunk, cases))] = chunk
            done = wait(waiting, return_when=FIRST_COMPLETED).done
            # Store all results before an exception of another chunk is raised.
            for future in sorted(done, key=lambda f: f.cancelled() or f.exception() is not None):
                chunk = waiting.pop(future)
                sweep.keep(chunk, future.result())
            window = limit if limit == 1 else 2 * limit + 2
    except PinClustersError:
        raise
    except Exception as error:
        unfinished = sorted({chunk, *waiting.values()})
        raise SweepError(_explain(sweep, executor, chunk, unfinished, error), sweep.result()) from error
    finally:
        for future in waiting:
            future.cancel()


def _explain(sweep: _Sweep, executor: Executor, chunk: int, unfinished: Sequence[int], error: Exception) -> str:
    def named(number: int) -> str:
        cases = sweep.manifest.range_of(number)
        return f"chunk {number} (cases {cases.start} to {cases.stop - 1})"

    deaths = executor.deaths() if isinstance(executor, Processes) and isinstance(error, BrokenExecutor) else []
    if deaths:
        event = " and ".join(f"{_exit(code)} at case {case} of {named(number)}" for code, number, case in deaths)
        event = f"a worker process died: {event}"
    elif isinstance(error, BrokenExecutor):
        event = (
            f"a worker died in one of: {', '.join(map(named, unfinished[:8]))}{', ...' if len(unfinished) > 8 else ''}"
        )
        if isinstance(executor, Processes):
            event += (
                ". A script must call the sweep under if __name__ == '__main__', and the workers must be able to "
                f"import {sweep.manifest.function}."
            )
    else:
        message = " ".join(str(error).split()) or "no message"
        event = f"{named(chunk)} returned no results: {type(error).__name__}: {message}"
    return f"{event}{'' if event.endswith(('?', '.')) else '.'} {sweep.kept('The sweep stopped')}"


def _exit(code: int) -> str:
    name = {-number: number.name for number in signal.Signals}.get(code, f"exit code {code}")
    return f"{name}{' (out of memory?)' if name == 'SIGKILL' else ''}"


def _versions() -> dict[str, str]:
    versions = {"pin_clusters": __version__, "python": platform.python_version(), "machine": platform.machine()}
    versions["engine"] = chosen()
    for name, package in (("pinocchio", "pin"), ("numpy", "numpy"), ("numba", "numba")):
        try:
            versions[name] = version(package)
        except PackageNotFoundError:  # the package was not installed from a wheel
            versions[name] = "?"
    return versions
