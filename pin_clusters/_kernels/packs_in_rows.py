"""Packs of neighbours in a flat array: entries i, i + 1, ... of one state, as many as a register holds."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from .entry_points import BOUNDSCHECK
from .pack import INLINE, Pack
from .simd import LANES

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.


def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    """Point at a pack in a flat array."""
    at = builder.gep(context.make_array(kind)(context, builder, array).data, [i])
    return builder.bitcast(at, ir.VectorType(ir.DoubleType(), LANES).as_pointer())


@intrinsic
def _load(typing: Any, a: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, a, *args), align=8)

    return Pack(LANES)(a, types.intp), codegen


@intrinsic
def _store(typing: Any, a: Any, i: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, a, *args[:2]), align=8)

    return types.void(a, types.intp, x), codegen


def get_pack(a, i):
    """Return entries i, i + 1, ... of a flat array as a pack; without the JIT it is one number."""
    return a[i]


def put_pack(a, i, x):
    """Write a pack there."""
    a[i] = x


@overload(get_pack, **INLINE)
def _get_pack(a, i):
    def checked(a, i):
        assert 0 <= i <= a.shape[0] - LANES, "kernel reads out of bounds"
        return _load(a, i)

    return checked if BOUNDSCHECK else lambda a, i: _load(a, i)


@overload(put_pack, **INLINE)
def _put_pack(a, i, x):
    def checked(a, i, x):
        assert 0 <= i <= a.shape[0] - LANES, "kernel writes out of bounds"
        _store(a, i, x)

    return checked if BOUNDSCHECK else lambda a, i, x: _store(a, i, x)
