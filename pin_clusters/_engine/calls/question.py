"""What a compiled simulation asks a function of the user, and what became of it; ``asker`` has the machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_void_p, py_object, pythonapi
from typing import Any

import numpy as np

# functions; where t, q, v and tau are; sizes; what the function gave; what it raised: type, value, traceback
FUNCTION, CONVERT, NUMBERS, NQ, NV, GIVEN, ERROR, VALUE, TRACEBACK = range(9)


class Question:
    """What is asked, and what became of it.

    Attributes:
        numbers: Read and written by the machine code.
        asked: t, q, v, then tau.
    """

    def __init__(self, function: Any, convert: Callable[[Any], np.ndarray | None], nq: int, nv: int) -> None:
        self._kept = function, convert
        self.asked = np.zeros(1 + nq + 2 * nv)
        self.numbers = np.zeros(9, dtype=np.int64)
        self.numbers[[FUNCTION, CONVERT, NUMBERS, NQ, NV]] = id(function), id(convert), self.asked.ctypes.data, nq, nv

    def take(self) -> Callable[..., Any] | None:
        """Return a function that does once more what the user's did when it gave no torques; None if it always did."""
        numbers = self.numbers
        given, error = int(numbers[GIVEN]), [int(x) for x in numbers[[ERROR, VALUE, TRACEBACK]]]
        numbers[[GIVEN, ERROR, VALUE, TRACEBACK]] = 0
        if error[0]:
            raised = _raised(error)

            def fail(*_: Any) -> Any:
                raise raised

            return fail
        if not given:
            return None
        thing = ctypes.cast(given, py_object).value
        pythonapi.Py_DecRef(py_object(thing))
        return lambda *_: thing


def _raised(error: list[int]) -> BaseException:
    restore = ctypes.PYFUNCTYPE(None, c_void_p, c_void_p, c_void_p)(("PyErr_Restore", pythonapi))
    try:
        restore(*(x or None for x in error))
    except BaseException as raised:
        return raised
    raise AssertionError("restored errors are raised")
