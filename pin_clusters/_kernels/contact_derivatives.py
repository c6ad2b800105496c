"""Derivatives of forward dynamics with contacts, and of impacts; (D1) to (D3).

At the accelerations and forces that ``contacts`` finds, derivatives of inverse dynamics with these forces; then, with
X = M^-1 [-dtau_dq, -dtau_dv, 1] in packs, (J M^-1 J') dforce = -dr - J X by what the elimination of the contacts has
left, and X + M^-1 J' dforce.
"""

from __future__ import annotations

from numba import types

from ._jit import inline, kernel, paste
from .addresses import call_at, seen, tables
from .columns_panel import entry
from .contact_variations import force_on_side, vary_contact
from .contacts_layout import IMPACT, READ_DATA, READ_MODEL, RESTITUTION
from .contacts_views import contact, contacts_header, fields
from .layout import OK
from .simd import borrowed, get, put, zero
from .spatial import angular, cross, join, linear, rot, rot_t, transposed, zero3
from .tree_solve import IV, WIDTH, factor, solve
from .tuples import load3, load6, load9
from .user_functions import lanes_of
from .views import body, header


@inline
def force_at(given, k, f):
    """A force at a placement on a joint, in the frame of the joint.

    Reads: given.
    """
    R = transposed(load9(given, k))
    n = rot(R, linear(f))
    return join(n, rot(R, angular(f)) + cross(load3(given, k + 9), n))


@paste
def loads(index, asked, forces, acting):
    """Write the forces of contacts as external forces, behind nv numbers; no others.

    Reads: acting, forces.
    Writes: acting.
    """
    n, A, F = header(index), contacts_header(asked, 0), fields(asked, 1)
    for i in range(n.nv, acting.shape[0]):
        put(acting, i, 0.0)
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        given, left = seen(K.model, READ_MODEL), seen(K.data, READ_DATA)
        f = force_on_side(forces, entry(asked, K.column0).iv, K, transposed(load9(left, F.oMc1)))
        if K.body1 > 0:
            k = n.nv + 6 * body(index, K.body1).joint
            put(acting, k, load6(acting, k) + force_at(given, F.placement1, f))
        if K.body2 > 0:
            R, p, moment = transposed(load9(left, F.c1Mc2)), load3(left, F.c1Mc2 + 9), zero3(zero(forces))
            if K.rows == 6:
                moment = rot_t(R, angular(f) - cross(p, linear(f)))
            k = n.nv + 6 * body(index, K.body2).joint
            there = join(rot_t(R, linear(f)), moment)
            put(acting, k, load6(acting, k) - force_at(given, F.placement2, there))


@paste
def rows_of_contacts(index, params, work, rates, asked, numbers, forces, jacobian, sides, wide, turned, room):
    """(D1) of all contacts.

    Reads: acceleration, forces, K, numbers, rates, room, S, turned, velocity.
    Writes: jacobian, room, sides, turned.
    """
    A, F, n = contacts_header(asked, 0), fields(asked, 1), header(index).nv
    for i in range(A.columns * wide):
        put(sides, i, 0.0)
    for i in range(n * n):
        put(turned, i, 0.0)
    for c in range(A.contact0, A.contact1):
        vary_contact(
            index, params, work, rates, asked, numbers, forces, contact(asked, c), F, A, n, jacobian, sides, wide,
            turned, room,
        )  # fmt: skip


def _for_columns(load):
    """Make what does the two steps for some columns, from g on, in registers row by row."""

    @inline
    def lacking(plan, order, asked, A, n, jacobian, X, width, g):
        """(D2): -dr, which stands in the rows behind the first n, minus J X.

        Reads: jacobian, order, X.
        Writes: X.
        """
        for c in range(A.contact0, A.contact1):
            K = contact(asked, c)
            first = entry(asked, K.column0).iv
            for r in range(first, first + K.rows):
                x = load(X, (n + r) * width + g)
                for t in range(K.path0, K.path1):
                    k = entry(asked, t).iv
                    x = x - load(X, order[k] * width + g) * get(jacobian, r * n + k)
                put(X, (n + r) * width + g, x)

    @inline
    def with_forces(plan, A, n, gram, response, X, width, g):
        """(D2) solved for the forces, and (D3), what they do.

        Reads: gram, plan, response, X.
        Writes: X.
        """
        m = A.columns
        for i in range(m):
            x = load(X, (n + i) * width + g)
            for k in range(i):
                x = x - load(X, (n + k) * width + g) * (gram[k, i] * gram[k, k])
            put(X, (n + i) * width + g, x)
        for r in range(m):
            i = m - 1 - r
            x = load(X, (n + i) * width + g)
            for j in range(i + 1, m):
                x = x - load(X, (n + j) * width + g) * gram[i, j]
            put(X, (n + i) * width + g, x * gram[i, i])
        for i in range(n):
            k = plan[WIDTH * i + IV]
            x = load(X, i * width + g)
            for r in range(m):
                x = x + load(X, (n + r) * width + g) * get(response, r * n + k)
            put(X, i * width + g, x)

    return lacking, with_forces


