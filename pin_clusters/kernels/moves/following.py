"""Continuation of closed loops: the dependent joints follow the independent ones. One state at a time.

Newton's method on the rows of K; nothing is allocated. What it cannot follow is reported: the caller has slower means.
"""

from ...compiler.numba_jit.jit import device, inline, paste
from ..bodies.increments import turn_pair, turn_quaternion
from ..bodies.placements import free_rotation, start
from ..loops.closure_rows import equations
from ..loops.closure_values import values
from ..loops.coupling_of_loops import is_singular, place_bodies, prepare, rates_of, stand_still
from ..loops.dependent_columns import invert_dependents
from ..numbers.choices import if_less
from ..numbers.spatial import rot
from ..numbers.tuples import Vec3
from ..tables import layout as at
from ..tables.views import block, body, cluster, head, header, listed, velocity_row
from .limits import ITERATIONS, LIMIT, SMALLEST_STEP, STRIDE


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


@paste
def evaluate(index, params, work, q, C):
    """K and the values of a LOOP cluster; returns the largest value."""
    place_bodies(index, params, work, q, C)
    equations(index, params, work, q, C)
    values(index, params, work, q, C)
    L, worst = block(head(index, C.head), C.nk), 0.0
    for i in range(L.nr):
        x = abs(work[L.value + i])
        if not x <= worst and worst == worst:
            worst = x  # NaN stays
    return worst


@device
def closed_enough(index, q, C, value, before):
    """Whether the largest value is at rounding level, or falls no longer."""
    H, largest = head(index, C.head), 0.0
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        for k in range(V.nq):
            largest = max(largest, abs(q[V.iq + k]))
    return value < at.TOLERANCE * max(1.0, 0.01 * largest) or (value < at.ROUNDING and value > 0.3 * before)


@device
def longest_rate(index, work, first, last):
    """The longest of the rates of some velocities."""
    longest = 0.0
    for n in range(first, last):
        longest = max(longest, abs(work[velocity_row(index, n).at_rate]))
    return longest


@inline
def step_dependents(index, work, C):
    """Write the step of the dependent joints that would close the loops if nothing bent."""
    H = head(index, C.head)
    L = block(H, C.nk)
    invert_dependents(work, L)
    for n in range(H.velocity0, H.velocity1):
        x = 0.0
        if n - H.velocity0 < L.nd:
            for j in range(L.nr):
                x -= work[L.P + (n - H.velocity0) * L.nr + j] * work[L.value + j]
        work[velocity_row(index, n).at_rate] = x


@paste
def close_dependents(index, params, work, q, C):
    """Newton's method on the dependent joints; returns whether it closed the loops."""
    H, before = head(index, C.head), 1e300
    for _ in range(ITERATIONS):
        value = evaluate(index, params, work, q, C)
        if closed_enough(index, q, C, value, before):
            return True
        if not value < 1e3 or value > 2.0 * before:
            return False
        before = value
        step_dependents(index, work, C)
        longest = longest_rate(index, work, H.velocity0, H.velocity0 + H.nd)
        if not longest < LIMIT:
            return False
        advance(index, work, q, C, 1.0)
    return False


@paste
def side(work, L):
    """The sign of det(P K_d), with P of the saved pose and K of the present one."""
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
def follow(index, params, work, q, v, target, spare, C):
    """Carry the dependent joints of a LOOP cluster from q along v to the independent ones of target; q is moved.

    Steps short enough that no dependent joint is predicted to move more than STRIDE; the sign of det K_d must not
    change. Returns whether it arrived.
    """
    H = head(index, C.head)
    L = block(H, C.nk)
    done, allowed = 0.0, 1.0
    while done < 1.0:
        prepare(index, params, work, q, C)
        if is_singular(index, work, C):
            return False  # beyond it, the sign of det K_d would be that of rounding
        for i in range(L.nd * L.nr):
            work[L.saved + i] = work[L.P + i]
        rates_of(index, work, v, C)
        longest = longest_rate(index, work, H.velocity0, H.velocity0 + L.nd)
        if not longest < 1e9:
            return False
        copy_joints(index, q, spare, C, False)
        arrived = False
        while not arrived:
            step = min(1.0 - done, allowed, STRIDE / longest if longest > STRIDE else 1.0)
            if step < SMALLEST_STEP and step < 1.0 - done:
                return False
            rates_of(index, work, v, C)
            advance(index, work, q, C, step)
            if step >= 1.0 - done:
                copy_joints(index, target, q, C, True)
            if close_dependents(index, params, work, q, C) and side(work, L) > 0.0:
                arrived = True
            else:
                copy_joints(index, spare, q, C, False)
                prepare(index, params, work, q, C)
                allowed = 0.25 * step
        done = 1.0 if step >= 1.0 - done else done + step
        allowed = 4.0 * step
    return True


@device
def is_at_rest(index, v, C):
    """Whether no independent joint of a LOOP cluster has a velocity."""
    for k in range(C.nk):
        if v[listed(index, C.column, k)] != 0.0:
            return False
    return True


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
            if not follow(index, params, work, q, v, target, spare, C):
                # near a dead centre Newton's method may leave what is as closed as it can be: who rests stays
                if not (is_at_rest(index, v, C) and evaluate(index, params, work, q, C) < at.ROUNDING):
                    code = -c
    return code
