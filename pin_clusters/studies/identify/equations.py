"""Torques of the log, what the model says of them, and how that changes with each parameter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ... import batch
from ...algorithms.dynamics.coupling import coupling_jacobian, spanning_acceleration
from ...algorithms.dynamics.losses import numbers_of_motors
from ...algorithms.parameters.regressors import computeJointTorqueRegressor
from ...constraints.spring import PassiveForce, Spring
from ...errors import ModelError
from ...model import ClusterModel, PassiveForces
from ..study._samples import column_names
from ..study.trajectories import Motion, base_columns
from .log import Log
from .parameters import Parameter, motor_on


_UNIT = {"spring": "stiffness", "joint_viscous": "damping", "joint_coulomb": "friction"}


@dataclass(eq=False)
class Losses:
    """What gears lose: ``s |load| c``, c = 1 / efficiency - 1 where power goes to the joint, 1 - back_efficiency else.

    Attributes:
        sign: s, direction of each motor, shape (N, motors).
        load: What goes out of each gear, at its motor, as the model says, shape (N, motors); ``by`` its derivatives.
        B: From motors to rows, shape (N, rows, motors).
        columns: Of each motor the columns of its efficiency forwards and backwards, -1 if none.
    """

    sign: np.ndarray
    load: np.ndarray
    by: np.ndarray
    B: np.ndarray
    columns: np.ndarray
    priors: np.ndarray

    def torque(self, x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what they add to the torques, shape (N, rows), and its derivatives, shape (N, rows, parameters)."""
        load = self.load + self.by @ x
        forward, size = load * self.sign > 0.0, self.sign * np.abs(load)
        e = np.where(self.columns < 0, self.priors, values[self.columns])
        c = np.where(forward, 1.0 / e[0] - 1.0, 1.0 - e[1])
        J = (self.sign * np.sign(load) * c)[..., None] * self.by
        for (i, k), column in np.ndenumerate(self.columns):
            if column >= 0:
                there = forward[:, k] if i == 0 else ~forward[:, k]
                J[:, k, column] -= np.where(there, size[:, k], 0.0) / (e[0, k] ** 2 if i == 0 else 1.0)
        return np.einsum("nij,nj->ni", self.B, size * c), self.B @ J


@dataclass(eq=False)
class Equations:
    """A row per sample and motor (or independent joint): ``left = X @ x``, and losses; x is by how much priors are off.

    Attributes:
        names: Of the rows.
        left: What the model leaves of the torques of the log, shape (N, rows).
        measured: These torques.
        X: Shape (N, rows, parameters).
        losses: Of gears, if these are sought.
    """

    names: tuple[str, ...]
    left: np.ndarray
    measured: np.ndarray
    X: np.ndarray
    losses: Losses | None


