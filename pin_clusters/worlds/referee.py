"""The same control step by ``pc.simulate``, to check the accuracy of worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..algorithms.parameters.inertial_parameters import with_parameters
from ..errors import NotAvailableError
from ..model import ClusterModel, alike
from ..simulation import Ground, simulate
from .step import Step


class Repeatable(Protocol):
    """The members of ``Worlds`` that a comparison needs."""

    model: ClusterModel
    dt: float
    substeps: int
    _step: Step
    _options: dict[str, Any]

    def step(self) -> None: ...

    def state(self) -> dict[str, np.ndarray]: ...

    def restore(self, state: Mapping[str, np.ndarray]) -> None: ...


class Difference(NamedTuple):
    """Largest differences between a world and ``pc.simulate`` at the end of a control step.

    Attributes:
        q: Largest difference of the configurations, [rad] or [m].
        v: Largest difference of the velocities, [rad/s] or [m/s].
        status: Status of the world after the step.
    """

    q: float
    v: float
    status: int


def differences(worlds: Repeatable, rows: list[int]) -> list[Difference]:
    before, results = worlds.state(), []
    try:
        worlds.step()
        after = worlds.state()
    finally:
        worlds.restore(before)
    for i in rows:
        row = {name: x[i].astype(float) for name, x in before.items()}
        q, v = _simulated(worlds, row)
        error_q, error_v = (float(np.abs(x - after[name][i]).max()) for name, x in (("q", q), ("v", v)))
        results.append(Difference(error_q, error_v, int(after["status"][i, 0])))
    return results


def _simulated(worlds: Repeatable, row: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    q, v, options = row["q"], row["v"], worlds._options
    model = _model(worlds, row)
    ground = options["ground"]
    if ground is not None and "friction" in row:
        ground = Ground(float(row["friction"][0]), ground.normal, ground.height)
    acting = row["_acting"]
    for k in range(worlds.substeps):
        if "delay" not in row or row["delay"][0] <= k:
            acting = row["targets"]
        tau, added = _drive(worlds, row, q, v, acting)
        armature = np.array(model.own_tree.armature)
        armature[model.idx_v_independent] += added
        tree = model.own_tree.copy()
        tree.armature = armature
        end = simulate(
            alike(model, tree=tree) if added.any() else model,
            q,
            v,
            tau,
            worlds.dt,
            worlds.dt,
            ground=ground,
            touching=options["touching"],
            limits="position" if len(worlds._step.constants.contacts.stops) else False,
            passive=options["passive"],
        )
        q, v = end.q[-1], end.v[-1]
    return q, v


def _model(worlds: Repeatable, row: dict[str, np.ndarray]) -> ClusterModel:
    model = worlds.model
    if "ratios" in row or row.get("wrench", np.zeros(6)).any():
        raise NotAvailableError("Worlds.exact does not support the varied quantities ratios and wrench.")
    if "gear_loads" in row:
        raise NotAvailableError(
            "Worlds.exact does not support gear losses, because pc.simulate cannot start from given gear loads."
        )
    if "inertial" in row:
        model = with_parameters(model, row["inertial"])
    return model.with_gravity(row["gravity"]) if "gravity" in row else model


def _drive(
    worlds: Repeatable, row: dict[str, np.ndarray], q: np.ndarray, v: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the torques at the start of a time step, and the inertia of the implicit drive, both of shape (nv,)."""
    of, h = worlds._step.constants.actuation, worlds.dt
    tau, added, strength = np.zeros(len(v)), np.zeros(len(v)), np.ones(len(v))
    if not len(of.driven):
        tau += targets
    else:
        iq, iv = of.driven.T
        tau += row.get("torques", 0.0)
        _, kp, kd = worlds._options["drive"].of(worlds.model)
        strength[iv] = row.get("strength", 1.0)
        targets = np.clip(targets, *of.target_bounds.T)
        kp, kd = strength[iv] * row.get("kp", kp), strength[iv] * row.get("kd", kd)
        tau[iv] += kp * (targets - q[iq] - h * v[iv]) - kd * v[iv]
        added[iv] = h * kd + h**2 * kp
    if len(of.joint_limits):
        limits = strength * of.joint_limits
        added[np.abs(tau) > limits] = 0.0
        tau = np.clip(tau, -limits, limits)
    if len(of.motor_limits):
        motor_torques, speeds = np.linalg.lstsq(of.motors, tau, rcond=None)[0], v @ of.motors
        moves = of.motors != 0.0
        share = (strength @ moves) / moves.sum(axis=0)
        low, high = (s * share * _most(s * speeds, of.motor_limits) for s in (-1.0, 1.0))
        over = (motor_torques < low) | (motor_torques > high)
        added[moves[:, over].any(axis=1)] = 0.0
        tau = tau + of.motors @ (np.clip(motor_torques, low, high) - motor_torques)
    return tau, added


def _most(speeds: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the largest torques of motors at their speeds, as in ``Motor.torque_limits``."""
    peak, stall, slope, free = numbers.T
    return np.where(speeds < free, np.clip(stall - slope * speeds, 0.0, peak), 0.0)
