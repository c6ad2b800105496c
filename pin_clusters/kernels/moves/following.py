"""Continuation of closed loops: the dependent joints follow the independent ones. One state at a time.

Newton's method on the rows of K; nothing is allocated. What it cannot follow is reported: the caller has slower means.

``reaches``, ``follow``, ``arrives``, ``close_dependents`` and ``closed_enough`` contain only choices and calls.
``compiler/specialising`` translates them for one robot. All functions that they call are traceable.
"""

from ...compiler.numba_jit.jit import device, inline, paste
from ..bodies.increments import turn_pair, turn_quaternion
from ..bodies.placements import free_rotation, start
from ..loops.closure_rows import equations
from ..loops.closure_values import values
from ..loops.coupling_of_loops import condition_of, place_bodies, prepare, rates_of, stand_still
from ..loops.dependent_columns import invert_dependents
from ..numbers.choices import if_less
from ..numbers.spatial import rot
from ..numbers.tuples import Vec3
from ..tables import layout as at
from ..tables.views import block, body, cluster, head, header, listed, velocity_row
from .limits import FAR, FASTEST, GROWTH, ITERATIONS, LIMIT, SMALLEST_STEP, STALLED, STRIDE


@device
def advance(index, work, q, C, part):
    """Move the joints of a LOOP cluster along part times the rates of its velocities; a retraction, exact in 1D."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        if V.body < 0:
            q[V.iq] += part * work[V.at_rate]
    for b in range(C.first, C.last):
        B = body(index, b)
        i, x = B.iq, B.at_G + B.ndof * C.nk + B.ndof
        if B.kind == at.REVOLUTE or B.kind == at.PRISMATIC or B.kind == at.HELICAL:
            q[i] += part * work[x]
        elif B.kind == at.CONTINUOUS:
            turn_pair(q, i, part * work[x])
        elif B.kind == at.SPHERICAL:
            turn_quaternion(q, i, part * work[x], part * work[x + 1], part * work[x + 2])
        elif B.kind == at.PLANAR:
            u, v = part * work[x], part * work[x + 1]
            q[i], q[i + 1] = q[i] + q[i + 2] * u - q[i + 3] * v, q[i + 1] + q[i + 3] * u + q[i + 2] * v
            turn_pair(q, i + 2, part * work[x + 2])
        elif B.kind == at.FREEFLYER:
            t = rot(free_rotation(q, i), Vec3(part * work[x], part * work[x + 1], part * work[x + 2]))
            q[i], q[i + 1], q[i + 2] = q[i] + t[0], q[i + 1] + t[1], q[i + 2] + t[2]
            turn_quaternion(q, i + 3, part * work[x + 3], part * work[x + 4], part * work[x + 5])


@device
def copy_joints(index, source, target, C, independent):
    """Copy the coordinates of the joints of a LOOP cluster: of all, or of the independent ones."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        if not independent or V.column >= 0:
            for k in range(V.nq):
                target[V.iq + k] = source[V.iq + k]


@device
def copy_all(index, source, target, C):
    """Copy the coordinates of all joints of a LOOP cluster."""
    copy_joints(index, source, target, C, False)


@device
def copy_independent(index, source, target, C):
    """Copy the coordinates of the independent joints of a LOOP cluster."""
    copy_joints(index, source, target, C, True)


@inline
def larger_size(x, most):
    """The absolute value of x if it is larger than ``most``, else ``most``."""
    size = if_less(x, 0.0, -x, x)
    return if_less(most, size, size, most)


@paste
def evaluate(index, params, work, q, C):
    """K and the values of a LOOP cluster.

    Returns the largest value, what is allowed for it, and the sum of all, which is NaN if a value is.
    """
    place_bodies(index, params, work, q, C)
    equations(index, params, work, q, C)
    values(index, params, work, q, C)
    H = head(index, C.head)
    L, worst, total, farthest = block(H, C.nk), 0.0, 0.0, 0.0
    for i in range(L.nr):
        worst = larger_size(work[L.value + i], worst)
        total += work[L.value + i]
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        for k in range(V.nq):
            farthest = larger_size(q[V.iq + k], farthest)
    return worst, at.TOLERANCE * if_less(farthest, 100.0, 1.0, 0.01 * farthest), total


@device
def closed_enough(value, allowed, before):
    """Whether the largest value is at rounding level, or falls no longer."""
    return value < allowed or (value < at.ROUNDING and value > STALLED * before)


@device
def longest_rate(index, work, first, last):
    """The longest of the rates of some velocities."""
    longest = 0.0
    for n in range(first, last):
        longest = larger_size(work[velocity_row(index, n).at_rate], longest)
    return longest


@inline
def step_dependents(index, work, q, C):
    """Move the dependent joints by the step that would close the loops if nothing bent; returns its longest part."""
    H = head(index, C.head)
    L = block(H, C.nk)
    invert_dependents(work, L)
    for n in range(H.velocity0, H.velocity1):
        x = 0.0
        if n - H.velocity0 < L.nd:
            for j in range(L.nr):
                x -= work[L.P + (n - H.velocity0) * L.nr + j] * work[L.value + j]
        work[velocity_row(index, n).at_rate] = x
    advance(index, work, q, C, 1.0)
    return longest_rate(index, work, H.velocity0, H.velocity0 + L.nd)


