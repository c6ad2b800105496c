"""Derivatives with contacts from those of inverse dynamics and of what contacts lack; (D2), (D3).

With X = M^-1 [-dtau_dq, -dtau_dv, 1], (J M^-1 J') dforce = -dr - J X by what the elimination of the contacts
has left, and X + M^-1 J' dforce.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..force_columns.panel import entry
from ..numbers.memory import get, put, put_copy, put_zeros
from ..tables.contacts_layout import IMPACT
from ..tables.layout import OK
from ..tables.tree_layout import IV, WIDTH
from ..tables.views import contact, contacts_header, header
from ..tree.solve import mirror, scale, solve_for_accelerations, subtract, write_motions


@inline
def lacking(X, width, order, asked, A, n, jacobian):
    """(D2): -dr, which stands in the rows behind the first n, minus J X."""
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first = entry(asked, K.column0).iv
        for r in range(first, first + K.rows):
            for t in range(K.path0, K.path1):
                k = entry(asked, t).iv
                subtract(X, (n + r) * width, order[k] * width, get(jacobian, r * n + k), width)


@inline
def with_forces(X, width, plan, A, n, gram, response):
    """(D2) solved for the forces, and (D3), what they do."""
    m = A.columns
    for i in range(m):
        for k in range(i):
            subtract(X, (n + i) * width, (n + k) * width, gram[k, i] * gram[k, k], width)
    for r in range(m):
        i = m - 1 - r
        for j in range(i + 1, m):
            subtract(X, (n + i) * width, (n + j) * width, gram[i, j], width)
        scale(X, (n + i) * width, gram[i, i], width)
    for i in range(n):
        k = plan[WIDTH * i + IV]
        for r in range(m):
            subtract(X, i * width, (n + r) * width, -get(response, r * n + k), width)


@inline
def write_block(sides, s, plan, n, m, motions, forces):
    """Write a block of the solution: rows of velocities, in their own order, then those of contacts."""
    write_motions(sides, s, plan, n, motions)
    for r in range(m):
        k = (3 * (n + r) + s) * n
        put_copy(forces, r * n, sides, k, n)


@paste
def differentiated(
    index, asked, gram, plan, order, X, L, dq, dv, M, jacobian, response, turned, ddq_dq, ddq_dv, ddq_dtau,
    dlambda_dq, dlambda_dv, dlambda_dtau,
):  # fmt: skip
    """Solve, and write derivatives of accelerations by q, v and tau, nv x nv, then those of forces, a row of each.

    Args:
        gram: What their elimination has left.
        plan: Tree of velocities, see ``tree.solve``.
        order: Where each velocity stands in it.
        X: Rows of right sides, 3 nv numbers each: nv, and one per row of the contacts, which are there.
        L: Room for the factors.
        dq, dv, M, turned: nv x nv, flat, as all that is written.
        jacobian: Rows of the contacts.
        response: Room for M^-1 J', by rows.
    """
    A, n = contacts_header(asked, 0), header(index).nv
    m, width = A.columns, 3 * n
    solve_for_accelerations(plan, n, L, X, dq, turned, dv, M)
    if A.wanted == IMPACT:  # at given impulses velocities stay what they were before
        for i in range(n):
            put_zeros(X, i * width + n, n)
            put(X, i * width + n + plan[WIDTH * i + IV], 1.0)
    lacking(X, width, order, asked, A, n, jacobian)
    for r in range(m):
        for k in range(n):
            put(response, r * n + k, -get(X, (n + r) * width + 2 * n + k))
    with_forces(X, width, plan, A, n, gram, response)
    write_block(X, 0, plan, n, m, ddq_dq, dlambda_dq)
    write_block(X, 1, plan, n, m, ddq_dv, dlambda_dv)
    write_block(X, 2, plan, n, m, ddq_dtau, dlambda_dtau)
    mirror(ddq_dtau, n)
    return OK
