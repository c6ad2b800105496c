"""Exported C, compiled and run, against the kernels."""

from __future__ import annotations

import ctypes
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import pool
from support import compilers
from support.compilers import CPP, STRICT, C, needs_c, needs_cpp, run
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler import tracing
from pin_clusters.export.codegen import _exported_function, _numbers

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
OFTEN = ["mit_humanoid_leg", "four_bar"]
ROUNDING = 1e-11


def state(model: pc.ClusterModel, rng: np.random.Generator) -> dict[str, np.ndarray]:
    q = pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv))
    return {"q": q} | {name: rng.normal(size=model.nv) for name in ("v", "a", "tau")}


class Library:
    """Functions of a shared library, on NumPy's arrays."""

    def __init__(self, path: Path, robot: str, dtype: Any = np.float64) -> None:
        self.library, self.robot, self.dtype = ctypes.CDLL(str(path)), robot, dtype

    def __call__(self, name: str, size: int, *given: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        arrays = [x if x is out else np.ascontiguousarray(x, self.dtype) for x in given]
        out = np.full(size, np.nan, self.dtype) if out is None else out
        pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, out)]
        getattr(self.library, f"{self.robot}_{name}")(*pointers)
        return out


def compiled(folder: Path, robot: str, compiler: str = "") -> Path:
    """The source as a shared library, without a warning."""
    made = folder / f"lib{robot}_{compiler or C[0]}.so"
    run(compiler or C[0], *STRICT, "-O1", "-shared", "-fPIC", f"{robot}.c", "-o", made, "-lm", cwd=folder)
    return made


@needs_c
@pytest.mark.parametrize("robot", pool.some(pc.robots(), OFTEN))
def test_exported_c_is_the_kernel(robot: str, rng: np.random.Generator, tmp_path: Path) -> None:
    model = pc.load(robot)
    made = pc.codegen.export(model, tmp_path)
    assert made.notes == ()
    data, n = model.createData(), model.nv
    for compiler in C:
        source = compiled(tmp_path, made.name, compiler)
        for path in (source, tmp_path / f"{made.name}.so"):
            library = Library(path, made.name)
            for _ in range(3):
                x = state(model, rng)
                condition = float(np.linalg.cond(pc.crba(model, data, x["q"])))
                tau = library("rnea", n, x["q"], x["v"], x["a"])
                assert pool.error(tau, pc.rnea(model, data, x["q"], x["v"], x["a"])) < ROUNDING
                ddq = library("aba", n, x["q"], x["v"], x["tau"])
                right = pc.aba(model, data, x["q"], x["v"], x["tau"])
                assert pool.error(ddq, right) < ROUNDING * max(1.0, 1e-3 * condition)
                # results may be arguments
                same = x["tau"].copy()
                assert np.array_equal(library("aba", n, x["q"], x["v"], same, out=same), ddq)
                same = x["a"].copy()
                assert np.array_equal(library("rnea", n, x["q"], x["v"], same, out=same), tau)
                for first, to in ((0, 1), (1, 0)):  # or overlap them
                    room = np.zeros(n + 1)
                    room[first : first + n] = x["a"]
                    shifted = library("rnea", n, x["q"], x["v"], room[first : first + n], out=room[to : to + n])
                    assert np.array_equal(shifted, tau)
            assert np.array_equal(library("neutral", model.nq), model.q_reference)
        run(compiler, "-O1", f"test/{made.name}_test.c", f"{made.name}.o", "-lm", "-o", "of_object", cwd=tmp_path)
        run(compiler, *STRICT, f"test/{made.name}_test.c", source, f"-Wl,-rpath,{tmp_path}", "-o", "of_source",
            cwd=tmp_path)  # fmt: skip
        for program in ("of_object", "of_source"):
            told = run(tmp_path / program, cwd=tmp_path).splitlines()
            assert len(told) == 2 * _numbers.STATES
            assert all(line.startswith("ok ") for line in told)


@needs_c
def test_its_own_test_sees_a_fault(tmp_path: Path) -> None:
    made = pc.codegen.export(pc.load("four_bar"), tmp_path)
    source = tmp_path / f"{made.name}.c"
    text = source.read_text()
    numbers = re.findall(r"\* (0\.\d\d+)", text)
    source.write_text(text.replace(f"* {numbers[0]}", f"* (1.0 + 1e-6) * {numbers[0]}", 1))
    run(C[0], f"{made.name}.c", f"test/{made.name}_test.c", "-lm", "-o", "program", cwd=tmp_path)
    assert "FAILED" in run(tmp_path / "program", cwd=tmp_path, fails=True)
    source.write_text(re.sub(r"tau\[0\] = \w+", "tau[0] = 0.0 / 0.0", text))
    run(C[0], f"{made.name}.c", f"test/{made.name}_test.c", "-lm", "-o", "program", cwd=tmp_path)
    assert "FAILED rnea" in run(tmp_path / "program", cwd=tmp_path, fails=True)


