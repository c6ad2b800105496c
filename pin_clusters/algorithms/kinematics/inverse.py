"""Inverse kinematics with closed loops and with limits on all joints.

Each Levenberg-Marquardt step solves a least-squares problem with joint limits as linear inequalities, converted to a
least-distance problem (Lawson and Hanson, chapter 23). ``pc.integrate`` applies the step. A step can violate limits of
dependent joints, which move nonlinearly, so the merit function contains an exact penalty for limits.
"""

import warnings
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import ArrayLike, numbers, real, vector, whole_number
from ..._support.trees import in_v, joint_in_q, placement_defect
from ...errors import ArgumentTypeError, BranchLost, PinClustersWarning, SingularClusterError, UnknownNameError, shown
from ...model import ClusterData, ClusterModel
from ...model.configuration import integrate, project, residual
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .centroidal import centerOfMass, jacobianCenterOfMass
from .jacobians import computeJointJacobians, getFrameJacobian
from .kinematics import updateFramePlacement

CENTER = "center_of_mass"


@dataclass(frozen=True)
class InverseKinematics:
    """Result of ``pc.inverse_kinematics``.

    Attributes:
        q: Configuration that closes the loops, shape (nq,).
        converged: Whether all targets are reached within the tolerance and all joint limits are satisfied.
        errors: Position error, [m], and angle error, [rad], of each target, by target name.
        loop_residual: Largest absolute entry of ``pc.residual(model, q)``, [m] or [rad].
        iterations: Number of steps of all attempts, including rejected steps.
        at_limits: Names of the joints at or beyond a limit.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.inverse_kinematics(model, pc.neutral(model), {"coupler": [0.06, 0.0, 0.08]}).q.round(4)
        array([ 0.6435, -0.8084,  0.0795])
    """

    q: np.ndarray
    converged: bool
    errors: dict[str, tuple[float, float]]
    loop_residual: float
    iterations: int
    at_limits: tuple[str, ...]


