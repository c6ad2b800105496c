"""Derivatives of forward dynamics with contacts, and derivatives of impacts; equations (D1) to (D3).

The kernels differentiate inverse dynamics at the accelerations and forces that ``contacts`` computes. ``solutions``
then solves (D2) and (D3).
"""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..force_columns.panel import entry
from ..numbers.memory import borrowed, get, put, put_zeros
from ..numbers.spatial import angular, cross, force_from, join, linear, rot_t, transposed, zero3
from ..numbers.tuples import load3, load6, load9
from ..tables.addresses import call_at, seen, tables
from ..tables.contacts_layout import IMPACT, READ_DATA, READ_MODEL, RESTITUTION
from ..tables.layout import OK
from ..tables.views import body, contact, contacts_header, fields, header
from .solutions import differentiated
from .variations import force_on_side, vary_contact


@inline
def force_at(model, k, f):
    return force_from(transposed(load9(model, k)), load3(model, k + 9), f)


@paste
def loads(index, asked, forces, acting: Out):
    """Write the contact forces to ``acting``, after its first nv entries, as external forces on the joints."""
    n, A, F = header(index), contacts_header(asked, 0), fields(asked, 1)
    put_zeros(acting, n.nv, acting.shape[0] - n.nv)
    for c in range(A.contact0, A.contact1):
        K = contact(asked, c)
        model, data = seen(K.model, READ_MODEL), seen(K.data, READ_DATA)
        f = force_on_side(forces, entry(asked, K.column0).iv, K, transposed(load9(data, F.oMc1)))
        if K.body1 > 0:
            k = n.nv + 6 * body(index, K.body1).joint
            put(acting, k, load6(acting, k) + force_at(model, F.placement1, f))
        if K.body2 > 0:
            R, p, moment = transposed(load9(data, F.c1Mc2)), load3(data, F.c1Mc2 + 9), zero3()
            if K.rows == 6:
                moment = rot_t(R, angular(f) - cross(p, linear(f)))
            k = n.nv + 6 * body(index, K.body2).joint
            f_two = join(rot_t(R, linear(f)), moment)
            put(acting, k, load6(acting, k) - force_at(model, F.placement2, f_two))


@paste
def rows_of_contacts(
    index, params, work, rates, asked, numbers, forces, jacobian: Out, sides: Out, turned: Out, scratch: Out
):
    A, F, n = contacts_header(asked, 0), fields(asked, 1), header(index).nv
    put_zeros(sides, 0, A.columns * 3 * n)
    put_zeros(turned, 0, n * n)
    for c in range(A.contact0, A.contact1):
        vary_contact(
            index, params, work, rates, asked, numbers, forces, contact(asked, c), F, A, n, jacobian, sides,
            turned, scratch,
        )  # fmt: skip


@inline
def combined(to: Out, a, b, factor_of_b, n):
    for i in range(n):
        put(to, i, get(a, i) + get(b, i) * factor_of_b)


def contact_rates_at(
    address, derivatives, q, v, tau: Out, ddq, asked, numbers, forces, acting, torques, dq, dv, M, nothing, jacobian, X,
    turned: Out, scratch: Out,
):  # fmt: skip
    """Differentiate inverse dynamics at the result of forward dynamics with contacts; write the equations (D2).

    ``derivatives`` is the address of the kernel that differentiates inverse dynamics, and ``address`` the address of
    its tables; for an impact, gravity is zero in these tables. ``ddq`` contains accelerations, or velocities after an
    impact. Call ``contacts`` with ``asked``, ``numbers`` and ``forces`` first. ``nothing`` is empty. The inverse
    dynamics kernel writes torques, dq, dv and M. The other outputs are ``acting`` (nv entries, then external forces),
    ``jacobian``, and the right-hand sides (D2), which start at row nv of X. ``turned`` and ``scratch`` are as in
    ``vary_contact``; for an impact, these two arrays and ``tau`` are also used as workspaces.
    """
    index, params, work, rates = tables(address)
    n, impact = header(index).nv, contacts_header(asked, 0).wanted == IMPACT
    loads(index, borrowed(asked), borrowed(forces), borrowed(acting))
    if impact:
        # The residual of an impact is J a at zero velocity, with a = v_after + e v_before.
        combined(tau, ddq, v, get(numbers, RESTITUTION), n)
        put_zeros(turned, 0, n)
        code = call_at(derivatives, address, (q, turned[:n], tau, acting, torques, dq, dv, M, nothing))
    else:
        code = call_at(derivatives, address, (q, v, ddq, acting, torques, dq, dv, M, nothing))
    if code != OK:
        return code
    rows_of_contacts(
        index,
        params,
        work,
        rates,
        borrowed(asked),
        borrowed(numbers),
        borrowed(forces),
        borrowed(jacobian),
        borrowed(X)[3 * n * n :],
        borrowed(turned),
        borrowed(scratch),
    )
    if impact:
        combined(tau, ddq, v, -1.0, n)
        put_zeros(scratch, 0, n)
        code = call_at(derivatives, address, (q, scratch[:n], tau, acting, torques, dq, dv, M, nothing))
    return code


def contact_derivatives_at(
    address, forward, forward_tables, rates, derivatives, q, v, tau, ddq, asked, numbers, panel, gram, forces, acting,
    torques, dq, dv, M, nothing, plan, order, X, L, jacobian, response, turned, scratch, ddq_dq, ddq_dv, ddq_dtau,
    dlambda_dq, dlambda_dv, dlambda_dtau,
):  # fmt: skip
    """Run forward dynamics with contacts, differentiate its result, and solve for the derivatives.

    ``forward`` is the address of the kernel for forward dynamics with contacts, ``forward_tables`` the address of its
    tables, and ``rates`` the address of ``contact_rates``. The output ddq contains accelerations, or velocities after
    an impact; for an impact, ``tau`` is workspace. See ``contacts`` for panel, gram and forces; ``differentiated`` for
    plan, order, X, L, response and the arguments after ``scratch``; and ``contact_rates`` for all others.
    """
    code = call_at(forward, forward_tables, (q, v, tau, asked, numbers, panel, gram, forces, ddq))
    if code == OK:
        common = (derivatives, q, v, tau, ddq, asked, numbers, forces, acting, torques, dq, dv, M, nothing)
        code = call_at(rates, address, (*common, jacobian, X, turned, scratch))
    if code != OK:
        return code
    index, _, _, _ = tables(address)
    return differentiated(
        index, borrowed(asked), borrowed(gram), plan, order, borrowed(X), borrowed(L), borrowed(dq), borrowed(dv),
        borrowed(M), borrowed(jacobian), borrowed(response), borrowed(turned), borrowed(ddq_dq), borrowed(ddq_dv),
        borrowed(ddq_dtau), borrowed(dlambda_dq), borrowed(dlambda_dv), borrowed(dlambda_dtau),
    )  # fmt: skip
