"""C-ABA: forward dynamics of clusters, with spin elements.

With a = 0 the forward pass is that of C-RNEA, so I_A c never has to be formed; the backward pass eliminates one cluster
after the other, and the last pass adds the corrections to the accelerations.
"""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .addresses import tables
from .bodies import start
from .clusters import free, general, loop, single
from .layout import FREE, LOOP, OK, SINGLE, WRONG_SIZE
from .rnea import rotor_forces, wrong_size
from .simd import borrowed, get, put, zero
from .spatial import zero6
from .views import cluster, header
from .workspace import set_acceleration


def outward_with(advance_loop):
    """Make the first pass; ``advance_loop`` is for LOOP clusters."""

    @inline
    def outward(index, params, work, q, v, result_and_forces, out, forced, whole):
        """(A1)-(A3) at a = 0; ``whole``: no leaf is eliminated at once.

        Returns the row of a cluster whose D is singular, or 0, and minus the row of a singular loop, or OK.

        Reads: acceleration, G, K, momentum, out, pose, q, result_and_forces, S, spin, spin_bias, u, v, velocity.
        Writes: acceleration, articulated, Dinv_u, force, K, pose, S, spin, spin_bias, u, UDinv, velocity.
        """
        singular, code = 0, OK
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                if single.advance_at_rest(index, params, work, q, v, result_and_forces, out, C, forced, whole):
                    singular = c
            elif C.kind == FREE:
                free.advance_at_rest(index, params, work, q, v, result_and_forces, C, forced)
            elif C.kind == LOOP:
                if advance_loop(index, params, work, q, v, result_and_forces, c, C, forced):
                    code = -c
            else:
                general.advance_at_rest(index, params, work, q, v, result_and_forces, C, forced)
        return singular, code

    return outward


def aba_with(advance_loop):
    """Make aba; ``advance_loop`` is for LOOP clusters."""
    outward = outward_with(advance_loop)

    @inline
    def inward(index, params, work, out, forced, singular):
        """(A6)-(A8); returns the row of a cluster whose D is singular.

        Reads: articulated, D, E, force, K, out, S, spin, spin_bias, U, u, UDinv.
        Writes: acceleration, articulated, D, Dinv_u, force, out, U, u, UDinv.
        """
        n = header(index)
        for i in range(n.cluster1 - n.cluster0):
            c = n.cluster1 - 1 - i
            C, bad = cluster(index, c), False
            if C.kind == SINGLE:
                bad = single.eliminate(index, params, work, out, C, forced)
            elif C.kind == FREE:
                bad = free.eliminate(params, work, out, C)
            else:
                bad = general.eliminate(index, params, work, out, C)
            if bad:
                singular = c
        return singular

    @inline
    def corrections(index, work, out):
        """(A9), (A10): from here on accelerations of bodies are corrections to the pass at a = 0.

        Reads: acceleration, Dinv_u, K, out, S, u, UDinv.
        Writes: acceleration, out.
        """
        set_acceleration(work, 0, zero6(zero(work)))  # the universe has none
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                single.propagate(index, work, out, C)
            elif C.kind != FREE:
                general.propagate(index, work, out, C)

    @paste
    def aba(index, params, work, result_and_forces, q, v, tau, out):
        """Write the acceleration to out and to the head of result_and_forces, behind which external forces stand.

        Reads: acceleration, articulated, D, Dinv_u, E, force, G, K, momentum, out, pose, q, result_and_forces, S,
            spin, spin_bias, tau, U, u, UDinv, v, velocity.
        Writes: acceleration, articulated, D, Dinv_u, force, K, out, pose, result_and_forces, S, spin, spin_bias, U,
            u, UDinv, velocity.
        """
        if wrong_size(index, q, v, tau, result_and_forces):
            return WRONG_SIZE
        nv = header(index).nv
        forced = result_and_forces.shape[0] > nv
        start(params, work)
        for i in range(nv):
            put(out, i, get(tau, i))
        singular, code = outward(index, params, work, q, v, result_and_forces, out, forced, forced)
        if forced:
            rotor_forces(index, params, work, q, result_and_forces, out, 1.0)
        singular = inward(index, params, work, out, forced, singular)
        corrections(index, work, out)
        for i in range(nv):
            put(result_and_forces, i, get(out, i))
        return code if code < 0 else singular

    return aba


aba = aba_with(loop.without_loops)
aba_loops = aba_with(loop.advance_at_rest)


@kernel(signature(4), "aba (forward dynamics)", aba)
def aba_at(address, q, v, tau, out):
    """Call aba with the tables at an address.

    Reads: acceleration, articulated, D, Dinv_u, E, force, G, K, momentum, pose, result_and_forces, S, spin,
        spin_bias, U, u, UDinv, velocity.
    Writes: acceleration, articulated, D, Dinv_u, force, K, pose, result_and_forces, S, spin, spin_bias, U, u, UDinv,
        velocity.
    """
    index, params, work, result_and_forces = tables(address)
    return aba(index, params, work, result_and_forces, borrowed(q), borrowed(v), borrowed(tau), borrowed(out))


@kernel(signature(4), "aba (forward dynamics, closed loops)", aba_loops)
def aba_loops_at(address, q, v, tau, out):
    """Call aba with the tables at an address."""
    index, params, work, result_and_forces = tables(address)
    return aba_loops(index, params, work, result_and_forces, borrowed(q), borrowed(v), borrowed(tau), borrowed(out))