@_check.documented()
def inverse_kinematics(
    model: ClusterModel,
    q0: ArrayLike,
    targets: Mapping[str, Any],
    *,
    weights: Mapping[str, Any] | None = None,
    center_of_mass: ArrayLike | None = None,
    posture: ArrayLike | None = None,
    posture_weight: float | None = None,
    tolerance: float = 1e-9,
    iterations: int = 100,
    attempts: int = 8,
    data: ClusterData | None = None,
) -> InverseKinematics:
    """Find a configuration that moves frames to target poses, closes all loops and satisfies the joint limits.

    Args:
        targets: Targets by frame name: a ``pin.SE3``, or a position of shape (3,), [m], in the world. To keep a
            floating base in place, add the base as a target.
        weights: Weights by target name, if targets conflict: a number (default 1) or a pair (position, angle).
        center_of_mass: Target of the centre of mass in the world, shape (3,), [m]; its target name is "center_of_mass".
        posture: Preferred configuration, approached in the null space of the targets, shape (nq,); by default ``q0``.
        posture_weight: Weight of the posture error per rad or m: by default 1e-2 if ``posture`` is given, otherwise 0.
            The last steps ignore the posture error, so that the targets are reached within the tolerance.
        tolerance: Maximum position error, [m], and maximum angle error, [rad], of a reached target.
        iterations: Maximum number of steps per attempt.
        attempts: Maximum number of starting poses: ``q0``, then pseudorandom poses near ``q0``, which help if ``q0`` is
            singular (straight leg). The search ends early if a later attempt has the same error as the best attempt.

    Returns:
        The solution or, if the targets are not reached, the best configuration that was found.

    Raises:
        UnknownNameError: No frame has the name of a target, or no target has the name of a weight.
        ArgumentTypeError: An argument has a wrong type or an invalid value.
        ConfigurationError: The loops of ``q0`` cannot be closed.

    Warns:
        PinClustersWarning: A target was not reached. The message lists the errors and the joints at their limits.

    References:
        Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23 (least squares with inequalities).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("tello")
        >>> result = pc.inverse_kinematics(model, pc.neutral(model), {"torso": [0.0, 0.0, 0.01]})
        >>> result.converged, bool(result.loop_residual < 1e-9)
        (True, True)
    """
    start, data, weights = project(model, q0), model.createData() if data is None else data, weights or {}
    if not isinstance(targets, Mapping):
        raise ArgumentTypeError(f"targets must be a dict from frame names to pin.SE3 or positions, got {targets!r}.")
    ids, goals, limits = list[int | None](), list[Any](), _limits(model)
    if targets or center_of_mass is None:
        ids += _ids.frames(model, "targets", [*targets])
    if center_of_mass is not None:
        if CENTER in targets:
            raise ArgumentTypeError(f"targets contains {CENTER!r}. Pass the centre of mass with center_of_mass=.")
        targets, ids = {**targets, CENTER: vector(model, CENTER, center_of_mass, 3, "a position")}, [*ids, None]
    posture_weight = 1e-2 * (posture is not None) if posture_weight is None else posture_weight
    error, weight = real(tolerance), real(posture_weight)
    if error is None or weight is None or not 0.0 < error < np.inf or not 0.0 <= weight < np.inf:
        raise ArgumentTypeError(
            "tolerance must be > 0, posture_weight >= 0, and both finite; got "
            f"{shown(tolerance)} and {shown(posture_weight)}."
        )
    for option, count in (("iterations", iterations), ("attempts", attempts)):
        whole_number(option, count, 1)
    if unknown := [n for n in weights if n not in targets]:
        raise UnknownNameError(f"weights contains {unknown[0]!r}, which is no target. Targets: {', '.join(targets)}.")
    for frame, (name, x) in zip(ids, targets.items(), strict=True):
        goal = x if isinstance(x, pin.SE3) else vector(model, f"target {name!r}", x, 3, "a position, or pin.SE3")
        defect = placement_defect(goal if isinstance(goal, pin.SE3) else pin.SE3(np.eye(3), goal))
        if defect:
            raise ArgumentTypeError(f"target {name!r} {defect} Given: {goal!r}.")
        counts = numbers(f"weight of {name!r}", weights.get(name, 1.0))
        if counts.shape not in ((), (2,)) or not (np.isfinite(counts) & (counts >= 0.0)).all():
            raise ArgumentTypeError(
                f"weight of {name!r} must be a number or (position, angle), finite and not negative, got {counts}."
            )
        goals.append((name, frame, goal, *np.broadcast_to(counts, 2)))
    rest_pose = start if posture is None else _check.configuration(model, data, posture)
    if not np.isfinite(rest_pose).all():
        raise ArgumentTypeError(f"posture is not finite: {posture!r}.")
    evaluate = partial(_point, model, data, goals, limits, rest_pose)
    rng, best, total, repeated = np.random.default_rng(0), evaluate(start), 0, False
    for k in range(attempts):
        try:
            q = integrate(model, start, min(1.0, 0.1 * 2.0**k) * rng.normal(size=model.nv)) if k else start
            for pull in (posture_weight, 0.0) if posture_weight else (0.0,):
                candidate, steps = _descend(model, evaluate, q, pull, tolerance, iterations)
                q, total = candidate.q, total + steps
        except (BranchLost, SingularClusterError):
            continue
        repeated = k > 0 and abs(_merit(candidate) - _merit(best)) <= 1e-6 * _merit(best)
        best = min(best, candidate, key=_merit)
        if repeated or best.worst <= tolerance:
            break
    open_by, converged = float(np.abs(residual(model, best.q)).max(initial=0.0)), best.worst <= tolerance
    ends = tuple(dict.fromkeys(model.names[joint_in_q(model.own_tree, i)] for i in limits[0][best.slack < 1e-6]))
    if not converged:
        misses = ", ".join(f"{n!r} is {x:.3g} m and {turn:.3g} rad away" for n, (x, turn) in best.errors.items())
        warnings.warn(
            f"inverse_kinematics: model {model.name!r} does not reach all targets within {tolerance:g} m and rad after "
            f"{total} steps: {misses}; joints at their limits: {', '.join(ends) or 'none'}. The result is the best "
            "configuration found. Move targets, reduce weights, or start from another q0.",
            PinClustersWarning,
            stacklevel=2,
        )
    return InverseKinematics(best.q, converged, best.errors, open_by, total, ends)


def _limits(model: ClusterModel) -> tuple[np.ndarray, ...]:
    """List the joint limits sign * q <= bound as arrays: indices in q, indices in the tree's v, signs and bounds."""
    tree = model.own_tree
    limited = [j for j in range(1, tree.njoints) if tree.nqs[j] == tree.nvs[j]]
    pairs = [(tree.idx_qs[j] + k, iv) for j in limited for k, iv in enumerate(in_v(tree, j))]
    iq, iv = np.tile(np.array(pairs, dtype=np.int64).reshape(-1, 2).T, 2)
    low, high, half = model.lowerPositionLimit[iq], model.upperPositionLimit[iq], len(pairs)
    bound, sign = np.append(high[:half], -low[half:]), np.repeat([1.0, -1.0], half)
    # In Pinocchio, a limit of 1.8e308 means that there is no limit. If one limit of a joint is NaN, the other is used.
    rows = ~(low >= high) & (np.abs(bound) < 1e100)
    return iq[rows], iv[rows], sign[rows], bound[rows]


