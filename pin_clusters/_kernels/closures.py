"""Equations of closures: their rows of K from poses and motion axes, and their bias from velocities.

K stands row-major behind AT_LOOP, its columns the dependent velocities, then the independent ones; the wrench W of a
row on bodies (the row is W . (v_b - v_a)) stands behind it. Rows are divided by their scale: numbers in params are.
"""

from __future__ import annotations

from ._jit import inline
from .angles import sincos
from .external import called_hessian, called_jacobian
from .layout import (
    ANGLES,
    AT_DATA,
    AT_LOOP,
    AT_ROOM,
    BODY_A,
    BODY_B,
    BODY_WORK,
    CALLED,
    CLOSURE0,
    CLOSURE1,
    CLUSTER,
    COS,
    DOF_RATE,
    FORM,
    FRAMES,
    HARMONIC,
    IDENTITY,
    LOOP,
    ND,
    NK,
    NR,
    OF_COLUMN,
    OF_DOF,
    OF_IQ,
    ON_COLUMN,
    ON_S,
    ON_SIGN,
    PART0,
    PART1,
    PROPORTIONAL,
    ROD,
    ROW0,
    ROWS,
    SIN,
    TERM0,
    TERM1,
    TERM_AT,
    TERM_FACTOR,
    TERM_ROW,
    TURN,
    TURN_NONE,
    TURN_UNIVERSAL,
    W_A,
    W_P,
    W_R,
    W_V,
)
from .memory import load3, load6, load9, store6, zero6
from .simd import entry, get, put, zero
from .spatial import add3, angular, axpy3, cross, dot3, dot6, join, linear, matmul3, rot, sub6


@inline
def stride(index, c):
    """Columns of K."""
    return entry(index, entry(index, c, LOOP), ND) + entry(index, c, NK)


@inline
def at_inverse(nd, nr, nk):
    """Offset of the pseudo-inverse P of the dependent columns, ND x NR."""
    return nr * (nd + nk)


@inline
def at_wrench(nd, nr, nk):
    """Offset of W, 6 per row."""
    return nr * (nd + nk) + nd * nr


@inline
def at_value(nd, nr, nk):
    """Offset of one number per row: the bias or the residual."""
    return at_wrench(nd, nr, nk) + 6 * nr


@inline
def at_spin_bias(nd, nr, nk):
    """Offset of the torques that spin elements and armature need at a = 0, NK."""
    return at_value(nd, nr, nk) + nr


@inline
def at_condition(nd, nr, nk):
    """Offset of the squared Frobenius norms' product of the dependent columns and their inverse."""
    return at_spin_bias(nd, nr, nk) + nk


@inline
def at_room(nd, nr, nk):
    """Offset of room for the elimination, NR x (ND + NR)."""
    return at_condition(nd, nr, nk) + 1


@inline
def at_saved(nd, nr, nk):
    """Offset of an inverse that is kept, ND x NR, and of its product with another pose's columns, ND x ND."""
    return at_room(nd, nr, nk) + nr * (nd + nr)


def loop_work(nd: int, nr: int, nk: int) -> int:
    """How many numbers a LOOP cluster needs behind AT_LOOP."""
    return nr * (nd + nk) + 6 * nr + nr + nk + 1 + nr * (nd + nr) + 2 * nd * nr + nd * nd


@inline
def frame(index, params, work, b, at):
    """Pose of a frame on body b, whose placement is in params."""
    w = b * BODY_WORK
    R = load9(work, w + W_R)
    return matmul3(R, load9(params, at)), add3(load3(work, w + W_P), rot(R, load3(params, at + 9)))


@inline
def point(params, work, b, at):
    """Position of a point of body b, whose coordinates are in params."""
    w = b * BODY_WORK
    return add3(load3(work, w + W_P), rot(load9(work, w + W_R), load3(params, at)))


@inline
def spread(index, work, r, row, at, W):
    """Row of K of a wrench: W . S for each velocity on the path of closure r."""
    for p in range(entry(index, r, PART0), entry(index, r, PART1)):
        sign = 1.0 * entry(index, p, ON_SIGN)
        put(work, row + entry(index, p, ON_COLUMN), sign * dot6(W, load6(work, entry(index, p, ON_S))))
    store6(work, at, W)


