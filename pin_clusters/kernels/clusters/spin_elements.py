"""Spin elements and armature of a cluster with a list of columns: momenta, torques, moments on their carriers."""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get, increase, put
from ..numbers.spatial import angular, cross, dot3, rot, rot_t, zero3
from ..tables import workspace as ws
from ..tables.views import carrier_row, listed


@inline
def spin_columns(index, work, C):
    """Turn the spin momenta per unit velocity to the world."""
    if C.at_spin >= 0:
        turn_momenta(work, C, ws.rotation(work, C.out), C.at_spin, 0)
    for r in range(C.carrier0, C.carrier1):
        carrier = carrier_row(index, r)
        turn_momenta(work, C, ws.rotation(work, carrier.body), carrier.at_spin, 1 + r - C.carrier0)


@inline
def turn_momenta(work, C, R, at_spin, i):
    """Turn the momenta on one carrier."""
    for k in range(C.nk):
        ws.set_spin_column(work, C.at_work, C.nk, i, k, rot(R, ws.momentum(work, at_spin, k)))


@inline
def inertia_torques(index, work, a, out, C):
    """Write the torques of armature and of the spin elements' own acceleration; (S2)."""
    for k in range(C.nk):
        t = 0.0
        for m in range(C.nk):
            t += ws.E_entry(work, C.at_E, C.nk, k, m) * get(a, listed(index, C.column, m))
        put(out, listed(index, C.column, k), t)


@inline
def spin_terms(index, work, v, a, out, C, biased):
    """(S1), (S2) on all carriers; ``biased``: behind their momenta stands what these change by at a = 0."""
    if C.at_spin >= 0:
        spin_terms_on(index, work, v, a, out, C, C.out, C.at_spin, biased)
    for r in range(C.carrier0, C.carrier1):
        carrier = carrier_row(index, r)
        spin_terms_on(index, work, v, a, out, C, carrier.body, carrier.at_spin, biased)


@inline
def spin_terms_on(index, work, v, a, out, C, carrier, at_spin, biased):
    """(S1), (S2) on one carrier; the rate of its momentum is in its axes."""
    R, rate = ws.rotation(work, carrier), ws.momentum(work, at_spin, C.nk) if biased else zero3()
    # in the carrier's axes the spin momenta are constant
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
    """(S3) on all carriers, whose momenta change as the columns accelerate; ``biased`` as of ``spin_terms``."""
    if C.at_spin >= 0:
        rate = momentum_rate(index, work, prescribed, a, C, C.out, C.at_spin, 0, biased)
        gyration(index, work, v, C, C.out, 0, rate)
    for r in range(C.carrier0, C.carrier1):
        carrier, i = carrier_row(index, r), 1 + r - C.carrier0
        rate = momentum_rate(index, work, prescribed, a, C, carrier.body, carrier.at_spin, i, biased)
        gyration(index, work, v, C, carrier.body, i, rate)


@inline
def momentum_rate(index, work, prescribed, a, C, carrier, at_spin, i, biased):
    """What the spin momentum on carrier number i changes by; (S1). Where it is ``biased`` all is in the bias."""
    if biased:
        return rot(ws.rotation(work, carrier), ws.momentum(work, at_spin, C.nk))
    rate = zero3()
    if prescribed is not None:
        for k in range(C.nk):
            rate = rate + ws.spin_column(work, C.at_work, C.nk, i, k) * get(a, listed(index, C.column, k))
    return rate


@inline
def gyration(index, work, v, C, carrier, i, rate):
    """(S3) on one carrier: the moment w x h v + rate on it, and u -= h . alpha."""
    omega, alpha = angular(ws.velocity(work, carrier)), angular(ws.acceleration(work, carrier))
    total = zero3()
    for k in range(C.nk):
        h = ws.spin_column(work, C.at_work, C.nk, i, k)
        total = total + h * get(v, listed(index, C.column, k))
        ws.set_u_entry(work, C.at_work, C.nk, k, ws.u_entry(work, C.at_work, C.nk, k) - dot3(h, alpha))
    if carrier > 0:
        ws.add_moment(work, carrier, cross(omega, total) + rate)


@inline
def spin_coupling(work, at, nk, i, at_K, k, m):
    """What carrier i inside the cluster adds to entry (k, m) of its inertia: K_c' [0; h] and its transpose; (S4)."""
    K_k, K_m = angular(ws.K_column(work, at_K, k)), angular(ws.K_column(work, at_K, m))
    return dot3(K_k, ws.spin_column(work, at, nk, i, m)) + dot3(ws.spin_column(work, at, nk, i, k), K_m)
