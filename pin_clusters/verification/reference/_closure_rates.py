"""Second time derivatives of closures, and their derivatives with respect to q, v and a.

Each constraint equation has the second time derivative r = K a + Kdot v. At v = 0, r equals K a, so the first time
derivative K v needs no separate formulas. While the loops are closed, r and all its derivatives are zero.
"""

from typing import Any

import numpy as np
import pinocchio as pin

from ...constraints.called import CallableClosure
from ...constraints.closures import COS, LINEAR, SIN, FrameClosure, HarmonicClosure, RodClosure
from ...errors import NotAvailableError
from ._ends import STEP, End, split, turned_back

# Coefficients of the eighth-order finite difference of the second derivative, for offsets of 0 to 4 steps.
_SECOND = (-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)
# User functions supply no third derivative, so the second difference of their Jacobian is used. The step is this
# multiple of the closure's own step. If the Jacobian is a finite difference, rounding errors require larger steps.
_STRETCH, _STRETCH_UNKNOWN = 2.5, 7.5


def of_bodies(closure: FrameClosure | RodClosure, a: End, b: End) -> tuple[np.ndarray, np.ndarray]:
    """Compute r, shape (size,), and its derivatives along the n directions of a and b (see ``End``), (size, n)."""
    return split(_rod(a, b) if isinstance(closure, RodClosure) else _frames(closure, a, b))


def _rod(a: End, b: End) -> np.ndarray:
    """Return r of a rod: half the second time derivative of the squared distance, divided by the length."""
    d, rate = b.x - a.x, b.xd - a.xd
    length = np.linalg.norm(d[0].real)
    return (rate * rate + d * (b.xdd - a.xdd)).sum(axis=1, keepdims=True) / length


def _frames(closure: FrameClosure, a: End, b: End) -> np.ndarray:
    """Return r of a closure between frames: the acceleration of frame b relative to frame a, in axes of a."""
    d, rate = b.x - a.x, b.xd - a.xd
    linear = b.xdd - a.xdd - np.cross(a.wd, d) - 2.0 * np.cross(a.w, rate) + np.cross(a.w, np.cross(a.w, d))
    spin = b.w - a.w
    if closure.rotation == "universal":  # d/dt (z_a . x_b) = spin . (x_b x z_a)
        x, z = b.R[:, :, 0], a.R[:, :, 2]
        across = np.cross(x, z)
        change = np.cross(np.cross(b.w, x), z) + np.cross(x, np.cross(a.w, z))
        angular = np.zeros_like(linear)
        angular[:, 2] = ((b.wd - a.wd) * across + spin * change).sum(axis=1)
    else:
        angular = turned_back(a.R, b.wd - a.wd - np.cross(a.w, spin))
    return turned_back(a.R, linear) @ closure.rows[:, :3].T + angular @ closure.rows[:, 3:].T


def of_joints(
    closure: Any, state: tuple[np.ndarray, np.ndarray, np.ndarray], along: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute r and its derivatives for an equation between joint coordinates.

    ``state`` contains the coordinates, velocities and accelerations of these joints, shape (joints,) each. ``along``
    contains the changes of these three vectors along n directions, shape (joints, n) each.
    """
    if isinstance(closure, HarmonicClosure):
        complex_state = [np.hstack([x[:, None], x[:, None] + 1j * STEP * d]) for x, d in zip(state, along, strict=True)]
        return split(_harmonic(closure, *complex_state))
    if isinstance(closure, CallableClosure):
        return _function(closure, state, along)
    raise NotAvailableError(f"The reference implementation does not support derivatives of {type(closure).__name__}.")


def _harmonic(closure: HarmonicClosure, x: np.ndarray, xd: np.ndarray, xdd: np.ndarray) -> np.ndarray:
    """Return r for products of sines, cosines and angles, by power series in time."""
    angle = closure.weights @ x + closure.phases[:, None]
    rate, acceleration = closure.weights @ xd, 0.5 * (closure.weights @ xdd)
    s, c, half = np.sin(angle), np.cos(angle), 0.5 * rate * rate
    series = {
        SIN: (s, c * rate, c * acceleration - s * half),
        COS: (c, -s * rate, -s * acceleration - c * half),
        LINEAR: (angle, rate, acceleration),
    }
    out = np.zeros((x.shape[1], closure.size), dtype=complex)
    for i, row in enumerate(closure.terms):
        for coefficient, factors in row:
            zero = np.zeros(x.shape[1], dtype=complex)
            product = [zero + coefficient, zero, zero]
            for kind, p in factors:
                f = [part[p] for part in series[kind]]
                product = [sum(product[k] * f[n - k] for k in range(n + 1)) for n in range(3)]
            out[:, i] += 2.0 * product[2]
    return out


def _function(
    closure: CallableClosure,
    state: tuple[np.ndarray, np.ndarray, np.ndarray],
    along: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Compute r = J xdd + H[xd, xd] and its derivatives for a closure defined by a user function."""
    (x, xd, xdd), (dx, dxd, dxdd) = state, along
    J, H = closure.jacobian(x), closure.hessian(x)
    value = J @ xdd + np.einsum("ijk,j,k->i", H, xd, xd)
    change = J @ dxdd + np.einsum("ijk,jn,k->in", H, dx, xdd) + 2.0 * np.einsum("ijk,jn,k->in", H, dxd, xd)
    return value, change + _bent(closure, x, xd) @ dx


def _bent(closure: CallableClosure, x: np.ndarray, xd: np.ndarray) -> np.ndarray:
    """Compute the second directional derivative of the Jacobian along xd, shape (size, joints)."""
    steps = (_STRETCH if closure.knows(1) else _STRETCH_UNKNOWN) * closure.steps
    largest_ratio = float(np.abs(xd / steps).max(initial=0.0))
    if largest_ratio == 0.0:
        return np.zeros((closure.size, len(x)))
    step = xd / largest_ratio  # the joint with the largest ratio of velocity to step moves by exactly one step
    total: np.ndarray = _SECOND[0] * closure.jacobian(x)
    for n, weight in enumerate(_SECOND[1:], start=1):
        total = total + weight * (closure.jacobian(x + n * step) + closure.jacobian(x - n * step))
    return total * largest_ratio**2


def placed(end: object) -> pin.SE3:
    return end if isinstance(end, pin.SE3) else pin.SE3(np.eye(3), np.asarray(end, dtype=float))
