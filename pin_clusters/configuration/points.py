"""Single configurations: neutral, random, projected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..arrays import vector
from ..errors import ArgumentTypeError, ConfigurationError
from ..model import ClusterModel
from .manifold import Manifold, check_norms, manifold, owner

_NQ = "nq (the whole tree)"
# Pinocchio writes "no limit" as the largest float
_UNLIMITED = 1e100


def neutral(model: ClusterModel) -> np.ndarray:
    """Return Pinocchio's neutral configuration, with the dependent joints where the couplings put them.

    Args:
        model: Cluster model.

    Returns:
        Shape (nq,); a fresh array. Limits are not looked at, as in Pinocchio.

    Raises:
        ArgumentTypeError: It is not a cluster model.

    References:
        Pinocchio's ``neutral`` for the independent joints.
    """
    shape = manifold(model)
    return shape.follow(np.array(pin.neutral(model._pristine)))


def randomConfiguration(model: ClusterModel, lower: Any = None, upper: Any = None) -> np.ndarray:
    """Return a random configuration on the couplings.

    The independent joints are uniform within their limits; without limits, within [-1, 1]; with one limit, within 2
    of it. Rotations are uniform. The dependent joints follow, also beyond their own limits. ``pin.seed`` sets the seed.

    Args:
        model: Cluster model.
        lower: Lower limits of q, shape (nq,), [rad] or [m]; the model's by default.
        upper: Upper limits of q, shape (nq,), [rad] or [m]; the model's by default.

    Returns:
        Shape (nq,); a fresh array.

    Raises:
        ConfigurationError: A given lower limit is above the upper one, or not a number.
        ShapeError: A size is wrong.
        ArgumentTypeError: An argument has the wrong type.

    References:
        Pinocchio's ``randomConfiguration`` for the independent joints.
    """
    shape = manifold(model)
    given = lower is not None or upper is not None
    low = vector(model, "lower", model.lowerPositionLimit if lower is None else lower, model.nq, _NQ).copy()
    high = vector(model, "upper", model.upperPositionLimit if upper is None else upper, model.nq, _NQ).copy()
    free = np.zeros(model.nq, dtype=bool)  # entries whose limits mean nothing
    for f in shape.followers:
        free[f.iq : f.iq + f.nq] = True
    for _, first, last in shape.units:
        free[first:last] = True
    wrong = ~free & ~(low <= high)
    if given and np.any(wrong):
        i = int(np.flatnonzero(wrong)[0])
        raise ConfigurationError(
            f"randomConfiguration: joint {owner(model, i)!r} has lower[{i}] = {low[i]:g} and upper[{i}] = {high[i]:g}; "
            "lower must not be above upper."
        )
    no_low, no_high = ~(np.abs(low) < _UNLIMITED), ~(np.abs(high) < _UNLIMITED)
    none = free | wrong | (no_low & no_high)
    low = np.where(none, -1.0, np.where(no_low, high - 2.0, low))
    high = np.where(none, 1.0, np.where(no_high, low + 2.0, high))
    return shape.follow(np.array(pin.randomConfiguration(model._pristine, low, high)))


def project(model: ClusterModel, q: Any, hold: str | Sequence[str] = ()) -> np.ndarray:
    """Return the nearest configuration on the couplings.

    The smallest change (in the norm of the tangent space, rad and m alike) of all joints that are not held; then the
    couplings hold to rounding. Quaternions and (cos, sin) pairs are normalised.

    Args:
        model: Cluster model.
        q: Configuration of the whole tree, shape (nq,), off the couplings or not.
        hold: Names of joints that stay where they are.

    Returns:
        Shape (nq,); a fresh array.

    Raises:
        ConfigurationError: The held joints leave no way to fulfil the couplings, q is not finite, or a quaternion or
            (cos, sin) pair is zero.
        UnknownNameError: No joint has a name in ``hold``.
        ShapeError: q has another size.
        ArgumentTypeError: An argument has the wrong type.

    References:
        The normal equations of a linear constraint; its rows are ``model.coupling_rows``.

    Example:
        Move the joints of a gear to agree, without touching the link:

        >>> import pinocchio as pin, pin_clusters as pc
        >>> tree = pin.buildSampleModelManipulator()
        >>> first, second = list(tree.names)[1:3]
        >>> model = pc.ClusterModel(tree, [pc.Gear(first, second, 2.0)])
        >>> q = pin.neutral(tree); q[0] = 0.3
        >>> float(pc.project(model, q, hold=first)[1])
        0.6
    """
    shape = manifold(model)
    q = vector(model, "q", q, model.nq, _NQ).copy()
    ids = [model.getJointId(name) for name in ((hold,) if isinstance(hold, str) else _names(hold))]
    if not np.all(np.isfinite(q)):
        i = int(np.flatnonzero(~np.isfinite(q))[0])
        raise ConfigurationError(f"project: q[{i}] = {q[i]} (joint {owner(model, i)!r}) is not finite.")
    for _, first, last in shape.units:
        norm = float(np.linalg.norm(q[first:last]))
        if norm > 0.0:
            q[first:last] /= norm
    check_norms(shape, q, 1e-6)  # what is left is zero
    if not shape.followers:
        return q
    tree = model._pristine
    fixed = [(int(tree.idx_qs[j]), int(tree.nqs[j]), int(tree.idx_vs[j]), int(tree.nvs[j])) for j in ids]
    moved = np.array(pin.integrate(tree, q, _step(model, shape, q, fixed)))
    shape.follow(moved)
    for iq, nq, _, _ in fixed:
        moved[iq : iq + nq] = q[iq : iq + nq]  # not even rounding moves a held joint
    return moved


def _step(model: ClusterModel, shape: Manifold, q: np.ndarray, fixed: list[tuple[int, int, int, int]]) -> np.ndarray:
    """Return the shortest tangent vector onto the couplings, shape (tree.nv,); they are linear, so one is enough."""
    A = np.zeros((len(shape.followers), model._pristine.nv))
    for line, f in zip(A, shape.followers, strict=True):
        line[f.iv] += 1.0
        for _, _, iv, coefficient in f.masters:
            line[iv] -= coefficient
    for _, _, iv, nv in fixed:
        A[:, iv : iv + nv] = 0.0
    r = shape.residual(q)
    step = np.linalg.lstsq(A, -r, rcond=None)[0]
    left = np.abs(A @ step + r)
    worst = int(np.argmax(left))
    if left[worst] > 1e-9 * max(1.0, float(np.abs(r).max())):
        f = shape.followers[worst]
        raise ConfigurationError(
            f"project: with the held joints, {f.label} cannot be fulfilled; {left[worst]:.3g} (rad or m) are left. "
            "Hold fewer joints of its cluster."
        )
    return step


def _names(hold: Any) -> Sequence[str]:
    if not isinstance(hold, (list, tuple, set, frozenset)) or not all(isinstance(n, str) for n in hold):
        raise ArgumentTypeError(f"project: hold must be a joint name or a list of them, got {hold!r}.")
    return list(hold)
