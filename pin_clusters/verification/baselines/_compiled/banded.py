"""Forward dynamics of chains in maximal coordinates: J M^-1 J' is banded, and has a Cholesky factor as wide.

References:
    Baraff, "Linear-time dynamics using Lagrange multipliers".
"""

from __future__ import annotations

import math

from ...._engine.kernels.compiling.jit import device
from . import fields as f
from .linear import TINY, add, backward, clear, copy, dot, each, forward, product
from .system import collect, feel, in_maximal_coordinates, kept, links, own_block, place


@device
def assemble(I, W):
    """Write the lower band of J M^-1 J' + C, tips first, its diagonal last in each row; and the right side."""
    width, a = I[f.BAND], I[f.AT_BANDED]
    clear(W, a, I[f.LINES] * width)
    for i in range(1, I[f.BODIES]):
        n, p, line = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[I[f.LINE] + i]
        own_block(I, W, i, a + (line + 1) * width - 1, width - 1, I[f.AT_LAMBDA] + 6 * I[f.BODIES] + line, True)
        if p:
            # the parent's joint comes later
            above = I[I[f.LINE] + p]
            for k in range(I[I[f.COUNT] + p]):
                row = a + (above + k) * width + width - 1 - above - k
                for c in range(n):
                    W[row + line + c] = -product(W, I[f.AT_HALF_J] + 36 * p + 6 * k, I[f.AT_HALF_P] + 36 * i + 6 * c)


@device
def factorise(I, W):
    """Factorise the inertias of links, then the band in place, and carry the right side inward."""
    if not links(I, W):
        return False
    assemble(I, W)
    width, a = I[f.BAND], I[f.AT_BANDED]
    for i in range(I[f.LINES]):
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
                    I[f.WRONG] = 0
                    return False
                W[row + i] = math.sqrt(x)
    inward(I, W, I[f.AT_LAMBDA] + 6 * I[f.BODIES])
    return True


@device
def inward(I, W, x):
    """Replace a vector by L^-1 x."""
    width, a = I[f.BAND], I[f.AT_BANDED]
    for i in range(I[f.LINES]):
        row = a + i * width + width - 1 - i
        y = W[x + i]
        for k in range(max(0, i - width + 1), i):
            y -= W[row + k] * W[x + k]
        W[x + i] = y / W[row + i]


@device
def outward(I, W, x):
    """Replace a vector by L^-T x."""
    width, a = I[f.BAND], I[f.AT_BANDED]
    for i in range(I[f.LINES] - 1, -1, -1):
        row = a + i * width + width - 1 - i
        y = W[x + i] / W[row + i]
        W[x + i] = y
        for k in range(max(0, i - width + 1), i):
            W[x + k] -= W[row + k] * y


@device
def felt(I, W):
    """Write the dense system that is left for the rows."""
    bodies, n, lines, base = I[f.BODIES], kept(I), I[f.LINES], I[f.AT_LAMBDA] + 6 * I[f.BODIES]
    feel(I, W, bodies)
    clear(W, I[f.AT_Z], lines * I[f.ROWS])
    for b in range(1, bodies):
        for k in each(I, f.NODE, b):
            x, z = I[f.AT_Y] + 6 * k, I[f.AT_Z] + lines * I[I[f.NODE_ROW] + k]
            forward(W, I[f.AT_M] + 36 * b, 6, 6, x)
            for c in range(I[I[f.COUNT] + b]):
                W[z + I[I[f.LINE] + b] + c] -= product(W, I[f.AT_HALF_J] + 36 * b + 6 * c, x)
            if b + 1 < bodies and I[I[f.PARENT] + b + 1] == b:
                for c in range(I[I[f.COUNT] + b + 1]):
                    W[z + I[I[f.LINE] + b + 1] + c] += product(W, I[f.AT_HALF_P] + 36 * (b + 1) + 6 * c, x)
        collect(I, W, b, 1.0, I[f.AT_Y], 6, I[f.AT_B] + 6 * b, n)
    for r in range(I[f.ROWS]):
        at, z = place(I, r), I[f.AT_Z] + lines * r
        inward(I, W, z)
        if at >= 0:
            W[I[f.AT_MU] + r] += dot(W, z, base, lines)
            for s in range(r + 1):
                if place(I, s) >= 0:
                    W[I[f.AT_SYSTEM] + at * n + place(I, s)] -= dot(W, z, I[f.AT_Z] + lines * s, lines)


@device
def release(I, W):
    """Go outward: forces of joints and accelerations of bodies, with those of the rows."""
    bodies, lines, base = I[f.BODIES], I[f.LINES], I[f.AT_LAMBDA] + 6 * I[f.BODIES]
    for r in range(I[f.ROWS]):
        add(W, base, W[I[f.AT_MU] + r], I[f.AT_Z] + lines * r, lines)
    outward(I, W, base)
    for i in range(1, bodies):
        a = I[f.AT_A] + 6 * i
        copy(W, a, I[f.AT_B] + 6 * i, 6)
        for k in each(I, f.NODE, i):
            add(W, a, W[I[f.AT_MU] + I[I[f.NODE_ROW] + k]], I[f.AT_Y] + 6 * k, 6)
    for i in range(1, bodies):
        n, p, y = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[f.AT_LAMBDA] + 6 * i
        copy(W, y, base + I[I[f.LINE] + i], n)
        for k in range(n):
            add(W, I[f.AT_A] + 6 * i, W[y + k], I[f.AT_HALF_J] + 36 * i + 6 * k, 6)
            if p:
                add(W, I[f.AT_A] + 6 * p, -W[y + k], I[f.AT_HALF_P] + 36 * i + 6 * k, 6)
    for i in range(1, bodies):
        backward(W, I[f.AT_M] + 36 * i, 6, 6, I[f.AT_A] + 6 * i)


def baraff_chain(I, W, q, v, tau, fext, out, forces):
    """Write independent accelerations, and wrenches of joints if there is room for them; returns what went wrong."""
    return in_maximal_coordinates(I, W, q, v, tau, fext, out, forces, factorise, felt, release)
