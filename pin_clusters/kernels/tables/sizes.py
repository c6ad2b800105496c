"""Layouts and sizes of the variable-size blocks in ``work``."""

from typing import NamedTuple

from .layout import ANGLE_SCRATCH
from .variations_layout import RECORD


class Block(NamedTuple):
    """Block of a LOOP cluster at ``Head.at``: sizes and offsets in ``work``.

    A cluster has nd dependent velocities, nr constraint equations and nk independent velocities.
    """

    nd: int
    nr: int
    width: int  # number of columns of K, nd + nk
    K: int  # nr x width: Jacobian K (L1), each row divided by its scale; dependent velocities come first
    P: int  # nd x nr, with P K_d = 1 (L2)
    W: int  # nr x 6: wrenches W of the equations W . (v_b - v_a) between bodies
    value: int  # size nr: bias k (L4), or residuals
    spin_bias: int  # size nk: torques due to spin elements and armature at a = 0 [N m]
    condition: int  # size 1: product of the squared Frobenius norms of K_d and P
    scratch: int  # nr x (nd + nr): workspace of the elimination
    saved: int  # nd x nr: P of an earlier pose; then nd x nd: the product of this P and the present K_d
    K_rate: int  # nr x width: time derivative of K
    end: int


def offsets(at: int, nd: int, nr: int, nk: int) -> Block:
    width = nd + nk
    P = at + nr * width
    W = P + nd * nr
    value = W + 6 * nr
    spin_bias = value + nr
    condition = spin_bias + nk
    scratch = condition + 1
    saved = scratch + nr * (nd + nr)
    K_rate = saved + nd * nr + nd * nd
    return Block(nd, nr, width, at, P, W, value, spin_bias, condition, scratch, saved, K_rate, K_rate + nr * width)


def cluster_work(nk: int, carriers: int) -> int:
    return 13 * nk + nk * nk + 3 * nk * (1 + carriers)


def joint_work(nk: int) -> int:
    """Return the size of the block of a ``layout.Velocity``: four numbers and four arrays of nk numbers."""
    return 4 * nk + 4


class HarmonicScratch(NamedTuple):
    """Block of a HARMONIC closure: offsets in ``work``."""

    slopes: int  # 4 x angles: rates and accelerations of the angles, then the derivatives of both along a column
    rates: int  # rows x angles: time derivatives of the equations' derivatives with respect to the angles
    second_rates: int  # rows x angles: second time derivatives of the equations' derivatives with respect to the angles
    bends: int  # angles x angles: second derivatives of the equations, weighted by the constraint multipliers
    changes: int  # nk x angles: rates of the angles per unit independent velocity
    end: int


def harmonic_scratch(at: int, angles: int, rows: int, nk: int) -> HarmonicScratch:
    slopes = at + ANGLE_SCRATCH * angles
    rates = slopes + 4 * angles
    second_rates = rates + rows * angles
    bends = second_rates + rows * angles
    changes = bends + angles * angles
    return HarmonicScratch(slopes, rates, second_rates, bends, changes, changes + nk * angles)


def external_work(n: int, m: int, order: int) -> int:
    """Return the size of the block of a user's function that has m values and n coordinates.

    The block contains the Jacobian, the Hessian, the coordinates, the value, a second Jacobian, a direction, and the
    second derivative of the Jacobian along this direction. The outputs of functions for higher derivatives follow.
    """
    return m * n + m * n * n + n + m + m * n + n + m * n + (m * n**order if order > 1 else 0)


def rates_of_cluster(bodies: int, nk: int) -> int:
    """Return how many entries of ``rates`` a cluster uses: one record per column for each body and for the sums."""
    return (bodies + 1) * nk * RECORD
