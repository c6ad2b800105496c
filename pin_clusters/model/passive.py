"""Stores springs, dampers, dry friction and gravity compensation in arrays, to compute their torque with NumPy."""

import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import in_v
from ..constraints import Motor
from ..constraints._frames import resolve_frame
from ..constraints.rows import joint_id
from ..constraints.spring import GravityCompensation, PassiveForce, Spring
from ..errors import ConstraintError
from .elements import RotorElement

FRICTION_SPEED = 0.01  # speed below which dry friction changes its sign smoothly, [rad/s] or [m/s]


class PassiveForces:
    """Passive forces of a mechanism. ``ClusterModel`` creates this object from its constraints; it can be pickled.

    Attributes:
        springs: The ``Spring`` constraints.
        supports: The ``GravityCompensation`` constraints.
        motors: Rotors whose motors have friction or have gears with losses.
        lossy: Names of rotors whose gears have losses. ``torque`` excludes losses, because they depend on the load.
        lines: Springs along sums of joint coordinates, followed by the friction of motors.
        lines_only: Whether the mechanism has no passive forces other than ``lines``.
    """

    def __init__(self, tree: pin.Model, stated: Sequence[PassiveForce], motors: Sequence[RotorElement] = ()) -> None:
        self._tree, self.motors = tree, tuple(motors)
        self.lossy = tuple(r.name for r in self.motors if r.motor is not None and any(r.motor.loss_factors))
        self.springs = tuple(s for s in stated if isinstance(s, Spring))
        self.supports = tuple(s for s in stated if isinstance(s, GravityCompensation))
        self._own = threading.local()  # Each thread has its own pin.Data.
        lines: list[_Line] = []
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
                lines.append((*_sum(tree, spring), spring))
        for r in self.motors:
            assert r.motor is not None
            if r.motor.viscous or r.motor.coulomb:
                lines.append(({}, dict(r.drivers), Spring(r.name, damping=r.motor.viscous, friction=r.motor.coulomb)))
        self.lines = Lines(tree, lines)
        self._paths = _Paths(tree, paths) if paths else None
        self._held = _held(tree, self.supports) if self.supports else None
        self._places = tree.copy() if paths else None
        self.lines_only = not (self._balls or paths or self.supports)

    def _ball(self, lines: "list[_Line]", j: int, spring: Spring) -> None:
        joint = self._tree.joints[j]
        stiffness, *higher = spring.stiffness
        if any(higher):
            raise ConstraintError(f"{spring.label}: for a joint of several degrees of freedom, k2 and k3 must be 0.")
        if any(spring.damping) or spring.friction:
            bare = Spring(spring.along, 0.0, None, spring.damping, spring.friction)
            lines += [({}, {i: 1.0}, bare) for i in in_v(self._tree, j)]
        if stiffness:
            single = pin.Model()
            single.addJoint(0, joint.copy() if hasattr(joint, "copy") else joint, pin.SE3.Identity(), "joint")
            rest_q = np.array(pin.neutral(single) if spring.rest is None else spring.rest)
            if len(rest_q) != joint.nq:
                raise ConstraintError(
                    f"{spring.label}: rest must be a configuration of the joint, {joint.nq} numbers, got {len(rest_q)}."
                )
            iq, iv = joint.idx_q, joint.idx_v
            self._balls.append((single, slice(iq, iq + joint.nq), slice(iv, iv + joint.nv), stiffness, rest_q))

    def torque(
        self, q: np.ndarray, v_tree: np.ndarray, friction_speed: float | np.ndarray = FRICTION_SPEED
    ) -> np.ndarray:
        """Return the torque on every joint of the tree, shape (tree.nv,), [N m] or [N].

        ``v_tree`` is the tree's velocity, [rad/s] or [m/s]. ``friction_speed`` is a number (see ``pc.passive_torque``)
        or an array with one speed for each entry of ``lines``; friction outside ``lines`` then uses the default speed.
        """
        tau = np.zeros(self._tree.nv)
        tau += self.lines.torque(q, v_tree, friction_speed)
        of_paths = FRICTION_SPEED if isinstance(friction_speed, np.ndarray) else friction_speed
        for joint, q_slice, to, stiffness, rest_q in self._balls:
            tau[to] -= stiffness * _displacement(joint, rest_q, q[q_slice])
        if self._paths is not None:
            assert self._places is not None
            tau += self._paths.torque(self._places, self._data("places", self._places), q, v_tree, of_paths)
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
        return PassiveForces, (self._tree, (*self.springs, *self.supports), self.motors)

    def __repr__(self) -> str:
        return (
            f"PassiveForces({len(self.springs)} springs and dampers, {len(self.supports)} gravity compensations, "
            f"{len(self.motors)} motors with losses)"
        )


def passive_forces(tree: pin.Model, constraints: Sequence[Any], rotors: Sequence[RotorElement]) -> PassiveForces | None:
    stated = [c for c in constraints if isinstance(c, PassiveForce) and not isinstance(c, Motor)]
    motors = [r for r in rotors if r.motor is not None and r.motor.loses]
    return PassiveForces(tree.copy(), stated, motors) if stated or motors else None


