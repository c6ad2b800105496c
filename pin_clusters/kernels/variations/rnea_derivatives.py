"""Derivatives of inverse dynamics in one recursion, equations (V1) to (V7).

This is the recursion of Singh, Russell and Wensing, applied to the tree of clusters. The columns J, L and N replace the
motion subspaces and their rates, so the recursion also applies to coupled joints, spin elements and closed loops.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.motions import pose_of_rotor, rotor_force
from ..bodies.placements import start, turn_joints
from ..clusters.loop import without_loops
from ..directions import Out
from ..numbers.memory import get, put
from ..numbers.spatial import column, cross, cross_force, join, zero6, zero_rigid
from ..numbers.tuples import load6
from ..tables import workspace as ws
from ..tables.layout import FREE, GENERAL, LOOP, OK, SINGLE, WRONG_SIZE
from ..tables.variations_layout import OF_COLUMN, OF_POSITION, ON_ROTOR
from ..tables.views import cluster, header, listed, rotor
from . import has_hinges, hinges, of_free, of_general, of_loop, of_single
from .of_general import carried
from .results import about_centre, coriolis


@inline
def rotor_variations(index, params, work, rates: Out, q, forces, tau: Out):
    """Add external forces on lumped rotors (S5) to carriers and joint torques, and the forces' derivatives to P."""
    n = header(index)
    for i in range(n.rotor0, n.rotor1):
        r = rotor(index, i)
        C = cluster(index, r.cluster)
        f, axial = rotor_force(index, params, work, q, forces, r)
        R, x = pose_of_rotor(params, work, q, r)
        z = column(R, 2)
        turned = cross_force(join(cross(x, z), z), f)
        if r.carrier > 0:
            ws.add_force(work, r.carrier, -f)
        for k in range(r.nk):
            g, i_v = get(work, r.at_G + k), listed(index, r.column, k)
            if C.kind == SINGLE:
                offset = C.at_rates + ON_ROTOR
                ws.set_own_torque(work, C.first, ws.own_torque(work, C.first) - g * axial)
            else:
                m = 0  # column of i_v in its cluster
                while listed(index, C.column, m) != i_v:
                    m += 1
                offset = carried(index, C, r.carrier, m) + OF_POSITION
                if C.kind == GENERAL and has_hinges(index, C):
                    offset = C.at_rates + OF_COLUMN * m + ON_ROTOR
                if C.kind == GENERAL:
                    put(tau, i_v, get(tau, i_v) - g * axial)
            put(rates, offset, load6(rates, offset) - turned * g)
        if C.kind == LOOP:
            offset = r.at_G + r.nk + 3  # rotor torque, see ``layout.Velocity`` and ``sizes.joint_work``
            put(work, offset, get(work, offset) - axial)


def derivatives_with(advance_loop, collect_loop):
    @inline
    def collect(
        index,
        params,
        work,
        rates: Out,
        nv,
        c,
        tau: Out,
        dq: Out,
        dv: Out,
        M: Out,
        total: Out,
        second,
        pairs,
        summed,
        forced,
    ):
        C = cluster(index, c)
        if C.kind == SINGLE:
            of_single.collect(index, params, work, rates, nv, C, tau, dq, dv, M, total, second, pairs, summed, forced)
        elif C.kind == FREE:
            of_free.collect(index, work, rates, nv, C, tau, dq, dv, M, total, second, pairs, summed)
        elif C.kind == LOOP:
            collect_loop(index, params, work, rates, nv, c, C, tau, dq, dv, M, total, second, pairs, summed)
        elif has_hinges(index, C):
            hinges.collect(index, work, rates, nv, C, tau, dq, dv, M, total, second, pairs, summed, forced)
        else:
            of_general.collect(index, work, rates, nv, C, tau, dq, dv, M, total, second, pairs, summed)

    @paste
    def derivatives(index, params, work, rates: Out, q, v, a, forces, tau: Out, dq: Out, dv: Out, M: Out, total: Out):
        """Write tau, its derivatives dq and dv, and the mass matrix M; a result whose array is empty is not computed.

        The matrices are nv x nv. Entries between different branches of the tree are not written and must be zero. If dq
        is empty, tau must be empty, and dv becomes the Coriolis matrix (V8). If M is empty, dv must be empty, and only
        sums over the robot are computed. ``forces`` is empty, or it contains nv entries followed by external forces.
        ``total`` is empty or 24 x nv: d(momentum)/dq, the derivatives of the momentum's rate with respect to q and v,
        and the momentum matrix, all about the centre of mass (V7).
        """
        n = header(index)
        nv, forced, pairs, summed = n.nv, forces.shape[0] > 0, M.shape[0] > 0, total.shape[0] > 0
        second = dq.shape[0] > 0 or summed
        if q.shape[0] != n.nq or v.shape[0] != nv or a.shape[0] != nv:
            return WRONG_SIZE
        start(params, work)
        ws.set_composite(work, 0, zero_rigid())
        ws.set_total_momentum(work, 0, zero6())
        ws.set_inertia_rate(work, 0, zero6())
        ws.set_force(work, 0, zero6())
        turn_joints(index, work, q)
        code = OK
        for c in range(n.cluster0, n.cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                of_single.advance(index, params, work, rates, q, v, a, forces, C, second, forced)
            elif C.kind == FREE:
                of_free.advance(index, params, work, rates, q, v, a, forces, C, second, summed, forced)
            elif C.kind == LOOP:
                if advance_loop(
                    index, params, work, rates, q, v, a, forces, c, C, nv, dq, dv, M, second, pairs, summed, forced
                ):
                    code = -c
            elif has_hinges(index, C):
                hinges.advance(index, params, work, rates, q, v, a, forces, C, tau, second, forced)
            else:
                of_general.advance(
                    index, params, work, rates, q, v, a, forces, C, nv, tau, dq, dv, M, second, pairs, summed, forced
                )
            # ``collect`` runs for the clusters of a branch when the branch ends, while their data is in the cache. With
            # external forces, it runs for all clusters at the end, because forces on rotors must be added first.
            done, until = c, C.until
            if forced:
                until = c
                if c == n.cluster1 - 1:
                    until = n.cluster0 - 1
                    rotor_variations(index, params, work, rates, q, forces, tau)
            while done > until:
                collect(index, params, work, rates, nv, done, tau, dq, dv, M, total, second, pairs, summed, forced)
                done = done - 1 if forced else cluster(index, done).above
        if pairs and not second:
            coriolis(index, params, work, nv, v, M, dv)
        if summed:
            about_centre(index, params, work, nv, total)
        return code

    return derivatives


derivatives = derivatives_with(without_loops, without_loops)
derivatives_loops = derivatives_with(of_loop.advance, of_loop.collect)
