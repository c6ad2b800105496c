"""C-RNEA: inverse dynamics of clusters, with spin elements."""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .implicit import forward_rnea, nothing
from .kinematics import (
    along,
    base_gravity,
    body_force,
    external_force,
    hinge,
    place,
    rates,
    rotor_force,
    start,
    unit_rotation,
)
from .layout import (
    AT_CARRIED,
    AT_D,
    AT_G,
    AT_S,
    AT_SPIN,
    BEARS,
    BODY_WORK,
    CARRIER,
    CARRIER0,
    CARRIER1,
    CLUSTER0,
    CLUSTER1,
    COLUMN,
    FIRST,
    FREE,
    HINGES,
    IMPLICIT,
    LAST,
    NDOF,
    NJOINTS,
    NK,
    NQ,
    NV,
    OK,
    OUT,
    PARENT,
    ROTOR_CARRIER,
    ROTOR_COLUMN,
    ROTOR_NK,
    ROTOR_ROW,
    SINGLE,
    SPIN0,
    SPIN1,
    TYPE,
    UNIT,
    W_A,
    W_B,
    W_F,
    W_P,
    W_R,
    W_S,
    W_V,
    WHICH,
    WRONG_SIZE,
)
from .memory import accumulate3, accumulate6, load3, load6, load9, store3, store6, store9
from .simd import entry, get, put, tables, zero
from .spatial import add3, add6, angular, axpy3, axpy6, crm, cross, dot3, dot6, rot, rot_t, scale3, scale6, sub6


@inline
def wrong_size(index, q, v, x, keep):
    """Whether an argument has not the model's size."""
    nv = entry(index, 0, NV)
    room = keep.shape[0]
    return (
        q.shape[0] != entry(index, 0, NQ)
        or v.shape[0] != nv
        or x.shape[0] != nv
        or (room != nv and room != nv + 6 * entry(index, 0, NJOINTS))
    )


@inline
def set_body(work, b, R, x, v, a, f):
    w = b * BODY_WORK
    store9(work, w + W_R, R)
    store3(work, w + W_P, x)
    store6(work, w + W_V, v)
    store6(work, w + W_A, a)
    store6(work, w + W_F, f)


@inline
def spin_terms(index, params, work, v, a, out, c, carrier, at):
    """Moment of the spin elements on one carrier of a cluster: w x h v + h a; their share of tau goes to out."""
    nk, column, w = entry(index, c, NK), entry(index, c, COLUMN), carrier * BODY_WORK
    R = load9(work, w + W_R)
    # in the carrier's axes the spin momenta are constant
    omega, alpha = rot_t(R, angular(load6(work, w + W_V))), rot_t(R, angular(load6(work, w + W_A)))
    o = zero(work)
    momentum, rate = (o, o, o), (o, o, o)
    for k in range(nk):
        h, i_v = load3(work, at + 3 * k), entry(index, column + k, 0)
        momentum = axpy3(get(v, i_v), h, momentum)
        rate = axpy3(get(a, i_v), h, rate)
        put(out, i_v, get(out, i_v) + dot3(h, alpha))
    if carrier > 0:
        accumulate3(work, w + W_F + 3, rot(R, add3(cross(omega, momentum), rate)))


@inline
def forward(index, params, work, q, v, a, keep, out, c, forced):
    """Forward pass over a GENERAL cluster; leaves the spin elements' and the armature's share of tau in out."""
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w, up = b * BODY_WORK, entry(index, b, PARENT) * BODY_WORK
        vp, ap = load6(work, up + W_V), load6(work, up + W_A)
        if entry(index, b, NDOF) == 1:
            R, x, S = hinge(index, params, work, q, b)
            store6(work, entry(index, b, AT_S), S)
            vj = scale6(rates(index, params, work, v, c, b), S)
            aj = scale6(rates(index, params, work, a, c, b), S)
        else:
            place(index, params, work, q, b)
            R, x = load9(work, w + W_R), load3(work, w + W_P)
            vj, aj = along(index, params, work, v, c, b), along(index, params, work, a, c, b)
        vel, acc = add6(vp, vj), add6(add6(ap, crm(vp, vj)), aj)
        f = body_force(params, b, R, x, vel, acc)
        if forced:
            f = sub6(f, external_force(index, params, keep, b, R, x))
        set_body(work, b, R, x, vel, acc, f)
    nk, column, at = entry(index, c, NK), entry(index, c, COLUMN), entry(index, c, AT_D)
    for k in range(nk):
        t = zero(work)
        for m in range(nk):
            t += get(work, at + k * nk + m) * get(a, entry(index, column + m, 0))
        put(out, entry(index, column + k, 0), t)
    if entry(index, c, AT_SPIN) >= 0:
        spin_terms(index, params, work, v, a, out, c, entry(index, c, OUT), entry(index, c, AT_SPIN))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        spin_terms(index, params, work, v, a, out, c, entry(index, r, CARRIER), entry(index, r, AT_CARRIED))


