"""Closing loops: continuation of the dependent joints, and the least change of all joints. One state at a time.

Both are Newton's method on the rows of K; neither allocates. What they cannot close they report: the caller has slower,
damped means.
"""

from __future__ import annotations

import math

from ._jit import device, kernel, paste, signature
from .closures import at_inverse, at_room, at_saved, at_value, equations
from .coupling import stand_still
from .kinematics import free_rotation, start
from .layout import (
    AT_G,
    AT_LOOP,
    CLUSTER0,
    CLUSTER1,
    CONTINUOUS,
    DOF0,
    DOF1,
    DOF_BODY,
    DOF_COLUMN,
    DOF_IQ,
    DOF_IV,
    DOF_NQ,
    DOF_RATE,
    FIRST,
    FREEFLYER,
    HELICAL,
    IMPLICIT,
    IQ,
    KIND,
    LAST,
    LOOP,
    ND,
    NDOF,
    NK,
    NQ,
    NR,
    NV,
    NVT,
    OK,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    TYPE,
    WRONG_SIZE,
)
from .loops import inverse_of, is_singular, place_bodies, prepare, rates_of
from .simd import entry, tables
from .spatial import rot
from .values import values

# largest value of a row, times max(1, |q| / 100): half of what is promised, because scales are those of some poses
TOLERANCE = 5e-14
ROUNDING = 1e-11  # what a row may keep where rounding stops Newton's method
STRIDE = 0.2  # [rad] or [m]: longest predicted step of a dependent joint
SMALLEST_STEP = 1e-6  # part of the whole motion
LIMIT = 0.5  # [rad] or [m]: longest step of a joint when a loop is closed
ITERATIONS = 12


@device
def turn_quaternion(q, i, x, y, z):
    """Multiply the quaternion at q[i] by the rotation vector (x, y, z) of its own axes."""
    angle = math.sqrt(x * x + y * y + z * z)
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(0.5 * angle) / angle
    a, b, c, d = s * x, s * y, s * z, math.cos(0.5 * angle)
    qx, qy, qz, qw = q[i], q[i + 1], q[i + 2], q[i + 3]
    nx, ny = qw * a + qx * d + qy * c - qz * b, qw * b - qx * c + qy * d + qz * a
    nz, nw = qw * c + qx * b - qy * a + qz * d, qw * d - qx * a - qy * b - qz * c
    n = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
    q[i], q[i + 1], q[i + 2], q[i + 3] = n * nx, n * ny, n * nz, n * nw


@device
def turn_pair(q, i, angle):
    """Turn the (cos, sin) pair at q[i]."""
    c, s = math.cos(angle), math.sin(angle)
    x, y = c * q[i] - s * q[i + 1], s * q[i] + c * q[i + 1]
    n = 1.0 / math.sqrt(x * x + y * y)
    q[i], q[i + 1] = n * x, n * y


@device
def advance(index, work, q, c, part):
    """Move the joints of LOOP cluster c along part times the rates of its velocities; a retraction, exact in 1D."""
    nk, head = entry(index, c, NK), entry(index, c, LOOP)
    for dof in range(entry(index, head, DOF0), entry(index, head, DOF1)):
        if entry(index, dof, DOF_BODY) < 0:
            q[entry(index, dof, DOF_IQ)] += part * work[entry(index, dof, DOF_RATE)]
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        kind, i, n = entry(index, b, KIND), entry(index, b, IQ), entry(index, b, NDOF)
        x = entry(index, b, AT_G) + n * nk + n
        if kind == REVOLUTE or kind == PRISMATIC or kind == HELICAL:
            q[i] += part * work[x]
        elif kind == CONTINUOUS:
            turn_pair(q, i, part * work[x])
        elif kind == SPHERICAL:
            turn_quaternion(q, i, part * work[x], part * work[x + 1], part * work[x + 2])
        elif kind == PLANAR:
            u, v = part * work[x], part * work[x + 1]
            q[i], q[i + 1] = q[i] + q[i + 2] * u - q[i + 3] * v, q[i + 1] + q[i + 3] * u + q[i + 2] * v
            turn_pair(q, i + 2, part * work[x + 2])
        elif kind == FREEFLYER:
            R = free_rotation(q, i)
            t = rot(R, (part * work[x], part * work[x + 1], part * work[x + 2]))
            q[i], q[i + 1], q[i + 2] = q[i] + t[0], q[i + 1] + t[1], q[i + 2] + t[2]
            turn_quaternion(q, i + 3, part * work[x + 3], part * work[x + 4], part * work[x + 5])


