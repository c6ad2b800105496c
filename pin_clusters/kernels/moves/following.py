"""Continuation of closed loops: the dependent joints follow the independent joints, one state per call.

Newton's method solves the constraint equations, whose Jacobian is K, without allocating memory. If the dependent joints
cannot follow a motion, the caller uses slower methods.

``reaches``, ``follow``, ``arrives``, ``close_dependents`` and ``closed_enough`` contain only control flow and calls.
``compiler/specialising`` translates these functions for one robot. All functions that they call can be traced.
"""

from ...compiler.numba_jit.jit import device, inline, paste
from ..bodies.increments import turn_pair, turn_quaternion
from ..bodies.placements import free_rotation, start
from ..directions import Out
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
def advance(index, work, q: Out, C, part):
    """Move a LOOP cluster's joints by ``part`` times their rates; this is exact for one-degree-of-freedom joints."""
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
def copy_joints(index, source, target: Out, C, independent):
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        if not independent or V.column >= 0:
            for k in range(V.nq):
                target[V.iq + k] = source[V.iq + k]


@device
def copy_all(index, source, target: Out, C):
    copy_joints(index, source, target, C, False)


@device
def copy_independent(index, source, target: Out, C):
    copy_joints(index, source, target, C, True)


@inline
def larger_size(x, most):
    size = if_less(x, 0.0, -x, x)
    return if_less(most, size, size, most)


@paste
def evaluate(index, params, work, q, C):
    """Compute K and residuals; return the largest residual, its tolerance, and the sum of all (NaN if one is NaN)."""
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
    """Return whether the largest residual is at rounding level, or has stopped decreasing near this level."""
    return value < allowed or (value < at.ROUNDING and value > STALLED * before)


@device
def longest_rate(index, work, first, last):
    longest = 0.0
    for n in range(first, last):
        longest = larger_size(work[velocity_row(index, n).at_rate], longest)
    return longest


@inline
def step_dependents(index, work, q: Out, C):
    """Move the dependent joints by the Newton step -P r; return the largest entry of this step."""
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
def close_dependents(index, params, work, q: Out, C):
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
    """Return the sign of det(P K_d), where P belongs to the saved pose and K_d to the present pose."""
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
            # Swap the two rows if the lower row has the larger pivot.
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
    """Compute G and P at q; save P; return the largest dependent rate along v and the result of ``condition_of``."""
    prepare(index, params, work, q, C)
    H = head(index, C.head)
    L = block(H, C.nk)
    for i in range(L.nd * L.nr):
        work[L.saved + i] = work[L.P + i]
    rates_of(index, work, v, C)
    return longest_rate(index, work, H.velocity0, H.velocity0 + L.nd), condition_of(index, work, C)


@inline
def go(index, work, q, v, trial: Out, C, step):
    """Set ``trial`` to the cluster's coordinates in q, moved by the fraction ``step`` of the motion that G predicts."""
    copy_joints(index, q, trial, C, False)
    rates_of(index, work, v, C)
    advance(index, work, trial, C, step)


@paste
def arrives(index, params, work, q, v, target, trial: Out, C, step, left):
    """Step from q to ``trial``; return whether the loops are closed there, in the same assembly mode (branch)."""
    go(index, work, q, v, trial, C, step)
    if step >= left:
        copy_independent(index, target, trial, C)
    return close_dependents(index, params, work, trial, C) and side(index, work, C) > 0.0


@paste
def follow(index, params, work, q: Out, v, target, trial: Out, C):
    """Move a LOOP cluster's joints along v until the independent joints equal those in ``target``; return success.

    Each step is so short that, as predicted by G, no dependent joint moves more than STRIDE. The sign of det K_d must
    not change.
    """
    done, allowed = 0.0, 1.0
    while done < 1.0:
        longest, condition = predict(index, params, work, q, v, C)
        # Above this condition number, rounding would determine the sign of det K_d.
        if not (condition < at.CONDITION_LIMIT * at.CONDITION_LIMIT and longest < FASTEST):
            return False
        remaining = 1.0 - done
        step = min(remaining, allowed, STRIDE / longest if longest > STRIDE else 1.0)
        if step < SMALLEST_STEP and step < remaining:
            return False
        while not arrives(index, params, work, q, v, target, trial, C, step, remaining):
            step = 0.25 * step
            if step < SMALLEST_STEP:
                return False
        copy_all(index, trial, q, C)
        done = 1.0 if step >= remaining else done + step
        allowed = 4.0 * step
    return True


@device
def speed(index, v, C):
    total = 0.0
    for k in range(C.nk):
        x = v[listed(index, C.column, k)]
        total += if_less(x, 0.0, -x, x)
    return total


@paste
def reaches(index, params, work, q: Out, v, target, trial: Out, C):
    """Move the joints of a LOOP cluster along v, in place; return whether this succeeded or no motion was needed.

    Near a singularity of the independent coordinates (dead centre), Newton's method can fail although the loops are
    closed up to rounding errors. If no motion is needed, such loops are accepted.
    """
    if follow(index, params, work, q, v, target, trial, C):
        return True
    if speed(index, v, C) != 0.0:
        return False
    value, _, total = evaluate(index, params, work, q, C)
    return value < at.ROUNDING and total == total


@paste
def move(index, params, work, result, q: Out, v, target, spare: Out):
    """Move the dependent joints of all LOOP clusters along v; return OK, or minus the row of a cluster that fails."""
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
