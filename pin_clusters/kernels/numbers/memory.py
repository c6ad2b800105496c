"""Access to flat arrays of float64 in kernels. In traced code, the arrays contain expressions."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ...compiler.numba_jit.jit import INLINE, inline
from ...compiler.switches import BOUNDSCHECK
from ..directions import Out

# Numba compares the signatures of an overload and its implementation; therefore neither has annotations.


def place_of(context: Any, builder: Any, kind: Any, array: Any, i: Any, k: int = 0) -> Any:
    """Return a pointer to element i + k; unlike Numba, do not check whether the index is negative."""
    position = builder.add(i, ir.Constant(i.type, k))
    return builder.gep(context.make_array(kind)(context, builder, array).data, [position])


@intrinsic
def _load(typing: Any, a: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(place_of(context, builder, a, *args), align=8)

    return types.float64(a, types.intp), codegen


@intrinsic
def _store(typing: Any, a: Any, i: Any, x: Any) -> Any:
    several = isinstance(x, types.BaseTuple)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, start, value = args
        values = zip(cgutils.unpack_tuple(builder, value), x.types, strict=True) if several else [(value, x)]
        for k, (number, kind) in enumerate(values):
            number = context.cast(builder, number, kind, types.float64)
            builder.store(number, place_of(context, builder, a, array, start, k), align=8)

    return types.void(a, types.intp, x), codegen


@intrinsic
def _store_apart(typing: Any, a: Any, i: Any, stride: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, position, step, value = args
        for number, kind in zip(cgutils.unpack_tuple(builder, value), x.types, strict=True):
            number = context.cast(builder, number, kind, types.float64)
            builder.store(number, place_of(context, builder, a, array, position), align=8)
            position = builder.add(position, step)

    return types.void(a, types.intp, types.intp, x), codegen


def get(a, i):
    return a[i]


def put(a, i, x):
    """Write a number to element i of a flat array, or a tuple to the elements from i on."""
    if isinstance(x, tuple):
        a[i : i + len(x)] = x
    else:
        a[i] = x


def put_apart(a, i, stride, x):
    """Write a tuple to elements i, i + stride, ..., such as a part of a column of a row-major matrix."""
    a[i : i + stride * len(x) : stride] = x


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


@inline
def increase(a: Out, i, x):
    put(a, i, get(a, i) + x)


@inline
def put_twice(M: Out, n, i, k, x):
    put(M, i * n + k, x)
    put(M, k * n + i, x)


@inline
def put_copy(a: Out, i, b, k, n):
    for j in range(n):
        put(a, i + j, get(b, k + j))


@inline
def put_zeros(a: Out, i, n):
    for k in range(n):
        put(a, i + k, 0.0)


@inline
def fill_square(flat, n, out: Out):
    """Copy n x n numbers to a matrix; return False, without copying, if the matrix has another shape."""
    if out.shape[0] != n or out.shape[1] != n:
        return False
    for i in range(n):
        for k in range(n):
            out[i, k] = get(flat, i * n + k)
    return True


def borrowed(a):
    """Return an array without reference counting, to save 25 % of a call's time; return other values unchanged."""
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