@needs_c
@pytest.mark.parametrize("robot", pool.some(["four_bar", "tello", "mini_cheetah"], ["four_bar"]))
def test_float(robot: str, rng: np.random.Generator, tmp_path: Path) -> None:
    model = pc.load(robot)
    made = pc.codegen.export(model, tmp_path, "rnea", real="float")
    text = (tmp_path / f"{made.name}.c").read_text()
    assert "double" not in text
    assert not re.search(r"\d\.\d+(e-?\d+)?[^\d.fe]", text.split("rnea(")[-1]), "a number in double"
    x = state(model, rng)
    right = pc.rnea(model, model.createData(), x["q"], x["v"], x["a"])
    for path in (compiled(tmp_path, made.name), tmp_path / f"{made.name}.so"):
        tau = Library(path, made.name, np.float32)("rnea", model.nv, x["q"], x["v"], x["a"])
        assert pool.error(tau, right) < 1e-5


@pytest.mark.ci
@needs_c
def test_nothing_is_called_kept_or_allocated(tmp_path: Path) -> None:
    """Undefined symbols are those of libm; no writable data; the stack is of a size known when it is compiled."""
    made = pc.codegen.export(pc.load("mit_humanoid_leg"), tmp_path, ("aba", "step"))
    run(C[0], "-O1", "-fstack-usage", "-c", f"{made.name}.c", "-o", "compiled.o", cwd=tmp_path)
    for objects in ("compiled.o", f"{made.name}.o"):
        symbols = [line.split()[-2:] for line in run("nm", objects, cwd=tmp_path).splitlines()]
        assert {name for kind, name in symbols if kind == "U"} <= {"sin", "cos", "sqrt", "sincos"}
        assert not [name for kind, name in symbols if kind in "bBdDcC"]
        assert {name for kind, name in symbols if kind == "T"} == {
            f"{made.name}_{name}" for name in ("neutral", "aba", "step")
        }
    usage = [line.split("\t") for line in (tmp_path / "compiled.su").read_text().splitlines()]
    assert len(usage) == 3
    assert all(kind == "static" and int(size) < 16384 for _, size, kind in usage)
    source = (tmp_path / f"{made.name}.c").read_text()
    assert not re.search(r"\b(for|while|if|goto|malloc|static|extern)\b", re.sub(r"/\*.*?\*/", "", source, flags=re.S))


@pytest.mark.ci
@needs_c
@pytest.mark.parametrize("robot", pool.some(["mit_humanoid_leg", "four_bar", "mini_cheetah", "tello"], ["four_bar"]))
def test_every_function(robot: str, tmp_path: Path) -> None:
    """Its own test compares each with the kernels."""
    model = pc.load(robot)
    frame = model.own_tree.frames[-1].name
    names = [name for name, what in tracing.FUNCTIONS.items() if not what.touching]
    made = pc.codegen.export(model, tmp_path, [*names, "step"], frames=[frame])
    run(C[0], "-O1", f"test/{made.name}_test.c", f"{made.name}.o", "-lm", "-o", "program", cwd=tmp_path)
    told = run(tmp_path / "program", cwd=tmp_path)
    assert {line.split()[1] for line in told.splitlines()} == {*names, "step"}
    assert all(_numbers.Kernels(model, [frame]).knows(name) for name in names)
    run(C[0], *STRICT, "-O0", "-c", f"{made.name}.c", cwd=tmp_path)


@needs_c
@pytest.mark.parametrize("robot", ["four_bar", "mit_humanoid_leg"])
def test_step(robot: str, rng: np.random.Generator, tmp_path: Path) -> None:
    model = pc.load(robot)
    made = pc.codegen.export(model, tmp_path, "step")
    q, v = model.q_reference, rng.normal(size=model.nv)
    for path in (compiled(tmp_path, made.name), tmp_path / f"{made.name}.so"):
        step = getattr(ctypes.CDLL(str(path)), f"{made.name}_step")
        step.restype, step.argtypes = ctypes.c_double, [ctypes.c_void_p] * 2 + [ctypes.c_double, ctypes.c_void_p]
        x = q.copy()
        for _ in range(100):
            residual = step(x.ctypes.data, v.ctypes.data, 1e-3, x.ctypes.data)
            assert 0.0 <= residual < 1e-12
        assert pool.error(x, pc.integrate(model, q, 0.1 * v)) < 1e-9
        # too far for three steps of Newton's method: it says so
        if model.closures:
            assert step(x.ctypes.data, v.ctypes.data, 3.0 / abs(v[0]), x.ctypes.data) > 1e-6


