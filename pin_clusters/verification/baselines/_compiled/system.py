"""The dense system of rows: what couplings, loops, rotors, rods with mass and borrowed inertia transmit."""

from __future__ import annotations

from .coupling import couple, least_multipliers, spread
from .fields import (
    AT_A, AT_B, AT_BETA, AT_COMPLIANCE, AT_E, AT_ENTRY, AT_GRAVITY, AT_HALF_J, AT_HALF_P, AT_J, AT_LAMBDA, AT_M, AT_MU,
    AT_P, AT_R, AT_RIGHT, AT_ROOM, AT_SYSTEM, AT_T, AT_TERM, AT_VT, BODIES, COUNT, DOF_BODY, ENTRY, ENTRY_BODY, FREE,
    HARD, KEEP, LENDS, NODE, NODE_ROW, NV, PARENT, ROWS, TERM, TERM_DOF, USER, WRONG,
)  # fmt: skip
from .jit import jit
from .linear import TINY, add, add_moved, cholesky, clear, copy, dot, forward, forward_rows
from .loads import body_loads, inertias, joint_axes, lent, right_sides
from .motion import offset, poses, velocities
from .rows import biases, closures_at, joint_entries

LOOPS, BODY, SYSTEM, MASSES = 1, 2, 3, 4
"""What cannot be solved: see ``WRONG``."""

NOTHING = 1e-11
"""Of borrowed inertia, what is none."""


@jit
def prepare(I, W, q, v, tau, fext):
    """Do what all methods in maximal coordinates begin with: 0, or LOOPS if the loops could not be solved."""
    room = I[AT_ROOM]
    poses(I, W, q)
    closures_at(I, W, q, room)
    if not couple(I, W):
        return LOOPS
    spread(I, W, v, I[AT_VT])
    velocities(I, W, room)
    biases(I, W, room)
    joint_axes(I, W, room)
    inertias(I, W, room)
    body_loads(I, W, fext, room)
    right_sides(I, W, tau, room)
    joint_entries(I, W)
    # the universe accelerates upward
    for r in range(I[ROWS]):
        for e in range(I[I[ENTRY] + r], I[I[ENTRY] + r + 1]):
            if I[I[ENTRY_BODY] + e] == 0:
                W[I[AT_RIGHT] + r] += dot(W, I[AT_ENTRY] + 6 * e, I[AT_GRAVITY], 3)
    for k in range(3):
        W[I[AT_A] + k] = -W[I[AT_GRAVITY] + k]
        W[I[AT_A] + 3 + k] = 0.0
    n = kept(I)
    clear(W, I[AT_SYSTEM], n * n)
    for k in range(n):
        r = I[I[KEEP] + k]
        W[I[AT_SYSTEM] + k * n + k] = W[I[AT_COMPLIANCE] + r]
        W[I[AT_MU] + r] = W[I[AT_RIGHT] + r]
    return 0


@jit
def kept(I):
    """Return how many rows are solved."""
    return I[I[KEEP] + 2 * I[ROWS]]


@jit
def place(I, r):
    """Return where a row stands in the system, -1 if it is left out."""
    return I[I[KEEP] + I[ROWS] + r]


@jit
def links(I, W):
    """Factorise the inertias of links; writes J L^-T and P L^-T, and L^-1 times the loads."""
    for i in range(1, I[BODIES]):
        m = I[AT_M] + 36 * i
        if not cholesky(W, m, 6, 6):
            I[WRONG] = i
            return False
        forward(W, m, 6, 6, I[AT_B] + 6 * i)
    for i in range(1, I[BODIES]):
        n, p = I[I[COUNT] + i], I[I[PARENT] + i]
        j, at = I[AT_HALF_J] + 36 * i, I[AT_HALF_P] + 36 * i
        copy(W, j, I[AT_J] + 36 * i, 6 * n)
        forward_rows(W, I[AT_M] + 36 * i, 6, j, n)
        if p:
            copy(W, at, I[AT_P] + 36 * i, 6 * n)
            forward_rows(W, I[AT_M] + 36 * p, 6, at, n)
        else:
            clear(W, at, 6 * n)
    return True