@paste
def close_dependents(index, params, work, q, C):
    """Newton's method on the dependent joints, in place; returns whether it closed the loops."""
    before = 1e300
    for _ in range(ITERATIONS):
        value, allowed, total = evaluate(index, params, work, q, C)
        if total != total:
            return False
        if closed_enough(value, allowed, before):
            return True
        if not value < FAR or value > GROWTH * before:
            return False
        if not step_dependents(index, work, q, C) < LIMIT:
            return False
        before = value
    return False


@paste
def side(index, work, C):
    """The sign of det(P K_d), with P of the saved pose and K of the present one."""
    L = block(head(index, C.head), C.nk)
    nd, x, sign = L.nd, L.saved + L.nd * L.nr, 1.0
    for i in range(nd):
        for j in range(nd):
            t = 0.0
            for k in range(L.nr):
                t += work[L.saved + i * L.nr + k] * work[L.K + k * L.width + j]
            work[x + i * nd + j] = t
    for k in range(nd):
        for i in range(k + 1, nd):
            # the larger of both rows goes up
            a, b = work[x + k * nd + k] * work[x + k * nd + k], work[x + i * nd + k] * work[x + i * nd + k]
            for j in range(k, nd):
                above, below = work[x + k * nd + j], work[x + i * nd + j]
                work[x + k * nd + j], work[x + i * nd + j] = if_less(a, b, below, above), if_less(a, b, above, below)
            sign *= if_less(a, b, -1.0, 1.0)
        pivot = work[x + k * nd + k]
        sign *= if_less(0.0, pivot, 1.0, if_less(pivot, 0.0, -1.0, 0.0))
        for i in range(k + 1, nd):
            t = work[x + i * nd + k] / pivot
            for j in range(k, nd):
                work[x + i * nd + j] -= t * work[x + k * nd + j]
    return sign


@paste
def predict(index, params, work, q, v, C):
    """G at q, and P, which is saved; returns the longest rate of a dependent joint along v, and the condition."""
    prepare(index, params, work, q, C)
    H = head(index, C.head)
    L = block(H, C.nk)
    for i in range(L.nd * L.nr):
        work[L.saved + i] = work[L.P + i]
    rates_of(index, work, v, C)
    return longest_rate(index, work, H.velocity0, H.velocity0 + L.nd), condition_of(index, work, C)


@inline
def go(index, work, q, v, trial, C, step):
    """Write to ``trial`` where the joints of a LOOP cluster are after a part of the motion that G predicts."""
    copy_joints(index, q, trial, C, False)
    rates_of(index, work, v, C)
    advance(index, work, trial, C, step)


@paste
def arrives(index, params, work, q, v, target, trial, C, step, left):
    """Whether a step leads to closed loops on the same branch, which ``trial`` has then."""
    go(index, work, q, v, trial, C, step)
    if step >= left:
        copy_independent(index, target, trial, C)
    return close_dependents(index, params, work, trial, C) and side(index, work, C) > 0.0


@paste
def follow(index, params, work, q, v, target, trial, C):
    """Carry the dependent joints of a LOOP cluster from q along v to the independent ones of target; q is moved.

    Steps short enough that no dependent joint is predicted to move more than STRIDE; the sign of det K_d must not
    change. Returns whether it arrived.
    """
    done, allowed = 0.0, 1.0
    while done < 1.0:
        longest, condition = predict(index, params, work, q, v, C)
        # beyond the limit of the condition the sign of det K_d would be that of rounding
        if not (condition < at.CONDITION_LIMIT * at.CONDITION_LIMIT and longest < FASTEST):
            return False
        left = 1.0 - done
        step = min(left, allowed, STRIDE / longest if longest > STRIDE else 1.0)
        if step < SMALLEST_STEP and step < left:
            return False
        while not arrives(index, params, work, q, v, target, trial, C, step, left):
            step = 0.25 * step
            if step < SMALLEST_STEP:
                return False
        copy_all(index, trial, q, C)
        done = 1.0 if step >= left else done + step
        allowed = 4.0 * step
    return True


@device
def speed(index, v, C):
    """Sum of the absolute velocities of the independent joints of a LOOP cluster."""
    total = 0.0
    for k in range(C.nk):
        x = v[listed(index, C.column, k)]
        total += if_less(x, 0.0, -x, x)
    return total


@paste
def reaches(index, params, work, q, v, target, trial, C):
    """Carry the joints of a LOOP cluster along v, in place; returns whether that succeeded, or nothing has to move.

    Near a dead centre Newton's method may fail on loops that are as closed as rounding permits. They stay at rest.
    """
    if follow(index, params, work, q, v, target, trial, C):
        return True
    if speed(index, v, C) != 0.0:
        return False
    value, _, total = evaluate(index, params, work, q, C)
    return value < at.ROUNDING and total == total


@paste
def move(index, params, work, result, q, v, target, spare):
    """Carry the dependent joints of all LOOP clusters along v; q is moved, spare is room.

    Returns minus the row of a cluster that did not arrive.
    """
    n = header(index)
    if q.shape[0] != n.nq or v.shape[0] != n.nv:
        return at.WRONG_SIZE
    start(params, work)
    code = at.OK
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == at.LOOP:
            stand_still(work, C)
            if not reaches(index, params, work, q, v, target, spare, C):
                code = -c
    return code
