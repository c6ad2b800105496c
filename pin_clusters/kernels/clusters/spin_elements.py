"""Computes effects of spin elements and armature in clusters with several columns: momenta, torques and moments."""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import get, increase, put
from ..numbers.spatial import angular, cross, dot3, rot, rot_t, zero3
from ..tables import workspace as ws
from ..tables.views import carrier_row, listed


@inline
def spin_columns(index, work, C):
    if C.at_spin >= 0:
        turn_momenta(work, C, ws.rotation(work, C.out), C.at_spin, 0)
    for r in range(C.carrier0, C.carrier1):
        carrier = carrier_row(index, r)
        turn_momenta(work, C, ws.rotation(work, carrier.body), carrier.at_spin, 1 + r - C.carrier0)


@inline
def turn_momenta(work, C, R, at_spin, i):
    for k in range(C.nk):
        ws.set_spin_column(work, C.at_work, C.nk, i, k, rot(R, ws.momentum(work, at_spin, k)))


@inline
def inertia_torques(index, work, a, out: Out, C):
    """Write the torques E a that accelerate the armature and the spin elements: (S2)."""
    for k in range(C.nk):
        t = 0.0
        for m in range(C.nk):
            t += ws.E_entry(work, C.at_E, C.nk, k, m) * get(a, listed(index, C.column, m))
        put(out, listed(index, C.column, k), t)


@inline
def spin_terms(index, work, v, a, out: Out, C, biased):
    """Compute (S1) and (S2) for all carriers; if ``biased``, column nk of the momenta contains their rate at a = 0."""
    if C.at_spin >= 0:
        spin_terms_on(index, work, v, a, out, C, C.out, C.at_spin, biased)
    for r in range(C.carrier0, C.carrier1):
        carrier = carrier_row(index, r)
        spin_terms_on(index, work, v, a, out, C, carrier.body, carrier.at_spin, biased)


@inline
def spin_terms_on(index, work, v, a, out: Out, C, carrier, at_spin, biased):
    """Compute (S1) and (S2) for one carrier, in the axes of this carrier."""
    R, rate = ws.rotation(work, carrier), ws.momentum(work, at_spin, C.nk) if biased else zero3()
    # The spin momenta are constant in the axes of the carrier.
    omega, alpha = rot_t(R, angular(ws.velocity(work, carrier))), rot_t(R, angular(ws.acceleration(work, carrier)))
    total = zero3()
    for k in range(C.nk):
        h, i_v = ws.momentum(work, at_spin, k), listed(index, C.column, k)
        total = total + h * get(v, i_v)
        rate = rate + h * get(a, i_v)
        increase(out, i_v, dot3(h, alpha))
    if carrier > 0:
        ws.add_moment(work, carrier, rot(R, cross(omega, total) + rate))


@inline
def gyrations(index, work, v, prescribed, a, C, biased):
    """Compute (S3) for all carriers at prescribed accelerations; see ``spin_terms`` for ``biased``."""
    if C.at_spin >= 0:
        rate = momentum_rate(index, work, prescribed, a, C, C.out, C.at_spin, 0, biased)
        gyration(index, work, v, C, C.out, 0, rate)
    for r in range(C.carrier0, C.carrier1):
        carrier, i = carrier_row(index, r), 1 + r - C.carrier0
        rate = momentum_rate(index, work, prescribed, a, C, carrier.body, carrier.at_spin, i, biased)
        gyration(index, work, v, C, carrier.body, i, rate)


@inline
def momentum_rate(index, work, prescribed, a, C, carrier, at_spin, i, biased):
    """Return the rate of the spin momentum on carrier number i (S1); if ``biased``, return the stored rate."""
    if biased:
        return rot(ws.rotation(work, carrier), ws.momentum(work, at_spin, C.nk))
    rate = zero3()
    if prescribed is not None:
        for k in range(C.nk):
            rate = rate + ws.spin_column(work, C.at_work, C.nk, i, k) * get(a, listed(index, C.column, k))
    return rate


@inline
def gyration(index, work, v, C, carrier, i, rate):
    """Compute (S3) for one carrier: add the moment w x h v + rate to its force, and subtract h . alpha from u."""
    omega, alpha = angular(ws.velocity(work, carrier)), angular(ws.acceleration(work, carrier))
    total = zero3()
    for k in range(C.nk):
        h = ws.spin_column(work, C.at_work, C.nk, i, k)
        total = total + h * get(v, listed(index, C.column, k))
        ws.set_u_entry(work, C.at_work, C.nk, k, ws.u_entry(work, C.at_work, C.nk, k) - dot3(h, alpha))
    if carrier > 0:
        ws.add_moment(work, carrier, cross(omega, total) + rate)


@inline
def spin_coupling(work, slot, nk, i, at_K, k, m):
    """Return the contribution (S4) of carrier i to D[k, m]: entry k, m of K_c' [0; h] plus its transpose."""
    K_k, K_m = angular(ws.K_column(work, at_K, k)), angular(ws.K_column(work, at_K, m))
    return dot3(K_k, ws.spin_column(work, slot, nk, i, m)) + dot3(ws.spin_column(work, slot, nk, i, k), K_m)
