"""Processes that may not execute what they write to memory, as under SELinux or systemd's MemoryDenyWriteExecute."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pin_clusters.compiler.native import memory

REFUSE = """
import ctypes, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
    print("none")
    sys.exit()
"""
CALLS = f"""
{REFUSE}
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.load("four_bar")
data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
tau = pc.rnea(model, data, q, v, v)
print(abs(pc.aba(model, data, q, v, tau) - v).max() < 1e-9, len(pc.integrate(model, q, 0.1 * v)) == model.nq)
print(abs(pc.batch.rnea(model, *(np.tile(x, (11, 1)) for x in (q, v, v))) - tau).max() < 1e-12)
print(pc.simulate(model, q, v, duration=0.002, dt=0.001).q.shape == (3, model.nq))
print("numba" in sys.modules)
"""


def run(code: str, **changes: str) -> tuple[list[str], str]:
    """Run code in a fresh process; returns its lines, and what it said on stderr."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-Pc", code], env={**os.environ, **changes}, capture_output=True, text=True,
        check=False, cwd=Path(sys.executable).parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    if lines == ["none"]:
        pytest.skip("this kernel cannot refuse executable memory (PR_SET_MDWE, since Linux 6.3)")
    return lines, done.stderr


@pytest.fixture(autouse=True)
def _only_on_linux() -> None:
    if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "prctl"):
        pytest.skip("executable memory is refused by Linux here")


@pytest.mark.jitless
def test_it_is_seen() -> None:
    source = str(memory.__file__)
    code = f"{REFUSE}\nimport runpy\nfind = runpy.run_path({source!r})['may_execute']\nprint(find(), find())"
    if not memory.may_execute():
        pytest.skip("nor may this process")
    assert run(code) == (["False False"], "")


@pytest.mark.parametrize("changes", [{}, pytest.param({"PIN_CLUSTERS_BOUNDSCHECK": "1"}, marks=pytest.mark.ci)])
def test_python_answers(changes: dict[str, str], tmp_path: Path) -> None:
    changes = {"PIN_CLUSTERS_CACHE": str(tmp_path), "NUMBA_DISABLE_JIT": "0"} | changes
    lines, said = run(CALLS, **changes)
    assert lines == ["True True", "True", "True", "True"]
    assert said.count("\n") == 1, said
    assert said.startswith("pin_clusters: this process must not execute memory that it has written. Fast calls and ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.ci
@pytest.mark.jitless
def test_plain_python_that_was_asked_for_is_not_said() -> None:
    lines, said = run(CALLS, NUMBA_DISABLE_JIT="1")
    assert (lines, said) == (["True True", "True", "True", "True"], "")


@pytest.mark.ci
def test_memory_that_is_refused_later(tmp_path: Path) -> None:
    """What was made before runs on; of what would be made now the error says why it cannot be."""
    code = f"""
import numpy as np, pin_clusters as pc
model = pc.load("four_bar")
data, x = model.createData(), np.ones(1)
before = pc.aba(model, data, model.q_reference, x, x)
{REFUSE}
print((pc.aba(model, data, model.q_reference, x, x) == before).all())
try:
    pc.rnea(model, data, model.q_reference, x, x)
except pc.NotAvailableError as error:
    print(error)
"""
    changes = {"PIN_CLUSTERS_CACHE": str(tmp_path), "PIN_CLUSTERS_ENGINE": "auto", "NUMBA_DISABLE_JIT": "0"}
    lines, _ = run(code, **changes)
    assert lines[0] == "True"
    assert lines[1].startswith("programs cannot be compiled, because SELinux, systemd or PR_SET_MDWE forbids")
