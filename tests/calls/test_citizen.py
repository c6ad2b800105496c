"""Functions with fast calls as Python functions: introspection, memory, threads and the end of a process."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from support.fast import NAMES, needed, python

import pin_clusters as pc

# the published inertias of some robots are no real bodies'
pytestmark = pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")


@needed
@pytest.mark.parametrize("name", NAMES)
def test_introspection(name: str) -> None:
    function, wrapped = getattr(pc, name), python(name)
    assert (function.__name__, function.__module__) == (wrapped.__name__, wrapped.__module__)
    assert function.__doc__ == wrapped.__doc__
    assert inspect.signature(function) == inspect.signature(wrapped)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert repr(function) == f"<function {function.__name__}>"
    assert type("Robot", (), {"call": function})().call is function  # no method, as Python's builtins
    assert weakref.ref(function)() is function


@pytest.fixture
def usual() -> tuple[Any, ...]:
    model = pc.load("mini_cheetah")
    q, v = pc.randomConfiguration(model), np.ones(model.nv)
    data = model.createData()
    pc.aba(model, data, q, v, v)
    pc.crba(model, data, q)
    pc.computeKineticEnergy(model, data, q, v)
    return model, data, q, v


@needed
def test_no_reference_is_lost_or_kept(usual: tuple[Any, ...]) -> None:
    model, data, q, v = usual
    out, short, kept = np.empty(model.nv), np.ones(2), pc.crba(model, data, q)
    things = (model, data, q, v, out, short, np.ndarray, np.dtype(float), "out", pc.aba, python("aba"))
    gc.collect()
    before, blocks = [sys.getrefcount(x) for x in things], sys.getallocatedblocks()
    for _ in range(50):
        for _ in range(100):
            pc.aba(model, data, q, v, v)
            pc.aba(model, data, q, v, v, out=out)
            kept = pc.crba(model, data, q)
            pc.computeKineticEnergy(model, data, q, v)
        with pytest.raises(pc.ShapeError):
            pc.aba(model, data, q, v, short)
        with pytest.raises(pc.ShapeError):
            pc.aba(model, data, q, v, v, out=short)
    assert [sys.getrefcount(x) for x in things] == before
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 5000  # of 20,000 results none stays
    assert kept.flags.owndata
    assert kept.base is None
    own = [0.0]  # how many references that is depends on the interpreter
    assert len({sys.getrefcount(x) for x in (kept, own)}) == 1


@needed
def test_threads(usual: tuple[Any, ...]) -> None:
    model, data, q, v = usual
    wanted, wrong = pc.aba(model, data, q, v, v), []

    def work() -> None:
        own = model.createData()
        for _ in range(2000):
            if not np.array_equal(pc.aba(model, own, q, v, v), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needed
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms")
def test_signals_are_handled_between_calls(usual: tuple[Any, ...]) -> None:
    model, data, q, v = usual
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        for _ in range(10_000_000):
            pc.aba(model, data, q, v, v)
            if seen:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert seen


@pytest.mark.ci
@needed
def test_calls_at_the_end_of_the_process() -> None:
    code = """
import numpy as np, pin_clusters as pc
model = pc.load("four_bar")
data, q, v = model.createData(), pc.neutral(model), np.ones(1)
pc.aba(model, data, q, v, v)
class Late:
    def __init__(self, *things): self.things = things
    def __del__(self):
        aba, args = self.things
        print(float(aba(*args)[0]), flush=True)
late = Late(pc.aba, (model, data, q, v, v))
pc.late = late
"""
    done = subprocess.run([sys.executable, "-Pc", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert np.isfinite(float(done.stdout))
