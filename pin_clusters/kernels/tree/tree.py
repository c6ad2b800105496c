"""Kinematics, Jacobians, centre of mass and momentum of the spanning tree, also written to ``pin.Data``."""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..numbers.memory import put, put_copy
from ..tables.addresses import seen
from ..tables.layout import OK, WRONG_SIZE
from ..tables.tree_layout import AXES, CENTERS, COLUMNS, JCOM, KEEP, MAP, MOTION, QUIET, RATES, SUBTREES
from ..tables.views import derived_at, field, own_at, sections_at, tree_header_at
from .independent_columns import axes, jacobian
from .link_motions import start_links
from .momentum import masses
from .motion import outward, spread


@inline
def publish(index, out, n, what, level):
    for r in range(n.field0, n.field1):
        F = field(index, r)
        if F.address != 0 and level >= F.level and (F.what == 0 or what & F.what):
            target = seen(F.address, F.size)
            put_copy(target, 0, out, F.at, F.size)


@inline
def remember(out: Out, q, v, a, n, E, what, level):
    put_copy(out, E.posed_q, q, 0, n.nq)
    put(out, E.posed, 1.0)
    if what & MOTION and level > 0:
        put_copy(out, E.seen_q, q, 0, n.nq)
        put_copy(out, E.seen_v, v, 0, n.nv)
        if level > 1:
            put_copy(out, E.seen_a, a, 0, n.nv)
        put(out, E.seen, 0.0 + level)
    put(out, E.standing, 1.0 if what & CENTERS and what & SUBTREES and level > 0 else 0.0)


@paste
def tree(index, params, work, out: Out, what, q, v, a):
    """Compute the results whose bits are set in ``what`` (see ``tree_layout``); v and a may be empty."""
    n = tree_header_at(index, 0)
    A, O, E, level = sections_at(index, n.sections), own_at(index, n.sections + 1), derived_at(index, n.sections + 2), 0
    if q.shape[0] != n.nq:
        return WRONG_SIZE
    start_links(work)
    if n.nv > 0 and v.shape[0] > 0:
        level = 1
        if v.shape[0] != n.nv:
            return WRONG_SIZE
        spread(index, work, out, v, n, O, O.v_tree, -1)
        if a.shape[0] > 0:
            level = 2
            if a.shape[0] != n.nv:
                return WRONG_SIZE
            spread(index, work, out, a, n, O, O.a_tree, O.g)
    moves = 0
    if what & (MOTION | RATES | CENTERS):
        moves = level
    outward(index, params, work, out, q, n, A, O, moves)
    if what & (COLUMNS | MAP | JCOM | AXES):  # as in Pinocchio, each of these requests fills J
        axes(index, params, work, out, n, A, what & RATES)
    if what & COLUMNS:
        jacobian(index, out, n, A, O, what & RATES)
    masses(index, params, work, out, v, n, A, O, E, what, level)
    put(work, E.level, 0.0 + moves)
    remember(out, q, v, a, n, E, what, level)
    if what & KEEP:
        put_copy(out, O.kept, out, O.G, n.nv_tree * n.nv)
        put(out, O.lost, 0.0)
    if what & QUIET == 0:
        publish(index, out, n, what, level)
    return OK