@jit
def collect(I, W, node, sign, felt, size, base, n):
    """Add to the system what all rows that are felt at a body or a joint do to each other there."""
    for a in range(I[I[NODE] + node], I[I[NODE] + node + 1]):
        r = I[I[NODE_ROW] + a]
        at, x = place(I, r), felt + 6 * a
        if at < 0:
            continue
        W[I[AT_MU] + r] -= sign * dot(W, x, base, size)
        for b in range(I[I[NODE] + node], a + 1):
            other = place(I, I[I[NODE_ROW] + b])
            if other >= 0:
                W[I[AT_SYSTEM] + at * n + other] += sign * dot(W, x, felt + 6 * b, size)


@jit
def solve_system(I, W, forces):
    """Solve for the multipliers: L D L', with rows that take inertia back, whose pivots are negative, at the end."""
    n, s = kept(I), I[AT_SYSTEM]
    x = I[AT_ROOM]
    for k in range(n):
        W[x + k] = W[I[AT_MU] + I[I[KEEP] + k]]
    # the lower triangle: row i holds L D until it is used
    for j in range(n):
        r = I[I[KEEP] + j]
        d = W[s + j * n + j]
        # what takes inertia back leaves what moves in truth, which may be little but not nothing
        least = TINY * abs(d) if r < I[HARD] else NOTHING * abs(W[I[AT_COMPLIANCE] + r])
        for k in range(j):
            d -= W[s + j * n + k] * W[s + j * n + k] * W[s + k * n + k]
        if not abs(d) > least:
            I[WRONG] = r
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
    clear(W, I[AT_MU], I[HARD])
    for k in range(n):
        W[I[AT_MU] + I[I[KEEP] + k]] = W[x + k]
    if forces and n < I[ROWS]:
        least_multipliers(I, W)
    return True


@jit
def accelerations(I, W, out):
    """Read the independent accelerations off those of the bodies."""
    for k in range(I[NV]):
        d = I[I[FREE] + k]
        i = I[I[DOF_BODY] + d]
        t, a, above, room = I[AT_T] + 6 * d, I[AT_A] + 6 * i, I[AT_A] + 6 * I[I[PARENT] + i], I[AT_ROOM]
        clear(W, room, 6)
        add_moved(W, room, above, offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2))
        total = 0.0
        for n in range(6):
            total += W[t + n] * (W[a + n] - W[room + n] - W[I[AT_BETA] + 6 * i + n])
        out[k] = total


@jit
def joint_wrenches(I, W, tau, forces):
    """Write what each joint transmits, in the axes of its body: bearings, motors, armatures and rows of joints."""
    room = I[AT_ROOM]
    for i in range(1, I[BODIES]):
        clear(W, I[AT_E] + 6 * i, 6)
        at = I[AT_E] + 6 * i
        for k in range(I[I[COUNT] + i]):
            add(W, at, W[I[AT_LAMBDA] + 6 * i + k], I[AT_J] + 36 * i + 6 * k, 6)
        if I[I[LENDS] + i]:
            lent(I, W, i, I[AT_A] + 6 * i, room)
            add(W, at, -1.0, room, 6)
    for k in range(I[NV]):
        d = I[I[FREE] + k]
        add(W, I[AT_E] + 6 * I[I[DOF_BODY] + d], tau[k], I[AT_T] + 6 * d, 6)
    for r in range(I[HARD]):
        for k in range(I[I[TERM] + r], I[I[TERM] + r + 1]):
            d = I[I[TERM_DOF] + k]
            add(W, I[AT_E] + 6 * I[I[DOF_BODY] + d], W[I[AT_MU] + r] * W[I[AT_TERM] + k], I[AT_T] + 6 * d, 6)
    for i in range(1, I[BODIES]):
        j = I[I[USER] + i]
        if j >= 0:
            r, w = I[AT_R] + 9 * i, I[AT_E] + 6 * i
            for k in range(3):
                forces[j, k] = W[r + k] * W[w] + W[r + 3 + k] * W[w + 1] + W[r + 6 + k] * W[w + 2]
                forces[j, 3 + k] = W[r + k] * W[w + 3] + W[r + 3 + k] * W[w + 4] + W[r + 6 + k] * W[w + 5]
