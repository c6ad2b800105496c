"""Phases of Moreau's midpoint rule for steps with ground contact; equations (1) to (6) of ``docs/ground.md``.

Kernels call the formulas with numbers. Python code (``simulation``) calls them with arrays that have one entry per
contact or velocity. Functions branch on values only through ``if_less``, so that they can be traced.
"""

from __future__ import annotations

import math

from ...compiler.numba_jit.jit import uncounted, uncounted_inline
from ..directions import Out
from ..numbers.choices import if_less
from ..tables import ground as at


@uncounted_inline
def half_way(h, v):
    """Return the configuration increment from the start to the middle of the step, equation (1)."""
    return 0.5 * h * v


@uncounted_inline
def after(h, v, a):
    """Return the velocity after a time h at acceleration a, equation (2)."""
    return v + h * a


@uncounted_inline
def open_by(gap):
    return if_less(0.0, gap, gap, 0.0)


@uncounted_inline
def strikes(h, u, gap):
    """Return 1 if the free normal velocity u is below -max(gap, 0) / h minus a threshold (equation 3), else 0."""
    return if_less(u + open_by(gap) / h, -at.SUDDEN * h, 1.0, 0.0)


@uncounted_inline
def closing_speed(h, strike, gap):
    """Return a contact's allowed closing speed [m/s] in this step, equation (3); it is 0 if the contact strikes."""
    return (1.0 - strike) * open_by(gap) / h


@uncounted_inline
def delay_of(way, power):
    """Return the time [s] from mid-step to the impulses, equation (5): ``way`` / ``power``, or 0 if ``power`` <= 0."""
    return if_less(0.0, power, way / if_less(0.0, power, power, 1.0), 0.0)


@uncounted_inline
def correction(h, delay, free, v_next):
    """Return the configuration increment from the middle to the end of the step, equation (6)."""
    return 0.5 * h * v_next - delay * (v_next - free)


@uncounted_inline
def normal(numbers, x, y, z):
    return numbers[at.AXES + 6] * x + numbers[at.AXES + 7] * y + numbers[at.AXES + 8] * z


@uncounted_inline
def rising(numbers, velocities, p):
    """Return the velocity [m/s] of point p along the normal of the ground."""
    return normal(numbers, velocities[3 * p], velocities[3 * p + 1], velocities[3 * p + 2])


@uncounted_inline
def higher(x, y):
    return if_less(x, y, y, x)


@uncounted_inline
def size_of(x):
    return if_less(x, 0.0, -x, x)


@uncounted_inline
def along(numbers, a, gram, i, j, k):
    """Return column k of the block (i, j) of J M^-1 J', projected onto axis a of the ground."""
    E = at.AXES + 3 * a
    return numbers[E] * gram[i, j + k] + numbers[E + 1] * gram[i + 1, j + k] + numbers[E + 2] * gram[i + 2, j + k]


@uncounted
def assemble(numbers: Out, gram, near, m, first, A: Out):
    """Write J M^-1 J' of the m active points in ground axes ``first`` to 2, scaled to a mean diagonal entry of 1."""
    size, trace = 3 - first, 0.0
    w = size * m
    for i in range(m):
        for j in range(i, m):
            for a in range(size):
                p, r = 3 * near[i], 3 * near[j]
                x = along(numbers, first + a, gram, p, r, 0)
                y = along(numbers, first + a, gram, p, r, 1)
                z = along(numbers, first + a, gram, p, r, 2)
                for b in range(size):
                    E = at.AXES + 3 * (first + b)
                    entry = x * numbers[E] + y * numbers[E + 1] + z * numbers[E + 2]
                    A[(size * i + a) * w + size * j + b] = entry
                    A[(size * j + b) * w + size * i + a] = entry
        for a in range(size):
            trace += A[(size * i + a) * (w + 1)]
    scale = if_less(0.0, trace, w / if_less(0.0, trace, trace, 1.0), 1.0)
    numbers[at.SCALE] = scale
    for i in range(w * w):
        A[i] *= scale


@uncounted
def relaxation_of(m, A):
    """Return the smallest ratio, over all points, of min(A_xx, A_yy) to the largest tangential eigenvalue."""
    w, least = 3 * m, 1.0
    for i in range(m):
        x, y, z = A[3 * i * (w + 1)], A[(3 * i + 1) * (w + 1)], A[3 * i * (w + 1) + 1]
        largest = 0.5 * (x + y) + math.sqrt(0.25 * (x - y) * (x - y) + z * z)
        ratio = if_less(0.0, largest, if_less(y, x, y, x) / if_less(0.0, largest, largest, 1.0), 1.0)
        least = if_less(ratio, least, ratio, least)
    return least


