"""Torques of the log, what the model says of them, and how that changes with each parameter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ... import batch
from ...algorithms.dynamics.coupling import coupling_jacobian, spanning_acceleration
from ...algorithms.parameters.regressors import computeJointTorqueRegressor
from ...constraints.spring import PassiveForce, Spring
from ...errors import ModelError
from ...model import ClusterModel, PassiveForces
from ..study._samples import column_names
from ..study.trajectories import Motion, base_columns
from .log import Log
from .parameters import FRICTION, Parameter


@dataclass(eq=False)
class Losses:
    """What gears lose: ``s |load| c``, c = 1 / efficiency - 1 where power goes to the joint, 1 - back_efficiency else.

    Attributes:
        sign: s, direction of each motor, shape (N, motors).
        load: What goes out of each gear, at its motor, as the model says, shape (N, motors); ``by`` its derivatives.
        B: From motors to rows, shape (N, rows, motors).
        columns: Of each motor the columns of its efficiency forwards and backwards, the number of parameters if none.
    """

    sign: np.ndarray
    load: np.ndarray
    by: np.ndarray
    B: np.ndarray
    columns: np.ndarray

    def torque(self, x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what they add to the torques, shape (N, rows), and its derivatives, shape (N, rows, parameters)."""
        load = self.load + self.by @ x
        forward = load * self.sign > 0.0
        e = np.append(values, 1.0)[self.columns]
        size = self.sign * np.abs(load)
        c = np.where(forward, 1.0 / e[0] - 1.0, 1.0 - e[1])
        J = np.concatenate([(self.sign * np.sign(load) * c)[..., None] * self.by, np.zeros((*load.shape, 1))], axis=2)
        for k, (f, b) in enumerate(self.columns.T):
            J[:, k, f] -= np.where(forward, size / e[0] ** 2, 0.0)[:, k]
            J[:, k, b] -= np.where(forward, 0.0, size)[:, k]
        return np.einsum("nij,nj->ni", self.B, size * c), self.B @ J[:, :, :-1]


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

    def passive(*forces: PassiveForce) -> np.ndarray:
        held = PassiveForces(tree, forces)
        on_tree = np.array([held.torque(q[i], rates[i], friction_speed) for i in range(n)])
        return np.einsum("ni,nij->nj", on_tree, G)

    def resisting(along: Mapping[str, float], viscous: float, coulomb: float) -> np.ndarray:
        row = sum(c * np.eye(tree.nv)[tree.joints[tree.getJointId(j)].idx_v] for j, c in along.items())
        w = rates @ row
        return (row @ G) * (viscous * w + coulomb * direction(w, friction_speed))[:, None]

    springs = [k for k, p in enumerate(found) if p.kind == "spring"]
    for k, p in enumerate(found):
        if k in springs:
            X[:, :, k] = -passive(Spring(p.source.along, 1.0, p.source.rest))
        elif isinstance(p.source, dict):
            X[:, :, k] = resisting(p.source, *((1.0, 0.0) if p.kind.endswith("viscous") else (0.0, 1.0)))
    stated = [] if model.passive is None else [*model.passive.springs, *model.passive.supports]
    friction = [s for s in stated if (getattr(s, "name", None) or "").startswith(FRICTION)]
    others = [s for s in stated if s not in friction]
    loaded = batch.rnea(model, q, v, a) - (passive(*others) if others else 0.0)
    known = loaded + sum(resisting(s.along, s.damping[0], s.friction) for s in friction)
    lines = np.zeros((len(model.motors), tree.nv))
    for k, r in enumerate(model.motors):
        lines[k, [i for i, _ in r.drivers]] = [ratio for _, ratio in r.drivers]
    B = np.swapaxes(lines @ G, 1, 2)
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
    losses = None
    if any(p.kind.endswith("efficiency") for p in found):
        if np.linalg.matrix_rank(B[0]) < len(model.motors):
            raise ModelError(f"identify: the motors of {model.name!r} do not turn independently: no load of one alone.")
        back, w = np.linalg.pinv(B), rates @ lines.T
        inertia = np.array([r.axial_inertia for r in model.motors])
        by = np.zeros((n, len(lines), len(found)))
        by[:, :, at + springs] = back @ X[:, :, at + springs]
        columns = np.full((2, len(lines)), len(found))
        for k, p in enumerate(found):
            if p.kind == "rotor_inertia" and p.of in (motors := [r.name for r in model.motors]):
                by[:, motors.index(p.of), k] -= alpha @ lines[motors.index(p.of)]
            if p.kind == "efficiency":
                columns[:, p.source] = k
        columns[1, [p.source for p in found if p.kind == "back_efficiency"]] = [
            k for k, p in enumerate(found) if p.kind == "back_efficiency"
        ]
        load = np.einsum("nij,nj->ni", back, loaded) - inertia * (alpha @ lines.T)
        losses = Losses(direction(w, friction_speed), load, by, B, columns)
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
