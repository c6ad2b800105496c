"""Sweeps: the same numbers from any executor; failures, deaths and Ctrl-C lose nothing else."""

from __future__ import annotations

import functools
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest
import sweep_cases
from samples.pool import some
from support.messages import raises
from threadpoolctl import threadpool_info

import pin_clusters as pc
from pin_clusters.studies import sweeps

HERE = sweeps.InProcess()
ROBOTS = 16


@pytest.fixture(scope="module")
def pool() -> Iterator[sweeps.Processes]:
    with sweeps.Processes(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def dask() -> Iterator[Executor]:
    pytest.importorskip("distributed")
    with sweeps.open_executor(2, "local") as executor:
        yield executor


@pytest.fixture(scope="module")
def expected() -> sweeps.SweepResult:
    return sweeps.run(sweep_cases.robot, range(ROBOTS), executor=HERE, seed=5)


def test_results_have_a_row_per_case() -> None:
    result = sweeps.run(sweep_cases.square, range(7), executor=HERE, chunk=3)
    assert result["square"].tolist() == [0, 1, 4, 9, 16, 25, 36]
    assert result["root"][4] == 2.0
    assert sorted(result) == ["root", "square"]
    assert (result.cases, result.complete, result.failures) == (7, True, ())
    assert result.function == "sweep_cases:square"
    assert (result.effort.computed, result.effort.read, result.effort.workers) == (7, 0, 1)
    assert result == result != sweeps.run(sweep_cases.square, range(7), executor=HERE)  # compare digests
    assert 1e6 < result.effort.peak <= result.effort.own
    with raises(pc.UnknownNameError, "'square'"):
        result["sqare"]


def test_each_case_has_its_own_generator() -> None:
    result = sweeps.run(sweep_cases.drawn, list("abcd"), executor=HERE, seed=3)
    spawned = np.random.SeedSequence(3).spawn(4)
    assert np.array_equal(result["x"], [np.random.default_rng(s).random(3) for s in spawned])
    other = sweeps.run(sweep_cases.drawn, list("abcd"), executor=HERE, seed=4)
    assert not np.any(result["x"] == other["x"])


@pytest.mark.parametrize("chunk", some([1, 4, 7, 100], [1, 7]))
def test_chunks_change_no_bit(expected: sweeps.SweepResult, chunk: int) -> None:
    found = sweeps.run(sweep_cases.robot, range(ROBOTS), executor=HERE, seed=5, chunk=chunk)
    assert found.digest == expected.digest


@pytest.mark.ci
def test_a_process_pool_changes_no_bit(expected: sweeps.SweepResult, pool: sweeps.Processes) -> None:
    for chunk in (None, 5):
        found = sweeps.run(sweep_cases.robot, range(ROBOTS), executor=pool, seed=5, chunk=chunk)
        assert found.digest == expected.digest
        assert np.array_equal(found["solved"], expected["solved"])
    assert 1 <= found.effort.workers <= 2


def test_threads_change_no_bit(expected: sweeps.SweepResult) -> None:
    with ThreadPoolExecutor(3) as threads:
        found = sweeps.run(sweep_cases.robot, range(ROBOTS), executor=threads, seed=5, chunk=2)
        assert threads.submit(sum, [1, 2]).result() == 3  # it was not shut down
    assert found.digest == expected.digest


@pytest.mark.ci
def test_dask_changes_no_bit(expected: sweeps.SweepResult, dask: Executor) -> None:
    found = sweeps.run(sweep_cases.robot, range(ROBOTS), executor=dask, seed=5, chunk=4)
    assert found.digest == expected.digest
    assert dask.submit(sum, [1, 2]).result() == 3
    failed = sweeps.run(sweep_cases.sometimes, range(12), executor=dask, chunk=2)
    assert [f.case for f in failed.failures] == [3, 8]


def test_a_changed_number_is_another_digest(expected: sweeps.SweepResult) -> None:
    # the comparisons above would be worth nothing otherwise
    arrays = {key: np.array(value) for key, value in expected.items()}
    arrays["inverse"][3, 1] = np.nextafter(arrays["inverse"][3, 1], np.inf)
    changed = sweeps.SweepResult(
        expected.function, expected.cases, expected.seed, expected.index, (), arrays, expected.effort
    )
    assert changed.digest != expected.digest


@pytest.mark.ci
def test_robots_travel_to_other_processes(pool: sweeps.Processes, tmp_path: Path) -> None:
    names = ("mit_humanoid", "tello", "four_bar", "delta", "belt_chain")
    models = sweep_cases.loaded(names)
    # 45 kB a leg: inertias and names of the tree, constraints and shapes, but no tables and no kernels
    assert max(len(pickle.dumps(model)) for model in models) < 120_000
    here = sweeps.run(sweep_cases.torque, models, executor=HERE, folder=tmp_path)
    there = sweeps.run(sweep_cases.torque, models, executor=pool)
    assert not here.failures
    assert there.digest == here.digest
    assert here["tau"].dtype == object  # they have different sizes
    assert [x.shape for x in here["M"]] == [(m.nv, m.nv) for m in models]
    # another process, which hashes in another order, knows them again
    assert pool.submit(sweep_cases.known_again, str(tmp_path), names).result() == (0, here.digest)
    models[2] = models[2].with_gravity([0.0, 0.0, -1.6])
    with raises(sweeps.SweepFolderError):
        sweeps.run(sweep_cases.torque, models, executor=HERE, folder=tmp_path, resume=True)


def test_resume_with_a_pool(pool: sweeps.Processes, tmp_path: Path) -> None:
    first = sweeps.run(sweep_cases.drawn, range(23), folder=tmp_path, chunk=4, executor=HERE)
    for number in (1, 2, 4):
        (tmp_path / f"chunk_{number:05d}.npz").unlink()
    again = sweeps.run(sweep_cases.drawn, range(23), folder=tmp_path, resume=True, executor=pool)
    assert (again.digest, again.effort.computed, again.effort.read) == (first.digest, 12, 11)


def test_one_case_runs_first_so_that_kernels_are_compiled_once() -> None:
    sent: list[tuple[list[int], bool]] = []

    class Watched(ThreadPoolExecutor):
        def submit(self, fn, /, work):  # type: ignore[no-untyped-def, override]
            alone = all(future.done() for future in futures)
            sent.append(([case for case, _ in work.items], alone))
            futures.append(super().submit(fn, work))
            return futures[-1]

    for chunk, first, second in ((3, [0], [1, 2]), (1, [0], [1])):
        sent.clear()
        futures: list[Future[object]] = []
        with Watched(2) as executor:
            assert sweeps.run(sweep_cases.square, range(9), executor=executor, chunk=chunk).complete
        assert sent[:2] == [(first, True), (second, True)]
        assert sorted(case for cases, _ in sent for case in cases) == list(range(9))


def test_a_failed_case_does_not_disturb_the_others(pool: sweeps.Processes) -> None:
    found = [sweeps.run(sweep_cases.sometimes, range(12), executor=e, chunk=5) for e in (HERE, pool)]
    assert found[0].digest == found[1].digest
    for result in found:
        assert result.index.tolist() == [0, 1, 2, 4, 5, 6, 7, 9, 10, 11]
        assert np.array_equal(result["x"], 1.0 / (result.index + 1))
        assert result.complete
        first, second = result.failures
        assert (first.case, second.case) == (3, 8)
        assert (first.type, first.message) == ("ZeroDivisionError", "0 has no inverse")
        assert "in sometimes" in first.traceback
        assert "in _inverse" in first.traceback
        assert "_tasks.py" not in first.traceback
        assert str(first) == "case 3: ZeroDivisionError: 0 has no inverse"


def test_what_is_no_dict_of_numbers_is_a_failure() -> None:
    result = sweeps.run(sweep_cases.wrong, range(6), executor=HERE)
    assert result.index.tolist() == [5]
    said = [f.message for f in result.failures]
    parts = ("got ndarray", "'x' must be", "got 1", "'x' is not an array", "'x' must be")
    for text, part in zip(said, parts, strict=True):
        assert part in text
    assert {f.type for f in result.failures} == {"ArgumentTypeError"}


def test_arrays_may_differ_from_case_to_case() -> None:
    for chunk in (1, 3, 50):
        result = sweeps.run(sweep_cases.mixed, range(7), executor=HERE, chunk=chunk)
        assert [x.tolist() for x in result["ragged"]] == [list(range(n)) for n in range(7)]
        assert result["text"].tolist() == [f"case {n}" for n in range(7)]
        assert result["flag"].dtype == bool
        rows = result["some/times"]
        assert [None if x is None else (x.shape, x[0, 0]) for x in rows] == [
            None, ((2, 1), 1.0), ((2, 2), 2.0), None, ((2, 4), 4.0), ((2, 5), 5.0), None,
        ]  # fmt: skip
        assert result.digest == sweeps.run(sweep_cases.mixed, range(7), executor=HERE).digest


@pytest.mark.parametrize("chunk", [1, 5])
def test_numbers_of_several_kinds_become_one_kind(chunk: int) -> None:
    found = sweeps.run(lambda n: {"x": np.arange(n) if n % 2 else np.ones(n)}, range(5), executor=HERE, chunk=chunk)
    assert {row.dtype for row in found["x"]} == {np.dtype(float)}
    assert found["x"][3].tolist() == [0.0, 1.0, 2.0]


def test_no_case_at_all(tmp_path: Path) -> None:
    result = sweeps.run(sweep_cases.square, [], folder=tmp_path / "none")
    assert (len(result), result.cases, result.complete) == (0, 0, True)
    assert sweeps.load(tmp_path / "none").complete


def test_blas_has_one_thread_and_gets_its_threads_back() -> None:
    def now() -> list[int]:
        return [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]

    before = now()
    with ThreadPoolExecutor(2) as threads:
        result = sweeps.run(sweep_cases.blas_threads, range(20), executor=threads, chunk=1)
    assert set(result["threads"].tolist()) == {1}
    assert now() == before


def test_progress_counts_cases() -> None:
    told: list[tuple[int, int]] = []
    sweeps.run(sweep_cases.square, range(7), executor=HERE, chunk=3, progress=lambda *x: told.append(x))
    assert told == [(0, 7), (3, 7), (6, 7), (7, 7)]


@pytest.mark.ci
def test_a_dead_worker_is_named_and_what_is_done_stays(tmp_path: Path) -> None:
    with pytest.raises(sweeps.SweepError) as caught:
        sweeps.run(sweep_cases.deadly, range(12), folder=tmp_path, chunk=3, workers=1)
    text = str(caught.value)
    assert "exit code 11 at case 7 of chunk 2 (cases 6 to 8)" in text
    assert "resume=True (--resume)" in text
    assert caught.value.result is not None
    assert caught.value.result.index.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.array_equal(sweeps.load(tmp_path)["x"], range(6))


@pytest.mark.ci
def test_an_exit_code_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool's own thread collects a dead process, and knows its exit code a moment after everybody sees its end."""
    collect, here = os.waitpid, threading.current_thread()

    def late(pid: int, flags: int) -> tuple[int, int]:
        if threading.current_thread() is here:
            raise ChildProcessError(10, "No child processes")  # the other thread was first
        found = collect(pid, flags)
        time.sleep(0.2)  # makes it late; nothing is decided by how late
        return found

    monkeypatch.setattr(os, "waitpid", late)
    with raises(sweeps.SweepError, "11 7 chunk 0"):
        sweeps.run(sweep_cases.deadly, range(8), workers=1, chunk=8)


def test_a_dead_worker_of_another_pool(tmp_path: Path) -> None:
    sent: list[tuple[Future[object], object]] = []

    class Pool(Executor):
        """Its worker dies at chunk 2, seen at once with what came back before; as a ProcessPoolExecutor says it."""

        _max_workers = 2

        def submit(self, fn, /, work):  # type: ignore[no-untyped-def, override]
            if not sent:
                sent.append((HERE.submit(fn, work), work))
                return sent[0][0]
            sent.append((Future(), work))
            if work.chunk == 2:
                sent[-1][0].set_exception(BrokenProcessPool("A process in the process pool was terminated abruptly"))
                for future, other in sent[1:-1]:
                    future.set_result(fn(other))
            return sent[-1][0]

    with raises(sweeps.SweepError, "chunk 2 6 8 resume=True"):
        sweeps.run(sweep_cases.square, range(9), folder=tmp_path, chunk=3, executor=Pool())
    assert sweeps.load(tmp_path).index.tolist() == list(range(6))


def test_a_case_that_cannot_be_sent(pool: sweeps.Processes) -> None:
    with raises(pc.ArgumentTypeError, "generator sweeps.run"):
        sweeps.run(sweep_cases.square, [1, (x for x in "ab")], executor=pool)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    with raises(sweeps.SweepInterrupted, "4 9 resume=True") as caught:
        sweeps.run(sweep_cases.interrupted, range(9), folder=tmp_path, chunk=2, executor=HERE)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.result["x"].tolist() == [0, 1, 2, 3]
    assert not caught.value.result.complete
    back = pickle.loads(pickle.dumps(caught.value))
    assert (str(back), back.result.digest) == (str(caught.value), caught.value.result.digest)
    assert sweeps.load(tmp_path).index.tolist() == [0, 1, 2, 3]
    with raises(sweeps.SweepInterrupted, "5 9"):
        sweeps.run(sweep_cases.interrupted, range(9), executor=HERE)


def test_what_was_sent_but_not_begun_is_cancelled() -> None:
    calls: list[int] = []
    gate = threading.Event()

    def blocked(case: int) -> dict[str, int]:
        calls.append(case)
        assert case < 2 or gate.wait(600.0)
        return {"x": case}

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as executor:
        with raises(sweeps.SweepInterrupted, "2 12"):
            sweeps.run(blocked, range(12), chunk=1, executor=executor, progress=stop)
        gate.set()
    # six chunks are sent at a time: case 0 alone, case 1, and those that two threads have begun
    assert calls[0] == 0
    assert 1 in calls
    assert len(calls) <= 4


def test_a_function_may_use_its_arrays_again() -> None:
    assert sweeps.run(sweep_cases.reused, range(4), executor=HERE, chunk=4)["x"][:, 0].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_failures_are_part_of_the_digest() -> None:
    def failing(text: str, case: int) -> dict[str, int]:
        if case == 1:
            raise ValueError(text)
        return {"x": case}

    one, same, other = (
        sweeps.run(functools.partial(failing, text), range(3), executor=HERE).digest for text in ("a", "a", "b")
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"function": 3}, "function int"),
        ({"cases": 3}, "cases int"),
        ({"cases": "abc"}, "cases str"),
        ({"cases": {1: 2}}, "mapping list(cases.items())"),
        ({"cases": {1, 2}}, "set"),
        ({"resume": "no"}, "resume 'no'"),
        ({"executor": "dask"}, "executor concurrent.futures.Executor str"),
        ({"chunk": 0}, "chunk 1 0"),
        ({"chunk": 2.5}, "chunk"),
        ({"workers": -1}, "workers"),
        ({"seed": None}, "seed 0 None"),
        ({"seed": -1}, "seed"),
        ({"function": lambda case: {"x": case}, "executor": None}, "sweeps.run"),
        ({"function": lambda case: {"x": case}, "folder": "f"}, "sweeps.run <lambda>"),
    ],
)
def test_arguments_that_are_refused(
    change: dict[str, object], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given: dict[str, object] = {"function": sweep_cases.square, "cases": range(3), "executor": HERE} | change
    function, cases = given.pop("function"), given.pop("cases")
    with raises(pc.ArgumentTypeError, text):
        sweeps.run(function, cases, **given)
    assert not list(tmp_path.iterdir())


def test_a_dask_client_is_not_its_executor() -> None:
    class Client:
        def get_executor(self) -> None: ...

    with raises(pc.ArgumentTypeError, "client.get_executor()"):
        sweeps.run(sweep_cases.square, range(3), executor=Client())


def test_functions_without_a_name_are_welcome_where_none_is_needed() -> None:
    offset = 3
    with ThreadPoolExecutor(1) as threads:
        result = sweeps.run(lambda case: {"x": case + offset}, range(3), executor=threads)
    assert result["x"].tolist() == [3, 4, 5]
    bound = functools.partial(sweep_cases.sometimes, bad=(0,))
    assert sweeps.run(bound, range(2), executor=HERE).index.tolist() == [1]


@pytest.mark.ci
def test_dask_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        raises(pc.NotAvailableError, "distributed '.[dask]'"),
        sweeps.open_executor(1, "local"),
    ):
        pass
