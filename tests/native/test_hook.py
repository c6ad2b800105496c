"""What ``PIN_CLUSTERS_BUILD`` asks for."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

import pytest

from pin_clusters._engine.build import compile_library
from pin_clusters._engine.native import processor

hook = pytest.importorskip("pin_clusters._engine.build.hook", reason="hatchling is not installed")

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


CALLS = """
declare double @{name}(double)
define double @kernel(double %x) {{
  %y = call double @{name}(double %x)
  ret double %y
}}
"""


@pytest.mark.parametrize(
    ("name", "refused"),
    [("sin", ""), ("llvm.cos.f64", ""), ("erf", "erf"), ("llvm.exp.f64", "exp")],  # of two the text names no function
)
def test_functions_that_a_process_may_lack(name: str, refused: str) -> None:
    """The object is asked, not LLVM's text: calls are added when machine code is made."""
    if shutil.which("ld") is None:
        pytest.skip("no linker")
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple("x86_64-pc-linux-gnu").create_target_machine(cpu="x86-64-v2", reloc="pic")
    code = machine.emit_object(llvm.parse_assembly(CALLS.format(name=name)))
    if refused:
        with pytest.raises(compile_library.BuildError, match=rf"what may be in no library(.|\n)*{refused}\b"):
            compile_library.linked(code)
    else:
        assert compile_library.linked(code).startswith(b"\x7fELF")
