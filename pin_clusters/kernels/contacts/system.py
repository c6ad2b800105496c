"""Solves the contact equations (W^T W + mu) lambda = gamma - W^T w (O6) by elimination.

If only one joint moves a body, a contact point on the axis of this joint does not move. The columns of W for this point
contain only rounding errors. The point's equations are then redundant, and its force is zero. To detect this case, a
diagonal entry of W^T W is compared with its bound (sum of |S|^2 / D over all joints) (1 + |x|^2), where x is the
contact point. The ratio is above 1e-16 for points that move, unless masses differ by a factor of more than 1e12;
rounding errors stay below 1e-30.
"""

from ...compiler.numba_jit.jit import inline
from ..clusters import articulated
from ..directions import Out
from ..force_columns.panel import entry
from ..numbers.choices import if_less, too_small
from ..numbers.memory import get
from ..numbers.spatial import dot3, dot6
from ..numbers.tuples import load3
from ..tables import contacts_layout as at
from ..tables import workspace as ws
from ..tables.layout import FREE, SINGLE
from ..tables.views import body, cluster, contact

TINY = 1e-300  # added to each bound, so that an equation whose entries are all zero counts as redundant


@inline
def mobility(index, work, n):
    """Return the sum of |S|^2 / D over all joints; the articulated inertias must already be factored."""
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
    """Return the diagonal entry, proportional to ROUNDING^2, below which an equation consists of rounding errors."""
    x = load3(numbers, K.at + at.POINT)
    return at.ROUNDING * at.ROUNDING * moves * (1.0 + dot3(x, x))


@inline
def clear_rounding(asked, numbers, A, gram: Out, moves):
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first, rounding = entry(asked, K.column0).iv, rounding_of(numbers, K, moves)
        for r in range(K.rows):
            i = first + r
            factor = if_less(gram[i, i], rounding, 0.0, 1.0)
            for j in range(i):
                gram[j, i] *= factor
            for j in range(i, A.width):
                gram[i, j] *= factor


@inline
def complete(asked, numbers, A, gram: Out, moves):
    """Write the right-hand side gamma - W^T w to the last column; add the damping; return the largest diagonal entry.

    The last row receives each diagonal entry plus a rounding bound; ``eliminate`` compares the pivots with these sums.
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
def eliminate(numbers, A, gram: Out, largest):
    """Factor the matrix in place, with inverse pivots on the diagonal; return whether an equation is redundant.

    An equation is redundant if its pivot, or its diagonal entry relative to the largest one, is a rounding error.
    """
    redundant, accuracy = False, get(numbers, at.ACCURACY)
    for k in range(A.columns):
        pivot, diagonal = gram[k, k], gram[A.columns, k]
        smallest = accuracy * diagonal + TINY
        if too_small(pivot, smallest) or too_small(diagonal, accuracy * accuracy * largest):
            redundant = True
        inverse = 1.0 / if_less(pivot, smallest, 1.0, pivot)
        for i in range(k + 1, A.columns):
            f = gram[k, i] * inverse  # f is not stored, because the lower half is never read
            for j in range(i, A.columns + 1):
                gram[i, j] -= gram[k, j] * f
        gram[k, k] = inverse
    return redundant


@inline
def solve(A, gram: Out):
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
def take(A, forces, gram: Out):
    for i in range(A.columns):
        gram[A.columns, i] = get(forces, i)
    behind(A, gram)


@inline
def behind(A, gram: Out):
    """Append the weight 1 of column w to the forces, which are the weights of the columns of W."""
    gram[A.columns, A.columns] = 1.0
