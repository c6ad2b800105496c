"""Uses constraint multipliers to compute t^T dG/dq (L7), where t are the torques of a LOOP cluster's dependent joints.

sum over d of t_d dG_dk/dq_m = -(Lambda'_m . D(J_k) + Lambda . D(X_km)). Here lambda = P^T t_d, and Lambda = lambda^T W
is one wrench per closure. Lambda'_m is the derivative of Lambda for a motion along J_m while lambda is constant. X_km
of body b is X_km of its parent plus J_m x S G_k. For constraints phi on joint coordinates, the sum is
-(lambda^T phi'')[G_k, G_m].
"""

from ...compiler.numba_jit.jit import device, inline
from ..directions import Out
from ..loops.closure_rows import frame, point
from ..loops.harmonic_rates import bend_along, bends_by_angles
from ..numbers.memory import get, increase, put
from ..numbers.spatial import column, cross, dot6, linear, zero3, zero6
from ..numbers.tuples import load6
from ..tables.layout import FRAMES, HARMONIC, PROPORTIONAL, ROD
from ..tables.views import block, body, closure, follower, head, listed, on_joint, share, velocity_row
from .closure_rates import displacement, frames_rate, parts_of_row, rod_rate
from .coupling_rates import along_joint


@inline
def multipliers(index, params, work, C):
    """Transfer the torques of followers to their driving joints, then write lambda = P^T t_d to the ``value`` array."""
    H = head(index, C.head)
    L = block(H, C.nk)
    for n in range(H.follower1 - H.follower0):
        f = follower(index, H.follower1 - 1 - n)
        t = get(work, velocity_row(index, f.velocity).at_torque)
        for s in range(f.share0, f.share1):
            part = share(index, s)
            V = velocity_row(index, part.velocity)
            increase(work, V.at_torque, get(params, part.at) * t)
    for j in range(L.nr):
        x = 0.0
        for i in range(L.nd):
            t = get(work, velocity_row(index, H.velocity0 + i).at_torque)
            x += get(work, L.P + i * L.nr + j) * t
        put(work, L.value + j, x)


@inline
def x_of(index, work, c, C, b, k, m):
    """Return X_km of body b, the sum of J_m x S G_k over the joints between b and the output body."""
    X = zero6()
    while b > 0 and body(index, b).cluster == c:
        B = body(index, b)
        X = X + cross(displacement(index, work, b, c, m), along_joint(work, B, B.at_G, C.nk, k))
        b = B.parent
    return X


@inline
def wrench_of(index, params, work, r, wrench, values):
    """Return Lambda of a closure between bodies, and its parts n, m, share, x, z and p_b as in ``parts_of_row``."""
    o = 0.0
    W, m, share_of, n = zero6(), zero3(), o, zero3()
    x, z, pb = zero3(), zero3(), zero3()
    if r.form == FRAMES:
        Ra, _ = frame(params, work, r.a, r.at)
        Rb, pb = frame(params, work, r.b, r.at + 12)
        x, z = column(Rb, 0), column(Ra, 2)
    for i in range(r.rows):
        row, weight = load6(work, wrench + 6 * i), get(work, values + i)
        W = W + row * weight
        if r.form == FRAMES:
            n_i, m_i, share_i = parts_of_row(params, work, r, i, row, x, z, pb)
            n, m, share_of = n + n_i * weight, m + m_i * weight, share_of + share_i * weight
    return W, n, m, share_of, x, z, pb


@inline
def contract_bodies(index, params, work, c, C, r, wrench, values, nv, dq: Out):
    """Subtract Lambda'_m . D(J_k) + Lambda . D(X_km) of a closure between bodies from dtau_k/dq_m."""
    W, n, moment, share_of, x, z, pb = wrench_of(index, params, work, r, wrench, values)
    for m in range(C.nk):
        Ja, Jb = displacement(index, work, r.a, c, m), displacement(index, work, r.b, c, m)
        if r.form == FRAMES:
            dW = frames_rate(n, moment, share_of, x, z, pb, Ja, Jb)
        else:
            pa, end = point(params, work, r.a, r.at), point(params, work, r.b, r.at + 3)
            s = get(params, r.at + 6) * get(work, values)
            dW = rod_rate(pa, linear(W), s, end, Ja, Jb)
        for k in range(C.nk):
            J = displacement(index, work, r.b, c, k) - displacement(index, work, r.a, c, k)
            X = x_of(index, work, c, C, r.b, k, m) - x_of(index, work, c, C, r.a, k, m)
            entry = listed(index, C.column, k) * nv + listed(index, C.column, m)
            put(dq, entry, get(dq, entry) - dot6(dW, J) - dot6(W, X))


@inline
def subtract_twice(index, C, nv, k, m, x, dq: Out):
    entry = listed(index, C.column, k) * nv + listed(index, C.column, m)
    put(dq, entry, get(dq, entry) - x)
    if k != m:
        entry = listed(index, C.column, m) * nv + listed(index, C.column, k)
        put(dq, entry, get(dq, entry) - x)


@inline
def contract_function(index, params, work, C, r, values, nv, dq: Out):
    """Subtract (lambda^T phi'')[G_k, G_m] of a user's function phi from dtau_k/dq_m."""
    n = r.part1 - r.part0
    hessian = r.scratch + r.rows * n
    for k in range(C.nk):
        for m in range(k + 1):
            total = 0.0
            for i in range(r.rows):
                row = 0.0
                for j in range(n):
                    U = velocity_row(index, on_joint(index, r.part0 + j).velocity)
                    for l in range(n):
                        V = velocity_row(index, on_joint(index, r.part0 + l).velocity)
                        product = get(work, U.at_G + k) * get(work, V.at_G + m)
                        row += get(work, hessian + (i * n + j) * n + l) * product
                total += get(params, r.at + i) * get(work, values + i) * row
            subtract_twice(index, C, nv, k, m, total, dq)


@device
def contract(index, params, work, c, C, nv, dq: Out):
    """Add t^T dG/dq of LOOP cluster c to dtau/dq; the joint torques t are in work."""
    H = head(index, C.head)
    L = block(H, C.nk)
    multipliers(index, params, work, C)
    for n in range(H.closure0, H.closure1):
        r = closure(index, n)
        values, wrench = L.value + r.row0, L.W + 6 * r.row0
        if r.form == FRAMES or r.form == ROD:
            contract_bodies(index, params, work, c, C, r, wrench, values, nv, dq)
        elif r.form == HARMONIC:
            bends_by_angles(index, params, work, r, C.nk, values)
            for k in range(C.nk):
                for m in range(k + 1):
                    subtract_twice(index, C, nv, k, m, bend_along(work, r, C.nk, k, m), dq)
        elif r.form != PROPORTIONAL:
            contract_function(index, params, work, C, r, values, nv, dq)
