"""Solves constraint equations with a given dense mass matrix, for functions that have no configuration argument."""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import borrowed, get, put
from ..tables.contacts_layout import REDUNDANT, UNUSUAL
from ..tables.layout import OK
from .forces import EPSILON, factor, invert_factored, solve_factored


@inline
def respond(L, rows, m, n, x: Out, out: Out, column):
    """Write M^-1 rows^T to the columns of ``out``, starting at ``column``; L contains the factors of M."""
    for i in range(m):
        for k in range(n):
            put(x, k, rows[i, k])
        solve_factored(L, n, x, 0)
        for k in range(n):
            out[k, column + i] = get(x, k)


def mass_response_at(M, rows, scratch, out: Out):
    """Write M^-1 rows^T (n x m) to out; only the upper half of M (n x n) is read.

    Return 0, or UNUSUAL if M is not positive definite. scratch is a workspace of n^2 + n numbers.
    """
    n, m, L = M.shape[0], rows.shape[0], borrowed(scratch)
    if not factor(M, n, 0.0, 0.0, 0.0, L):
        return UNUSUAL
    respond(L, rows, m, n, L[n * n :], out, 0)
    return OK


def kkt_inverse_at(M, J, mu, scratch, out: Out):
    """Write the inverse of the KKT matrix [[M, J^T], [J, -mu]]; only the upper half of M (n x n) is read.

    With W = M^-1 J^T and A = J W + mu, the inverse is [[M^-1 - W A^-1 W^T, W A^-1], [A^-1 W^T, -A^-1]]. Return 0,
    REDUNDANT if A is singular, or UNUSUAL if M is not positive definite or mu is negative. scratch is a workspace of
    n^2 + n + m^2 + m numbers.
    """
    m, n, damping = J.shape[0], J.shape[1], get(mu, 0)
    L = borrowed(scratch)
    x, L_inner = L[n * n :], L[n * n + n :]
    if not damping >= 0.0 or not factor(M, n, 0.0, 0.0, 0.0, L):
        return UNUSUAL
    invert_factored(L, n, 1.0, out, 0)
    respond(L, J, m, n, x, out, n)
    inner = out[n:, n:]
    for i in range(m):
        for j in range(i, m):
            upper, lower = 0.0, 0.0
            for k in range(n):
                upper += J[i, k] * out[k, n + j]
                lower += J[j, k] * out[k, n + i]
            inner[i, j] = 0.5 * (upper + lower)
    if not factor(inner, m, damping, 1e2 * m * EPSILON if damping == 0.0 else 0.0, 0.0, L_inner):
        return REDUNDANT
    y = L_inner[m * m :]
    invert_factored(L_inner, m, -1.0, out, n)
    for k in range(n):  # row k of W in out must be read before this loop overwrites it
        for i in range(m):
            total = 0.0
            for j in range(m):
                total -= out[k, n + j] * inner[j, i]
            put(y, i, total)
        for r in range(k, n):
            total = out[k, r]
            for i in range(m):
                total -= get(y, i) * out[r, n + i]
            out[k, r] = out[r, k] = total
        for i in range(m):
            out[k, n + i] = out[n + i, k] = get(y, i)
    return OK
