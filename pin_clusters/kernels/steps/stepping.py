"""Parts of a simulation step; they call the algorithms by address, so no algorithm is compiled again."""

from typing import Final

from ...compiler.numba_jit.jit import uncounted
from ..bodies.increments import move_one, rate_one
from ..directions import Out
from ..loops.coupling_of_loops import condition_of
from ..tables import plan as at
from ..tables.addresses import call_at, call_plain
from ..tables.layout import FREEFLYER, LOOP, PLANAR, SPHERICAL
from ..tables.passive import FIRST, RATES, TREE
from ..tables.views import cluster, header
from .passive import accelerate_under

_FASTEST: Final = 1e8


@uncounted
def rates(plan, x, v, out: Out):
    for i in range(out.shape[0]):
        out[i] = v[i]
    for j in range(2, 2 + plan[0, at.MOVED]):
        kind = plan[j, 0]
        if kind == SPHERICAL or kind == PLANAR or kind == FREEFLYER:
            rate_one(kind, x, v, plan[j, 2], out)


@uncounted
def moved(calls, plan, ratios, q, x, out: Out, spare, held: Out):
    """Write to ``out`` the configuration q after the increment x; return 0, or -1 if dependent joints cannot follow."""
    for i in range(q.shape[0]):
        out[i] = q[i]
    for j in range(2, 2 + plan[0, at.MOVED]):
        move_one(out, plan[j, 0], plan[j, 1], x, plan[j, 2])
    followers = 2 + plan[0, at.MOVED]
    terms = followers + plan[0, at.FOLLOWERS]
    entries = terms + plan[0, at.TERMS]
    kept_rows = entries + plan[1, at.ENTRIES]
    if plan[1, at.CLOSED]:
        for i in range(q.shape[0]):
            held[i] = q[i]
        if call_at(calls[at.MOVE], calls[at.MOVE_AT], (held, x, out, spare)) != 0:
            return -1
        for i in range(kept_rows, kept_rows + plan[1, at.LEFT]):
            held[plan[i, 0]] = out[plan[i, 0]]
        for i in range(entries, kept_rows):
            out[plan[i, 0]] = held[plan[i, 0]]
    for i in range(plan[0, at.FOLLOWERS]):
        value = 0.0
        for k in range(plan[followers + i, 1], plan[followers + i, 2]):
            value += ratios[k] * out[plan[terms + k, 0]]
        out[plan[followers + i, 0]] = value + ratios[plan[0, at.TERMS] + i]
    return 0


@uncounted
def ask(calls, plan, coupling, asked: Out, t, q, v, tau: Out):
    """Call the user's torque function on ``asked`` (t, q, user's independent velocities, tau); return 0 on success."""
    nq, nv = q.shape[0], v.shape[0]
    asked[0] = t
    for i in range(nq):
        asked[1 + i] = q[i]
    behind = 1 + nq
    if calls[at.OWN]:
        for i in range(nv):
            asked[behind + i] = v[i]
    else:
        if call_at(calls[at.COUPLING], calls[at.COUPLING_AT], (q, v)) != 0:
            return -1
        first = plan.shape[0] - nv
        for i in range(nv):
            x, row = 0.0, plan[first + i, 0] * nv
            for k in range(nv):
                x += coupling[row + k] * v[k]
            asked[behind + i] = x
    if call_plain(calls[at.ASK], calls[at.ASK_AT]) != 0:
        return -1
    for i in range(nv):
        tau[i] = asked[behind + nv + i]
    return 0


@uncounted
def all_finite(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] - x[i]
    return total == 0.0


@uncounted
def accelerate(calls, plan, terms, factors, rows: Out, coupling, stage, q, v, tau, mapped: Out, out):
    """Compute the acceleration due to passive torques and the torques ``tau`` of the user; return the code of aba."""
    if calls[at.OWN] and terms.shape[0] == FIRST:
        return call_at(calls[at.ABA], calls[at.ABA_AT], (q, v, tau, out))
    code, nv = 0, v.shape[0]
    if calls[at.OWN] == 0 or terms[1, RATES] < terms[1, TREE]:
        code = call_at(calls[at.COUPLING], calls[at.COUPLING_AT], (q, v))
    first = plan.shape[0] - nv
    for k in range(nv):
        x = tau[k]
        if calls[at.OWN] == 0:
            x = 0.0
            for i in range(nv):
                x += tau[i] * coupling[plan[first + i, 0] * nv + k]
        mapped[k] = x
    if code != 0:
        return code
    return accelerate_under(
        calls[at.ABA], calls[at.ABA_AT], terms, factors, rows, coupling, stage, q, v, tau, mapped, out
    )


@uncounted
def sound(q, v):
    """Return whether a state is finite and its velocities are below a limit."""
    fastest, total = 0.0, 0.0
    for i in range(v.shape[0]):
        fastest = max(fastest, abs(v[i]))
        total += v[i]
    for i in range(q.shape[0]):
        total += q[i]
    return fastest < _FASTEST and total - total == 0.0


@uncounted
def keep_sample(calls, plan, coupling, energies, k, q, v, a, tau, row: Out):
    """Write a sample: step, energies, loop residual, q, v, a and torques; with loops, also v and a of the tree.

    The loop residual must be computed after the energies, because the energy function stores the poses at q in the
    workspace.
    """
    call_at(calls[at.ENERGY], calls[at.ENERGY_AT], (q, v))
    row[0], row[1], row[2], row[3] = k, energies[0], energies[1], 0.0
    if calls[at.OPENNESS] != 0:
        call_at(calls[at.OPENNESS], calls[at.OPENNESS_AT], (q,))
        row[3] = energies[2]
    nq, nv = q.shape[0], v.shape[0]
    for i in range(nq):
        row[4 + i] = q[i]
    behind = 4 + nq
    for i in range(nv):
        row[behind + i] = v[i]
        row[behind + nv + i] = a[i]
        row[behind + 2 * nv + i] = tau[i]
    if plan[1, at.CLOSED]:
        call_at(calls[at.COUPLING], calls[at.COUPLING_AT], (q, v))
        behind += 3 * nv
        n = (row.shape[0] - behind) // 2
        for j in range(n):
            x, y = 0.0, coupling[n * nv + j]
            for i in range(nv):
                x += coupling[j * nv + i] * v[i]
                y += coupling[j * nv + i] * a[i]
            row[behind + j] = x
            row[behind + n + j] = y


@uncounted
def near_singular(index, work, limits):
    """Return whether the condition number of a LOOP cluster exceeds its limit at the pose of the last acceleration."""
    n = 0
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            if not condition_of(index, work, C) < limits[n]:
                return True
            n += 1
    return False


@uncounted
def weighted(h, weights, rows, i, last, out: Out):
    """Write h times the weighted sum of rows 0 to ``last`` - 1; row i of ``weights`` contains the weights."""
    for k in range(out.shape[0]):
        x = 0.0
        for j in range(last):
            x += weights[i, j] * rows[j, k]
        out[k] = h * x
