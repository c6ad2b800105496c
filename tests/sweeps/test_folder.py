"""The folder of a sweep: continued, refused, repaired."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep_cases
from support.messages import raises, warns

import pin_clusters as pc
from pin_clusters.studies import sweeps
from pin_clusters.studies.sweeps import _arguments, _folder, robots

HERE = sweeps.InProcess()
CASES = range(23)


def run(folder: Path, **changes: Any) -> sweeps.SweepResult:
    given = {"function": sweep_cases.robot, "cases": CASES, "executor": HERE, "chunk": 4, "seed": 2} | changes
    return sweeps.run(given.pop("function"), given.pop("cases"), folder=folder, **given)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A finished sweep, and the digest of its numbers."""
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    return folder, run(folder).digest


@pytest.fixture
def folder(whole: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(whole[0], tmp_path / "sweep"))


def chunk(folder: Path, number: int) -> Path:
    return folder / f"chunk_{number:05d}.npz"


def test_what_is_there_is_read_back_to_the_bit(whole: tuple[Path, str], tmp_path: Path) -> None:
    folder, digest = whole
    assert sorted(p.name for p in folder.iterdir()) == [*(f"chunk_0000{i}.npz" for i in range(6)), "manifest.json"]
    assert sweeps.load(folder).digest == digest == run(tmp_path / "other").digest
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["sweep"]
    assert manifest["function"] == "sweep_cases:robot"
    assert (manifest["cases"], manifest["seed"], manifest["chunk"]) == (23, 2, 4)
    assert manifest["versions"]["pin_clusters"] == pc.__version__
    with np.load(chunk(folder, 5), allow_pickle=False) as last:  # plain arrays: no pickles
        assert last["index"].tolist() == [20, 21, 22]
        assert last["values/inverse"].shape == (9,)


def test_resume_computes_what_is_missing_only(folder: Path, whole: tuple[Path, str]) -> None:
    for number in (0, 3, 5):
        chunk(folder, number).unlink()
    (folder / ".chunk_00003.npz.99.part").write_bytes(b"half a chunk")
    partly = sweeps.load(folder)
    assert not partly.complete
    assert partly.index.tolist() == [*range(4, 12), *range(16, 20)]
    told: list[tuple[int, int]] = []
    result = run(folder, resume=True, chunk=None, progress=lambda *x: told.append(x))
    assert result.digest == whole[1]
    assert (result.effort.computed, result.effort.read) == (11, 12)
    assert told == [(12, 23), (16, 23), (20, 23), (23, 23)]
    assert not list(folder.glob(".*.part"))
    assert run(folder, resume=True).effort.computed == 0


def test_resume_of_nothing_starts(tmp_path: Path) -> None:
    assert run(tmp_path / "a" / "b", cases=range(3), resume=True).complete


def test_failures_are_kept(tmp_path: Path) -> None:
    first = run(tmp_path, function=sweep_cases.sometimes, cases=range(12))
    again = run(tmp_path, function=sweep_cases.sometimes, cases=range(12), resume=True)
    assert again.effort.computed == 0
    assert again.failures == first.failures
    assert [f.case for f in again.failures] == [3, 8]


BROKEN = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not an archive"),
    "flipped": lambda path: path.write_bytes(_flipped(path.read_bytes())),
    "another chunk": lambda path: shutil.copyfile(chunk(path.parent, 1), path),
    "another archive": lambda path: np.savez(path, x=np.ones(3)),
}


def _flipped(data: bytes) -> bytes:
    at = data.index(b"values/forward.npy") + 300  # in the numbers, behind the header
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.ci
@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_chunk_is_moved_aside_and_computed_again(folder: Path, whole: tuple[Path, str], how: str) -> None:
    path = chunk(folder, 2)
    BROKEN[how](path)
    broken = path.read_bytes()
    with warns(pc.PinClustersWarning, "chunk 2"):
        assert sweeps.load(folder).index.tolist() == [*range(8), *range(12, 23)]
    assert path.read_bytes() == broken
    with warns(pc.PinClustersWarning, "chunk_00002.npz chunk_00002.npz.broken"):
        result = run(folder, resume=True)
    assert (result.digest, result.effort.computed) == (whole[1], 4)
    assert (folder / "chunk_00002.npz.broken").read_bytes() == broken
    path.write_bytes(b"again")
    with warns(pc.PinClustersWarning, "chunk_00002.npz.broken1"):
        assert run(folder, resume=True).digest == whole[1]


def test_a_folder_with_results_is_refused_without_resume(folder: Path) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    with raises(sweeps.SweepFolderError, "6 sweep_cases --resume"):
        run(folder)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": 3}, "seed 2 3"),
        ({"cases": range(24)}, "23 24"),
        ({"cases": [*range(22), 99]}, ""),
        ({"chunk": 5}, "4 5"),
        ({"function": sweep_cases.drawn}, "sweep_cases:robot sweep_cases:drawn"),
        ({"function": functools.partial(sweep_cases.robot, rng=None)}, "rng=None"),
    ],
)
def test_another_sweep_is_refused(folder: Path, change: dict[str, Any], text: str) -> None:
    with raises(sweeps.SweepFolderError, text):
        run(folder, resume=True, **change)


