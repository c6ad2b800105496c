"""Access to workspace tables, records of arrays and compiled functions by their addresses.

Compiled code receives addresses as integers, because Numba unpacks integers faster than objects.
"""

import ctypes
from typing import Any, get_type_hints

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, overload, register_model
from numba.np import arrayobj

from ...compiler.numba_jit.jit import INLINE, inline
from .layout import ROW_WIDTH


@intrinsic
def _pointer(typing: Any, address: Any, like: Any) -> Any:
    kind = types.CPointer(like)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return kind(address, like), codegen


@inline
def tables(address):
    """Return index, params, work and keep from their pointers and sizes at ``address``. Only for compiled code."""
    block = carray(_pointer(address, 0), 8)
    index = carray(_pointer(block[0], 0), (block[1], ROW_WIDTH))
    params = carray(_pointer(block[2], 0.0), block[3])
    work = carray(_pointer(block[4], 0.0), block[5])
    keep = carray(_pointer(block[6], 0.0), block[7])
    return index, params, work, keep


class Record(types.Type):
    """Numba type of a named tuple in a ``Block``; ``fields`` contains the index and the Numba type of each field."""

    def __init__(self, record: Any, kinds: tuple[Any, ...]) -> None:
        super().__init__(f"Record({record.__name__})")
        self.fields, first = dict[str, tuple[int, Any]](), 0
        for name, part in get_type_hints(record).items():
            size = len(getattr(part, "_fields", (0,)))
            kind = Record(part, kinds[first : first + size]) if hasattr(part, "_fields") else kinds[first]
            self.fields[name] = first, kind
            first += size
        assert first == len(kinds), "fields of the record and arguments of the operation differ"


@register_model(Record)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _Fields(AttributeTemplate):
    key = Record

    def generic_resolve(self, record: Record, name: str) -> Any:
        return record.fields[name][1] if name in record.fields else None


@lower_getattr_generic(Record)
def _field(context: Any, builder: Any, record: Record, address: Any, name: str) -> Any:
    first, kind = record.fields[name]
    field = builder.add(address, ir.Constant(ir.IntType(64), 24 * first))
    if isinstance(kind, Record):
        return field
    words = builder.inttoptr(field, ir.IntType(64).as_pointer())

    def word(i: int) -> Any:
        return builder.load(builder.gep(words, [ir.Constant(ir.IntType(64), i)]))

    if not isinstance(kind, types.Array):
        return word(0)
    array, size = context.make_array(kind)(context, builder), ir.Constant(ir.IntType(64), 8)
    shape = [word(1 + k) for k in range(kind.ndim)]
    strides = [size, *[builder.mul(size, n) for n in shape[1:]]][::-1]  # strides of row-major arrays
    data = builder.inttoptr(word(0), context.get_value_type(kind.dtype).as_pointer())
    arrayobj.populate_array(array, data, shape, strides, size, None)
    return array._getvalue()


def record_at(record: Any, kinds: tuple[Any, ...]) -> Any:
    """Return a function that converts the address of an ``entry_points.Block`` to a ``Record`` in compiled code."""
    record_type = Record(record, kinds)

    @intrinsic
    def at_address(typing: Any, address: Any) -> Any:
        return record_type(address), lambda context, builder, signature, args: args[0]

    return at_address


def seen(address, size):
    return np.frombuffer((ctypes.c_double * size).from_address(address))


@overload(seen, **INLINE)
def _seen(address, size):
    return lambda address, size: carray(_pointer(address, 0.0), size)


@intrinsic
def call_at(typing: Any, function: Any, address: Any, arrays: Any) -> Any:
    """Call the compiled entry point at address ``function`` with the address of its tables and with flat arrays."""
    entry = types.int64(types.int64, *arrays.types)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        call = context.call_conv
        callee = builder.inttoptr(args[0], call.get_function_type(entry.return_type, entry.args).as_pointer())
        arguments = [args[1], *cgutils.unpack_tuple(builder, args[2])]
        code = cgutils.alloca_once(builder, call.get_return_type(entry.return_type).pointee)
        builder.store(cgutils.get_null_value(code.type.pointee), code)
        error = cgutils.alloca_once(builder, callee.type.pointee.args[1].pointee)
        flat = list(call._get_arg_packer(entry.args).as_arguments(builder, arguments))
        status = call._get_return_status(builder, builder.call(callee, [code, error, *flat]), builder.load(error))
        with cgutils.if_unlikely(builder, status.is_error):  # an error can occur only if bounds are checked
            call.return_status_propagate(builder, status)
        return context.get_returned_value(builder, entry.return_type, builder.load(code))

    return types.int64(function, address, arrays), codegen


@intrinsic
def call_plain(typing: Any, function: Any, argument: Any) -> Any:
    """Call a C function that takes and returns one int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])

    return types.int64(types.int64, types.int64), codegen
