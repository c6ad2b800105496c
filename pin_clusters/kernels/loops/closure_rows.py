"""Constraint Jacobian K of closures (L1), computed from poses and motion subspaces."""

from ...compiler.numba_jit.jit import inline
from ..numbers.angles import sincos
from ..numbers.memory import get, increase, put, put_zeros
from ..numbers.spatial import column, cross, dot6, join, matmul3, rot
from ..numbers.tuples import load3, load6, load9
from ..tables import layout
from ..tables import workspace as ws
from ..tables.views import block, closure, head, on_angle, on_joint, on_path, term_row
from .function_derivatives import called_jacobian


@inline
def frame(params, work, b, at):
    """Return the pose of a frame on body b; params[at:] contains the frame's placement in the body."""
    R = ws.rotation(work, b)
    return matmul3(R, load9(params, at)), ws.position(work, b) + rot(R, load3(params, at + 9))


@inline
def point(params, work, b, at):
    """Return the position of a point on body b; params[at:] contains the point's coordinates in the body frame."""
    return ws.position(work, b) + rot(ws.rotation(work, b), load3(params, at))


@inline
def spread(index, work, r, row, wrench, W):
    """Write the row of K for wrench W: +-W . S for each velocity on the path between the bodies of closure r (L1)."""
    for p in range(r.part0, r.part1):
        part = on_path(index, p)
        put(work, row + part.column, (1.0 * part.sign) * dot6(W, load6(work, part.at_S)))
    put(work, wrench, W)


@inline
def frames_rows(index, params, work, r, row, width, wrench):
    """Write the rows of K for a frame closure: relative linear and angular velocity of frame b in axes of frame a."""
    Ra, _ = frame(params, work, r.a, r.at)
    Rb, pb = frame(params, work, r.b, r.at + 12)
    for i in range(r.rows):
        n = rot(Ra, load3(params, r.at + 24 + 6 * i))
        m = cross(pb, n)
        if r.turn == layout.TURN_UNIVERSAL:
            m = m + cross(column(Rb, 0), column(Ra, 2)) * get(params, r.at + 29 + 6 * i)
        elif r.turn != layout.TURN_NONE:
            m = m + rot(Ra, load3(params, r.at + 27 + 6 * i))
        spread(index, work, r, row + i * width, wrench + 6 * i, join(n, m))


@inline
def rod_rows(index, params, work, r, row, wrench):
    """Write the row of K for a rod, whose equation is (d . d - l^2) / (2 l) = 0; d is the vector from a to b."""
    pa, pb = point(params, work, r.a, r.at), point(params, work, r.b, r.at + 3)
    n = (pb - pa) * get(params, r.at + 6)
    spread(index, work, r, row, wrench, join(n, cross(pa, n)))


@inline
def harmonic_angles(index, params, work, q, r):
    """Write each angle of a harmonic closure, and its sin, cos, -sin and -cos, to the workspace."""
    for a in range(r.angles):
        put(work, r.scratch + layout.ANGLE_SCRATCH * a + layout.IDENTITY, get(params, r.at + a))
    for p in range(r.part0, r.part1):
        part = on_angle(index, p)
        increase(work, part.angle + layout.IDENTITY, get(params, part.at) * get(q, part.iq))
    for a in range(r.angles):
        angle = r.scratch + layout.ANGLE_SCRATCH * a
        s, c = sincos(get(work, angle + layout.IDENTITY))
        put(work, angle, (s, c, -s, -c))


@inline
def harmonic_rows(index, params, work, q, r, row, width):
    """Write the rows of K for a harmonic closure, computed from the derivatives of its equations by the angles."""
    harmonic_angles(index, params, work, q, r)
    slopes, t = r.scratch + layout.ANGLE_SCRATCH * r.angles, r.term0
    for i in range(r.rows):
        put_zeros(work, slopes, r.angles)
        while t < r.term1 and term_row(index, t).row == i:
            T = term_row(index, t)
            x, f = 0.0 + get(params, T.at), load3(work, T.factor0)
            if T.factors == 1:
                increase(work, T.slope0, x * f[1])
            else:
                g = load3(work, T.factor1)
                if T.factors == 3:
                    h = load3(work, T.factor2)
                    increase(work, T.slope2, x * f[0] * g[0] * h[1])
                    x = x * h[0]
                increase(work, T.slope0, x * f[1] * g[0])
                increase(work, T.slope1, x * f[0] * g[1])
            t += 1
        for p in range(r.part0, r.part1):
            part = on_angle(index, p)
            increase(work, row + i * width + part.column, get(params, part.at) * get(work, part.slope))


@inline
def equations(index, params, work, q, C):
    """Compute K of a LOOP cluster from the stored poses of its bodies: (L1)."""
    H = head(index, C.head)
    L = block(H, C.nk)
    put_zeros(work, L.K, L.nr * L.width)
    for c in range(H.closure0, H.closure1):
        r = closure(index, c)
        row, wrench = L.K + r.row0 * L.width, L.W + 6 * r.row0
        if r.form == layout.FRAMES:
            frames_rows(index, params, work, r, row, L.width, wrench)
        elif r.form == layout.ROD:
            rod_rows(index, params, work, r, row, wrench)
        elif r.form == layout.HARMONIC:
            harmonic_rows(index, params, work, q, r, row, L.width)
        else:
            # The rows are a constant matrix or the Jacobian of a user's function.
            n = r.part1 - r.part0
            if r.form == layout.CALLED:
                called_jacobian(index, params, work, q, r)
            for i in range(r.rows):
                for j in range(n):
                    if r.form == layout.PROPORTIONAL:
                        k = 0.0 + get(params, r.at + i * n + j)
                    else:
                        k = get(params, r.at + i) * get(work, r.scratch + i * n + j)
                    put(work, row + i * L.width + on_joint(index, r.part0 + j).column, k)
