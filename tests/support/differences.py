"""Derivatives of functions of a state by central differences.

Along ``pc.integrate`` they are of eighth order: their error is step^8 / 630 times the ninth derivative, and what
rounding leaves, some 1e-15 of the values / step. In v and a, dynamics are a quadratic and a linear polynomial, of which
central differences of any step are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

import pin_clusters as pc

STENCIL = ((4.0 / 5.0, 1), (-1.0 / 5.0, 2), (4.0 / 105.0, 3), (-1.0 / 280.0, 4))
# of the fastest joint, [rad] or [m]: one is wide enough for rounding, and near enough for a linkage near its limits
STEPS = tuple(0.02 * 0.5 ** (0.5 * n) for n in range(14))
ENOUGH = 1e-12
"""Agreement of two steps, over the largest entry, from which on no other step is tried."""


def along(function: Callable[[np.ndarray], np.ndarray], model: pc.ClusterModel, q: np.ndarray) -> np.ndarray:
    """Derivatives of function(q) along ``pc.integrate``, a column per velocity; the step that agrees best."""
    data = model.createData()
    fastest = np.abs(pc.coupling_jacobian(model, data, q)).max(axis=0, initial=1.0)
    columns = [_column(function, model, q, e, float(f)) for e, f in zip(np.eye(model.nv), fastest, strict=True)]
    return np.stack(columns, axis=-1) if columns else np.zeros((*np.shape(function(q)), 0))


def _column(
    function: Callable[[np.ndarray], np.ndarray], model: pc.ClusterModel, q: np.ndarray, e: np.ndarray, fastest: float
) -> np.ndarray:
    tried: list[np.ndarray] = []
    for step in STEPS:
        h = step / fastest
        try:
            up = [np.array(function(pc.integrate(model, q, n * h * e))) for _, n in STENCIL]
            down = [np.array(function(pc.integrate(model, q, -n * h * e))) for _, n in STENCIL]
        except (pc.BranchLost, pc.SingularClusterError):  # a limit of the linkage is near
            continue
        tried.append(sum(c * (x - y) for (c, _), x, y in zip(STENCIL, up, down, strict=True)) / h)
        if len(tried) > 1 and np.abs(tried[-1] - tried[-2]).max() <= ENOUGH * max(1.0, np.abs(tried[-1]).max()):
            break
    apart = [float(np.abs(x - y).max(initial=0.0)) for x, y in itertools.pairwise(tried)]
    return tried[int(np.argmin(apart)) + 1]


def quadratic(function: Callable[[np.ndarray], np.ndarray], v: np.ndarray) -> np.ndarray:
    """Derivatives of a quadratic polynomial at v, a column per entry."""
    columns = [0.5 * (np.array(function(v + e)) - np.array(function(v - e))) for e in np.eye(len(v))]
    return np.stack(columns, axis=-1) if columns else np.zeros((*np.shape(function(v)), 0))


linear = quadratic
"""Of a linear polynomial: the same, for the reader."""
