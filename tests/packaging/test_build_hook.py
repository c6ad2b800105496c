"""hatch_build.py: which compiler builds the C extension, and what happens if none does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.scripts import ROOT, module_at

SHARED = ("CC", "CFLAGS", *(f"PIN_CLUSTERS_{x}" for x in ("ZIG", "PURE", "MUST_COMPILE", "TARGET")))


class Build:
    """A source tree, a PATH with the compilers that a test adds, and the hook that builds in them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.module = _module()
        self.package, self.bin, self.headers = folder / "pin_clusters", folder / "bin", folder / "include"
        for one in (self.package, self.bin, self.headers):
            one.mkdir()
        (self.headers / "Python.h").touch()
        self.log = folder / "log"
        self.log.touch()
        for name in SHARED:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setattr(sys, "executable", str(self.bin / "python"))  # an installed ziglang is not found
        monkeypatch.setattr(self.module.sysconfig, "get_path", lambda name: str(self.headers))
        self.hook = self.module.CustomBuildHook(str(folder), {}, None, None, str(folder), "wheel", self)
        self.warnings: list[str] = []

    def display_warning(self, text: str) -> None:
        """Take the place of hatchling's application."""
        self.warnings.append(text)

    def add_compiler(self, name: str, *, works: bool = True) -> None:
        """Write a program that logs its arguments and writes the file after ``-o``, or fails."""
        end = 'for out; do :; done; echo built > "$out"' if works else "echo no limits.h >&2; exit 1"
        lines = ["#!/bin/sh", '[ "$1" != version ] || exit 0', f'echo "$(basename "$0") $*" >> {self.log}', end]
        (self.bin / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.bin / name).chmod(0o755)
        for tool in ("/bin/basename", "/usr/bin/basename"):
            if Path(tool).exists() and not (self.bin / "basename").exists():
                (self.bin / "basename").symlink_to(tool)

    def run(self, version: str = "standard") -> dict[str, Any]:
        """Build; return what the hook says of the wheel, with the content of each file that it adds."""
        data: dict[str, Any] = {"pure_python": True, "infer_tag": False, "force_include": {}}
        self.hook.initialize(version, data)
        data["force_include"] = {to: Path(made).read_text().strip() for made, to in data["force_include"].items()}
        self.hook.finalize(version, data, "")
        return data

    def calls(self) -> list[str]:
        """Return the command lines of the compilers that ran."""
        return self.log.read_text(encoding="utf-8").splitlines()


def _module() -> ModuleType:
    pytest.importorskip("hatchling", reason="the hook needs hatchling, which is not installed")
    return module_at(ROOT / "hatch_build.py")


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    return Build(tmp_path, monkeypatch)


def is_pure(data: dict[str, Any]) -> bool:
    return data == {"pure_python": True, "infer_tag": False, "force_include": {}}


@pytest.mark.parametrize(
    ("installed", "used"),
    [
        (["cc", "gcc", "zig"], ["cc"]),
        (["gcc", "clang"], ["gcc"]),
        (["clang"], ["clang"]),
        (["zig"], ["zig cc"]),
        (["python-zig"], ["python-zig cc"]),
        (["python"], ["python -m ziglang cc"]),
    ],
)
def test_the_first_installed_compiler_is_used(build: Build, installed: list[str], used: list[str]) -> None:
    for name in installed:
        build.add_compiler(name)
    if installed == ["python"]:  # stands for an interpreter in which ziglang is installed
        text = (build.bin / "python").read_text(encoding="utf-8")
        (build.bin / "python").write_text(text.replace('[ "$1" != version ]', '[ "$3" != version ]'), encoding="utf-8")
    data = build.run()
    assert [call.split(" -O2 ")[0] for call in build.calls()] == used
    assert build.warnings == []
    assert (data["pure_python"], data["infer_tag"]) == (False, True)
    suffix = build.module.sysconfig.get_config_var("EXT_SUFFIX")
    assert data["force_include"] == {f"pin_clusters/_native{suffix}": "built"}
    assert list(build.package.iterdir()) == []
    assert not Path(build.hook.folder.name).exists()


