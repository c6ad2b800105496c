"""From the independent coordinates to those of the tree: G and its bias, constant or from the kernel.

``q`` is what ``_check.configuration`` returned: it also feeds the user's Python functions. Where the loops cannot be
solved for the dependent joints, ``SingularClusterError`` is raised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels import entry_points as kernels
from .._kernels.layout import PLANAR, SPHERICAL
from ..arrays import plain
from ..errors import SingularClusterError
from ..model import ClusterData, ClusterModel, primitives_of
from . import _check


def matrix(model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
    """Return G, shape (tree.nv, nv); not to be written to."""
    return matrix_and_bias(model, data, q, None)[0]


def kept_matrix(model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
    """Return G, and leave it for the functions that are not given q."""
    return keep(data, matrix(model, data, q))


def matrix_and_bias(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return G, shape (tree.nv, nv), and g, shape (tree.nv,), at v (None: at rest); G is not to be written to."""
    if not model.closures:
        return model._topology.G, np.zeros(model.own_tree.nv)
    code, G, g = _solve(model, data, q, np.zeros(model.nv) if v is None else v)
    _check.status(model, code, q)
    return G, g


def rate(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return dG/dt at a velocity, shape (tree.nv, nv): exact, but for rounding.

    The bias g(v) = B(v, v) is quadratic, with B(v, w) = dG/dt w at the velocity v. Its symmetric part comes by
    polarisation; the other part is the failure of velocities to commute, which is known: it is zero for joints of one
    degree of freedom, and the Lie bracket of the joint's group for the others. The motions G v and G w keep the loops
    closed, so their bracket is G times that of the independent velocities.
    """
    G, g = matrix_and_bias(model, data, q, v)
    result = np.zeros_like(G)
    size = np.abs(v).max(initial=0.0)
    if not model.closures or size == 0.0:
        return result
    free = model.idx_v_independent
    moving = {iv for loop in model._topology.analyses for iv in loop.independents}
    for k in (k for k, iv in enumerate(free) if int(iv) in moving):
        w = np.zeros(model.nv)
        w[k] = size  # as large as v: nothing is lost in the differences
        _, _, both = _solve(model, data, q, v + w)
        _, _, alone = _solve(model, data, q, w)
        bracket = _bracket(model, G @ v, G @ w)
        twist = G @ bracket[free] - bracket
        result[:, k] = (both - g - alone + twist) / (2.0 * size)
    return result


def tree_rates(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> list[Any]:
    """Return the velocity and the acceleration of the tree, as far as they are given; G is left in the data."""
    if v is None:
        leave(model, data, q)
        return []
    v = _check.velocity(model, "v", v)
    a = None if a is None else _check.velocity(model, "a", a)
    G, g = matrix_and_bias(model, data, q, v)
    keep(data, G)
    return [G @ v] if a is None else [G @ v, G @ a + g]


def leave(model: ClusterModel, data: ClusterData, q: np.ndarray) -> None:
    """Keep G for the functions that are not given q; NaN at a singular pose, where bodies can still be placed."""
    if model.closures:
        code, G, _ = _solve(model, data, q, np.zeros(model.nv))
        keep(data, G if code == 0 else np.full_like(G, np.nan))


def keep(data: ClusterData, G: np.ndarray, G_rate: np.ndarray | None = None) -> np.ndarray:
    """Leave G, and dG/dt where given, for the functions that are not given q; return G."""
    data._G[: len(G)] = G
    if G_rate is not None:
        data._G[len(G) :] = G_rate
    return G


def kept(model: ClusterModel, data: ClusterData) -> tuple[np.ndarray, np.ndarray]:
    """Return G and dG/dt that were left in the data.

    Raises:
        SingularClusterError: The pose of the last function that was given one is singular.
    """
    n = model.own_tree.nv
    if not model.closures:
        return model._topology.G, np.zeros((n, model.nv))
    G, G_rate = data._G[:n], data._G[n:]
    if np.isnan(G).any() and all(np.isfinite(data.tree.oMi[j].translation).all() for j in range(model.njoints)):
        raise SingularClusterError(
            f"the loops of model {model.name!r} are singular at the q of the last pc.forwardKinematics, so the "
            "dependent joints have no velocity there. Take another pose; pc.condition(model, data, q) names the loops."
        )
    return G, G_rate


def _solve(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Run the kernel: its code, G and g."""
    pointer, n = data._pointers["coupling"], model.own_tree.nv
    code = int(kernels.coupling.call(pointer, plain(q), plain(v)))
    flat = pointer.arrays[-1].copy()
    return code, flat[: n * model.nv].reshape(n, model.nv), flat[n * model.nv :]


def _bracket(model: ClusterModel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Lie bracket of two velocities of the tree, joint by joint.

    Only the joints of loops matter, and no loop leads through a free flyer.
    """
    tree, out = model.own_tree, np.zeros(len(x))
    for j in (j for loop in model._topology.analyses for j in loop.joints if tree.nvs[j] > 1):
        for part in primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]):
            at = slice(part.iv, part.iv + part.nv)
            if part.kind == SPHERICAL:
                out[at] = np.cross(x[at], y[at])
            elif part.kind == PLANAR:
                (a, b), (c, d) = x[at][:2], y[at][:2]
                out[at] = x[at][2] * np.array([-d, c, 0.0]) - y[at][2] * np.array([-b, a, 0.0])
    return out
