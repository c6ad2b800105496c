"""The engine: cases in chunks through an executor, results kept chunk by chunk."""

from __future__ import annotations

import platform
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..errors import ArgumentTypeError, PinClustersError
from . import _checks, _folder, _identity, _tables, _tasks
from .errors import SweepError, SweepInterrupted
from .pool import InProcess, Processes, capacity, cores
from .result import Effort, SweepResult, make

Progress = Callable[[int, int], None]
_CHUNKS = 100
_LARGEST = 100


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
    """Call a function once per case, on many cores or machines, and keep what is done.

    The results are the same to the last bit whatever the executor, the number of workers, the chunks and their order,
    as long as the processors are of the same kind: BLAS runs on one thread, and a function with a parameter ``rng`` is
    given a generator that depends on ``seed`` and the number of its case only. A case that raises an exception is
    recorded and does not disturb the others.

    Args:
        function: Called as ``function(case)``, or ``function(case, rng=generator)`` if it has a parameter ``rng``;
            returns a dict of numbers and arrays. For other processes it must be of a module's top level
            (``functools.partial`` binds further parameters).
        cases: The cases, such as robots, numbers or tuples. With other processes they are pickled, robots too.
        folder: Where to keep the results: a manifest and one NPZ file per chunk; None keeps them in memory only.
        executor: Any ``concurrent.futures.Executor``; it is not shut down. By default a pool of processes.
        resume: Go on with what is in ``folder``; it must be the same sweep. An empty folder is a new sweep.
        chunk: Cases per chunk, which is what is sent, kept and lost as one; by default a hundredth of the cases, but
            at most 100.
        seed: Seed of the generators.
        workers: Number of processes of the default pool; by default the cores that are available.
        progress: Called with (done, total) cases now and then.

    Returns:
        Results, failures and effort.

    Raises:
        ArgumentTypeError: An argument has the wrong type, or cannot be sent to another process.
        SweepFolderError: The folder cannot be written, holds another sweep, or holds results and ``resume`` is False;
            said before anything is computed.
        SweepError: A worker died, or a chunk cannot be sent; what is done is kept, and in its ``result``.
        SweepInterrupted: Ctrl-C; what is done is kept, and in its ``result``.

    Example:
        >>> from pin_clusters import sweeps
        >>> def square(case):
        ...     return {"square": case**2}
        >>> sweeps.run(square, range(4), executor=sweeps.InProcess())["square"].tolist()
        [0, 1, 4, 9]
    """
    start = time.perf_counter()
    with_rng = _checks.check(function, executor, chunk, seed, workers, resume)
    listed = _checks.listed(cases)
    path = None if folder is None else Path(folder)
    if path is not None and "<" in _identity.name_of(function):
        raise ArgumentTypeError(
            f"sweeps.run: the function of a sweep with a folder must have a name by which it is known again, got "
            f"{_identity.name_of(function)}. Define it at the top level of a module."
        )
    if executor is None:
        _checks.check_can_be_sent(function)
    size = chunk
    if size is None and path is not None and resume:
        size = _folder.chunk_in(path)
    manifest = _folder.Manifest(
        function=_identity.name_of(function),
        parameters=_identity.parameters_of(function),
        cases=len(listed),
        seed=int(seed),
        chunk=int(size or max(1, min(_LARGEST, -(-len(listed) // _CHUNKS)))),
        digest=_identity.digest(function, listed),
        versions=_versions(),
    )
    sweep = _Sweep(function, listed, with_rng, manifest, path, progress, start)
    try:
        if path is not None:
            sweep.store = _folder.Folder(path, manifest, resume)
            sweep.tables = sweep.store.read()
            sweep.begun = sweep.done
        sweep.tell()
        pending = [number for number in range(manifest.chunks) if number not in sweep.tables]
        if pending:
            own = Processes(min(workers or cores(), len(pending))) if executor is None else None
            with own if own is not None else nullcontext():
                _drive(sweep, own or executor or InProcess(), pending)
    except KeyboardInterrupt:
        raise SweepInterrupted(sweep.stopped("interrupted"), sweep.result()) from None
    return sweep.result()


@dataclass
class _Sweep:
    """A sweep at work."""

    function: Callable[..., Any]
    cases: Sequence[Any]
    with_rng: bool
    manifest: _folder.Manifest
    path: Path | None
    progress: Progress | None
    start: float
    store: _folder.Folder | None = None
    tables: dict[int, _tables.Table] = field(default_factory=dict)
    begun: int = 0
    busy: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict)

    def work(self, chunk: int, cases: Iterable[int]) -> _tasks.Work:
        """Return a chunk, or a part of it, as it is sent."""
        items = [(i, self.cases[i]) for i in cases]
        return _tasks.Work(self.function, chunk, items, self.manifest.seed, self.with_rng)

    def keep(self, chunk: int, report: _tasks.Report, before: Sequence[_tables.Table] = ()) -> None:
        """Keep a chunk that is done."""
        self.account(report)
        table = _tables.join([*before, report.table])
        if self.store is not None:
            self.store.write(chunk, table)
        self.tables[chunk] = table
        self.tell()

    def account(self, report: _tasks.Report) -> None:
        """Count the effort of a worker."""
        self.busy += report.seconds
        self.peaks[report.worker] = max(report.peak, self.peaks.get(report.worker, 0))

    @property
    def done(self) -> int:
        """Number of cases that are done."""
        return sum(len(t["index"]) + len(t["failed"]) for t in self.tables.values())

    def tell(self) -> None:
        """Report the progress."""
        if self.progress is not None:
            self.progress(self.done, len(self.cases))

    def result(self) -> SweepResult:
        """Return what is done so far."""
        effort = Effort(
            seconds=time.perf_counter() - self.start,
            busy=self.busy,
            computed=self.done - self.begun,
            read=self.begun,
            workers=len(self.peaks),
            peak=max(self.peaks.values(), default=0),
            own=_tasks.peak_memory(),
        )
        return make(self.manifest, self.tables, effort)

    def stopped(self, why: str) -> str:
        """Say what is kept, and how to go on."""
        if self.path is None:
            kept = "They are in the result of this exception only, as the sweep has no folder"
        else:
            kept = f"They are kept in {self.path}: run the same sweep again with resume=True (--resume) to go on"
        return f"the sweep was {why} after {self.done} of {len(self.cases)} cases. {kept}."


def _drive(sweep: _Sweep, executor: Executor, pending: Sequence[int]) -> None:
    """Run chunks until all are done, never more of them at a time than the executor needs."""
    room = capacity(executor)
    window = room if room == 1 else 2 * room + 2
    waiting: dict[Future[_tasks.Report], int] = {}
    ahead: dict[int, _tables.Table] = {}
    chunk = pending[0]
    try:
        if isinstance(executor, Processes):
            executor.start()
        if room > 1 and len(pending) > 1:
            # one case alone, so that the kernels it needs are compiled, and in the cache, before all workers want them
            first = sweep.manifest.range_of(chunk)[0]
            future = executor.submit(_tasks.run, sweep.work(chunk, [first]))
            waiting[future] = chunk
            report = future.result()
            waiting.clear()
            sweep.account(report)
            ahead[chunk] = report.table
        queue = iter(pending)
        while True:
            for chunk in _some(queue, window - len(waiting)):
                cases = sweep.manifest.range_of(chunk)[len(ahead) if chunk in ahead else 0 :]
                waiting[executor.submit(_tasks.run, sweep.work(chunk, cases))] = chunk
            if not waiting:
                return
            broken: tuple[int, Exception] | None = None
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                number = waiting.pop(future)
                try:
                    report = future.result()
                except Exception as error:
                    broken = (number, error)
                    continue
                sweep.keep(number, report, [ahead.pop(number)] if number in ahead else [])
            if broken is not None:  # the others that have come back are kept first
                chunk = broken[0]
                raise broken[1]
    except PinClustersError:
        raise
    except Exception as error:
        others = sorted({chunk, *waiting.values()})
        raise SweepError(_explain(sweep, executor, chunk, others, error), sweep.result()) from error
    finally:
        for future in waiting:
            future.cancel()


def _some(queue: Iterator[int], n: int) -> list[int]:
    return [chunk for _, chunk in zip(range(n), queue, strict=False)]


def _explain(sweep: _Sweep, executor: Executor, chunk: int, others: Sequence[int], error: Exception) -> str:
    """Say what happened to a chunk that gave no results."""

    def named(number: int) -> str:
        cases = sweep.manifest.range_of(number)
        return f"chunk {number} (cases {cases.start} to {cases.stop - 1})"

    deaths = executor.deaths() if isinstance(executor, Processes) and isinstance(error, BrokenExecutor) else []
    if deaths:
        what = " and ".join(f"{_exit(code)} at case {case} of {named(number)}" for code, number, case in deaths)
        what = f"a worker process died: {what}"
    elif isinstance(error, BrokenExecutor):
        what = f"a worker died at one of: {', '.join(map(named, others[:8]))}{', ...' if len(others) > 8 else ''}"
        if isinstance(executor, Processes):
            what += (
                ". If this is a script, does it start its work under if __name__ == '__main__'? Can the workers import "
                f"{sweep.manifest.function}?"
            )
    else:
        said = " ".join(str(error).split()) or "no message"
        what = f"{named(chunk)} gave no results: {type(error).__name__}: {said}"
    return f"{what}{'' if what.endswith(('?', '.')) else '.'} {_upper(sweep.stopped('stopped'))}"


def _exit(code: int) -> str:
    if code < 0:
        try:
            return f"{signal.Signals(-code).name}{' (out of memory?)' if -code == 9 else ''}"
        except ValueError:
            pass
    return f"exit code {code}"


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _versions() -> dict[str, str]:
    """Return the versions of what the numbers come from."""
    from .. import __version__

    found = {"pin_clusters": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for name, package in (("pinocchio", "pin"), ("numpy", "numpy"), ("numba", "numba")):
        try:
            found[name] = version(package)
        except PackageNotFoundError:  # not from a wheel
            found[name] = "?"
    return found
