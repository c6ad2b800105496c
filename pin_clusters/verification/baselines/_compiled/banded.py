"""Forward dynamics of chains in maximal coordinates: J M^-1 J' is banded, and has a Cholesky factor as wide.

References:
    Baraff, "Linear-time dynamics using Lagrange multipliers".
"""

from __future__ import annotations

import math

from .fields import (
    ARM, AT_A, AT_ARM, AT_B, AT_BANDED, AT_D, AT_ENTRY, AT_HALF_J, AT_HALF_P, AT_LAMBDA, AT_M, AT_MU, AT_SYSTEM, AT_Y,
    AT_Z, BAND, BODIES, COUNT, ENTRY, ENTRY_NODE, LINE, LINES, NODE, NODE_ROW, PARENT, ROWS, WRONG,
)  # fmt: skip
from .jit import jit
from .linear import TINY, add, backward, clear, copy, dot, dot6, forward
from .system import BODY, SYSTEM, accelerations, collect, joint_wrenches, kept, links, place, prepare, solve_system


@jit
def assemble(I, W):
    """Write the lower band of J M^-1 J' + C, tips first, its diagonal last in each row; and the right side."""
    width, a = I[BAND], I[AT_BANDED]
    clear(W, a, I[LINES] * width)
    for i in range(1, I[BODIES]):
        n, p, line = I[I[COUNT] + i], I[I[PARENT] + i], I[I[LINE] + i]
        j, at = I[AT_HALF_J] + 36 * i, I[AT_HALF_P] + 36 * i
        arms = I[I[ARM] + i + 1] - I[I[ARM] + i]
        for k in range(n):
            row = a + (line + k) * width + width - 1
            for c in range(k + 1):
                W[row + c - k] = dot6(W, j + 6 * k, j + 6 * c) + dot6(W, at + 6 * k, at + 6 * c)
            if k >= n - arms:
                W[row] += W[I[AT_ARM] + I[I[ARM] + i] + k - n + arms]
            x = W[I[AT_D] + 6 * i + k] - dot6(W, j + 6 * k, I[AT_B] + 6 * i)
            if p:
                x += dot6(W, at + 6 * k, I[AT_B] + 6 * p)
            W[I[AT_LAMBDA] + 6 * I[BODIES] + line + k] = x
        if p:
            # the parent's joint comes later
            above = I[I[LINE] + p]
            for k in range(I[I[COUNT] + p]):
                row = a + (above + k) * width + width - 1 - above - k
                for c in range(n):
                    W[row + line + c] = -dot6(W, I[AT_HALF_J] + 36 * p + 6 * k, at + 6 * c)


@jit
def factorise(I, W):
    """Factorise the band in place."""
    width, a = I[BAND], I[AT_BANDED]
    for i in range(I[LINES]):
        row = a + i * width + width - 1 - i
        first = max(0, i - width + 1)
        for j in range(first, i + 1):
            other = a + j * width + width - 1 - j
            x = W[row + j]
            was = x
            for k in range(max(first, j - width + 1), j):
                x -= W[row + k] * W[other + k]
            if j < i:
                W[row + j] = x / W[other + j]
            else:
                if not x > TINY * was:
                    I[WRONG] = 0
                    return False
                W[row + i] = math.sqrt(x)
    return True


@jit
def inward(I, W, x):
    """Replace a vector by L^-1 x."""
    width, a = I[BAND], I[AT_BANDED]
    for i in range(I[LINES]):
        row = a + i * width + width - 1 - i
        y = W[x + i]
        for k in range(max(0, i - width + 1), i):
            y -= W[row + k] * W[x + k]
        W[x + i] = y / W[row + i]


@jit
def outward(I, W, x):
    """Replace a vector by L^-T x."""
    width, a = I[BAND], I[AT_BANDED]
    for i in range(I[LINES] - 1, -1, -1):
        row = a + i * width + width - 1 - i
        y = W[x + i] / W[row + i]
        W[x + i] = y
        for k in range(max(0, i - width + 1), i):
            W[x + k] -= W[row + k] * y


