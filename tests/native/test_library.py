"""The library that is installed, if one is: the numbers of Numba's own code, without Numba."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pin_clusters as pc
from pin_clusters._engine.entry_points import ALL, BOUNDSCHECK, JIT, compiled_ahead
from pin_clusters._engine.native import library, process, processor

pytestmark = pytest.mark.skipif(
    not JIT or BOUNDSCHECK or compiled_ahead() is None, reason="no library of kernels is installed"
)

NUMBERS = """
import hashlib, sys, warnings
import numpy as np, pin_clusters as pc
warnings.simplefilter("ignore")
for name in pc.robots():
    model = pc.load(name)
    data, rng = model.createData(), np.random.default_rng(1)
    for n in range(3):
        q = pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))
        v, x = rng.normal(size=(2, model.nv))
        f = rng.normal(size=(model.njoints, 6))
        found = {
            "integrate": q, "rnea": pc.rnea(model, data, q, v, x), "aba": pc.aba(model, data, q, v, x),
            "forces": pc.rnea(model, data, q, v, x, f), "crba": pc.crba(model, data, q),
            "Minverse": pc.computeMinverse(model, data, q), "energy": pc.computeMechanicalEnergy(model, data, q, v),
            "G": pc.coupling_jacobian(model, data, q), "project": pc.project(model, q),
            "difference": pc.difference(model, pc.neutral(model), q), "ccrba": pc.ccrba(model, data, q, v),
            "J": pc.computeJointJacobians(model, data, q), "com": pc.centerOfMass(model, data, q, v, x),
            "rows": pc.batch.rnea(model, *(np.tile(t, (11, 1)) for t in (q, v, x))),
            "rows aba": pc.batch.aba(model, *(np.tile(t, (11, 1)) for t in (q, v, x))),
            "simulate": pc.simulate(model, q, v, duration=0.01, dt=0.001).q if n == 0 else 0.0,
        }
        for key, value in found.items():
            print(name, n, key, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16])
print("numba" in sys.modules, "llvmlite" in sys.modules, "scipy" in sys.modules)
"""


def lines(**changes: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", NUMBERS], env={**os.environ, **changes}, capture_output=True, text=True, check=True,
        cwd=Path(sys.executable).parent,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.mark.slow
def test_the_same_bits_as_numba() -> None:
    ahead = compiled_ahead()
    assert ahead is not None
    *own, imported = lines(PIN_CLUSTERS_LEVEL=ahead.level)
    assert imported == "False False False"  # nothing of Numba, LLVM or SciPy
    if ahead.level != processor.levels()[0]:
        pytest.skip("Numba compiles for a higher level, with other instructions")
    *others, imported = lines(PIN_CLUSTERS_LEVEL="numba")
    assert imported.startswith("True True")
    assert [x for x, y in zip(own, others, strict=True) if x != y] == []


def test_every_kernel_is_in_it() -> None:
    ahead = compiled_ahead()
    assert ahead is not None
    for kernel in ALL:
        address, function = ahead.kernel(kernel.name)
        assert address
        with pytest.raises(TypeError, match=f"{kernel.name} was given something else"):
            function()


def test_kernels_take_no_other_arrays() -> None:
    model = pc.load("teleop_arm")
    data, v = model.createData(), np.ones(model.nv)
    q, out = pc.neutral(model), np.zeros(model.nv)
    function, address = data._kernels["rnea"].function(), data._pointers["tau"].address
    assert function(address, q, v, v, out) == 0
    assert np.array_equal(out, pc.rnea(model, data, q, v, v))
    closed = v.copy()
    closed.flags.writeable = False
    wrong: list[Any] = [v.astype(np.float32), np.ones(2 * model.nv)[::2], v[:, None], list(v), None, closed]
    for x in wrong:
        with pytest.raises(TypeError):
            function(address, q, x, v, out)
    with pytest.raises(TypeError):
        function(address, q, v, v)
    with pytest.raises(TypeError):
        function("no address", q, v, v, out)
    with pytest.raises(OverflowError):
        function(2**70, q, v, v, out)


def test_without_knowing_objects_ctypes_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an interpreter where nothing is where it is looked for."""

    def refuse() -> dict[str, int]:
        raise process.NoFastCallsError("for this test")

    ahead = compiled_ahead()
    assert ahead is not None
    monkeypatch.setattr(library, "find", refuse)
    blind = library.Library(library.FOLDER / library.file_name(ahead.level), ahead.level)
    assert blind.found is None
    model = pc.load("teleop_arm")
    data, v = model.createData(), np.ones(model.nv)
    q, out = pc.neutral(model), np.zeros(model.nv)
    address, function = blind.kernel("rnea_at")
    assert address
    assert function(data._pointers["tau"].address, q, v, v, out) == 0
    assert np.array_equal(out, pc.rnea(model, data, q, v, v))
    assert function(data._pointers["tau"].address, q[:-1], v, v, out) != 0  # the kernel's own check of sizes
    with pytest.raises(TypeError, match="contiguous"):
        function(data._pointers["tau"].address, q, np.ones(2 * model.nv)[::2], v, out)