_lack_six, _force_six = _for_columns(load6)
_lack_three, _force_three = _for_columns(load3)
_lack_one, _force_one = _for_columns(get)


@inline
def write_block(sides, s, plan, n, m, wide, motions, forces):
    """Write a block of the solution: rows of velocities, in their own order, then those of contacts.

    Reads: plan, sides.
    Writes: forces, motions.
    """
    for i in range(n):
        to, k = plan[WIDTH * i + IV] * n, i * wide + s * n
        for j in range(n):
            put(motions, to + j, get(sides, k + j))
    for r in range(m):
        k = (n + r) * wide + s * n
        for j in range(n):
            put(forces, r * n + j, get(sides, k + j))


@paste
def differentiated(
    index, asked, gram, plan, order, X, L, dq, dv, M, jacobian, response, turned, ddq_dq, ddq_dv, ddq_dtau,
    dlambda_dq, dlambda_dv, dlambda_dtau,
):  # fmt: skip
    """Solve, and write derivatives of accelerations by q, v and tau, then those of forces.

    Args:
        index: Table.
        asked: Tables of contacts.
        gram: What their elimination has left.
        plan: Tree of velocities, see ``tree_solve``.
        order: Where each velocity stands in it.
        X: Rows of right sides in packs: nv, and one per row of the contacts, which are there.
        L: Room for the factors.
        dq: nv x nv, flat.
        dv: nv x nv, flat.
        M: nv x nv, flat.
        jacobian: Rows of the contacts.
        response: Room for M^-1 J', by rows.
        turned: nv x nv.
        ddq_dq: nv x nv, flat.
        ddq_dv: nv x nv, flat.
        ddq_dtau: nv x nv, flat.
        dlambda_dq: A row per row of the contacts, flat.
        dlambda_dv: The same.
        dlambda_dtau: The same.

    Reads: dq, dv, gram, jacobian, L, M, order, plan, response, turned, X.
    Writes: L, response, X.
    """
    A, n = contacts_header(asked, 0), header(index).nv
    m, square = A.columns, n * n
    width = X.shape[0] // max(n + m, 1)
    wide = width * lanes_of(X)
    sides = seen(X.ctypes.data, X.size)
    factor(plan, M, n, L[square:], L)
    for i in range(n):
        to, row = i * wide, plan[WIDTH * i + IV] * n
        for j in range(n):
            put(sides, to + j, -get(dq, row + j) - get(turned, row + j))
        for j in range(n):
            put(sides, to + n + j, -get(dv, row + j))
        for j in range(2 * n, wide):
            put(sides, to + j, 0.0)
        put(sides, to + 2 * n + plan[WIDTH * i + IV], 1.0)
    solve(plan, n, L[square:], L, X, width)
    if A.wanted == IMPACT:  # at given impulses velocities stay what they were before
        for i in range(n):
            for j in range(n):
                put(sides, i * wide + n + j, 0.0)
            put(sides, i * wide + n + plan[WIDTH * i + IV], 1.0)
    g = 0
    while g + 6 <= width:
        _lack_six(plan, order, asked, A, n, jacobian, X, width, g)
        g += 6
    if g + 3 <= width:
        _lack_three(plan, order, asked, A, n, jacobian, X, width, g)
        g += 3
    while g < width:
        _lack_one(plan, order, asked, A, n, jacobian, X, width, g)
        g += 1
    for r in range(m):
        for k in range(n):
            put(response, r * n + k, -get(sides, (n + r) * wide + 2 * n + k))
    g = 0
    while g + 6 <= width:
        _force_six(plan, A, n, gram, response, X, width, g)
        g += 6
    if g + 3 <= width:
        _force_three(plan, A, n, gram, response, X, width, g)
        g += 3
    while g < width:
        _force_one(plan, A, n, gram, response, X, width, g)
        g += 1
    write_block(sides, 0, plan, n, m, wide, ddq_dq, dlambda_dq)
    write_block(sides, 1, plan, n, m, wide, ddq_dv, dlambda_dv)
    write_block(sides, 2, plan, n, m, wide, ddq_dtau, dlambda_dtau)
    for i in range(n):  # symmetric to the last bit
        for j in range(i):
            put(ddq_dtau, i * n + j, get(ddq_dtau, j * n + i))
    return OK


