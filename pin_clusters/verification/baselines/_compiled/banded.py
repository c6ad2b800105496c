"""Compute forward dynamics of chains with the banded matrix J M^-1 J' of ``baselines/baraff.py``."""

from ....compiler.numba_jit.jit import device, inline
from . import fields as f
from .linear import add, backward, cholesky, clear, copy, dot, each, forward, product
from .system import collect, feel, in_maximal_coordinates, kept, links, move_bodies, own_block, place


@inline
def band_of(I):
    """Return the offset in ``W`` of the banded matrix's entry (0, 0), the stride between rows, and the bandwidth."""
    return I[f.AT_BANDED] + I[f.BAND] - 1, I[f.BAND] - 1, I[f.BAND]


@device
def assemble(I, W):
    """Compute the right-hand side and the lower band of J M^-1 J' + C; rows are ordered from the tip to the base."""
    a, step, width = band_of(I)
    clear(W, I[f.AT_BANDED], I[f.LINES] * width)
    for i in range(1, I[f.BODIES]):
        n, p, line = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[I[f.LINE] + i]
        own_block(I, W, i, a + line * width, step, I[f.AT_LAMBDA] + 6 * I[f.BODIES] + line, True)
        if p:
            # In the banded matrix, the rows of the parent's joint come after the rows of joint i.
            above = I[I[f.LINE] + p]
            for k in range(I[I[f.COUNT] + p]):
                row = a + (above + k) * step
                for c in range(n):
                    W[row + line + c] = -product(W, I[f.AT_HALF_J] + 36 * p + 6 * k, I[f.AT_HALF_P] + 36 * i + 6 * c)


@device
def factorise(I, W):
    if not links(I, W):
        return False
    assemble(I, W)
    a, step, width = band_of(I)
    if not cholesky(W, a, I[f.LINES], step, width):
        I[f.WRONG] = 0
        return False
    forward(W, a, I[f.LINES], step, I[f.AT_LAMBDA] + 6 * I[f.BODIES], width)
    return True


@device
def felt(I, W):
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
    a, step, width = band_of(I)
    for r in range(I[f.ROWS]):
        row_index, z = place(I, r), I[f.AT_Z] + lines * r
        forward(W, a, lines, step, z, width)
        if row_index >= 0:
            W[I[f.AT_MU] + r] += dot(W, z, base, lines)
            for s in range(r + 1):
                if place(I, s) >= 0:
                    W[I[f.AT_SYSTEM] + row_index * n + place(I, s)] -= dot(W, z, I[f.AT_Z] + lines * s, lines)


@device
def release(I, W):
    lines, base = I[f.LINES], I[f.AT_LAMBDA] + 6 * I[f.BODIES]
    for r in range(I[f.ROWS]):
        add(W, base, W[I[f.AT_MU] + r], I[f.AT_Z] + lines * r, lines)
    a, step, width = band_of(I)
    backward(W, a, lines, step, base, width)
    for i in range(1, I[f.BODIES]):
        copy(W, I[f.AT_LAMBDA] + 6 * i, base + I[I[f.LINE] + i], I[I[f.COUNT] + i])
    move_bodies(I, W)


def baraff_chain(I, W, q, v, tau, fext, out, forces):
    return in_maximal_coordinates(I, W, q, v, tau, fext, out, forces, factorise, felt, release)