def _displacement(alone: pin.Model, rest: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the displacement of a joint from its rest position, one entry per velocity of the joint, shape (nv,)."""
    if alone.nv != 6:
        return np.array(pin.difference(alone, rest, q))
    R, R_rest = (pin.Quaternion(x[3:7]).toRotationMatrix() for x in (q, rest))
    return np.concatenate([R.T @ (q[:3] - rest[:3]), pin.log3(R_rest.T @ R)])


_Line = tuple[dict[int, float], dict[int, float], Spring]
"""Coefficients of a spring's length (by index in q) and of its rate (by index in v), and the spring."""


def _sum(tree: pin.Model, spring: Spring) -> tuple[dict[int, float], dict[int, float]]:
    lengths, rates = dict[int, float](), dict[int, float]()
    coefficients = spring.along if isinstance(spring.along, Mapping) else {spring.along: 1.0}
    for name, coefficient in coefficients.items():
        joint = tree.joints[joint_id(tree, name, spring.label)]
        if joint.nv != 1:
            raise ConstraintError(
                f"{spring.label}: joint {name!r} has {joint.nv} degrees of freedom, but a spring along a sum "
                "supports only joints with one degree of freedom."
            )
        if joint.nq == 1:
            lengths[joint.idx_q] = coefficient
        elif any(spring.stiffness):
            raise ConstraintError(
                f"{spring.label}: joint {name!r} is continuous, so its angle is only known up to whole turns and no "
                "spring can act along it. Make it revolute."
            )
        rates[joint.idx_v] = coefficient
    return lengths, rates


class _Springs:
    def __init__(self, springs: Sequence[Spring]) -> None:
        rests = [s.rest or (0.0,) for s in springs]
        for s, bounds in zip(springs, rests, strict=True):
            if len(bounds) > 2:
                raise ConstraintError(f"{s.label}: rest must be one number or two numbers (low, high), got {bounds!r}.")
        self.low, self.high = (np.array([r[i] for r in rests], dtype=float) for i in (0, -1))
        self.stiffness = np.array([s.stiffness for s in springs]).reshape(-1, 3).T.copy()
        self.damping = np.array([s.damping for s in springs]).reshape(-1, 3).T.copy()
        self.friction = np.array([s.friction for s in springs], dtype=float)

    def force(self, x: np.ndarray, rate: np.ndarray, speed: float | np.ndarray) -> np.ndarray:
        """Return the force along each coordinate, as defined in ``Spring``; dry friction is smooth near zero speed."""
        y = x - np.minimum(np.maximum(x, self.low), self.high)
        k1, k2, k3 = self.stiffness
        d1, d2, d3 = self.damping
        total = -y * (k1 + y * (k2 + y * k3)) - rate * (d1 + np.abs(rate) * (d2 + np.abs(rate) * d3))
        if self.friction.any():
            total -= self.friction * (np.sign(rate) if np.ndim(speed) == 0 and speed == 0.0 else np.tanh(rate / speed))
        return np.asarray(total)


class Lines(_Springs):
    """Springs along sums of coordinates; their lengths are ``to_length @ q[iq]``, their rates ``to_rate @ v_tree``."""

    def __init__(self, tree: pin.Model, lines: Sequence[_Line]) -> None:
        super().__init__([spring for _, _, spring in lines])
        self.iq = np.array(sorted({i for lengths, _, _ in lines for i in lengths}), dtype=np.int64)
        column = {int(i): k for k, i in enumerate(self.iq)}
        self.to_length, self.to_rate = np.zeros((len(lines), len(self.iq))), np.zeros((len(lines), tree.nv))
        for k, (lengths, rates, _) in enumerate(lines):
            for i, c in lengths.items():
                self.to_length[k, column[i]] = c
            for i, c in rates.items():
                self.to_rate[k, i] = c

    def torque(self, q: np.ndarray, v_tree: np.ndarray, speed: float | np.ndarray) -> np.ndarray:
        rates = self.to_rate @ v_tree
        return np.asarray(self.force(self.to_length @ q[self.iq], rates, speed) @ self.to_rate)


class _Paths(_Springs):
    def __init__(self, tree: pin.Model, springs: Sequence[Spring]) -> None:
        super().__init__(springs)
        ends = [[resolve_frame(tree, p, s.label) for p in s.along] for s in springs]  # (joint, placement) of each point
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

    def torque(self, model: pin.Model, data: pin.Data, q: np.ndarray, v_tree: np.ndarray, speed: float) -> np.ndarray:
        J = pin.computeJointJacobians(model, data, q).reshape(6, -1)  # Pinocchio returns a single column as a vector.
        homogeneous = np.array([data.oMi[j].homogeneous for j in self.joints.ravel().tolist()]).reshape(-1, 2, 4, 4)
        p = np.einsum("sebc,sec->seb", homogeneous[..., :3, :3], self.points) + homogeneous[..., :3, 3]
        gaps = p[:, 1] - p[:, 0]
        lengths = np.linalg.norm(gaps, axis=1)
        u = gaps / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        push = u @ J[:3]
        rows = self.second * (push + np.cross(p[:, 1], u) @ J[3:]) - self.first * (push + np.cross(p[:, 0], u) @ J[3:])
        x, gradient = np.zeros(self.count), np.zeros((self.count, model.nv))
        np.add.at(x, self.of, lengths)
        np.add.at(gradient, self.of, rows)
        return np.asarray(self.force(x, gradient @ v_tree, speed) @ gradient)


def _held(tree: pin.Model, supports: Sequence[GravityCompensation]) -> pin.Model:
    held = tree.copy()
    for j in range(held.njoints):
        held.inertias[j] = pin.Inertia.Zero()
    for s in supports:
        j = joint_id(tree, s.body, s.label)
        if j:
            held.inertias[j] = held.inertias[j] + pin.Inertia(s.mass, np.array(s.center), np.zeros((3, 3)))
    return held
