"""Libraries that are not what they should be: refused with one line, before any of them runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pin_clusters._engine.native import library, sources

pytestmark = pytest.mark.jitless
LEVEL = "x86-64-v2"
PART = Path(library.__file__).resolve()  # any module of the package


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of libraries, empty; the processor runs the lowest level."""
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    monkeypatch.setattr(library, "levels", lambda: (LEVEL,))
    monkeypatch.delenv("PIN_CLUSTERS_LEVEL", raising=False)
    monkeypatch.delenv("PIN_CLUSTERS_LIBRARY", raising=False)
    return tmp_path


def put(folder: Path, content: bytes, **changes: Any) -> Path:
    path = folder / library.file_name(LEVEL)
    path.write_bytes(content)
    note = json.loads(library.note(content, LEVEL, [PART]))
    path.with_suffix(".json").write_text(json.dumps({**note, **changes}))
    return path


def load() -> library.Library | None:
    return library._load.__wrapped__()


def loaded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What would be loaded, in place of loading it."""
    seen: list[Path] = []
    monkeypatch.setattr(library, "Library", lambda path, level: seen.append(path) or "loaded")
    return seen


def test_none_is_no_fault(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert load() is None
    assert capsys.readouterr().err == ""


def test_the_right_one_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = loaded(monkeypatch)
    path = put(folder, b"library")
    assert load() == "loaded"
    assert seen == [path]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "cut off": (truncate, "is damaged"),
    "one bit": (flip, "is damaged"),
    "empty": (lambda path: path.write_bytes(b""), "is damaged"),
    "no note": (lambda path: path.with_suffix(".json").unlink(), "cannot be checked"),
    "a note that is none": (lambda path: path.with_suffix(".json").write_text("{"), "cannot be checked"),
    "a note of another kind": (lambda path: path.with_suffix(".json").write_text("[1]"), "is damaged"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "cannot be checked"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    seen = loaded(monkeypatch)
    path = put(folder, b"some library")
    change, why = DAMAGE[damage]
    change(path)
    assert load() is None
    assert not seen
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert why in said
    assert "Numba compiles" in said


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": {"_native/library.py": ["0" * 32, "0" * 32]}}, {"sources": {"gone.py": ["0" * 32, "0" * 32]}},
        {"sources": "0" * 64}, {"sources": None}, {"format": 0}, {"level": "x86-64-v4"},
    ],
)  # fmt: skip
def test_of_other_sources(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changes: dict[str, Any]
) -> None:
    seen = loaded(monkeypatch)
    put(folder, b"some library", **changes)
    assert load() is None
    assert not seen
    assert "was made of other sources" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "python", "fits"),
    [
        ('"Some other words."\n\n# and these\nA = 1\n', sources.PYTHON, True),
        ("A = 2\n", sources.PYTHON, False),
        ("A = (\n", sources.PYTHON, False),
        ("# words\nA = 1\n", "3.10", False),  # trees of another version cannot be compared
        ('"Words."\nA = 1\n', "3.10", True),  # the same bytes can
    ],
)
def test_words_are_no_other_sources(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, python: str, fits: bool
) -> None:
    seen = loaded(monkeypatch)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    part = tmp_path / "part.py"
    part.write_text('"Words."\nA = 1\n')
    content = b"some library"
    path = folder / library.file_name(LEVEL)
    path.write_bytes(content)
    note = json.loads(library.note(content, LEVEL, [part]))
    path.with_suffix(".json").write_text(json.dumps({**note, "python": python}))
    part.write_text(text)
    sources.content_of.cache_clear()
    assert (load() is not None) == fits
    assert seen == [path] * fits


def test_in_another_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Where none is installed, or one of other sources, which nobody needs to hear of then."""
    other = tmp_path_factory.mktemp("other")
    seen = loaded(monkeypatch)
    path = put(other, b"in the other folder")
    assert load() is None
    monkeypatch.setenv("PIN_CLUSTERS_LIBRARY", str(other))
    assert load() == "loaded"
    put(folder, b"installed", format=0)
    assert load() == "loaded"
    installed = put(folder, b"installed")
    assert load() == "loaded"
    assert seen == [path, path, installed]
    assert capsys.readouterr().err == ""
    put(folder, b"installed", format=0)
    put(other, b"in the other folder", format=0)
    assert load() is None
    assert str(installed) in capsys.readouterr().err  # once, of the installed one


def test_foreign(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its note is right, but it is no library."""
    put(folder, b"#!/bin/sh\n")
    assert load() is None
    assert "cannot be loaded" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler to make a library")
def test_a_library_of_something_else(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, made = tmp_path / "other.c", tmp_path / "other.so"
    source.write_text("int other(void) { return 1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source], check=True)
    put(folder, made.read_bytes())
    assert load() is None
    assert "cannot be loaded" in capsys.readouterr().err


def test_a_level_can_be_chosen(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = loaded(monkeypatch)
    path = put(folder, b"library")
    monkeypatch.setenv("PIN_CLUSTERS_LEVEL", "numba")
    assert load() is None
    monkeypatch.setenv("PIN_CLUSTERS_LEVEL", LEVEL)
    assert load() == "loaded"
    assert seen == [path]
    monkeypatch.setenv("PIN_CLUSTERS_LEVEL", "x86-64-v3")
    assert load() is None
    assert "is not there" in capsys.readouterr().err
    monkeypatch.setenv("PIN_CLUSTERS_LEVEL", "v3")
    with pytest.raises(ValueError, match="it can be numba, x86-64-v4"):
        load()


def test_a_read_only_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(monkeypatch)
    path = put(folder, b"library")
    for thing in (path, path.with_suffix(".json"), folder):
        thing.chmod(0o555 if thing is folder else 0o444)
    try:
        assert load() == "loaded"
    finally:
        folder.chmod(0o755)


def test_threads_load_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = loaded(monkeypatch)
    put(folder, b"library")
    library._load.cache_clear()
    try:
        threads = [threading.Thread(target=library.load) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 1
    finally:
        library._load.cache_clear()