@inline
def frames_rows(index, params, work, r, row, width, at):
    """Rows of two frames: a velocity of point b in axes of frame a, and a relative angular velocity."""
    data = entry(index, r, AT_DATA)
    Ra, _ = frame(index, params, work, entry(index, r, BODY_A), data)
    Rb, pb = frame(index, params, work, entry(index, r, BODY_B), data + 12)
    turn = entry(index, r, TURN)
    for i in range(entry(index, r, ROWS)):
        n = rot(Ra, load3(params, data + 24 + 6 * i))
        m = cross(pb, n)
        if turn == TURN_UNIVERSAL:
            swing = cross((Rb[0], Rb[3], Rb[6]), (Ra[2], Ra[5], Ra[8]))
            m = axpy3(get(params, data + 29 + 6 * i), swing, m)
        elif turn != TURN_NONE:
            m = add3(m, rot(Ra, load3(params, data + 27 + 6 * i)))
        spread(index, work, r, row + i * width, at + 6 * i, join(n, m))


@inline
def rod_rows(index, params, work, r, row, at):
    """Row of a rod: (d . d - l^2) / 2 l, with d from a to b."""
    data = entry(index, r, AT_DATA)
    pa = point(params, work, entry(index, r, BODY_A), data)
    pb = point(params, work, entry(index, r, BODY_B), data + 3)
    s = get(params, data + 6)
    n = (s * (pb[0] - pa[0]), s * (pb[1] - pa[1]), s * (pb[2] - pa[2]))
    spread(index, work, r, row, at, join(n, cross(pa, n)))


@inline
def harmonic_angles(index, params, work, q, r):
    """Sine, cosine and value of the angles of a harmonic closure."""
    data, room, first = entry(index, r, AT_DATA), entry(index, r, AT_ROOM), entry(index, r, PART0)
    n = entry(index, r, PART1) - first
    for a in range(entry(index, r, ANGLES)):
        x = zero(work) + get(params, data + a * (n + 1) + n)
        for j in range(n):
            x += get(params, data + a * (n + 1) + j) * get(q, entry(index, first + j, OF_IQ))
        s, c = sincos(x)
        put(work, room + 3 * a, s)
        put(work, room + 3 * a + 1, c)
        put(work, room + 3 * a + 2, x)


@inline
def factor_of(work, room, kind, angle):
    """One factor of a term and its first two derivatives."""
    o = zero(work)
    s, c = get(work, room + 3 * angle), get(work, room + 3 * angle + 1)
    if kind == SIN:
        return s, c, -s
    if kind == COS:
        return c, -s, -c
    if kind == IDENTITY:
        return get(work, room + 3 * angle + 2), o + 1.0, o
    return o + 1.0, o, o


@inline
def term(index, params, work, t, room):
    """Coefficient, then factors of a term with their derivatives."""
    f = factor_of(work, room, entry(index, t, TERM_FACTOR), entry(index, t, TERM_FACTOR + 1))
    g = factor_of(work, room, entry(index, t, TERM_FACTOR + 2), entry(index, t, TERM_FACTOR + 3))
    h = factor_of(work, room, entry(index, t, TERM_FACTOR + 4), entry(index, t, TERM_FACTOR + 5))
    return get(params, entry(index, t, TERM_AT)), f, g, h


@inline
def harmonic_rows(index, params, work, q, r, row, width):
    """Rows of a harmonic closure: its gradient, first by angles, then by joints."""
    harmonic_angles(index, params, work, q, r)
    data, room, first = entry(index, r, AT_DATA), entry(index, r, AT_ROOM), entry(index, r, PART0)
    n, angles = entry(index, r, PART1) - first, entry(index, r, ANGLES)
    gradient, last = room + 3 * angles, entry(index, r, TERM1)
    t = entry(index, r, TERM0)
    for i in range(entry(index, r, ROWS)):
        for a in range(angles):
            put(work, gradient + a, zero(work))
        while t < last and entry(index, t, TERM_ROW) == i:
            x, f, g, h = term(index, params, work, t, room)
            at = gradient + entry(index, t, TERM_FACTOR + 1)
            put(work, at, get(work, at) + x * f[1] * g[0] * h[0])
            at = gradient + entry(index, t, TERM_FACTOR + 3)
            put(work, at, get(work, at) + x * f[0] * g[1] * h[0])
            at = gradient + entry(index, t, TERM_FACTOR + 5)
            put(work, at, get(work, at) + x * f[0] * g[0] * h[1])
            t += 1
        for j in range(n):
            k = zero(work)
            for a in range(angles):
                k += get(params, data + a * (n + 1) + j) * get(work, gradient + a)
            at = row + i * width + entry(index, first + j, OF_COLUMN)
            put(work, at, k)


