"""Accessors that hide whether a scalar is one float64 or a pack of them.

``get`` and ``put`` read one scalar of a flat array: a float64 from a one-dimensional array, a pack from an array of
shape ``(size, lanes)``. So one kernel source serves one state and several states at once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ...native.processor import host_lanes
from ...switches import BOUNDSCHECK, JIT
from ..compiling.jit import inline
from .pack import INLINE, Pack, as_scalar

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.


# The lane count is a compile-time constant of the process: the shape of an array is not part of its Numba type.
LANES = host_lanes() if JIT else 1


def scalar_of(array: Any) -> Any:
    """Return the Numba type of what a flat array holds."""
    return Pack(LANES) if array.ndim == 2 else types.float64


def place_of(context: Any, builder: Any, kind: Any, array: Any, i: Any, k: int = 0) -> Any:
    """Point at scalar i + k, without Python's rule for negative indices: it would cost a comparison at every access."""
    data, at = context.make_array(kind)(context, builder, array).data, builder.add(i, ir.Constant(i.type, k))
    if kind.ndim == 1:
        return builder.gep(data, [at])
    vector = ir.VectorType(ir.DoubleType(), LANES)
    return builder.bitcast(builder.gep(data, [builder.mul(at, ir.Constant(at.type, LANES))]), vector.as_pointer())


@intrinsic
def _load(typing: Any, a: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(place_of(context, builder, a, *args), align=8)

    return scalar_of(a)(a, types.intp), codegen


@intrinsic
def _store(typing: Any, a: Any, i: Any, x: Any) -> Any:
    several = isinstance(x, types.BaseTuple)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, at, value = args
        values = zip(cgutils.unpack_tuple(builder, value), x.types, strict=True) if several else [(value, x)]
        for k, (number, kind) in enumerate(values):
            scalar = as_scalar(context, builder, number, kind, scalar_of(a))
            builder.store(scalar, place_of(context, builder, a, array, at, k), align=8)

    return types.void(a, types.intp, x), codegen


@intrinsic
def _store_apart(typing: Any, a: Any, i: Any, stride: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, at, step, value = args
        for number, kind in zip(cgutils.unpack_tuple(builder, value), x.types, strict=True):
            builder.store(
                as_scalar(context, builder, number, kind, scalar_of(a)),
                place_of(context, builder, a, array, at),
                align=8,
            )
            at = builder.add(at, step)

    return types.void(a, types.intp, types.intp, x), codegen


def get(a, i):
    """Return scalar i of a flat array."""
    return a[i]


def put(a, i, x):
    """Write scalar i of a flat array; a tuple from there on."""
    if isinstance(x, tuple):
        a[i : i + len(x)] = x
    else:
        a[i] = x


def put_apart(a, i, stride, x):
    """Write a tuple from scalar i of a flat array on, ``stride`` apart: a piece of a column of a matrix by rows."""
    a[i : i + stride * len(x) : stride] = x


def zero(a):
    """Return a zero of the scalar type of a flat array."""
    return 0.0


@overload(get, **INLINE)
def _get(a, i):
    if not isinstance(a, types.Array):
        return None

    def checked(a, i):
        assert 0 <= i < a.shape[0], "kernel reads out of bounds"
        return _load(a, i)

    return checked if BOUNDSCHECK else lambda a, i: _load(a, i)


@overload(put, **INLINE)
def _put(a, i, x):
    if not isinstance(a, types.Array):
        return None
    n = len(x) if isinstance(x, types.BaseTuple) else 1

    def checked(a, i, x):
        assert 0 <= i <= a.shape[0] - n, "kernel writes out of bounds"
        _store(a, i, x)

    return checked if BOUNDSCHECK else lambda a, i, x: _store(a, i, x)


@overload(put_apart, **INLINE)
def _put_apart(a, i, stride, x):
    n = len(x)

    def checked(a, i, stride, x):
        assert i >= 0, "kernel writes out of bounds"
        assert i + stride * (n - 1) < a.shape[0], "kernel writes out of bounds"
        _store_apart(a, i, stride, x)

    return checked if BOUNDSCHECK else lambda a, i, stride, x: _store_apart(a, i, stride, x)


@intrinsic
def _zero_of(typing: Any, a: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return as_scalar(context, builder, ir.Constant(ir.DoubleType(), 0.0), types.float64, signature.return_type)

    return scalar_of(a)(a), codegen


@overload(zero, **INLINE)
def _zero(a):
    return lambda a: _zero_of(a)


@inline
def increase(a, i, x):
    """Add to scalar i of a flat array."""
    put(a, i, get(a, i) + x)


@inline
def put_twice(M, n, i, k, x):
    """Write an entry of an n x n matrix, and its mirror image."""
    put(M, i * n + k, x)
    put(M, k * n + i, x)


@inline
def put_copy(a, i, b, k, n):
    """Write n scalars from scalar i of a flat array on, those of another one from k on."""
    for j in range(n):
        put(a, i + j, get(b, k + j))


@inline
def put_zeros(a, i, n):
    """Write n zeros from scalar i of a flat array on."""
    for k in range(n):
        put(a, i + k, zero(a))


@inline
def fill_square(flat, n, out):
    """Copy n x n numbers to a matrix; returns whether it has that shape."""
    if out.shape[0] != n or out.shape[1] != n:
        return False
    for i in range(n):
        for k in range(n):
            out[i, k] = get(flat, i * n + k)
    return True


def borrowed(a):
    """Return an array whose references are not counted: it lives as long as the call, and counting costs a quarter.

    Numbers stay what they are.
    """
    return a


@intrinsic
def _borrow(typing: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(array)(context, builder, args[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        view.parent = ir.Constant(view.parent.type, None)
        return view._getvalue()

    return array(array), codegen


@overload(borrowed, **INLINE)
def _borrowed(a):
    return (lambda a: _borrow(a)) if isinstance(a, types.Array) else (lambda a: a)
