"""Increments of joints with rotations: how the increment from a fixed pose changes with the velocity.

Pinocchio's ``integrate`` multiplies from the right, q = q0 exp(x), and velocities are those of the body. With the
adjoint matrix ad of x, x' = Jr(x)^-1 v = ad / (1 - exp(-ad)) v = v + ad v / 2 + c2 ad^2 v + c4 ad^4 v: ad has the
eigenvalues 0 and twice +-i theta, so a polynomial through value and slope there is exact.
"""

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..kernels.tables import layout
from ..model import ClusterModel, once, primitives_of

_SMALL = 0.5
"""[rad]; below it the coefficients come from series, as they would lose digits."""
# of x/2 coth(x/2) in x^2, from the third on
_SERIES = (1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0, -691.0 / 1307674368000.0, 1.0 / 74724249600.0)
_ROWS = {layout.FREEFLYER: [0, 1, 2, 3, 4, 5], layout.SPHERICAL: [3, 4, 5], layout.PLANAR: [0, 1, 5]}
"""Which entries of [linear; angular] the velocity of a joint has."""


class Part(NamedTuple):
    """An independent joint, or a part of a composite one."""

    joint: str  # its name
    number: int  # which part of it, from 1; 0 if it is the whole joint
    kind: int  # of ``kernels.tables.layout``
    iq: int  # first index in q
    at: int  # first index in v
    nv: int  # degrees of freedom


@once
def parts_of(model: ClusterModel) -> tuple[Part, ...]:
    """Return the parts of the independent joints."""
    found, tree, place = [], model.own_tree, {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
    for j in range(1, tree.njoints):
        chain = primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j])
        for i, p in enumerate(chain):
            if p.iv in place:
                found.append(Part(tree.names[j], i + 1 if len(chain) > 1 else 0, p.kind, p.iq, place[p.iv], p.nv))
    return tuple(found)


def groups_of(model: ClusterModel) -> tuple[Part, ...]:
    """Return the independent joints (or parts of composite ones) whose velocities do not commute."""
    return tuple(p for p in parts_of(model) if p.kind in _ROWS)


def coefficients(theta: float) -> tuple[float, float]:
    """Return c2 and c4 for a rotation by theta, [rad]."""
    T = theta * theta
    if theta < _SMALL:
        # s^n modulo s (s + T)^2 is a s + b s^2: s^3 = -T^2 s - 2 T s^2, and so on
        c2, c4, a, b = 1.0 / 12.0, -1.0 / 720.0, -T * T, -2.0 * T
        for c in _SERIES:
            c2, c4 = c2 + c * a, c4 + c * b
            a, b = -T * T * b, a - 2.0 * T * b
        return c2, c4
    half = 0.5 * theta
    cot, sin = 1.0 / math.tan(half), math.sin(half)
    value = half * cot
    slope = -(0.5 * cot - 0.5 * half / (sin * sin)) / (2.0 * theta)
    c4 = (1.0 - value - slope * T) / (T * T)
    return slope + 2.0 * c4 * T, c4


def increment_rate(groups: tuple[Part, ...], x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return how fast the increment x changes at the body velocity v, shape (nv,) each; a fresh array."""
    rate = v.copy()
    for group in groups:
        here, rows = slice(group.at, group.at + group.nv), _ROWS[group.kind]
        own, given = np.zeros((2, 6))
        own[rows], given[rows] = x[here], v[here]
        c2, c4 = coefficients(float(np.linalg.norm(own[3:])))
        ad = pin.Motion(own).action
        first = ad @ given
        second = ad @ first
        fourth = ad @ (ad @ second)
        rate[here] = (given + 0.5 * first + c2 * second + c4 * fourth)[rows]
    return rate