@inline
def combined(to, a, b, factor_of_b, n):
    """Write a + factor b.

    Reads: a, b.
    Writes: to.
    """
    for i in range(n):
        put(to, i, get(a, i) + get(b, i) * factor_of_b)


def _signature():
    line, integer = types.float64[::1], types.int64
    whole, table = types.int64[:, ::1], types.float64[:, ::1]
    return integer(
        integer, integer, integer, integer, line, line, line, line, whole, line, table, table, line, line, line, line,
        line, line, line, types.int64[::1], types.int64[::1], table, line, line, line, line, line, line, line,
        line, line, line, line,
    )  # fmt: skip


@kernel(_signature, "derivatives of dynamics with contacts", None, nogil=False)
def contact_derivatives_at(
    address, forward, forward_tables, derivatives, q, v, tau, ddq, asked, numbers, panel, gram, forces, acting, torques,
    dq, dv, M, nothing, plan, order, X, L, jacobian, response, turned, room, ddq_dq, ddq_dv, ddq_dtau, dlambda_dq,
    dlambda_dv, dlambda_dtau,
):  # fmt: skip
    """Run forward dynamics with contacts, the derivatives of inverse dynamics there, and solve.

    Args:
        address: Of the tables of the derivatives; after an impact those without gravity.
        forward: Address of forward dynamics with contacts.
        forward_tables: Of its tables.
        derivatives: Address of the derivatives of inverse dynamics.
        q: Configuration of the tree.
        v: Independent velocities.
        tau: Torques; of an impact, room.
        ddq: Written: accelerations, or velocities after an impact.
        asked: Tables of contacts.
        numbers: Theirs.
        panel: As ``contacts`` takes it.
        gram: As ``contacts`` takes it.
        forces: Written.
        acting: Written: the same as external forces, behind nv numbers.
        torques: Written: those of inverse dynamics.
        dq: Written: dtau_dq.
        dv: Written: dtau_dv.
        M: Written.
        nothing: Empty.
        plan: Tree of velocities.
        order: Where each velocity stands in it.
        X: For right sides.
        L: For factors.
        jacobian: Room for rows.
        response: Room for rows.
        turned: Room, nv x nv; its first numbers are zeros in the first of two runs after an impact.
        room: Of columns.
        ddq_dq: Written.
        ddq_dv: Written.
        ddq_dtau: Written.
        dlambda_dq: Written.
        dlambda_dv: Written.
        dlambda_dtau: Written.

    Reads: acceleration, acting, K, numbers, order, plan, rates, S, velocity.
    """
    code = call_at(forward, forward_tables, (q, v, tau, asked, numbers, panel, gram, forces, ddq))
    if code != OK:
        return code
    index, params, work, rates = tables(address)
    n, m, impact = header(index).nv, forces.shape[0], contacts_header(asked, 0).wanted == IMPACT
    width = X.shape[0] // max(n + m, 1)
    wide = width * lanes_of(X)
    sides = seen(X.ctypes.data, X.size)
    loads(index, borrowed(asked), borrowed(forces), borrowed(acting))
    if impact:
        # what the contacts' velocities J (after + bounce before) are, accelerations at rest are
        combined(tau, ddq, v, get(numbers, RESTITUTION), n)
        for i in range(n):
            put(turned, i, 0.0)
        code = call_at(derivatives, address, (q, turned[:n], tau, acting, torques, dq, dv, M, nothing))
    else:
        code = call_at(derivatives, address, (q, v, ddq, acting, torques, dq, dv, M, nothing))
    if code != OK:
        return code
    rows_of_contacts(
        index, params, work, rates, borrowed(asked), borrowed(numbers), borrowed(forces), borrowed(jacobian),
        sides[n * wide :], wide, borrowed(turned), borrowed(room),
    )  # fmt: skip
    if impact:
        combined(tau, ddq, v, -1.0, n)
        for i in range(n):
            put(room, i, 0.0)
        code = call_at(derivatives, address, (q, room[:n], tau, acting, torques, dq, dv, M, nothing))
        if code != OK:
            return code
    return differentiated(
        index, borrowed(asked), borrowed(gram), plan, order, borrowed(X), borrowed(L), borrowed(dq), borrowed(dv),
        borrowed(M), borrowed(jacobian), borrowed(response), borrowed(turned), borrowed(ddq_dq), borrowed(ddq_dv),
        borrowed(ddq_dtau), borrowed(dlambda_dq), borrowed(dlambda_dv), borrowed(dlambda_dtau),
    )  # fmt: skip
