"""Derivatives of functions that the user compiled: those that are given, differences in the place of others."""

from __future__ import annotations

import math

from ..compiling.jit import device, inline
from ..numbers.neighbours import get_lane, lanes_of, put_lane
from ..tables.views import functions_of, on_joint, velocity_row
from .user_functions import call_address, put_raw, raw

# central differences of order 8: at which steps, and how much they count
_STEPS = (1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0)
_WEIGHTS = (4.0 / 5.0, -4.0 / 5.0, -1.0 / 5.0, 1.0 / 5.0, 4.0 / 105.0, -4.0 / 105.0, -1.0 / 280.0, 1.0 / 280.0)
_SECOND = (8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)  # the same of second derivatives, and of what is between
_BETWEEN = -205.0 / 72.0


@device
def coordinates(index, work, q, r, lane, x):
    """Write the coordinates of the joints of closure r to raw number x on."""
    for i in range(r.part1 - r.part0):
        put_raw(work, x + i, get_lane(q, on_joint(index, r.part0 + i).iq, lane))


@inline
def move(work, r, x, d, step):
    """Move coordinates along the direction at raw number d."""
    for i in range(r.part1 - r.part0):
        put_raw(work, x + i, raw(work, x + i) + step * raw(work, d + i))


@inline
def room_of(work, r):
    """Where raw numbers of a compiled function are: coordinates, its value, its Jacobian, a direction.

    Then what functions for derivatives of second and third order write.
    """
    n, m = r.part1 - r.part0, r.rows
    lanes = lanes_of(work)
    x = (r.room + m * n + m * n * n) * lanes
    return x, x + n, x + n + m, x + (n + m + m * n) * lanes, x + (n + m + m * n + n + m * n) * lanes


@device
def jacobian_along(index, params, work, q, r, lane, step):
    """Write the Jacobian of closure r to its room, with coordinates moved along the direction there."""
    n, m, F = r.part1 - r.part0, r.rows, functions_of(index, r.functions)
    x, y, to, d, _ = room_of(work, r)
    if F.jacobian != 0:
        coordinates(index, work, q, r, lane, x)
        move(work, r, x, d, step)
        call_address(F.jacobian, work, x, to)
        return
    for i in range(m * n):
        put_raw(work, to + i, 0.0)
    for j in range(n):
        own_step = params[r.at + m + j]
        for s in range(8):
            coordinates(index, work, q, r, lane, x)
            put_raw(work, x + j, raw(work, x + j) + _STEPS[s] * own_step)
            move(work, r, x, d, step)
            call_address(F.phi, work, x, y)
            for i in range(m):
                change = _WEIGHTS[s] / own_step * raw(work, y + i)
                put_raw(work, to + i * n + j, raw(work, to + i * n + j) + change)


@device
def point_along(work, r, k):
    """Make the direction that of coordinate k; -1: none."""
    _, _, _, d, _ = room_of(work, r)
    for i in range(r.part1 - r.part0):
        put_raw(work, d + i, 1.0 if i == k else 0.0)


@device
def called_jacobian(index, params, work, q, r):
    """Write the Jacobian of a compiled function to its room."""
    _, _, jacobian, _, _ = room_of(work, r)
    point_along(work, r, -1)
    for lane in range(lanes_of(work)):
        jacobian_along(index, params, work, q, r, lane, 0.0)
        for i in range(r.rows * (r.part1 - r.part0)):
            put_lane(work, r.room + i, lane, raw(work, jacobian + i))


@inline
def add_to_lane(a, i, lane, x):
    """Add x to one lane of scalar i."""
    put_lane(a, i, lane, get_lane(a, i, lane) + x)


@device
def called_hessian(index, params, work, q, r):
    """Write the second derivatives of a compiled function to its room, or differences of its Jacobian."""
    n, m, second, F = r.part1 - r.part0, r.rows, r.room + r.rows * (r.part1 - r.part0), functions_of(index, r.functions)
    x, _, jacobian, _, given = room_of(work, r)
    for lane in range(lanes_of(work)):
        if F.hessian != 0:
            coordinates(index, work, q, r, lane, x)
            call_address(F.hessian, work, x, given)
            for i in range(m * n * n):
                put_lane(work, second + i, lane, raw(work, given + i))
            continue
        for k in range(n):
            point_along(work, r, k)
            for i in range(m * n):
                put_lane(work, second + i * n + k, lane, 0.0)
            step = params[r.at + m + k]
            for s in range(8):
                jacobian_along(index, params, work, q, r, lane, _STEPS[s] * step)
                for i in range(m * n):
                    add_to_lane(work, second + i * n + k, lane, _WEIGHTS[s] / step * raw(work, jacobian + i))


@device
def third_given(index, work, q, r, lane, third):
    """Add the third derivatives that the user gave, twice times the direction."""
    n = r.part1 - r.part0
    x, _, _, d, given = room_of(work, r)
    coordinates(index, work, q, r, lane, x)
    call_address(functions_of(index, r.functions).third, work, x, given)
    for i in range(r.rows * n):
        for j in range(n):
            for l in range(n):
                part = raw(work, given + (i * n + j) * n + l) * raw(work, d + j) * raw(work, d + l)
                add_to_lane(work, third + i, lane, part)


@device
def third_by_hessian(index, work, q, r, lane, third, step):
    """Add differences of the Hessian along the direction, times the direction."""
    n = r.part1 - r.part0
    x, _, _, d, given = room_of(work, r)
    for s in range(8):
        coordinates(index, work, q, r, lane, x)
        move(work, r, x, d, _STEPS[s] * step)
        call_address(functions_of(index, r.functions).hessian, work, x, given)
        for i in range(r.rows * n):
            for j in range(n):
                part = _WEIGHTS[s] / step * raw(work, given + i * n + j) * raw(work, d + j)
                add_to_lane(work, third + i, lane, part)


@device
def third_by_jacobian(index, params, work, q, r, lane, third, step):
    """Add second differences of the Jacobian along the direction."""
    _, _, jacobian, _, _ = room_of(work, r)
    for s in range(9):
        weight = (_BETWEEN if s == 4 else _SECOND[abs(s - 4) - 1]) / (step * step)
        jacobian_along(index, params, work, q, r, lane, (s - 4) * step)
        for i in range(r.rows * (r.part1 - r.part0)):
            add_to_lane(work, third + i, lane, weight * raw(work, jacobian + i))


@device
def called_third(index, params, work, q, r):
    """Write the second derivative of the Jacobian of a compiled function along the joints' rates to its room.

    If it is not given, differences: the step is that of the function's other ones, in units of which the direction has
    length one.
    """
    n, m, F = r.part1 - r.part0, r.rows, functions_of(index, r.functions)
    _, _, _, d, _ = room_of(work, r)
    third = r.room + 2 * m * n + m * n * n + 2 * n + m
    for lane in range(lanes_of(work)):
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
            third_given(index, work, q, r, lane, third)
        elif F.hessian != 0:
            third_by_hessian(index, work, q, r, lane, third, step)
        else:
            third_by_jacobian(index, params, work, q, r, lane, third, step)
