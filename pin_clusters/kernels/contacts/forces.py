"""Solves dense, possibly redundant or damped equations A x = b for contact forces, directly or iteratively."""

from math import sqrt

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import borrowed, get, put
from ..tables.contacts_layout import (
    ABSOLUTE,
    CONTRADICTION,
    ITERATED,
    KIND,
    MOST_ITERATIONS,
    MU,
    REDUNDANT,
    RELATIVE,
    ROUNDING,
    TOLD,
    UNUSUAL,
    WHEN_REDUNDANT,
)
from ..tables.layout import OK
from .system import TINY

EPSILON = 2.0**-52


@inline
def factor(gram, m, mu, accuracy, at_least, L: Out):
    """Factor A + mu = L^T D L with ones on the diagonal of L; write D L by rows, with inverse pivots on its diagonal.

    Return True if each pivot exceeds ``accuracy`` times its diagonal entry, and each diagonal entry exceeds
    ``at_least`` times the largest diagonal entry. If the result is False, the factors are invalid. The upper half of
    gram contains A, shape (m, m).
    """
    regular, largest = True, 0.0
    for i in range(m):
        largest = max(largest, gram[i, i] + mu)
        for j in range(i, m):
            put(L, i * m + j, gram[i, j])
        put(L, i * m + i, gram[i, i] + mu)
    for k in range(m):
        pivot, diagonal = get(L, k * m + k), gram[k, k] + mu
        if not (pivot > accuracy * diagonal + TINY and diagonal > at_least * largest):
            regular = False
        inverse = 1.0 / pivot if regular else 0.0
        for i in range(k + 1, m):
            f = get(L, k * m + i) * inverse
            for j in range(i, m):
                put(L, i * m + j, get(L, i * m + j) - get(L, k * m + j) * f)
        put(L, k * m + k, inverse)
    return regular


@inline
def solve_factored(L, m, x: Out, first):
    """Solve the factored equations in place for m entries of x, starting at entry ``first``."""
    for i in range(m):
        y = get(x, first + i)
        for k in range(i):
            y -= get(L, k * m + i) * (get(L, k * m + k) * get(x, first + k))
        put(x, first + i, y)
    for r in range(m):
        i = m - 1 - r
        y = get(x, first + i)
        for j in range(i + 1, m):
            y -= get(L, i * m + j) * get(x, first + j)
        put(x, first + i, y * get(L, i * m + i))


@inline
def invert_factored(L, m, scale, out: Out, first):
    """Write ``scale`` times the inverse of the factored matrix to out, starting at row and column ``first``.

    Let U = D L, so that the inverse X satisfies U X = (L^T)^-1. This right-hand side has a unit diagonal and zeros
    above the diagonal. Therefore, back substitution from the last row yields X.
    """
    for r in range(m):
        i = m - 1 - r
        for s in range(r + 1):
            j, total = m - 1 - s, 0.0
            if j == i:
                total = scale
            for k in range(i + 1, m):
                total -= get(L, i * m + k) * out[first + k, first + j]
            out[first + i, first + j] = out[first + j, first + i] = total * get(L, i * m + i)


@inline
def entry_of(A, i, j):
    return A[i, j] if i < j else A[j, i]


@inline
def residual(gram, m, x, first):
    """Return the largest absolute entry of A x - b; gram contains A (upper half) and b (last column)."""
    largest = 0.0
    for i in range(m):
        r = -gram[i, m]
        for j in range(m):
            r += entry_of(gram, i, j) * get(x, first + j)
        largest = max(largest, abs(r))
    return largest


