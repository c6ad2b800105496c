"""Computes the residual and Jacobian of loop closures with Pinocchio's kinematics; describes loops for messages."""

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np
import pinocchio as pin

from ..._support.arrays import in_order
from ..._support.memory import data_of
from ..._support.trees import common_ancestor, coordinates_of, in_v, path_below
from ...constraints.called import FunctionFailedError
from ...constraints.rows import Row
from .linear import LinearClosure, linear_closure

from ...constraints.closures import LINEAR, BodyClosure, Closure, FrameClosure  # isort: skip
from ...constraints.closures import HarmonicClosure, JointClosure, RodClosure  # isort: skip

TINY = 1e-12  # smallest scale of an equation


class Equations:
    """The equations of the closures and couplings of a tree, with their residuals and their Jacobian K.

    Let n and m be the constraint force and moment of a row for a Lagrange multiplier of 1, in world axes. The product
    of the row of K and v is n . (velocity of the end on body b relative to body a) + m . (angular velocity of body b
    relative to body a). For a rotation, the row of K is the exact derivative of the residual only if the residual is
    zero. The rows of the closures come first. Each coupling is appended to ``closures`` as a ``LinearClosure`` with one
    row: dependent joint minus prescribed value. The unit of a row is ``"m"``, ``"rad"`` or ``""``. For each closure,
    ``rows`` contains the slice of its rows, and ``lengths`` contains its characteristic length, [m], or 0.
    """

    def __init__(self, tree: pin.Model, closures: Sequence[Closure], rows: Sequence[Row] = ()) -> None:
        self.tree = tree
        self.closures: tuple[Closure, ...] = (*closures, *(linear_closure(tree, row) for row in rows))
        self.labels = tuple(label for c in self.closures for label in c.labels)
        self.units = tuple(unit for c in self.closures for unit in c.units)
        ends = itertools.accumulate(c.size for c in self.closures)
        self.rows = tuple(slice(end - c.size, end) for c, end in zip(self.closures, ends, strict=True))
        self.lengths = tuple(loop_length(tree, c) for c in self.closures)
        self.size = len(self.labels)
        self._data = data_of(tree)
        self._mask = np.zeros((self.size, tree.nv))
        self._fixed = np.array(
            [_fixed_scale(c, i, x) for c, x in zip(self.closures, self.lengths, strict=True) for i in range(c.size)]
        )
        self._joints = []
        for c, block in zip(self.closures, self.rows, strict=True):
            if isinstance(c, JointClosure):
                self._joints.append((block, c, [tree.idx_vs[j] for j in c.joints]))
            elif isinstance(c, BodyClosure):
                to_a, to_b = set(tree.supports[c.joint_a]), set(tree.supports[c.joint_b])
                for j in to_a ^ to_b:  # The universe is in both paths, so it is excluded.
                    self._mask[block, in_v(tree, j)] = 1.0 if j in to_b else -1.0
        self._spatial = any(not isinstance(c, JointClosure) for c in self.closures)
        self._at: bytes | None = None
        self._last: tuple[np.ndarray, np.ndarray]

    def evaluate(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residual and K, which must not be modified; entries are NaN if a user's function fails."""
        key = q.tobytes()
        if key != self._at:
            self._last = self._evaluate(q)
            self._at = key
        return self._last

    def residual(self, q: np.ndarray) -> np.ndarray:
        return self.evaluate(q)[0].copy()

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        return self.evaluate(q)[1].copy()

    def scales(self, q: np.ndarray) -> np.ndarray:
        """Return the scale of each row, (m,): loop length for unit m, 1 for unit rad, else the norm of the row of K."""
        if self._fixed.all():
            return self._fixed.copy()
        norms = np.maximum(np.linalg.norm(self.evaluate(q)[1], axis=1), TINY)
        return np.where(self._fixed > 0.0, self._fixed, norms)

    def _evaluate(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, W = np.zeros(self.size), np.zeros((self.size, 6))
        if self._spatial:
            pin.computeJointJacobians(self.tree, self._data, q)
            poses = self._data.oMi
            for c, block in zip(self.closures, self.rows, strict=True):
                if isinstance(c, FrameClosure):
                    residual[block] = _frame_rows(c, poses, W[block])
                elif isinstance(c, RodClosure):
                    residual[block] = _rod_row(c, poses, W[block.start])
            K = (W @ self._data.J.reshape(6, -1)) * self._mask  # Pinocchio returns a single column as a vector.
        else:
            K = np.zeros((self.size, self.tree.nv))
        for block, joint_closure, columns in self._joints:
            x = coordinates_of(self.tree, joint_closure.joints, q)
            try:
                residual[block] = joint_closure.value(x)
                K[block, columns] = joint_closure.jacobian(x)
            except FunctionFailedError:  # The user's function is not defined at q.
                residual[block] = K[block, columns] = np.nan
        return residual, K


def _frame_rows(c: FrameClosure, poses: pin.StdVec_SE3, W: np.ndarray) -> np.ndarray:
    """Return the residuals of a closure; write the wrench of each row (force, moment about the world origin) to W."""
    A, B = (poses[j] * M for j, M in c.ends)
    Ra, Rb, pb = A.rotation, B.rotation, B.translation
    value = c.rows[:, :3] @ (Ra.T @ (pb - A.translation))
    force = c.rows[:, :3] @ Ra.T
    W[:, :3] = force
    W[:, 3:] = force @ pin.skew(pb).T
    if c.rotation in ("full", "axis"):
        e = pin.log3(Ra.T @ Rb) if c.rotation == "full" else shortest_rotation(Ra.T @ Rb[:, 2])
        W[:, 3:] += c.rows[:, 3:] @ Ra.T
        value = value + c.rows[:, 3:] @ e
    elif c.rotation == "universal":
        x, z = Rb[:, 0], Ra[:, 2]
        W[:, 3:] += np.outer(c.rows[:, 5], pin.skew(x) @ z)
        value = value + c.rows[:, 5] * math.asin(max(-1.0, min(1.0, x @ z)))
    return value


def _rod_row(c: RodClosure, poses: pin.StdVec_SE3, w: np.ndarray) -> float:
    a, b = (poses[j].act(p) for j, p in c.ends)
    d = b - a
    length = math.sqrt(d @ d)
    u = d / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
    w[:3] = u
    w[3:] = pin.skew(b) @ u
    return length - (c.length or 0.0)


def shortest_rotation(z: np.ndarray) -> np.ndarray:
    """Return the shortest rotation vector from (0, 0, 1) to the unit vector z; for (0, 0, -1), rotate about x."""
    sine = math.hypot(z[0], z[1])
    angle = math.atan2(sine, z[2])
    if sine == 0.0:
        return np.array([angle, 0.0, 0.0])
    return np.array([-z[1] * angle / sine, z[0] * angle / sine, 0.0])


def loop_length(tree: pin.Model, closure: Closure) -> float:
    """Return the characteristic length of a closure, [m], which does not depend on the pose; 0 if it has no length."""
    if isinstance(closure, HarmonicClosure):
        return max(
            (
                in_order(abs(k) for k, factors in terms if all(f != LINEAR for f, _ in factors))
                for terms, unit in zip(closure.terms, closure.units, strict=True)
                if unit == "m"
            ),
            default=0.0,
        )
    if not isinstance(closure, BodyClosure):
        return 0.0
    top = common_ancestor(tree, closure.bodies)
    offsets = [tree.jointPlacements[j].translation for body in closure.bodies for j in path_below(tree, top, body)]
    offsets += [x.translation if isinstance(x, pin.SE3) else x for _, x in closure.ends]
    return float(sum(np.linalg.norm(x) for x in offsets)) or 1.0


def _fixed_scale(closure: Closure, i: int, length: float) -> float:
    if isinstance(closure, LinearClosure):
        return float(np.linalg.norm(closure.coefficients[i]))
    return {"m": length, "rad": 1.0}.get(closure.units[i], 0.0)


def names_of(tree: pin.Model, joints: Iterable[int]) -> str:
    return ", ".join(repr(tree.names[j]) for j in joints) or "none"


def loops_of(closures: Sequence[Closure]) -> str:
    return ", ".join(dict.fromkeys(str(c.source.label) for c in closures))


def gap(equations: Equations, q: np.ndarray, where: str = "") -> str:
    residual, scales = equations.residual(q), equations.scales(q)
    for c, rows in zip(equations.closures, equations.rows, strict=True):
        if not np.isfinite(residual[rows]).all():
            return f"{c.source.label} is not finite{where and ' '}{where}."
    misfits = [np.max(np.abs(residual[rows] / scales[rows]), initial=0.0) for rows in equations.rows]
    worst = np.argmax(misfits)
    gaps, units = residual[equations.rows[worst]], np.array(equations.units)[equations.rows[worst]]
    parts = []
    for unit in ("m", "rad", ""):
        if (size := np.linalg.norm(gaps[units == unit])) > 1e-9:
            parts.append(f"{size:.4g} {unit}".strip())
    return (
        f"{equations.closures[worst].source.label} stays open by {' and '.join(parts) or '0 m'}{where and ' '}{where}."
    )
