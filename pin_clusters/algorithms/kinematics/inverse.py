"""Inverse kinematics on the couplings: loops stay closed, dependent joints follow, limits of both hold.

Levenberg and Marquardt's method along ``pc.integrate``. A step is a least-squares problem whose linear inequalities are
the limits of all joints, solved by way of the least distance (Lawson, Hanson, Solving Least Squares Problems, ch. 23);
the limits of dependent joints, which are not linear, count in its merit besides.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.arrays import numbers, whole_number
from ..._support.trees import in_v, joint_in_q
from ...errors import (
    ArgumentTypeError,
    BranchLost,
    PinClustersWarning,
    ShapeError,
    SingularClusterError,
    UnknownNameError,
)
from ...model import ClusterData, ClusterModel
from ...model.configuration import integrate, project, residual
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .centroidal import centerOfMass, jacobianCenterOfMass
from .jacobians import computeJointJacobians, getFrameJacobian
from .kinematics import updateFramePlacement

CENTER = "centre of mass"
_MARGIN = 1e-9  # limits are kept by this, [rad] or [m], so that rounding does not break them
_UNLIMITED = 1e100


@dataclass(frozen=True)
class InverseKinematics:
    """What ``pc.inverse_kinematics`` found.

    Attributes:
        q: Configuration, shape (nq,): loops closed, dependent joints where they belong.
        converged: Whether all targets are reached within the tolerance, and all limits hold.
        distances: How far each target is, by its frame, [m].
        angles: How far each target with an orientation is turned away, by its frame, [rad].
        loop_residual: Largest entry of ``pc.residual(model, q)``.
        iterations: Steps that were tried, of all attempts.
        at_limits: Names of the joints that stand at a limit.
    """

    q: np.ndarray
    converged: bool
    distances: dict[str, float]
    angles: dict[str, float]
    loop_residual: float
    iterations: int
    at_limits: tuple[str, ...]

    @property
    def error(self) -> float:
        """Largest of the distances and angles, [m] or [rad]."""
        return max([*self.distances.values(), *self.angles.values()])


@dataclass
class _Point:
    """Where a step begins: weighted errors r and their Jacobian J; C d <= slack are the limits."""

    q: np.ndarray
    r: np.ndarray
    J: np.ndarray
    C: np.ndarray
    slack: np.ndarray
    errors: tuple[dict[str, float], dict[str, float]]

    @property
    def excess(self) -> float:
        return float(-np.minimum(self.slack, 0.0).sum())

    def merit(self, price: float) -> float:
        return float(0.5 * self.r @ self.r) + price * self.excess

    def good(self, tolerance: float) -> bool:
        return self.excess == 0.0 and all(x <= tolerance for of in self.errors for x in of.values())


@_check.documented(
    """
Args:
    q0: Where to start, shape (nq,); its couplings and loops are closed first.