def test_a_method_of_another_object_is_another_sweep(tmp_path: Path) -> None:
    """Its name is the same, but not what it computes."""
    run_times = functools.partial(sweeps.run, cases=range(3), folder=tmp_path, executor=sweeps.InProcess(), resume=True)
    assert run_times(sweep_cases.Times(2).of)["x"].tolist() == [0, 2, 4]
    assert run_times(sweep_cases.Times(2).of).effort.computed == 0
    with raises(sweeps.SweepFolderError):
        run_times(sweep_cases.Times(5).of)


def change_version(folder: Path, name: str) -> None:
    path = folder / "manifest.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    found["sweep"]["versions"][name] = "0.0.1"
    path.write_text(json.dumps(found), encoding="utf-8")


def test_versions(folder: Path, whole: tuple[Path, str]) -> None:
    change_version(folder, "numpy")
    with warns(pc.PinClustersWarning, "numpy 0.0.1"):
        assert run(folder, resume=True).digest == whole[1]
    change_version(folder, "pin_clusters")
    with raises(sweeps.SweepFolderError, "pin_clusters 0.0.1"):
        run(folder, resume=True)


@pytest.mark.parametrize("text", ["", "{", '{"sweep": {"function": "x"}}', "[]", '{"sweep": null}'])
def test_a_broken_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    with raises(sweeps.SweepFolderError, "manifest.json"):
        run(folder, resume=True)
    with raises(sweeps.SweepFolderError, "manifest.json"):
        sweeps.load(folder)


