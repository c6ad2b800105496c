"""Computes single configurations: neutral, random or projected."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, configuration, in_order
from ..._support.docstrings import AS_PINOCCHIO, COMMON, stock
from ..._support.trees import check_finite, in_q, in_v, joint_in_q
from ...compiler.calls import fast
from ...errors import ArgumentTypeError, BranchLost, ConfigurationError
from .. import ClusterModel, also_pinocchios, close, is_pinocchios, loops_of
from ._plans import of_neutral, of_project, of_random, remember_hold
from .manifold import UNLIMITED, Manifold, check_norms, finite_limits, manifold
from .motions import integrate

_documented = stock(COMMON, AS_PINOCCHIO)
# Fractions of the motion to a random pose; they are tried in this order until the loops close.
_PARTS = (1.0, 0.6, 0.35, 0.2, 0.1, 0.05)
# Near a singularity (dead centre), the dependent joints move much faster than the independent joints. A random pose is
# accepted only if a small further motion changes no entry of q by more than _FASTEST times the independent motion.
_PROBE, _FASTEST = 1e-6, 1e3


@fast(of_neutral)
@_documented
def neutral(model: ClusterModel) -> np.ndarray:
    """Return Pinocchio's neutral configuration, with dependent joints that satisfy the couplings.

    If the model has closed loops or was created with ``q_reference``, the result is ``model.q_reference``.

    Returns:
        Configuration, shape (nq,), [rad] or [m]; a new array. Joint limits are ignored, as in Pinocchio.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> pc.neutral(model).shape == (model.nq,)
        True
    """
    if type(model) is not ClusterModel and is_pinocchios(model):
        return np.array(pin.neutral(model))
    return manifold(model).neutral.copy()


@fast(of_random)
@also_pinocchios
@_documented
def randomConfiguration(
    model: ClusterModel, lower_bound: ArrayLike | None = None, upper_bound: ArrayLike | None = None
) -> np.ndarray:
    """Return a random configuration that satisfies the couplings and closed loops.

    The independent joints are uniformly distributed within their limits: within [-1, 1] if a joint has no limits, and
    within an interval of length 2 if it has only one limit. Rotations are uniform. Dependent joints may exceed their
    limits. ``pin.seed`` sets the seed. Closed loops move from ``model.q_reference`` and stay on its branch. If they
    cannot reach the drawn values, they stop partway.

    Args:
        lower_bound: Lower limits of q, shape (nq,), [rad] or [m]; by default the limits of the model.
        upper_bound: Upper limits of q, shape (nq,), [rad] or [m]; by default the limits of the model.

    Returns:
        Configuration, shape (nq,), [rad] or [m]; a new array.

    Raises:
        ConfigurationError: A lower limit exceeds the upper limit, or a limit is NaN.
        ShapeError: The size of a limit is not nq.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> bool(abs(pc.residual(model, pc.randomConfiguration(model))).max() < 1e-9)
        True
    """
    shape = manifold(model)
    if lower_bound is None and upper_bound is None:
        low, high = shape.limits
    else:
        low, high = _given_limits(model, shape, lower_bound, upper_bound)
    q = pin.randomConfiguration(model.own_tree, low, high)
    if model.closures:
        q = _reach(model, q)
    return shape.follow(q) if shape.followers else q


def _given_limits(model: ClusterModel, shape: Manifold, lower: Any, upper: Any) -> tuple[np.ndarray, np.ndarray]:
    low = configuration(model, "lower_bound", model.lowerPositionLimit if lower is None else lower)
    high = configuration(model, "upper_bound", model.upperPositionLimit if upper is None else upper)
    low, high = np.where(shape.bounded, low, -1.0), np.where(shape.bounded, high, 1.0)
    right = low <= high
    if not right.all():
        i = int(np.flatnonzero(~right)[0])
        name = model.own_tree.names[joint_in_q(model.own_tree, i)]
        raise ConfigurationError(
            f"randomConfiguration: joint {name!r} has lower_bound[{i}] = {low[i]:g} and upper_bound[{i}] = "
            f"{high[i]:g}; lower_bound must not be above upper_bound."
        )
    if low.min() > -UNLIMITED and high.max() < UNLIMITED:  # In most models, all limits are finite.
        return low, high
    return finite_limits(low, high)


def _reach(model: ClusterModel, target: np.ndarray) -> np.ndarray:
    """Move the loops towards the target as far as they can be closed; return the closed configuration."""
    start = model.q_reference
    motion = pin.difference(model.own_tree, start, target)[model.idx_v_independent]
    farthest = _PROBE * _FASTEST * np.abs(motion).max(initial=1e-6)  # The lower bound exceeds rounding errors.
    for part in _PARTS:
        try:
            q = integrate(model, start, part * motion)
            beyond = integrate(model, q, _PROBE * motion)
        except BranchLost:
            continue
        if np.abs(beyond - q).max() <= farthest:
            break
    else:
        q = start
    entries = loops_of(model).entries
    target[entries] = q[entries]
    return target


@fast(of_project)
@_documented
def project(model: ClusterModel, q: ArrayLike, hold: str | Sequence[str] = ()) -> np.ndarray:
    """Return the nearest configuration that satisfies the couplings and closed loops.

    The change of the joints that are not held has the smallest norm, in which 1 rad and 1 m have equal weights. The
    couplings are satisfied up to rounding errors. Quaternions and (cos, sin) pairs are normalized. Newton's method with
    minimum-norm steps closes the loops; far from a solution, the steps are damped.

    Args:
        q: Configuration of the whole tree, shape (nq,), [rad] or [m], which may violate the couplings.
        hold: Names of joints that do not move.

    Returns:
        Configuration, shape (nq,), [rad] or [m]; a new array.

    Raises:
        ConfigurationError: The held joints prevent a solution of the couplings, a loop cannot be closed, q is not
            finite, or a quaternion or (cos, sin) pair is zero.
        UnknownNameError: A name in ``hold`` is unknown.

    References:
        The normal equations of the linear constraints ``model.coupling_rows``.

    Example:
        Move the second joint of a gear so that it agrees with the first:

        >>> import pinocchio as pin, pin_clusters as pc
        >>> tree = pin.buildSampleModelManipulator()
        >>> first, second = list(tree.names)[1:3]
        >>> model = pc.ClusterModel(tree, [pc.Gear(first, second, 2.0)])
        >>> q = pin.neutral(tree); q[0] = 0.3
        >>> float(pc.project(model, q, hold=first)[1])
        0.6
    """
    shape = manifold(model)
    q = configuration(model, "q", q).copy()
    held = held_joints(model, hold)
    check_finite(model.own_tree, "project: q", q)
    for _, first, last in shape.units:
        norm = math.sqrt(in_order(x * x for x in q[first:last].tolist()))
        if norm > 0.0:
            q[first:last] /= norm
    check_norms(shape, q, 1e-6)  # raises an error for zero quaternions
    tree, correction = model.own_tree, shape.way(model, held)
    if model.closures:
        q = close(model, q, [iv for j in held for iv in in_v(tree, j)])
    remember_hold(model, project, hold, held)
    if not correction.outside:
        return shape.follow(q) if shape.followers and not held else q
    moved = pin.integrate(tree, q, correction.shortest(q, shape.linear, tree.nv))
    shape.follow(moved)
    for i in (i for j in held for i in in_q(tree, j)):
        moved[i] = q[i]  # Held joints keep their exact values.
    return moved


def held_joints(model: ClusterModel, hold: Any) -> tuple[int, ...]:
    names = (hold,) if isinstance(hold, str) else hold
    if not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(n, str) for n in names):
        raise ArgumentTypeError(f"project: hold must be a joint name or a list of joint names, got {hold!r}.")
    return tuple(sorted({model.getJointId(name) for name in names}))
