"""Computes the coupling Jacobian G and the bias g of LOOP clusters, and quantities that depend on G and g.

K v_tree = 0 implies v_tree = G v and a_tree = G a + g. K_d are the columns of K for the dependent velocities, K_i those
for the independent velocities, and P is the inverse of K_d. In the rows of the dependent velocities, G is -P K_i (L3)
and g is -P (dK/dt) v_tree (L4).
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
    """Write a row of G as a linear combination (L5) of other rows; the ``Share`` rows contain the coefficients."""
    for k in range(nk):
        x = 0.0
        for s in range(share0, share1):
            part = share(index, s)
            x += get(params, part.at) * get(work, velocity_row(index, part.velocity).at_G + k)
        put(work, row + k, x)


@inline
def combined_bias(index, params, work, share0, share1):
    """Return a linear combination (L5) of other velocities' biases; the ``Share`` rows contain the coefficients."""
    x = 0.0
    for s in range(share0, share1):
        part = share(index, s)
        x += get(params, part.at) * get(work, velocity_row(index, part.velocity).at_bias)
    return x


@inline
def spin_elements(index, params, work, C, H):
    """Combine rows of G into speed ratios of spin elements and armature (L5); compute their inertia E and momenta."""
    nk, zero = C.nk, zero3()
    for k in range(nk):
        for m in range(nk):
            ws.set_E_entry(work, C.at_E, nk, k, m, 0.0)
        if C.at_spin >= 0:
            ws.set_momentum(work, C.at_spin, k, zero)
        for r in range(C.carrier0, C.carrier1):
            ws.set_momentum(work, carrier_row(index, r).at_spin, k, zero)
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
    """Compute the torques of spin elements and armature at a = 0, and the rate of the spin momentum of each carrier."""
    nk, zero = C.nk, zero3()
    put_zeros(work, L.spin_bias, nk)
    # Entry nk, after the nk momenta per unit velocity, is the rate of the momentum at a = 0.
    if C.at_spin >= 0:
        ws.set_momentum(work, C.at_spin, nk, zero)
    for r in range(C.carrier0, C.carrier1):
        ws.set_momentum(work, carrier_row(index, r).at_spin, nk, zero)
    for n in range(H.element0, H.element1):
        e = element(index, n)
        x = get(params, e.at) * combined_bias(index, params, work, e.share0, e.share1)
        for k in range(nk):
            increase(work, L.spin_bias + k, x * get(work, e.at_row + k))
        if e.at_spin >= 0:
            ws.set_momentum(work, e.at_spin, nk, ws.momentum(work, e.at_spin, nk) + load3(params, e.at + 1) * x)


@inline
def place_bodies(index, params, work, q, C):
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
    """Compute poses, motion subspaces, G, E and spin momenta of a LOOP cluster: (L1) to (L3), (L5)."""
    place_bodies(index, params, work, q, C)
    equations(index, params, work, q, C)
    H = head(index, C.head)
    L = block(H, C.nk)
    if L.nd == 2 and L.nr == 2:
        # Most loops have two equations; P then stays in registers.
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
    """Return the square of an upper bound of the condition number of K_d."""
    return get(work, block(head(index, C.head), C.nk).condition)


@inline
def is_singular(index, work, C):
    """Return whether the condition number of K_d exceeds CONDITION_LIMIT or is NaN."""
    return not may_be_less(condition_of(index, work, C), CONDITION_LIMIT * CONDITION_LIMIT)


@inline
def rates_of(index, work, v, C):
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V, x = velocity_row(index, n), 0.0
        for k in range(C.nk):
            x += get(work, V.at_G + k) * get(v, listed(index, C.column, k))
        put(work, V.at_rate, x)


@inline
def accelerations_of(index, work, a, C, in_bias):
    """Compute G a + g for all velocities of a LOOP cluster; if ``in_bias``, store the result in place of g."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        x = get(work, V.at_bias)
        for k in range(C.nk):
            x += get(work, V.at_G + k) * get(a, listed(index, C.column, k))
        put(work, V.at_bias if in_bias else V.at_acceleration, x)


@inline
def joint_motion(work, B, nk, which):
    """Return S_b times the joint's entries of g, G v or G a + g (``which`` = 0, 1 or 2), for the joint of body b."""
    offset = B.at_G + B.ndof * nk + B.ndof * which
    if B.ndof == 1:
        return ws.subspace(work, B.at_S, 0) * get(work, offset)
    m = zero6()
    for d in range(B.ndof):
        m = m + ws.subspace(work, B.at_S, d) * get(work, offset + d)
    return m


@inline
def bias_of(index, params, work, q, c, C):
    """Compute the bias g (L4) of LOOP cluster c from the stored G v, with the output body at rest."""
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
    """Compute G v, g and the torques of spin elements at a = 0, by (L4) and (L5); call ``prepare`` first."""
    rates_of(index, work, v, C)
    bias_of(index, params, work, q, c, C)
    H = head(index, C.head)
    spin_biases(index, params, work, C, H, block(H, C.nk))


@inline
def stand_still(work, C):
    """Place a cluster's output body at the origin, because its loops depend only on motion relative to this body."""
    ws.set_pose(work, C.out, unit_rotation(), zero3())
