"""CUDA C: the same text run by a compiler of C++, row after row, and compiled for GPUs by NVRTC."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import pool
from support.compilers import CPP, needs_cpp, run
from support.fake_gpu import SHIM
from support.messages import raises
from support.nvrtc import ARCHITECTURES, compiled, needs_nvrtc

import pin_clusters as pc

pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
DTYPES = {"double": np.float64, "float": np.float32}
# over the largest entry; accelerations amplify rounding by the condition of M
EXACT = {"double": 1e-11, "float": 2e-3}


def on_this_processor(folder: Path, text: str, kernel: str, *arguments: Any, rows: int) -> None:
    """Run a kernel over its rows, and two more, which it must leave alone."""
    (name,) = re.findall(rf"void __launch_bounds__\(128, 2\) ({kernel})\((.*)\)\n", text)
    given = [x.rsplit(" ", 1)[0].replace("__restrict__", "") for x in name[1].split(", ")]
    parameters = ", ".join(f"{kind} x{i}" for i, kind in enumerate(given))
    passed = ", ".join(f"x{i}" for i in range(len(given)))
    text = f"""{SHIM}{text}
extern "C" void run({parameters})
{{
  for (int i = 0; i < x{len(given) - 1} + 2; i++) {{ blockIdx.x = i; {name[0]}({passed}); }}
}}
"""
    (folder / "kernel.cpp").write_text(text)
    run(CPP[0], "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-shared", "-fPIC", "kernel.cpp", "-o",
        f"{kernel}.so", cwd=folder)  # fmt: skip
    pointers = [x.ctypes.data_as(ctypes.c_void_p) if isinstance(x, np.ndarray) else x for x in arguments]
    ctypes.CDLL(str(folder / f"{kernel}.so")).run(*pointers, ctypes.c_longlong(rows))


def states(model: pc.ClusterModel, rng: np.random.Generator, rows: int) -> list[np.ndarray]:
    q = [pc.integrate(model, model.q_reference, 0.1 * rng.normal(size=model.nv)) for _ in range(rows)]
    return [np.array(q), *rng.normal(size=(2, rows, model.nv))]


@needs_cpp
@pytest.mark.parametrize(
    "which",
    pool.some(
        [(robot, real) for robot in pc.robots() for real in DTYPES],
        [("mit_humanoid_leg", "float"), ("four_bar", "double")],
    ),
)
def test_the_text_is_the_kernel(which: tuple[str, str], rng: np.random.Generator, tmp_path: Path) -> None:
    robot, real = which
    model = pc.load(robot)
    rows, dtype = 5, DTYPES[real]
    given = states(model, rng, rows)
    right = pc.batch.aba(model, *given)
    out = np.full((rows + 1, model.nv), 7.0, dtype)
    text = pc.codegen.cuda(model, real=real)
    name = re.findall(r"(\w+)_aba\(", text)[0]
    on_this_processor(tmp_path, text, f"{name}_aba", *(x.astype(dtype) for x in given), out, rows=rows)
    assert np.all(out[rows] == 7.0)
    assert pool.error(out[:rows], right) < EXACT[real]
    if real == "float":
        assert not re.search(r"\bdouble\b|\d\.\d+(e-?\d+)?(?![\d.fe])", text.split("*/")[-1])


@needs_cpp
@pytest.mark.parametrize("real", DTYPES)
def test_status(real: str, rng: np.random.Generator, tmp_path: Path) -> None:
    """That of batches on the CPU, row by row; and rows that are not good are NaN."""
    model, rows, dtype = pc.load("four_bar"), 5, DTYPES[real]
    q, v, tau = states(model, rng, rows)
    q[1, 1] += 0.1  # open
    q[2, 0] = np.nan
    tau[3, 0] = np.inf
    right, status = np.zeros((2, rows)), np.zeros(rows, dtype=np.int8)
    right = pc.batch.aba(model, q, v, tau, status=status)
    assert status.tolist() == [0, 1, 3, 3, 0]
    out, said = np.zeros((rows, 1), dtype), np.full(rows, 9, np.int8)
    text = pc.codegen.cuda(model, real=real, status=True)
    given = [x.astype(dtype) for x in (q, v, tau)]
    on_this_processor(tmp_path, text, "four_bar_aba", *given, out, said, rows=rows)
    assert said.tolist() == status.tolist()
    assert np.isnan(out[:, 0]).tolist() == (status != 0).tolist()
    assert pool.error(out[[0, 4]], right[[0, 4]]) < EXACT[real]


@needs_cpp
@pytest.mark.parametrize("real", DTYPES)
def test_sines(real: str, tmp_path: Path) -> None:
    """To the last place, as far as angles of joints go."""
    text = pc.codegen.cuda(pc.load("four_bar"), real=real)
    sines = text[text.index("static __device__") : text.index("/* ddq")]
    arrays = [f"{kind} *__restrict__ {name}" for kind, name in ((f"const {real}", "x"), (real, "s"), (real, "c"))]
    text = f"""{sines}