@device
def copy_joints(index, source, target, c, independent):
    """Copy the coordinates of the joints of LOOP cluster c: of all, or of the independent ones."""
    head = entry(index, c, LOOP)
    for dof in range(entry(index, head, DOF0), entry(index, head, DOF1)):
        if not independent or entry(index, dof, DOF_COLUMN) >= 0:
            i = entry(index, dof, DOF_IQ)
            for k in range(entry(index, dof, DOF_NQ)):
                target[i + k] = source[i + k]


@device
def largest_coordinate(index, q, c):
    """Largest |q| of the joints of LOOP cluster c."""
    head, x = entry(index, c, LOOP), 0.0
    for dof in range(entry(index, head, DOF0), entry(index, head, DOF1)):
        i = entry(index, dof, DOF_IQ)
        for k in range(entry(index, dof, DOF_NQ)):
            x = max(x, abs(q[i + k]))
    return x


@paste
def evaluate(index, params, work, q, c):
    """K and the values of LOOP cluster c; returns the largest value."""
    place_bodies(index, params, work, q, c)
    equations(index, params, work, q, c)
    values(index, params, work, q, c)
    head, nk, worst = entry(index, c, LOOP), entry(index, c, NK), 0.0
    nd, nr = entry(index, head, ND), entry(index, head, NR)
    at = entry(index, head, AT_LOOP) + at_value(nd, nr, nk)
    for i in range(nr):
        x = abs(work[at + i])
        if not x <= worst:
            worst = x  # NaN stays
    return worst


@device
def closed_enough(index, q, c, value, before):
    """Whether the largest value is at rounding level, or falls no longer."""
    return value < TOLERANCE * max(1.0, 0.01 * largest_coordinate(index, q, c)) or (
        value < ROUNDING and value > 0.3 * before
    )


@paste
def close_dependents(index, params, work, q, c):
    """Newton's method on the dependent joints; returns whether it closed the loops."""
    head, nk, before = entry(index, c, LOOP), entry(index, c, NK), 1e300
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    first, last = entry(index, head, DOF0), entry(index, head, DOF1)
    P, r = K + at_inverse(nd, nr, nk), K + at_value(nd, nr, nk)
    for _ in range(ITERATIONS):
        value = evaluate(index, params, work, q, c)
        if closed_enough(index, q, c, value, before):
            return True
        if not value < 1e3 or value > 2.0 * before:
            return False
        before = value
        inverse_of(work, K, nd + nk, nd, nr, P, K + at_room(nd, nr, nk))
        for dof in range(first, last):
            work[entry(index, dof, DOF_RATE)] = 0.0
        longest = 0.0
        for i in range(nd):
            x = 0.0
            for j in range(nr):
                x -= work[P + i * nr + j] * work[r + j]
            work[entry(index, first + i, DOF_RATE)] = x
            longest = max(longest, abs(x))
        if not longest < LIMIT:
            return False
        advance(index, work, q, c, 1.0)
    return False


