"""Elimination for hybrid dynamics: some accelerations are prescribed, and the torques of these joints are unknown.

The arguments are ``prescribed`` (one byte per velocity), all torques ``tau`` and all accelerations ``a``; unknown
entries are zero. Forward dynamics is compiled with ``prescribed`` = None. Then ``tau`` and ``a`` are the same array,
in which accelerations replace the torques.

The elimination treats joints with prescribed acceleration as rigid. Gauss-Jordan elimination reduces [D, U', u], one
row per independent velocity, with pivots only where the torque is known. Each entry of u - U' delta_out is then an
unknown acceleration, or minus an unknown torque: (H4), (H5).
"""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.choices import too_small
from ..numbers.ldl6 import sym6_factor, sym6_solve
from ..numbers.memory import get, put
from ..numbers.spatial import sym6_minus_outer, sym6_mul
from ..numbers.tuples import Sym6, Vec6, load6
from ..tables import workspace as ws
from ..tables.views import head, listed, velocity_row


@inline
def is_prescribed(prescribed, i_v):
    if prescribed is None:
        return False
    return prescribed[i_v] != 0


@inline
def eliminate_base(params, work, prescribed, tau: Out, a: Out, C):
    """Compute (H4) and (H5) for a free flyer, whose D is I^A; return whether the free block of D is singular."""
    b, o, first, singular = C.first, 0.0, C.column, False
    I, u = ws.articulated(work, b), load6(tau, first) - ws.force(work, b)
    fixed = (
        prescribed[first],
        prescribed[first + 1],
        prescribed[first + 2],
        prescribed[first + 3],
        prescribed[first + 4],
        prescribed[first + 5],
    )
    inverse_d, d, L = sym6_factor(_free_part(I, fixed, o))
    x = sym6_solve(inverse_d, L, _free_entries(u, fixed, o))
    residual = u - sym6_mul(I, x)
    ws.set_acceleration(work, b, x)
    smallest = get(params, C.smallest)
    for k in range(6):
        if fixed[k] != 0:
            put(tau, first + k, -residual[k])
        else:
            put(a, first + k, x[k])
            if too_small(d[k], smallest):
                singular = True
    return singular


@inline
def _unless(is_fixed, x, other):
    """Return ``other`` for a prescribed column, else x; unlike a product with 0, this discards an x that is NaN."""
    return other if is_fixed != 0 else x


@inline
def _free_entries(u, fixed, o):
    """Return u with zeros in the prescribed columns."""
    return Vec6(
        _unless(fixed[0], u[0], o),
        _unless(fixed[1], u[1], o),
        _unless(fixed[2], u[2], o),
        _unless(fixed[3], u[3], o),
        _unless(fixed[4], u[4], o),
        _unless(fixed[5], u[5], o),
    )


@inline
def _free_part(I, fixed, o):
    """Return I with the prescribed rows and columns replaced by those of the identity."""
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


@inline
def sweep(index, params, work, prescribed, C, total, f_out):
    """Compute (H1) to (H3) for a cluster with any number of columns; return whether the free block of D is singular."""
    nk, slot, smallest, singular = C.nk, C.at_work, get(params, C.smallest), False
    for k in range(nk):
        ws.set_UDinv_column(work, slot, nk, k, ws.U_column(work, slot, nk, k))
        for m in range(k):
            ws.set_D_entry(work, slot, nk, m, k, ws.D_entry(work, slot, nk, k, m))
    for j in range(nk):
        if not is_prescribed(prescribed, listed(index, C.column, j)):
            d, U, u = (
                ws.D_entry(work, slot, nk, j, j),
                ws.UDinv_column(work, slot, nk, j),
                ws.u_entry(work, slot, nk, j),
            )
            if too_small(d, smallest):
                singular = True
            e = 1.0 / d
            Y, w = U * e, e * u
            total, f_out = sym6_minus_outer(total, U, Y), f_out + U * w
            ws.set_UDinv_column(work, slot, nk, j, Y)
            ws.set_u_entry(work, slot, nk, j, w)
            for m in range(j + 1, nk):
                ws.set_D_entry(work, slot, nk, j, m, ws.D_entry(work, slot, nk, j, m) * e)
            for k in range(nk):
                if k != j:
                    reduce_row(work, slot, nk, j, k)
    if C.out > 0:
        ws.add_articulated(work, C.out, total)
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def reduce_row(work, slot, nk, j, k):
    """Eliminate column j from row k; row j is already divided by its pivot."""
    d = ws.D_entry(work, slot, nk, k, j)
    for m in range(j + 1, nk):
        ws.set_D_entry(work, slot, nk, k, m, ws.D_entry(work, slot, nk, k, m) - d * ws.D_entry(work, slot, nk, j, m))
    ws.set_UDinv_column(work, slot, nk, k, ws.UDinv_column(work, slot, nk, k) - ws.UDinv_column(work, slot, nk, j) * d)
    ws.set_u_entry(work, slot, nk, k, ws.u_entry(work, slot, nk, k) - d * ws.u_entry(work, slot, nk, j))


@inline
def forget_bias(index, work, C):
    """Set the bias of independent velocities, which ``accelerations_of`` has overwritten, back to zero."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        if V.column >= 0:
            put(work, V.at_bias, 0.0)
