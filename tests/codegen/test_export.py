"""The folder of an export: all of it or nothing, names, machines, and what is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.commands import refused, run
from support.compilers import C, needs_c
from support.compilers import run as shell
from support.messages import raises

import pin_clusters as pc
from pin_clusters.export.codegen import ExportError, TraceError, _export, _names, _test_program

FILES = {
    "CMakeLists.txt", "four_bar.c", "four_bar.h", "four_bar.hpp", "four_bar.o", "four_bar.pc", "four_bar.so",
    "test/four_bar_test.c",
}  # fmt: skip


@pytest.fixture
def model() -> pc.ClusterModel:
    return pc.load("four_bar")


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("export", "four_bar", "--functions", "rnea, aba,step", "-o", "out")
    assert result.exit_code == 0, result.stderr
    assert files(tmp_path / "out") == FILES
    assert "out/four_bar.c" in result.stdout
    header = (tmp_path / "out" / "four_bar.h").read_text()
    for line in (
        "void four_bar_rnea(const double *q, const double *v, const double *a, double *tau);",
        "void four_bar_aba(const double *q, const double *v, const double *tau, double *ddq);",
        "double four_bar_step(const double *q, const double *v, double dt, double *q_next);",
        "enum { four_bar_nq = 3, four_bar_nv = 1 };",
    ):
        assert line in header
    assert "q[1] coupler" in header
    assert run("export", "four_bar", "--functions", "aba").exit_code == 0
    assert files(tmp_path / "export_four_bar") == FILES


def test_command_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "'abba' cannot be traced. Did you mean 'aba'?" in refused("export", "four_bar", "--functions", "abba")
    assert "Did you mean 'skylake'" in refused("export", "four_bar", "--target", "skylke")
    assert "name 'four bar'" in refused("export", "four_bar", "--name", "four bar")
    assert "for example 'four_bar'" in refused("export", "four_bar", "--name", "four bar")
    assert "requires frames" in refused("export", "four_bar", "--functions", "computeFrameJacobian")
    assert "no frame 'foot'" in refused(
        "export", "four_bar", "--functions", "computeFrameJacobian", "--frames", "foot"
    )  # fmt: skip
    Path("a_file").write_text("")
    assert "a_file is a file, not a folder" in refused("export", "four_bar", "-o", "a_file")
    assert "functions is empty" in refused("export", "four_bar", "--functions", ",")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a_file"]


def test_bad_arguments(model: pc.ClusterModel, tmp_path: Path) -> None:
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        pc.codegen.c(model.tree)
    with raises(pc.ArgumentTypeError, "int"):
        pc.codegen.c(model, [3])  # type: ignore[list-item]
    with raises(pc.UnknownNameError, "'half' 'double' 'float'"):
        pc.codegen.c(model, real="half")
    with raises(pc.ArgumentTypeError, "name int"):
        pc.codegen.c(model, name=3)  # type: ignore[arg-type]
    with raises(pc.ArgumentTypeError, "target int"):
        pc.codegen.export(model, tmp_path / "new", target=3)  # type: ignore[arg-type]
    with raises(pc.UnknownNameError, "'cortex-a1000'"):
        pc.codegen.export(model, tmp_path / "new", target="aarch64-linux-gnu,cortex-a1000")
    with raises(pc.UnknownNameError, "'brick-linux-gnu'"):
        pc.codegen.export(model, tmp_path / "new", target="brick-linux-gnu")
    assert not (tmp_path / "new").exists()


def test_all_or_nothing(model: pc.ClusterModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    folder = tmp_path / "a" / "b"
    monkeypatch.setattr(_export, "cmake", full)
    with raises(ExportError, "b"):
        pc.codegen.export(model, folder)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    pc.codegen.export(model, folder)
    (folder / "notes.txt").write_text("mine")
    before = {name: (folder / name).read_bytes() for name in FILES}
    monkeypatch.setattr(_export, "cmake", full)
    with pytest.raises(ExportError):
        pc.codegen.export(model, folder, real="float")
    assert {name: (folder / name).read_bytes() for name in FILES} == before
    assert files(folder) == FILES | {"notes.txt"}
    monkeypatch.undo()
    (folder / "four_bar.h").unlink()
    (folder / "four_bar.h").mkdir()
    with raises(ExportError, "four_bar.h"):
        pc.codegen.export(model, folder, real="float")
    assert (folder / "four_bar.c").read_bytes() == before["four_bar.c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(model: pc.ClusterModel, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with raises(ExportError):
        pc.codegen.export(model, tmp_path / "new")
    tmp_path.chmod(0o700)


def test_without_a_compiler(model: pc.ClusterModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pc.codegen.export(model, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    made = pc.codegen.export(model, tmp_path, real="float")
    (note,) = made.notes
    assert note.startswith("four_bar.so was not created: no linker for")
    assert "or compile four_bar.c" in note
    # that of the last export is of other numbers
    assert files(tmp_path) == FILES - {"four_bar.so"} == {str(p.relative_to(tmp_path)) for p in made.files}


@pytest.mark.ci
def test_other_machines(model: pc.ClusterModel, tmp_path: Path) -> None:
    """The machine of an ELF file stands at byte 18."""
    for target, machine in (("aarch64-linux-gnu", 183), ("riscv64-linux-gnu,generic-rv64", 243), ("x86-64-v2", 62)):
        pc.codegen.export(model, tmp_path, "aba", target=target)
        assert int.from_bytes((tmp_path / "four_bar.o").read_bytes()[18:20], "little") == machine


def test_names() -> None:
    for text, name in (
        ("2-link arm", "robot_2_link_arm"), ("class", "class_robot"), ("", "robot"), ("Ünï", "Uni"), ("_x", "x"),
        ("a.b", "a_b"), ("日本", "robot"), ("atlas_v5", "atlas_v5"),
    ):  # fmt: skip
        assert _names.identifier(text) == name
    for name in ("2x", "a b", "", "while", "_x", "a-b", "é"):
        with raises(pc.UnknownNameError, repr(name)):
            _names.name_of("robot", name)
    assert _names.distinct(["q", "v", "q", "t1", "a_2", "é!"]) == ["q", "v", "q_", "t1_", "a_2_", "e"]


@needs_c
def test_robot_whose_names_are_no_names(tmp_path: Path) -> None:
    tree = pin.buildSampleModelManipulator()
    tree.name = '3 "arms" */ 日本\\'
    tree.names[1] = "a */ joint"
    model = pc.ClusterModel(tree, [pc.Rotor("elbow_joint", 100.0, axial_inertia=2e-5)])
    made = pc.codegen.export(model, tmp_path)
    assert made.name == "robot_3_arms"
    shell(C[0], "-std=c99", "-Wall", "-Werror", f"{made.name}.c", f"test/{made.name}_test.c", "-lm", "-o", "program",
          cwd=tmp_path)  # fmt: skip
    shell(tmp_path / "program", cwd=tmp_path)


@pytest.mark.ci
@needs_c
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_cmake_and_pkg_config(model: pc.ClusterModel, tmp_path: Path) -> None:
    folder, build, root = tmp_path / "four_bar", tmp_path / "build", tmp_path / "root"
    pc.codegen.export(model, folder)
    shell("cmake", "-S", folder, "-B", build, f"-DCMAKE_INSTALL_PREFIX={root}", cwd=tmp_path)
    shell("cmake", "--build", build, cwd=tmp_path)
    assert "100% tests passed" in shell("ctest", "--test-dir", build, cwd=tmp_path)
    shell("cmake", "--install", build, cwd=tmp_path)
    assert {"libfour_bar.a", "four_bar.h", "four_bar.hpp", "four_bar-config.cmake", "four_bar.pc"} <= {
        p.name for p in root.rglob("*")
    }
    # who uses it: as a folder of the own project, and installed
    (tmp_path / "main.c").write_text('#include "four_bar.h"\nint main(void) { double q[3]; four_bar_neutral(q); }\n')
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nfind_package(four_bar REQUIRED)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE four_bar::four_bar)\n"
    )
    shell("cmake", "-S", ".", "-B", "user", f"-DCMAKE_PREFIX_PATH={root}", cwd=tmp_path)
    shell("cmake", "--build", "user", cwd=tmp_path)
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config")
    for path in (folder, next(root.rglob("pkgconfig"))):
        asked = {**os.environ, "PKG_CONFIG_PATH": str(path)}
        done = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "four_bar"], env=asked, capture_output=True, text=True, check=True
        )  # fmt: skip
        shell(C[0], "main.c", *done.stdout.split(), "-o", "by_pkg_config", cwd=tmp_path)
        shell(tmp_path / "by_pkg_config", cwd=tmp_path)


def test_numbers_are_those_of_kernels(model: pc.ClusterModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A trace that computes something else is not exported."""
    original = _test_program.expected

    def wrong(*given: object) -> list[np.ndarray]:
        return [1.001 * x for x in original(*given)]  # type: ignore[arg-type]

    monkeypatch.setattr(_test_program, "expected", wrong)
    with raises(TraceError, "four_bar"):
        pc.codegen.export(model, tmp_path / "new")
    assert not (tmp_path / "new").exists()