@inline
def hinges(index, params, work, q, v, a, keep, out, c, forced):
    """Forward pass over a HINGES cluster: as SINGLE, but armature and spin elements tie its joints.

    The first lines stand in rnea as well: one function for both made SINGLE 15 % slower.
    """
    nk, column, at, spin = entry(index, c, NK), entry(index, c, COLUMN), entry(index, c, AT_D), entry(index, c, AT_SPIN)
    carrier = entry(index, c, OUT) * BODY_WORK
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        i_v, k = entry(index, b, UNIT), entry(index, b, WHICH)
        up, w = entry(index, b, PARENT) * BODY_WORK, b * BODY_WORK
        R, x, S = hinge(index, params, work, q, b)
        vp, ap, rate, aj = load6(work, up + W_V), load6(work, up + W_A), get(v, i_v), get(a, i_v)
        vj = scale6(rate, S)
        vel, acc = add6(vp, vj), axpy6(aj, S, add6(ap, crm(vp, vj)))
        f = body_force(params, b, R, x, vel, acc)
        if forced:
            f = sub6(f, external_force(index, params, keep, b, R, x))
        t = zero(work)
        for m in range(nk):
            t += get(work, at + k * nk + m) * get(a, entry(index, column + m, 0))
        if spin >= 0:
            h = rot(load9(work, carrier + W_R), load3(work, spin + 3 * k))
            t += dot3(h, angular(load6(work, carrier + W_A)))
            if carrier > 0:
                gyro = cross(angular(load6(work, carrier + W_V)), h)
                accumulate3(work, carrier + W_F + 3, axpy3(rate, gyro, scale3(aj, h)))
        if entry(index, b, BEARS) == 0:
            put(out, i_v, dot6(S, f) + t)
            if up > 0:
                accumulate6(work, up + W_F, f)
        else:
            set_body(work, b, R, x, vel, acc, f)
            store6(work, w + W_S, S)
            put(work, w + W_B, t)


@inline
def backward(index, params, work, out, c):
    """Backward pass over a GENERAL cluster: tau_k = sum over bodies and joints of G' S' f."""
    nk, column = entry(index, c, NK), entry(index, c, COLUMN)
    for i in range(entry(index, c, LAST) - entry(index, c, FIRST)):
        b = entry(index, c, LAST) - 1 - i
        f, g, s = load6(work, b * BODY_WORK + W_F), entry(index, b, AT_G), entry(index, b, AT_S)
        if entry(index, b, UNIT) >= 0:
            put(out, entry(index, b, UNIT), get(out, entry(index, b, UNIT)) + dot6(load6(work, s), f))
        else:
            for d in range(entry(index, b, NDOF)):
                t = dot6(load6(work, s + 6 * d), f)
                for k in range(nk):
                    i_v = entry(index, column + k, 0)
                    put(out, i_v, get(out, i_v) + get(work, g + d * nk + k) * t)
        p = entry(index, b, PARENT)
        if p > 0:
            accumulate6(work, p * BODY_WORK + W_F, f)


@inline
def rotor_forces(index, params, work, q, keep, out, sign):
    """Apply external forces to rotors that spin: the wrench on the carrier, the axial moment through G."""
    for r in range(entry(index, 0, SPIN0), entry(index, 0, SPIN1)):
        f, axial = rotor_force(index, params, work, q, keep, r)
        carrier = entry(index, r, ROTOR_CARRIER)
        if carrier > 0:
            at = carrier * BODY_WORK + W_F
            store6(work, at, sub6(load6(work, at), f))
        for k in range(entry(index, r, ROTOR_NK)):
            i_v = entry(index, entry(index, r, ROTOR_COLUMN) + k, 0)
            put(out, i_v, get(out, i_v) + sign * get(work, entry(index, r, ROTOR_ROW) + k) * axial)


