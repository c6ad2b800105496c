"""Torques of the log, what the model says of them, and how that changes with each parameter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import batch
from ...algorithms.dynamics.coupling import coupling_jacobian, spanning_acceleration
from ...algorithms.dynamics.losses import numbers_of_motors, spins_of_carriers
from ...algorithms.parameters.regressors import computeJointTorqueRegressor
from ...constraints import Spring
from ...constraints.spring import PassiveForce
from ...errors import ModelError
from ...model import ClusterModel, PassiveForces
from ..study._samples import column_names
from ..study.trajectories import Motion, base_columns
from .log import Log
from .parameters import SPRINGS, Parameter

Filter = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Losses:
    """What gears lose: ``s |load| c``, c = 1 / efficiency - 1 where power goes to the joint, 1 - back_efficiency else.

    ``turns`` is s, shape (N, motors); ``load`` goes out of each gear, at its motor, as the model says, ``by`` are its
    derivatives; ``B`` leads from motors to rows; ``known`` are c, both of each motor, shape (2, motors), and ``at`` the
    parameters that are sought in their place, or -1.
    """

    turns: np.ndarray
    load: np.ndarray
    by: np.ndarray
    B: np.ndarray
    known: np.ndarray
    at: np.ndarray

    def torque(self, x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what they add to the torques, shape (N, rows), and its derivatives, shape (N, rows, parameters)."""
        load, e = self.load + self.by @ x, values[self.at]
        ahead, size = load * self.turns > 0.0, self.turns * np.abs(load)
        c = np.where(ahead, *np.where(self.at < 0, self.known, [1.0 / e[0] - 1.0, 1.0 - e[1]]))
        J = (self.turns * np.sign(load) * c)[..., None] * self.by
        for k, (forward, back) in enumerate(self.at.T):
            J[:, k, forward] -= ahead[:, k] * size[:, k] / e[0, k] ** 2 * (forward >= 0)
            J[:, k, back] -= ~ahead[:, k] * size[:, k] * (back >= 0)
        return np.einsum("nij,nj->ni", self.B, size * c), self.B @ J