CPP_PROGRAM = """
#include <cassert>
#include <cstdio>
#define EIGEN_RUNTIME_NO_MALLOC
#include "six_bar.hpp"
int main()
{
  using namespace six_bar;
  Eigen::internal::set_is_malloc_allowed(false);
  Configuration q = neutral();
  const Velocity v(0.7, -0.3, 0.2);
  const double given[3] = {0.2, 0.1, -0.4};
  const Eigen::Map<const Velocity> tau(given);
  const Velocity ddq = aba(q, v, tau);
  Velocity back;
  rnea(q, v, ddq, back);
  assert((back - tau).norm() < 1e-11);
  const auto [kinetic, potential] = energies(q, v);
  const Matrix<nv, nv> M = crba(q);
  assert(std::abs(kinetic(0) - 0.5 * v.dot(M * v)) < 1e-13);
  const auto [dq, dv, mass] = computeRNEADerivatives(q, v, ddq);
  assert((mass - M).norm() < 1e-13);
  const Matrix<nq, nv> G = coupling_jacobian(q);
  Configuration moved = q;
  assert(step(moved, 1e-4 * v, Scalar(1e-2), moved) < 1e-12);
  assert(((moved - q) * 1e6 - G * v).norm() < 1e-4);
  Eigen::internal::set_is_malloc_allowed(true);
  Eigen::VectorXd many = Eigen::VectorXd::Zero(2 * nq);
  Eigen::internal::set_is_malloc_allowed(false);
  many.head<nq>() = q;
  aba(many.head<nq>(), v, tau, back);
  assert(back == ddq);
  for (int i = 0; i < nv; ++i)
    for (int j = 0; j < nv; ++j) std::printf("%.17g %.17g ", dq(i, j), dv(i, j));
  std::printf("%.17g %.17g %.17g\\n", ddq(0), ddq(1), ddq(2));
}
"""


@pytest.mark.ci
@needs_cpp
def test_cpp_on_eigen(tmp_path: Path) -> None:
    headers = compilers.eigen()
    model = pc.load("six_bar")
    names = ("rnea", "aba", "crba", "energies", "computeRNEADerivatives", "coupling_jacobian", "step")
    pc.codegen.export(model, tmp_path, names)
    (tmp_path / "main.cpp").write_text(CPP_PROGRAM)
    v, tau, data = np.array([0.7, -0.3, 0.2]), np.array([0.2, 0.1, -0.4]), model.createData()
    ddq = pc.aba(model, data, model.q_reference, v, tau)
    dq, dv, _ = pc.computeRNEADerivatives(model, data, model.q_reference, v, ddq)
    for compiler in CPP:
        run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-isystem{headers}", "-I.", "main.cpp",
            "six_bar.o", "-lm", "-o", "program", cwd=tmp_path)  # fmt: skip
        found = np.array(run(tmp_path / "program", cwd=tmp_path).split(), dtype=float)
        assert pool.error(found[18:], ddq) < ROUNDING
        assert pool.error(found[:18:2].reshape(3, 3), dq) < ROUNDING
        assert pool.error(found[1:18:2].reshape(3, 3), dv) < ROUNDING
        assert not np.allclose(dv, dv.T)


@pytest.mark.ci
@needs_cpp
@pytest.mark.parametrize("robot", pool.some(["mit_humanoid_leg", "mini_cheetah", "tello"], 1, rest="ci"))
def test_in_a_loop_of_cpp(robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """aba, then rnea in place of its own argument, gives the torques back; a step there and back returns."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    loop = importlib.import_module("control_loop")
    model = pc.load(robot)
    found = loop.run(loop.build(robot, tmp_path, CPP[0]), 100, 10_000)
    assert found["apart"] < 1e-9
    assert found["open"] < 1e-10
    assert pool.error(np.array(found["q"]), model.q_reference) < 1e-9
    assert set(found) == {"ticks", "open", "apart", "q", "empty", "rnea", "aba", "step"}
    lines = loop.table({robot: found}).splitlines()
    assert len(lines) == 6
    sys.modules.pop("control_loop")


def test_programs_of_the_user(tmp_path: Path) -> None:
    model = pc.load("four_bar")
    derivatives = pc.trace(model, "aba").jacobian("q")
    forced = pc.trace(model, "rnea", fext=True)
    heavy = pc.trace(model, "crba", parameters=["inertial"])
    made = pc.codegen.export(model, tmp_path, [derivatives, forced, "aba", heavy])
    if C:
        run(C[0], *STRICT, f"{made.name}.c", f"test/{made.name}_test.c", "-lm", "-o", "program", cwd=tmp_path)
        assert run(tmp_path / "program", cwd=tmp_path).count("ok ") == 4 * _numbers.STATES
    header = (tmp_path / f"{made.name}.h").read_text()
    assert "four_bar_aba_derivatives(const double *q, const double *v, const double *tau, double *dddq_dq);" in header
    assert (
        "four_bar_rnea(const double *q, const double *v, const double *a, const double *fext, double *tau);" in header
    )
    other = pc.trace(pc.load("mit_humanoid_leg"), "aba")
    with raises(pc.ShapeError, "'mit_humanoid_leg, aba' 'four_bar' nq 3"):
        pc.codegen.c(model, other)
    with raises(pc.UnknownNameError, "'aba'"):
        pc.codegen.c(model, ["aba", pc.trace(model, "aba")])
    assert [f.is_builtin for f in _exported_function.functions_of(model, [derivatives, "aba"])] == [False, True]
