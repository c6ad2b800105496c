"""Forward passes over LOOP clusters: G and g first, then as for other clusters, with g in the accelerations."""

from __future__ import annotations

from ._jit import inline, paste
from .articulated import at_spin, at_u, columns, spin_columns
from .closures import at_spin_bias, point, point_acceleration
from .kinematics import body_force, body_inertia, external_force, newton_euler
from .layout import (
    AT_CARRIED,
    AT_D,
    AT_G,
    AT_K,
    AT_LOOP,
    AT_S,
    AT_SPIN,
    AT_WORK,
    BODY_WORK,
    CARRIER,
    CARRIER0,
    CARRIER1,
    CLUSTER,
    COLUMN,
    FIRST,
    KIND,
    LAST,
    LOOP,
    MIDDLE,
    ND,
    NDOF,
    NK,
    NR,
    OUT,
    PARENT,
    ROD0,
    ROD1,
    ROD_A,
    ROD_AT,
    ROD_B,
    ROD_MIDDLE,
    W_A,
    W_F,
    W_I,
    W_P,
    W_R,
    W_V,
)
from .loops import is_singular, joint_motion, prepare, prepare_bias, rates_of
from .memory import accumulate3, accumulate6, load3, load6, load9, store6, store10, store21, zero6
from .simd import entry, get, put, zero
from .spatial import (
    add3,
    add6,
    angular,
    axpy3,
    axpy6,
    crm,
    cross,
    dot3,
    join,
    linear,
    rigid_as_sym6,
    rot,
    rot_t,
    scale3,
    sub6,
)


@inline
def spin_offset(index, c):
    """Where the torques of spin elements and armature at a = 0 stand."""
    head = entry(index, c, LOOP)
    return entry(index, head, AT_LOOP) + at_spin_bias(
        entry(index, head, ND), entry(index, head, NR), entry(index, c, NK)
    )


@inline
def acceleration_of_joint(index, work, a, c, b):
    """S_b (G_b a + g_b)."""
    nk, column, s, n = entry(index, c, NK), entry(index, c, COLUMN), entry(index, b, AT_S), entry(index, b, NDOF)
    g, m = entry(index, b, AT_G), zero6(work)
    for d in range(n):
        x = get(work, g + n * nk + d)
        for k in range(nk):
            x += get(work, g + d * nk + k) * get(a, entry(index, column + k, 0))
        m = axpy6(x, load6(work, s + 6 * d), m)
    return m


@inline
def rod_forces(index, params, work, c):
    """Half the force of the middle of each rod with mass, on the bodies of its ends; its ends' mass is in them."""
    head = entry(index, c, LOOP)
    for r in range(entry(index, head, ROD0), entry(index, head, ROD1)):
        at, a, b = entry(index, r, ROD_AT), entry(index, r, ROD_A), entry(index, r, ROD_B)
        pa, pb = point(params, work, a, at), point(params, work, b, at + 3)
        ya = point_acceleration(pa, load6(work, a * BODY_WORK + W_V), load6(work, a * BODY_WORK + W_A))
        yb = point_acceleration(pb, load6(work, b * BODY_WORK + W_V), load6(work, b * BODY_WORK + W_A))
        # the middle accelerates at the mean of both ends
        f = scale3(0.25 * get(params, at + 6), add3(ya, yb))
        if a > 0:
            accumulate6(work, a * BODY_WORK + W_F, join(f, cross(pa, f)))
        if b > 0:
            accumulate6(work, b * BODY_WORK + W_F, join(f, cross(pb, f)))


@inline
def spin_terms(index, work, v, a, out, c, carrier, at):
    """Moment of the spin elements on one carrier: w x h v + h a + bias; their share of tau goes to out."""
    nk, column, w = entry(index, c, NK), entry(index, c, COLUMN), carrier * BODY_WORK
    R = load9(work, w + W_R)
    omega, alpha = rot_t(R, angular(load6(work, w + W_V))), rot_t(R, angular(load6(work, w + W_A)))
    o = zero(work)
    momentum, rate = (o, o, o), load3(work, at + 3 * nk)
    for k in range(nk):
        h, i_v = load3(work, at + 3 * k), entry(index, column + k, 0)
        momentum = axpy3(get(v, i_v), h, momentum)
        rate = axpy3(get(a, i_v), h, rate)
        put(out, i_v, get(out, i_v) + dot3(h, alpha))
    if carrier > 0:
        accumulate3(work, w + W_F + 3, rot(R, add3(cross(omega, momentum), rate)))


