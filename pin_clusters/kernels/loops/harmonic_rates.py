"""Computes higher derivatives (L6), (L7) of harmonic closures with respect to the angles, once for all columns.

A term is a product of at most three factors, each a function of one angle. Its derivatives with respect to the angles
are also products; truncated Taylor series in time give the time derivatives of these products.
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get, increase, put, put_zeros
from ..numbers.tuples import load3
from ..tables import layout as at
from ..tables.layout import ANGLE_SCRATCH
from ..tables.sizes import harmonic_scratch
from ..tables.views import on_angle, term_row, velocity_row

_harmonic_scratch = inline(harmonic_scratch)


@inline
def layout_of(r, nk):
    return _harmonic_scratch(r.scratch, r.angles, r.rows, nk)


@inline
def third_derivative(r, factor):
    """Return the ratio of third to first derivative of a factor: -1 for sines and cosines, 0 for angles."""
    return 0.0 if (factor - r.scratch) % ANGLE_SCRATCH == at.IDENTITY else -1.0


@inline
def series(work, r, slope, factor):
    """Return a factor and its derivative with respect to its angle, each with the first two time derivatives."""
    f, u, du = load3(work, factor), get(work, slope), get(work, slope + r.angles)
    turned = f[1], f[2] * u, third_derivative(r, factor) * f[1] * u * u + f[2] * du
    return (f[0], f[1] * u, f[2] * u * u + f[1] * du), turned


@inline
def product(a, b):
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]


@inline
def add_rate(work, r, R, row, slope, x, s, second):
    """Add x s[1] and, if ``second``, x s[2] to the time derivatives of an equation's derivative by an angle."""
    i = row * r.angles + slope - R.slopes
    increase(work, R.rates + i, x * s[1])
    if second:
        increase(work, R.second_rates + i, x * s[2])


@inline
def turn_angles(index, params, work, r, R, nk):
    """Write the velocity and acceleration of each angle, and its rate for each unit independent velocity."""
    n = r.angles
    put_zeros(work, R.slopes, 2 * n)
    put_zeros(work, R.changes, nk * n)
    for p in range(r.part0, r.part1):
        part = on_angle(index, p)
        V, x = velocity_row(index, part.velocity), get(params, part.at)
        increase(work, part.slope, x * get(work, V.at_rate))
        increase(work, part.slope + n, x * get(work, V.at_acceleration))
        for k in range(nk):
            increase(work, R.changes + k * n + part.slope - R.slopes, x * get(work, V.at_G + k))


@inline
def rates_by_angles(index, params, work, r, nk, second):
    """Write the first and, if ``second``, the second time derivatives of the equations' derivatives by the angles."""
    R = layout_of(r, nk)
    turn_angles(index, params, work, r, R, nk)
    put_zeros(work, R.rates, 2 * r.rows * r.angles)
    for t in range(r.term0, r.term1):
        T = term_row(index, t)
        x, (a, da) = get(params, T.at), series(work, r, T.slope0, T.factor0)
        if T.factors == 1:
            add_rate(work, r, R, T.row, T.slope0, x, da, second)
        elif T.factors > 1:
            b, db = series(work, r, T.slope1, T.factor1)
            if T.factors == 3:
                c, dc = series(work, r, T.slope2, T.factor2)
                add_rate(work, r, R, T.row, T.slope2, x, product(product(a, b), dc), second)
                a, da = product(a, c), product(da, c)
            add_rate(work, r, R, T.row, T.slope0, x, product(da, b), second)
            add_rate(work, r, R, T.row, T.slope1, x, product(a, db), second)


@inline
def rates_by_joints(index, params, work, r, row, width, nk):
    R, n = layout_of(r, nk), r.angles
    for p in range(r.part0, r.part1):
        part = on_angle(index, p)
        x, a = get(params, part.at), part.slope - R.slopes
        for i in range(r.rows):
            increase(work, row + i * width + part.column, x * get(work, R.rates + i * n + a))


@inline
def harmonic_row(index, params, work, r, to, k, nk):
    """Write the right-hand sides (L6) for ddG_k of a harmonic closure; call ``rates_by_angles`` first."""
    R, n = layout_of(r, nk), r.angles
    put_zeros(work, R.slopes + 3 * n, n)
    for p in range(r.part0, r.part1):
        part = on_angle(index, p)
        change = get(work, velocity_row(index, part.velocity).at_dG + k)
        increase(work, part.slope + 3 * n, get(params, part.at) * change)
    for i in range(r.rows):
        total = 0.0
        for a in range(n):
            w, rate = get(work, R.changes + k * n + a), get(work, R.rates + i * n + a)
            total += get(work, R.second_rates + i * n + a) * w + 2.0 * rate * get(work, R.slopes + 3 * n + a)
        put(work, to + i, total)


@inline
def add_bend(work, r, R, one, other, x):
    """Add x to the second derivative by two angles; ``one`` and ``other`` are ``work`` offsets of their slopes."""
    increase(work, R.bends + (one - R.slopes) * r.angles + other - R.slopes, x)


@inline
def add_bends(work, r, R, one, other, x):
    """Add x to a second derivative and to its transposed entry, which is the same entry if both angles are equal."""
    add_bend(work, r, R, one, other, x)
    add_bend(work, r, R, other, one, x)


@inline
def bends_by_angles(index, params, work, r, nk, values):
    """Write the second derivatives of the equations by the angles, weighted by the multipliers and summed."""
    R = layout_of(r, nk)
    put_zeros(work, R.bends, r.angles * r.angles)
    for t in range(r.term0, r.term1):
        T = term_row(index, t)
        x, f = get(params, T.at) * get(work, values + T.row), load3(work, T.factor0)
        if T.factors == 1:
            add_bend(work, r, R, T.slope0, T.slope0, x * f[2])
        elif T.factors > 1:
            g = load3(work, T.factor1)
            if T.factors == 3:
                h = load3(work, T.factor2)
                add_bend(work, r, R, T.slope2, T.slope2, x * f[0] * g[0] * h[2])
                add_bends(work, r, R, T.slope0, T.slope2, x * f[1] * g[0] * h[1])
                add_bends(work, r, R, T.slope1, T.slope2, x * f[0] * g[1] * h[1])
                x *= h[0]
            add_bend(work, r, R, T.slope0, T.slope0, x * f[2] * g[0])
            add_bends(work, r, R, T.slope0, T.slope1, x * f[1] * g[1])
            add_bend(work, r, R, T.slope1, T.slope1, x * f[0] * g[2])


@inline
def bend_along(work, r, nk, k, m):
    """Return the second derivative of the equations along columns k and m, weighted by multipliers and summed (L7)."""
    R, n, total = layout_of(r, nk), r.angles, 0.0
    for a in range(n):
        x = 0.0
        for b in range(n):
            x += get(work, R.bends + a * n + b) * get(work, R.changes + m * n + b)
        total += x * get(work, R.changes + k * n + a)
    return total
