"""LOOP clusters: from q to G, from v to the bias g, and what depends on both.

tree velocity = G v and tree acceleration = G a + g follow from K (tree velocity) = 0: with P the inverse of the
dependent columns, the dependent rows of G are -P K_i, and those of g are -P (dK/dt) (tree velocity). P comes from an
elimination that chooses its pivot rows per state, over all rows: where the range of K turns with q (Bennett's linkage)
no fixed choice would do.
"""

from __future__ import annotations

from ._jit import inline, paste
from .closures import at_condition, at_inverse, at_room, at_spin_bias, at_value, biases, equations, point
from .kinematics import place
from .layout import (
    AT_CARRIED,
    AT_D,
    AT_G,
    AT_LOOP,
    AT_S,
    AT_SPIN,
    BODY_WORK,
    CARRIER0,
    CARRIER1,
    CLUSTER,
    COLUMN,
    DOF0,
    DOF1,
    DOF_BIAS,
    DOF_G,
    DOF_RATE,
    DRIVER0,
    DRIVER1,
    ELEMENT0,
    ELEMENT1,
    ELEMENT_AT,
    ELEMENT_ROW,
    ELEMENT_SPIN,
    FIRST,
    FOLLOWER0,
    FOLLOWER1,
    FOLLOWS,
    KIND,
    LAST,
    LOOP,
    MASTER0,
    MASTER1,
    MIDDLE,
    ND,
    NDOF,
    NK,
    NR,
    PARENT,
    ROD0,
    ROD1,
    ROD_A,
    ROD_AT,
    ROD_B,
    ROD_MIDDLE,
    W_A,
    W_P,
    W_V,
)
from .memory import load3, load6, store3, store6, zero6
from .pack import if_less, is_less
from .simd import entry, get, put, zero
from .spatial import add3, add6, axpy6, crm, scale3, scale6

# above it half of the digits are lost, and forces grow beyond what any machine bears
CONDITION_LIMIT = 1e8


@inline
def magnitude(x):
    """Square: compares like the absolute value."""
    return x * x


@inline
def invert(work, K, stride, nd, nr, to, room):
    """Write P with P K = 1 to ``to``, K being nr x nd; pivot rows are chosen lane by lane.

    Gauss and Jordan on [K 1]; where rows outnumber columns, P ignores those that no column chose.
    """
    width = nd + nr
    for i in range(nr):
        for j in range(nd):
            put(work, room + i * width + j, get(work, K + i * stride + j))
        for j in range(nr):
            put(work, room + i * width + nd + j, zero(work) + (1.0 if i == j else 0.0))
    for k in range(nd):
        top = room + k * width
        for i in range(k + 1, nr):
            # the larger of both rows goes up
            row = room + i * width
            a, b = magnitude(get(work, top + k)), magnitude(get(work, row + k))
            if is_less(a, b):  # lanes choose one by one
                for j in range(k, width):
                    x, y = get(work, top + j), get(work, row + j)
                    put(work, top + j, if_less(a, b, y, x))
                    put(work, row + j, if_less(a, b, x, y))
        inverse = 1.0 / get(work, top + k)
        # column k itself is not looked at again
        for j in range(k + 1, width):
            put(work, top + j, inverse * get(work, top + j))
        for i in range(nr):
            if i != k and (i < nd or k + 1 < nd):
                row = room + i * width
                x = get(work, row + k)
                for j in range(k + 1, width):
                    put(work, row + j, get(work, row + j) - x * get(work, top + j))
    for i in range(nd):
        for j in range(nr):
            put(work, to + i * nr + j, get(work, room + i * width + nd + j))


@inline
def inverse_of(work, K, stride, nd, nr, to, room):
    """Write the inverse of the dependent columns; one and two equations need no elimination."""
    if nd == 1 and nr == 1:
        put(work, to, 1.0 / get(work, K))
    elif nd == 2 and nr == 2:
        pair_inverse(work, K, stride, to)
    else:
        invert(work, K, stride, nd, nr, to, room)


@inline
def pair_inverse(work, K, stride, to):
    """Write and return the inverse of two dependent columns, and with it their squared Frobenius norms multiplied."""
    a, b, c, d = get(work, K), get(work, K + 1), get(work, K + stride), get(work, K + stride + 1)
    x = 1.0 / (a * d - b * c)
    p00, p01, p10, p11 = x * d, -(x * b), -(x * c), x * a
    put(work, to, p00)
    put(work, to + 1, p01)
    put(work, to + 2, p10)
    put(work, to + 3, p11)
    # the inverse has the same entries, times x
    norms = x * (a * a + b * b + c * c + d * d)
    return p00, p01, p10, p11, norms * norms