@uncounted
def right_side(numbers, near, m, h, velocities, gaps, last, g: Out, guess: Out):
    """Write, in ground axes, an initial guess and the right-hand side g, which includes the allowed closing speeds."""
    for i in range(m):
        p = near[i]
        fall, gap = rising(numbers, velocities, p), gaps[p]
        for a in range(3):
            E = at.AXES + 3 * a
            x = closing_speed(h, strikes(h, fall, gap), gap) if a == 2 else 0.0
            for k in range(3):
                x += numbers[E + k] * velocities[3 * p + k]
            g[3 * i + a], guess[3 * i + a] = x, last[3 * p + a] / numbers[at.SCALE]


@uncounted
def write_impulses(numbers, near, m, answer, last: Out, impulses: Out):
    """Write the impulses of ``answer`` to ``last`` in ground axes, and to ``impulses`` in world axes."""
    clear(last)
    clear(impulses)
    for i in range(m):
        p = 3 * near[i]
        for a in range(3):
            l = numbers[at.SCALE] * answer[3 * i + a]
            last[p + a] = l
            for k in range(3):
                impulses[p + k] += l * numbers[at.AXES + 3 * a + k]


@uncounted
def write_pushes(numbers, near, m, h, answer, impulses: Out):
    """Write the normal displacements that move points out of the ground, in axes of the world."""
    clear(impulses)
    for i in range(m):
        l = h * numbers[at.SCALE] * answer[i]
        for k in range(3):
            impulses[3 * near[i] + k] = l * numbers[at.AXES + 6 + k]


@uncounted
def clear(x: Out):
    for i in range(len(x)):
        x[i] = 0.0


@uncounted
def add_response(matrix, near, m, impulses, out: Out):
    """Add to ``out`` the changes that the impulses at the active points cause, equation (4)."""
    for k in range(len(out)):
        x = 0.0
        for i in range(m):
            p = 3 * near[i]
            x += matrix[k, p] * impulses[p] + matrix[k, p + 1] * impulses[p + 1] + matrix[k, p + 2] * impulses[p + 2]
        out[k] += x


@uncounted
def clear_laws(numbers: Out):
    for i in range(at.CONE, at.DELAY + 1):
        numbers[i] = 0.0


@uncounted
def measure(numbers: Out, near, m, h, velocities, gaps, last, A, g, answer):
    """For the impulses in ``answer``, write the residuals of the contact laws, the work, and the delay (equation 5)."""
    scale, mu, gap_sum, power, far = numbers[at.SCALE], numbers[at.FRICTION], 0.0, 0.0, 0.0
    clear_laws(numbers)
    for i in range(m):
        p, k = near[i], 3 * i
        fall, gap = rising(numbers, velocities, p), gaps[p]
        strike = strikes(h, fall, gap)
        x, y, z = last[3 * p], last[3 * p + 1], last[3 * p + 2]
        a, b, c = end_of(m, A, g, answer, k), end_of(m, A, g, answer, k + 1), end_of(m, A, g, answer, k + 2)
        numbers[at.WORK] += 0.5 * (x * (g[k] + a) + y * (g[k + 1] + b) + z * (g[k + 2] + c))
        numbers[at.WORK] -= z * closing_speed(h, strike, gap)
        gap_sum, power = gap_sum + strike * open_by(z) * open_by(gap), power - strike * open_by(z) * fall
        rise = c + mu * math.sqrt(a * a + b * b)
        numbers[at.CONE] = higher(numbers[at.CONE], math.sqrt(x * x + y * y) - mu * z)
        numbers[at.DUAL] = higher(numbers[at.DUAL], -c)
        numbers[at.PRODUCT] = higher(numbers[at.PRODUCT], size_of(x * a + y * b + z * rise))
        far = higher(far, distance(mu, x / scale, y / scale, z / scale, a, b, rise))
    numbers[at.DISTANCE], numbers[at.DELAY] = far, delay_of(gap_sum, power)


@uncounted_inline
def end_of(m, A, g, answer, k):
    u = g[k]
    for j in range(3 * m):
        u += A[3 * m * k + j] * answer[j]
    return u


@uncounted_inline
def distance(mu, x, y, z, a, b, c):
    """Return the largest entry of l - P(l - u); l is the scaled impulse, and P projects onto the friction cone."""
    a, b, c = x - a, y - b, z - c
    side = math.sqrt(a * a + b * b)
    up = open_by((c + mu * side) / (1.0 + mu * mu))
    turn = if_less(mu * c, side, mu * up / higher(side, 1e-300), 1.0)
    error = higher(size_of(x - turn * a), size_of(y - turn * b))
    return higher(error, size_of(z - if_less(mu * c, side, up, c)))
