"""What ``PIN_CLUSTERS_BUILD`` asks for."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

import pytest

from pin_clusters._build import compile_library
from pin_clusters._native import processor

hook = pytest.importorskip("pin_clusters._build.hook", reason="hatchling is not installed")

pytestmark = [
    pytest.mark.jitless,
    pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="builds on Linux, x86-64"),
]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("all", ["x86-64-v4", "x86-64-v3", "x86-64-v2"]),
        ("x86-64-v2", ["x86-64-v2"]),
        ("x86-64-v2, x86-64-v3,x86-64-v2", ["x86-64-v3", "x86-64-v2"]),
    ],
)
def test_levels(asked: str, expected: list[str]) -> None:
    assert hook.levels(asked) == expected


def test_native_is_the_best_here() -> None:
    assert hook.levels("native") == list(processor.levels()[:1])


@pytest.mark.parametrize("asked", ["v3", "x86-64-v3,fast", "1"])
def test_other_names(asked: str) -> None:
    with pytest.raises(ValueError, match="is neither native, all, nor of x86-64-v4"):
        hook.levels(asked)


def test_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(ValueError, match="installed as pure Python"):
        hook.levels("native")


def test_without_a_linker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(compile_library.BuildError, match="apt-get install binutils"):
        compile_library.build_apart("x86-64-v3", tmp_path)
    assert not list(tmp_path.iterdir())