@inline
def least_norm(gram, m, scratch: Out, x: Out):
    """Write the minimum-norm least-squares solution of A x = b; return the rank.

    The solution is x = C (C^T C)^-2 C^T b, where A = C C^T is the pivoted Cholesky factorization. The upper half of
    gram contains A; the last column of gram contains b. scratch is a workspace of 2 m^2 + 2 m numbers.
    """
    at_factor, remainders, middle = m * m, 2 * m * m, 2 * m * m + m
    largest, rank = 0.0, 0
    for i in range(m):
        put(scratch, remainders + i, gram[i, i])
        largest = max(largest, gram[i, i])
    for r in range(m):
        pivot = 0
        for i in range(m):
            if get(scratch, remainders + i) > get(scratch, remainders + pivot):
                pivot = i
        remainder = get(scratch, remainders + pivot)
        if not remainder > 100.0 * m * EPSILON * largest + TINY:
            break
        root = sqrt(remainder)
        for i in range(m):
            c = 0.0
            if i == pivot:
                c = root
            elif get(scratch, remainders + i) > -1.0:
                c = entry_of(gram, i, pivot)
                for k in range(r):
                    c -= get(scratch, i * m + k) * get(scratch, pivot * m + k)
                c /= root
                put(scratch, remainders + i, max(0.0, get(scratch, remainders + i) - c * c))
            put(scratch, i * m + r, c)
        put(scratch, remainders + pivot, -2.0)  # marks a used pivot; the later entries of C in this row are zero
        rank += 1
    # Compute the upper half of C^T C, and C^T b.
    for r in range(rank):
        for s in range(r, rank):
            c = 0.0
            for i in range(m):
                c += get(scratch, i * m + r) * get(scratch, i * m + s)
            put(scratch, at_factor + r * rank + s, c)
        c = 0.0
        for i in range(m):
            c += get(scratch, i * m + r) * gram[i, m]
        put(scratch, middle + r, c)
    for k in range(rank):
        inverse = 1.0 / get(scratch, at_factor + k * rank + k)
        for i in range(k + 1, rank):
            f = get(scratch, at_factor + k * rank + i) * inverse
            for j in range(i, rank):
                entry = at_factor + i * rank + j
                put(scratch, entry, get(scratch, entry) - get(scratch, at_factor + k * rank + j) * f)
        put(scratch, at_factor + k * rank + k, inverse)
    for _ in range(2):
        solve_factored(scratch[at_factor:], rank, scratch, middle)
    for i in range(m):
        c = 0.0
        for r in range(rank):
            c += get(scratch, i * m + r) * get(scratch, middle + r)
        put(x, i, c)
    return rank


@inline
def iterate(gram, m, how, most, L, scratch: Out, x: Out):
    """Run Pinocchio's proximal iteration (A + mu) x_new = b + mu x from x = 0, with the factors L of A + mu."""
    mu = get(how, MU)
    for i in range(m):
        put(x, i, 0.0)
    for _ in range(most):
        for i in range(m):
            put(scratch, i, gram[i, m] + mu * get(x, i))
        solve_factored(L, m, scratch, 0)
        change = 0.0
        for i in range(m):
            change = max(change, abs(get(scratch, i) - get(x, i)))
            put(x, i, get(scratch, i))
        if residual(gram, m, x, 0) <= get(how, ABSOLUTE) or change <= get(how, RELATIVE):
            break


