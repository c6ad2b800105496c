"""Hybrid dynamics (H1) to (H6) with the passes of aba: each joint has a prescribed acceleration or a known torque."""

from ...compiler.numba_jit.jit import inline, paste
from ..clusters import loop
from ..directions import Out
from ..numbers.memory import get, put
from ..tables.layout import WRONG_SIZE
from ..tables.views import header
from .aba import passes_with
from .rnea import wrong_size


@inline
def take(index, tau, a, prescribed, tau_out: Out, a_out: Out):
    for i in range(header(index).nv):
        if prescribed[i] != 0:
            put(tau_out, i, 0.0)
            put(a_out, i, get(a, i))
        else:
            put(tau_out, i, get(tau, i))
            put(a_out, i, 0.0)


def hybrid_with(advance_loop):
    passes = passes_with(advance_loop)

    @paste
    def hybrid(index, params, work, result_and_forces, q, v, tau, a, prescribed, tau_out: Out, a_out: Out):
        """Write all torques to tau_out and accelerations to a_out; ``prescribed`` is 0 for joints with known torque."""
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
        take(index, tau, a, prescribed, tau_out, a_out)
        code = passes(index, params, work, q, v, result_and_forces, prescribed, tau_out, a_out, forced)
        if forced:
            for i in range(nv):
                if prescribed[i] == 0:
                    put(tau_out, i, get(tau, i))  # removes the torques due to external forces on rotors
        return code

    return hybrid


hybrid = hybrid_with(loop.without_loops)
hybrid_loops = hybrid_with(loop.advance_with_inertia)
