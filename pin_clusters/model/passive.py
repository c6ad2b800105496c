"""Springs, dampers, dry friction and held weight as tables: their torque on the tree without a loop over joints."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import in_v
from ..constraints._frames import resolve_frame
from ..constraints.rows import joint_id
from ..constraints.spring import GravityCompensation, PassiveForce, Spring
from ..errors import ConstraintError

FRICTION_SPEED = 0.01
"""[rad/s] or [m/s]: below it dry friction turns its sign smoothly."""


class PassiveForces:
    """What a mechanism does by itself; made by `ClusterModel` of its ``Spring`` and ``GravityCompensation``.

    Immutable; it can be pickled.

    Attributes:
        springs: As stated.
        supports: Weights that are held, as stated.
    """

    def __init__(self, tree: pin.Model, stated: Sequence[PassiveForce]) -> None:
        self._tree = tree
        self.springs = tuple(s for s in stated if isinstance(s, Spring))
        self.supports = tuple(s for s in stated if isinstance(s, GravityCompensation))
        self._own = threading.local()  # a pin.Data per thread
        lines = _Lines(tree)
        self._balls: list[tuple[pin.Model, slice, slice, float, np.ndarray]] = []
        paths = []
        for spring in self.springs:
            if isinstance(spring.along, tuple):
                paths.append(spring)
                continue
            j = joint_id(tree, spring.along, spring.label) if isinstance(spring.along, str) else 0
            if j and tree.joints[j].nv != 1:
                self._ball(lines, j, spring)
            else:
                lines.add(spring)
        self._lines = lines.tables()
        self._paths = _Paths(tree, paths) if paths else None
        self._held = _held(tree, self.supports) if self.supports else None
        self._places = tree.copy() if paths else None

    def _ball(self, lines: _Lines, j: int, spring: Spring) -> None:
        """Take a spring on a joint of several degrees of freedom."""
        joint = self._tree.joints[j]
        stiffness, *more = spring.stiffness
        if any(more):
            raise ConstraintError(f"{spring.label}: on a joint of several degrees of freedom only k1 is possible.")
        for i in in_v(self._tree, j):
            lines.damp(i, spring)
        if stiffness:
            rest = np.array(joint_neutral(joint) if spring.rest is None else spring.rest)
            if len(rest) != joint.nq:
                raise ConstraintError(
                    f"{spring.label}: rest must be a configuration of the joint, {joint.nq} numbers, got {len(rest)}."
                )
            iq, iv = joint.idx_q, joint.idx_v
            self._balls.append((_alone(joint), slice(iq, iq + joint.nq), slice(iv, iv + joint.nv), stiffness, rest))

    @property
    def has_friction(self) -> bool:
        """Whether there is dry friction."""
        return any(s.friction > 0.0 for s in self.springs)

    def torque(self, q: np.ndarray, v_tree: np.ndarray, friction_speed: float = FRICTION_SPEED) -> np.ndarray:
        """Return the torque on every joint of the tree, shape (tree.nv,), [N m] or [N].

        Args:
            q: Configuration, shape (nq,).
            v_tree: Velocity of the tree, shape (tree.nv,), [rad/s] or [m/s].
            friction_speed: See ``pc.passive_torque``.
        """
        t = self._lines
        tau = np.zeros(self._tree.nv)
        rates = t.to_rate @ v_tree
        along = force(t.to_length @ q[t.iq], rates, t.low, t.high, t.stiffness, t.damping, t.friction, friction_speed)
        tau += along @ t.to_rate
        for joint, at, to, stiffness, rest in self._balls:
            tau[to] -= stiffness * _displacement(joint, rest, q[at])
        if self._paths is not None:
            assert self._places is not None
            tau += self._paths.torque(self._places, self._data("places", self._places), q, v_tree, friction_speed)
        if self._held is not None:
            tau += pin.computeGeneralizedGravity(self._held, self._data("held", self._held), q)
        return tau

    def _data(self, name: str, model: pin.Model) -> pin.Data:
        data = getattr(self._own, name, None)
        if data is None:
            data = model.createData()
            setattr(self._own, name, data)
        return data

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was stated; the tables are made again."""
        return PassiveForces, (self._tree, (*self.springs, *self.supports))

    def __repr__(self) -> str:
        """Count what there is."""
        return f"PassiveForces({len(self.springs)} springs and dampers, {len(self.supports)} held weights)"


