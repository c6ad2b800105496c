"""Moves configurations, computes the velocity between two configurations, and interpolates."""

from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, array, configuration, numbers, velocity
from ..._support.docstrings import AS_PINOCCHIO, COMMON, stock
from ..._support.trees import in_q
from ...compiler.calls import fast
from ...errors import BranchLost, ConfigurationError, ShapeError
from .. import ClusterModel, also_pinocchios, carry, check_closed, check_model, loops_of, names_of_cluster, same_pose
from ._plans import of_difference, of_integrate, of_interpolate
from .manifold import TOLERANCE, manifold

_documented = stock(COMMON, AS_PINOCCHIO)


@fast(of_integrate)
@also_pinocchios
@_documented
def integrate(model: ClusterModel, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Move a configuration along an independent velocity for unit time.

    The independent joints move exactly as in Pinocchio. The dependent joints are computed from the independent joints
    through the couplings and closed loops, so the constraints do not drift. Up to full turns,
    ``difference(model, q, integrate(model, q, v))`` equals v.

    Args:
        q: Configuration of the whole tree, shape (nq,), [rad] or [m]. The dependent entries of q only determine the
            branch of the loops, and the full turns of joints that are coupled to a continuous joint.
        v: Independent velocity times the time step, shape (nv,), [rad] or [m].

    Returns:
        Configuration that satisfies the constraints, shape (nq,), [rad] or [m]; a new array. NaN and inf propagate.
        The loops move from q in short steps and do not pass a singular pose, so they stay on their branch.

    Raises:
        BranchLost: A loop cannot be closed at the end of the motion, or the motion passes a singular pose.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> q = pc.integrate(model, pc.neutral(model), np.full(model.nv, 0.1))
        >>> float(q.max())
        0.1
    """
    shape = manifold(model)
    q = configuration(model, "q", q)
    v = velocity(model, "v", v)
    if model.closures:
        moved = carry(model, q, v)
    elif shape.linear:
        v_tree = np.zeros(model.own_tree.nv)
        v_tree[model.idx_v_independent] = v
        moved = pin.integrate(model.own_tree, q, v_tree)
    else:  # Dependent joints move too, so that ``follow``, which finds the nearest turn, counts full turns.
        moved = pin.integrate(model.own_tree, q, model.coupling_matrix @ v)
    return shape.follow(moved)


@fast(of_difference)
@also_pinocchios
@_documented
def difference(model: ClusterModel, q1: ArrayLike, q2: ArrayLike) -> np.ndarray:
    """Return the independent velocity that moves q1 to q2 in unit time.

    Returns:
        Velocity, shape (nv,), [rad] or [m]; a new array. The loop joints of q1 and q2 are only read to check that both
        configurations are on the same branch. Dependent joints of couplings are not read.

    Raises:
        ConfigurationError: The loops are open at q2. If they are open at q1, they are closed first.
        BranchLost: The motion of the independent joints does not move the loops from q1 to q2. Full turns of loop
            joints are ignored, unless they change the position of a joint that is coupled to them.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q1 = pc.neutral(model)
        >>> pc.difference(model, q1, pc.integrate(model, q1, np.array([0.1]))).round(6).tolist()
        [0.1]
    """
    check_model(model)
    q1, q2 = configuration(model, "q1", q1), configuration(model, "q2", q2)
    v = pin.difference(model.own_tree, q1, q2)[model.idx_v_independent]
    if model.closures and np.isfinite(q1).all() and np.isfinite(q2).all():
        _check_branch(model, q1, q2, v)
    return v


def _check_branch(model: ClusterModel, q1: np.ndarray, q2: np.ndarray, v: np.ndarray) -> None:
    reached = carry(model, q1, v)
    if not same_pose(model, reached, q2, 1e-6, loops_only=False):
        try:
            check_closed(model, q2, TOLERANCE, "q2")
        except ConfigurationError as error:
            raise ConfigurationError(f"difference: {error}") from None
        names = _cluster_apart(model, reached, q2)
        if same_pose(model, reached, q2, 1e-6, loops_only=True):
            raise BranchLost(
                f"difference: loop joints of the cluster {', '.join(map(repr, names))} differ by full turns between q1 "
                "and q2, so joints that are coupled to them by a ratio have different positions. "
                "No motion of the independent joints leads from q1 to q2. Compute q2 with pc.integrate.",
                names,
            )
        raise BranchLost(
            f"difference: q1 and q2 are on different branches of the loops of the joints "
            f"{', '.join(map(repr, names))}: if the independent joints move from q1 to q2, the dependent joints reach "
            f"positions that differ from q2. Compare with pc.branches(model, q1, {names[0]!r}).",
            names,
        )


def _cluster_apart(model: ClusterModel, q1: np.ndarray, q2: np.ndarray) -> tuple[str, ...]:
    """Return the joints of the first cluster whose loops have different poses at q1 and q2."""
    tree = model.own_tree
    for loop in loops_of(model).clusters:
        entries = [i for j in loop.joints for i in in_q(tree, j)]
        mixed = q1.copy()
        mixed[entries] = q2[entries]
        if not same_pose(model, q1, mixed, 1e-6, loops_only=False):
            return names_of_cluster(model, loop.joints)
    raise AssertionError("no cluster differs")  # The caller has already found a difference.


@fast(of_interpolate)
@also_pinocchios
@_documented
def interpolate(model: ClusterModel, q1: ArrayLike, q2: ArrayLike, alpha: float) -> np.ndarray:
    """Return the configuration between q1 (alpha = 0) and q2 (alpha = 1) that satisfies the constraints.

    Args:
        alpha: Any number; values outside [0, 1] extrapolate.

    Returns:
        Configuration, shape (nq,), [rad] or [m]; a new array. The independent joints are interpolated as in Pinocchio.
        A joint that is coupled to a continuous joint moves continuously from q1, so at alpha = 1 it may differ from q2
        by full turns.

    Raises:
        BranchLost: The motion of the independent joints does not move the loops from q1 to q2.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q1 = pc.neutral(model)
        >>> q2 = pc.integrate(model, q1, np.array([0.2]))
        >>> pc.difference(model, q1, pc.interpolate(model, q1, q2, 0.5)).round(6).tolist()
        [0.1]
    """
    shape = manifold(model)
    part = float(alpha) if isinstance(alpha, float) else _one_number(alpha)
    if model.closures:
        return integrate(model, q1, part * difference(model, q1, q2))
    q1, q2 = configuration(model, "q1", q1), configuration(model, "q2", q2)
    q = pin.interpolate(model.own_tree, q1, q2, part)
    if not shape.linear:
        # The motion of the independent joints determines the number of turns of a dependent joint.
        tangent = model.coupling_matrix @ pin.difference(model.own_tree, q1, q2)[model.idx_v_independent]
        for f in shape.followers:
            if f.nq == 1:
                q[f.iq] = q1[f.iq] + part * tangent[f.iv]
    return shape.follow(q) if shape.followers else q


def _one_number(alpha: Any) -> float:
    values = numbers("alpha", alpha)
    vector = array("alpha", values.reshape(1) if values.ndim == 0 else values)
    if vector.size != 1:
        raise ShapeError(f"alpha has size {vector.size}, expected one number.")
    return float(vector[0])
