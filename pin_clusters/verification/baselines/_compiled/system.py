"""Solve the dense system of couplings, loops, rotors, rods with mass and fictitious inertia."""

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.memory import put
from ....kernels.numbers.spatial import dot3, dot6, join, rot6_t, zero3
from ....kernels.numbers.tuples import load3, load6, load9
from . import fields as f
from .coupling import couple, least_multipliers, spread
from .linear import TINY, add, backward, cholesky, clear, copy, dot, each, forward, forward_rows, increase, product
from .loads import body_loads, inertias, joint_axes, lent, right_sides
from .motion import from_parent, poses, velocities
from .rows import biases, closures_at, joint_entries

NOTHING = 1e-11
"""Fraction of the fictitious inertia below which the remaining true inertia counts as zero."""


@device
def at_state(I, W, q, v):
    """Compute poses, rows, velocities and biases; return whether the loop constraints could be solved."""
    poses(I, W, q)
    closures_at(I, W, q, I[f.AT_SCRATCH])
    if not couple(I, W):
        return False
    spread(I, W, v, I[f.AT_VT])
    velocities(I, W)
    biases(I, W)
    return True


@inline
def in_maximal_coordinates(I, W, q, v, tau, fext, out, forces, factorise, felt, release):
    """Compute independent accelerations, and joint wrenches if ``forces`` is not empty; return an error code or 0.

    The caller supplies three functions. ``factorise`` factorises the system and propagates the loads to the base.
    ``felt`` computes the dense system. ``release`` computes joint forces and body accelerations, from base to tips.
    """
    if not at_state(I, W, q, v):
        return f.LOOPS
    joint_axes(I, W, I[f.AT_SCRATCH])
    inertias(I, W)
    body_loads(I, W, fext)
    right_sides(I, W, tau)
    joint_entries(I, W)
    start(I, W)
    if not factorise(I, W):
        return f.BODY
    if kept(I):
        felt(I, W)
        if not solve_system(I, W, forces.shape[0] > 0):
            return f.SYSTEM
    release(I, W)
    accelerations(I, W, out)
    if forces.shape[0] > 0:
        joint_wrenches(I, W, tau, forces)
    return 0


@device
def start(I, W):
    """Set the upward acceleration of the universe, and initialise the dense system (compliance, right-hand side)."""
    upward = -load3(W, I[f.AT_GRAVITY])
    put(W, I[f.AT_A], join(upward, zero3()))
    for r in range(I[f.ROWS]):
        for e in each(I, f.ENTRY, r):
            if I[I[f.ENTRY_BODY] + e] == 0:
                W[I[f.AT_RIGHT] + r] -= dot3(load3(W, I[f.AT_ENTRY] + 6 * e), upward)
    n = kept(I)
    clear(W, I[f.AT_SYSTEM], n * n)
    for k in range(n):
        r = I[I[f.KEEP] + k]
        W[I[f.AT_SYSTEM] + k * n + k] = W[I[f.AT_COMPLIANCE] + r]
        W[I[f.AT_MU] + r] = W[I[f.AT_RIGHT] + r]


@inline
def kept(I):
    return I[I[f.KEEP] + 2 * I[f.ROWS]]


@inline
def place(I, r):
    """Return the index of a row in the dense system, or -1 if the row is omitted."""
    return I[I[f.KEEP] + I[f.ROWS] + r]


@device
def links(I, W):
    """Factorise the link inertias as L L'; compute J L^-T, P L^-T, and the product of L^-1 and the loads."""
    for i in range(1, I[f.BODIES]):
        m = I[f.AT_M] + 36 * i
        if not cholesky(W, m, 6, 6):
            I[f.WRONG] = i
            return False
        forward(W, m, 6, 6, I[f.AT_B] + 6 * i)
    for i in range(1, I[f.BODIES]):
        n, p = I[I[f.COUNT] + i], I[I[f.PARENT] + i]
        j, half_p = I[f.AT_HALF_J] + 36 * i, I[f.AT_HALF_P] + 36 * i
        copy(W, j, I[f.AT_J] + 36 * i, 6 * n)
        forward_rows(W, I[f.AT_M] + 36 * i, 6, j, n)
        if p:
            copy(W, half_p, I[f.AT_P] + 36 * i, 6 * n)
            forward_rows(W, I[f.AT_M] + 36 * p, 6, half_p, n)
        else:
            clear(W, half_p, 6 * n)
    return True


