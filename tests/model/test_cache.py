"""Where compiled kernels are kept, and what is said about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CALL = """
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.ClusterModel(pin.buildSampleModelManipulator())
print(pc.computeKineticEnergy(model, model.createData(), pc.neutral(model), np.ones(model.nv)) > 0)
"""


def run(code: str = CALL, **changes: str | None) -> tuple[str, str]:
    """Run the call in a fresh process with a changed environment; None removes a variable."""
    environment = {k: v for k, v in os.environ.items() if k not in {"PIN_CLUSTERS_CACHE", "NUMBA_DISABLE_JIT"}}
    environment.update({k: v for k, v in changes.items() if v is not None})
    for k, v in changes.items():
        if v is None:
            environment.pop(k, None)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr


def test_compiles_once_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    out, first = run(PIN_CLUSTERS_CACHE=str(folder))
    assert out == "True\n"
    assert f"compiling energy (kinetic and potential) for this processor, some seconds, once (kept in {folder}" in first
    assert first.count("\n") == 2  # what is compiled, and how long it took
    out, second = run(PIN_CLUSTERS_CACHE=str(folder))
    assert (out, second) == ("True\n", "")


def test_falls_back_when_the_home_folder_cannot_be_written(tmp_path: Path) -> None:
    blocked, temporary = tmp_path / "file", tmp_path / "tmp"
    blocked.write_text("")
    temporary.mkdir()
    out, said = run(HOME=str(blocked / "home"), XDG_CACHE_HOME=None, TMPDIR=str(temporary))
    assert out == "True\n"
    assert f"cannot write to {blocked / 'home'}" in said
    assert f"compiled kernels are kept in {temporary}" in said
    assert any(temporary.rglob("*.nbi"))


def test_a_chosen_folder_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    out, said = run(PIN_CLUSTERS_CACHE=str(blocked / "cache"), TMPDIR=str(tmp_path))
    assert out == "True\n"
    assert f"cannot write to {blocked / 'cache'}" in said


THREADS = """
import threading
import numpy as np, pinocchio as pin, pin_clusters as pc
model = pc.ClusterModel(pin.buildSampleModelManipulator())
found = []
def work():
    found.append(pc.computeKineticEnergy(model, model.createData(), pc.neutral(model), np.ones(model.nv)))
threads = [threading.Thread(target=work) for _ in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(len(found), len(set(found)))
"""


def test_threads_that_meet_a_kernel_together(tmp_path: Path) -> None:
    out, said = run(code=THREADS, PIN_CLUSTERS_CACHE=str(tmp_path))
    assert out == "6 1\n"
    assert said.count("compiling") == 1
    assert "cannot write" not in said
