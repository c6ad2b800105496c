"""Factorization L D L' and solution of the symmetric 6x6 systems of a free-flying base."""

from ...compiler.numba_jit.jit import inline
from .tuples import Vec6


@inline
def sym6_factor(I):
    """Factor a symmetric spatial matrix as L D L'; return 1/d0..1/d5, d0..d5, and 15 entries of L row by row."""
    d0 = I[0]
    i0 = 1.0 / d0
    l10, l20, l30, l40, l50 = I[1] * i0, I[2] * i0, I[6] * i0, I[7] * i0, I[8] * i0
    d1 = I[3] - l10 * I[1]
    i1 = 1.0 / d1
    a21, a31, a41, a51 = I[4] - l20 * I[1], I[9] - l30 * I[1], I[10] - l40 * I[1], I[11] - l50 * I[1]
    l21, l31, l41, l51 = a21 * i1, a31 * i1, a41 * i1, a51 * i1
    d2 = I[5] - l20 * I[2] - l21 * a21
    i2 = 1.0 / d2
    a32 = I[12] - l30 * I[2] - l31 * a21
    a42 = I[13] - l40 * I[2] - l41 * a21
    a52 = I[14] - l50 * I[2] - l51 * a21
    l32, l42, l52 = a32 * i2, a42 * i2, a52 * i2
    d3 = I[15] - l30 * I[6] - l31 * a31 - l32 * a32
    i3 = 1.0 / d3
    a43 = I[16] - l40 * I[6] - l41 * a31 - l42 * a32
    a53 = I[17] - l50 * I[6] - l51 * a31 - l52 * a32
    l43, l53 = a43 * i3, a53 * i3
    d4 = I[18] - l40 * I[7] - l41 * a41 - l42 * a42 - l43 * a43
    i4 = 1.0 / d4
    a54 = I[19] - l50 * I[7] - l51 * a41 - l52 * a42 - l53 * a43
    l54 = a54 * i4
    d5 = I[20] - l50 * I[8] - l51 * a51 - l52 * a52 - l53 * a53 - l54 * a54
    i5 = 1.0 / d5
    return (
        (i0, i1, i2, i3, i4, i5),
        (d0, d1, d2, d3, d4, d5),
        (l10, l20, l21, l30, l31, l32, l40, l41, l42, l43, l50, l51, l52, l53, l54),
    )


@inline
def sym6_lower(L, b):
    l10, l20, l21, l30, l31, l32, l40, l41, l42, l43, l50, l51, l52, l53, l54 = L
    y0 = b[0]
    y1 = b[1] - l10 * y0
    y2 = b[2] - l20 * y0 - l21 * y1
    y3 = b[3] - l30 * y0 - l31 * y1 - l32 * y2
    y4 = b[4] - l40 * y0 - l41 * y1 - l42 * y2 - l43 * y3
    y5 = b[5] - l50 * y0 - l51 * y1 - l52 * y2 - l53 * y3 - l54 * y4
    return Vec6(y0, y1, y2, y3, y4, y5)


@inline
def sym6_upper(L, y):
    l10, l20, l21, l30, l31, l32, l40, l41, l42, l43, l50, l51, l52, l53, l54 = L
    x5 = y[5]
    x4 = y[4] - l54 * x5
    x3 = y[3] - l43 * x4 - l53 * x5
    x2 = y[2] - l32 * x3 - l42 * x4 - l52 * x5
    x1 = y[1] - l21 * x2 - l31 * x3 - l41 * x4 - l51 * x5
    x0 = y[0] - l10 * x1 - l20 * x2 - l30 * x3 - l40 * x4 - l50 * x5
    return Vec6(x0, x1, x2, x3, x4, x5)


@inline
def entrywise(a, b):
    return Vec6(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3], a[4] * b[4], a[5] * b[5])


@inline
def sym6_solve(inverse_d, L, b):
    """Solve L D L' x = b."""
    return sym6_upper(L, entrywise(sym6_lower(L, b), inverse_d))
