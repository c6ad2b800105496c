"""Computes positions and velocities of points on bodies, and the response to forces at these points, in one call.

Each point has three columns, which are unit forces along the axes of the universe. Therefore the matrix C of
``columns`` is J', where J is the Jacobian of the points.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..clusters import articulated, loop
from ..directions import Out
from ..dynamics.crba import poses_with
from ..dynamics.minverse import factor
from ..numbers.memory import get, put
from ..numbers.spatial import angular, column, cross, dot3, linear, rot
from ..numbers.tuples import load3, load6, load9
from ..tables import workspace as ws
from ..tables.columns_layout import AXES, CENTRE, HOME, OFFSET, POINT, TURN
from ..tables.layout import FREE, SINGLE, WRONG_SIZE
from ..tables.views import body, cluster, header, listed, rotor
from .columns import answer
from .panel import asked_header, touch
from .seed import no_torques, of_world, place_frames


@inline
def velocities_of_bodies(index, work, v):
    """Compute the velocities of all bodies (A1) from stored poses and K."""
    n = header(index)
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == SINGLE:
            S = ws.axis(work, C.first)
            ws.set_velocity(work, C.first, ws.velocity(work, C.out) + S * get(v, C.column))
        elif C.kind == FREE:
            ws.set_velocity(work, C.first, load6(v, C.column))
        else:
            for b in range(C.first, C.last):
                B, vel = body(index, b), ws.velocity(work, C.out)
                for k in range(C.nk):
                    if articulated.moves(B.mask, k):
                        vel = vel + ws.K_column(work, B.at_K, k) * get(v, listed(index, C.column, k))
                ws.set_velocity(work, b, vel)


@inline
def velocity_of_point(index, work, v, numbers, F):
    m, x = ws.velocity(work, F.body), load3(numbers, F.at + POINT)
    velocity = linear(m) + cross(angular(m), x)
    if F.rotor > 0:
        r, rate = rotor(index, F.rotor), 0.0
        for k in range(r.nk):
            rate += get(work, r.at_G + k) * get(v, listed(index, r.column, k))
        velocity = velocity + cross(load3(numbers, F.at + TURN), x - load3(numbers, F.at + CENTRE)) * rate
    return velocity


@inline
def place_points(index, params, q, asked, numbers: Out, A, positions: Out):
    """Write the positions of points in the universe, and add the offset of each point to its stored position."""
    for f in range(A.frame0, A.frame1):
        F = touch(asked, f)
        point = load3(numbers, F.at + POINT) + rot(load9(numbers, F.at + AXES), load3(numbers, F.at + OFFSET))
        put(numbers, F.at + POINT, point)
        R, x = of_world(index, params, q, F.root, numbers, F.at + HOME)
        x = x + rot(R, point)
        for i in range(3):
            positions[f - A.frame0, i] = x[i]


def points_with(compose_loop):
    poses = poses_with(compose_loop)

    @paste
    def points(
        index,
        params,
        work,
        result,
        q,
        v,
        asked,
        numbers: Out,
        panel: Out,
        gram: Out,
        response: Out,
        positions: Out,
        velocities: Out,
    ):
        """Write positions in the universe and, to arrays that are not empty, J v, J M^-1 J' and M^-1 J'."""
        n, A = header(index), asked_header(asked, 0)
        if q.shape[0] != n.nq or v.shape[0] != n.nv or positions.shape[0] != A.frame1 - A.frame0:
            return WRONG_SIZE
        if positions.shape[1] != 3 or gram.shape[0] != A.tasks or gram.shape[1] != A.tasks:
            return WRONG_SIZE
        if response.shape[0] != n.nv or response.shape[1] != A.columns * A.moves:
            return WRONG_SIZE
        if velocities.shape[0] != 0 and velocities.shape[0] != 3 * positions.shape[0]:
            return WRONG_SIZE
        code = poses(index, params, work, q)
        place_frames(index, params, work, q, asked, numbers, A)
        place_points(index, params, q, asked, numbers, A, positions)
        if velocities.shape[0] > 0:
            velocities_of_bodies(index, work, v)
            for f in range(A.frame0, A.frame1):
                F = touch(asked, f)
                axes, m = load9(numbers, F.at + AXES), velocity_of_point(index, work, v, numbers, F)
                for i in range(3):
                    put(velocities, 3 * (f - A.frame0) + i, dot3(column(axes, i), m))
        if A.columns == 0:
            return code
        singular = factor(index, params, work)
        no_torques(panel, n, A)
        answer(index, work, asked, numbers, panel, n, A, gram, response)
        return code if code < 0 else singular

    return points


points = points_with(loop.without_loops)
points_loops = points_with(loop.compose)
