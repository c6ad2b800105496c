"""Derivatives of ``integrate`` and ``difference``: of the independent joints, which move as in Pinocchio."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import pinocchio as pin

from ..._engine.calls import fast
from ..._support.arrays import configuration, velocity
from ..._support.docstrings import AS_PINOCCHIO, COMMON, stock
from ..._support.trees import in_q, in_v
from ...errors import ArgumentTypeError
from .. import ClusterModel, once
from ._desk import keep_leaders
from .manifold import manifold

_documented = stock(
    COMMON,
    """
    Args:
        argument_position: ``pin.ArgumentPosition.ARG0`` or ``ARG1``: by which of the two; without it by both.

    Raises:
        ArgumentTypeError: A type is wrong, or the argument is none of the two.
    """,
    AS_PINOCCHIO,
)


_POSITIONS = (pin.ARG0, pin.ARG1)


def _leaders(model: ClusterModel) -> tuple[pin.Model, np.ndarray]:
    shape = manifold(model)  # raises if it is no cluster model
    found = _found(model)
    keep_leaders(model, shape, *found)
    return found


@once
def _found(model: ClusterModel) -> tuple[pin.Model, np.ndarray]:
    """Return the independent joints, each on the universe in the order of v; and where their coordinates are in q."""
    own, tree, iq = model.own_tree, pin.Model(), []
    independent = {int(iv) for iv in model.idx_v_independent}
    for j in range(1, own.njoints):
        if own.nvs[j] and in_v(own, j)[0] in independent:
            tree.addJoint(0, own.joints[j], pin.SE3.Identity(), own.names[j])
            iq += [int(i) for i in in_q(own, j)]
    assert tree.nv == model.nv, "a joint is independent in part"
    return tree, np.array(iq, dtype=np.int64)


@overload
def dIntegrate(model: ClusterModel, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def dIntegrate(model: ClusterModel, q: Any, v: Any, argument_position: pin.ArgumentPosition) -> np.ndarray: ...
@fast
@_documented
def dIntegrate(model: ClusterModel, q: Any, v: Any, argument_position: Any = None) -> Any:
    """Differentiate ``integrate(model, q, v)`` by q and by v, all as independent velocities.

    Args:
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].

    Returns:
        Shape (nv, nv) each: what the independent joints do; the dependent ones follow them. Fresh arrays.
    """
    tree, iq = _leaders(model)
    q, v = configuration(model, "q", q), velocity(model, "v", v)
    return pin.dIntegrate(tree, q.take(iq), v, *_position(argument_position))


@overload
def dDifference(model: ClusterModel, q0: Any, q1: Any) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def dDifference(model: ClusterModel, q0: Any, q1: Any, argument_position: pin.ArgumentPosition) -> np.ndarray: ...
@fast
@_documented
def dDifference(model: ClusterModel, q0: Any, q1: Any, argument_position: Any = None) -> Any:
    """Differentiate ``difference(model, q0, q1)`` by q0 and by q1, all as independent velocities.

    Returns:
        Shape (nv, nv) each; fresh arrays. The dependent entries of q0 and q1 are not read.
    """
    tree, iq = _leaders(model)
    q0, q1 = configuration(model, "q0", q0), configuration(model, "q1", q1)
    return pin.dDifference(tree, q0.take(iq), q1.take(iq), *_position(argument_position))


def _position(given: Any) -> tuple[pin.ArgumentPosition, ...]:
    """Return the position of the first or the second argument, if it is given."""
    if given is None:
        return ()
    if type(given) is not pin.ArgumentPosition or given not in _POSITIONS:  # whole numbers are equal to them
        raise ArgumentTypeError(
            f"argument_position must be pin.ArgumentPosition.ARG0 or ARG1, got {given!r} ({type(given).__name__})."
        )
    return (given,)
