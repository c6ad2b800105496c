"""What a compiled simulation asks a function of the user, and what became of it; ``asker`` has the machine code."""

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_void_p, py_object, pythonapi
from typing import Any

import numpy as np

from .record import Count, Object, Record, Room, Sizes


class Question(Record):
    """What is asked, and what became of it."""

    function = Object()  # of the user
    convert = Object()
    asked = Room()  # t, q, v, then tau
    nq = Count()
    nv = Count()
    given = Count()  # what the function gave
    error = Sizes(3)  # what it raised: type, value, traceback

    def __init__(self, function: Any, convert: Callable[[Any], np.ndarray | None], nq: int, nv: int) -> None:
        asked = np.zeros(1 + nq + 2 * nv)
        super().__init__(function=function, convert=convert, asked=asked, nq=nq, nv=nv)

    def take(self) -> Callable[..., Any] | None:
        """Return a function that does once more what the user's did when it gave no torques; None if it always did."""
        given, error = self.given, self.error
        self.put(given=0, error=(0, 0, 0))
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


def _raised(error: Sequence[int]) -> BaseException:
    restore = ctypes.PYFUNCTYPE(None, c_void_p, c_void_p, c_void_p)(("PyErr_Restore", pythonapi))
    try:
        restore(*(x or None for x in error))
    except BaseException as raised:
        return raised
    raise AssertionError("restored errors are raised")