@inline
def product_of_norms(work, K, stride, nd, nr, P):
    """Squared Frobenius norms of the dependent columns and of their inverse, multiplied: at least cond(K_d)^2."""
    a, b = zero(work), zero(work)
    for i in range(nr):
        for j in range(nd):
            a += magnitude(get(work, K + i * stride + j))
            b += magnitude(get(work, P + j * nr + i))
    return a * b


@inline
def combine(index, params, work, r, first, last, to, at, size):
    """Write the sum of the masters' numbers, DOF_G or DOF_BIAS (at), times the coefficients of row r."""
    for k in range(size):
        x = zero(work)
        for m in range(entry(index, r, first), entry(index, r, last)):
            x += get(params, entry(index, m, 1)) * get(work, entry(index, entry(index, m, 0), at) + k)
        put(work, to + k, x)


@inline
def spin_elements(index, params, work, c):
    """D and the spin momenta of armature and spin elements, whose speeds are combinations of rows of G."""
    head, nk, d, spin = entry(index, c, LOOP), entry(index, c, NK), entry(index, c, AT_D), entry(index, c, AT_SPIN)
    for i in range(nk * nk):
        put(work, d + i, zero(work))
    if spin >= 0:
        for i in range(3 * nk):
            put(work, spin + i, zero(work))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        for i in range(3 * nk):
            put(work, entry(index, r, AT_CARRIED) + i, zero(work))
    for e in range(entry(index, head, ELEMENT0), entry(index, head, ELEMENT1)):
        row, at, to = entry(index, e, ELEMENT_ROW), entry(index, e, ELEMENT_AT), entry(index, e, ELEMENT_SPIN)
        combine(index, params, work, e, DRIVER0, DRIVER1, row, DOF_G, nk)
        J, axis = get(params, at), load3(params, at + 1)
        for k in range(nk):
            x = J * get(work, row + k)
            for m in range(nk):
                put(work, d + k * nk + m, get(work, d + k * nk + m) + x * get(work, row + m))
            if to >= 0:
                store3(work, to + 3 * k, add3(load3(work, to + 3 * k), scale3(x, axis)))


@inline
def spin_biases(index, params, work, c):
    """What spin elements and armature need at a = 0: torques, and the rate of the momentum on each carrier."""
    head, nk, spin = entry(index, c, LOOP), entry(index, c, NK), entry(index, c, AT_SPIN)
    nd, nr, o = entry(index, head, ND), entry(index, head, NR), zero(work)
    b = entry(index, head, AT_LOOP) + at_spin_bias(nd, nr, nk)
    for k in range(nk):
        put(work, b + k, o)
    if spin >= 0:
        store3(work, spin + 3 * nk, (o, o, o))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        store3(work, entry(index, r, AT_CARRIED) + 3 * nk, (o, o, o))
    for e in range(entry(index, head, ELEMENT0), entry(index, head, ELEMENT1)):
        row, at, to = entry(index, e, ELEMENT_ROW), entry(index, e, ELEMENT_AT), entry(index, e, ELEMENT_SPIN)
        # the number behind the row is room for the bias of the speed
        combine(index, params, work, e, DRIVER0, DRIVER1, row + nk, DOF_BIAS, 1)
        x = get(params, at) * get(work, row + nk)
        for k in range(nk):
            put(work, b + k, get(work, b + k) + x * get(work, row + k))
        if to >= 0:
            store3(work, to + 3 * nk, add3(load3(work, to + 3 * nk), scale3(x, load3(params, at + 1))))


@inline
def place_bodies(index, params, work, q, c):
    """Poses and motion subspaces of the bodies of LOOP cluster c, and the middle of its rods with mass."""
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        if entry(index, b, KIND) != MIDDLE:
            place(index, params, work, q, b)
    head = entry(index, c, LOOP)
    for r in range(entry(index, head, ROD0), entry(index, head, ROD1)):
        at = entry(index, r, ROD_AT)
        pa, pb = point(params, work, entry(index, r, ROD_A), at), point(params, work, entry(index, r, ROD_B), at + 3)
        store3(work, entry(index, r, ROD_MIDDLE) * BODY_WORK + W_P, scale3(0.5, add3(pa, pb)))


