"""Computes distances between configurations of the independent joints; compares and normalizes configurations."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, configuration, numbers, velocity
from ..._support.docstrings import AS_PINOCCHIO, COMMON, stock
from ...compiler.calls import fast
from ...errors import ArgumentTypeError, ShapeError
from .. import ClusterModel, also_pinocchios, check_model
from ._plans import of_tangent, of_tree
from .tangents import independent_parts, leaders_at, position_of

_documented = stock(COMMON, AS_PINOCCHIO)


@fast(of_tangent)
@also_pinocchios
@_documented
def squaredDistance(model: ClusterModel, q1: ArrayLike, q2: ArrayLike) -> np.ndarray:
    """Return the squared distance from q1 to q2 for each independent joint.

    Returns:
        One entry per independent joint, in the order of v, [rad^2] or [m^2]; a new array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q1 = pc.neutral(model)
        >>> pc.squaredDistance(model, q1, pc.integrate(model, q1, np.array([0.1]))).round(6).tolist()
        [0.01]
    """
    return pin.squaredDistance(*independent_parts(model, q1, q2))


@fast(of_tangent)
@also_pinocchios
@_documented
def distance(model: ClusterModel, q1: ArrayLike, q2: ArrayLike) -> float:
    """Return the distance from q1 to q2, which is the square root of the sum of ``squaredDistance``.

    Returns:
        Distance, in which 1 rad of a revolute joint counts as much as 1 m of a prismatic joint.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q1 = pc.neutral(model)
        >>> round(pc.distance(model, q1, pc.integrate(model, q1, np.array([0.1]))), 6)
        0.1
    """
    return pin.distance(*independent_parts(model, q1, q2))


@fast(of_tree)
@also_pinocchios
@_documented
def isSameConfiguration(model: ClusterModel, q1: ArrayLike, q2: ArrayLike, prec: float = 1e-12) -> bool:
    """Return whether two configurations of the whole tree give all bodies the same poses.

    Args:
        prec: Tolerance of the comparison, as in Pinocchio.

    Returns:
        Whether all entries agree within the tolerance. A quaternion and its negative are equal.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.isSameConfiguration(model, pc.neutral(model), pc.neutral(model))
        True
    """
    check_model(model)
    q1, q2 = configuration(model, "q1", q1), configuration(model, "q2", q2)
    return pin.isSameConfiguration(model.own_tree, q1, q2, prec)


@fast(of_tree)
@also_pinocchios
@_documented
def isNormalized(model: ClusterModel, q: ArrayLike, prec: float = 1e-12) -> bool:
    """Return whether the quaternions and (cos, sin) pairs of a configuration have unit norm.

    Args:
        prec: Largest allowed deviation of a norm from 1. To check couplings and loops, use ``pc.residual``.

    Returns:
        Whether all norms are 1 within the tolerance.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> pc.isNormalized(model, pc.neutral(model))
        True
    """
    check_model(model)
    return pin.isNormalized(model.own_tree, configuration(model, "q", q), prec)


@fast(of_tree)
@also_pinocchios
@_documented
def normalize(model: ClusterModel, q: ArrayLike) -> np.ndarray:
    """Scale the quaternions and (cos, sin) pairs of q to unit norm; ``pc.project`` also closes loops.

    Returns:
        Normalized configuration, shape (nq,), [rad] or [m]; a new array.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid")
        >>> pc.isNormalized(model, pc.normalize(model, 2.0 * pc.neutral(model)))
        True
    """
    check_model(model)
    return pin.normalize(model.own_tree, configuration(model, "q", q))


@fast(of_tangent)
@also_pinocchios
@_documented
def dIntegrateTransport(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, Jin: ArrayLike, argument_position: Any
) -> np.ndarray:
    """Transport derivatives from the tangent space at ``integrate(model, q, v)`` to the tangent space at q.

    Args:
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].
        Jin: Derivatives with respect to the independent velocities, one per column, shape (nv, n).
        argument_position: Derivative of ``integrate`` with respect to q (``pin.ARG0``) or v (``pin.ARG1``).

    Returns:
        Transported derivatives, shape (nv, n), in the units of Jin; a new array.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.dIntegrateTransport(model, pc.neutral(model), np.array([0.1]), np.eye(1), pin.ARG0).tolist()
        [[1.0]]
    """
    tree, iq = leaders_at(model)
    q, v, J = configuration(model, "q", q), velocity(model, "v", v), np.asarray(numbers("Jin", Jin), dtype=float)
    if J.ndim != 2 or len(J) != model.nv:
        raise ShapeError(f"Jin has shape {J.shape}, but model {model.name!r} needs (nv, n) with nv = {model.nv}.")
    if argument_position is None:
        raise ArgumentTypeError("dIntegrateTransport needs argument_position: pin.ARG0 or pin.ARG1.")
    return pin.dIntegrateTransport(tree, q.take(iq), v, J, *position_of(argument_position))
