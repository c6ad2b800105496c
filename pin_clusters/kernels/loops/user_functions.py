"""Calls compiled user functions by their addresses."""

import ctypes

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from ...compiler.numba_jit.jit import INLINE

# Numba compares the signatures of an overload and its implementation; therefore neither has annotations.


def call_address(address, a, x, y):
    """Call a C function with pointers to elements x and y of the array a."""
    double = ctypes.POINTER(ctypes.c_double)
    function = ctypes.CFUNCTYPE(None, double, double)(address)
    start = a.ctypes.data
    function(ctypes.cast(start + 8 * x, double), ctypes.cast(start + 8 * y, double))


@intrinsic
def _call_address(typing, address, a, x, y):
    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[1])(context, builder, args[1]).data
        double = ir.DoubleType().as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [double, double])
        function = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(function, [builder.gep(data, [args[2]]), builder.gep(data, [args[3]])])

    return types.void(types.intp, a, types.intp, types.intp), codegen


@overload(call_address, **INLINE)
def _call(address, a, x, y):
    return lambda address, a, x, y: _call_address(address, a, x, y)
