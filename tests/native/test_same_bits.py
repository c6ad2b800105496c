"""The library gives the bits of Numba's own code, and nothing of Numba is imported for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pin_clusters._engine.entry_points import BOUNDSCHECK, JIT
from pin_clusters._engine.native import library, processor

# whichever code this process runs
LEVEL = next(iter(processor.levels()), "")
AHEAD = [path for path, level in library._candidates([LEVEL]) if library.fits(path.parent, level)]
pytestmark = [
    pytest.mark.skipif(not JIT or BOUNDSCHECK or not AHEAD, reason="there is no library of kernels"),
    pytest.mark.slow,
]

NUMBERS = """
import hashlib, sys, warnings
import numpy as np, pin_clusters as pc
warnings.simplefilter("ignore")
FUNCTIONS = {
    "integrate": lambda: q, "rnea": lambda: pc.rnea(model, data, q, v, x), "aba": lambda: pc.aba(model, data, q, v, x),
    "forces": lambda: pc.rnea(model, data, q, v, x, f), "crba": lambda: pc.crba(model, data, q),
    "Minverse": lambda: pc.computeMinverse(model, data, q),
    "energy": lambda: pc.computeMechanicalEnergy(model, data, q, v),
    "G": lambda: pc.coupling_jacobian(model, data, q), "project": lambda: pc.project(model, q),
    "difference": lambda: pc.difference(model, pc.neutral(model), q), "ccrba": lambda: pc.ccrba(model, data, q, v),
    "J": lambda: pc.computeJointJacobians(model, data, q), "com": lambda: pc.centerOfMass(model, data, q, v, x),
    "rows": lambda: pc.batch.rnea(model, *(np.tile(t, (11, 1)) for t in (q, v, x))),
    "rows aba": lambda: pc.batch.aba(model, *(np.tile(t, (11, 1)) for t in (q, v, x))),
    "simulate": lambda: pc.simulate(model, q, v, duration=0.01, dt=0.001).q if n == 0 else 0.0,
}
for name in pc.robots():
    model = pc.load(name)
    data, rng = model.createData(), np.random.default_rng(1)
    for n in range(3):
        q = pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))
        v, x = rng.normal(size=(2, model.nv))
        f = rng.normal(size=(model.njoints, 6))
        for key in sys.argv[1:] or FUNCTIONS:
            value = np.ascontiguousarray(FUNCTIONS[key]())
            print(name, n, key, hashlib.sha256(value.tobytes()).hexdigest()[:16])
print("numba" in sys.modules, "llvmlite" in sys.modules, "scipy" in sys.modules)
"""


def lines(level: str, *functions: str) -> list[str]:
    """What a process prints that runs the library of a level, or Numba's code."""
    done = subprocess.run(
        [sys.executable, "-c", NUMBERS, *functions], env={**os.environ, "PIN_CLUSTERS_LEVEL": level},
        capture_output=True, text=True, check=True, cwd=Path(sys.executable).parent,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_nothing_of_numba_is_imported() -> None:
    *numbers, imported = lines(LEVEL)
    assert len(numbers) > 100
    assert imported == "False False False"  # nor of LLVM, nor SciPy


@pytest.mark.ci
@pytest.mark.parametrize(
    "functions",
    [
        pytest.param(("integrate", "rnea", "aba", "forces"), id="first ones"),
        pytest.param((), id="all", marks=pytest.mark.long),
    ],
)
def test_the_same_bits_as_numba(functions: tuple[str, ...]) -> None:
    """Numba compiles what it has not kept: some ten kernels, or most."""
    *own, _ = lines(LEVEL, *functions)
    *others, imported = lines("numba", *functions)
    assert imported.startswith("True True")
    assert [x for x, y in zip(own, others, strict=True) if x != y] == []
