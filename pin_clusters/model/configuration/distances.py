"""How far configurations are from each other: along the independent joints, as the others follow them."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, configuration, numbers, velocity
from ..._support.docstrings import AS_PINOCCHIO, COMMON, stock
from ...compiler.calls import fast
from ...errors import ArgumentTypeError, ShapeError
from .. import ClusterModel, also_pinocchios, check_model
from ._plans import leaders_of, of_tangent, of_tree
from .tangents import position_of

_documented = stock(COMMON, AS_PINOCCHIO)


@fast(of_tangent)
@also_pinocchios
@_documented
def squaredDistance(model: ClusterModel, q1: ArrayLike, q2: ArrayLike) -> np.ndarray:
    """Return the squared distances of the independent joints from q1 to q2.

    Returns:
        One per independent joint, in the order of v, [rad^2] or [m^2]; a fresh array.
    """
    return pin.squaredDistance(*_independent(model, q1, q2))


@fast(of_tangent)
@also_pinocchios
@_documented
def distance(model: ClusterModel, q1: ArrayLike, q2: ArrayLike) -> float:
    """Return the root of the sum of ``squaredDistance``.

    Returns:
        Distance; joints that turn and joints that slide count alike.
    """
    return pin.distance(*_independent(model, q1, q2))


def _independent(model: ClusterModel, q1: Any, q2: Any) -> tuple[pin.Model, np.ndarray, np.ndarray]:
    """Return a tree of the independent joints alone, and both configurations of it."""
    check_model(model)
    tree, iq = leaders_of(model)
    q1, q2 = configuration(model, "q1", q1), configuration(model, "q2", q2)
    return tree, q1.take(iq), q2.take(iq)


@fast(of_tree)
@also_pinocchios
@_documented
def isSameConfiguration(model: ClusterModel, q1: ArrayLike, q2: ArrayLike, prec: float = 1e-12) -> bool:
    """Return whether two configurations of the whole tree place all bodies alike.

    Args:
        prec: Largest difference that counts as none.

    Returns:
        Whether all entries agree, as rotations do.
    """
    check_model(model)
    q1, q2 = configuration(model, "q1", q1), configuration(model, "q2", q2)
    return pin.isSameConfiguration(model.own_tree, q1, q2, prec)


@fast(of_tree)
@also_pinocchios
@_documented
def isNormalized(model: ClusterModel, q: ArrayLike, prec: float = 1e-12) -> bool:
    """Return whether the quaternions and unit vectors of a configuration have unit norm.

    Args:
        prec: Largest deviation of a norm from 1. ``pc.residual`` tells whether q is on the couplings.

    Returns:
        Whether all of them are normalized.
    """
    check_model(model)
    return pin.isNormalized(model.own_tree, configuration(model, "q", q), prec)


@fast(of_tree)
@also_pinocchios
@_documented
def normalize(model: ClusterModel, q: ArrayLike) -> np.ndarray:
    """Return a configuration whose quaternions and unit vectors have unit norm; ``pc.project`` also closes loops.

    Returns:
        Shape (nq,); a fresh array.
    """
    check_model(model)
    return pin.normalize(model.own_tree, configuration(model, "q", q))


@fast(of_tangent)
@also_pinocchios
@_documented
def dIntegrateTransport(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, Jin: ArrayLike, argument_position: Any
) -> np.ndarray:
    """Bring derivatives at ``integrate(model, q, v)`` back to q: ``dIntegrate`` of the argument, transposed, times Jin.

    Args:
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].
        Jin: Columns of derivatives by independent velocities, shape (nv, n).
        argument_position: ``pin.ARG0`` or ``pin.ARG1``.

    Returns:
        Shape (nv, n); a fresh array.
    """
    check_model(model)
    tree, iq = leaders_of(model)
    q, v, J = configuration(model, "q", q), velocity(model, "v", v), np.asarray(numbers("Jin", Jin), dtype=float)
    if J.ndim != 2 or len(J) != model.nv:
        raise ShapeError(f"Jin has shape {J.shape}, but model {model.name!r} needs (nv, n) with nv = {model.nv}.")
    if argument_position is None:
        raise ArgumentTypeError("dIntegrateTransport needs argument_position: pin.ARG0 or pin.ARG1.")
    return pin.dIntegrateTransport(tree, q.take(iq), v, J, *position_of(argument_position))