@paste
def same_branch(index, work, c):
    """Whether det(P K_d) > 0, with P of the saved pose and K of the present one."""
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    saved, width = K + at_saved(nd, nr, nk), nd + nk
    x, sign = saved + nd * nr, 1.0
    for i in range(nd):
        for j in range(nd):
            t = 0.0
            for k in range(nr):
                t += work[saved + i * nr + k] * work[K + k * width + j]
            work[x + i * nd + j] = t
    for k in range(nd):
        best = k
        for i in range(k + 1, nd):
            if abs(work[x + i * nd + k]) > abs(work[x + best * nd + k]):
                best = i
        if best != k:
            sign = -sign
            for j in range(nd):
                work[x + k * nd + j], work[x + best * nd + j] = work[x + best * nd + j], work[x + k * nd + j]
        pivot = work[x + k * nd + k]
        if not pivot != 0.0:
            return False
        sign = sign if pivot > 0.0 else -sign
        for i in range(k + 1, nd):
            t = work[x + i * nd + k] / pivot
            for j in range(k, nd):
                work[x + i * nd + j] -= t * work[x + k * nd + j]
    return sign > 0.0


@paste
def follow(index, params, work, q, v, target, spare, c):
    """Carry the dependent joints of LOOP cluster c from q along v to the independent ones of target; q is moved.

    Steps short enough that no dependent joint is predicted to move more than STRIDE; the sign of det K_d must not
    change. Returns whether it arrived.
    """
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    first, P = entry(index, head, DOF0), K + at_inverse(nd, nr, nk)
    done, allowed = 0.0, 1.0
    while done < 1.0:
        prepare(index, params, work, q, c)
        if is_singular(index, work, c):
            return False  # beyond it, the sign of det K_d would be that of rounding
        for i in range(nd * nr):
            work[K + at_saved(nd, nr, nk) + i] = work[P + i]
        longest = 0.0
        rates_of(index, work, v, c)
        for i in range(nd):
            longest = max(longest, abs(work[entry(index, first + i, DOF_RATE)]))
        if not longest < 1e9:
            return False
        copy_joints(index, q, spare, c, False)
        arrived = False
        while not arrived:
            step = min(1.0 - done, allowed, STRIDE / longest if longest > STRIDE else 1.0)
            if step < SMALLEST_STEP and step < 1.0 - done:
                return False
            rates_of(index, work, v, c)
            advance(index, work, q, c, step)
            if step >= 1.0 - done:
                copy_joints(index, target, q, c, True)
            if close_dependents(index, params, work, q, c) and same_branch(index, work, c):
                arrived = True
            else:
                copy_joints(index, spare, q, c, False)
                prepare(index, params, work, q, c)
                allowed = 0.25 * step
        done = 1.0 if step >= 1.0 - done else done + step
        allowed = 4.0 * step
    return True


@paste
def move(index, params, work, keep, q, v, target, spare):
    """Carry the dependent joints of all LOOP clusters along v; q is moved, spare is room.

    Returns minus the row of a cluster that did not arrive.
    """
    if q.shape[0] != entry(index, 0, NQ) or v.shape[0] != entry(index, 0, NV):
        return WRONG_SIZE
    start(params, work)
    code = OK
    for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
        if entry(index, c, TYPE) == IMPLICIT:
            stand_still(index, work, c)
            if not follow(index, params, work, q, v, target, spare, c):
                code = -c
    return code


@paste
def choose_rows(index, work, c):
    """Replace K and the values of LOOP cluster c by P K and P times the values, P of the dependent columns."""
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    width, P = nd + nk, K + at_inverse(nd, nr, nk)
    r, column = K + at_value(nd, nr, nk), K + at_saved(nd, nr, nk)
    for j in range(width + 1):
        at, step = (K + j, width) if j < width else (r, 1)
        for i in range(nd):
            t = 0.0
            for k in range(nr):
                t += work[P + i * nr + k] * work[at + k * step]
            work[column + i] = t
        for i in range(nd):
            work[at + i * step] = work[column + i]