def rnea_with(implicit):
    """Make rnea; ``implicit`` is its pass over LOOP clusters: models without closures need not wait for its code."""

    @paste
    def rnea(index, params, work, keep, q, v, a, out):
        """Write tau to out and to the head of keep; external forces, if any, stand behind it in keep."""
        nv, first, last = entry(index, 0, NV), entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)
        if wrong_size(index, q, v, a, keep):
            return WRONG_SIZE
        forced, code = keep.shape[0] > nv, OK
        start(params, work)
        for c in range(first, last):
            kind = entry(index, c, TYPE)
            if kind == SINGLE:
                b, i_v = entry(index, c, FIRST), entry(index, c, COLUMN)
                up, w = entry(index, b, PARENT) * BODY_WORK, b * BODY_WORK
                R, x, S = hinge(index, params, work, q, b)
                vp, ap, rate, aj = load6(work, up + W_V), load6(work, up + W_A), get(v, i_v), get(a, i_v)
                vj = scale6(rate, S)
                vel, acc = add6(vp, vj), axpy6(aj, S, add6(ap, crm(vp, vj)))
                f = body_force(params, b, R, x, vel, acc)
                if forced:
                    f = sub6(f, external_force(index, params, keep, b, R, x))
                t, at = get(params, entry(index, c, AT_D)) * aj, entry(index, c, AT_SPIN)
                if at >= 0:
                    h = rot(load9(work, up + W_R), load3(params, at))
                    t += dot3(h, angular(ap))
                    if up > 0:
                        accumulate3(work, up + W_F + 3, axpy3(rate, cross(angular(vp), h), scale3(aj, h)))
                if entry(index, b, BEARS) == 0:
                    # a leaf is finished at once, without a way through memory
                    put(out, i_v, dot6(S, f) + t)
                    if up > 0:
                        accumulate6(work, up + W_F, f)
                else:
                    set_body(work, b, R, x, vel, acc, f)
                    store6(work, w + W_S, S)
                    put(work, w + W_B, t)
            elif kind == FREE:
                b, i_v = entry(index, c, FIRST), entry(index, c, COLUMN)
                o = zero(work)
                R, vel = unit_rotation(o), load6(v, i_v)
                acc = add6(base_gravity(index, params, work, q, b), load6(a, i_v))
                f = body_force(params, b, R, (o, o, o), vel, acc)
                if forced:
                    f = sub6(f, external_force(index, params, keep, b, R, (o, o, o)))
                set_body(work, b, R, (o, o, o), vel, acc, f)
            elif kind == HINGES:
                hinges(index, params, work, q, v, a, keep, out, c, forced)
            elif kind == IMPLICIT:
                if implicit(index, params, work, q, v, a, keep, out, c, forced):
                    code = -c
            else:
                forward(index, params, work, q, v, a, keep, out, c, forced)
        if forced:
            for i in range(nv):
                put(keep, i, zero(work))
            rotor_forces(index, params, work, q, keep, keep, -1.0)
        for i in range(last - first):
            c = last - 1 - i
            kind = entry(index, c, TYPE)
            if kind == SINGLE:
                b = entry(index, c, FIRST)
                if entry(index, b, BEARS) == 1:
                    w, p = b * BODY_WORK, entry(index, b, PARENT)
                    f = load6(work, w + W_F)
                    put(out, entry(index, c, COLUMN), dot6(load6(work, w + W_S), f) + get(work, w + W_B))
                    if p > 0:
                        accumulate6(work, p * BODY_WORK + W_F, f)
            elif kind == HINGES:
                for k in range(entry(index, c, LAST) - entry(index, c, FIRST)):
                    b = entry(index, c, LAST) - 1 - k
                    if entry(index, b, BEARS) == 1:
                        w, p = b * BODY_WORK, entry(index, b, PARENT)
                        f = load6(work, w + W_F)
                        put(out, entry(index, b, UNIT), dot6(load6(work, w + W_S), f) + get(work, w + W_B))
                        if p > 0:
                            accumulate6(work, p * BODY_WORK + W_F, f)
            elif kind == FREE:
                store6(out, entry(index, c, COLUMN), load6(work, entry(index, c, FIRST) * BODY_WORK + W_F))
            else:
                backward(index, params, work, out, c)
        for i in range(nv):
            if forced:
                put(out, i, get(out, i) + get(keep, i))
            put(keep, i, get(out, i))
        return code

    return rnea


rnea = rnea_with(nothing)
rnea_loops = rnea_with(forward_rnea)


@kernel(signature(4), "rnea (inverse dynamics)", rnea)
def rnea_at(address, q, v, a, out):
    """Call rnea with the tables at an address."""
    index, params, work, keep = tables(address)
    return rnea(index, params, work, keep, q, v, a, out)


@kernel(signature(4), "rnea (inverse dynamics, closed loops)", rnea_loops)
def rnea_loops_at(address, q, v, a, out):
    """Call rnea with the tables at an address."""
    index, params, work, keep = tables(address)
    return rnea_loops(index, params, work, keep, q, v, a, out)
