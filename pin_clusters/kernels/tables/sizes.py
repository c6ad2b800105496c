"""How much room there is for what has no fixed size in ``work``; for those who lay tables out, too."""

from typing import NamedTuple

from .layout import ANGLE_ROOM
from .variations_layout import RECORD


class Block(NamedTuple):
    """What a LOOP cluster keeps behind ``Head.at``: offsets, and sizes with them.

    nd, nr, nk: dependent velocities, rows, independent velocities.
    """

    nd: int
    nr: int
    width: int  # Columns of K: nd + nk
    K: int  # nr x width: dependent velocities, then independent ones. Rows are divided by their scales
    P: int  # nd x nr: P K_d = 1
    W: int  # 6 per row: its wrench, where it is a row on bodies, W . (v_b - v_a)
    value: int  # nr: bias of the rows, or by how much they are open
    spin_bias: int  # nk: torques that spin elements and armature need at a = 0
    condition: int  # 1: squared Frobenius norms of K_d and P, multiplied
    room: int  # nr x (nd + nr), for the elimination
    saved: int  # nd x nr: a P that is kept; then nd x nd: its product with another pose's K_d
    K_rate: int  # nr x width: rate of K
    end: int


def offsets(at: int, nd: int, nr: int, nk: int) -> Block:
    """Lay out the block that begins at an offset."""
    width = nd + nk
    P = at + nr * width
    W = P + nd * nr
    value = W + 6 * nr
    spin_bias = value + nr
    condition = spin_bias + nk
    room = condition + 1
    saved = room + nr * (nd + nr)
    K_rate = saved + nd * nr + nd * nd
    return Block(nd, nr, width, at, P, W, value, spin_bias, condition, room, saved, K_rate, K_rate + nr * width)


def cluster_work(nk: int, carriers: int) -> int:
    """How many numbers a cluster with a list of columns needs."""
    return 13 * nk + nk * nk + 3 * nk * (1 + carriers)


def joint_work(nk: int) -> int:
    """How many numbers a velocity of a LOOP cluster needs: G; bias, rate, acceleration, torque; dG, ddG, true rate."""
    return 4 * nk + 4


class HarmonicRoom(NamedTuple):
    """What a HARMONIC closure keeps: offsets."""

    slopes: int  # 4 per angle: rates, accelerations; changes of both along a column
    rates: int  # rows x angles: first derivative of the derivatives by the angles along the motion
    second_rates: int  # the same of second order
    bends: int  # angles x angles: second derivatives, times the rows' multipliers
    changes: int  # columns x angles: how the angles change along a column
    end: int


def harmonic_room(at: int, angles: int, rows: int, nk: int) -> HarmonicRoom:
    """Lay out what begins at an offset, behind a block for each angle."""
    slopes = at + ANGLE_ROOM * angles
    rates = slopes + 4 * angles
    second_rates = rates + rows * angles
    bends = second_rates + rows * angles
    changes = bends + angles * angles
    return HarmonicRoom(slopes, rates, second_rates, bends, changes, changes + nk * angles)


def external_work(n: int, m: int, order: int) -> int:
    """How many numbers a user's function needs.

    Jacobian, Hessian, coordinates, value, Jacobian, a direction, second derivative of the Jacobian along it; and what
    functions for derivatives of second and third order write.
    """
    return m * n + m * n * n + n + m + m * n + n + m * n + (m * n**order if order > 1 else 0)


def rates_of_cluster(bodies: int, nk: int) -> int:
    """How many numbers the derivatives of a cluster need: a record for each body and column, and for the sums."""
    return (bodies + 1) * nk * RECORD
