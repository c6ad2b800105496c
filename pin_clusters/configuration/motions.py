"""From one configuration to another: integrate, difference, interpolate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..arrays import array, vector, velocity
from ..errors import ShapeError
from ..model import ClusterModel
from .manifold import manifold

_NQ = "nq (the whole tree)"


def integrate(model: ClusterModel, q: Any, v: Any) -> np.ndarray:
    """Move a configuration along an independent velocity for unit time.

    The independent joints move exactly as in Pinocchio. The dependent ones are computed anew from them by the
    couplings, so nothing drifts, and ``difference(model, q, integrate(model, q, v))`` is v (up to whole turns).

    Args:
        model: Cluster model.
        q: Configuration of the whole tree, shape (nq,); the dependent entries of the result do not depend on its
            dependent ones, but for the number of turns where a continuous joint leads a joint that is not.
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].

    Returns:
        Configuration on the couplings, shape (nq,); a fresh array. NaN and inf propagate.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: An argument has the wrong type.

    References:
        Pinocchio's ``integrate`` for the independent joints.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> q = pc.integrate(model, pc.neutral(model), np.full(model.nv, 0.1))
        >>> float(q.max())
        0.1
    """
    shape = manifold(model)
    q = vector(model, "q", q, model.nq, _NQ)
    v = velocity(model, "v", v)
    return shape.follow(np.array(pin.integrate(model._pristine, q, model.coupling_matrix @ v)))


def difference(model: ClusterModel, q0: Any, q1: Any) -> np.ndarray:
    """Return the independent velocity that leads from q0 to q1 in unit time.

    Args:
        model: Cluster model.
        q0: Configuration of the whole tree, shape (nq,).
        q1: Configuration of the whole tree, shape (nq,).

    Returns:
        Shape (nv,), [rad] or [m]; a fresh array. The dependent entries of q0 and q1 are not read.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: An argument has the wrong type.

    References:
        Pinocchio's ``difference`` for the independent joints.
    """
    manifold(model)
    q0, q1 = vector(model, "q0", q0, model.nq, _NQ), vector(model, "q1", q1, model.nq, _NQ)
    return np.array(pin.difference(model._pristine, q0, q1)[model.idx_v_independent])


def interpolate(model: ClusterModel, q0: Any, q1: Any, u: float) -> np.ndarray:
    """Return the configuration between q0 (u = 0) and q1 (u = 1), on the couplings.

    Args:
        model: Cluster model.
        q0: Configuration of the whole tree, shape (nq,).
        q1: Configuration of the whole tree, shape (nq,).
        u: Any number; outside 0 to 1 it extrapolates.

    Returns:
        Shape (nq,); a fresh array. The independent joints are Pinocchio's. A dependent joint with a continuous master
        moves on from q0, so at u = 1 it may be whole turns away from q1.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: An argument has the wrong type.

    References:
        Pinocchio's ``interpolate`` for the independent joints.
    """
    shape = manifold(model)
    q0, q1 = vector(model, "q0", q0, model.nq, _NQ), vector(model, "q1", q1, model.nq, _NQ)
    at = array("u", [u] if np.ndim(u) == 0 else u)
    if at.size != 1:
        raise ShapeError(f"u has size {at.size}, expected one number.")
    part = float(at[0])
    q = np.array(pin.interpolate(model._pristine, q0, q1, part))
    if not shape.linear:
        # the way that the independent joints take says how often a dependent one turned
        way = model.coupling_matrix @ pin.difference(model._pristine, q0, q1)[model.idx_v_independent]
        for f in shape.followers:
            if f.nq == 1:
                q[f.iq] = q0[f.iq] + part * way[f.iv]
    return shape.follow(q)
