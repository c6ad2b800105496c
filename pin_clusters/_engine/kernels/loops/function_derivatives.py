"""Derivatives of functions that the user compiled: those that are given, differences in the place of others."""

from __future__ import annotations

import math

from ..compiling.jit import device, inline
from ..numbers.simd import get_lane, put_lane
from ..tables.views import functions_of, on_joint, velocity_row
from .user_functions import call_address, lanes_of, put_raw, raw

_STENCIL = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)  # central differences of order 8
_SECOND = (8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)  # the same of second derivatives, and of what is between
_BETWEEN = -205.0 / 72.0


@device
def at_coordinates(index, work, q, r, lane, x, j, step, k, more):
    """Write the coordinates of the joints of closure r to raw number x on, two of them moved."""
    for i in range(r.part1 - r.part0):
        put_raw(work, x + i, get_lane(q, on_joint(index, r.part0 + i).iq, lane))
    put_raw(work, x + j, raw(work, x + j) + step)
    put_raw(work, x + k, raw(work, x + k) + more)


@device
def jacobian_at(index, params, work, q, r, lane, x, y, to, k, more):
    """Write the Jacobian of closure r, with coordinate k moved, to raw number ``to`` on; x and y are room."""
    n, m = r.part1 - r.part0, r.rows
    steps = r.at + m
    F = functions_of(index, r.functions)
    if F.jacobian != 0:
        at_coordinates(index, work, q, r, lane, x, 0, 0.0, k, more)
        call_address(F.jacobian, work, x, to)
        return
    for i in range(m * n):
        put_raw(work, to + i, 0.0)
    for j in range(n):
        for s in range(4):
            weight = _STENCIL[s] / params[steps + j]
            for sign in range(2):
                step = (1.0 - 2.0 * sign) * (s + 1) * params[steps + j]
                at_coordinates(index, work, q, r, lane, x, j, step, k, more)
                call_address(F.phi, work, x, y)
                for i in range(m):
                    change = (1.0 - 2.0 * sign) * weight * raw(work, y + i)
                    put_raw(work, to + i * n + j, raw(work, to + i * n + j) + change)


@device
def called_jacobian(index, params, work, q, r):
    """Write the Jacobian of a compiled function to its room."""
    n, m = r.part1 - r.part0, r.rows
    x = (r.room + m * n + m * n * n) * lanes_of(work)
    for lane in range(lanes_of(work)):
        jacobian_at(index, params, work, q, r, lane, x, x + n, x + n + m, 0, 0.0)
        for i in range(m * n):
            put_lane(work, r.room + i, lane, raw(work, x + n + m + i))


@inline
def written(work, r):
    """Where functions for derivatives of second and third order write, as a raw number."""
    n, m = r.part1 - r.part0, r.rows
    return (r.room + m * n + m * n * n + n + m + m * n + n + m * n) * lanes_of(work)


@device
def call_given(work, r, lane, address, x, to, size):
    """Call a function at the coordinates at raw number x, and write its numbers to one lane of scalars ``to`` on."""
    y = written(work, r)
    call_address(address, work, x, y)
    for i in range(size):
        put_lane(work, to + i, lane, raw(work, y + i))


@device
def called_hessian(index, params, work, q, r):
    """Write the second derivatives of a compiled function to its room, or differences of its Jacobian."""
    n, m = r.part1 - r.part0, r.rows
    x, second, steps = (r.room + m * n + m * n * n) * lanes_of(work), r.room + m * n, r.at + m
    F = functions_of(index, r.functions)
    for lane in range(lanes_of(work)):
        if F.hessian != 0:
            at_coordinates(index, work, q, r, lane, x, 0, 0.0, 0, 0.0)
            call_given(work, r, lane, F.hessian, x, second, m * n * n)
            continue
        for k in range(n):
            for i in range(m * n):
                put_lane(work, second + i * n + k, lane, 0.0)
            for s in range(4):
                for sign in range(2):
                    weight = (1.0 - 2.0 * sign) * _STENCIL[s] / params[steps + k]
                    more = (1.0 - 2.0 * sign) * (s + 1) * params[steps + k]
                    jacobian_at(index, params, work, q, r, lane, x, x + n, x + n + m, k, more)
                    for i in range(m * n):
                        at = second + i * n + k
                        total = get_lane(work, at, lane) + weight * raw(work, x + n + m + i)
                        put_lane(work, at, lane, total)


