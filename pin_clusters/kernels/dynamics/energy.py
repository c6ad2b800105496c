"""Kinetic and potential energy."""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.motions import along, body_inertia
from ..bodies.placements import free_pose, hinge, place, start, turn_joints
from ..clusters import loop
from ..directions import Out
from ..loops.closure_rows import point
from ..loops.coupling_of_loops import joint_motion
from ..numbers.memory import get, put
from ..numbers.spatial import angular, dot3, dot6, point_velocity, rigid_mul, rot, rot6, rot_t, zero3
from ..numbers.tuples import Vec3, load3, load6
from ..tables import layout as at
from ..tables import workspace as ws
from ..tables.views import body, carrier_row, cluster, head, header, listed, rod


@inline
def spin_energy(index, work, v, C, carrier, at_spin):
    omega, total = rot_t(ws.rotation(work, carrier), angular(ws.velocity(work, carrier))), 0.0
    for k in range(C.nk):
        total += get(v, listed(index, C.column, k)) * dot3(ws.momentum(work, at_spin, k), omega)
    return total


@inline
def base_of(params, work, B):
    """Return the kernels' world origin in the universe; for bodies below a free flyer, it is the flyer's position."""
    return load3(params, at.ORIGIN) + ws.base_position(work, B.root)


@inline
def rod_energy(index, params, work, C):
    """Return twice the kinetic energy of the midpoint masses of all rods, and their potential energy."""
    H, twice, potential = head(index, C.head), 0.0, 0.0
    for r in range(H.rod0, H.rod1):
        R = rod(index, r)
        pa, pb, m = point(params, work, R.a, R.at), point(params, work, R.b, R.at + 3), get(params, R.at + 6)
        mean = (point_velocity(ws.velocity(work, R.a), pa) + point_velocity(ws.velocity(work, R.b), pb)) * 0.5
        middle = base_of(params, work, body(index, R.middle)) + (pa + pb) * 0.5
        twice += m * dot3(mean, mean)
        potential += m * dot3(load3(params, at.MINUS_GRAVITY), middle)
    return twice, potential


@inline
def joint_velocity(index, params, work, q, v, C, b, B):
    """Return the velocity of body b relative to its parent; also store the pose of b, except in LOOP clusters."""
    if C.kind == at.SINGLE:
        R, x, S = hinge(params, work, q, b, B)
        ws.set_pose(work, b, R, x)
        return S * get(v, C.column)
    if C.kind == at.FREE:
        R, x = free_pose(params, q, b, B)
        ws.set_pose(work, b, R, zero3())
        ws.set_base_position(work, b, x)  # the poses of bodies below the base are relative to this position
        return rot6(R, load6(v, C.column))
    if C.kind == at.LOOP:
        return joint_motion(work, B, C.nk, 1)
    place(params, work, q, b, B)
    return along(index, work, v, C, B)


@inline
def spin_energies(index, params, work, v, C):
    twice = 0.0
    if C.kind == at.SINGLE:
        rate = get(v, C.column)
        twice += get(params, C.at_E) * rate * rate
        if C.at_spin >= 0:
            h = rot(ws.rotation(work, C.out), load3(params, C.at_spin))
            twice += 2.0 * rate * dot3(h, angular(ws.velocity(work, C.out)))
    elif C.kind != at.FREE:
        for k in range(C.nk):
            for m in range(C.nk):
                product = get(v, listed(index, C.column, k)) * get(v, listed(index, C.column, m))
                twice += ws.E_entry(work, C.at_E, C.nk, k, m) * product
        if C.at_spin >= 0:
            twice += 2.0 * spin_energy(index, work, v, C, C.out, C.at_spin)
        for r in range(C.carrier0, C.carrier1):
            carrier = carrier_row(index, r)
            twice += 2.0 * spin_energy(index, work, v, C, carrier.body, carrier.at_spin)
    return twice


def energy_with(velocities):
    @paste
    def energy(index, params, work, out: Out, q, v):
        """Write kinetic and potential energy [J]; the potential energy is zero at the origin of the universe."""
        n = header(index)
        if q.shape[0] != n.nq or v.shape[0] != n.nv:
            return at.WRONG_SIZE
        start(params, work)
        turn_joints(index, work, q)
        twice, potential, code = 0.0, 0.0 + get(params, at.POTENTIAL), at.OK
        for c in range(n.cluster0, n.cluster1):
            C = cluster(index, c)
            if C.kind == at.LOOP:
                if velocities(index, params, work, q, v, C):
                    code = -c
            for b in range(C.first, C.last):
                B = body(index, b)
                ws.set_base_position(work, b, zero3())
                vel = ws.velocity(work, B.parent)
                if B.kind != at.MIDDLE:
                    vel = vel + joint_velocity(index, params, work, q, v, C, b, B)
                ws.set_velocity(work, b, vel)
                I = body_inertia(params, b, ws.rotation(work, b), ws.position(work, b))
                moment = base_of(params, work, B) * I[0] + Vec3(I[1], I[2], I[3])
                twice += dot6(vel, rigid_mul(I, vel))
                potential += dot3(load3(params, at.MINUS_GRAVITY), moment)
            if C.kind == at.LOOP:
                two_t, height = rod_energy(index, params, work, C)
                twice += two_t
                potential += height
            twice += spin_energies(index, params, work, v, C)
        put(out, 0, 0.5 * twice)
        put(out, 1, potential)
        return code

    return energy


energy = energy_with(loop.without_loops)
energy_loops = energy_with(loop.velocities)