"""
)
def inverse_kinematics(
    model: ClusterModel, q0: Any, targets: Mapping[str, Any], *, weights: Mapping[str, Any] | None = None,
    center_of_mass: Any = None, posture: Any = None, posture_weight: Any = 0.0, hold: str | Sequence[str] = (),
    limits: bool = True, tolerance: float = 1e-9, iterations: int = 100, attempts: int = 8,
    data: ClusterData | None = None,
) -> InverseKinematics:  # fmt: skip
    """Find a configuration that brings frames to where they shall be, on the couplings and with all loops closed.

    Args:
        targets: By name of the frame a ``pin.SE3``, or a position alone, shape (3,), [m]; in the world.
        weights: By name of the frame (or ``"centre of mass"``) what its distance counts for, or (distance, angle),
            per m and rad; 1 by default. They matter where not all targets can be reached.
        center_of_mass: Where it shall be, shape (3,), [m].
        posture: Configuration that the freedom which the targets leave is used for, shape (nq,); ``q0`` by default.
        posture_weight: What a distance of independent joints from it counts for beside the targets, one number or shape
            (nv,). A last phase without it reaches the targets.
        hold: Names of independent joints that stay where they are, such as a floating base.
        limits: Whether joints keep their limits, dependent ones too; those with one number in q per velocity have some.
        tolerance: Largest distance and angle of targets that are reached, [m] and [rad].
        iterations: Most steps of one attempt.
        attempts: How often to start, after the first time from random places near ``q0``, always the same: straight
            legs and other singular poses hold a first one up. Two that end alike are the last.
        data: Workspace, ``model.createData()``; made by default.

    Returns:
        The result, which says whether all targets are reached; else it is the nearest that was found.

    Raises:
        UnknownNameError: There is no frame, or no joint, of a name.
        ConfigurationError: The loops of ``q0`` cannot be closed.
        SingularClusterError: Loops are singular at ``q0``: nothing can move from there.

    Warns:
        PinClustersWarning: A target was not reached; it says which, by how much, and the joints at their limits.

    References:
        Levenberg-Marquardt with the squared error as damping: Sugihara, "Solvability-unconcerned inverse kinematics by
        the Levenberg-Marquardt method", IEEE Trans. Robotics 27 (2011).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("delta")  # three arms, one platform
        >>> found = pc.inverse_kinematics(model, pc.neutral(model), {"platform_z": [0.05, 0.02, -0.45]})
        >>> found.converged, found.error < 1e-9, found.loop_residual < 1e-10
        (True, True, True)
    """
    data = model.createData() if data is None else data
    start = project(model, q0)
    problem = _Problem(model, data, targets, weights, center_of_mass, hold, limits)
    posture = start if posture is None else _check.configuration(model, data, posture)
    pull = np.broadcast_to(np.asarray(posture_weight, dtype=np.float64), (model.nv,))
    iterations, attempts = (whole_number(n, x, 1) for n, x in (("iterations", iterations), ("attempts", attempts)))
    problem.at(start)  # raises where nothing can move
    best: _Point | None = None
    tried = 0
    for first in _starts(model, problem, start, attempts):
        at = first
        for weight in (pull, None) if pull.any() else (None,):
            at, steps = _descend(problem, problem.at(at.q, posture, weight), (posture, weight), tolerance, iterations)
            tried += steps
        again = best is not None and abs(at.merit(1.0) - best.merit(1.0)) <= 1e-6 * best.merit(1.0)
        if best is None or (at.excess, at.merit(1.0)) < (best.excess, best.merit(1.0)):
            best = at
        if best.good(tolerance) or again:
            break
    assert best is not None
    open_by = float(np.abs(residual(model, best.q)).max(initial=0.0))
    found = InverseKinematics(
        best.q, best.good(tolerance), *best.errors, open_by, tried, problem.names_at(best.slack < 1e-6)
    )
    if not found.converged:
        _warn(model, found, problem.names_at(best.slack < 0.0), tolerance, tried)
    return found


class _Problem:
    """Targets and limits, checked, and what they say at a configuration."""

    def __init__(
        self, model: ClusterModel, data: ClusterData, targets: Any, weights: Any, center: Any, hold: Any, limits: bool
    ) -> None:
        if not isinstance(targets, Mapping):
            raise ArgumentTypeError(
                f"targets must be a dict of pin.SE3 or positions by name of the frame, got {targets!r}."
            )
        if not targets and center is None:
            raise ArgumentTypeError("targets is empty: name at least one frame, or give center_of_mass.")
        self.model, self.data = model, data
        wanted = {n: x if isinstance(x, pin.SE3) else _position(f"target {n!r}", x) for n, x in targets.items()}
        if center is not None:
            wanted[CENTER] = _position("center_of_mass", center)
        if unknown := [n for n in weights or {} if n not in wanted]:
            raise UnknownNameError(f"weights name {unknown[0]!r}, which is no target. Targets: {', '.join(wanted)}.")
        ids = iter(_ids.frames(model, "targets", [*targets]) if targets else [])
        self.wanted = [(n, next(ids) if n in targets else -1, x, _weight(n, weights)) for n, x in wanted.items()]
        names = [hold] if isinstance(hold, str) else hold
        held = [model.joint_idx_v(n) + k for n in names for k in range(model.joints[model.getJointId(n)].nv)]
        self.free = np.ones(model.nv)
        self.free[held] = 0.0
        tree, low, high = model.own_tree, model.lowerPositionLimit, model.upperPositionLimit
        pairs = [
            (tree.idx_qs[j] + k, iv)
            for j in range(1, tree.njoints)
            for k, iv in enumerate(in_v(tree, j))
            if limits and tree.nqs[j] == tree.nvs[j]
        ]
        bounds = [(iq, iv, 1.0, high[iq]) for iq, iv in pairs if low[iq] < high[iq] < _UNLIMITED]
        bounds += [(iq, iv, -1.0, -low[iq]) for iq, iv in pairs if -_UNLIMITED < low[iq] < high[iq]]
        table = np.array(bounds).reshape(-1, 4)
        self.iq, self.iv = table[:, :2].T.astype(np.int64)
        self.sign, self.bound = table[:, 2:].T

    def at(self, q: np.ndarray, posture: np.ndarray | None = None, weight: np.ndarray | None = None) -> _Point:
        """Return errors, Jacobian and limits at a configuration."""
        model, data, rows, columns = self.model, self.data, [np.zeros(0)], [np.zeros((0, self.model.nv))]
        computeJointJacobians(model, data, q)
        distances, angles = dict[str, float](), dict[str, float]()
        for name, frame, target, (of_distance, of_angle) in self.wanted:
            if frame < 0:
                place, J = centerOfMass(model, data, q), jacobianCenterOfMass(model, data, q)
            else:
                M = updateFramePlacement(model, data, frame)
                place, J = M.translation, getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            turned = isinstance(target, pin.SE3)
            if of_distance:
                away = place - (target.translation if turned else target)
                distances[name] = float(np.linalg.norm(away))
                rows.append(of_distance * away)
                columns.append(of_distance * J[:3])
            if turned and of_angle:
                R = target.rotation.T @ M.rotation
                rows.append(of_angle * (turn := pin.log3(R)))
                angles[name] = float(np.linalg.norm(turn))
                columns.append(of_angle * pin.Jlog3(R) @ M.rotation.T @ J[3:])
        if weight is not None:
            at, between = model.idx_v_independent, (model.own_tree, posture, q)
            rows.append(weight * pin.difference(*between)[at])
            columns.append(weight[:, None] * pin.dDifference(*between, pin.ARG1)[np.ix_(at, at)])
        C = self.sign[:, None] * _bridge.kept(model, data)[self.iv] * self.free
        slack = self.bound - self.sign * q[self.iq]
        return _Point(q, np.concatenate(rows), np.vstack(columns) * self.free, C, slack, (distances, angles))

    def names_at(self, rows: np.ndarray) -> tuple[str, ...]:
        """Return the joints of some limits."""
        tree = self.model.own_tree
        return tuple(dict.fromkeys(tree.names[joint_in_q(tree, iq)] for iq in self.iq[rows]))


def _position(what: str, x: Any) -> np.ndarray:
    found = numbers(what, x)
    if found.shape != (3,):
        raise ShapeError(f"{what} must be a pin.SE3 or a position of shape (3,), got shape {found.shape}.")
    return found.astype(np.float64)


def _weight(name: str, weights: Any) -> tuple[float, float]:
    """Return what distance and angle of a target count for."""
    given = numbers(f"weights[{name!r}]", (weights or {}).get(name, 1.0))
    if given.shape not in ((), (2,)) or not (given >= 0.0).all() or not given.any():
        raise ArgumentTypeError(
            f"weights[{name!r}] must be a number or (distance, angle), not negative, got {given.tolist()!r}."
        )
    return (float(given), float(given)) if given.ndim == 0 else (float(given[0]), float(given[1]))


def _starts(model: ClusterModel, problem: _Problem, start: np.ndarray, attempts: int) -> Iterator[_Point]:
    """Give places to start from: the first, and some at random around it, ever farther away."""
    yield problem.at(start)
    rng = np.random.default_rng(0)
    for k in range(1, attempts):
        way = min(1.0, 0.1 * 2.0**k) * rng.normal(size=model.nv) * problem.free
        try:
            yield problem.at(integrate(model, start, way))
        except (BranchLost, SingularClusterError):
            continue


def _descend(
    problem: _Problem, at: _Point, to: tuple[Any, Any], tolerance: float, iterations: int
) -> tuple[_Point, int]:
    """Return where steps lead, with a posture and its weight, and how many were tried."""
    damped, price, flat, level = 1e-2, 0.0, 0, 1e-9 if to[1] is None else 1e-6
    for tried in range(iterations):
        if to[1] is None and at.good(tolerance):
            return at, tried
        d, multiplier = _step(at, damped * (at.r @ at.r) + 1e-12)
        longest = np.abs(d).max(initial=0.0)
        if longest < 1e-12:
            return at, tried
        price = max(price, 2.0 * multiplier)
        try:
            new = problem.at(integrate(problem.model, at.q, d / max(1.0, longest)), *to)
            gain = at.merit(price) - new.merit(price)
        except (BranchLost, SingularClusterError):
            gain = 0.0
        if not gain > 0.0:
            damped *= 10.0
            continue
        flat = flat + 1 if gain < level * at.merit(price) else 0
        at, damped = new, max(0.1 * damped, 1e-8)
        if flat == 3:
            return at, tried + 1
    return at, iterations


def _step(at: _Point, damping: float) -> tuple[np.ndarray, float]:
    """Return d that minimises |J d + r|^2 + damping |d|^2 subject to C d <= slack, and the largest multiplier."""
    from scipy.optimize import nnls  # whose import takes a fifth of a second

    n, room = at.J.shape[1], at.slack - _MARGIN
    Q, R = np.linalg.qr(np.vstack([at.J, np.sqrt(damping) * np.eye(n)]))
    inverse = np.linalg.inv(R)
    free = inverse @ (-Q[: len(at.r)].T @ at.r)
    d, multiplier, held = free, 0.0, np.zeros(len(room), dtype=bool)
    while True:
        broken = (at.C @ d > room + 1e-13) & ~held
        if not broken.any():
            return d, multiplier
        held |= broken  # what binds is found among those that were broken once
        M, last = np.vstack([-(at.C[held] @ inverse).T, at.C[held] @ free - room[held]]), np.eye(n + 1)[n]
        u, _ = nnls(M, last)
        rest = last - M @ u
        if rest[n] < 1e-12:  # the limits contradict each other: back to where they do not
            worst = at.slack < 0.0
            back = np.linalg.lstsq(at.C[worst], room[worst], rcond=None)[0] if worst.any() else np.zeros(n)
            return back, float(at.r @ at.r) / max(at.excess, _MARGIN)
        d = free - inverse @ rest[:n] / rest[n]
        multiplier = float(u.max() / rest[n])


def _warn(
    model: ClusterModel, found: InverseKinematics, beyond: tuple[str, ...], tolerance: float, tried: int
) -> None:
    told = {name: f"{x:.3g} m" for name, x in found.distances.items()}
    for name, x in found.angles.items():
        told[name] = f"{told[name]} and {x:.3g} rad" if name in told else f"{x:.3g} rad"
    far = {n for of in (found.distances, found.angles) for n, x in of.items() if not x <= tolerance}
    say = [f"{name!r} stays {told[name]} away" for name in told if name in far]
    if found.at_limits:
        say.append(f"at their limits are {', '.join(map(repr, found.at_limits))}")
    if beyond:
        say.append(f"beyond them {', '.join(map(repr, beyond))}")
    warnings.warn(
        f"inverse_kinematics: not all targets are reached by model {model.name!r} within {tolerance:g} m and rad, in "
        f"{tried} steps: {'; '.join(say)}. The nearest that was found is returned. Move the targets, lower the weights "
        "of those that may give way, or start from another q0.",
        PinClustersWarning,
        stacklevel=3,
    )
