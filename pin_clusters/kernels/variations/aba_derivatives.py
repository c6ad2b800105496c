"""Derivatives of forward dynamics: those of inverse dynamics at its accelerations, times minus the inverse of M."""

from ...compiler.numba_jit.jit import paste
from ..numbers.memory import borrowed
from ..tables.addresses import call_at
from ..tables.layout import OK
from ..tree.solve import mirror, solve_for_accelerations, write_motions


@paste
def solved(plan, room, L, n, dq, dv, M, ddq_dq, ddq_dv, Minv):
    """Write -M^-1 dq, -M^-1 dv and M^-1; all are n x n, flat.

    Args:
        plan: Tree of velocities, see ``tree.solve``.
        room: n rows of right sides, 3 n numbers each.
        L: Room for the factors: L' as a full matrix, then the rows of L.
    """
    solve_for_accelerations(plan, n, L, room, dq, None, dv, M)
    write_motions(room, 0, plan, n, ddq_dq)
    write_motions(room, 1, plan, n, ddq_dv)
    write_motions(room, 2, plan, n, Minv)
    mirror(Minv, n)
    return OK


def aba_derivatives_at(
    address, aba, aba_tables, derivatives, plan, room, L, q, v, tau, ddq, forces, torques, dq, dv, M, nothing,
    ddq_dq, ddq_dv, Minv,
):  # fmt: skip
    """Run forward dynamics, the derivatives of inverse dynamics there, and solve; all by their addresses.

    Args:
        address: Of the tables of the derivatives.
        aba: Address of forward dynamics; 0 if the accelerations are given.
        aba_tables: Of its tables.
        derivatives: Address of the derivatives of inverse dynamics; 0 if they are given.
        plan, room, L: As ``solved`` takes them.
        ddq: Accelerations, written unless they are given.
        forces: Empty, or external forces behind nv numbers; the tables of forward dynamics then lead to them, too.
        torques: Written: those of inverse dynamics.
        dq: Written: dtau_dq.
        dv: Written: dtau_dv.
        nothing: Empty.
        M, ddq_dq, ddq_dv, Minv: Written.
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
        borrowed(room),
        borrowed(L),
        v.shape[0],
        borrowed(dq),
        borrowed(dv),
        borrowed(M),
        borrowed(ddq_dq),
        borrowed(ddq_dv),
        borrowed(Minv),
    )
