"""Forces of contacts by dense equations A x = b, for rows that are redundant, damped, or solved by iteration."""

from math import sqrt

from ...compiler.numba_jit.jit import inline
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
def factor(gram, m, mu, accuracy, at_least, L):
    """Write L' D L of A + mu: rows of the upper half, with inverse pivots; returns whether all pivots are large enough.

    Args:
        gram: Its upper half is that of A.
        m: Number of rows.
        mu: Damping.
        accuracy: Share of its own diagonal entry that a pivot must exceed.
        at_least: Share of the largest diagonal entry that each one must exceed.
        L: Written, m x m.
    """
    regular, largest = True, 0.0
    for i in range(m):
        largest = max(largest, gram[i, i] + mu)
        for j in range(i, m):
            put(L, i * m + j, gram[i, j])
        put(L, i * m + i, gram[i, i] + mu)
    for k in range(m):
        pivot, own = get(L, k * m + k), gram[k, k] + mu
        if not (pivot > accuracy * own + TINY and own > at_least * largest):
            regular = False
        inverse = 1.0 / pivot if regular else 0.0  # the result is of no use then
        for i in range(k + 1, m):
            f = get(L, k * m + i) * inverse
            for j in range(i, m):
                put(L, i * m + j, get(L, i * m + j) - get(L, k * m + j) * f)
        put(L, k * m + k, inverse)
    return regular


