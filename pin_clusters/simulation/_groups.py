"""Convert velocities v of ball joints and similar joints to rates of x, the increment from a fixed pose q0.

Pinocchio's ``integrate`` multiplies from the right, q = q0 exp(x), with velocities in the body frame. The rate of x is
x' = Jr(x)^-1 v = ad / (1 - exp(-ad)) v = v + ad v / 2 + c2 ad^2 v + c4 ad^4 v, where ad is the adjoint matrix of x. The
eigenvalues of ad are 0 and, twice each, +-i theta. A polynomial with exact values and slopes at these points is exact.
"""

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..kernels.tables import layout
from ..model import ClusterModel, once, primitives_of

_SMALL = 0.5
"""Angle below which a series replaces the closed formula, which suffers from cancellation, [rad]."""
# Coefficients of the power series of x/2 coth(x/2) in powers of x^2, beginning with the third coefficient.
_SERIES = (1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0, -691.0 / 1307674368000.0, 1.0 / 74724249600.0)
_ROWS = {layout.FREEFLYER: [0, 1, 2, 3, 4, 5], layout.SPHERICAL: [3, 4, 5], layout.PLANAR: [0, 1, 5]}
"""Entries of the spatial velocity [linear; angular] that form the joint velocity, for each type of joint."""


class Part(NamedTuple):
    """An independent joint, or a part of an independent composite joint."""

    joint: str  # name of the joint
    number: int  # number of the part, from 1; 0 for a joint that is not composite
    kind: int  # joint type, a constant of ``kernels.tables.layout``
    iq: int  # first index in q
    iv: int  # first index in v
    nv: int  # degrees of freedom


@once
def parts_of(model: ClusterModel) -> tuple[Part, ...]:
    parts, tree, index_in_v = [], model.own_tree, {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
    for j in range(1, tree.njoints):
        chain = primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j])
        for i, p in enumerate(chain):
            if p.iv in index_in_v:
                parts.append(Part(tree.names[j], i + 1 if len(chain) > 1 else 0, p.kind, p.iq, index_in_v[p.iv], p.nv))
    return tuple(parts)


def groups_of(model: ClusterModel) -> tuple[Part, ...]:
    """Return the independent joints, or parts of composite joints, whose velocities do not commute."""
    return tuple(p for p in parts_of(model) if p.kind in _ROWS)


def coefficients(theta: float) -> tuple[float, float]:
    """Compute c2 and c4 for a rotation by theta [rad]."""
    T = theta * theta
    if theta < _SMALL:
        # Let s = ad^2. Then s^n modulo s (s + T)^2 equals a s + b s^2; for n = 3, it is -T^2 s - 2 T s^2.
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
    """Compute the rate of the increment x for the body velocity v, as a new array; all arrays have shape (nv,)."""
    rate = v.copy()
    for group in groups:
        columns, rows = slice(group.iv, group.iv + group.nv), _ROWS[group.kind]
        x6, v6 = np.zeros((2, 6))
        x6[rows], v6[rows] = x[columns], v[columns]
        c2, c4 = coefficients(float(np.linalg.norm(x6[3:])))
        ad = pin.Motion(x6).action
        first = ad @ v6
        second = ad @ first
        fourth = ad @ (ad @ second)
        rate[columns] = (v6 + 0.5 * first + c2 * second + c4 * fourth)[rows]
    return rate