# Quantities at q: weighted errors r and their Jacobian J, limits C d <= slack, errors of the targets, largest error.
_Point = namedtuple("_Point", "q r J C slack errors worst")


def _point(model: Any, data: Any, goals: Any, limits: Any, toward: Any, q: np.ndarray, pull: float = 0.0) -> _Point:
    rows, columns, errors = list[np.ndarray](), list[np.ndarray](), dict[str, tuple[float, float]]()
    computeJointJacobians(model, data, q)
    for name, frame, goal, distance, angle in goals:
        turn: Any = 0.0
        if frame is None:
            M, J = pin.SE3(np.eye(3), centerOfMass(model, data, q)), jacobianCenterOfMass(model, data, q)
        else:
            M, J = updateFramePlacement(model, data, frame), getFrameJacobian(model, data, frame, pin.LOCAL)
        if isinstance(goal, pin.SE3):
            R = goal.rotation.T @ M.rotation
            rows.append(angle * (turn := pin.log3(R)))
            columns.append(angle * pin.Jlog3(R) @ J[3:])
        offset = M.translation - getattr(goal, "translation", goal)
        rows.append(distance * offset)
        columns.append(distance * M.rotation @ J[:3])
        errors[name] = float(np.linalg.norm(offset)), float(np.linalg.norm(turn))
    if pull:
        i, between = model.idx_v_independent, (model.own_tree, toward, q)
        rows.append(pull * pin.difference(*between)[i])
        columns.append(pull * pin.dDifference(*between, pin.ARG1)[np.ix_(i, i)])
    iq, iv, sign, bound = limits
    C, slack = sign[:, None] * _bridge.kept(model, data)[iv], bound - sign * q[iq]
    worst = float(np.max([*errors.values()])) if (slack >= 0.0).all() else np.inf
    return _Point(q, np.concatenate(rows), np.vstack(columns), C, slack, errors, worst)


def _merit(point: _Point, price: float = 1e9) -> float:
    return float(0.5 * point.r @ point.r - price * np.minimum(point.slack, 0.0).sum())


def _descend(
    model: ClusterModel, evaluate: Any, q: Any, pull: float, tolerance: float, limit: int
) -> tuple[_Point, int]:
    best, damped, price, flat = (point := evaluate(q, pull)), 1e-2, 0.0, 0
    for step in range(limit):
        d, multiplier = _step(point, damped * (point.r @ point.r) + 1e-12)
        longest = np.abs(d).max(initial=0.0)
        if longest < 1e-12 or flat == 3 or (point.worst <= tolerance and not pull):
            return best, step
        price = max(price, 2.0 * multiplier)
        try:
            trial = evaluate(integrate(model, point.q, d / max(1.0, longest)), pull)
            gain = _merit(point, price) - _merit(trial, price)
        except (BranchLost, SingularClusterError):
            gain = 0.0
        damped *= 10.0
        if gain > 0.0:
            flat = flat + 1 if gain < (1e-6 if pull else 1e-9) * _merit(point, price) else 0
            point, damped = trial, max(0.01 * damped, 1e-8)
            best = min(best, point, key=_merit)  # ``best`` violates no limit unless the starting pose does
    return best, limit


def _step(point: _Point, damping: float) -> tuple[np.ndarray, float]:
    """Minimise |J d + r|^2 + damping |d|^2 subject to C d <= slack; return d and the largest multiplier."""
    from scipy.optimize import nnls  # imported here, because SciPy is slow to import

    n, margin = point.J.shape[1], point.slack - 1e-9  # [rad] or [m]; the margin prevents violations by rounding
    Q, R = np.linalg.qr(np.vstack([point.J, np.sqrt(damping) * np.eye(n)]))
    inverse = np.linalg.inv(R)
    d = free = inverse @ (-Q[: len(point.r)].T @ point.r)
    held, multiplier = np.zeros(len(margin), dtype=bool), 0.0
    while (broken := (point.C @ d > margin + 1e-13) & ~held).any():
        held |= broken  # only limits that were violated in some iteration can be active
        M, target = np.vstack([-(point.C[held] @ inverse).T, point.C[held] @ free - margin[held]]), np.eye(n + 1)[n]
        residual = target - M @ (u := nnls(M, target, maxiter=1000)[0])
        if residual[n] < 1e-12:  # no d satisfies all limits
            return np.zeros(n), 0.0
        d, multiplier = free - inverse @ residual[:n] / residual[n], float(u.max() / residual[n])
    return d, multiplier
