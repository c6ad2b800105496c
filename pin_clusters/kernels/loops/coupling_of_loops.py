"""LOOP clusters: from q to G, from v to the bias g, and what depends on both.

tree velocity = G v and tree acceleration = G a + g follow from K (tree velocity) = 0: with P the inverse of the
dependent columns, the dependent rows of G are -P K_i, and those of g are -P (dK/dt) (tree velocity).
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import place, turn_joint, unit_rotation
from ..numbers.choices import may_be_less
from ..numbers.memory import get, increase, put, put_zeros
from ..numbers.spatial import cross, zero3, zero6
from ..numbers.tuples import load3
from ..tables import workspace as ws
from ..tables.layout import CONDITION_LIMIT, MIDDLE
from ..tables.views import block, body, carrier_row, element, follower, head, listed, rod, share, velocity_row
from .closure_biases import biases
from .closure_rows import equations, point
from .dependent_columns import invert_dependents, invert_pair, product_of_norms


@inline
def combined_row(index, params, work, share0, share1, row, nk):
    """Write a row of G: the sum of those of the shares' velocities, times their coefficients; (L5)."""
    for k in range(nk):
        x = 0.0
        for s in range(share0, share1):
            part = share(index, s)
            x += get(params, part.at) * get(work, velocity_row(index, part.velocity).at_G + k)
        put(work, row + k, x)


@inline
def combined_bias(index, params, work, share0, share1):
    """Return the sum of the biases of the shares' velocities, times their coefficients; (L5)."""
    x = 0.0
    for s in range(share0, share1):
        part = share(index, s)
        x += get(params, part.at) * get(work, velocity_row(index, part.velocity).at_bias)
    return x


@inline
def spin_elements(index, params, work, C, H):
    """E and the spin momenta of armature and spin elements, whose speeds are combinations of rows of G."""
    nk, rest = C.nk, zero3()
    for k in range(nk):
        for m in range(nk):
            ws.set_E_entry(work, C.at_E, nk, k, m, 0.0)
        if C.at_spin >= 0:
            ws.set_momentum(work, C.at_spin, k, rest)
        for r in range(C.carrier0, C.carrier1):
            ws.set_momentum(work, carrier_row(index, r).at_spin, k, rest)
    for n in range(H.element0, H.element1):
        e = element(index, n)
        combined_row(index, params, work, e.share0, e.share1, e.at_row, nk)
        J, s = get(params, e.at), load3(params, e.at + 1)
        for k in range(nk):
            x = J * get(work, e.at_row + k)
            for m in range(nk):
                ws.set_E_entry(work, C.at_E, nk, k, m, ws.E_entry(work, C.at_E, nk, k, m) + x * get(work, e.at_row + m))
            if e.at_spin >= 0:
                ws.set_momentum(work, e.at_spin, k, ws.momentum(work, e.at_spin, k) + s * x)


@inline
def spin_biases(index, params, work, C, H, L):
    """What spin elements and armature need at a = 0: torques, and the rate of the momentum on each carrier."""
    nk, rest = C.nk, zero3()
    put_zeros(work, L.spin_bias, nk)
    # the rate stands behind the momenta
    if C.at_spin >= 0:
        ws.set_momentum(work, C.at_spin, nk, rest)
    for r in range(C.carrier0, C.carrier1):
        ws.set_momentum(work, carrier_row(index, r).at_spin, nk, rest)
    for n in range(H.element0, H.element1):
        e = element(index, n)
        x = get(params, e.at) * combined_bias(index, params, work, e.share0, e.share1)
        for k in range(nk):
            increase(work, L.spin_bias + k, x * get(work, e.at_row + k))
        if e.at_spin >= 0:
            ws.set_momentum(work, e.at_spin, nk, ws.momentum(work, e.at_spin, nk) + load3(params, e.at + 1) * x)


@inline
def place_bodies(index, params, work, q, C):
    """Poses and motion subspaces of the bodies of a LOOP cluster, and the middle of its rods with mass."""
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind != MIDDLE:
            turn_joint(work, q, b, B)
            place(params, work, q, b, B)
    H = head(index, C.head)
    for r in range(H.rod0, H.rod1):
        R = rod(index, r)
        ws.set_position(work, R.middle, (point(params, work, R.a, R.at) + point(params, work, R.b, R.at + 3)) * 0.5)


