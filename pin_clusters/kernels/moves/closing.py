"""Closes loops with the smallest change of all joints that are not fixed, one state per call.

Newton's method solves the constraint equations, whose Jacobian is K, without allocating memory. If a loop stays open,
the caller uses slower, damped methods. ``close_all`` contains only control flow and calls, so that
``compiler/specialising`` can translate it for one robot.
"""

import math

from ...compiler.numba_jit.jit import paste
from ..bodies.placements import start
from ..directions import Out
from ..loops.coupling_of_loops import stand_still
from ..loops.dependent_columns import invert
from ..numbers.choices import if_less, too_small
from ..tables.layout import LOOP, OK, WRONG_SIZE
from ..tables.views import block, cluster, head, header, velocity_row
from .following import advance, closed_enough, evaluate, longest_rate
from .limits import FAR, GROWTH_OF_ALL, ITERATIONS, LIMIT


@paste
def choose_rows(work, L):
    """Replace K by P K and the residuals by P times the residuals; both then depend only on the pivot rows."""
    for j in range(L.width + 1):
        at, step = (L.K + j, L.width) if j < L.width else (L.value, 1)
        for i in range(L.nd):
            t = 0.0
            for k in range(L.nr):
                t += work[L.P + i * L.nr + k] * work[at + k * step]
            work[L.saved + i] = t
        for i in range(L.nd):
            work[at + i * step] = work[L.saved + i]


@paste
def hold(index, work, held, H, L):
    """Set the columns of K to zero for the joints that ``held`` marks as fixed."""
    for n in range(H.velocity0, H.velocity1):
        V, i = velocity_row(index, n), n - H.velocity0
        # The columns of K belong to the dependent velocities in order, then to the independent velocities.
        column = i if i < L.nd else L.nd + V.column
        if i < L.nd or V.column >= 0:
            for k in range(L.nr):
                work[L.K + k * L.width + column] *= 1.0 - held[V.iv]


@paste
def factor_rows(work, L, rows):
    """Write the Cholesky factor of K K' to the workspace; return whether it exists (traced code does not check)."""
    A, trace = L.scratch, 0.0
    for i in range(rows):
        for j in range(rows):
            t = 0.0
            for k in range(L.width):
                t += work[L.K + i * L.width + k] * work[L.K + j * L.width + k]
            work[A + i * L.nr + j] = t
        trace += work[A + i * L.nr + i]
    for k in range(rows):
        # A small multiple of the trace prevents a division by zero for redundant rows.
        t = work[A + k * L.nr + k] + 1e-13 * trace
        for m in range(k):
            t -= work[A + k * L.nr + m] * work[A + k * L.nr + m]
        if too_small(t, 0.0):
            return False
        t = math.sqrt(t)
        work[A + k * L.nr + k] = t
        for i in range(k + 1, rows):
            s = work[A + i * L.nr + k]
            for m in range(k):
                s -= work[A + i * L.nr + m] * work[A + k * L.nr + m]
            work[A + i * L.nr + k] = s / t
    return True


@paste
def solve_rows(work, L, rows):
    A, r = L.scratch, L.value
    for k in range(rows):
        t = work[r + k]
        for m in range(k):
            t -= work[A + k * L.nr + m] * work[r + m]
        work[r + k] = t / work[A + k * L.nr + k]
    for n in range(rows):
        k = rows - 1 - n
        t = work[r + k]
        for m in range(k + 1, rows):
            t -= work[A + m * L.nr + k] * work[r + m]
        work[r + k] = t / work[A + k * L.nr + k]


@paste
def step_back(index, work, H, L, rows):
    for n in range(H.velocity0, H.velocity1):
        V, i, x = velocity_row(index, n), n - H.velocity0, 0.0
        column = i if i < L.nd else L.nd + V.column
        if i < L.nd or V.column >= 0:
            for k in range(rows):
                x -= work[L.K + k * L.width + column] * work[L.value + k]
        work[V.at_rate] = x


@paste
def step_all(index, work, q: Out, held, C):
    """Move all joints not in ``held`` by the least-norm step, limited to LIMIT; return whether the step exists."""
    H = head(index, C.head)
    L = block(H, C.nk)
    rows = L.nr
    if L.nr > L.nd:
        invert(work, L.K, L.width, L.nd, L.nr, L.P, L.scratch)
    hold(index, work, held, H, L)
    if L.nr > L.nd:
        # While loops are open, redundant equations contradict each other, so K is replaced by P K (pivot rows only).
        rows = L.nd
        choose_rows(work, L)
    if not factor_rows(work, L, rows):
        return False
    solve_rows(work, L, rows)
    step_back(index, work, H, L, rows)
    longest = longest_rate(index, work, H.velocity0, H.velocity1)
    # If the step is short enough, the quotient is LIMIT / LIMIT = 1, so the compiler can skip the division.
    advance(index, work, q, C, if_less(LIMIT, longest, LIMIT / if_less(LIMIT, longest, longest, LIMIT), 1.0))
    return True


@paste
def close_all(index, params, work, q: Out, held, C):
    """Run Newton's method with least-norm steps of all joints not in ``held``; return whether all loops are closed."""
    before = 1e300
    for _ in range(2 * ITERATIONS):
        value, allowed, total = evaluate(index, params, work, q, C)
        if total != total:
            return False
        if closed_enough(value, allowed, before):
            return True
        if not value < FAR or value > GROWTH_OF_ALL * before:
            return False
        if not step_all(index, work, q, held, C):
            return False
        before = value
    return False


@paste
def project(index, params, work, result, q: Out, held):
    """Close the loops of all clusters in place; return OK, or minus the row of a cluster that stays open."""
    n = header(index)
    if q.shape[0] != n.nq or held.shape[0] != n.nv_tree:
        return WRONG_SIZE
    start(params, work)
    code = OK
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            stand_still(work, C)
            if not close_all(index, params, work, q, held, C):
                code = -c
    return code