def equations(
    model: ClusterModel, log: Log, found: Sequence[Parameter], motion: Motion, friction_speed: float
) -> Equations:
    """Set the equations up along a motion."""
    time, q, v, a = motion
    n, tree, data, closed = len(time), model.own_tree, model.createData(), bool(model.closures)
    at = [k for k, p in enumerate(found) if p.direction is not None]
    D = np.array([found[k].direction for k in at]).T
    X, alpha = np.zeros((n, model.nv, len(found))), np.zeros((n, tree.nv))
    G = np.empty((n, tree.nv, model.nv)) if closed else coupling_jacobian(model, data, q[0])[None].repeat(n, axis=0)
    for i in range(n):
        if closed:
            G[i] = coupling_jacobian(model, data, q[i])
            alpha[i] = spanning_acceleration(model, data, q[i], v[i], a[i])
        if at:
            X[i][:, at] = computeJointTorqueRegressor(model, data, q[i], v[i], a[i]) @ D
    rates, alpha = np.einsum("nij,nj->ni", G, v), alpha if closed else np.einsum("nij,nj->ni", G, a)

    def passive(forces: Sequence[PassiveForce]) -> np.ndarray:
        held = PassiveForces(tree, forces)
        return np.array([held.torque(q[i], rates[i], friction_speed) @ G[i] for i in range(n if forces else 0)]) if forces else 0.0

    passives = [k for k, p in enumerate(found) if isinstance(p.source, Spring)]
    for k, p in enumerate(found):
        if k in passives:
            unit = {_UNIT[p.kind]: 1.0} | ({"rest": p.source.rest} if p.kind == "spring" else {})
            X[:, :, k] = -passive([Spring(p.source.along, **unit)])
    lines = numbers_of_motors(model)[0]
    w, B = rates @ lines.T, np.swapaxes(lines @ G, 1, 2)
    known = loaded = batch.rnea(model, q, v, a)
    if model.passive is not None:
        loaded = known - passive([*model.passive.springs, *model.passive.supports])
    s, motors = direction(w, friction_speed), [r.name for r in model.motors]
    at_rest = {"viscous": w, "coulomb": s}
    for k, p in enumerate(found):
        if p.kind in at_rest:
            m = motors.index(p.of)
            X[:, :, k] = B[:, :, m] * at_rest[p.kind][:, m, None]
    stated = [motor_on(r) for r in model.motors]
    friction = sum(at_rest[kind] * [getattr(m, kind) for m in stated] for kind in at_rest)
    known = loaded + np.einsum("nij,nj->ni", B, friction)
    rows, names = list(range(model.nv)), column_names(model)
    torque = np.zeros((n, model.nv))
    if log.at_motors:
        torque = np.einsum("nij,nj->ni", B, np.column_stack([log.torque[r.name] for r in model.motors]))
    else:
        for name, values in log.torque.items():
            torque[:, model.joint_idx_v(name)] = values
        base = base_columns(model) or slice(0)
        rows = sorted({*range(model.nv)[base], *(model.joint_idx_v(name) for name in log.torque)})
    loads = log.motion.loads(model, time, q)
    torque = torque if loads is None else torque + loads
    losses, factors = None, np.array([[m.efficiency, m.back_efficiency] for m in stated]).reshape(-1, 2).T
    if any(p.kind.endswith("efficiency") for p in found) or np.any(factors != 1.0):
        if np.linalg.matrix_rank(B[0]) < len(motors):
            raise ModelError(f"identify: the motors of {model.name!r} do not turn independently: no load of one alone.")
        back, inertial = np.linalg.pinv(B), at + passives
        by, columns = np.zeros((n, len(motors), len(found))), np.full((2, len(motors)), -1)
        by[:, :, inertial] = back @ X[:, :, inertial]
        for k, p in enumerate(found):
            if p.of in motors and p.kind == "rotor_inertia":
                by[:, motors.index(p.of), k] -= alpha @ lines[motors.index(p.of)]
            elif p.kind == "efficiency":
                columns[:, motors.index(p.of)] = k
        for k, p in enumerate(found):
            if p.kind == "back_efficiency":
                columns[1, motors.index(p.of)] = k
        load = np.einsum("nij,nj->ni", back, loaded) - [r.axial_inertia for r in model.motors] * (alpha @ lines.T)
        losses = Losses(s, load, by, B, columns, factors)
    if log.at_motors and B.shape[1] == B.shape[2]:  # where the noise is
        names, rows, back = [r.name for r in model.motors], rows, np.linalg.inv(B)
        X, known, torque = back @ X, np.einsum("nij,nj->ni", back, known), np.einsum("nij,nj->ni", back, torque)
        if losses is not None:
            losses.B = back @ losses.B
    if losses is not None:
        losses.B = losses.B[:, rows]
    return Equations(tuple(names[k] for k in rows), (torque - known)[:, rows], torque[:, rows], X[:, rows], losses)


def direction(w: np.ndarray, friction_speed: float) -> np.ndarray:
    """Return the direction of speeds, smooth about zero as ``pc.passive_torque`` has it."""
    return np.sign(w) if friction_speed == 0.0 else np.tanh(w / friction_speed)
