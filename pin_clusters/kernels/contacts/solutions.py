"""Solution of (D2) and (D3): derivatives of accelerations and contact forces.

Let X = M^-1 [-dtau_dq, -dtau_dv, 1] (V9). The derivative dlambda of the forces satisfies
(J M^-1 J^T + mu) dlambda = -dr - J X, which is solved with the factors of (O6). The derivative of the accelerations is
X + M^-1 J^T dlambda.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..force_columns.panel import entry
from ..numbers.memory import get, put, put_copy, put_zeros
from ..tables.contacts_layout import IMPACT
from ..tables.layout import OK
from ..tables.tree_layout import IV, WIDTH
from ..tables.views import contact, contacts_header, header
from ..tree.solve import mirror, scale, solve_for_accelerations, subtract, write_motions


@inline
def lacking(X: Out, width, order, asked, A, n, jacobian):
    """Subtract J X from -dr to obtain the right-hand sides of (D2); -dr is stored in X, starting at row n."""
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first = entry(asked, K.column0).iv
        for r in range(first, first + K.rows):
            for t in range(K.path0, K.path1):
                k = entry(asked, t).iv
                subtract(X, (n + r) * width, order[k] * width, get(jacobian, r * n + k), width)


@inline
def with_forces(X: Out, width, plan, A, n, gram, response):
    """Solve (D2) for dlambda, and add M^-1 J^T dlambda to the derivatives of the accelerations (D3)."""
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
def write_block(sides, s, plan, n, m, motions: Out, forces: Out):
    write_motions(sides, s, plan, n, motions)
    for r in range(m):
        k = (3 * (n + r) + s) * n
        put_copy(forces, r * n, sides, k, n)


@paste
def differentiated(
    index, asked, gram, plan, order, X: Out, L: Out, dq, dv, M, jacobian, response: Out, turned,
    ddq_dq: Out, ddq_dv: Out, ddq_dtau: Out, dlambda_dq: Out, dlambda_dv: Out, dlambda_dtau: Out,
):  # fmt: skip
    """Write the derivatives of accelerations and forces with respect to q, v and tau.

    The outputs are flat: nv x nv or, for forces, contact equations x nv. ``gram`` contains the factors of (O6) from
    ``contacts``. ``plan`` describes the tree of velocities (``tree.solve``); ``order`` contains their positions in
    ``plan``. X is (nv + contact equations) x 3 nv; its last rows contain -dr. L and ``response`` are workspaces.
    """
    A, n = contacts_header(asked, 0), header(index).nv
    m, width = A.columns, 3 * n
    solve_for_accelerations(plan, n, L, X, dq, turned, dv, M)
    if A.wanted == IMPACT:  # without impulses, the velocity after the impact is v, so dv_after/dv is the identity
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
