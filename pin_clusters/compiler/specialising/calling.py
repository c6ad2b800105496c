"""Calls of robot-specific code from Python.

``ctypes`` converts the arguments of a call one by one, which takes longer than most functions need. A call therefore
passes one ``bytes`` object that contains the addresses of the arrays; compiled code reads the fields of the arrays.
"""

import ctypes
import functools
from collections.abc import Callable
from struct import Struct
from typing import Any

from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.loading import load

# Word indices in a NumPy array object; the fields ``data``, ``nd``, ``dimensions`` and ``strides`` follow the header.
_DATA = object.__basicsize__ // 8
_SHAPE, _STRIDES = _DATA + 2, _DATA + 3


@functools.cache
def caller(kinds: tuple[str, ...]) -> Callable[..., int]:
    """Return ``call(address, *arguments)``, which calls code with these argument types and returns its status."""
    run = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(load(_module(kinds), optimise=False).address("call"))
    pack, first = Struct(f"{1 + len(kinds)}q").pack, 1 + kinds.count("i0")
    numbers = {0, *(i for i, kind in enumerate(kinds, 1) if kind == "i0")}

    def call(*given: Any) -> int:
        return run(pack(*given[:first], *map(id, given[first:])))

    def call_mixed(*given: Any) -> int:
        return run(pack(*(x if i in numbers else id(x) for i, x in enumerate(given))))

    return call if numbers == set(range(first)) else call_mixed


def _module(kinds: tuple[str, ...]) -> str:
    """Return the LLVM module of a function that converts the arguments to the machine words that Numba would pass."""
    w = Instructions(Kind("double"))

    code, words = w.pointer(w.word("%given", 0)), list[Any]()
    for i, kind in enumerate(kinds, 1):
        if kind == "i0":
            words.append(w.word("%given", i))
            continue
        array = w.pointer(w.word("%given", i))
        shape, strides = (
            [w.word(start, k) for k in range(int(kind[1]))]
            for start in (w.pointer(w.word(array, _SHAPE)), w.pointer(w.word(array, _STRIDES)))
        )
        size = w.new(f"mul i64 {', '.join(shape)}") if kind[1] == "2" else shape[0]
        words += [0, 0, size, 1 if kind[0] == "b" else 8, w.word(array, _DATA), *shape, *strides]
    parameters = ", ".join(["ptr %status", "ptr %error", *(f"i64 {x}" for x in words)])
    return "\n".join(
        [
            "define i64 @call(ptr %given) nounwind {",
            "  %status = alloca i64",
            "  %error = alloca i64",
            *w.lines,
            f"  call i32 {code}({parameters})",
            "  %code = load i64, ptr %status",
            "  ret i64 %code",
            "}\n",
        ]
    )