@device
def along_direction(index, work, q, r, lane, x, d, step):
    """Write the coordinates of the joints of closure r to raw number x on, moved along the one at raw number d."""
    for i in range(r.part1 - r.part0):
        coordinate = get_lane(q, on_joint(index, r.part0 + i).iq, lane)
        put_raw(work, x + i, coordinate + step * raw(work, d + i))


@device
def jacobian_along(index, params, work, q, r, lane, x, to, d, step):
    """Write the Jacobian of closure r to raw number ``to`` on, with coordinates moved along the direction at d."""
    n, m = r.part1 - r.part0, r.rows
    F = functions_of(index, r.functions)
    if F.jacobian != 0:
        along_direction(index, work, q, r, lane, x, d, step)
        call_address(F.jacobian, work, x, to)
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
                call_address(F.phi, work, x, x + n)
                for i in range(m):
                    change = (1.0 - 2.0 * sign) * weight * raw(work, x + n + i)
                    put_raw(work, to + i * n + j, raw(work, to + i * n + j) + change)


@inline
def add_to_lane(a, i, lane, x):
    """Add x to one lane of scalar i."""
    put_lane(a, i, lane, get_lane(a, i, lane) + x)


@device
def third_given(index, work, q, r, lane, x, d, third):
    """Add the third derivatives that the user gave, twice times the direction at raw number d."""
    n, y = r.part1 - r.part0, written(work, r)
    along_direction(index, work, q, r, lane, x, d, 0.0)
    call_address(functions_of(index, r.functions).third, work, x, y)
    for i in range(r.rows * n):
        for j in range(n):
            for l in range(n):
                part = raw(work, y + (i * n + j) * n + l) * raw(work, d + j) * raw(work, d + l)
                add_to_lane(work, third + i, lane, part)


@device
def third_by_hessian(index, work, q, r, lane, x, d, third, step):
    """Add differences of the Hessian along the direction at raw number d, times the direction."""
    n, y = r.part1 - r.part0, written(work, r)
    for s in range(4):
        for sign in range(2):
            ahead = 1.0 - 2.0 * sign
            along_direction(index, work, q, r, lane, x, d, ahead * (s + 1) * step)
            call_address(functions_of(index, r.functions).hessian, work, x, y)
            for i in range(r.rows * n):
                for j in range(n):
                    part = ahead * _STENCIL[s] / step * raw(work, y + i * n + j) * raw(work, d + j)
                    add_to_lane(work, third + i, lane, part)


@device
def third_by_jacobian(index, params, work, q, r, lane, x, d, third, step):
    """Add second differences of the Jacobian along the direction at raw number d."""
    n, m = r.part1 - r.part0, r.rows
    for s in range(9):
        weight = (_BETWEEN if s == 4 else _SECOND[abs(s - 4) - 1]) / (step * step)
        jacobian_along(index, params, work, q, r, lane, x, x + n + m, d, (s - 4) * step)
        for i in range(m * n):
            add_to_lane(work, third + i, lane, weight * raw(work, x + n + m + i))


@device
def called_third(index, params, work, q, r):
    """Write the second derivative of the Jacobian of a compiled function along the joints' rates to its room.

    If it is not given, differences: the step is that of the function's other ones, in units of which the direction has
    length one.
    """
    n, m = r.part1 - r.part0, r.rows
    lanes, F = lanes_of(work), functions_of(index, r.functions)
    x, d = (r.room + m * n + m * n * n) * lanes, (r.room + 2 * m * n + m * n * n + n + m) * lanes
    third = r.room + 2 * m * n + m * n * n + 2 * n + m
    for lane in range(lanes):
        size = 0.0
        for i in range(n):
            rate = get_lane(work, velocity_row(index, on_joint(index, r.part0 + i).velocity).at_rate, lane)
            put_raw(work, d + i, rate)
            size += (rate / params[r.at + m + i]) ** 2
        for i in range(m * n):
            put_lane(work, third + i, lane, 0.0)
        if size == 0.0:
            continue
        step = 1.0 / math.sqrt(size)
        if F.third != 0:
            third_given(index, work, q, r, lane, x, d, third)
        elif F.hessian != 0:
            third_by_hessian(index, work, q, r, lane, x, d, third, step)
        else:
            third_by_jacobian(index, params, work, q, r, lane, x, d, third, step)