@paste
def close_all(index, params, work, q, held, c):
    """Newton's method with the shortest step of all joints that are not held; returns whether it closed the loops."""
    head, nk, before = entry(index, c, LOOP), entry(index, c, NK), 1e300
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    first, last = entry(index, head, DOF0), entry(index, head, DOF1)
    width, r, A = nd + nk, K + at_value(nd, nr, nk), K + at_room(nd, nr, nk)
    for _ in range(2 * ITERATIONS):
        value = evaluate(index, params, work, q, c)
        if closed_enough(index, q, c, value, before):
            return True
        if not value < 1e3 or value > 10.0 * before:
            return False
        before = value
        if nr > nd:
            inverse_of(work, K, width, nd, nr, K + at_inverse(nd, nr, nk), A)
        for j in range(width):
            # the columns of K: dependent velocities in order, then the independent ones
            for dof in range(first, last):
                k = entry(index, dof, DOF_COLUMN)
                column = dof - first if dof - first < nd else nd + k
                if column == j and held[entry(index, dof, DOF_IV)] != 0.0:
                    for i in range(nr):
                        work[K + i * width + j] = 0.0
        rows = nr
        if nr > nd:
            # off the manifold more rows count than on it: those that the pivots chose, as P K
            rows = nd
            choose_rows(index, work, c)
        trace = 0.0
        for i in range(rows):
            for j in range(rows):
                t = 0.0
                for k in range(width):
                    t += work[K + i * width + k] * work[K + j * width + k]
                work[A + i * nr + j] = t
            trace += work[A + i * nr + i]
        for k in range(rows):
            # Cholesky; a little of the trace keeps redundant rows from dividing by zero
            t = work[A + k * nr + k] + 1e-13 * trace
            for m in range(k):
                t -= work[A + k * nr + m] * work[A + k * nr + m]
            if not t > 0.0:
                return False
            t = math.sqrt(t)
            work[A + k * nr + k] = t
            for i in range(k + 1, rows):
                s = work[A + i * nr + k]
                for m in range(k):
                    s -= work[A + i * nr + m] * work[A + k * nr + m]
                work[A + i * nr + k] = s / t
        for k in range(rows):
            t = work[r + k]
            for m in range(k):
                t -= work[A + k * nr + m] * work[r + m]
            work[r + k] = t / work[A + k * nr + k]
        for n in range(rows):
            k = rows - 1 - n
            t = work[r + k]
            for m in range(k + 1, rows):
                t -= work[A + m * nr + k] * work[r + m]
            work[r + k] = t / work[A + k * nr + k]
        longest = 0.0
        for dof in range(first, last):
            k, x = entry(index, dof, DOF_COLUMN), 0.0
            column = dof - first if dof - first < nd else nd + k
            if column < nd or k >= 0:
                for i in range(rows):
                    x -= work[K + i * width + column] * work[r + i]
            work[entry(index, dof, DOF_RATE)] = x
            longest = max(longest, abs(x))
        advance(index, work, q, c, LIMIT / longest if longest > LIMIT else 1.0)
    return False


@paste
def project(index, params, work, keep, q, held):
    """Close the loops of all clusters in place; returns minus the row of a cluster that stays open."""
    if q.shape[0] != entry(index, 0, NQ) or held.shape[0] != entry(index, 0, NVT):
        return WRONG_SIZE
    start(params, work)
    code = OK
    for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
        if entry(index, c, TYPE) == IMPLICIT:
            stand_still(index, work, c)
            if not close_all(index, params, work, q, held, c):
                code = -c
    return code


@kernel(signature(4), "integrate (continuation of closed loops)", move)
def move_at(address, q, v, target, spare):
    """Call move with the tables at an address."""
    index, params, work, keep = tables(address)
    return move(index, params, work, keep, q, v, target, spare)


@kernel(signature(2), "project (closing of loops)", project)
def project_at(address, q, held):
    """Call project with the tables at an address."""
    index, params, work, keep = tables(address)
    return project(index, params, work, keep, q, held)