def test_chunks_without_a_manifest_are_refused(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with raises(sweeps.SweepFolderError, "6 manifest.json"):
        run(folder, resume=True)
    with raises(sweeps.SweepFolderError, "manifest.json"):
        sweeps.load(folder)


@pytest.mark.parametrize("name", ["file", "file/below", "/proc/sweep"])
def test_a_folder_that_cannot_be_written_is_said_before_the_work(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "calls").mkdir()
    with raises(sweeps.SweepFolderError):
        run(tmp_path / name, function=functools.partial(sweep_cases.counted, folder=str(tmp_path / "calls")))
    assert not list((tmp_path / "calls").iterdir())


def test_each_case_is_called_once(tmp_path: Path) -> None:
    (tmp_path / "calls").mkdir()
    function = functools.partial(sweep_cases.counted, folder=str(tmp_path / "calls"))
    with ThreadPoolExecutor(2) as threads:
        run(tmp_path / "sweep", function=function, executor=threads)
    called = sorted(int(p.name.partition("-")[0]) for p in (tmp_path / "calls").iterdir())
    assert called == list(CASES)


def test_a_full_disk_leaves_whole_chunks_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, calls = np.savez, 0

    def full(file: Any, **arrays: np.ndarray) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            file.write(b"the beginning")
            raise OSError(28, "No space left on device")
        save(file, **arrays)

    monkeypatch.setattr(_folder.np, "savez", full)
    with raises(sweeps.SweepFolderError, "chunk_00002.npz"):
        run(tmp_path)
    monkeypatch.undo()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["chunk_00000.npz", "chunk_00001.npz", "manifest.json"]
    assert run(tmp_path, resume=True).effort.read == 8


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """What was started in the background ignores Ctrl-C, and so would its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.ci
@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_and_resume(tmp_path: Path) -> None:
    folder, many = tmp_path / "stopped", 20_000  # more than could be done before the signal arrives
    command = [sys.executable, "-m", "pin_clusters._cli.cli", "sweep", "robots", "--robots", str(many), "--states", "1"]
    command += ["--seed", "4", "--workers", "2", "--chunk", "2", "--output", str(folder)]
    # a session of its own: the signal goes to all its processes, as from a terminal
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(list(folder.glob("chunk_*.npz"))) < 3:
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    said, told = process.communicate(timeout=600.0)
    assert process.returncode == 130, told
    assert said == ""
    lines = [line for line in told.splitlines() if not line.startswith("pin_clusters: compil")]
    assert len(lines) == 1, told
    done = sorted(folder.glob("chunk_*.npz"))
    assert lines[0].startswith(f"error: the sweep was interrupted after {2 * len(done)} of {many} cases. ")
    assert f"{folder} contains their results. Run the same sweep with resume=True (--resume)" in lines[0]
    assert 3 <= len(done) < many // 2
    before = {path: path.stat().st_mtime_ns for path in done}

    def once_more(now: int, total: int) -> None:
        if now > 2 * len(done):
            raise KeyboardInterrupt

    with pytest.raises(sweeps.SweepInterrupted) as again:
        robots.run(many, 1, seed=4, folder=folder, resume=True, executor=HERE, progress=once_more)
    assert {path: path.stat().st_mtime_ns for path in done} == before
    found = again.value.result
    assert (found.effort.read, found.effort.computed) == (2 * len(done), 2)
    direct = robots.run(int(found.index[-1]) + 1, 1, seed=4, executor=HERE)
    for key in found:
        assert np.array_equal(found[key], direct[key][found.index], equal_nan=True)


def test_a_chunk_that_was_just_written_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between writing a chunk and counting it."""
    write = _folder.write

    def write_and_stop(*given: Any) -> None:
        write(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(_folder, "write", write_and_stop)
    with raises(sweeps.SweepInterrupted, "4 23") as stop:
        run(tmp_path / "sweep")
    assert (stop.value.result.effort.computed, len(stop.value.result.index)) == (4, 4)


OLD_MANIFEST = {
    "function": "sweep_cases:mixed", "parameters": {}, "cases": 7, "seed": 0, "chunk": 3,
    "digest": "510404af0e0494959a7c304f2c4a34686bfb601d589a17d6a7b6f3705596f2c1",
}  # fmt: skip
OLD_CHUNKS = {
    0: {
        "index": np.arange(3), "failed": np.zeros(0, int), "failures": np.zeros(0, str),
        "cases/ragged": np.arange(3), "shapes/ragged": np.array([[0], [1], [2]]), "values/ragged": np.array([0, 0, 1]),
        "cases/text": np.arange(3), "shapes/text": np.zeros((3, 0), int),
        "values/text": np.array(["case 0", "case 1", "case 2"]),
        "cases/flag": np.arange(3), "shapes/flag": np.zeros((3, 0), int), "values/flag": np.array([True, False, True]),
        "cases/some/times": np.array([1, 2]), "shapes/some/times": np.array([[2, 1], [2, 2]]),
        "values/some/times": np.array([1.0, 1.0, 2.0, 2.0, 2.0, 2.0]),
    },
    2: {
        "index": np.zeros(0, int), "failed": np.array([6]),
        "failures": np.array(['{"case": 6, "type": "ValueError", "message": "no", "traceback": "in f"}']),
    },
}  # fmt: skip
"""What files hold, and digests of it: users have such folders, so none of it may change."""


def test_folders_that_users_have_are_read_and_continued(tmp_path: Path) -> None:
    run(tmp_path / "now", function=sweep_cases.square)
    now = json.loads((tmp_path / "now" / "manifest.json").read_text(encoding="utf-8"))["sweep"]
    folder = tmp_path / "old"
    folder.mkdir()
    manifest = {"sweep": OLD_MANIFEST | {"versions": now["versions"]}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for number, arrays in OLD_CHUNKS.items():
        np.savez(chunk(folder, number), **arrays)
    there = sweeps.load(folder)
    assert there.index.tolist() == [0, 1, 2]
    assert [str(failure) for failure in there.failures] == ["case 6: ValueError: no"]
    assert there.digest == "3322deef4835f12323330aee57587937656463859f1bb3ab41c556e298954889"
    result = run(folder, function=sweep_cases.mixed, cases=range(7), seed=0, chunk=None, resume=True)
    assert (result.effort.read, result.effort.computed) == (4, 3)
    assert [x.tolist() for x in result["ragged"]] == [list(range(n)) for n in range(6)]
    assert result["some/times"][5].tolist() == [[5.0] * 5] * 2
    assert result.digest == "70fddccd29d91fb5542dd04f48ea445ba2d8852cc7dcf192a72e6c66a4179ae5"
    with np.load(chunk(folder, 1)) as new, np.load(chunk(folder, 0)) as old:
        assert {name: new[name].dtype.kind for name in new} == {name: old[name].dtype.kind for name in old}
        assert new["shapes/ragged"].tolist() == [[3], [4], [5]]
        assert new["shapes/some/times"].tolist() == [[2, 4], [2, 5]]


def test_a_folder_knows_what_it_was_made_of() -> None:
    """The digest of a manifest is that of old folders: by value, whatever the process and the release."""
    bound = functools.partial(sweep_cases.counted, folder="x")
    cases = [
        1, 2.5, True, None, "a", b"b", 1j, (1, [2, {3: 4}]), set("abcdef"), range(3), np.float32(2.0), np.arange(3.0),
        np.array([1, None], dtype=object), sweep_cases.Times(3), sweep_cases.Times(2).of, len, sweep_cases.square,
    ]  # fmt: skip
    assert _arguments.digest(bound, cases) == "0a8e3e91c4c139fc3384f5448e725fafa38c8bb026445d62810293051ace2226"
    # what robots are pickled by: another name would make another sweep of each sweep over robots
    assert _arguments.name_of(pc.load("belt_chain").__reduce__()[0]) == "pin_clusters.model:remake"
    assert _arguments.name_of(pc.Gear) == "pin_clusters.constraints.gear:Gear"
