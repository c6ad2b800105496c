"""Functions that the user compiled, called by address: one lane after the other, on plain numbers."""

from __future__ import annotations

import ctypes
import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from ._jit import device
from .pack import INLINE
from .simd import LANES
from .views import on_joint, velocity_row

# Numba wants the arguments of an overload and of its implementation to be alike, annotations included: both have none.

_STENCIL = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)  # central differences of order 8
_SECOND = (8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)  # the same of second derivatives, and of what is between
_BETWEEN = -205.0 / 72.0


def call_address(address, a, x, y):
    """Call a C function with two pointers: to number x and number y of the memory of an array."""
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


def read_lane(a, i, lane):
    """Return one lane of scalar i.

    Reads: a.
    """
    return a[i]


@overload(read_lane, **INLINE)
def _read_lane(a, i, lane):
    return (lambda a, i, lane: a[i, lane]) if a.ndim == 2 else (lambda a, i, lane: a[i])


def write_lane(a, i, lane, x):
    """Write one lane of scalar i.

    Writes: a.
    """
    a[i] = x


@overload(write_lane, **INLINE)
def _write_lane(a, i, lane, x):
    if a.ndim == 2:

        def pack(a, i, lane, x):
            a[i, lane] = x

        return pack

    def scalar(a, i, lane, x):
        a[i] = x

    return scalar


def raw(a, i):
    """Return number i of the memory of an array.

    Reads: a.
    """
    return a[i]


