"""Packs of neighbours in a flat array: entries i, i + 1, ... of one state, as many as a register holds, or two."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from ...switches import BOUNDSCHECK
from ..numbers.pack import INLINE, Pack
from ..numbers.simd import LANES

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.

PAIR = min(LANES, 2)  # without the JIT one number


def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any, lanes: int) -> Any:
    """Point at a pack in a flat array."""
    at = builder.gep(context.make_array(kind)(context, builder, array).data, [i])
    return builder.bitcast(at, ir.VectorType(ir.DoubleType(), lanes).as_pointer())


def _accessors(lanes: int) -> tuple[Any, Any]:
    """Return what reads and writes a pack of that size."""

    def read(a, i):
        return a[i]

    def write(a, i, x):
        a[i] = x

    @intrinsic
    def load(typing: Any, a: Any, i: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_place(context, builder, a, args[0], args[1], lanes), align=8)

        return Pack(lanes)(a, types.intp), codegen

    @intrinsic
    def store(typing: Any, a: Any, i: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _place(context, builder, a, args[0], args[1], lanes), align=8)

        return types.void(a, types.intp, x), codegen

    @overload(read, **INLINE)
    def _read(a, i):
        def checked(a, i):
            assert 0 <= i <= a.shape[0] - lanes, "kernel reads out of bounds"
            return load(a, i)

        return checked if BOUNDSCHECK else lambda a, i: load(a, i)

    @overload(write, **INLINE)
    def _write(a, i, x):
        def checked(a, i, x):
            assert 0 <= i <= a.shape[0] - lanes, "kernel writes out of bounds"
            store(a, i, x)

        return checked if BOUNDSCHECK else lambda a, i, x: store(a, i, x)

    return read, write


get_pack, put_pack = _accessors(LANES)
get_pair, put_pair = _accessors(PAIR)