@inline
def nothing(*arguments):
    """Stand in for the forward pass over LOOP clusters in models that have none."""
    return False


@paste
def velocities(index, params, work, q, v, c):
    """Poses, G and velocities of the joints; like all here, returns whether the closures are singular."""
    prepare(index, params, work, q, c)
    rates_of(index, work, v, c)
    return is_singular(index, work, c)


@paste
def forward_rnea(index, params, work, q, v, a, keep, out, c, forced):
    """Forward pass of C-RNEA; leaves the spin elements' and the armature's share of tau in out."""
    prepare(index, params, work, q, c)
    prepare_bias(index, params, work, q, v, c)
    nk, column, at = entry(index, c, NK), entry(index, c, COLUMN), entry(index, c, AT_D)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w, up = b * BODY_WORK, entry(index, b, PARENT) * BODY_WORK
        if entry(index, b, KIND) == MIDDLE:
            store6(work, w + W_F, zero6(work))
            continue
        vp, ap = load6(work, up + W_V), load6(work, up + W_A)
        vj, aj = joint_motion(index, work, b, nk, 1), acceleration_of_joint(index, work, a, c, b)
        vel, acc = add6(vp, vj), add6(add6(ap, crm(vp, vj)), aj)
        R, x = load9(work, w + W_R), load3(work, w + W_P)
        f = body_force(params, b, R, x, vel, acc)
        if forced:
            f = sub6(f, external_force(index, params, keep, b, R, x))
        store6(work, w + W_V, vel)
        store6(work, w + W_A, acc)
        store6(work, w + W_F, f)
    rod_forces(index, params, work, c)
    bias = spin_offset(index, c)
    for k in range(nk):
        t = get(work, bias + k)
        for m in range(nk):
            t += get(work, at + k * nk + m) * get(a, entry(index, column + m, 0))
        put(out, entry(index, column + k, 0), t)
    if entry(index, c, AT_SPIN) >= 0:
        spin_terms(index, work, v, a, out, c, entry(index, c, OUT), entry(index, c, AT_SPIN))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        spin_terms(index, work, v, a, out, c, entry(index, r, CARRIER), entry(index, r, AT_CARRIED))
    return is_singular(index, work, c)


@inline
def gyration(index, work, v, c, carrier, h, u, local):
    """Spin elements of one carrier at a = 0: the moment w x h v + bias on it, and u -= h . alpha."""
    nk, column, w = entry(index, c, NK), entry(index, c, COLUMN), carrier * BODY_WORK
    omega, alpha = angular(load6(work, w + W_V)), angular(load6(work, w + W_A))
    o = zero(work)
    momentum, rate = (o, o, o), rot(load9(work, w + W_R), load3(work, local + 3 * nk))
    for k in range(nk):
        hk = load3(work, h + 3 * k)
        momentum = axpy3(get(v, entry(index, column + k, 0)), hk, momentum)
        put(work, u + k, get(work, u + k) - dot3(hk, alpha))
    if carrier > 0:
        accumulate3(work, w + W_F + 3, add3(cross(omega, momentum), rate))


@inline
def middle_columns(index, params, work, c):
    """K of the middles of rods: translations by the mean of both ends' velocities."""
    head, nk, o = entry(index, c, LOOP), entry(index, c, NK), zero(work)
    for r in range(entry(index, head, ROD0), entry(index, head, ROD1)):
        at, to = entry(index, r, ROD_AT), entry(index, entry(index, r, ROD_MIDDLE), AT_K)
        for k in range(nk):
            mean = (o, o, o)
            for end in range(2):
                b = entry(index, r, ROD_A + end)
                if b > 0 and entry(index, b, CLUSTER) == c:
                    p, Kb = point(params, work, b, at + 3 * end), load6(work, entry(index, b, AT_K) + 6 * k)
                    mean = axpy3(0.5, add3(linear(Kb), cross(angular(Kb), p)), mean)
            store6(work, to + 6 * k, join(mean, (o, o, o)))


