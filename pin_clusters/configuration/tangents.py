"""Derivatives of ``integrate`` and ``difference``: of the independent joints, which move as in Pinocchio."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pinocchio as pin

from ..arrays import configuration, velocity
from ..docstrings import AS_PINOCCHIO, COMMON, stock
from ..errors import ArgumentTypeError
from ..joints import in_q, in_v
from ..model import ClusterModel
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


@dataclass(frozen=True)
class _Curved:
    """The independent joints of several degrees of freedom, alone on a tree: the others add up.

    Attributes:
        tree: These joints, None if there are none.
        iq: Where each entry of its configuration is in q.
        iv: Where each entry of its velocity is in v.
        blocks: Per joint, where it is in v and in its velocity.
        straight: Derivatives of what adds up.
    """

    tree: pin.Model | None
    iq: np.ndarray
    iv: np.ndarray
    blocks: tuple[tuple[slice, slice], ...]
    straight: np.ndarray

    def filled(self, found: np.ndarray, sign: float) -> np.ndarray:
        """Return derivatives of all, from those of these joints."""
        result = self.straight.copy() if sign > 0.0 else 0.0 - self.straight  # no -0.0
        for here, there in self.blocks:
            result[here, here] = found[there, there]
        return result


_known: dict[int, _Curved] = {}


def _curved(model: ClusterModel) -> _Curved:
    manifold(model)  # raises if it is no cluster model
    topology = model._topology
    found = _known.get(id(topology))
    if found is None:
        found = _known[id(topology)] = _make(model)
        weakref.finalize(topology, _known.pop, id(topology), None)
    return found


def _make(model: ClusterModel) -> _Curved:
    own, tree = model.own_tree, pin.Model()
    place = {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
    iq: list[int] = []
    iv: list[int] = []
    blocks = []
    for j in range(1, own.njoints):
        dofs = [int(i) for i in in_v(own, j)]
        if len(dofs) > 1 and all(i in place for i in dofs):
            tree.addJoint(0, own.joints[j], pin.SE3.Identity(), own.names[j])
            k = place[dofs[0]]
            blocks.append((slice(k, k + len(dofs)), slice(len(iv), len(iv) + len(dofs))))
            iq += [int(i) for i in in_q(own, j)]
            iv += [place[i] for i in dofs]
    return _Curved(tree if blocks else None, np.array(iq, int), np.array(iv, int), tuple(blocks), np.eye(model.nv))


@overload
def dIntegrate(model: ClusterModel, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def dIntegrate(model: ClusterModel, q: Any, v: Any, argument_position: pin.ArgumentPosition) -> np.ndarray: ...
@_documented
def dIntegrate(model: ClusterModel, q: Any, v: Any, argument_position: Any = None) -> Any:
    """Differentiate ``integrate(model, q, v)`` by q and by v, all as independent velocities.

    Args:
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].

    Returns:
        Shape (nv, nv) each: what the independent joints do; the dependent ones follow them. Fresh arrays.
    """
    curved = _curved(model)
    q, v = configuration(model, "q", q), velocity(model, "v", v)
    return _differentiated(curved, pin.dIntegrate, q, v, 1.0, argument_position)


@overload
def dDifference(model: ClusterModel, q0: Any, q1: Any) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def dDifference(model: ClusterModel, q0: Any, q1: Any, argument_position: pin.ArgumentPosition) -> np.ndarray: ...
@_documented
def dDifference(model: ClusterModel, q0: Any, q1: Any, argument_position: Any = None) -> Any:
    """Differentiate ``difference(model, q0, q1)`` by q0 and by q1, all as independent velocities.

    Returns:
        Shape (nv, nv) each; fresh arrays. The dependent entries of q0 and q1 are not read.
    """
    curved = _curved(model)
    q0, q1 = configuration(model, "q0", q0), configuration(model, "q1", q1)
    return _differentiated(curved, pin.dDifference, q0, q1, -1.0, argument_position)


def _differentiated(
    curved: _Curved, function: Callable[..., Any], x: np.ndarray, y: np.ndarray, sign: float, argument: Any
) -> Any:
    """Return the derivatives by x, whose sign is given where joints add up, and by y; or one of them."""
    if argument is not None and argument not in (pin.ARG0, pin.ARG1):
        raise ArgumentTypeError(
            f"argument_position must be pin.ArgumentPosition.ARG0 or ARG1, got {argument!r} "
            f"({type(argument).__name__})."
        )
    signs = (sign, 1.0)
    if curved.tree is None:
        found = (curved.straight, curved.straight)
    else:
        found = function(curved.tree, x[curved.iq], y[curved.iv if sign > 0.0 else curved.iq])
    if argument is not None:
        i = int(argument == pin.ARG1)
        return curved.filled(found[i], signs[i])
    return curved.filled(found[0], signs[0]), curved.filled(found[1], signs[1])
