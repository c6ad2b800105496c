"""Computes derivatives of ``integrate`` and ``difference`` for the independent joints, which move as in Pinocchio."""

from typing import Any, overload

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, configuration, velocity
from ..._support.docstrings import AS_PINOCCHIO, COMMON, stock
from ...compiler.calls import fast
from ...errors import ArgumentTypeError, shown
from .. import ClusterModel, also_pinocchios, check_model
from ._plans import leaders_of, of_tangent

_documented = stock(
    COMMON,
    """
    Args:
        argument_position: ``pin.ArgumentPosition.ARG0`` or ``ARG1`` selects one derivative; None returns both.

    Raises:
        ArgumentTypeError: A type is wrong, or ``argument_position`` has another value.
    """,
    AS_PINOCCHIO,
)


_POSITIONS = (pin.ARG0, pin.ARG1)


def leaders_at(model: ClusterModel) -> tuple[pin.Model, np.ndarray]:
    check_model(model)
    return leaders_of(model)


def independent_parts(model: ClusterModel, q1: Any, q2: Any) -> tuple[pin.Model, np.ndarray, np.ndarray]:
    """Return the tree of the independent joints, and the coordinates of these joints in two configurations."""
    tree, iq = leaders_at(model)
    q1, q2 = configuration(model, "q1", q1), configuration(model, "q2", q2)
    return tree, q1.take(iq), q2.take(iq)


@overload
def dIntegrate(model: ClusterModel, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def dIntegrate(
    model: ClusterModel, q: ArrayLike, v: ArrayLike, argument_position: pin.ArgumentPosition
) -> np.ndarray: ...
@fast(of_tangent)
@also_pinocchios
@_documented
def dIntegrate(model: ClusterModel, q: ArrayLike, v: ArrayLike, argument_position: Any = None) -> Any:
    """Differentiate ``integrate(model, q, v)`` with respect to q and v, for the independent joints.

    Args:
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].

    Returns:
        Derivatives with respect to q and v, shape (nv, nv) each; new arrays.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> by_q, by_v = pc.dIntegrate(model, pc.neutral(model), np.array([0.1]))
        >>> by_q.tolist(), by_v.tolist()
        ([[1.0]], [[1.0]])
    """
    tree, iq = leaders_at(model)
    q, v = configuration(model, "q", q), velocity(model, "v", v)
    return pin.dIntegrate(tree, q.take(iq), v, *position_of(argument_position))


@overload
def dDifference(model: ClusterModel, q1: ArrayLike, q2: ArrayLike) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def dDifference(
    model: ClusterModel, q1: ArrayLike, q2: ArrayLike, argument_position: pin.ArgumentPosition
) -> np.ndarray: ...
@fast(of_tangent)
@also_pinocchios
@_documented
def dDifference(model: ClusterModel, q1: ArrayLike, q2: ArrayLike, argument_position: Any = None) -> Any:
    """Differentiate ``difference(model, q1, q2)`` with respect to q1 and q2, for the independent joints.

    Returns:
        Derivatives with respect to q1 and q2, shape (nv, nv) each; new arrays. Dependent joints are not read.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> by_q1, by_q2 = pc.dDifference(model, pc.neutral(model), pc.neutral(model))
        >>> by_q1.tolist(), by_q2.tolist()
        ([[-1.0]], [[1.0]])
    """
    return pin.dDifference(*independent_parts(model, q1, q2), *position_of(argument_position))


def position_of(given: Any) -> tuple[pin.ArgumentPosition, ...]:
    if given is None:
        return ()
    if type(given) is not pin.ArgumentPosition or given not in _POSITIONS:  # Plain integers are not accepted.
        raise ArgumentTypeError(
            f"argument_position must be pin.ArgumentPosition.ARG0 or ARG1, got {shown(given)} ({type(given).__name__})."
        )
    return (given,)