@inline
def middle_inertia(params, work, b, mass):
    """Inertia of a point mass in the middle of a rod."""
    p, o = load3(work, b * BODY_WORK + W_P), zero(work)
    h = scale3(mass, p)
    xx, yy, zz = h[0] * p[0], h[1] * p[1], h[2] * p[2]
    return (
        o + mass, h[0], h[1], h[2],
        yy + zz, -(h[0] * p[1]), -(h[0] * p[2]), xx + zz, -(h[1] * p[2]), xx + yy,
    )  # fmt: skip


@inline
def middle_mass(index, params, c, b):
    """Two thirds of the mass of the rod in whose middle b stands."""
    head, m = entry(index, c, LOOP), 0.0
    for r in range(entry(index, head, ROD0), entry(index, head, ROD1)):
        if entry(index, r, ROD_MIDDLE) == b:
            m = get(params, entry(index, r, ROD_AT) + 6)
    return m


@paste
def forward_aba(index, params, work, q, v, keep, c, forced):
    """Forward pass of C-ABA at a = 0; leaves minus the spin elements' bias in u."""
    prepare(index, params, work, q, c)
    prepare_bias(index, params, work, q, v, c)
    nk, at, o = entry(index, c, NK), entry(index, c, AT_WORK), zero(work)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w, up = b * BODY_WORK, entry(index, b, PARENT) * BODY_WORK
        if entry(index, b, KIND) == MIDDLE:
            I = middle_inertia(params, work, b, middle_mass(index, params, c, b))
            store6(work, w + W_F, zero6(work))
            store21(work, w + W_I, rigid_as_sym6(I, o))
            continue
        vp, R, x = load6(work, up + W_V), load9(work, w + W_R), load3(work, w + W_P)
        vj, aj = joint_motion(index, work, b, nk, 1), joint_motion(index, work, b, nk, 0)
        columns(index, params, work, c, b)
        vel, acc = add6(vp, vj), add6(add6(load6(work, up + W_A), crm(vp, vj)), aj)
        I = body_inertia(params, b, R, x)
        f = newton_euler(I, vel, acc)
        if forced:
            f = sub6(f, external_force(index, params, keep, b, R, x))
        store6(work, w + W_V, vel)
        store6(work, w + W_A, acc)
        store6(work, w + W_F, f)
        store21(work, w + W_I, rigid_as_sym6(I, o))
    middle_columns(index, params, work, c)
    rod_forces(index, params, work, c)
    u, h, bias = at + at_u(nk), at + at_spin(nk), spin_offset(index, c)
    for k in range(nk):
        put(work, u + k, -get(work, bias + k))
    spin_columns(index, params, work, c)
    if entry(index, c, AT_SPIN) >= 0:
        gyration(index, work, v, c, entry(index, c, OUT), h, u, entry(index, c, AT_SPIN))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        h += 3 * nk
        gyration(index, work, v, c, entry(index, r, CARRIER), h, u, entry(index, r, AT_CARRIED))
    return is_singular(index, work, c)


@paste
def forward_crba(index, params, work, q, c):
    """Poses, inertias, columns K and spin momenta."""
    prepare(index, params, work, q, c)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w = b * BODY_WORK
        if entry(index, b, KIND) == MIDDLE:
            store10(work, w + W_I, middle_inertia(params, work, b, middle_mass(index, params, c, b)))
        else:
            columns(index, params, work, c, b)
            store10(work, w + W_I, body_inertia(params, b, load9(work, w + W_R), load3(work, w + W_P)))
    middle_columns(index, params, work, c)
    spin_columns(index, params, work, c)
    return is_singular(index, work, c)