@overload(raw, **INLINE)
def _raw(a, i):
    return (lambda a, i: a[i // LANES, i % LANES]) if a.ndim == 2 else (lambda a, i: a[i])


def put_raw(a, i, x):
    """Write number i of the memory of an array.

    Writes: a.
    """
    a[i] = x


@overload(put_raw, **INLINE)
def _put_raw(a, i, x):
    if a.ndim == 2:

        def pack(a, i, x):
            a[i // LANES, i % LANES] = x

        return pack

    def scalar(a, i, x):
        a[i] = x

    return scalar


def lanes_of(a):
    """Return how many lanes a scalar of an array has."""
    return 1


@overload(lanes_of, **INLINE)
def _lanes_of(a):
    return (lambda a: LANES) if a.ndim == 2 else (lambda a: 1)


@device
def at_coordinates(index, work, q, r, lane, x, j, step, k, more):
    """Write the coordinates of the joints of closure r to raw number x on, two of them moved.

    Reads: q, x.
    Writes: x.
    """
    for i in range(r.part1 - r.part0):
        put_raw(work, x + i, read_lane(q, on_joint(index, r.part0 + i).iq, lane))
    put_raw(work, x + j, raw(work, x + j) + step)
    put_raw(work, x + k, raw(work, x + k) + more)


@device
def jacobian_at(index, params, work, q, r, lane, x, y, to, k, more):
    """Write the Jacobian of closure r, with coordinate k moved, to raw number ``to`` on; x and y are room.

    Reads: q, to, x, y.
    Writes: to, x.
    """
    n, m = r.part1 - r.part0, r.rows
    steps = r.at + m
    if r.slope != 0:
        at_coordinates(index, work, q, r, lane, x, 0, 0.0, k, more)
        call_address(r.slope, work, x, to)
        return
    for i in range(m * n):
        put_raw(work, to + i, 0.0)
    for j in range(n):
        for s in range(4):
            weight = _STENCIL[s] / params[steps + j]
            for sign in range(2):
                step = (1.0 - 2.0 * sign) * (s + 1) * params[steps + j]
                at_coordinates(index, work, q, r, lane, x, j, step, k, more)
                call_address(r.address, work, x, y)
                for i in range(m):
                    change = (1.0 - 2.0 * sign) * weight * raw(work, y + i)
                    put_raw(work, to + i * n + j, raw(work, to + i * n + j) + change)


@device
def called_jacobian(index, params, work, q, r):
    """Write the Jacobian of a compiled function to its room.

    Reads: q, room.
    Writes: room.
    """
    n, m = r.part1 - r.part0, r.rows
    x = (r.room + m * n + m * n * n) * lanes_of(work)
    for lane in range(lanes_of(work)):
        jacobian_at(index, params, work, q, r, lane, x, x + n, x + n + m, 0, 0.0)
        for i in range(m * n):
            write_lane(work, r.room + i, lane, raw(work, x + n + m + i))


@device
def called_hessian(index, params, work, q, r):
    """Write the second derivatives of a compiled function to its room: differences of the Jacobian.

    Reads: q, room.
    Writes: room.
    """
    n, m = r.part1 - r.part0, r.rows
    x, second, steps = (r.room + m * n + m * n * n) * lanes_of(work), r.room + m * n, r.at + m
    for lane in range(lanes_of(work)):
        for k in range(n):
            for i in range(m * n):
                write_lane(work, second + i * n + k, lane, 0.0)
            for s in range(4):
                for sign in range(2):
                    weight = (1.0 - 2.0 * sign) * _STENCIL[s] / params[steps + k]
                    more = (1.0 - 2.0 * sign) * (s + 1) * params[steps + k]
                    jacobian_at(index, params, work, q, r, lane, x, x + n, x + n + m, k, more)
                    for i in range(m * n):
                        at = second + i * n + k
                        total = read_lane(work, at, lane) + weight * raw(work, x + n + m + i)
                        write_lane(work, at, lane, total)


@device
def along_direction(index, work, q, r, lane, x, d, step):
    """Write the coordinates of the joints of closure r to raw number x on, moved along the direction at raw number d.

    Reads: d, q.
    Writes: x.
    """
    for i in range(r.part1 - r.part0):
        coordinate = read_lane(q, on_joint(index, r.part0 + i).iq, lane)
        put_raw(work, x + i, coordinate + step * raw(work, d + i))


@device
def jacobian_along(index, params, work, q, r, lane, x, to, d, step):
    """Write the Jacobian of closure r to raw number ``to`` on, with coordinates moved along the direction at d.

    Reads: d, q, to, x.
    Writes: to, x.
    """
    n, m = r.part1 - r.part0, r.rows
    if r.slope != 0:
        along_direction(index, work, q, r, lane, x, d, step)
        call_address(r.slope, work, x, to)
        return
    for i in range(m * n):
        put_raw(work, to + i, 0.0)
    for j in range(n):
        for s in range(4):
            weight = _STENCIL[s] / params[r.at + m + j]
            for sign in range(2):
                more = (1.0 - 2.0 * sign) * (s + 1) * params[r.at + m + j]
                along_direction(index, work, q, r, lane, x, d, step)
                put_raw(work, x + j, raw(work, x + j) + more)
                call_address(r.address, work, x, x + n)
                for i in range(m):
                    change = (1.0 - 2.0 * sign) * weight * raw(work, x + n + i)
                    put_raw(work, to + i * n + j, raw(work, to + i * n + j) + change)


@device
def called_third(index, params, work, q, r):
    """Write the second derivative of the Jacobian of a compiled function along the joints' rates to its room.

    Differences: the step is that of the function's other ones, in units of which the direction has length one.

    Reads: q, rate, room.
    Writes: room.
    """
    n, m = r.part1 - r.part0, r.rows
    lanes = lanes_of(work)
    x, d = (r.room + m * n + m * n * n) * lanes, (r.room + 2 * m * n + m * n * n + n + m) * lanes
    third = r.room + 2 * m * n + m * n * n + 2 * n + m
    for lane in range(lanes):
        size = 0.0
        for i in range(n):
            rate = read_lane(work, velocity_row(index, on_joint(index, r.part0 + i).velocity).at_rate, lane)
            put_raw(work, d + i, rate)
            size += (rate / params[r.at + m + i]) ** 2
        for i in range(m * n):
            write_lane(work, third + i, lane, 0.0)
        if size == 0.0:
            continue
        step = 1.0 / math.sqrt(size)
        for s in range(9):
            weight = (_BETWEEN if s == 4 else _SECOND[abs(s - 4) - 1]) * size
            jacobian_along(index, params, work, q, r, lane, x, x + n + m, d, (s - 4) * step)
            for i in range(m * n):
                write_lane(work, third + i, lane, read_lane(work, third + i, lane) + weight * raw(work, x + n + m + i))