def passive_forces(tree: pin.Model, constraints: Sequence[Any]) -> PassiveForces | None:
    """Return the passive forces among constraints, None without any."""
    stated = [c for c in constraints if isinstance(c, PassiveForce)]
    return PassiveForces(tree.copy(), stated) if stated else None


def _displacement(alone: pin.Model, rest: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return how far a joint of several degrees of freedom is from rest, along its velocities, shape (nv,)."""
    if alone.nv != 6:
        return np.array(pin.difference(alone, rest, q))
    R, R_rest = (pin.Quaternion(x[3:7]).toRotationMatrix() for x in (q, rest))
    return np.concatenate([R.T @ (q[:3] - rest[:3]), pin.log3(R_rest.T @ R)])


def joint_neutral(joint: pin.JointModel) -> np.ndarray:
    """Return the neutral configuration of one joint, shape (nq,)."""
    return np.array(pin.neutral(_alone(joint)))


def _alone(joint: pin.JointModel) -> pin.Model:
    """Return a model that has this joint only."""
    model = pin.Model()
    model.addJoint(0, joint.copy() if hasattr(joint, "copy") else joint, pin.SE3.Identity(), "joint")
    return model


def force(
    x: np.ndarray, rate: np.ndarray, low: np.ndarray, high: np.ndarray, stiffness: np.ndarray, damping: np.ndarray,
    friction: np.ndarray, speed: float,
) -> np.ndarray:  # fmt: skip
    """Return the force along each coordinate, as `Spring` says; dry friction is smooth about zero speed."""
    y = x - np.minimum(np.maximum(x, low), high)
    k1, k2, k3 = stiffness
    d1, d2, d3 = damping
    total = -y * (k1 + y * (k2 + y * k3)) - rate * (d1 + np.abs(rate) * (d2 + np.abs(rate) * d3))
    if friction.any():
        total -= friction * (np.sign(rate) if speed == 0.0 else np.tanh(rate / speed))
    return np.asarray(total)


class _Tables:
    """Rows of springs along sums of coordinates."""

    __slots__ = ("damping", "friction", "high", "iq", "low", "stiffness", "to_length", "to_rate")
    iq: np.ndarray
    to_length: np.ndarray
    to_rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    friction: np.ndarray


class _Lines:
    """Collects springs along sums of coordinates."""

    def __init__(self, tree: pin.Model) -> None:
        self.tree = tree
        self.rows: list[tuple[dict[int, float], dict[int, float], Spring]] = []

    def add(self, spring: Spring) -> None:
        """Take a spring on joints of one degree of freedom."""
        tree, lengths, rates = self.tree, dict[int, float](), dict[int, float]()
        given = spring.along if isinstance(spring.along, Mapping) else {spring.along: 1.0}
        for name, coefficient in given.items():
            joint = tree.joints[joint_id(tree, name, spring.label)]
            if joint.nv != 1:
                raise ConstraintError(
                    f"{spring.label}: joint {name!r} has {joint.nv} degrees of freedom; only joints of one can be "
                    "added up."
                )
            if joint.nq == 1:
                lengths[joint.idx_q] = coefficient
            elif any(spring.stiffness):
                raise ConstraintError(
                    f"{spring.label}: joint {name!r} is continuous: its angle is known but for whole turns, so no "
                    "spring can act along it. Make it revolute."
                )
            rates[joint.idx_v] = coefficient
        self.rows.append((lengths, rates, spring))

    def damp(self, i: int, spring: Spring) -> None:
        """Take damping and friction of one velocity of the tree."""
        if any(spring.damping) or spring.friction:
            bare = Spring(spring.along, 0.0, None, spring.damping, spring.friction)
            self.rows.append(({}, {i: 1.0}, bare))

    def tables(self) -> _Tables:
        """Return the rows as arrays."""
        t, n = _Tables(), len(self.rows)
        t.iq = np.array(sorted({i for lengths, _, _ in self.rows for i in lengths}), dtype=np.int64)
        column = {int(i): k for k, i in enumerate(t.iq)}
        t.to_length, t.to_rate = np.zeros((n, len(t.iq))), np.zeros((n, self.tree.nv))
        for k, (lengths, rates, _) in enumerate(self.rows):
            for i, c in lengths.items():
                t.to_length[k, column[i]] = c
            for i, c in rates.items():
                t.to_rate[k, i] = c
        _fill(t, [spring for _, _, spring in self.rows])
        return t


def _fill(t: Any, springs: Sequence[Spring]) -> None:
    rests = [s.rest or (0.0,) for s in springs]
    for s, rest in zip(springs, rests, strict=True):
        if len(rest) > 2:
            raise ConstraintError(f"{s.label}: rest must be one number, or two: low and high; got {rest!r}.")
    t.low, t.high = (np.array([r[i] for r in rests], dtype=float) for i in (0, -1))
    t.stiffness = np.array([s.stiffness for s in springs]).reshape(-1, 3).T.copy()
    t.damping = np.array([s.damping for s in springs]).reshape(-1, 3).T.copy()
    t.friction = np.array([s.friction for s in springs], dtype=float)


class _Paths:
    """Springs along the length of paths through points."""

    def __init__(self, tree: pin.Model, springs: Sequence[Spring]) -> None:
        ends = [
            [resolve_frame(tree, p, s.label) for p in s.along] for s in springs
        ]  # joint and placement of each point
        pairs = [(k, a, b) for k, points in enumerate(ends) for a, b in pairwise(points)]
        self.of = np.array([k for k, _, _ in pairs])
        self.joints = np.array([[a[0], b[0]] for _, a, b in pairs])
        self.points = np.array([[a[1].translation, b[1].translation] for _, a, b in pairs])
        above = np.zeros((tree.njoints, tree.nv))
        for j in range(1, tree.njoints):
            above[j] = above[tree.parents[j]]
            above[j, list(in_v(tree, j))] = 1.0
        self.first, self.second = above[self.joints[:, 0]], above[self.joints[:, 1]]
        self.count = len(springs)
        _fill(self, springs)

    low: np.ndarray
    high: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    friction: np.ndarray

    def torque(self, model: pin.Model, data: pin.Data, q: np.ndarray, v_tree: np.ndarray, speed: float) -> np.ndarray:
        """Return the torque on the tree."""
        J = pin.computeJointJacobians(model, data, q).reshape(6, -1)  # one column comes as a vector
        homogeneous = np.array([data.oMi[j].homogeneous for j in self.joints.ravel().tolist()]).reshape(-1, 2, 4, 4)
        p = np.einsum("sebc,sec->seb", homogeneous[..., :3, :3], self.points) + homogeneous[..., :3, 3]
        apart = p[:, 1] - p[:, 0]
        lengths = np.linalg.norm(apart, axis=1)
        u = apart / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        push = u @ J[:3]
        rows = self.second * (push + np.cross(p[:, 1], u) @ J[3:]) - self.first * (push + np.cross(p[:, 0], u) @ J[3:])
        x, gradient = np.zeros(self.count), np.zeros((self.count, model.nv))
        np.add.at(x, self.of, lengths)
        np.add.at(gradient, self.of, rows)
        rate = gradient @ v_tree
        along = force(x, rate, self.low, self.high, self.stiffness, self.damping, self.friction, speed)
        return np.asarray(along @ gradient)


def _held(tree: pin.Model, supports: Sequence[GravityCompensation]) -> pin.Model:
    """Return the tree with the masses that are held, and no others."""
    held = tree.copy()
    for j in range(held.njoints):
        held.inertias[j] = pin.Inertia.Zero()
    for s in supports:
        j = joint_id(tree, s.body, s.label)
        if j:
            held.inertias[j] = held.inertias[j] + pin.Inertia(s.mass, np.array(s.center), np.zeros((3, 3)))
    return held
