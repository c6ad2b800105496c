"""Computes forces due to the variations of one body (V3), and accumulates these forces toward the base."""

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
from ..directions import Out


@inline
def set_inertial(index, params, work, forces, b, B, R, x, I, vel, acc, second, forced):
    """Write the inertia, momentum and Sigma (V2) of a body; if ``second``, also write the body's force (A3)."""
    ws.set_composite(work, b, I)
    ws.set_total_momentum(work, b, rigid_mul(I, vel))
    ws.set_inertia_rate(work, b, rate_of_inertia(I, vel))
    if second:
        ws.set_force(work, b, inertial_force(index, params, forces, b, B, R, x, I, vel, acc, forced))


@inline
def hand_inertial(work, b, out):
    ws.add_composite(work, out, ws.composite(work, b))
    ws.add_total_momentum(work, out, ws.total_momentum(work, b))
    ws.add_inertia_rate(work, out, ws.inertia_rate(work, b))


@inline
def forces_of(work, b, J, L, N, Gamma, second):
    """Return F = I J, P = 2B L + I N, Q = 2B J + I Gamma and the angular part of T = (2B)^T J of a body (V3).

    P has no term J x* f, because the force is differentiated in axes that rotate with the body. P is valid only if
    ``second``.
    """
    I, h, sigma = ws.composite(work, b), ws.total_momentum(work, b), ws.inertia_rate(work, b)
    Q = twice_B(h, sigma, J) + rigid_mul(I, Gamma)
    P = twice_B(h, sigma, L) + rigid_mul(I, N) if second else Q
    return rigid_mul(I, J), P, Q, twice_B_transposed(h, sigma, J)


@inline
def momentum_of(work, b, J, L):
    """Return the derivative of a body's momentum, H = J x* h + I L (V7)."""
    return cross_force(J, ws.total_momentum(work, b)) + rigid_mul(ws.composite(work, b), L)


@inline
def clear(rates: Out, at):
    put(rates, at + OF_POSITION, zero6())
    put(rates, at + OF_RATE, zero6())
    put(rates, at + OF_ACCELERATION, zero6())
    put(rates, at + OF_MOTION, zero3())
    put(rates, at + OF_MOMENTUM, zero6())


@inline
def add_forces(rates: Out, at, P, Q, F, T):
    put(rates, at + OF_POSITION, load6(rates, at + OF_POSITION) + P)
    put(rates, at + OF_RATE, load6(rates, at + OF_RATE) + Q)
    put(rates, at + OF_ACCELERATION, load6(rates, at + OF_ACCELERATION) + F)
    put(rates, at + OF_MOTION, load3(rates, at + OF_MOTION) + T)


@inline
def add_moments(rates: Out, at, P, Q, F, T):
    for to, x in ((at + OF_POSITION + 3, P), (at + OF_RATE + 3, Q), (at + OF_ACCELERATION + 3, F), (at + OF_MOTION, T)):
        put(rates, to, load3(rates, to) + x)


@inline
def add_momentum(rates: Out, at, H):
    put(rates, at + OF_MOMENTUM, load6(rates, at + OF_MOMENTUM) + H)


@inline
def forces_at(rates, at):
    return (
        load6(rates, at + OF_POSITION),
        load6(rates, at + OF_RATE),
        load6(rates, at + OF_ACCELERATION),
        load3(rates, at + OF_MOTION),
    )


@inline
def motions_at(rates, at):
    return load6(rates, at + VELOCITY), load6(rates, at + ACCELERATION), load6(rates, at + QUADRATIC)


@inline
def hand_force(work, b, to):
    ws.add_force(work, to, ws.force(work, b))


@inline
def motions_of_column(work, rates, C, B, b, r):
    J = ws.K_column(work, B.at_K, r)
    if B.at_S == B.at_K + 6 * B.which:  # short record, see ``has_hinges``; Gamma is 2 L and not stored
        column = C.at_rates + OF_COLUMN * r
        L = load6(rates, column)
        return J, L, load6(rates, column + ACCELERATION), L * 2.0
    L, N, Gamma = motions_at(rates, record(C, b, r))
    return J, L, N, Gamma
