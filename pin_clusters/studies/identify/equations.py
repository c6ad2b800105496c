"""Set up the equations of the identification from measured torques, model torques and model derivatives."""

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
    """Load-dependent friction torques of the gears: ``s |load| c``, where s is the smoothed sign of the motor speed.

    The factor c is 1 / efficiency - 1 if power flows from the motor to the joint, and 1 - back_efficiency otherwise.
    """

    direction: np.ndarray  # s, the smoothed sign of the motor speed, shape (N, motors)
    load: np.ndarray  # output torque of each gear for prior values, reflected to the motor, shape (N, motors)
    load_derivatives: np.ndarray  # derivatives of ``load``, shape (N, motors, parameters)
    B: np.ndarray  # matrix that maps motor torques to measured torques, shape (N, rows, motors)
    factors: np.ndarray  # factors c of the model for forward and backward power flow, shape (2, motors)
    index: np.ndarray  # indices of the efficiencies among the parameters, or -1 if they are known, shape (2, motors)

    def torque(self, x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the friction torques, shape (N, rows), and their derivatives, shape (N, rows, parameters)."""
        load, eta = self.load + self.load_derivatives @ x, values[self.index]
        driving, size = load * self.direction > 0.0, self.direction * np.abs(load)
        c = np.where(driving, *np.where(self.index < 0, self.factors, [1.0 / eta[0] - 1.0, 1.0 - eta[1]]))
        J = (self.direction * np.sign(load) * c)[..., None] * self.load_derivatives
        for k, (forward, back) in enumerate(self.index.T):
            J[:, k, forward] -= driving[:, k] * size[:, k] / eta[0, k] ** 2 * (forward >= 0)
            J[:, k, back] -= ~driving[:, k] * size[:, k] * (back >= 0)
        return np.einsum("nij,nj->ni", self.B, size * c), self.B @ J


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations ``residual = X @ x + losses`` for each sample; x is the change of the parameters from their priors."""

    names: tuple[str, ...]  # names of the rows (motors or independent joints)
    residual: np.ndarray  # torques in the log minus torques of the prior model, shape (N, rows)
    measured: np.ndarray  # torques in the log, shape (N, rows)
    X: np.ndarray  # regressor, shape (N, rows, parameters)
    priors: np.ndarray  # prior values of the parameters
    losses: Losses | None  # friction of the gears; None if all gears are lossless
    take: Filter  # filter and sampling of the losses; the other arrays are already filtered

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute the residuals, (N, rows), and d(model torque) / dx, (N, rows, parameters)."""
        if self.losses is None:
            return self.residual - self.X @ x, self.X
        torque, J = self.losses.torque(x, self.priors + x)
        return self.residual - self.X @ x - self.take(torque), self.X + self.take(J)


def equations(
    model: ClusterModel, log: Log, unknowns: Sequence[Parameter], motion: Motion, friction_speed: float, take: Filter
) -> Equations:
    time, q, v, a = motion
    priors = np.array([p.prior for p in unknowns])
    n, tree, data, closed = len(time), model.own_tree, model.createData(), bool(model.closures)
    inertial = [k for k, p in enumerate(unknowns) if p.direction is not None]
    directions = np.array([unknowns[k].direction for k in inertial]).T
    X = np.zeros((n, model.nv, len(unknowns)))
    G = coupling_jacobian(model, data, q[0])[None].repeat(n, axis=0)
    alpha = np.einsum("nij,nj->ni", G, a)
    for i in range(n):
        if closed:
            G[i] = coupling_jacobian(model, data, q[i])
            alpha[i] = spanning_acceleration(model, data, q[i], v[i], a[i])
        if inertial:
            X[i][:, inertial] = computeJointTorqueRegressor(model, data, q[i], v[i], a[i]) @ directions
    rates = np.einsum("nij,nj->ni", G, v)
    speed_map, (inertia, viscous, coulomb, *loss_factors) = numbers_of_motors(model)

    def passive(elements: Sequence[PassiveForce]) -> np.ndarray:
        forces = PassiveForces(tree, elements)
        return np.array([forces.torque(q[i], rates[i], friction_speed) @ G[i] for i in range(n)])

    w, B, motors = rates @ speed_map.T, np.swapaxes(speed_map @ G, 1, 2), [r.name for r in model.motors]
    turns = np.sign(w) if friction_speed == 0.0 else np.tanh(w / friction_speed)
    resisting = {"viscous": w, "coulomb": turns}
    for k, p in enumerate(unknowns):
        if p.kind in SPRINGS:
            # The torque of a spring is linear in its coefficient, so a unit coefficient yields the column of X.
            unit = dict[str, Any]({SPRINGS[p.kind]: 1.0})
            rest_position = p.source.rest if p.kind == "spring" else None
            X[:, :, k] = -passive([Spring(p.source.along, rest=rest_position, **unit)])
        elif p.kind in resisting:
            X[:, :, k] = B[:, :, (motor := motors.index(p.of))] * resisting[p.kind][:, motor, None]
    load_torque = batch.rnea(model, q, v, a)
    if model.passive and (model.passive.springs or model.passive.supports):
        load_torque = load_torque - passive([*model.passive.springs, *model.passive.supports])
    model_torque = load_torque + np.einsum("nij,nj->ni", B, w * viscous + turns * coulomb)
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
    # Rows are measured torques, because their noise is independent. Motor torques are preferred to joint torques.
    to_rows = np.linalg.inv(B) if square else np.eye(model.nv)[rows][None].repeat(n, axis=0)
    if np.any(loss_factors) or any(p.kind.endswith("efficiency") for p in unknowns):
        if np.linalg.matrix_rank(B[0]) < len(motors):
            raise ModelError(
                f"identify: the motors of {model.name!r} are kinematically coupled, so their gear loads are not unique."
            )
        spins = alpha @ speed_map.T + [spins_of_carriers(model, *x)[1] for x in zip(q, rates, alpha, strict=True)]
        B_inverse, load_derivatives = np.linalg.pinv(B), np.zeros((n, len(motors), len(unknowns)))
        eta_index = np.full((2, len(motors)), -1)
        affecting = [k for k, p in enumerate(unknowns) if p.direction is not None or p.kind in SPRINGS]
        load_derivatives[:, :, affecting] = B_inverse @ X[:, :, affecting]
        for k, p in enumerate(unknowns):
            motor = motors.index(p.of) if p.of in motors else 0
            if p.kind == "rotor_inertia" and p.of in motors:
                load_derivatives[:, motor, k] -= spins[:, motor]
            elif p.kind == "back_efficiency":
                eta_index[1, motor] = k
            elif p.kind == "efficiency":
                # One efficiency applies to both directions unless the back-efficiency is known or estimated.
                separate = eta_index[1, motor] >= 0 or p.source.back_efficiency is not None
                eta_index[:, motor] = k, eta_index[1, motor] if separate else k
        load = np.einsum("nij,nj->ni", B_inverse, load_torque) - inertia * spins
        all_sought = np.all((eta_index >= 0) & (eta_index[0] != eta_index[1]))
        if all_sought and np.linalg.norm(load - load_derivatives @ priors) < 1e-3 * np.linalg.norm(load):
            raise ModelError(
                f"identify: the efficiencies of {model.name!r} cannot be estimated, because `what` contains every "
                "mass and spring that loads the motors. Remove a known mass or spring from `what`."
            )
        losses = Losses(turns, load, load_derivatives, to_rows @ B, np.array(loss_factors), eta_index)
    residual, measured = (take(np.einsum("nij,nj->ni", to_rows, x)) for x in (torque - model_torque, torque))
    names = motors if square else [column_names(model)[k] for k in rows]
    return Equations(tuple(names), residual, measured, take(to_rows @ X), priors, losses, take)