@device
def own_block(I, W, i, to, width, y, near):
    """Compute the lower triangle of J M^-1 J' + C for the joint of body i, and the right-hand side at offset y.

    ``width`` is the row length of the result. If ``near`` is set, the inertia of the parent body is included.
    """
    n, p = I[I[f.COUNT] + i], I[I[f.PARENT] + i]
    j, half_p, arms = I[f.AT_HALF_J] + 36 * i, I[f.AT_HALF_P] + 36 * i, len(each(I, f.ARM, i))
    for k in range(n):
        W[y + k] = W[I[f.AT_D] + 6 * i + k] - product(W, j + 6 * k, I[f.AT_B] + 6 * i)
        for c in range(k + 1):
            W[to + width * k + c] = product(W, j + 6 * k, j + 6 * c)
        if near and p:
            W[y + k] += product(W, half_p + 6 * k, I[f.AT_B] + 6 * p)
            for c in range(k + 1):
                W[to + width * k + c] += product(W, half_p + 6 * k, half_p + 6 * c)
    for k in range(arms):
        W[to + (width + 1) * (n - arms + k)] += W[I[f.AT_ARM] + I[I[f.ARM] + i] + k]


@device
def feel(I, W, nodes):
    """Initialise the wrench of each row at each node (body or joint); it is zero unless the row acts on this body."""
    clear(W, I[f.AT_Y], 6 * I[I[f.NODE] + nodes])
    for e in range(I[I[f.ENTRY] + I[f.ROWS]]):
        if I[I[f.ENTRY_NODE] + e] >= 0:
            increase(W, I[f.AT_Y] + 6 * I[I[f.ENTRY_NODE] + e], load6(W, I[f.AT_ENTRY] + 6 * e))


@device
def collect(I, W, node, sign, felt, size, base, n):
    """Add the contribution of a node (body or joint) to the dense system, for all pairs of rows that act on it."""
    for a in each(I, f.NODE, node):
        r = I[I[f.NODE_ROW] + a]
        row_index, x = place(I, r), felt + 6 * a
        if row_index < 0:
            continue
        W[I[f.AT_MU] + r] -= sign * dot(W, x, base, size)
        for b in range(I[I[f.NODE] + node], a + 1):
            column = place(I, I[I[f.NODE_ROW] + b])
            if column >= 0:
                W[I[f.AT_SYSTEM] + row_index * n + column] += sign * dot(W, x, felt + 6 * b, size)


@device
def move_bodies(I, W):
    """Compute the body accelerations from loads, multipliers of the rows, and joint forces."""
    for i in range(1, I[f.BODIES]):
        for k in each(I, f.NODE, i):
            add(W, I[f.AT_B] + 6 * i, W[I[f.AT_MU] + I[I[f.NODE_ROW] + k]], I[f.AT_Y] + 6 * k, 6)
    for i in range(1, I[f.BODIES]):
        n, p, y = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[f.AT_LAMBDA] + 6 * i
        for k in range(n):
            add(W, I[f.AT_B] + 6 * i, W[y + k], I[f.AT_HALF_J] + 36 * i + 6 * k, 6)
            if p:
                add(W, I[f.AT_B] + 6 * p, -W[y + k], I[f.AT_HALF_P] + 36 * i + 6 * k, 6)
    for i in range(1, I[f.BODIES]):
        copy(W, I[f.AT_A] + 6 * i, I[f.AT_B] + 6 * i, 6)
        backward(W, I[f.AT_M] + 36 * i, 6, 6, I[f.AT_A] + 6 * i)


