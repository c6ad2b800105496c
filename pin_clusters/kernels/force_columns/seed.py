"""Initial entries (O1) of the panel, which are torques and unit forces at frames."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import pose_of_rotor
from ..bodies.placements import free_pose, unit_rotation
from ..directions import Out
from ..numbers.memory import get, put, put_zeros
from ..numbers.spatial import angular, column, cross, dot3, join, linear, matmul3, rot, transposed, zero3
from ..numbers.tuples import load3, load9
from ..tables import workspace as ws
from ..tables.columns_layout import AXES, CENTRE, HOME, POINT, TURN
from ..tables.layout import FREE, LOCAL, WORLD
from ..tables.views import body, cluster, listed, rotor
from .panel import at_body, at_w, column_row, reached, touch


@inline
def of_world(index, params, q, root, numbers, home):
    """Return the pose of the kernels' world in the universe: the pose of free flyer ``root``, or a stored position."""
    if root > 0:
        B = body(index, root)
        if cluster(index, B.cluster).kind == FREE:
            return free_pose(params, q, root, B)
    return unit_rotation(), load3(numbers, home)


@inline
def axes_and_point(index, params, q, numbers, F, R, x):
    """Return the axes and point of application of forces at a frame with pose R, x, all in the kernels' world."""
    if F.reference == LOCAL:
        return R, x
    R_world, x_world = of_world(index, params, q, F.root, numbers, F.at + HOME)
    axes = transposed(R_world)
    if F.reference == WORLD:
        return axes, -rot(axes, x_world)
    return axes, x


@inline
def unit_wrench(axes, x, i):
    """Return a unit force (i < 3) or moment (i >= 3) along axis i % 3 at the point x."""
    e = column(axes, i % 3)
    o = zero3()
    if i < 3:
        return join(e, cross(x, e))
    return join(o, e)


@inline
def place_frames(index, params, work, q, asked, numbers: Out, A):
    """Write the axes and the point of application of the forces at each frame; for rotors, also the spin axis."""
    for f in range(A.frame0, A.frame1):
        F = touch(asked, f)
        R, x = ws.rotation(work, F.body), ws.position(work, F.body)
        if F.rotor > 0:
            R, x = pose_of_rotor(params, work, q, rotor(index, F.rotor))
            put(numbers, F.at + TURN, column(R, 2))
            put(numbers, F.at + CENTRE, x)
        R, x = matmul3(R, load9(numbers, F.at)), x + rot(R, load3(numbers, F.at + 9))
        axes, point = axes_and_point(index, params, q, numbers, F, R, x)
        put(numbers, F.at + AXES, axes)
        put(numbers, F.at + POINT, point)


@inline
def clear(index, asked, panel: Out, n, A):
    """Set the forces on the bodies of each cluster to zero in the columns that affect the cluster."""
    for c in range(n.cluster0, n.cluster1):
        C, R = cluster(index, c), reached(asked, n, A, c)
        for b in range(C.first, C.last):
            put_zeros(panel, at_body(A, b, R.first), 6 * (R.last - R.first))


@inline
def no_torques(panel: Out, n, A):
    put_zeros(panel, at_w(n, A, 0, 0), n.nv * A.width)


@inline
def seed_torques(B, panel: Out, n, A):
    """Write the torques B to their columns of the panel, and zero torques to the other columns (O1)."""
    no_torques(panel, n, A)
    for i in range(n.nv):
        for j in range(A.torque1 - A.torque0):
            put(panel, at_w(n, A, i, A.torque0 + j), B[i, j])


@inline
def seed_force(index, work, asked, numbers, panel: Out, n, A, j):
    """Write minus a unit force on a body to column j, as (O1) requires."""
    K = column_row(asked, A.column0 + j)
    F = touch(asked, K.touch)
    w = unit_wrench(load9(numbers, F.at + AXES), load3(numbers, F.at + POINT), K.axis)
    put(panel, at_body(A, F.body, j), -w)
    if F.rotor > 0:
        r, centre = rotor(index, F.rotor), load3(numbers, F.at + CENTRE)
        t = dot3(load3(numbers, F.at + TURN), angular(w) - cross(centre, linear(w)))
        for k in range(r.nk):
            put(panel, at_w(n, A, listed(index, r.column, k), j), get(work, r.at_G + k) * t)


@inline
def seed_forces(index, work, asked, numbers, panel: Out, n, A):
    for j in range(A.columns):
        if not A.torque0 <= j < A.torque1:
            seed_force(index, work, asked, numbers, panel, n, A, j)
