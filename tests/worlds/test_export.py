"""A traced step as C code gives the same results, and as CUDA code has one function per step."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from worlds.robots import GAINS, robot, states

import pin_clusters as pc


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_and_cuda(tmp_path: Path) -> None:
    of = robot("mini_cheetah")
    options = {"ground": pc.Ground(), "touching": of.feet, "dt": 2e-3, "drive": pc.Drive(*GAINS["mini_cheetah"])}
    program = pc.trace(of.model, "step", **options)
    source = pc.codegen.c(of.model, [program])
    (tmp_path / "mini_cheetah.h").write_text(source.header, encoding="utf-8")
    (tmp_path / "mini_cheetah.c").write_text(source.source, encoding="utf-8")
    command = ["cc", "-O0", "-shared", "-fPIC", "-o", "step.so", "mini_cheetah.c", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    function = ctypes.CDLL(str(tmp_path / "step.so")).mini_cheetah_step
    q, v = states(of, 3)
    for i in range(3):
        inputs = [q[i], v[i], np.zeros(12), np.zeros(12)]
        expected = program(*inputs)
        outputs = [np.zeros(shape) for _, shape in program.outputs]
        function(*(ctypes.c_void_p(np.ascontiguousarray(x).ctypes.data) for x in (*inputs, *outputs)))
        for x, y in zip(outputs, expected, strict=True):
            # the same operations in the same order; the C library's sine differs by a rounding
            np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-10 * (1.0 + np.abs(y).max()))
    assert "mini_cheetah_step" in pc.codegen.cuda(of.model, [program])