@inline
def solve_system(gram, how, counts, scratch: Out, forces: Out, found: Out):
    """Solve (O6) for the forces by the method that the settings specify.

    The upper half of ``gram``, (m + 1) x (m + 1), contains A = J M^-1 J^T; its last column contains b. ``how`` contains
    the settings (``contacts_layout``), and ``counts`` is a view of ``how`` as int64. ``scratch`` is a workspace of
    2 m^2 + 2 m numbers. ``found`` receives the rank, the largest entry of A x - b, and the damping of the solution (0
    if the forces were computed iteratively).

    Return 0, REDUNDANT if the equations are dependent although the settings require independent equations, or
    CONTRADICTION if redundant equations are inconsistent and the user has not been warned. Return UNUSUAL if Python
    must compute the forces: A is not finite, mu < 0, or KIND is WHEN_REDUNDANT without redundancy.
    """
    m = forces.shape[0]
    total, mu, kind = 0.0, get(how, MU), counts[KIND]
    for i in range(m):
        for j in range(i, m + 1):
            total += gram[i, j] * 0.0
    if total != 0.0 or not mu >= 0.0:
        return UNUSUAL
    iterations = counts[MOST_ITERATIONS] & 0xFFFFFFFF
    iterations = 0 if iterations > 0x7FFFFFFF else iterations
    put(found, 2, 0.0 if kind == ITERATED and iterations > 1 else mu)
    rough = 1e6 * m * EPSILON
    fine = 1e2 * m * EPSILON
    if kind == ITERATED or mu > 0.0:
        if not factor(gram, m, mu, fine if mu == 0.0 else 0.0, 0.0, scratch):
            return REDUNDANT
        if kind == ITERATED:
            iterate(gram, m, how, iterations, scratch, scratch[m * m :], forces)
    else:
        independent = factor(gram, m, 0.0, rough, rough * rough, scratch)
        if independent and kind == WHEN_REDUNDANT:
            return UNUSUAL
        if not independent:
            put(found, 0, least_norm(gram, m, scratch, forces))
            put(found, 1, residual(gram, m, forces, 0))
            largest = 1.0
            for i in range(m):
                largest = max(largest, abs(gram[i, m]))
            if get(found, 0) < m and get(found, 1) > 1e-6 * largest and counts[TOLD] == 0:
                return CONTRADICTION
            return OK
    if kind != ITERATED:
        for i in range(m):
            put(forces, i, gram[i, m])
        solve_factored(scratch, m, forces, 0)
    put(found, 0, m)
    put(found, 1, residual(gram, m, forces, 0))
    return OK


def contact_forces_at(gram, how, counts, scratch, forces, found: Out):
    return solve_system(gram, how, counts, borrowed(scratch), borrowed(forces), found)


def row_forces_at(J, response, free, drift, scale, how, counts, gram: Out, scratch, forces, found: Out, out: Out):
    """Compute forces for which x = free + M^-1 J^T forces satisfies J (x + scale free) + drift = 0; write x to out.

    J is the constraint Jacobian, m x nv, and ``response`` is M^-1 J^T. ``free`` contains accelerations without forces,
    or velocities before an impact. ``scale`` contains the coefficient of restitution, or 0. ``gram`` is an output,
    (m + 1) x (m + 1). The remaining arguments and the return code are as in ``solve_system``. If no joint moves a
    point, its equations consist of rounding errors and are treated as redundant.
    """
    m, n, largest = J.shape[0], J.shape[1], 1.0
    for i in range(m):
        gram[m, i] = 0.0
        for k in range(n):
            gram[m, i] = max(gram[m, i], abs(J[i, k]))
        largest = max(largest, gram[m, i])
    for i in range(m):
        gram[m, i] = 1.0 if gram[m, i] > ROUNDING * largest else 0.0
    for i in range(m):
        for j in range(i, m):
            upper, lower = 0.0, 0.0
            for k in range(n):
                upper += J[i, k] * response[k, j]
                lower += J[j, k] * response[k, i]
            gram[i, j] = 0.5 * (upper + lower) * (gram[m, i] * gram[m, j])
        b = 0.0
        for k in range(n):
            b += J[i, k] * get(free, k)
        gram[i, m] = -get(drift, i) - (1.0 + get(scale, 0)) * b
    code = solve_system(gram, how, counts, borrowed(scratch), borrowed(forces), found)
    for k in range(n):
        x = get(free, k)
        for i in range(m):
            x += response[k, i] * get(forces, i)
        put(out, k, x)
    return code


def contact_inverse_at(gram, mu, scale, scratch: Out, out: Out):
    """Write ``scale`` times the inverse of A + mu to out, m x m; the upper half of gram contains A.

    Return 0, REDUNDANT if A + mu is singular, or UNUSUAL if mu is negative. scratch is a workspace of m^2 numbers.
    """
    m, damping = out.shape[0], get(mu, 0)
    if not damping >= 0.0:
        return UNUSUAL
    if not factor(gram, m, damping, 1e2 * m * EPSILON if damping == 0.0 else 0.0, 0.0, scratch):
        return REDUNDANT
    invert_factored(scratch, m, get(scale, 0), out, 0)
    return OK
