"""Arrays in all forms, and what a call with them comes to."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np


class Derived(np.ndarray):
    """An array that is not exactly one."""


def unaligned(x: np.ndarray) -> np.ndarray:
    room = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    room[:] = x
    return room


def closed(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


FAST_FORMS = (
    np.copy, closed, lambda x: pickle.loads(pickle.dumps(x)), lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
)  # fmt: skip
OTHER_FORMS = (
    lambda x: x.astype(np.float32), list, lambda x: np.repeat(x, 2)[::2], lambda x: x[::-1], lambda x: x[:, None],
    lambda x: x[None], lambda x: x.astype(">f8"), lambda x: x.view(Derived), unaligned, lambda x: np.append(x, 1.0),
    lambda x: None, lambda x: "text",
    lambda x: np.nan_to_num(10 * x, posinf=9, neginf=9).astype(int), lambda x: x.astype(complex),
    lambda x: x * np.nan,
)  # fmt: skip


def outcome(function: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    try:
        return function(*arguments, **options)
    except Exception as error:
        return error


def alike(x: Any, y: Any) -> bool:
    if isinstance(x, Exception) or isinstance(y, Exception):
        # Python words a wrong number of arguments itself
        return type(x) is type(y) and (str(x) == str(y) or type(x) is TypeError)
    return type(x) is type(y) and np.array_equal(x, y, equal_nan=True) and np.shape(x) == np.shape(y)
