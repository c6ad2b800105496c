"""Constrained dynamics: contact forces and accelerations, or impulses and velocities after an impact.

The first pass is the outward pass of aba with a = 0. The inward pass (O2) propagates one column per contact equation
and one column for tau - h. It yields W and w (O3), where J M^-1 J^T = W^T W and J M^-1 (tau - h) = W^T w. Equation (O6)
then determines the forces lambda, and an outward pass (O5) computes the accelerations from w + W lambda.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import start, turn_joints
from ..clusters import loop
from ..directions import Out
from ..dynamics.aba import outward_with
from ..dynamics.minverse import factor_articulated
from ..force_columns.columns import mirror, products_of
from ..force_columns.panel import at_body, at_w, entry
from ..force_columns.passes import inward, outward
from ..force_columns.seed import clear, no_torques, unit_wrench
from ..numbers.memory import get, put, put_apart
from ..numbers.tuples import load3, load6, load9
from ..tables import contacts_layout as at
from ..tables import workspace as ws
from ..tables.addresses import seen
from ..tables.contacts_layout import DELASSUS, DYNAMICS, GIVEN, IMPACT, REDUNDANT, SYSTEM
from ..tables.layout import FREE, SINGLE, WRONG_SIZE
from ..tables.views import cluster, contact, contacts_header, fields, header, listed
from .system import clear_rounding, complete, eliminate, mobility, solve, take
from .where import place_contact


@inline
def seed_torques(index, work, tau, panel: Out, n, A):
    """Set the torques to 0 in the contact columns, and to tau minus the spin elements' torques (S3) in the last column.

    This function must run before the factorization, because the factors of a joint overwrite the torque of the spin
    elements at this joint.
    """
    no_torques(panel, n, A)
    if A.wanted != DYNAMICS:
        return
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == SINGLE:
            t = get(tau, C.column)
            if C.at_spin >= 0:
                t -= ws.spin_bias(work, C.first)
            put(panel, at_w(n, A, C.column, A.columns), t)
        elif C.kind == FREE:
            put_apart(panel, at_w(n, A, C.column, A.columns), A.width, load6(tau, C.column))
        else:
            for k in range(C.nk):
                i = listed(index, C.column, k)
                put(panel, at_w(n, A, i, A.columns), get(tau, i) + ws.u_entry(work, C.at_work, C.nk, k))


@inline
def seed_forces(index, work, asked, numbers, panel: Out, n, A):
    """Initialize the contact columns with unit forces on both bodies (O1), and the last column with p_b (A3)."""
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first = entry(asked, K.column0).iv
        axes, point = load9(numbers, K.at + at.AXES), load3(numbers, K.at + at.POINT)
        axes2, point2 = load9(numbers, K.at + at.AXES2), load3(numbers, K.at + at.POINT2)
        for i in range(K.rows):
            put(panel, at_body(A, K.body1, first + i), -unit_wrench(axes, point, i))
            if K.body2 > 0:
                put(panel, at_body(A, K.body2, first + i), unit_wrench(axes2, point2, i))
    if A.wanted == DYNAMICS:
        for b in range(1, n.bodies + 1):
            put(panel, at_body(A, b, A.columns), ws.force(work, b))


@inline
def hand_out(asked, A, gram, forces: Out):
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        first, to = entry(asked, K.column0).iv, seen(K.force, 6)
        for r in range(6):
            put(to, r, gram[A.columns, first + r] if r < K.rows else 0.0)
        for r in range(K.rows):
            put(forces, first + r, gram[A.columns, first + r])


def contacts_with(advance_loop):
    at_rest = outward_with(advance_loop)

    @paste
    def contacts(
        index, params, work, result: Out, q, v, tau, asked, numbers: Out, panel: Out, gram: Out, forces: Out, out: Out
    ):
        """Write contact forces to ``forces``, and accelerations to out and result; after an impact, velocities to out.

        If the header of ``asked`` requests DELASSUS, only write J M^-1 J^T to the first rows and columns of gram. If
        it requests SYSTEM, only write the upper half of J M^-1 J^T there, and the right-hand side to the last column.
        """
        n, A, F = header(index), contacts_header(asked, 0), fields(asked, 1)
        m = A.columns
        if q.shape[0] != n.nq or v.shape[0] != n.nv or tau.shape[0] != n.nv or out.shape[0] != n.nv:
            return WRONG_SIZE
        if gram.shape[0] != m + 1 or gram.shape[1] != m + 1 or forces.shape[0] != m:
            return WRONG_SIZE
        start(params, work)
        turn_joints(index, work, q)
        code = at_rest(index, params, work, q, v, result, out, False)
        seed_torques(index, work, tau, panel, n, A)
        singular = factor_articulated(index, params, work)
        for c in range(A.contact0, A.contact1):
            place_contact(index, params, work, q, numbers, contact(asked, c), F, A.wanted)
        clear(index, asked, panel, n, A)
        seed_forces(index, work, asked, numbers, panel, n, A)
        inward(index, work, asked, panel, n, A)
        for c in range(A.contact0, A.contact1):
            products_of(asked, panel, n, A, contact(asked, c), gram)
        moves = 0.0
        if A.step != GIVEN:
            moves = mobility(index, work, n)
        if A.wanted == DELASSUS or A.step == SYSTEM:
            clear_rounding(asked, numbers, A, gram, moves)
        if A.wanted == DELASSUS:
            mirror(gram, m)
            return code if code < 0 else singular
        redundant = False
        if A.step == GIVEN:
            take(A, forces, gram)
        else:
            largest = complete(asked, numbers, A, gram, moves)
            if A.step == SYSTEM:
                return code if code < 0 else singular
            redundant = eliminate(numbers, A, gram, largest)
            solve(A, gram)
        for i in range(n.nv):
            w = 0.0
            for j in range(A.width):
                w += get(panel, at_w(n, A, i, j)) * gram[m, j]
            put(panel, at_w(n, A, i, 0), w)
        outward(index, work, panel, n, A, 1)
        for i in range(n.nv):
            x = get(panel, at_w(n, A, i, 0))
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
