"""Contacts of clusters: accelerations, or velocities after an impact, and forces that keep contacts closed.

One pass outward as aba's, at rest; then tau - h and the forces of the contacts, one per lane of a pack, go inward
together, as in ``columns``: with W = diag(e)^-1/2 L^-1 Psi J' and w from tau - h alike, J M^-1 J' = W' W, what the
contacts do without forces is W' w, and one pass outward makes the accelerations of w + W force.
"""

from __future__ import annotations

from ..bodies.placements import start, turn_joints
from ..clusters import loop
from ..compiling.jit import inline, paste
from ..dynamics.aba import outward_with
from ..dynamics.minverse import factor_articulated
from ..force_columns.columns import products_of, three_products
from ..force_columns.panel import at_body, at_w, entry
from ..force_columns.passes import inward, outward
from ..force_columns.seed import clear, put_lanes, unit_wrench
from ..numbers.neighbours import get_lane, get_row, put_lane
from ..numbers.simd import LANES, get, put, zero
from ..numbers.tuples import load3, load9
from ..tables import contacts_layout as at
from ..tables import workspace as ws
from ..tables.addresses import seen
from ..tables.columns_layout import AT_WORK
from ..tables.contacts_layout import DELASSUS, DYNAMICS, GIVEN, IMPACT, REDUNDANT, SYSTEM
from ..tables.contacts_views import contact, contacts_header, fields
from ..tables.layout import FREE, SINGLE, WRONG_SIZE
from ..tables.views import cluster, header, listed
from .system import complete, eliminate, solve, take
from .where import place_contact


@inline
def seed_torques(index, work, tau, panel, n, A):
    """(S3): no torques, but tau and what spin elements take of it at rest, in the lane behind the contacts'.

    Before anything is factored: the factors of a joint stand where its spin elements' torque does.
    """
    for P in range(A.packs):
        for i in range(n.nv):
            put(panel, at_w(n, P, i), zero(panel))
    if A.wanted != DYNAMICS:
        return
    P, lane = A.columns // LANES, A.columns % LANES
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == SINGLE:
            t = get(tau, C.column)
            if C.at_spin >= 0:
                t -= ws.spin_bias(work, C.first)
            put_lane(panel, at_w(n, P, C.column), lane, t)
        elif C.kind == FREE:
            for k in range(6):
                put_lane(panel, at_w(n, P, C.column + k), lane, get(tau, C.column + k))
        else:
            for k in range(C.nk):
                i = listed(index, C.column, k)
                put_lane(panel, at_w(n, P, i), lane, get(tau, i) + ws.u_entry(work, C.at_work, C.nk, k))


@inline
def seed_forces(index, work, asked, numbers, panel, n, A, P):
    """(O1): a pack of forces at contacts, with the sign of what is needed to hold them; the second body's are opposite.

    In the lane behind them, the forces of the bodies at rest.
    """
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first = entry(asked, K.column0).iv
        axes, point = load9(numbers, K.at + at.AXES), load3(numbers, K.at + at.POINT)
        begin, end = max(0, P * LANES - first), min(K.rows, (P + 1) * LANES - first)
        for i in range(begin, end):
            put_lanes(panel, at_body(n, P, K.body1), first + i - P * LANES, -unit_wrench(axes, point, i))
        if K.body2 > 0:
            axes, point = load9(numbers, K.at + at.AXES2), load3(numbers, K.at + at.POINT2)
            for i in range(begin, end):
                put_lanes(panel, at_body(n, P, K.body2), first + i - P * LANES, unit_wrench(axes, point, i))
    if A.wanted == DYNAMICS and P == A.columns // LANES:
        for b in range(1, n.bodies + 1):
            put_lanes(panel, at_body(n, P, b), A.columns % LANES, ws.force(work, b))


@inline
def hand_out(asked, A, gram, forces):
    """Write the forces of all contacts, one behind the other, and to each contact's data."""
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first, to = entry(asked, K.column0).iv, seen(K.force, 6)
        for r in range(6):
            put(to, r, gram[A.columns, first + r] if r < K.rows else 0.0)
        for r in range(K.rows):
            put(forces, first + r, gram[A.columns, first + r])


def contacts_with(advance_loop):
    """Make contacts; ``advance_loop`` is for LOOP clusters."""
    at_rest = outward_with(advance_loop)

    @paste
    def contacts(index, params, work, result, q, v, tau, asked, numbers, panel, gram, forces, out):
        """Write accelerations to out and to result, or velocities after an impact to out; and the forces.

        If DELASSUS is wanted the first rows and columns of gram are J M^-1 J', and nothing else is written; nor for a
        SYSTEM, whose upper half is there, and what is asked for behind it.
        """
        n, A, F = header(index), contacts_header(asked, 0), fields(asked, 1)
        m = A.columns
        if q.shape[0] != n.nq or v.shape[0] != n.nv or tau.shape[0] != n.nv or out.shape[0] != n.nv:
            return WRONG_SIZE
        if gram.shape[0] != m + 1 or gram.shape[1] != A.packs * LANES or forces.shape[0] != m:
            return WRONG_SIZE
        start(params, work)
        turn_joints(index, work, q)
        singular, code = at_rest(index, params, work, q, v, result, out, False, True)
        seed_torques(index, work, tau, panel, n, A)
        row = factor_articulated(index, params, work)
        singular = row if row > 0 else singular
        for c in range(A.contact0, A.contact1):
            place_contact(index, params, work, q, numbers, contact(asked, c), F, A.wanted)
        for P0 in range(0, A.packs, AT_WORK):
            P1 = min(P0 + AT_WORK, A.packs)
            clear(index, asked, panel, n, A, P0)
            for P in range(P0, P1):
                seed_forces(index, work, asked, numbers, panel, n, A, P)
            inward(index, work, asked, panel, n, A, P0)
        for c in range(A.contact0, A.contact1):
            K = contact(asked, c)
            upper = A.wanted != DELASSUS
            if K.rows == 3:
                three_products(asked, panel, n, K.column0, K.path0, K.path1, A.packs, gram.shape[1], upper, gram)
            else:
                products_of(
                    asked, panel, n, K.column0, K.column1, K.path0, K.path1, A.packs, gram.shape[1], upper, gram
                )  # fmt: skip
        if A.wanted == DELASSUS:
            return code if code < 0 else singular
        redundant = False
        if A.step == GIVEN:
            take(A, forces, gram)
        else:
            largest = complete(asked, numbers, A, gram)
            if A.step == SYSTEM:
                return code if code < 0 else singular
            redundant = eliminate(numbers, A, gram, largest)
            solve(A, gram)
        for i in range(n.nv):
            w = zero(panel)
            for P in range(A.packs):
                w += get(panel, at_w(n, P, i)) * get_row(gram, m, P * LANES)
            put(panel, at_w(n, 0, i), w)
        outward(index, work, panel, n, 0, 1)
        for i in range(n.nv):
            x, k = 0.0, at_w(n, 0, i)
            for lane in range(LANES):
                x += get_lane(panel, k, lane)
            if A.wanted == IMPACT:
                put(out, i, get(v, i) + x)
            else:
                put(out, i, x)
                put(result, i, x)
        hand_out(asked, A, gram, forces)
        if code < 0 or singular > 0:
            return code if code < 0 else singular
        return REDUNDANT if redundant else 0

    return contacts


contacts = contacts_with(loop.without_loops)
contacts_loops = contacts_with(loop.advance_with_inertia)
