"""Derivatives of forward dynamics: -M^-1 times the derivatives of inverse dynamics at the same acceleration (V9)."""

from ...compiler.numba_jit.jit import paste
from ..directions import Out
from ..numbers.memory import borrowed
from ..tables.addresses import call_at
from ..tables.layout import OK
from ..tree.solve import mirror, solve_for_accelerations, write_motions


@paste
def solved(plan, scratch: Out, L: Out, n, dq, dv, M, ddq_dq: Out, ddq_dv: Out, Minv: Out):
    """Write -M^-1 dq, -M^-1 dv and M^-1 (flat, n x n); scratch is n x 3n; plan and L are as in ``tree.solve``."""
    solve_for_accelerations(plan, n, L, scratch, dq, None, dv, M)
    write_motions(scratch, 0, plan, n, ddq_dq)
    write_motions(scratch, 1, plan, n, ddq_dv)
    write_motions(scratch, 2, plan, n, Minv)
    mirror(Minv, n)
    return OK


def aba_derivatives_at(
    address, aba, aba_tables, derivatives, plan, scratch, L, q, v, tau, ddq, forces, torques, dq, dv, M, nothing,
    ddq_dq, ddq_dv, Minv,
):  # fmt: skip
    """Run forward dynamics, differentiate inverse dynamics, and solve for the derivatives of the acceleration.

    ``aba`` is the address of forward dynamics, or 0 if ddq is an input; ``aba_tables`` is the address of its tables.
    ``derivatives`` is the address of the kernel that differentiates inverse dynamics, or 0 if dq, dv and M are inputs;
    ``address`` is the address of its tables. ``forces`` is empty, or contains nv entries, then external forces;
    ``aba_tables`` must refer to the same array. dq and dv are derivatives of torques. ``nothing`` is an empty array.
    """
    code = OK
    if aba != 0:
        code = call_at(aba, aba_tables, (q, v, tau, ddq))
    if code == OK and derivatives != 0:
        code = call_at(derivatives, address, (q, v, ddq, forces, torques, dq, dv, M, nothing))
    if code != OK:
        return code
    return solved(
        plan,
        borrowed(scratch),
        borrowed(L),
        v.shape[0],
        borrowed(dq),
        borrowed(dv),
        borrowed(M),
        borrowed(ddq_dq),
        borrowed(ddq_dv),
        borrowed(Minv),
    )
