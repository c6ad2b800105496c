"""The small system of contacts: (W' W + damping) force = what they lack, by elimination."""

from ..compiling.jit import inline
from ..force_columns.panel import entry
from ..numbers.choices import if_less, too_small
from ..numbers.memory import get
from ..tables import contacts_layout as at
from ..tables.views import contact

TINY = 1e-300  # rows of zeros are redundant as well


@inline
def complete(asked, numbers, A, gram):
    """Make the column behind the contacts' what they lack, of what happens without them; add the damping.

    The row behind the contacts' keeps the diagonal; returns its largest entry.
    """
    largest = 0.0
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first = entry(asked, K.column0).iv
        for r in range(K.rows):
            i = first + r
            gram[i, i] += get(numbers, at.DAMPING)
            gram[A.columns, i] = gram[i, i]
            largest = if_less(largest, gram[i, i], gram[i, i], largest)
            gram[i, A.columns] = get(numbers, K.at + at.MISSING + r) - gram[i, A.columns]
    return largest


@inline
def eliminate(numbers, A, gram, largest):
    """Eliminate one row after the other, leaving inverse pivots; returns whether a row is redundant.

    So is what is nothing but rounding, whose square stands on the diagonal, beside its largest entry.
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
