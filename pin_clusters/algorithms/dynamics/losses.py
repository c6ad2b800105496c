"""Motor and gear losses in one state, from the torque model of ``Motor``."""

import threading
from typing import Any

import numpy as np
import pinocchio as pin

from ...errors import ModelError
from ...model import ClusterData, ClusterModel, once
from .._shared import bridge as _bridge
from .._shared import check as _check

_MOST_TURNS = 100
_of_thread = threading.local()


class Losses:
    """State of all motors, in the order of ``model.motors``. Attributes without a shape have the shape (motors,).

    Attributes:
        rows: Matrix that maps v to rotor speeds relative to the carriers, shape (motors, nv).
        whole: Matrix of shape (motors, nv): the rotor accelerations about the rotor axes are ``whole @ a + bias``.
            These accelerations are absolute if a gear has losses, otherwise relative to the carriers.
        bias: Rotor acceleration about the rotor axis for a = 0, [rad/s^2].
        speeds: Speeds of the rotors relative to their carriers, [rad/s].
        turns: Signs of the rotor speeds, smoothed around zero.
        friction: Friction torque at each rotor, [N m].
        inertia: Inertia about the rotor's axis, [kg m^2].
    """

    def __init__(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, friction_speed: float | np.ndarray
    ) -> None:
        G, g = _bridge.matrix_and_bias(model, data, q, v)
        self._model, (drivers, numbers) = model, numbers_of_motors(model)
        self.rows, self.whole, self.bias = drivers @ G, drivers @ G, drivers @ g
        if model.passive is not None and model.passive.lossy:
            carried, spun = spins_of_carriers(model, q, G @ v, g)
            self.whole, self.bias = self.whole + carried @ G, self.bias + spun
        self.speeds = w = self.rows @ v
        sharp = np.ndim(friction_speed) == 0 and friction_speed == 0.0
        self.turns = np.sign(w) if sharp else np.tanh(w / friction_speed)
        self.inertia, viscous, coulomb, self._forward, self._backward = numbers
        self.friction = viscous * w + coulomb * self.turns

    @property
    def factors(self) -> np.ndarray:
        """Losses of the gears divided by the load, for positive and for negative loads, shape (2, motors)."""
        ahead = np.where([self.speeds > 0.0, self.speeds < 0.0], self._forward, self._backward)
        return np.asarray([[1.0], [-1.0]] * self.turns * ahead)

    def motor_torque(self, tau: np.ndarray) -> np.ndarray:
        """Compute the rotor torques that exert ``tau`` through lossless gears (minimum-norm least squares), [N m]."""
        return np.asarray(np.linalg.lstsq(self.rows.T, tau, rcond=None)[0])

    def load(self, torque: np.ndarray, model: ClusterModel, a: Any) -> np.ndarray:
        """Compute the gear loads, [N m]: the rotor torques minus the torques that accelerate the rotors."""
        if a is None:
            return torque
        return np.asarray(torque - self.inertia * (self.whole @ _check.velocity(model, "a", a) + self.bias))

    def loss(self, load: np.ndarray) -> np.ndarray:
        return load * np.where(load > 0.0, *self.factors)

    def needed(self, torque: np.ndarray, model: ClusterModel, a: Any) -> np.ndarray:
        """Compute the required motor torques, [N m]: the torques of lossless motors plus friction and gear losses."""
        return np.asarray(torque + self.loss(self.load(torque - self.friction, model, a)))

    def part(self, left: np.ndarray) -> np.ndarray:
        """Compute the gear losses from the torques at the gear inputs, [N m]; NaN if a gear locks (no unique loss)."""
        share = np.where(self.factors > -1.0, self.factors / np.maximum(1.0 + self.factors, 1e-300), np.nan)
        return left * np.where(np.isnan(share).any(axis=0), np.nan, np.where(left > 0.0, *share))

    def settle(self, load: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Compute the gear losses from the loads of lossless gears, by Newton's method on the signs of the loads.

        The loss x changes the load to load - (1 - J A) x. J contains the rotor inertias, and A (``response``) contains
        the rotor accelerations per unit torque. If a gear locks, ``ModelError`` is raised.
        """
        identity, factors = np.eye(len(load)), self.factors
        K = identity - self.inertia[:, None] * response
        least = (1.0 + np.diag(K) * factors).min(axis=0)
        if (least <= 1e-9).any():
            raise ModelError(
                f"the gear of the motor on {self._model.motors[int(np.argmin(least))].name!r} locks: the joint "
                "cannot drive the motor (see back_efficiency), and too much inertia is on the joint side of the gear. "
                "Model the elasticity between gear and link as a joint with a pc.Spring, which reduces the inertia "
                "that the gear moves."
            )
        loads = load
        for _ in range(_MOST_TURNS):
            previous, loads = loads, np.linalg.solve(identity + K * np.where(loads > 0.0, *factors), load)
            if ((loads > 0.0) == (previous > 0.0)).all():
                return self.loss(loads)
        raise ModelError(
            f"model {self._model.name!r}: the equations of the gear losses have no solution in this state. "
            "Increase efficiency or back_efficiency of the motors."
        )


def spins_of_carriers(
    model: ClusterModel, q: np.ndarray, v_tree: np.ndarray, a_tree: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the angular accelerations of the motors' carriers about the rotor axes, [rad/s^2].

    Return their derivatives with respect to a_tree, shape (motors, tree.nv), and the angular accelerations at a_tree.
    """
    tree, count = model.own_tree, len(model.motors)
    rows, accelerations = np.zeros((count, tree.nv)), np.zeros(count)
    carried = [(k, r) for k, r in enumerate(model.motors) if r.carrier_id]
    if carried:
        if getattr(_of_thread, "tree", None) is not tree:
            _of_thread.tree, _of_thread.data = tree, tree.createData()  # cached: createData takes 1 ms
        data = _of_thread.data
        pin.forwardKinematics(tree, data, q, v_tree, a_tree)
        pin.computeJointJacobians(tree, data)
    for k, r in carried:
        rows[k] = r.axis @ pin.getJointJacobian(tree, data, r.carrier_id, pin.LOCAL)[3:]
        accelerations[k] = r.axis @ data.a[r.carrier_id].angular
    return rows, accelerations


@once
def numbers_of_motors(model: ClusterModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix from v_tree to rotor speeds, and five rows: inertia, two friction and two loss coefficients."""
    drivers, numbers = np.zeros((len(model.motors), model.own_tree.nv)), np.zeros((5, len(model.motors)))
    for k, r in enumerate(model.motors):
        for i, ratio in r.drivers:
            drivers[k, i] += ratio
        numbers[0, k] = r.axial_inertia
        if (m := r.motor) is not None:
            numbers[1:, k] = m.viscous, m.coulomb, *m.loss_factors
    return drivers, numbers
