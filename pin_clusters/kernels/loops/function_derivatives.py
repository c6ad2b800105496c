"""Computes derivatives of compiled user functions; finite differences replace derivatives that the user omits."""

import math

from ...compiler.numba_jit.jit import device, inline
from ..numbers.memory import get, increase, put, put_copy, put_zeros
from ..tables.views import functions_of, on_joint, velocity_row
from .user_functions import call_address

# Steps and weights of eighth-order central differences
_STEPS = (1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0)
_WEIGHTS = (4.0 / 5.0, -4.0 / 5.0, -1.0 / 5.0, 1.0 / 5.0, 4.0 / 105.0, -4.0 / 105.0, -1.0 / 280.0, 1.0 / 280.0)
_SECOND = (8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)  # weights at steps 1 to 4 for second derivatives
_BETWEEN = -205.0 / 72.0  # weight at step 0 for second derivatives


@device
def coordinates(index, work, q, r, x):
    for i in range(r.part1 - r.part0):
        put(work, x + i, get(q, on_joint(index, r.part0 + i).iq))


@inline
def move(work, r, x, d, step):
    """Move the coordinates at work[x:] by ``step`` times the direction at work[d:]."""
    for i in range(r.part1 - r.part0):
        increase(work, x + i, step * get(work, d + i))


@inline
def offsets_of(r):
    """Return the ``work`` offsets of coordinates, value, Jacobian, direction, and the output of user derivatives."""
    n, m = r.part1 - r.part0, r.rows
    x = r.scratch + m * n + m * n * n
    return x, x + n, x + n + m, x + n + m + m * n, x + n + m + m * n + n + m * n


@device
def jacobian_along(index, params, work, q, r, step):
    """Write the Jacobian of closure r at coordinates displaced by ``step`` along the stored direction."""
    n, m, F = r.part1 - r.part0, r.rows, functions_of(index, r.functions)
    x, y, to, d, _ = offsets_of(r)
    if F.jacobian != 0:
        coordinates(index, work, q, r, x)
        move(work, r, x, d, step)
        call_address(F.jacobian, work, x, to)
        return
    put_zeros(work, to, m * n)
    for j in range(n):
        own_step = params[r.at + m + j]
        for s in range(8):
            coordinates(index, work, q, r, x)
            increase(work, x + j, _STEPS[s] * own_step)
            move(work, r, x, d, step)
            call_address(F.phi, work, x, y)
            for i in range(m):
                change = _WEIGHTS[s] / own_step * get(work, y + i)
                increase(work, to + i * n + j, change)


@device
def point_along(work, r, k):
    """Set the direction to the unit vector of coordinate k, or to zero if k is -1."""
    _, _, _, d, _ = offsets_of(r)
    for i in range(r.part1 - r.part0):
        put(work, d + i, 1.0 if i == k else 0.0)


@device
def called_jacobian(index, params, work, q, r):
    _, _, jacobian, _, _ = offsets_of(r)
    point_along(work, r, -1)
    jacobian_along(index, params, work, q, r, 0.0)
    put_copy(work, r.scratch, work, jacobian, r.rows * (r.part1 - r.part0))


@device
def called_hessian(index, params, work, q, r):
    """Write the second derivatives of a compiled function; if the user omits them, use differences of its Jacobian."""
    n, m, second, F = (
        r.part1 - r.part0,
        r.rows,
        r.scratch + r.rows * (r.part1 - r.part0),
        functions_of(index, r.functions),
    )
    x, _, jacobian, _, derivatives = offsets_of(r)
    if F.hessian != 0:
        coordinates(index, work, q, r, x)
        call_address(F.hessian, work, x, derivatives)
        put_copy(work, second, work, derivatives, m * n * n)
        return
    put_zeros(work, second, m * n * n)
    for k in range(n):
        point_along(work, r, k)
        step = params[r.at + m + k]
        for s in range(8):
            jacobian_along(index, params, work, q, r, _STEPS[s] * step)
            for i in range(m * n):
                increase(work, second + i * n + k, _WEIGHTS[s] / step * get(work, jacobian + i))


@device
def third_given(index, work, q, r, third):
    """Add the user's third derivatives, contracted twice with the stored direction, to work[third:]."""
    n = r.part1 - r.part0
    x, _, _, d, derivatives = offsets_of(r)
    coordinates(index, work, q, r, x)
    call_address(functions_of(index, r.functions).third, work, x, derivatives)
    for i in range(r.rows * n):
        for j in range(n):
            for l in range(n):
                part = get(work, derivatives + (i * n + j) * n + l) * get(work, d + j) * get(work, d + l)
                increase(work, third + i, part)


@device
def third_by_hessian(index, work, q, r, third, step):
    """Add differences of the Hessian along the stored direction, contracted with this direction, to work[third:]."""
    n = r.part1 - r.part0
    x, _, _, d, derivatives = offsets_of(r)
    for s in range(8):
        coordinates(index, work, q, r, x)
        move(work, r, x, d, _STEPS[s] * step)
        call_address(functions_of(index, r.functions).hessian, work, x, derivatives)
        for i in range(r.rows * n):
            for j in range(n):
                part = _WEIGHTS[s] / step * get(work, derivatives + i * n + j) * get(work, d + j)
                increase(work, third + i, part)


@device
def third_by_jacobian(index, params, work, q, r, third, step):
    """Add second differences of the Jacobian along the stored direction to work[third:]."""
    _, _, jacobian, _, _ = offsets_of(r)
    for s in range(9):
        weight = (_BETWEEN if s == 4 else _SECOND[abs(s - 4) - 1]) / (step * step)
        jacobian_along(index, params, work, q, r, (s - 4) * step)
        for i in range(r.rows * (r.part1 - r.part0)):
            increase(work, third + i, weight * get(work, jacobian + i))


@device
def called_third(index, params, work, q, r):
    """Write the Jacobian's second derivative along the joint velocities, by finite differences if the user omits it."""
    n, m, F = r.part1 - r.part0, r.rows, functions_of(index, r.functions)
    _, _, _, d, _ = offsets_of(r)
    third = r.scratch + 2 * m * n + m * n * n + 2 * n + m
    size = 0.0
    for i in range(n):
        rate = get(work, velocity_row(index, on_joint(index, r.part0 + i).velocity).at_rate)
        put(work, d + i, rate)
        size += (rate / params[r.at + m + i]) ** 2
    put_zeros(work, third, m * n)
    if size == 0.0:
        return
    step = 1.0 / math.sqrt(size)
    if F.third != 0:
        third_given(index, work, q, r, third)
    elif F.hessian != 0:
        third_by_hessian(index, work, q, r, third, step)
    else:
        third_by_jacobian(index, params, work, q, r, third, step)
