"""What stands at an address: the tables of a workspace, compiled functions. Numbers travel faster than objects."""

import ctypes
from typing import Any, get_type_hints

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from ...compiler.numba_jit.jit import INLINE, inline
from .layout import ROW_WIDTH


@intrinsic
def _pointer(typing: Any, address: Any, like: Any) -> Any:
    """Turn an address into a pointer to the type of ``like``."""
    kind = types.CPointer(like)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return kind(address, like), codegen


@inline
def tables(address):
    """Return index, params, work and keep of the block of a ``Pointer``; compiled code only."""
    block = carray(_pointer(address, 0), 8)
    index = carray(_pointer(block[0], 0), (block[1], ROW_WIDTH))
    params = carray(_pointer(block[2], 0.0), block[3])
    work = carray(_pointer(block[4], 0.0), block[5])
    keep = carray(_pointer(block[6], 0.0), block[7])
    return index, params, work, keep


def unpacked_by(record: Any, kinds: tuple[Any, ...]) -> Any:
    """Return what turns the address of a ``Block`` into a record of records, whose fields have Numba's types."""
    parts, first = [], 0
    for part in get_type_hints(record).values():
        last = first + len(part._fields)
        parts.append(types.NamedTuple(kinds[first:last], part))
        first = last
    assert first == len(kinds), "fields of the record and arguments of the operation differ"

    @intrinsic
    def unpacked(typing: Any, block: Any) -> Any:
        own = types.NamedTuple(parts, record)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words = builder.inttoptr(args[0], ir.IntType(64).as_pointer())

            def word(i: int) -> Any:
                return builder.load(builder.gep(words, [ir.Constant(ir.IntType(64), i)]))

            found = []
            for i, kind in enumerate(kinds):
                if not isinstance(kind, types.Array):
                    found.append(word(3 * i))
                    continue
                array, shape, size = context.make_array(kind)(context, builder), [], ir.Constant(ir.IntType(64), 8)
                shape = [word(3 * i + 1 + k) for k in range(kind.ndim)]
                strides = [size, *[builder.mul(size, n) for n in shape[1:]]][::-1]  # of one row, if there are two
                data = builder.inttoptr(word(3 * i), context.get_value_type(kind.dtype).as_pointer())
                arrayobj.populate_array(array, data, shape, strides, size, None)
                found.append(array._getvalue())
            given = iter(found)
            made = [context.make_tuple(builder, part, [next(given) for _ in part.types]) for part in parts]
            return context.make_tuple(builder, own, made)

        return own(block), codegen

    return unpacked


def seen(address, size):
    """Return the numbers at an address."""
    return np.frombuffer((ctypes.c_double * size).from_address(address))


@overload(seen, **INLINE)
def _seen(address, size):
    return lambda address, size: carray(_pointer(address, 0.0), size)


@intrinsic
def call_at(typing: Any, function: Any, address: Any, arrays: Any) -> Any:
    """Call the compiled entry point at ``function`` with the address of its tables and flat arrays."""
    own = types.int64(types.int64, *arrays.types)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        call = context.call_conv
        callee = builder.inttoptr(args[0], call.get_function_type(own.return_type, own.args).as_pointer())
        given = [args[1], *cgutils.unpack_tuple(builder, args[2])]
        code = cgutils.alloca_once(builder, call.get_return_type(own.return_type).pointee)
        builder.store(cgutils.get_null_value(code.type.pointee), code)
        error = cgutils.alloca_once(builder, callee.type.pointee.args[1].pointee)
        flat = list(call._get_arg_packer(own.args).as_arguments(builder, given))
        status = call._get_return_status(builder, builder.call(callee, [code, error, *flat]), builder.load(error))
        with cgutils.if_unlikely(builder, status.is_error):  # checked bounds
            call.return_status_propagate(builder, status)
        return context.get_returned_value(builder, own.return_type, builder.load(code))

    return types.int64(function, address, arrays), codegen


@intrinsic
def call_plain(typing: Any, function: Any, argument: Any) -> Any:
    """Call what is no kernel: a function of one whole number that returns one, as C calls it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.int64(types.int64, types.int64), codegen
