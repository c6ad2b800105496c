"""FREE in hybrid dynamics: of the six accelerations of the base any may be prescribed."""

from __future__ import annotations

from ..bodies.motions import base_gravity, body_inertia, external_force, newton_euler, set_body
from ..bodies.placements import unit_rotation
from ..compiling.jit import inline
from ..numbers.ldl6 import sym6_factor, sym6_solve
from ..numbers.pack import too_small
from ..numbers.simd import get, put, zero
from ..numbers.spatial import rigid_as_sym6, sym6_mul, zero3
from ..numbers.tuples import Sym6, Vec6, load6
from ..tables import workspace as ws
from ..tables.views import body


@inline
def advance(index, params, work, q, v, result_and_forces, a, C, forced):
    """(A1)-(A3) at the prescribed accelerations, and the inertia."""
    b, o = C.first, zero(work)
    B, R, x = body(index, b), unit_rotation(o), zero3(o)
    vel, acc = load6(v, C.column), base_gravity(params, work, q, b, B) + load6(a, C.column)
    I = body_inertia(params, b, R, x)
    f = newton_euler(I, vel, acc)
    if forced:
        f = f - external_force(index, params, result_and_forces, b, B, R, x)
    set_body(work, b, R, x, vel, acc, f)
    ws.set_articulated(work, b, rigid_as_sym6(I, o))


@inline
def eliminate(params, work, prescribed, tau, a, C):
    """(H4), (H5), with I^A for D; returns whether its free part is singular."""
    b, o, at, singular = C.first, zero(work), C.column, False
    I, u = ws.articulated(work, b), load6(tau, at) - ws.force(work, b)
    fixed = (
        prescribed[at], prescribed[at + 1], prescribed[at + 2], prescribed[at + 3], prescribed[at + 4],
        prescribed[at + 5],
    )  # fmt: skip
    inverse_d, d, L = sym6_factor(_free_part(I, fixed, o))
    x = sym6_solve(inverse_d, L, _free_entries(u, fixed, o))
    left = u - sym6_mul(I, x)
    ws.set_acceleration(work, b, x)
    smallest = get(params, C.smallest)
    for k in range(6):
        if fixed[k] != 0:
            put(tau, at + k, -left[k])
        else:
            put(a, at + k, x[k])
            if too_small(d[k], smallest):
                singular = True
    return singular


@inline
def _unless(is_fixed, x, other):
    """Return x, or the other number where a column is prescribed: chosen, not multiplied, so no NaN comes along."""
    return other if is_fixed != 0 else x


@inline
def _free_entries(u, fixed, o):
    """Entries of the free columns, zero for the others."""
    return Vec6(
        _unless(fixed[0], u[0], o), _unless(fixed[1], u[1], o), _unless(fixed[2], u[2], o),
        _unless(fixed[3], u[3], o), _unless(fixed[4], u[4], o), _unless(fixed[5], u[5], o),
    )  # fmt: skip


@inline
def _free_part(I, fixed, o):
    """Rows and columns of the free columns; those of the others are the identity's."""
    f0, f1, f2, f3, f4, f5 = fixed
    e = o + 1.0
    return Sym6(
        _unless(f0, I[0], e), _unless(f0 | f1, I[1], o), _unless(f0 | f2, I[2], o),
        _unless(f1, I[3], e), _unless(f1 | f2, I[4], o), _unless(f2, I[5], e),
        _unless(f0 | f3, I[6], o), _unless(f0 | f4, I[7], o), _unless(f0 | f5, I[8], o),
        _unless(f1 | f3, I[9], o), _unless(f1 | f4, I[10], o), _unless(f1 | f5, I[11], o),
        _unless(f2 | f3, I[12], o), _unless(f2 | f4, I[13], o), _unless(f2 | f5, I[14], o),
        _unless(f3, I[15], e), _unless(f3 | f4, I[16], o), _unless(f3 | f5, I[17], o),
        _unless(f4, I[18], e), _unless(f4 | f5, I[19], o), _unless(f5, I[20], e),
    )  # fmt: skip
