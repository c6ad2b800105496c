"""Calls of specialised functions from Python.

``ctypes`` converts the numbers of a call one by one, which takes longer than most functions. So a call passes one
``bytes`` object with the addresses of its arguments, and machine code finds the numbers and shapes of arrays there.
"""

import ctypes
import functools
from collections.abc import Callable
from struct import Struct
from typing import Any

from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.loading import load

_DATA = object.__basicsize__ // 8  # the first word of NumPy's arrays behind what all objects have
_SHAPE, _STRIDES = _DATA + 2, _DATA + 3


@functools.cache
def caller(kinds: tuple[str, ...]) -> Callable[..., int]:
    """Return ``call(code, *arguments)`` for functions that take whole numbers, then arrays; it returns their code."""
    run = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(load(_module(kinds), optimise=False).address("call"))
    pack, first = Struct(f"{1 + len(kinds)}q").pack, 1 + kinds.count("i0")

    def call(*given: Any) -> int:
        return run(pack(*given[:first], *map(id, given[first:])))  # type: ignore[no-any-return]

    return call


def _module(kinds: tuple[str, ...]) -> str:
    """Return the module of a function that reads the arguments and passes them as words, as Numba does."""
    w = Instructions(Kind("double"))

    def word(start: str, i: int) -> str:
        return w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr {start}, i64 {i}')}")

    def pointer(start: str, i: int) -> str:
        return w.new(f"inttoptr i64 {word(start, i)} to ptr")

    code, words = pointer("%given", 0), list[Any]()
    for i, (kind, dimensions) in enumerate(kinds, 1):
        if dimensions == "0":
            words.append(word("%given", i))
            continue
        array = pointer("%given", i)
        shape, strides = (
            [word(start, k) for k in range(int(dimensions))]
            for start in (pointer(array, _SHAPE), pointer(array, _STRIDES))
        )
        size = shape[0] if dimensions == "1" else w.new(f"mul i64 {shape[0]}, {shape[1]}")
        words += [0, 0, size, 1 if kind == "b" else 8, word(array, _DATA), *shape, *strides]
    given = ", ".join(["ptr %status", "ptr %error", *(f"i64 {x}" for x in words)])
    return "\n".join([
        "define i64 @call(ptr %given) nounwind {", "  %status = alloca i64", "  %error = alloca i64", *w.lines,
        f"  call i32 {code}({given})", "  %code = load i64, ptr %status", "  ret i64 %code", "}\n",
    ])  # fmt: skip
