"""Jacobian columns for the velocities of the tree, and their products with G for the independent velocities."""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import get, put, put_zeros
from ..numbers.spatial import cross
from ..numbers.tuples import Vec6
from ..tables import link_workspace as of_link
from ..tables.views import dof, entry
from .link_motions import at_point, direction


@inline
def clear_rows(to: Out, n):
    for r in range(to.shape[0]):
        for k in range(n.nv):
            to[r, k] = 0.0


@inline
def add_independent(index, out: Out, n, at, rows, at_G, to):
    """Add X G to a row-major matrix at ``to``; X, stored by columns at ``at``, has one column per tree velocity."""
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        for t in range(D.term0, D.term1):
            T = entry(index, t)
            g = get(out, at_G + T.at)
            for r in range(rows):
                i = to + r * n.nv + T.k
                put(out, i, get(out, i) + g * get(out, at + rows * iv + r))


@inline
def axes(index, params, work, out: Out, n, A, rates):
    """Write the motion axes S of the tree's velocities in the world; if ``rates``, also dS/dt = v x S."""
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        x = of_link.position(work, D.link)
        # A joint does not rotate its own axis, but a NaN angle must propagate, as in Pinocchio.
        R = of_link.rotation(work, D.link)
        no_turn = (R[0] + R[1]) * 0.0
        S = at_point(direction(params, work, D), x) + Vec6(no_turn, no_turn, no_turn, no_turn, no_turn, no_turn)
        put(out, A.J + 6 * iv, S)
        if rates:
            put(out, A.dJ + 6 * iv, cross(at_point(of_link.velocity(work, D.link), x), S))


@inline
def jacobian(index, out: Out, n, A, O, rates):
    """Write J = S G; if ``rates``, also dJ = dS/dt G + S dG/dt."""
    put_zeros(out, O.J, 6 * n.nv)
    add_independent(index, out, n, A.J, 6, O.G, O.J)
    if rates:
        put_zeros(out, O.dJ, 6 * n.nv)
        add_independent(index, out, n, A.dJ, 6, O.G, O.dJ)
        if n.loops == 1:
            add_independent(index, out, n, A.J, 6, O.kept_rate, O.dJ)