@inline
def solve_factored(L, m, x, first):
    """Solve in place, of the numbers of x from ``first`` on."""
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
def invert_factored(L, m, scale, out, first):
    """Write the inverse, times a scale, to out from row and column ``first`` on.

    With L' D L = L' U, U X = (L')^-1 has ones on the diagonal and zeros above it, so that the rows of X follow from the
    last one on.
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
    """An entry of a symmetric matrix, of which there is the upper half."""
    return A[i, j] if i < j else A[j, i]


@inline
def residual(gram, m, x, first):
    """The largest entry of A x - b."""
    largest = 0.0
    for i in range(m):
        r = -gram[i, m]
        for j in range(m):
            r += entry_of(gram, i, j) * get(x, first + j)
        largest = max(largest, abs(r))
    return largest


@inline
def least_norm(gram, m, room, x):
    """Write the solution of least norm, of those that come nearest to b; returns the rank.

    With A = C C', where C is a factor of Cholesky of as many columns as the rank, x = C (C' C)^-2 C' b.

    Args:
        gram: Upper half of A, with b behind it.
        m: Number of rows.
        room: Of 2 m m + 2 m numbers.
        x: Written.
    """
    at_factor, left, middle = m * m, 2 * m * m, 2 * m * m + m
    largest, rank = 0.0, 0
    for i in range(m):
        put(room, left + i, gram[i, i])
        largest = max(largest, gram[i, i])
    for r in range(m):
        pivot = 0
        for i in range(m):
            if get(room, left + i) > get(room, left + pivot):
                pivot = i
        rest = get(room, left + pivot)
        if not rest > 100.0 * m * EPSILON * largest + TINY:
            break
        root = sqrt(rest)
        for i in range(m):
            c = 0.0
            if i == pivot:
                c = root
            elif get(room, left + i) > -1.0:
                c = entry_of(gram, i, pivot)
                for k in range(r):
                    c -= get(room, i * m + k) * get(room, pivot * m + k)
                c /= root
                put(room, left + i, max(0.0, get(room, left + i) - c * c))
            put(room, i * m + r, c)
        put(room, left + pivot, -2.0)  # used: the rows behind have none of it
        rank += 1
    # C' C, of which only the upper half is read, and C' b
    for r in range(rank):
        for s in range(r, rank):
            c = 0.0
            for i in range(m):
                c += get(room, i * m + r) * get(room, i * m + s)
            put(room, at_factor + r * rank + s, c)
        c = 0.0
        for i in range(m):
            c += get(room, i * m + r) * gram[i, m]
        put(room, middle + r, c)
    for k in range(rank):
        inverse = 1.0 / get(room, at_factor + k * rank + k)
        for i in range(k + 1, rank):
            f = get(room, at_factor + k * rank + i) * inverse
            for j in range(i, rank):
                at = at_factor + i * rank + j
                put(room, at, get(room, at) - get(room, at_factor + k * rank + j) * f)
        put(room, at_factor + k * rank + k, inverse)
    for _ in range(2):
        solve_factored(room[at_factor:], rank, room, middle)
    for i in range(m):
        c = 0.0
        for r in range(rank):
            c += get(room, i * m + r) * get(room, middle + r)
        put(x, i, c)
    return rank


@inline
def iterate(gram, m, how, most, L, room, x):
    """Proximal iteration of Pinocchio, with factors of A + mu: (A + mu) new = b + mu x, from x = 0 on."""
    mu = get(how, MU)
    for i in range(m):
        put(x, i, 0.0)
    for _ in range(most):
        for i in range(m):
            put(room, i, gram[i, m] + mu * get(x, i))
        solve_factored(L, m, room, 0)
        change = 0.0
        for i in range(m):
            change = max(change, abs(get(room, i) - get(x, i)))
            put(x, i, get(room, i))
        if residual(gram, m, x, 0) <= get(how, ABSOLUTE) or change <= get(how, RELATIVE):
            break


@inline
def solve_system(gram, how, counts, room, forces, found):
    """Write the forces, then the rank and the largest entry of A x - b.

    Args:
        gram: Of m + 1 rows and columns: the upper half of A = J M^-1 J', with b behind it, as ``contacts`` leaves it.
        how: Settings, see ``contacts_layout``.
        counts: The same memory as whole numbers.
        room: Of 2 m m + 2 m numbers.
        forces: Written, m numbers.
        found: Written: rank, largest entry of A x - b, and the damping of the solution, 0 if an iteration removes it.

    Returns:
        0; REDUNDANT, where rows must be independent; CONTRADICTION, where redundant rows ask for what cannot be, and
        that was not told; UNUSUAL, where the forces are left to Python, as A is not finite or its rows independent.
    """
    m = forces.shape[0]
    total, mu, kind = 0.0, get(how, MU), counts[KIND]
    for i in range(m):
        for j in range(i, m + 1):
            total += gram[i, j] * 0.0
    if total != 0.0 or not mu >= 0.0:
        return UNUSUAL
    most = counts[MOST_ITERATIONS] & 0xFFFFFFFF
    most = 0 if most > 0x7FFFFFFF else most
    put(found, 2, 0.0 if kind == ITERATED and most > 1 else mu)
    rough = 1e6 * m * EPSILON
    fine = 1e2 * m * EPSILON
    if kind == ITERATED or mu > 0.0:
        if not factor(gram, m, mu, fine if mu == 0.0 else 0.0, 0.0, room):
            return REDUNDANT
        if kind == ITERATED:
            iterate(gram, m, how, most, room, room[m * m :], forces)
    else:
        independent = factor(gram, m, 0.0, rough, rough * rough, room)
        if independent and kind == WHEN_REDUNDANT:
            return UNUSUAL
        if not independent:
            put(found, 0, least_norm(gram, m, room, forces))
            put(found, 1, residual(gram, m, forces, 0))
            asked = 1.0
            for i in range(m):
                asked = max(asked, abs(gram[i, m]))
            if get(found, 0) < m and get(found, 1) > 1e-6 * asked and counts[TOLD] == 0:
                return CONTRADICTION
            return OK
    if kind != ITERATED:
        for i in range(m):
            put(forces, i, gram[i, m])
        solve_factored(room, m, forces, 0)
    put(found, 0, m)
    put(found, 1, residual(gram, m, forces, 0))
    return OK


def contact_forces_at(gram, how, counts, room, forces, found):
    """Find the forces of a system; arguments and result as of ``solve_system``."""
    return solve_system(gram, how, counts, borrowed(room), borrowed(forces), found)


def row_forces_at(J, response, free, drift, scale, how, counts, gram, room, forces, found, out):
    """Find forces at rows J of a constraint, of which J x + drift = 0 is asked, x = free + M^-1 J' force.

    Rows that are nothing but rounding, as they belong to points that no joint moves, are redundant.

    Args:
        J: Rows, m x nv.
        response: M^-1 J', nv x m.
        free: Accelerations without forces, or velocities before an impact.
        drift: m numbers.
        scale: One number: by what J free counts more than once.
        gram: Written: m + 1 rows and columns.
        how, counts, room, forces, found: As of ``solve_system``.
        out: Written: accelerations, or velocities after the impact.
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
            one, other = 0.0, 0.0
            for k in range(n):
                one += J[i, k] * response[k, j]
                other += J[j, k] * response[k, i]
            gram[i, j] = 0.5 * (one + other) * (gram[m, i] * gram[m, j])
        b = 0.0
        for k in range(n):
            b += J[i, k] * get(free, k)
        gram[i, m] = -get(drift, i) - (1.0 + get(scale, 0)) * b
    code = solve_system(gram, how, counts, borrowed(room), borrowed(forces), found)
    for k in range(n):
        x = get(free, k)
        for i in range(m):
            x += response[k, i] * get(forces, i)
        put(out, k, x)
    return code


def contact_inverse_at(gram, mu, scale, room, out):
    """Write the inverse of A + mu, times a scale.

    Args:
        gram: Its upper half is that of A.
        mu: Damping, one number.
        scale: One number.
        room: Of m m numbers.
        out: Written, m x m.

    Returns:
        0; REDUNDANT if there is no inverse; UNUSUAL if mu is negative.
    """
    m, damping = out.shape[0], get(mu, 0)
    if not damping >= 0.0:
        return UNUSUAL
    if not factor(gram, m, damping, 1e2 * m * EPSILON if damping == 0.0 else 0.0, 0.0, room):
        return REDUNDANT
    invert_factored(room, m, get(scale, 0), out, 0)
    return OK
