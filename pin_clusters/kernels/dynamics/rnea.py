"""Inverse dynamics of clusters with spin elements (C-RNEA): (A1) to (A4)."""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.motions import rotor_force
from ..bodies.placements import start, turn_joints
from ..clusters import free, general, loop, single
from ..directions import Out
from ..numbers.memory import get, increase, put, put_zeros
from ..tables import workspace as ws
from ..tables.layout import FREE, LOOP, OK, SINGLE, WRONG_SIZE
from ..tables.views import cluster, header, listed, rotor


@inline
def wrong_size(index, q, v, x, result_and_forces):
    n = header(index)
    size = result_and_forces.shape[0]
    return (
        q.shape[0] != n.nq
        or v.shape[0] != n.nv
        or x.shape[0] != n.nv
        or (size != n.nv and size != n.nv + 6 * n.njoints)
    )


@inline
def rotor_forces(index, params, work, q, result_and_forces, out: Out, sign):
    """Apply external forces on rotors to the carriers, and their axial moments to the driving joints (S5)."""
    n = header(index)
    for i in range(n.rotor0, n.rotor1):
        r = rotor(index, i)
        f, axial = rotor_force(index, params, work, q, result_and_forces, r)
        if r.carrier > 0:
            ws.add_force(work, r.carrier, -f)
        for k in range(r.nk):
            increase(out, listed(index, r.column, k), sign * get(work, r.at_G + k) * axial)


def rnea_with(advance_loop):
    @inline
    def outward(index, params, work, q, v, a, result_and_forces, out: Out, forced):
        """Compute (A1) to (A3); return OK, or minus the index of a cluster with singular loops."""
        code = OK
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                single.advance(index, params, work, q, v, a, result_and_forces, C, forced)
            elif C.kind == FREE:
                free.advance(index, params, work, q, v, a, result_and_forces, C, forced)
            elif C.kind == LOOP:
                if advance_loop(index, params, work, q, v, a, result_and_forces, out, c, C, forced):
                    code = -c
            else:
                general.advance(index, params, work, q, v, a, result_and_forces, out, C, forced)
        return code

    @inline
    def inward(index, work, out: Out):
        n = header(index)
        for i in range(n.cluster1 - n.cluster0):
            C = cluster(index, n.cluster1 - 1 - i)
            if C.kind == SINGLE:
                single.collect(index, work, out, C)
            elif C.kind == FREE:
                free.collect(work, out, C)
            else:
                general.collect(index, work, out, C)

    @paste
    def rnea(index, params, work, result_and_forces: Out, q, v, a, out: Out):
        """Write tau to out and to the start of result_and_forces, whose end contains the external forces, if any."""
        if wrong_size(index, q, v, a, result_and_forces):
            return WRONG_SIZE
        nv = header(index).nv
        forced = result_and_forces.shape[0] > nv
        start(params, work)
        turn_joints(index, work, q)
        code = outward(index, params, work, q, v, a, result_and_forces, out, forced)
        if forced:
            put_zeros(result_and_forces, 0, nv)
            rotor_forces(index, params, work, q, result_and_forces, result_and_forces, -1.0)
        inward(index, work, out)
        for i in range(nv):
            if forced:
                increase(out, i, get(result_and_forces, i))
            put(result_and_forces, i, get(out, i))
        return code

    return rnea


rnea = rnea_with(loop.without_loops)
rnea_loops = rnea_with(loop.advance)