@paste
def prepare(index, params, work, q, c):
    """Poses, motion subspaces, G, D and spin momenta of LOOP cluster c."""
    place_bodies(index, params, work, q, c)
    equations(index, params, work, q, c)
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    width, P, first = nd + nk, K + at_inverse(nd, nr, nk), entry(index, head, DOF0)
    if nd == 2 and nr == 2:
        # most loops: in registers
        p00, p01, p10, p11, norms = pair_inverse(work, K, width, P)
        put(work, K + at_condition(nd, nr, nk), norms)
        row, below = entry(index, first, DOF_G), entry(index, first + 1, DOF_G)
        for k in range(nk):
            x, y = get(work, K + 2 + k), get(work, K + width + 2 + k)
            put(work, row + k, -(p00 * x + p01 * y))
            put(work, below + k, -(p10 * x + p11 * y))
    else:
        inverse_of(work, K, width, nd, nr, P, K + at_room(nd, nr, nk))
        put(work, K + at_condition(nd, nr, nk), product_of_norms(work, K, width, nd, nr, P))
        for i in range(nd):
            row = entry(index, first + i, DOF_G)
            for k in range(nk):
                x = zero(work)
                for j in range(nr):
                    x -= get(work, P + i * nr + j) * get(work, K + j * width + nd + k)
                put(work, row + k, x)
    for f in range(entry(index, head, FOLLOWER0), entry(index, head, FOLLOWER1)):
        row = entry(index, entry(index, f, FOLLOWS), DOF_G)
        combine(index, params, work, f, MASTER0, MASTER1, row, DOF_G, nk)
    spin_elements(index, params, work, c)


@inline
def condition_of(index, work, c):
    """Square of a number not below the condition of the dependent columns of LOOP cluster c."""
    head = entry(index, c, LOOP)
    at = at_condition(entry(index, head, ND), entry(index, head, NR), entry(index, c, NK))
    return get(work, entry(index, head, AT_LOOP) + at)


@inline
def is_singular(index, work, c):
    """Whether the dependent columns of LOOP cluster c have a condition above CONDITION_LIMIT, or none."""
    return not is_less(condition_of(index, work, c), CONDITION_LIMIT * CONDITION_LIMIT)


@inline
def rates_of(index, work, v, c):
    """G v of all velocities of LOOP cluster c."""
    head, nk, column = entry(index, c, LOOP), entry(index, c, NK), entry(index, c, COLUMN)
    for dof in range(entry(index, head, DOF0), entry(index, head, DOF1)):
        row, x = entry(index, dof, DOF_G), zero(work)
        for k in range(nk):
            x += get(work, row + k) * get(v, entry(index, column + k, 0))
        put(work, entry(index, dof, DOF_RATE), x)


@inline
def joint_motion(index, work, b, nk, which):
    """S_b times numbers of its joint: ``which`` is 0 for the bias g, 1 for the velocity G v."""
    n, s = entry(index, b, NDOF), entry(index, b, AT_S)
    at = entry(index, b, AT_G) + n * nk + n * which
    if n == 1:
        return scale6(get(work, at), load6(work, s))
    m = zero6(work)
    for d in range(n):
        m = axpy6(get(work, at + d), load6(work, s + 6 * d), m)
    return m


@paste
def prepare_bias(index, params, work, q, v, c):
    """Velocities G v, bias g and what spin elements need at a = 0, of LOOP cluster c; after ``prepare``.

    Only relative motions count, so the output body stands still here: nothing is lost on a fast one.
    """
    rates_of(index, work, v, c)
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        if entry(index, b, KIND) != MIDDLE:
            vj, up = joint_motion(index, work, b, nk, 1), entry(index, b, PARENT)
            vel, acc = vj, zero6(work)
            if up > 0 and entry(index, up, CLUSTER) == c:
                vp = load6(work, up * BODY_WORK + W_V)
                vel, acc = add6(vp, vj), add6(load6(work, up * BODY_WORK + W_A), crm(vp, vj))
            store6(work, b * BODY_WORK + W_V, vel)
            store6(work, b * BODY_WORK + W_A, acc)
    biases(index, params, work, q, c)
    nd, nr, K = entry(index, head, ND), entry(index, head, NR), entry(index, head, AT_LOOP)
    P, value, first = K + at_inverse(nd, nr, nk), K + at_value(nd, nr, nk), entry(index, head, DOF0)
    for i in range(nd):
        x = zero(work)
        for j in range(nr):
            x -= get(work, P + i * nr + j) * get(work, value + j)
        put(work, entry(index, first + i, DOF_BIAS), x)
    for f in range(entry(index, head, FOLLOWER0), entry(index, head, FOLLOWER1)):
        to = entry(index, entry(index, f, FOLLOWS), DOF_BIAS)
        combine(index, params, work, f, MASTER0, MASTER1, to, DOF_BIAS, 1)
    spin_biases(index, params, work, c)
