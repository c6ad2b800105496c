"""Hybrid dynamics of clusters: some accelerations are prescribed and their torques found, for the others the reverse.

The three passes of aba. The first one is not at rest but at the prescribed accelerations, the second one eliminates the
free columns only, and the third one finds accelerations and torques alike.
"""

from __future__ import annotations

from numba import types

from ..bodies.placements import start, turn_joints
from ..clusters import loop, prescribed_free, prescribed_general, prescribed_single
from ..compiling.jit import inline, kernel, paste
from ..numbers.simd import borrowed, get, put, zero
from ..numbers.spatial import zero6
from ..tables import workspace as ws
from ..tables.addresses import tables
from ..tables.layout import FREE, LOOP, OK, SINGLE, WRONG_SIZE
from ..tables.views import cluster, header
from .rnea import rotor_forces, wrong_size


@inline
def take(index, tau, a, prescribed, tau_out, a_out):
    """Copy what is known, and zeros where it is wanted: what stands there is never read."""
    for i in range(header(index).nv):
        if prescribed[i] != 0:
            put(tau_out, i, zero(tau))
            put(a_out, i, get(a, i))
        else:
            put(tau_out, i, get(tau, i))
            put(a_out, i, zero(a))


def hybrid_with(advance_loop):
    """Make hybrid; ``advance_loop`` is for LOOP clusters."""

    @inline
    def outward(index, params, work, q, v, prescribed, result_and_forces, tau, a, forced):
        """(A1)-(A3) at the prescribed accelerations.

        Returns the row of a cluster whose D is singular, or 0, and minus the row of a singular loop, or OK.
        """
        singular, code = 0, OK
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                if prescribed_single.advance(
                    index, params, work, q, v, prescribed, result_and_forces, tau, a, C, forced
                ):
                    singular = c
            elif C.kind == FREE:
                prescribed_free.advance(index, params, work, q, v, result_and_forces, a, C, forced)
            elif C.kind == LOOP:
                if advance_loop(index, params, work, q, v, result_and_forces, a, c, C, forced):
                    code = -c
            else:
                prescribed_general.advance(index, params, work, q, v, result_and_forces, a, C, forced)
        return singular, code

    @inline
    def inward(index, params, work, prescribed, tau, a, forced, singular):
        """(H1)-(H3); returns the row of a cluster whose D is singular."""
        n = header(index)
        for i in range(n.cluster1 - n.cluster0):
            c = n.cluster1 - 1 - i
            C, bad = cluster(index, c), False
            if C.kind == SINGLE:
                bad = prescribed_single.eliminate(index, params, work, prescribed, tau, a, C, forced)
            elif C.kind == FREE:
                bad = prescribed_free.eliminate(params, work, prescribed, tau, a, C)
            else:
                bad = prescribed_general.eliminate(index, params, work, prescribed, tau, C)
            if bad:
                singular = c
        return singular

    @inline
    def answers(index, work, prescribed, tau, a):
        """(H4)-(H6): from here on accelerations of bodies are corrections to the first pass."""
        ws.set_acceleration(work, 0, zero6(zero(work)))  # the universe has none
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                prescribed_single.propagate(index, work, prescribed, tau, a, C)
            elif C.kind != FREE:
                prescribed_general.propagate(index, work, prescribed, tau, a, C)

    @paste
    def hybrid(index, params, work, result_and_forces, q, v, tau, a, prescribed, tau_out, a_out):
        """Write all torques to tau_out and all accelerations to a_out; external forces stand in result_and_forces.

        ``prescribed`` has a byte per entry: 0 where the torque is given, else the acceleration is.
        """
        nv = header(index).nv
        if (
            wrong_size(index, q, v, tau, result_and_forces)
            or a.shape[0] != nv
            or prescribed.shape[0] != nv
            or tau_out.shape[0] != nv
            or a_out.shape[0] != nv
        ):
            return WRONG_SIZE
        forced = result_and_forces.shape[0] > nv
        start(params, work)
        turn_joints(index, work, q)
        take(index, tau, a, prescribed, tau_out, a_out)
        singular, code = outward(index, params, work, q, v, prescribed, result_and_forces, tau_out, a_out, forced)
        if forced:
            rotor_forces(index, params, work, q, result_and_forces, tau_out, 1.0)
        singular = inward(index, params, work, prescribed, tau_out, a_out, forced, singular)
        answers(index, work, prescribed, tau_out, a_out)
        if forced:
            for i in range(nv):
                if prescribed[i] == 0:
                    put(tau_out, i, get(tau, i))  # without the forces on rotors
        return code if code < 0 else singular

    return hybrid


hybrid = hybrid_with(loop.without_loops)
hybrid_loops = hybrid_with(prescribed_general.advance_loop)


def _signature():
    numbers, mask = types.float64[::1], types.int8[::1]
    return types.int64(types.int64, numbers, numbers, numbers, numbers, mask, numbers, numbers)


@kernel(_signature, "hybrid dynamics", hybrid)
def hybrid_at(address, q, v, tau, a, prescribed, tau_out, a_out):
    """Call hybrid with the tables at an address."""
    index, params, work, result_and_forces = tables(address)
    return hybrid(
        index, params, work, result_and_forces, borrowed(q), borrowed(v), borrowed(tau), borrowed(a),
        borrowed(prescribed), borrowed(tau_out), borrowed(a_out),
    )  # fmt: skip


@kernel(_signature, "hybrid dynamics (closed loops)", hybrid_loops)
def hybrid_loops_at(address, q, v, tau, a, prescribed, tau_out, a_out):
    """Call hybrid with the tables at an address."""
    index, params, work, result_and_forces = tables(address)
    return hybrid_loops(
        index, params, work, result_and_forces, borrowed(q), borrowed(v), borrowed(tau), borrowed(a),
        borrowed(prescribed), borrowed(tau_out), borrowed(a_out),
    )  # fmt: skip
