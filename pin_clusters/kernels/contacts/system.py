"""The small system of contacts: (W' W + damping) force = what they lack, by elimination.

A contact on the axis of the only joint that moves it does not move: the lever arms in its row of W cancel, and rounding
is left. Such a row is redundant, with the force 0. It is found by the size of its product before lever arms cancel:
the sum of |S|^2 / D over all joints, times 1 + |x|^2, which no unit wrench at the point x exceeds. The products of rows
that move are larger than 1e-16 of it, unless masses differ by a factor of more than 1e12; the products that are
rounding are smaller than 1e-30 of it.
"""

from ...compiler.numba_jit.jit import inline
from ..clusters import articulated
from ..force_columns.panel import entry
from ..numbers.choices import if_less, too_small
from ..numbers.memory import get
from ..numbers.spatial import dot3, dot6
from ..numbers.tuples import load3
from ..tables import contacts_layout as at
from ..tables import workspace as ws
from ..tables.layout import FREE, SINGLE
from ..tables.views import body, cluster, contact

TINY = 1e-300  # rows of zeros are redundant as well


@inline
def mobility(index, work, n):
    """Compute the sum of |S|^2 / D over all joints, after the articulated inertias have been factored."""
    total = 0.0
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == SINGLE:
            S = ws.axis(work, C.first)
            total += dot6(S, S) * ws.inverse_D(work, C.first)
        elif C.kind == FREE:
            i0, i1, i2, i3, i4, i5 = ws.base_inverse_d(work, C.first)
            total += i0 + i1 + i2 + i3 + i4 + i5
        else:
            for b in range(C.first, C.last):
                B = body(index, b)
                for k in range(C.nk):
                    if articulated.moves(B.mask, k):
                        S = ws.K_column(work, B.at_K, k)
                        total += dot6(S, S) * ws.D_entry(work, C.at_work, C.nk, k, k)
    return total


@inline
def rounding_of(numbers, K, moves):
    """Compute the product below which a row of a contact is nothing but rounding: products are squares."""
    x = load3(numbers, K.at + at.POINT)
    return at.ROUNDING * at.ROUNDING * moves * (1.0 + dot3(x, x))


@inline
def clear_rounding(asked, numbers, A, gram, moves):
    """Write zeros to the rows and columns that are nothing but rounding."""
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first, rounding = entry(asked, K.column0).iv, rounding_of(numbers, K, moves)
        for r in range(K.rows):
            i = first + r
            kept = if_less(gram[i, i], rounding, 0.0, 1.0)
            for j in range(i):
                gram[j, i] *= kept
            for j in range(i, A.width):
                gram[i, j] *= kept


@inline
def complete(asked, numbers, A, gram, moves):
    """Make the column behind the contacts' what they lack, of what happens without them; add the damping.

    The row behind the contacts' keeps the diagonal, enlarged such that a pivot that is rounding is too small beside it.
    Returns the largest entry of the diagonal.
    """
    largest, accuracy = 0.0, get(numbers, at.ACCURACY)
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first, rounding = entry(asked, K.column0).iv, rounding_of(numbers, K, moves) / accuracy
        for r in range(K.rows):
            i = first + r
            gram[i, i] += get(numbers, at.DAMPING)
            gram[A.columns, i] = gram[i, i] + rounding
            largest = if_less(largest, gram[i, i], gram[i, i], largest)
            gram[i, A.columns] = get(numbers, K.at + at.MISSING + r) - gram[i, A.columns]
    return largest


@inline
def eliminate(numbers, A, gram, largest):
    """Eliminate one row after the other, leaving inverse pivots; returns whether a row is redundant.

    A row is also redundant if its own product is rounding, beside the largest one or beside its own lever arms.
    """
    redundant, accuracy = False, get(numbers, at.ACCURACY)
    for k in range(A.columns):
        pivot, own = gram[k, k], gram[A.columns, k]
        smallest = accuracy * own + TINY
        if too_small(pivot, smallest) or too_small(own, accuracy * accuracy * largest):
            redundant = True
        inverse = 1.0 / if_less(pivot, smallest, 1.0, pivot)
        for i in range(k + 1, A.columns):
            f = gram[k, i] * inverse  # symmetric: what stands before the diagonal is never read
            for j in range(i, A.columns + 1):
                gram[i, j] -= gram[k, j] * f
        gram[k, k] = inverse
    return redundant


@inline
def solve(A, gram):
    """Write the forces to the row behind the contacts', then a one for what happens without them."""
    m = A.columns
    for k in range(m):
        i = m - 1 - k
        x = gram[i, m]
        for r in range(k):
            j = m - 1 - r
            x -= gram[i, j] * gram[m, j]
        gram[m, i] = x * gram[i, i]
    behind(A, gram)


@inline
def take(A, forces, gram):
    """Write given forces there."""
    for i in range(A.columns):
        gram[A.columns, i] = get(forces, i)
    behind(A, gram)


@inline
def behind(A, gram):
    """Write a one behind the forces, for what happens without them."""
    gram[A.columns, A.columns] = 1.0
