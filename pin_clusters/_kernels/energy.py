"""Kinetic and potential energy."""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .closures import point, point_rate
from .implicit import nothing, velocities
from .kinematics import along, body_inertia, free_motion, free_rotation, hinge, place, start
from .layout import (
    AT_CARRIED,
    AT_D,
    AT_SPIN,
    BODY_PARAMS,
    BODY_WORK,
    CARRIER,
    CARRIER0,
    CARRIER1,
    CLUSTER0,
    CLUSTER1,
    COLUMN,
    FIRST,
    FREE,
    IMPLICIT,
    IQ,
    KIND,
    LAST,
    LOOP,
    MIDDLE,
    MINUS_GRAVITY,
    NK,
    NQ,
    NV,
    OK,
    ORIGIN,
    OUT,
    PARENT,
    POSITION,
    POTENTIAL,
    ROD0,
    ROD1,
    ROD_A,
    ROD_AT,
    ROD_B,
    ROD_MIDDLE,
    ROOT,
    ROTATION,
    SINGLE,
    TYPE,
    W_F,
    W_P,
    W_R,
    W_V,
    WRONG_SIZE,
)
from .loops import joint_motion
from .memory import load3, load6, load9, store3, store6, store9
from .simd import entry, get, put, tables, zero
from .spatial import add3, add6, angular, axpy3, dot3, dot6, matmul3, rigid_mul, rot, rot_t, scale3, scale6


@inline
def spin_energy(index, work, v, c, carrier, at):
    """Spin momentum times the angular velocity of the carrier."""
    w, total = carrier * BODY_WORK, zero(work)
    omega = rot_t(load9(work, w + W_R), angular(load6(work, w + W_V)))
    for k in range(entry(index, c, NK)):
        total += get(v, entry(index, entry(index, c, COLUMN) + k, 0)) * dot3(load3(work, at + 3 * k), omega)
    return total


@inline
def body_energy(index, params, work, b, vel):
    """Twice the kinetic energy of body b, and its potential energy."""
    w = b * BODY_WORK
    I = body_inertia(params, b, load9(work, w + W_R), load3(work, w + W_P))
    base = add3(load3(params, ORIGIN), load3(work, entry(index, b, ROOT) * BODY_WORK + W_F))
    height = dot3(load3(params, MINUS_GRAVITY), axpy3(I[0], base, (I[1], I[2], I[3])))
    return dot6(vel, rigid_mul(I, vel)), height


@inline
def rod_energy(index, params, work, c):
    """Twice the kinetic energy and the potential energy of the middles of rods with mass."""
    head, twice, potential = entry(index, c, LOOP), zero(work), zero(work)
    for r in range(entry(index, head, ROD0), entry(index, head, ROD1)):
        at, a, b = entry(index, r, ROD_AT), entry(index, r, ROD_A), entry(index, r, ROD_B)
        pa, pb, m = point(params, work, a, at), point(params, work, b, at + 3), get(params, at + 6)
        xa, xb = point_rate(pa, load6(work, a * BODY_WORK + W_V)), point_rate(pb, load6(work, b * BODY_WORK + W_V))
        mean = scale3(0.5, add3(xa, xb))
        twice += m * dot3(mean, mean)
        root = entry(index, entry(index, r, ROD_MIDDLE), ROOT)
        base = add3(load3(params, ORIGIN), load3(work, root * BODY_WORK + W_F))
        middle = add3(base, scale3(0.5, add3(pa, pb)))
        potential += m * dot3(load3(params, MINUS_GRAVITY), middle)
    return twice, potential


def energy_with(implicit):
    """Make energy; ``implicit`` is its pass over LOOP clusters."""

    @paste
    def energy(index, params, work, out, q, v):
        """Write the kinetic energy and the potential energy, which is zero at the universe's origin."""
        nv = entry(index, 0, NV)
        if q.shape[0] != entry(index, 0, NQ) or v.shape[0] != nv:
            return WRONG_SIZE
        start(params, work)
        twice, o = zero(work), zero(work)
        potential, code = o + get(params, POTENTIAL), OK
        for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
            kind, nk, column, at = (
                entry(index, c, TYPE),
                entry(index, c, NK),
                entry(index, c, COLUMN),
                entry(index, c, AT_D),
            )
            if kind == IMPLICIT:
                if implicit(index, params, work, q, v, c):
                    code = -c
            for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
                w = b * BODY_WORK
                vp = load6(work, entry(index, b, PARENT) * BODY_WORK + W_V)
                store3(work, w + W_F, (o, o, o))
                if kind == SINGLE:
                    R, x, S = hinge(index, params, work, q, b)
                    store9(work, w + W_R, R)
                    store3(work, w + W_P, x)
                    vel = add6(vp, scale6(get(v, column), S))
                elif kind == FREE:
                    R = matmul3(load9(params, b * BODY_PARAMS + ROTATION), free_rotation(q, entry(index, b, IQ)))
                    store9(work, w + W_R, R)
                    store3(work, w + W_P, (o, o, o))
                    vel = free_motion(R, v, column)
                    # poses are relative to the base: keep where it is
                    place_of = rot(load9(params, b * BODY_PARAMS + ROTATION), load3(q, entry(index, b, IQ)))
                    store3(work, w + W_F, add3(load3(params, b * BODY_PARAMS + POSITION), place_of))
                elif kind == IMPLICIT:
                    vel = vp if entry(index, b, KIND) == MIDDLE else add6(vp, joint_motion(index, work, b, nk, 1))
                else:
                    place(index, params, work, q, b)
                    vel = add6(vp, along(index, params, work, v, c, b))
                store6(work, w + W_V, vel)
                two_t, height = body_energy(index, params, work, b, vel)
                twice += two_t
                potential += height
            if kind == IMPLICIT:
                two_t, height = rod_energy(index, params, work, c)
                twice += two_t
                potential += height
            if kind == SINGLE:
                rate = get(v, column)
                twice += get(params, at) * rate * rate
                if entry(index, c, AT_SPIN) >= 0:
                    up = entry(index, c, OUT) * BODY_WORK
                    h = rot(load9(work, up + W_R), load3(params, entry(index, c, AT_SPIN)))
                    twice += 2.0 * rate * dot3(h, angular(load6(work, up + W_V)))
            elif kind != FREE:
                for k in range(nk):
                    for m in range(nk):
                        i, j = entry(index, column + k, 0), entry(index, column + m, 0)
                        twice += get(work, at + k * nk + m) * get(v, i) * get(v, j)
                if entry(index, c, AT_SPIN) >= 0:
                    twice += 2.0 * spin_energy(index, work, v, c, entry(index, c, OUT), entry(index, c, AT_SPIN))
                for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
                    twice += 2.0 * spin_energy(index, work, v, c, entry(index, r, CARRIER), entry(index, r, AT_CARRIED))
        put(out, 0, 0.5 * twice)
        put(out, 1, potential)
        return code

    return energy


energy = energy_with(nothing)
energy_loops = energy_with(velocities)


@kernel(signature(2), "energy (kinetic and potential)", energy)
def energy_at(address, q, v):
    """Call energy with the tables at an address."""
    index, params, work, keep = tables(address)
    return energy(index, params, work, keep, q, v)


@kernel(signature(2), "energy (kinetic and potential, closed loops)", energy_loops)
def energy_loops_at(address, q, v):
    """Call energy with the tables at an address."""
    index, params, work, keep = tables(address)
    return energy_loops(index, params, work, keep, q, v)
