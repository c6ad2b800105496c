"""The dense system of rows: what couplings, loops, rotors, rods with mass and borrowed inertia transmit."""

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
"""Of borrowed inertia, what is none."""


@device
def at_state(I, W, q, v):
    """Write poses, rows, velocities and what rows ask at them; whether the loops could be solved."""
    poses(I, W, q)
    closures_at(I, W, q, I[f.AT_ROOM])
    if not couple(I, W):
        return False
    spread(I, W, v, I[f.AT_VT])
    velocities(I, W)
    biases(I, W)
    return True


@inline
def in_maximal_coordinates(I, W, q, v, tau, fext, out, forces, factorise, felt, release):
    """Write independent accelerations, and wrenches of joints if there is room for them; returns what went wrong.

    Methods differ in three steps: they factorise and carry the loads inward; write the dense system that is left for
    the rows; and go outward, to forces of joints and accelerations of bodies.
    """
    if not at_state(I, W, q, v):
        return f.LOOPS
    joint_axes(I, W, I[f.AT_ROOM])
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
    """Let the universe accelerate upward, and begin the system of rows with their compliance and right sides."""
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
    """How many rows are solved."""
    return I[I[f.KEEP] + 2 * I[f.ROWS]]


@inline
def place(I, r):
    """Where a row stands in the system, -1 if it is left out."""
    return I[I[f.KEEP] + I[f.ROWS] + r]


@device
def links(I, W):
    """Factorise the inertias of links; writes J L^-T and P L^-T, and L^-1 times the loads."""
    for i in range(1, I[f.BODIES]):
        m = I[f.AT_M] + 36 * i
        if not cholesky(W, m, 6, 6):
            I[f.WRONG] = i
            return False
        forward(W, m, 6, 6, I[f.AT_B] + 6 * i)
    for i in range(1, I[f.BODIES]):
        n, p = I[I[f.COUNT] + i], I[I[f.PARENT] + i]
        j, at = I[f.AT_HALF_J] + 36 * i, I[f.AT_HALF_P] + 36 * i
        copy(W, j, I[f.AT_J] + 36 * i, 6 * n)
        forward_rows(W, I[f.AT_M] + 36 * i, 6, j, n)
        if p:
            copy(W, at, I[f.AT_P] + 36 * i, 6 * n)
            forward_rows(W, I[f.AT_M] + 36 * p, 6, at, n)
        else:
            clear(W, at, 6 * n)
    return True


@device
def own_block(I, W, i, to, width, y, near):
    """Write J Phi J' + C of the joint of body i, the lower triangle, in rows of a width; and its right side, at y.

    If near, the body before the joint counts.
    """
    n, p = I[I[f.COUNT] + i], I[I[f.PARENT] + i]
    j, at, arms = I[f.AT_HALF_J] + 36 * i, I[f.AT_HALF_P] + 36 * i, len(each(I, f.ARM, i))
    for k in range(n):
        W[y + k] = W[I[f.AT_D] + 6 * i + k] - product(W, j + 6 * k, I[f.AT_B] + 6 * i)
        for c in range(k + 1):
            W[to + width * k + c] = product(W, j + 6 * k, j + 6 * c)
        if near and p:
            W[y + k] += product(W, at + 6 * k, I[f.AT_B] + 6 * p)
            for c in range(k + 1):
                W[to + width * k + c] += product(W, at + 6 * k, at + 6 * c)
    for k in range(arms):
        W[to + (width + 1) * (n - arms + k)] += W[I[f.AT_ARM] + I[I[f.ARM] + i] + k]


@device
def feel(I, W, nodes):
    """Begin what is felt of rows at nodes: the wrenches on the bodies."""
    clear(W, I[f.AT_Y], 6 * I[I[f.NODE] + nodes])
    for e in range(I[I[f.ENTRY] + I[f.ROWS]]):
        if I[I[f.ENTRY_NODE] + e] >= 0:
            increase(W, I[f.AT_Y] + 6 * I[I[f.ENTRY_NODE] + e], load6(W, I[f.AT_ENTRY] + 6 * e))


@device
def collect(I, W, node, sign, felt, size, base, n):
    """Add to the system what all rows that are felt at a body or a joint do to each other there."""
    for a in each(I, f.NODE, node):
        r = I[I[f.NODE_ROW] + a]
        at, x = place(I, r), felt + 6 * a
        if at < 0:
            continue
        W[I[f.AT_MU] + r] -= sign * dot(W, x, base, size)
        for b in range(I[I[f.NODE] + node], a + 1):
            other = place(I, I[I[f.NODE_ROW] + b])
            if other >= 0:
                W[I[f.AT_SYSTEM] + at * n + other] += sign * dot(W, x, felt + 6 * b, size)


@device
def move_bodies(I, W):
    """Write the accelerations of bodies under their loads, the rows' multipliers and the forces of joints."""
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
    """Solve for the multipliers: L D L', with rows that take inertia back, whose pivots are negative, at the end."""
    n, s = kept(I), I[f.AT_SYSTEM]
    x = I[f.AT_ROOM]
    for k in range(n):
        W[x + k] = W[I[f.AT_MU] + I[I[f.KEEP] + k]]
    # the lower triangle: row i holds L D until it is used
    for j in range(n):
        r = I[I[f.KEEP] + j]
        d = W[s + j * n + j]
        # what takes inertia back leaves what moves in truth, which may be little but not nothing
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
    """Read the independent accelerations off those of the bodies."""
    for k in range(I[f.NV]):
        d = I[I[f.FREE] + k]
        i = I[I[f.DOF_BODY] + d]
        behind = load6(W, I[f.AT_A] + 6 * i) - from_parent(I, W, I[f.AT_A], i)
        out[k] = dot6(load6(W, I[f.AT_T] + 6 * d), behind - load6(W, I[f.AT_BETA] + 6 * i))


@device
def joint_wrenches(I, W, tau, forces):
    """Write what each joint transmits, in the axes of its body: bearings, motors, armatures and rows of joints."""
    for i in range(1, I[f.BODIES]):
        at = I[f.AT_E] + 6 * i
        clear(W, at, 6)
        for k in range(I[I[f.COUNT] + i]):
            add(W, at, W[I[f.AT_LAMBDA] + 6 * i + k], I[f.AT_J] + 36 * i + 6 * k, 6)
        if I[I[f.LENDS] + i]:
            increase(W, at, -lent(I, W, i, load6(W, I[f.AT_A] + 6 * i)))
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
