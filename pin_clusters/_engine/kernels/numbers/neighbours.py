"""Neighbours in the memory of an array, whatever its shape: as many as a register holds, two, or one.

A *lane* is one number of a scalar of a flat array: of a pack, or the float64 itself.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

from ...switches import BOUNDSCHECK
from ..compiling.jit import inline
from .pack import INLINE, Pack, as_scalar
from .simd import LANES

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.

PAIR = min(LANES, 2)  # without the JIT one number


def _accessors(n: int) -> tuple[Any, Any]:
    """Return what reads and writes n numbers from number i of the memory of an array on."""
    scalar = Pack(n) if n > 1 else types.float64

    def place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
        at = builder.gep(context.make_array(kind)(context, builder, array).data, [i])
        return builder.bitcast(at, context.get_value_type(scalar).as_pointer())

    def read(a, i):
        return a.flat[i]

    def write(a, i, x):
        a.flat[i] = x

    @intrinsic
    def load(typing: Any, a: Any, i: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(place(context, builder, a, *args), align=8)

        return scalar(a, types.intp), codegen

    @intrinsic
    def store(typing: Any, a: Any, i: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = as_scalar(context, builder, args[2], x, scalar)
            builder.store(value, place(context, builder, a, *args[:2]), align=8)

        return types.void(a, types.intp, x), codegen

    @overload(read, **INLINE)
    def _read(a, i):
        def checked(a, i):
            assert 0 <= i <= a.size - n, "kernel reads out of bounds"
            return load(a, i)

        return checked if BOUNDSCHECK else lambda a, i: load(a, i)

    @overload(write, **INLINE)
    def _write(a, i, x):
        def checked(a, i, x):
            assert 0 <= i <= a.size - n, "kernel writes out of bounds"
            store(a, i, x)

        return checked if BOUNDSCHECK else lambda a, i, x: store(a, i, x)

    return read, write


get_pack, put_pack = _accessors(LANES)
get_pair, put_pair = _accessors(PAIR)
_number, _put_number = _accessors(1)


@inline
def _in_row(a, i, j):
    """Number of entry j of row i of a matrix, behind which a pack is in that row."""
    if BOUNDSCHECK:
        assert 0 <= j <= a.shape[1] - LANES, "kernel leaves a row"
    return i * a.shape[1] + j


@inline
def get_row(a, i, j):
    """Return the pack of entries j, j + 1, ... of row i of a matrix."""
    return get_pack(a, _in_row(a, i, j))


@inline
def put_row(a, i, j, x):
    """Write a pack there."""
    put_pack(a, _in_row(a, i, j), x)


def lanes_of(a):
    """Return how many lanes a scalar of a flat array has."""
    return 1


@overload(lanes_of, **INLINE)
def _lanes_of(a):
    return (lambda a: LANES) if a.ndim == 2 else (lambda a: 1)


@inline
def get_lane(a, i, lane):
    """Return one lane of scalar i."""
    return _number(a, i * lanes_of(a) + lane)


@inline
def put_lane(a, i, lane, x):
    """Write one lane of scalar i."""
    _put_number(a, i * lanes_of(a) + lane, x)
