"""Forward dynamics of clusters with spin elements (C-ABA): (A5) to (A10).

The first outward pass evaluates inverse dynamics at a = 0. The inward pass eliminates each cluster after the clusters
that it carries. The last outward pass corrects the accelerations. Hybrid dynamics uses the same passes; see
``clusters/prescribed.py``.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import start, turn_joints
from ..clusters import free, general, loop, single
from ..directions import Out
from ..numbers.memory import put_copy
from ..numbers.spatial import zero6
from ..tables import workspace as ws
from ..tables.layout import FREE, LOOP, OK, SINGLE, WRONG_SIZE
from ..tables.views import cluster, header
from .rnea import rotor_forces, wrong_size


def step_with(advance_loop):
    @inline
    def step(index, params, work, q, v, result_and_forces, prescribed, a, c, C, forced):
        """Compute (A1) to (A3) at zero or prescribed accelerations; return whether the loops are singular."""
        singular_loop = False
        if C.kind == SINGLE:
            single.advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, C, forced)
        elif C.kind == FREE:
            free.advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, C, forced)
        elif C.kind == LOOP:
            singular_loop = advance_loop(index, params, work, q, v, result_and_forces, prescribed, a, c, C, forced)
        else:
            general.advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, C, forced)
        return singular_loop

    return step


def outward_with(advance_loop):
    step = step_with(advance_loop)

    @inline
    def outward(index, params, work, q, v, result_and_forces, out, forced):
        """Run the outward pass at a = 0; return OK, or minus the index of a cluster with singular loops."""
        code = OK
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if step(index, params, work, q, v, result_and_forces, None, out, c, C, forced):
                code = -c
        return code

    return outward


def passes_with(advance_loop):
    step = step_with(advance_loop)

    @inline
    def eliminate(index, params, work, prescribed, tau: Out, a: Out, C):
        """Compute (A6) to (A8) for one cluster; return whether D is singular."""
        if C.kind == SINGLE:
            return single.eliminate(index, params, work, prescribed, tau, a, C)
        if C.kind == FREE:
            return free.eliminate(params, work, prescribed, tau, a, C)
        return general.eliminate(index, params, work, prescribed, tau, C)

    @inline
    def branch_by_branch(index, params, work, q, v, result_and_forces, prescribed, tau: Out, a: Out, forced):
        """Run the outward and inward pass: eliminate each cluster as soon as those that it carries are eliminated.

        This order keeps the data of a cluster in the cache. With external forces, the outward pass is completed first,
        because forces on rotors are added to the forces on their carriers. Return two codes: the index of a cluster
        whose D is singular, or 0; and minus the index of a cluster with singular loops, or OK.
        """
        n, singular, code = header(index), 0, OK
        for c in range(n.cluster0, n.cluster1):
            C = cluster(index, c)
            if step(index, params, work, q, v, result_and_forces, prescribed, a, c, C, forced):
                code = -c
            done, until = c, C.until
            if forced:
                until = c
                if c == n.cluster1 - 1:
                    until = n.cluster0 - 1
                    rotor_forces(index, params, work, q, result_and_forces, tau, 1.0)
            while done > until:
                D = cluster(index, done)
                if eliminate(index, params, work, prescribed, tau, a, D):
                    singular = done
                done = done - 1 if forced else D.above
        return singular, code

    @inline
    def corrections(index, work, prescribed, tau: Out, a: Out):
        """Compute (A9), (A10), (H4) to (H6); store the changes in body accelerations since the first outward pass."""
        ws.set_acceleration(work, 0, zero6())  # the acceleration of the universe does not change
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                single.propagate(index, work, prescribed, tau, a, C)
            elif C.kind != FREE:
                general.propagate(index, work, prescribed, tau, a, C)

    @paste
    def passes(index, params, work, q, v, result_and_forces, prescribed, tau: Out, a: Out, forced):
        """Compute accelerations, and torques of prescribed joints; if ``prescribed`` is None, a is the array tau."""
        start(params, work)
        turn_joints(index, work, q)
        singular, code = branch_by_branch(index, params, work, q, v, result_and_forces, prescribed, tau, a, forced)
        corrections(index, work, prescribed, tau, a)
        return code if code < 0 else singular

    return passes


def aba_with(advance_loop):
    passes = passes_with(advance_loop)

    @paste
    def aba(index, params, work, result_and_forces: Out, q, v, tau, out: Out):
        """Write the acceleration to out and to the start of result_and_forces, whose end contains external forces."""
        if wrong_size(index, q, v, tau, result_and_forces):
            return WRONG_SIZE
        nv = header(index).nv
        forced = result_and_forces.shape[0] > nv
        put_copy(out, 0, tau, 0, nv)
        code = passes(index, params, work, q, v, result_and_forces, None, out, out, forced)
        put_copy(result_and_forces, 0, out, 0, nv)
        return code

    return aba


aba = aba_with(loop.without_loops)
aba_loops = aba_with(loop.advance_with_inertia)
