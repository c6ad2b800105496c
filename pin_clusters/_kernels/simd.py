"""Accessors that hide whether a scalar is one float64 or a pack of them.

``get`` and ``put`` read one scalar of a flat array: a float64 from a one-dimensional array, a pack from an array of
shape ``(size, lanes)``. So one kernel source serves one state and several states at once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic, overload

from ._jit import BOUNDSCHECK, JIT, inline
from .layout import ROW_WIDTH
from .pack import INLINE, Pack, widen

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.


def host_lanes() -> int:
    """Return how many float64 one vector register of this processor holds."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    if features.get("avx2") or features.get("avx"):
        return 4
    return 2


@intrinsic
def _load(typing: Any, array: Any, i: Any, n: Any) -> Any:
    if not isinstance(n, types.IntegerLiteral):
        return None
    pack = Pack(n.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        offset = builder.mul(args[1], ir.Constant(args[1].type, pack.n))
        vector = ir.VectorType(ir.DoubleType(), pack.n)
        return builder.load(builder.bitcast(builder.gep(data, [offset]), vector.as_pointer()), align=8)

    return pack(array, types.intp, n), codegen


@intrinsic
def _store(typing: Any, array: Any, i: Any, value: Any, n: Any) -> Any:
    if not isinstance(n, types.IntegerLiteral):
        return None
    lanes = n.literal_value

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        offset = builder.mul(args[1], ir.Constant(args[1].type, lanes))
        vector = ir.VectorType(ir.DoubleType(), lanes)
        packed = widen(context, builder, args[2], signature.args[2], lanes)
        builder.store(packed, builder.bitcast(builder.gep(data, [offset]), vector.as_pointer()), align=8)

    return types.void(array, types.intp, value, n), codegen


@intrinsic
def _load_scalar(typing: Any, array: Any, i: Any) -> Any:
    """Read without Python's rule for negative indices: it would cost a comparison at every access."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return types.float64(array, types.intp), codegen


@intrinsic
def _store_scalar(typing: Any, array: Any, i: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        number = context.cast(builder, args[2], signature.args[2], types.float64)
        builder.store(number, builder.gep(data, [args[1]]))

    return types.void(array, types.intp, value), codegen


def get(a, i):
    """Return scalar i of a flat array."""
    return a[i]


def put(a, i, x):
    """Write scalar i of a flat array."""
    a[i] = x


def zero(a):
    """Return a zero of the scalar type of a flat array."""
    return 0.0


# The lane count is a compile-time constant of the process: the shape of an array is not part of its Numba type.
LANES = host_lanes() if JIT else 1


@overload(get, **INLINE)
def _get(a, i):
    if not isinstance(a, types.Array):
        return None
    if a.ndim == 2:
        if BOUNDSCHECK:

            def checked_pack(a, i):
                assert 0 <= i < a.shape[0], "kernel reads out of bounds"
                return _load(a, i, LANES)

            return checked_pack
        return lambda a, i: _load(a, i, LANES)
    if BOUNDSCHECK:

        def checked(a, i):
            assert 0 <= i < a.shape[0], "kernel reads out of bounds"
            return _load_scalar(a, i)

        return checked
    return lambda a, i: _load_scalar(a, i)


@overload(put, **INLINE)
def _put(a, i, x):
    if not isinstance(a, types.Array):
        return None
    if a.ndim == 2:

        def pack(a, i, x):
            if BOUNDSCHECK:
                assert 0 <= i < a.shape[0], "kernel writes out of bounds"
            _store(a, i, x, LANES)

        return pack

    def scalar(a, i, x):
        if BOUNDSCHECK:
            assert 0 <= i < a.shape[0], "kernel writes out of bounds"
        _store_scalar(a, i, x)

    return scalar


@intrinsic
def _pack_zero(typing: Any, n: Any) -> Any:
    if not isinstance(n, types.IntegerLiteral):
        return None
    pack = Pack(n.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(ir.VectorType(ir.DoubleType(), pack.n), [0.0] * pack.n)

    return pack(n), codegen


@overload(zero, **INLINE)
def _zero(a):
    return (lambda a: _pack_zero(LANES)) if a.ndim == 2 else (lambda a: 0.0)


@intrinsic
def _pointer(typing: Any, address: Any, like: Any) -> Any:
    """Turn an address into a pointer to the type of ``like``."""
    kind = types.CPointer(like)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return kind(address, like), codegen


def borrowed(a):
    """Return an array whose references are not counted: it lives as long as the call, and counting costs a quarter."""
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
    return lambda a: _borrow(a)


@inline
def tables(address):
    """Return index, params, work and keep of the block of a ``Pointer``; compiled code only."""
    block = carray(_pointer(address, 0), 8)
    index = carray(_pointer(block[0], 0), (block[1], ROW_WIDTH))
    params = carray(_pointer(block[2], 0.0), block[3])
    work = carray(_pointer(block[4], 0.0), block[5])
    keep = carray(_pointer(block[6], 0.0), block[7])
    return index, params, work, keep