def test_zig_is_tried_if_the_system_compiler_fails(build: Build) -> None:
    build.add_compiler("cc", works=False)
    build.add_compiler("zig")
    assert not is_pure(build.run())
    assert build.warnings == []
    assert [call.split(" -O2 ")[0] for call in build.calls()] == ["cc", "zig cc"]


def test_named_compiler_and_options(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cc", "mine"):
        build.add_compiler(name)
    monkeypatch.setenv("CC", "mine --fast")
    monkeypatch.setenv("CFLAGS", "-g -I/first")
    build.run()
    (call,) = build.calls()
    assert call.startswith("mine --fast ")
    assert call.index("-I/first") < call.index(f"-I{build.headers}"), "headers of another platform must come first"


def without_a_compiler(build: Build) -> str:
    return "no C compiler"


def with_a_compiler_that_fails(build: Build) -> str:
    build.add_compiler("cc", works=False)
    return "no limits.h"


def with_a_compiler_that_is_not_there(build: Build) -> str:
    os.environ["CC"] = "nonexistent"  # the fixture restores it
    return "nonexistent"


def without_headers(build: Build) -> str:
    build.add_compiler("cc")
    (build.headers / "Python.h").unlink()
    return f"Python.h in {build.headers}"


def without_numpy(build: Build) -> str:
    build.add_compiler("cc")
    sys.modules["numpy"] = None  # type: ignore[assignment]
    return "numpy>=2"


REASONS = [
    without_a_compiler, with_a_compiler_that_fails, with_a_compiler_that_is_not_there, without_headers, without_numpy,
]  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_the_package_is_built_without_the_extension_with_one_warning(
    build: Build, reason: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "")
    monkeypatch.setitem(sys.modules, "numpy", sys.modules["numpy"])
    named = reason(build)
    assert is_pure(build.run())
    (warning,) = build.warnings
    assert named in warning
    for cure in ("gcc", "python3-dev", "PIN_CLUSTERS_ZIG=1", "pin-clusters info"):
        assert cure in warning
    monkeypatch.setenv("PIN_CLUSTERS_MUST_COMPILE", "1")
    with pytest.raises(RuntimeError) as error:
        build.run()
    assert named in str(error.value)
    build.hook.folder.cleanup()


def test_a_pure_wheel(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    build.add_compiler("cc")
    monkeypatch.setenv("PIN_CLUSTERS_PURE", "1")
    monkeypatch.setenv("PIN_CLUSTERS_MUST_COMPILE", "1")
    assert build.hook.dependencies() == []
    assert is_pure(build.run())
    assert build.calls() == build.warnings == []


def test_ziglang_is_downloaded_only_if_asked_for_and_needed(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build.hook.dependencies() == []
    monkeypatch.setenv("PIN_CLUSTERS_ZIG", "1")
    assert build.hook.dependencies() == ["numpy>=2", "ziglang>=0.13"]
    build.add_compiler("gcc")
    assert build.hook.dependencies() == ["numpy>=2"]


def test_an_editable_installation_has_the_extension_beside_the_sources(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.add_compiler("cc")
    assert is_pure(build.run("editable"))
    (made,) = build.package.iterdir()
    assert made.name.startswith("_native.")
    build.add_compiler("cc", works=False)
    build.run("editable")
    assert not made.exists(), "an old extension is left, which may not match the sources"
    assert len(build.warnings) == 1


@pytest.mark.parametrize(("tag", "apple"), [("cp311-cp311-macosx_11_0_arm64", 1), ("cp311-cp311-manylinux2014_x", 0)])
def test_a_wheel_for_another_platform(build: Build, tag: str, apple: int, monkeypatch: pytest.MonkeyPatch) -> None:
    build.add_compiler("cc")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PIN_CLUSTERS_TARGET", tag)
    data = build.run()
    assert data == {
        "pure_python": False, "infer_tag": False, "tag": tag, "force_include": {"pin_clusters/_native.so": "built"},
    }  # fmt: skip
    assert build.calls()[0].count("-undefined dynamic_lookup") == apple