@paste
def prepare(index, params, work, q, C):
    """Poses, motion subspaces, G, E and spin momenta of a LOOP cluster; (L1)-(L3), (L5)."""
    place_bodies(index, params, work, q, C)
    equations(index, params, work, q, C)
    H = head(index, C.head)
    L = block(H, C.nk)
    if L.nd == 2 and L.nr == 2:
        # most loops: in registers
        p00, p01, p10, p11, norms = invert_pair(work, L)
        put(work, L.condition, norms)
        row, below = velocity_row(index, H.velocity0).at_G, velocity_row(index, H.velocity0 + 1).at_G
        for k in range(C.nk):
            x, y = get(work, L.K + 2 + k), get(work, L.K + L.width + 2 + k)
            put(work, row + k, -(p00 * x + p01 * y))
            put(work, below + k, -(p10 * x + p11 * y))
    else:
        invert_dependents(work, L)
        put(work, L.condition, product_of_norms(work, L))
        for i in range(L.nd):
            row = velocity_row(index, H.velocity0 + i).at_G
            for k in range(C.nk):
                x = 0.0
                for j in range(L.nr):
                    x -= get(work, L.P + i * L.nr + j) * get(work, L.K + j * L.width + L.nd + k)
                put(work, row + k, x)
    for n in range(H.follower0, H.follower1):
        f = follower(index, n)
        combined_row(index, params, work, f.share0, f.share1, velocity_row(index, f.velocity).at_G, C.nk)
    spin_elements(index, params, work, C, H)


@inline
def condition_of(index, work, C):
    """Square of a number not below the condition of the dependent columns of a LOOP cluster."""
    return get(work, block(head(index, C.head), C.nk).condition)


@inline
def is_singular(index, work, C):
    """Whether the dependent columns of a LOOP cluster have a condition above CONDITION_LIMIT, or none."""
    return not may_be_less(condition_of(index, work, C), CONDITION_LIMIT * CONDITION_LIMIT)


@inline
def rates_of(index, work, v, C):
    """G v of all velocities of a LOOP cluster."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V, x = velocity_row(index, n), 0.0
        for k in range(C.nk):
            x += get(work, V.at_G + k) * get(v, listed(index, C.column, k))
        put(work, V.at_rate, x)


@inline
def accelerations_of(index, work, a, C, in_bias):
    """G a + g of all velocities of a LOOP cluster, in the place of accelerations or of g."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        x = get(work, V.at_bias)
        for k in range(C.nk):
            x += get(work, V.at_G + k) * get(a, listed(index, C.column, k))
        put(work, V.at_bias if in_bias else V.at_acceleration, x)


@inline
def joint_motion(work, B, nk, which):
    """S_b times numbers of its joint: ``which`` is 0 for the bias g, 1 for the velocity G v."""
    at = B.at_G + B.ndof * nk + B.ndof * which
    if B.ndof == 1:
        return ws.subspace(work, B.at_S, 0) * get(work, at)
    m = zero6()
    for d in range(B.ndof):
        m = m + ws.subspace(work, B.at_S, d) * get(work, at + d)
    return m


@inline
def bias_of(index, params, work, q, c, C):
    """Bias g of LOOP cluster c, of the velocities G v that are known; after ``prepare``; (L4).

    Only relative motions count, so the output body stands still here: nothing is lost on a fast one.
    """
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind != MIDDLE:
            vj = joint_motion(work, B, C.nk, 1)
            vel, acc = vj, zero6()
            if B.parent > 0 and body(index, B.parent).cluster == c:
                up = ws.velocity(work, B.parent)
                vel, acc = up + vj, ws.acceleration(work, B.parent) + cross(up, vj)
            ws.set_velocity(work, b, vel)
            ws.set_acceleration(work, b, acc)
    biases(index, params, work, q, c, C)
    H = head(index, C.head)
    L = block(H, C.nk)
    for i in range(L.nd):
        x = 0.0
        for j in range(L.nr):
            x -= get(work, L.P + i * L.nr + j) * get(work, L.value + j)
        put(work, velocity_row(index, H.velocity0 + i).at_bias, x)
    for n in range(H.follower0, H.follower1):
        f = follower(index, n)
        bias = combined_bias(index, params, work, f.share0, f.share1)
        put(work, velocity_row(index, f.velocity).at_bias, bias)


@paste
def prepare_bias(index, params, work, q, v, c, C):
    """Velocities G v, bias g and what spin elements need at a = 0, of LOOP cluster c; after ``prepare``; (L4), (L5)."""
    rates_of(index, work, v, C)
    bias_of(index, params, work, q, c, C)
    H = head(index, C.head)
    spin_biases(index, params, work, C, H, block(H, C.nk))


@inline
def stand_still(work, C):
    """Put the output body of a cluster at the origin: the motion of loops is relative to it."""
    ws.set_pose(work, C.out, unit_rotation(), zero3())