@dataclass(frozen=True, eq=False)
class Equations:
    """A row per sample and motor (or independent joint): ``left = X @ x``, and losses; x is by how much priors are off.

    Attributes:
        names: Of the rows.
        left: What the model leaves of the torques of the log, shape (N, rows); ``measured`` are these torques.
        X: Shape (N, rows, parameters).
        priors: Of the parameters.
        losses: Of gears, unless all are lossless.
        take: What is taken of the samples that losses make: all the rest is filtered already.
    """

    names: tuple[str, ...]
    left: np.ndarray
    measured: np.ndarray
    X: np.ndarray
    priors: np.ndarray
    losses: Losses | None
    take: Filter

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what is left of the torques, (N, rows), and derivatives of what is said, (N, rows, parameters)."""
        if self.losses is None:
            return self.left - self.X @ x, self.X
        torque, J = self.losses.torque(x, self.priors + x)
        return self.left - self.X @ x - self.take(torque), self.X + self.take(J)


def equations(
    model: ClusterModel, log: Log, found: Sequence[Parameter], motion: Motion, friction_speed: float, take: Filter
) -> Equations:
    """Set the equations up along a motion."""
    time, q, v, a = motion
    priors = np.array([p.prior for p in found])
    n, tree, data, closed = len(time), model.own_tree, model.createData(), bool(model.closures)
    inertial = [k for k, p in enumerate(found) if p.direction is not None]
    D = np.array([found[k].direction for k in inertial]).T
    X = np.zeros((n, model.nv, len(found)))
    G = coupling_jacobian(model, data, q[0])[None].repeat(n, axis=0)
    alpha = np.einsum("nij,nj->ni", G, a)
    for i in range(n):
        if closed:
            G[i] = coupling_jacobian(model, data, q[i])
            alpha[i] = spanning_acceleration(model, data, q[i], v[i], a[i])
        if inertial:
            X[i][:, inertial] = computeJointTorqueRegressor(model, data, q[i], v[i], a[i]) @ D
    rates, (lines, (inertia, viscous, coulomb, *known)) = np.einsum("nij,nj->ni", G, v), numbers_of_motors(model)

    def passive(stated: Sequence[PassiveForce]) -> np.ndarray:
        forces = PassiveForces(tree, stated)
        return np.array([forces.torque(q[i], rates[i], friction_speed) @ G[i] for i in range(n)])

    w, B, motors = rates @ lines.T, np.swapaxes(lines @ G, 1, 2), [r.name for r in model.motors]
    turns = np.sign(w) if friction_speed == 0.0 else np.tanh(w / friction_speed)
    resisting = {"viscous": w, "coulomb": turns}
    for k, p in enumerate(found):
        if p.kind in SPRINGS:
            rest = p.source.rest if p.kind == "spring" else None
            X[:, :, k] = -passive([Spring(p.source.along, rest=rest, **dict[str, Any]({SPRINGS[p.kind]: 1.0}))])
        elif p.kind in resisting:
            X[:, :, k] = B[:, :, (m := motors.index(p.of))] * resisting[p.kind][:, m, None]
    loaded = batch.rnea(model, q, v, a)
    if model.passive and (model.passive.springs or model.passive.supports):
        loaded = loaded - passive([*model.passive.springs, *model.passive.supports])
    said = loaded + np.einsum("nij,nj->ni", B, w * viscous + turns * coulomb)
    torque, rows = np.zeros((n, model.nv)), list(range(model.nv))
    if log.at_motors:
        torque = np.einsum("nij,nj->ni", B, np.column_stack([log.torque[name] for name in motors]))
    else:
        rows = [model.joint_idx_v(name) for name in log.torque]
        torque[:, rows] = np.column_stack(list(log.torque.values()))
        rows = sorted({*rows, *range(model.nv)[base_columns(model) or slice(0)]})
    loads, losses = log.motion.loads(model, time, q), None
    torque = torque if loads is None else torque + loads
    square = log.at_motors and B.shape[1] == B.shape[2]
    to_rows = np.linalg.inv(B) if square else np.eye(model.nv)[rows][None].repeat(n, axis=0)  # to where the noise is
    if np.any(known) or any(p.kind.endswith("efficiency") for p in found):
        if np.linalg.matrix_rank(B[0]) < len(motors):
            raise ModelError(f"identify: the motors of {model.name!r} do not turn independently: no load of one alone.")
        spins = alpha @ lines.T + [spins_of_carriers(model, *x)[1] for x in zip(q, rates, alpha, strict=True)]
        back, by, at = np.linalg.pinv(B), np.zeros((n, len(motors), len(found))), np.full((2, len(motors)), -1)
        behind = [k for k, p in enumerate(found) if p.direction is not None or p.kind in SPRINGS]
        by[:, :, behind] = back @ X[:, :, behind]
        for k, p in enumerate(found):
            m = motors.index(p.of) if p.of in motors else 0
            if p.kind == "rotor_inertia" and p.of in motors:
                by[:, m, k] -= spins[:, m]
            elif p.kind == "back_efficiency":
                at[1, m] = k
            elif p.kind == "efficiency":
                at[0, m], at[1, m] = k, at[1, m] if at[1, m] >= 0 or p.source.back_efficiency is not None else k
        load = np.einsum("nij,nj->ni", back, loaded) - inertia * spins
        if np.all((at >= 0) & (at[0] != at[1])) and np.linalg.norm(load - by @ priors) < 1e-3 * np.linalg.norm(load):
            raise ModelError(
                f"identify: with the efficiencies of {model.name!r} leave a mass or spring that is known out of `what`."
            )
        losses = Losses(turns, load, by, to_rows @ B, np.array(known), at)
    left, measured = (take(np.einsum("nij,nj->ni", to_rows, x)) for x in (torque - said, torque))
    names = motors if square else [column_names(model)[k] for k in rows]
    return Equations(tuple(names), left, measured, take(to_rows @ X), priors, losses, take)