@inline
def equations(index, params, work, q, c):
    """K of LOOP cluster c, whose bodies have been placed."""
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    nd, nr, at = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    width = nd + nk
    for i in range(nr * width):
        put(work, at + i, zero(work))
    for r in range(entry(index, head, CLOSURE0), entry(index, head, CLOSURE1)):
        form, first = entry(index, r, FORM), entry(index, r, ROW0)
        row, wrench = at + first * width, at + at_wrench(nd, nr, nk) + 6 * first
        if form == FRAMES:
            frames_rows(index, params, work, r, row, width, wrench)
        elif form == ROD:
            rod_rows(index, params, work, r, row, wrench)
        elif form == HARMONIC:
            harmonic_rows(index, params, work, q, r, row, width)
        else:
            # a constant matrix, or one that a function of the user gives
            p0, room, given = entry(index, r, PART0), entry(index, r, AT_ROOM), entry(index, r, AT_DATA)
            n = entry(index, r, PART1) - p0
            if form == CALLED:
                called_jacobian(index, params, work, q, r)
            for i in range(entry(index, r, ROWS)):
                for j in range(n):
                    if form == PROPORTIONAL:
                        k = zero(work) + get(params, given + i * n + j)
                    else:
                        k = get(params, given + i) * get(work, room + i * n + j)
                    put(work, row + i * width + entry(index, p0 + j, OF_COLUMN), k)


@inline
def motion_of(index, work, b, c):
    """Velocity and bias acceleration of a body relative to the output body of cluster c: none outside the cluster."""
    if b > 0 and entry(index, b, CLUSTER) == c:
        return load6(work, b * BODY_WORK + W_V), load6(work, b * BODY_WORK + W_A)
    return zero6(work), zero6(work)


@inline
def frames_bias(index, params, work, c, r, at, to):
    """Bias of two frames: W . (c_b - c_a) + dW/dt . (v_b - v_a)."""
    data, a, b = entry(index, r, AT_DATA), entry(index, r, BODY_A), entry(index, r, BODY_B)
    va, ca = motion_of(index, work, a, c)
    vb, cb = motion_of(index, work, b, c)
    pb = point(params, work, b, data + 21)
    wa, wb = angular(va), angular(vb)
    dpb = add3(linear(vb), cross(wb, pb))
    turn, dv, dc = entry(index, r, TURN), sub6(vb, va), sub6(cb, ca)
    for i in range(entry(index, r, ROWS)):
        W = load6(work, at + 6 * i)
        n = linear(W)
        dn = cross(wa, n)
        dm = add3(cross(dpb, n), cross(pb, dn))
        if turn == TURN_UNIVERSAL:
            Ra, _ = frame(index, params, work, a, data)
            Rb, _ = frame(index, params, work, b, data + 12)
            x, z = (Rb[0], Rb[3], Rb[6]), (Ra[2], Ra[5], Ra[8])
            swing = add3(cross(cross(wb, x), z), cross(x, cross(wa, z)))
            dm = axpy3(get(params, data + 29 + 6 * i), swing, dm)
        elif turn != TURN_NONE:
            lever = cross(pb, n)
            m = (W[3] - lever[0], W[4] - lever[1], W[5] - lever[2])
            dm = add3(dm, cross(wa, m))
        put(work, to + i, dot6(W, dc) + dot6(join(dn, dm), dv))


@inline
def point_rate(p, v):
    """Velocity of the point of a moving body that is at p."""
    return add3(linear(v), cross(angular(v), p))


@inline
def point_acceleration(p, v, a):
    """Acceleration of that point."""
    return add3(add3(linear(a), cross(angular(a), p)), cross(angular(v), point_rate(p, v)))


