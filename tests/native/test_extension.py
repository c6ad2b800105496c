"""The C extension is used only if it matches the Python code, and its absence is named."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pinocchio as pin
import pytest
from support.commands import run
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler import owed, switches
from pin_clusters.compiler.calls import form
from pin_clusters.compiler.native import extension

pytestmark = pytest.mark.jitless

NAME = "pin_clusters._native"
MISMATCH = f"""
import sys, types
sys.modules["{NAME}"] = native = types.ModuleType("{NAME}")
native.INTERFACE, native.__file__ = 0, "old.so"
import pin_clusters
"""


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module in the place of the extension."""
    found = ModuleType(NAME)
    found.INTERFACE = extension.INTERFACE
    found.__file__ = "old.so"
    monkeypatch.setitem(sys.modules, NAME, found)
    monkeypatch.delenv("PIN_CLUSTERS_CALLS", raising=False)
    return found


SOURCE = (Path(__file__).parents[2] / "pin_clusters" / "_native.c").read_text(encoding="utf-8")


def test_both_sides_have_the_same_interface() -> None:
    (interface,) = re.findall(r"^#define INTERFACE (\d+)$", SOURCE, re.MULTILINE)
    assert int(interface) == extension.INTERFACE


def test_both_sides_have_the_same_sizes() -> None:
    (most_arguments,) = re.findall(r"MOST_ARGUMENTS = (\d+)", SOURCE)
    assert int(most_arguments) == form.RESULT
    (buffers,) = re.findall(r"enum \{ STATE_BUFFERS = (\d+), LOST = 1 \+ STATE_BUFFERS \}", SOURCE)
    assert (int(buffers), 1 + int(buffers)) == (len(owed.STATE_BUFFERS), owed.LOST)
    (body,) = re.findall(r"^static int is_size.*$", SOURCE, re.MULTILINE)
    assert tuple(map(int, re.findall(r"n == (\d+)", body))) == form._SIZES


def test_an_extension_that_matches_is_used(native: ModuleType) -> None:
    assert extension._load() == (native, "")


def test_another_interface_is_refused_with_the_cure(native: ModuleType) -> None:
    native.INTERFACE = 0
    said = f"old.so 0 {extension.INTERFACE} pin-clusters --force-reinstall -e PIN_CLUSTERS_CALLS=python"
    with raises(ImportError, said):
        extension._load()


def test_the_package_is_not_imported_with_another_interface() -> None:
    done = subprocess.run([sys.executable, "-Pc", MISMATCH], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: The C extension old.so has interface 0")


def test_reasons_for_calls_by_python(native: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    native.INTERFACE = 0
    monkeypatch.setenv("PIN_CLUSTERS_CALLS", "python")
    assert extension._load() == (None, "PIN_CLUSTERS_CALLS=python")
    monkeypatch.delenv("PIN_CLUSTERS_CALLS")
    monkeypatch.delitem(sys.modules, NAME)
    monkeypatch.setattr(pc, "__path__", [str(tmp_path)])
    assert extension._load() == (None, "the C extension is not built")
    (tmp_path / "_native.so").write_text("no library", encoding="utf-8")
    found, reason = extension._load()
    assert found is None
    assert reason.startswith("the C extension cannot be loaded: ")
    assert "_native.so" in reason


@pytest.mark.parametrize(
    ("missing", "jit", "checked", "expected"),
    [
        ("", True, False, "C"),
        ("it is not built", True, False, "Python (it is not built)"),
        ("", False, False, "Python (kernels are not compiled in this process)"),
        ("", True, True, "Python (PIN_CLUSTERS_BOUNDSCHECK=1)"),
    ],
)
def test_the_layer_is_shown(
    missing: str,
    jit: bool,
    checked: bool,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(extension, "missing", missing)
    monkeypatch.setattr(switches, "JIT", jit)
    monkeypatch.setattr(switches, "BOUNDSCHECK", checked)
    pc.show_versions()
    shown = capsys.readouterr().out
    assert re.search(rf"^calls +{re.escape(expected)}$", shown, re.MULTILINE)
    assert f"pinocchio     {pin.__version__}" in shown
    assert run("info").stdout == shown