extern "C" __global__ void __launch_bounds__(128, 2) both({", ".join(arrays)}, long long rows)
{{
  const long long row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) sine_and_cosine(x[row], s + row, c + row);
}}
"""
    far = 1e4 if real == "float" else 1e5
    x = np.concatenate([np.linspace(-10.0, 10.0, 4001), np.linspace(-far, far, 4001)]).astype(DTYPES[real])
    end = 2.0**22 if real == "float" else 2.0**31  # farther quarters do not fit
    x = np.concatenate([x, np.array([end, -end, 3.0 * end, 1e10 * end, 1e30 * end], x.dtype)])
    s, c = np.zeros((2, len(x)), x.dtype)
    on_this_processor(tmp_path, text, "both", x, s, c, rows=len(x))
    assert np.isnan([s[-5:], c[-5:]]).all()
    x, s, c = x[:-5], s[:-5], c[:-5]
    wide = x.astype(float)
    assert np.abs(s - np.sin(wide)).max() < 1.5 * np.finfo(x.dtype).eps
    assert np.abs(c - np.cos(wide)).max() < 1.5 * np.finfo(x.dtype).eps


@needs_cpp
def test_step_and_matrices(rng: np.random.Generator, tmp_path: Path) -> None:
    model = pc.load("six_bar")
    q, v, _ = states(model, rng, 3)
    text = pc.codegen.cuda(model, ["step", "crba"], real="double")
    after, residual, M = np.zeros_like(q), np.zeros(3), np.zeros((3, model.nv, model.nv))
    on_this_processor(tmp_path, text, "six_bar_step", q, v, ctypes.c_double(1e-3), after, residual, rows=3)
    assert residual.max() < 1e-10
    assert pool.error(after, pc.batch.integrate(model, q, 1e-3 * v)) < 1e-9
    on_this_processor(tmp_path, text, "six_bar_crba", q, M, rows=3)
    assert pool.error(M, pc.batch.crba(model, q)) < 1e-12


# registers of a thread, and bytes of spills written and read; more than that is looked into
BUDGET = {
    ("four_bar", "aba", "float"): (64, 0), ("four_bar", "aba", "double"): (110, 0),
    ("mit_humanoid_leg", "aba", "float"): (160, 0), ("mit_humanoid_leg", "aba", "double"): (255, 0),
    ("mini_cheetah", "rnea", "float"): (200, 0), ("mini_cheetah", "rnea", "double"): (255, 200),
    ("mini_cheetah", "aba", "float"): (255, 0), ("mini_cheetah", "aba", "double"): (255, 2800),
    ("tello", "aba", "float"): (255, 300), ("tello", "aba", "double"): (255, 4400),
}  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("key", pool.some(list(BUDGET), [("four_bar", "aba", "float")]))
def test_registers_and_spills(key: tuple[str, str, str], architecture: str) -> None:
    robot, function, real = key
    made = compiled(pc.codegen.cuda(pc.load(robot), function, real=real), architecture)
    registers, spilled = BUDGET[key]
    assert made.registers <= registers
    assert made.spilled <= spilled


def test_arguments() -> None:
    model = pc.load("four_bar")
    with raises(pc.UnknownNameError, "'half'"):
        pc.codegen.cuda(model, real="half")
    with raises(pc.UnknownNameError, "'abba'"):
        pc.codegen.cuda(model, "abba")
    text = pc.codegen.cuda(model, ["aba", "crba"], name="mine")
    assert len(re.findall(r"\bvoid __launch_bounds__\(128, 2\) mine_(aba|crba)\(", text)) == 2
    assert "#include" not in text
