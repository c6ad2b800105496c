"""LOOP clusters: G and g depend on q, and the accelerations include the bias g.

A rod with mass adds a point mass at each end (one sixth of its mass if it is slender) to the bodies that it connects.
The remaining mass moves with the midpoint of the rod, which is a separate body in the tables. ``collect``,
``eliminate``, ``propagate``, ``couple`` and ``factor`` are the same as for GENERAL clusters.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.motions import body_inertia, motion, needed_force, rate_of, set_motion
from ..loops.closure_biases import point_acceleration
from ..loops.closure_rows import point
from ..numbers.memory import get, increase
from ..numbers.spatial import cross, join, point_inertia, point_velocity, rigid_as_sym6, zero3, zero6
from ..tables import workspace as ws
from ..tables.layout import MIDDLE
from ..tables.views import block, body, head, listed, rod
from .general import columns, move_with_inertia
from .prescribed import forget_bias
from .spin_elements import gyrations, inertia_torques, spin_columns, spin_terms

from ..loops.coupling_of_loops import accelerations_of, bias_of, is_singular, joint_motion  # isort: skip
from ..loops.coupling_of_loops import prepare, prepare_bias, rates_of, spin_biases  # isort: skip
from ..directions import Out


@inline
def without_loops(*arguments):
    return False


@inline
def acceleration_of_joint(index, work, a, C, B):
    m = zero6()
    for d in range(B.ndof):
        x = get(work, B.at_G + B.ndof * C.nk + d)
        m = m + ws.subspace(work, B.at_S, d) * rate_of(index, work, a, C, B, d, x)
    return m


@inline
def rod_forces(index, params, work, H):
    """Add half the inertial force of each rod's midpoint mass to the body at each end."""
    for r in range(H.rod0, H.rod1):
        R = rod(index, r)
        pa, pb = point(params, work, R.a, R.at), point(params, work, R.b, R.at + 3)
        ya = point_acceleration(pa, ws.velocity(work, R.a), ws.acceleration(work, R.a))
        yb = point_acceleration(pb, ws.velocity(work, R.b), ws.acceleration(work, R.b))
        # The acceleration of the midpoint is the mean of the accelerations of both ends.
        f = (ya + yb) * (0.25 * get(params, R.at + 6))
        if R.a > 0:
            ws.add_force(work, R.a, join(f, cross(pa, f)))
        if R.b > 0:
            ws.add_force(work, R.b, join(f, cross(pb, f)))


@paste
def velocities(index, params, work, q, v, C):
    """Compute poses, G and joint velocities; return whether the loops are singular."""
    prepare(index, params, work, q, C)
    rates_of(index, work, v, C)
    return is_singular(index, work, C)


@paste
def advance(index, params, work, q, v, a, result_and_forces, out: Out, c, C, forced):
    """Compute (L1) to (L5), (A1) to (A3), (S1), (S2); write the torques of spin elements and armature to ``out``."""
    prepare(index, params, work, q, C)
    prepare_bias(index, params, work, q, v, c, C)
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind == MIDDLE:
            ws.set_force(work, b, zero6())
            continue
        vj, aj = joint_motion(work, B, C.nk, 1), acceleration_of_joint(index, work, a, C, B)
        vel, acc = motion(work, B.parent, vj, aj)
        R, x = ws.rotation(work, b), ws.position(work, b)
        f = needed_force(index, params, result_and_forces, b, B, R, x, vel, acc, forced)
        set_motion(work, b, vel, acc, f)
    H = head(index, C.head)
    rod_forces(index, params, work, H)
    inertia_torques(index, work, a, out, C)
    bias = block(H, C.nk).spin_bias
    for k in range(C.nk):
        increase(out, listed(index, C.column, k), get(work, bias + k))
    spin_terms(index, work, v, a, out, C, True)
    return is_singular(index, work, C)


@inline
def middle_columns(index, params, work, c, C, H):
    """Compute K for the midpoints of rods; the velocity of a midpoint is the mean of the two end velocities."""
    for r in range(H.rod0, H.rod1):
        R, zero = rod(index, r), zero3()
        to = body(index, R.middle).at_K
        for k in range(C.nk):
            va = end_velocity(index, params, work, c, R.a, R.at, k)
            vb = end_velocity(index, params, work, c, R.b, R.at + 3, k)
            ws.set_K_column(work, to, k, join((va + vb) * 0.5, zero))


@inline
def end_velocity(index, params, work, c, b, at, k):
    """Return the velocity of a rod end on body b relative to the output body, per unit of independent velocity k."""
    if b > 0 and body(index, b).cluster == c:
        K = ws.K_column(work, body(index, b).at_K, k)
        return point_velocity(K, point(params, work, b, at))
    return zero3()


@inline
def middle_inertia(index, params, work, H, b):
    m = 0.0
    for r in range(H.rod0, H.rod1):
        if rod(index, r).middle == b:
            m = get(params, rod(index, r).at + 6)
    return point_inertia(m, ws.position(work, b))


@paste
def advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, c, C, forced):
    """Compute (L1) to (L5), (A1) to (A3), (A5), (S3); write the negative torques of spin elements and armature to u."""
    prepare(index, params, work, q, C)
    rates_of(index, work, v, C)
    bias_of(index, params, work, q, c, C)
    if prescribed is not None:
        accelerations_of(index, work, a, C, True)
    H = head(index, C.head)
    spin_biases(index, params, work, C, H, block(H, C.nk))
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind == MIDDLE:
            ws.set_force(work, b, zero6())
            ws.set_articulated(work, b, rigid_as_sym6(middle_inertia(index, params, work, H, b)))
            continue
        R, x = ws.rotation(work, b), ws.position(work, b)
        vj, aj = joint_motion(work, B, C.nk, 1), joint_motion(work, B, C.nk, 0)
        move_with_inertia(index, params, work, result_and_forces, C, b, B, R, x, vj, aj, forced)
    middle_columns(index, params, work, c, C, H)
    rod_forces(index, params, work, H)
    bias = block(H, C.nk).spin_bias
    for k in range(C.nk):
        ws.set_u_entry(work, C.at_work, C.nk, k, -get(work, bias + k))
    spin_columns(index, work, C)
    gyrations(index, work, v, prescribed, a, C, True)
    if prescribed is not None:
        forget_bias(index, work, C)
    return is_singular(index, work, C)


@paste
def compose(index, params, work, q, c, C):
    prepare(index, params, work, q, C)
    H = head(index, C.head)
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind == MIDDLE:
            ws.set_composite(work, b, middle_inertia(index, params, work, H, b))
        else:
            columns(index, work, C, B)
            ws.set_composite(work, b, body_inertia(params, b, ws.rotation(work, b), ws.position(work, b)))
    middle_columns(index, params, work, c, C, H)
    spin_columns(index, work, C)
    return is_singular(index, work, C)
