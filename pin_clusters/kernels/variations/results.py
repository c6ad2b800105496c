"""Computes the Coriolis matrix (V8), and derivatives of the momentum about the centre of mass (V7)."""

from ...compiler.numba_jit.jit import device, inline
from ..directions import Out
from ..numbers.memory import get, put, put_apart
from ..numbers.spatial import cross, cross_force, join, linear, zero3, zero6
from ..numbers.tuples import Vec3, load3, load6
from ..tables import workspace as ws
from ..tables.layout import FREE, FREEFLYER, GENERAL, GROUND_MASS, GROUND_MOMENT, LOOP, MINUS_GRAVITY, SINGLE
from ..tables.views import body, cluster, element, ground, head, header, listed, share, velocity_row
from .coupling_rates import bracket_of
from .of_free import unit


@inline
def column_at(A, nv, k, i):
    entry = k * nv + i
    return Vec3(get(A, entry), get(A, entry + nv), get(A, entry + 2 * nv))


@device
def about_centre(index, params, work, nv, total: Out):
    """Shift the moments in ``total`` to the centre of mass c (V7); H and P also have terms with dc/dq."""
    n = header(index)
    for row in range(n.ground0, n.ground1):
        g = ground(index, row)
        put_apart(total, 21 * nv + g.iv, nv, column_at(total, nv, 21, g.iv) + load3(params, g.at))
    I, fixed = ws.composite(work, 0), load3(params, GROUND_MOMENT)
    mass = I[0] + get(params, GROUND_MASS)
    inverse = 1.0 / mass
    c, l, f = (Vec3(I[1], I[2], I[3]) + fixed) * inverse, linear(ws.total_momentum(work, 0)), linear(ws.force(work, 0))
    # The forces of bodies include gravity; the weight of the mass fixed to the universe is added here.
    f = f + load3(params, MINUS_GRAVITY) * get(params, GROUND_MASS)
    for i in range(nv):
        dc = column_at(total, nv, 18, i) * inverse
        for r in range(4):
            x, y = column_at(total, nv, 6 * r, i), column_at(total, nv, 6 * r + 3, i)
            y = y - cross(c, x)
            if r == 0:
                y = y - cross(dc, l)
            elif r == 1:
                y = y - cross(dc, f)
            put_apart(total, (6 * r + 3) * nv + i, nv, y)


@inline
def own_bracket(B, y, x):
    if B.kind == FREEFLYER:
        return cross(y, x)
    return join(bracket_of(B, linear(y), linear(x)), zero3())


@inline
def turn_columns(index, params, work, nv, C, b, B, v, M, A: Out):
    """Add half of M [v, .] to the columns of A that belong to a joint whose velocities do not commute."""
    y, first = zero6(), B.which
    for d in range(B.ndof):
        y = y + unit(d) * get(v, listed(index, C.column, first + d))
    for m in range(B.ndof):
        x, to = own_bracket(B, y, unit(m)), listed(index, C.column, first + m)
        for i in range(nv):
            t = get(A, i * nv + to)
            for d in range(B.ndof):
                t += 0.5 * entry_of(x, d) * get(M, i * nv + listed(index, C.column, first + d))
            put(A, i * nv + to, t)
        for d in range(B.ndof):
            # Armature is a constant inertia for joint velocities and adds no such term, so its part of M is removed.
            entry = listed(index, C.column, first + d) * nv + to
            put(A, entry, get(A, entry) - 0.5 * entry_of(x, d) * own_armature(index, params, work, C, b, first + d))


@inline
def own_armature(index, params, work, C, b, k):
    """Return the armature for independent velocity k of body b's joint, which has several degrees of freedom."""
    x = 0.0
    if C.kind == GENERAL:
        x = ws.E_entry(work, C.at_E, C.nk, k, k)
    elif C.kind == LOOP:
        H = head(index, C.head)
        for n in range(H.element0, H.element1):
            e = element(index, n)
            V = velocity_row(index, share(index, e.share0).velocity)
            if e.share1 == e.share0 + 1 and V.body == b and V.column == k and e.carrier == 0:
                x += get(params, e.at)
    return x


@inline
def entry_of(x, d):
    """Return entry d of a tuple of six; Numba cannot index such tuples by a variable."""
    return x[0] if d == 0 else x[1] if d == 1 else x[2] if d == 2 else x[3] if d == 3 else x[4] if d == 4 else x[5]


@device
def coriolis(index, params, work, nv, v, M, A: Out):
    """Replace dtau/dv in A by the Coriolis matrix (V8), which is half of the sum of dtau/dv and M [v, .]."""
    for i in range(nv * nv):
        put(A, i, 0.5 * get(A, i))
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == FREE:
            # Restricted to the base, a row of M is a force m, and m . (v x e) = -(v x* m) . e for a unit motion e.
            y = load6(v, C.column)
            for i in range(nv):
                k = i * nv + C.column
                put(A, k, load6(A, k) - cross_force(y, load6(M, k)) * 0.5)
        elif C.kind != SINGLE:
            for b in range(C.first, C.last):
                B = body(index, b)
                if B.ndof > 1 and B.which >= 0:
                    turn_columns(index, params, work, nv, C, b, B, v, M, A)