@jit
def felt(I, W):
    """Write the dense system that is left for the rows."""
    bodies, n, lines, base = I[BODIES], kept(I), I[LINES], I[AT_LAMBDA] + 6 * I[BODIES]
    clear(W, I[AT_Y], 6 * I[I[NODE] + bodies])
    clear(W, I[AT_Z], lines * I[ROWS])
    for e in range(I[I[ENTRY] + I[ROWS]]):
        if I[I[ENTRY_NODE] + e] >= 0:
            add(W, I[AT_Y] + 6 * I[I[ENTRY_NODE] + e], 1.0, I[AT_ENTRY] + 6 * e, 6)
    for b in range(1, bodies):
        for k in range(I[I[NODE] + b], I[I[NODE] + b + 1]):
            x, z = I[AT_Y] + 6 * k, I[AT_Z] + lines * I[I[NODE_ROW] + k]
            forward(W, I[AT_M] + 36 * b, 6, 6, x)
            for c in range(I[I[COUNT] + b]):
                W[z + I[I[LINE] + b] + c] -= dot6(W, I[AT_HALF_J] + 36 * b + 6 * c, x)
            if b + 1 < bodies and I[I[PARENT] + b + 1] == b:
                for c in range(I[I[COUNT] + b + 1]):
                    W[z + I[I[LINE] + b + 1] + c] += dot6(W, I[AT_HALF_P] + 36 * (b + 1) + 6 * c, x)
        collect(I, W, b, 1.0, I[AT_Y], 6, I[AT_B] + 6 * b, n)
    for r in range(I[ROWS]):
        at, z = place(I, r), I[AT_Z] + lines * r
        inward(I, W, z)
        if at >= 0:
            W[I[AT_MU] + r] += dot(W, z, base, lines)
            for s in range(r + 1):
                if place(I, s) >= 0:
                    W[I[AT_SYSTEM] + at * n + place(I, s)] -= dot(W, z, I[AT_Z] + lines * s, lines)


@jit
def release(I, W):
    """Go outward: forces of joints and accelerations of bodies, with those of the rows."""
    bodies, lines, base = I[BODIES], I[LINES], I[AT_LAMBDA] + 6 * I[BODIES]
    for r in range(I[ROWS]):
        add(W, base, W[I[AT_MU] + r], I[AT_Z] + lines * r, lines)
    outward(I, W, base)
    for i in range(1, bodies):
        a = I[AT_A] + 6 * i
        copy(W, a, I[AT_B] + 6 * i, 6)
        for k in range(I[I[NODE] + i], I[I[NODE] + i + 1]):
            add(W, a, W[I[AT_MU] + I[I[NODE_ROW] + k]], I[AT_Y] + 6 * k, 6)
    for i in range(1, bodies):
        n, p, y = I[I[COUNT] + i], I[I[PARENT] + i], I[AT_LAMBDA] + 6 * i
        copy(W, y, base + I[I[LINE] + i], n)
        for k in range(n):
            add(W, I[AT_A] + 6 * i, W[y + k], I[AT_HALF_J] + 36 * i + 6 * k, 6)
            if p:
                add(W, I[AT_A] + 6 * p, -W[y + k], I[AT_HALF_P] + 36 * i + 6 * k, 6)
    for i in range(1, bodies):
        backward(W, I[AT_M] + 36 * i, 6, 6, I[AT_A] + 6 * i)


def baraff_chain(I, W, q, v, tau, fext, out, forces):
    """Write independent accelerations, and wrenches of joints if there is room for them; returns what went wrong."""
    wrong = prepare(I, W, q, v, tau, fext)
    if wrong:
        return wrong
    if not links(I, W):
        return BODY
    assemble(I, W)
    if not factorise(I, W):
        return BODY
    inward(I, W, I[AT_LAMBDA] + 6 * I[BODIES])
    if kept(I):
        felt(I, W)
        if not solve_system(I, W, forces.shape[0] > 0):
            return SYSTEM
    release(I, W)
    accelerations(I, W, out)
    if forces.shape[0] > 0:
        joint_wrenches(I, W, tau, forces)
    return 0
