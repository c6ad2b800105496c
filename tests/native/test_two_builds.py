"""Two processes that make the library at once, into the same folder: what stays is whole."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pin_clusters._engine.build import compile_library
from pin_clusters._engine.entry_points import JIT
from pin_clusters._engine.native import library, processor

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="builds on Linux, x86-64"
)
LEVEL = "x86-64-v2"
PARTS = [Path(library.__file__).resolve()]


@pytest.mark.jitless
def test_a_library_and_its_note_are_of_one_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one finishes, if it may, while the first has written its library but not its note."""
    between, over = threading.Event(), threading.Event()
    replace = Path.replace

    def slowly(part: Path, target: Path) -> Path:
        if threading.current_thread() is first and target.suffix == ".json":
            between.set()
            over.wait(0.5)
        return replace(part, target)

    monkeypatch.setattr(Path, "replace", slowly)
    first = threading.Thread(target=compile_library.put_in_place, args=(b"first", LEVEL, tmp_path, PARTS))
    first.start()
    assert between.wait(60.0)
    compile_library.put_in_place(b"second", LEVEL, tmp_path, PARTS)
    over.set()
    first.join()
    path = tmp_path / library.file_name(LEVEL)
    assert library._fault(path, LEVEL) == ""
    assert path.read_bytes() == b"second"
    assert sorted(tmp_path.iterdir()) == sorted([path, path.with_suffix(".json")])  # no parts stay


@pytest.mark.jitless
def test_for_tests_it_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[Path] = []

    def build(level: str, folder: Path, *, quiet: bool) -> None:
        made.append(compile_library.put_in_place(b"made", level, folder, PARTS))

    monkeypatch.setenv("PIN_CLUSTERS_CACHE", str(tmp_path))
    monkeypatch.setattr(compile_library, "linker", lambda: "ld")
    monkeypatch.setattr(compile_library, "build_apart", build)
    folder = compile_library.build_for_tests()
    assert compile_library.build_for_tests() == folder
    assert [path.parent for path in made] == [folder]
    assert capsys.readouterr().err.count("compiling a library of kernels") == 1
    made[0].write_bytes(b"damaged")
    compile_library.build_for_tests()
    assert len(made) == 2
    monkeypatch.undo()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(compile_library.BuildError, match="needs a linker"):
        compile_library.build_for_tests()


BUILD = """
import sys
from pathlib import Path
from pin_clusters._engine.build import compile_library
compile_library.build(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
"""
KERNELS = ["rows_at", "openness_at", "energy_at"]  # of few seconds; one process each, as far as there are cores


@pytest.mark.slow
@pytest.mark.long  # LLVM works for some 15 seconds
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
@pytest.mark.skipif(not any(map(shutil.which, compile_library.LINKERS)), reason="no linker")
def test_two_processes_build_at_once(tmp_path: Path) -> None:
    level = processor.levels()[0]
    variables = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": compile_library.FEATURES.get(level, "")}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD, level, str(tmp_path), *KERNELS], env={**os.environ, **variables},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=Path(sys.executable).parent,
        )
        for _ in range(2)
    ]  # fmt: skip
    told = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    path = tmp_path / library.file_name(level)
    assert library._fault(path, level) == ""
    assert sorted(tmp_path.iterdir()) == sorted([path, path.with_suffix(".json")])
    for name in KERNELS:
        address, function = library.Library(path, level).kernel(name)
        assert address
        with pytest.raises(TypeError, match=f"{name} was given something else"):
            function()
