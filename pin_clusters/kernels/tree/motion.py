"""Placements, velocities and accelerations of the tree, as computed by ``pin.forwardKinematics``."""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import get, put
from ..numbers.spatial import cross, matmul3, rot6_t, rot_t, transposed, zero6
from ..tables import link_workspace as of_link
from ..tables.views import dof, entry, link
from .link_motions import at_point, carried, direction, place_link


@inline
def rate_of(index, out, x, n, O, iv, total):
    """Return the sum of ``total`` and entry iv of G x."""
    D = dof(index, n.dof0 + iv)
    for t in range(D.term0, D.term1):
        T = entry(index, t)
        total += get(out, O.G + T.at) * get(x, T.k)
    return total


@inline
def spread(index, work, out, x, n, O, at, at_bias):
    """Write G x to work[at:]; unless ``at_bias`` is negative, add the bias in out[at_bias:] to G x."""
    for iv in range(n.nv_tree):
        total = 0.0
        if at_bias >= 0:
            total += get(out, at_bias + iv)
        put(work, at + iv, rate_of(index, out, x, n, O, iv, total))


@inline
def along_joint(index, params, work, n, L, at):
    vj = zero6()
    for d in range(L.ndof):
        vj = vj + direction(params, work, dof(index, n.dof0 + L.iv + d)) * get(work, at + L.iv + d)
    return vj


@inline
def export_link(work, out: Out, A, b, L, level):
    R, R_up, j = of_link.turn(work, b), of_link.turn(work, L.upper), L.joint
    put(out, A.oMi + 12 * j, transposed(R))
    put(out, A.oMi + 12 * j + 9, of_link.position(work, b))
    put(out, A.liMi + 12 * j, transposed(matmul3(transposed(R_up), R)))
    put(out, A.liMi + 12 * j + 9, rot_t(R_up, of_link.offset(work, b)))
    if level > 0:
        v = of_link.velocity(work, b)
        put(out, A.v + 6 * j, rot6_t(R, v))
        put(out, A.ov + 6 * j, at_point(v, of_link.position(work, b)))
    if level > 1:
        put(out, A.a + 6 * j, rot6_t(R, of_link.acceleration(work, b)))


@inline
def outward(index, params, work, out: Out, q, n, A, O, level):
    """Compute placements of all links; from level 1 on, also velocities (A1); at level 2, also accelerations (A2)."""
    for b in range(1, n.links + 1):
        L = link(index, b)
        d = place_link(params, work, q, b, L)
        if level > 0:
            vj = along_joint(index, params, work, n, L, O.v_tree)
            v = carried(of_link.velocity(work, L.parent), d) + vj
            of_link.set_velocity(work, b, v)
            if level > 1:
                aj = along_joint(index, params, work, n, L, O.a_tree)
                of_link.set_acceleration(work, b, carried(of_link.acceleration(work, L.parent), d) + cross(v, vj) + aj)
        if L.joint > 0:
            export_link(work, out, A, b, L, level)