@inline
def rod_bias(index, params, work, c, r, to):
    """Bias of a rod: (d . d'' + d' . d') / l."""
    data, a, b = entry(index, r, AT_DATA), entry(index, r, BODY_A), entry(index, r, BODY_B)
    pa, pb = point(params, work, a, data), point(params, work, b, data + 3)
    va, ca = motion_of(index, work, a, c)
    vb, cb = motion_of(index, work, b, c)
    xa, xb = point_rate(pa, va), point_rate(pb, vb)
    ya, yb = point_acceleration(pa, va, ca), point_acceleration(pb, vb, cb)
    d = (pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2])
    dd = (xb[0] - xa[0], xb[1] - xa[1], xb[2] - xa[2])
    ddd = (yb[0] - ya[0], yb[1] - ya[1], yb[2] - ya[2])
    put(work, to, get(params, data + 6) * (dot3(d, ddd) + dot3(dd, dd)))


@inline
def harmonic_bias(index, params, work, r, to):
    """Bias of a harmonic closure: second derivatives along the velocity."""
    data, room, first = entry(index, r, AT_DATA), entry(index, r, AT_ROOM), entry(index, r, PART0)
    n, angles = entry(index, r, PART1) - first, entry(index, r, ANGLES)
    rate = room + 3 * angles
    for a in range(angles):
        x = zero(work)
        for j in range(n):
            dof = entry(index, first + j, OF_DOF)
            x += get(params, data + a * (n + 1) + j) * get(work, entry(index, dof, DOF_RATE))
        put(work, rate + a, x)
    t, last = entry(index, r, TERM0), entry(index, r, TERM1)
    for i in range(entry(index, r, ROWS)):
        total = zero(work)
        while t < last and entry(index, t, TERM_ROW) == i:
            x, f, g, h = term(index, params, work, t, room)
            u = get(work, rate + entry(index, t, TERM_FACTOR + 1))
            v = get(work, rate + entry(index, t, TERM_FACTOR + 3))
            w = get(work, rate + entry(index, t, TERM_FACTOR + 5))
            squares = f[2] * g[0] * h[0] * u * u + f[0] * g[2] * h[0] * v * v + f[0] * g[0] * h[2] * w * w
            mixed = f[1] * g[1] * h[0] * u * v + f[1] * g[0] * h[1] * u * w + f[0] * g[1] * h[1] * v * w
            total += x * (squares + 2.0 * mixed)
            t += 1
        put(work, to + i, total)


@inline
def function_bias(index, params, work, q, r, to):
    """Bias of a user's function, from its second derivatives."""
    first, room, scale = entry(index, r, PART0), entry(index, r, AT_ROOM), entry(index, r, AT_DATA)
    n, rows = entry(index, r, PART1) - first, entry(index, r, ROWS)
    if entry(index, r, FORM) == CALLED:
        called_hessian(index, params, work, q, r)
    second = room + rows * n
    for i in range(rows):
        total = zero(work)
        for j in range(n):
            u = get(work, entry(index, entry(index, first + j, OF_DOF), DOF_RATE))
            for k in range(n):
                v = get(work, entry(index, entry(index, first + k, OF_DOF), DOF_RATE))
                total += get(work, second + (i * n + j) * n + k) * u * v
        put(work, to + i, get(params, scale + i) * total)


@inline
def biases(index, params, work, q, c):
    """(dK/dt) times the velocity, for all rows of LOOP cluster c; rates and relative motions are known."""
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    nd, nr, at = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    for r in range(entry(index, head, CLOSURE0), entry(index, head, CLOSURE1)):
        form, first = entry(index, r, FORM), entry(index, r, ROW0)
        to, wrench = at + at_value(nd, nr, nk) + first, at + at_wrench(nd, nr, nk) + 6 * first
        if form == FRAMES:
            frames_bias(index, params, work, c, r, wrench, to)
        elif form == ROD:
            rod_bias(index, params, work, c, r, to)
        elif form == HARMONIC:
            harmonic_bias(index, params, work, r, to)
        elif form == PROPORTIONAL:
            for i in range(entry(index, r, ROWS)):
                put(work, to + i, zero(work))
        else:
            function_bias(index, params, work, q, r, to)
