"""What the variations of one body do to its force, and where they go: inertia, momentum and sums toward the base."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import inertial_force
from ..numbers.memory import put
from ..numbers.spatial import cross_force, rigid_mul, zero3, zero6
from ..numbers.tuples import load3, load6
from ..tables import workspace as ws
from . import record
from .momentum_rates import rate_of_inertia, twice_B, twice_B_transposed

from ..tables.variations_layout import ACCELERATION, OF_ACCELERATION, OF_COLUMN, OF_MOMENTUM  # isort: skip
from ..tables.variations_layout import OF_MOTION, OF_POSITION, OF_RATE, QUADRATIC, VELOCITY  # isort: skip


@inline
def set_inertial(index, params, work, forces, b, B, R, x, I, vel, acc, second, forced):
    """Write inertia, momentum, rate of inertia and, if ``second``, the force of a body; (V2)."""
    ws.set_composite(work, b, I)
    ws.set_total_momentum(work, b, rigid_mul(I, vel))
    ws.set_inertia_rate(work, b, rate_of_inertia(I, vel))
    if second:
        ws.set_force(work, b, inertial_force(index, params, forces, b, B, R, x, I, vel, acc, forced))


@inline
def hand_inertial(work, b, out):
    """Add what a body carries to an output body, but for the force."""
    ws.add_composite(work, out, ws.composite(work, b))
    ws.add_total_momentum(work, out, ws.total_momentum(work, b))
    ws.add_inertia_rate(work, out, ws.inertia_rate(work, b))


@inline
def forces_of(work, b, J, L, N, Gamma, second):
    """F = I J, P = 2 B L + I N, Q = 2 B J + I Gamma, T = 2 B' J of a body; (V3).

    P, if ``second``, is in axes that turn with the body.
    """
    I, h, sigma = ws.composite(work, b), ws.total_momentum(work, b), ws.inertia_rate(work, b)
    Q = twice_B(h, sigma, J) + rigid_mul(I, Gamma)
    P = twice_B(h, sigma, L) + rigid_mul(I, N) if second else Q
    return rigid_mul(I, J), P, Q, twice_B_transposed(h, sigma, J)


@inline
def momentum_of(work, b, J, L):
    """Variation of the momentum of a body, J x* h + I L; (V7)."""
    return cross_force(J, ws.total_momentum(work, b)) + rigid_mul(ws.composite(work, b), L)


@inline
def clear(rates, at):
    """No forces yet."""
    put(rates, at + OF_POSITION, zero6())
    put(rates, at + OF_RATE, zero6())
    put(rates, at + OF_ACCELERATION, zero6())
    put(rates, at + OF_MOTION, zero3())
    put(rates, at + OF_MOMENTUM, zero6())


@inline
def add_forces(rates, at, P, Q, F, T):
    """Add forces to those of a record."""
    put(rates, at + OF_POSITION, load6(rates, at + OF_POSITION) + P)
    put(rates, at + OF_RATE, load6(rates, at + OF_RATE) + Q)
    put(rates, at + OF_ACCELERATION, load6(rates, at + OF_ACCELERATION) + F)
    put(rates, at + OF_MOTION, load3(rates, at + OF_MOTION) + T)


@inline
def add_moments(rates, at, P, Q, F, T):
    """The same of moments alone."""
    for to, x in ((at + OF_POSITION + 3, P), (at + OF_RATE + 3, Q), (at + OF_ACCELERATION + 3, F), (at + OF_MOTION, T)):
        put(rates, to, load3(rates, to) + x)


@inline
def add_momentum(rates, at, H):
    """Add to the variation of the momentum."""
    put(rates, at + OF_MOMENTUM, load6(rates, at + OF_MOMENTUM) + H)


@inline
def forces_at(rates, at):
    """P, Q, F, T of a record."""
    return (
        load6(rates, at + OF_POSITION),
        load6(rates, at + OF_RATE),
        load6(rates, at + OF_ACCELERATION),
        load3(rates, at + OF_MOTION),
    )


@inline
def motions_at(rates, at):
    """L, N, Gamma of a record."""
    return load6(rates, at + VELOCITY), load6(rates, at + ACCELERATION), load6(rates, at + QUADRATIC)


@inline
def hand_force(work, b, to):
    """Add the force of a body to another one."""
    ws.add_force(work, to, ws.force(work, b))


@inline
def motions_of_column(work, rates, C, B, b, r):
    """J, L, N and Gamma of column r of body b (row B), in a cluster with a list of columns."""
    J = ws.K_column(work, B.at_K, r)
    if B.at_S == B.at_K + 6 * B.which:  # hinges, see ``has_hinges``
        at = C.at_rates + OF_COLUMN * r
        L = load6(rates, at)
        return J, L, load6(rates, at + ACCELERATION), L * 2.0
    L, N, Gamma = motions_at(rates, record(C, b, r))
    return J, L, N, Gamma
