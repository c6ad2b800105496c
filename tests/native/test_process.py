"""What calls in machine code need of the process is found, or Python's calls stay: never something else."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support.messages import raises

from pin_clusters._engine.calls import entries
from pin_clusters._engine.entry_points import BOUNDSCHECK, JIT
from pin_clusters._engine.native import process

KNOWN = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
known = pytest.mark.skipif(not KNOWN, reason="calls in machine code are for CPython with a lock")


@known
@pytest.mark.jitless
def test_all_is_found() -> None:
    """Else tests of these calls skip, and a green run says nothing of them."""
    assert tuple(process.find()) == process.FOUND  # the error says what was not found


@known
@pytest.mark.skipif(not JIT or BOUNDSCHECK, reason="kernels are Python's, or checked")
def test_calls_are_machine_code() -> None:
    assert entries.PYTHON


@known
@pytest.mark.jitless
@pytest.mark.parametrize("name", ["PyObject_Vectorcall", "PyErr_Fetch", "PyTuple_SetItem"])
def test_a_function_that_an_interpreter_lacks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python 3.10, where another function was called in the place of the first one, and the process ended."""

    class Without:
        def __getattr__(self, asked: str) -> Any:
            if asked == name:
                raise AttributeError(asked)
            return getattr(whole, asked)

    whole = process.pythonapi
    monkeypatch.setattr(process, "pythonapi", Without())
    with raises(process.NoFastCallsError, name):
        process.find()