@device
def solve_system(I, W, forces):
    """Compute the multipliers by L D L'. Rows that cancel fictitious inertia come last and have negative pivots."""
    n, s = kept(I), I[f.AT_SYSTEM]
    x = I[f.AT_SCRATCH]
    for k in range(n):
        W[x + k] = W[I[f.AT_MU] + I[I[f.KEEP] + k]]
    # The lower triangle is overwritten by L, and the diagonal by D.
    for j in range(n):
        r = I[I[f.KEEP] + j]
        d = W[s + j * n + j]
        # After fictitious inertia is cancelled, the true inertia remains. It may be small but must not be zero.
        least = TINY * abs(d) if r < I[f.HARD] else NOTHING * abs(W[I[f.AT_COMPLIANCE] + r])
        for k in range(j):
            d -= W[s + j * n + k] * W[s + j * n + k] * W[s + k * n + k]
        if not abs(d) > least:
            I[f.WRONG] = r
            return False
        W[s + j * n + j] = d
        for i in range(j + 1, n):
            y = W[s + i * n + j]
            for k in range(j):
                y -= W[s + i * n + k] * W[s + j * n + k] * W[s + k * n + k]
            W[s + i * n + j] = y / d
    for i in range(n):
        for k in range(i):
            W[x + i] -= W[s + i * n + k] * W[x + k]
    for i in range(n - 1, -1, -1):
        y = W[x + i] / W[s + i * n + i]
        for k in range(i + 1, n):
            y -= W[s + k * n + i] * W[x + k]
        W[x + i] = y
    clear(W, I[f.AT_MU], I[f.HARD])
    for k in range(n):
        W[I[f.AT_MU] + I[I[f.KEEP] + k]] = W[x + k]
    if forces and n < I[f.ROWS]:
        least_multipliers(I, W)
    return True


@device
def accelerations(I, W, out):
    for k in range(I[f.NV]):
        d = I[I[f.FREE] + k]
        i = I[I[f.DOF_BODY] + d]
        behind = load6(W, I[f.AT_A] + 6 * i) - from_parent(I, W, I[f.AT_A], i)
        out[k] = dot6(load6(W, I[f.AT_T] + 6 * d), behind - load6(W, I[f.AT_BETA] + 6 * i))


@device
def joint_wrenches(I, W, tau, forces):
    """Compute the wrench of each joint, including motors, armature and rows between joints, in the axes of its body."""
    for i in range(1, I[f.BODIES]):
        wrench = I[f.AT_E] + 6 * i
        clear(W, wrench, 6)
        for k in range(I[I[f.COUNT] + i]):
            add(W, wrench, W[I[f.AT_LAMBDA] + 6 * i + k], I[f.AT_J] + 36 * i + 6 * k, 6)
        if I[I[f.LENDS] + i]:
            increase(W, wrench, -lent(I, W, i, load6(W, I[f.AT_A] + 6 * i)))
    for k in range(I[f.NV]):
        d = I[I[f.FREE] + k]
        add(W, I[f.AT_E] + 6 * I[I[f.DOF_BODY] + d], tau[k], I[f.AT_T] + 6 * d, 6)
    for r in range(I[f.HARD]):
        for k in each(I, f.TERM, r):
            d = I[I[f.TERM_DOF] + k]
            add(W, I[f.AT_E] + 6 * I[I[f.DOF_BODY] + d], W[I[f.AT_MU] + r] * W[I[f.AT_TERM] + k], I[f.AT_T] + 6 * d, 6)
    for i in range(1, I[f.BODIES]):
        j = I[I[f.USER] + i]
        if j >= 0:
            put(forces[j], 0, rot6_t(load9(W, I[f.AT_R] + 9 * i), load6(W, I[f.AT_E] + 6 * i)))
