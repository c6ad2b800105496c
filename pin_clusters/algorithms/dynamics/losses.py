"""What motors and their gears lose at a state: the law of `Motor`, for motor_torque, passive_torque and steps."""

from typing import Any

import numpy as np

from ...errors import ModelError
from ...model import ClusterData, ClusterModel, once
from .._shared import bridge as _bridge
from .._shared import check as _check

_MOST_TURNS = 100


class Losses:
    """Motors of a model in one state, in the order of ``model.motors``; shapes are (motors,).

    With the response A of the rotors, d^2w/dt = A p, the load of lossless gears changes by loss as
    load = load_0 - (1 - J A) loss: linear but for the signs, on which loss depends.

    Attributes:
        rows: Speed of each rotor relative to its carrier = rows v, shape (motors, nv).
        bias: The part of its acceleration that is no ``rows @ a``, [rad/s^2].
        speeds: [rad/s].
        turns: Their signs, smooth about zero.
        friction: Torque at each rotor, [N m].
        inertia: About the axes, [kg m^2].
    """

    def __init__(
        self, model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, friction_speed: float | np.ndarray
    ) -> None:
        G, g = _bridge.matrix_and_bias(model, data, q, v)
        drivers, numbers = numbers_of_motors(model)
        self._model = model
        self.rows, self.bias = drivers @ G, drivers @ g
        self.speeds = w = self.rows @ v
        sharp = np.ndim(friction_speed) == 0 and friction_speed == 0.0
        self.turns = np.sign(w) if sharp else np.tanh(w / friction_speed)
        self.inertia, viscous, coulomb, self._forward, self._backward = numbers
        self.friction = viscous * w + coulomb * self.turns

    @property
    def lossless(self) -> np.ndarray:
        """Which gears lose nothing."""
        return (self._forward == 0.0) & (self._backward == 0.0)

    def load(self, torque: np.ndarray, model: ClusterModel, a: Any) -> np.ndarray:
        """Return what is left of torques at the rotors when they are accelerated so; without ``a`` nothing is taken."""
        if a is None:
            return torque
        return np.asarray(torque - self.inertia * (self.rows @ _check.velocity(model, "a", a) + self.bias))

    def given(self, torque: np.ndarray) -> np.ndarray:
        """Return what the gears lose of what goes into them; NaN of those that lock."""
        lost, back = self._factors
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(torque > 0.0, torque * lost / (1.0 + lost), torque * back / (1.0 + back))
        return np.where((1.0 + lost > 0.0) & (1.0 + back > 0.0), found, np.nan)

    @property
    def _factors(self) -> np.ndarray:
        """Loss per load above and below 0, shape (2, motors)."""
        one = np.ones(len(self.speeds))
        return np.array([self.loss(one), -self.loss(-one)])

    def motor_torque(self, tau: np.ndarray) -> np.ndarray:
        """Return the torques of motors that are ``tau`` behind lossless gears; of many the least."""
        return np.asarray(np.linalg.lstsq(self.rows.T, tau, rcond=None)[0])

    def loss(self, load: np.ndarray) -> np.ndarray:
        """Return what the gears lose, [N m] at the rotors, under loads."""
        return self.turns * np.abs(load) * np.where(load * self.speeds > 0.0, self._forward, self._backward)

    def settle(self, load: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Return what the gears lose if without loss they had these loads, by Newton's method over the signs.

        Args:
            load: [N m].
            response: A, shape (motors, motors), [rad/s^2 / (N m)]; zeros if the motion is given.

        Raises:
            ModelError: A gear locks: under no finite acceleration the law holds.
        """
        K = np.eye(len(load)) - self.inertia[:, None] * response
        both = self._factors
        least = 1.0 + np.diag(K) * both
        if (least <= 1e-9).any():
            name = self._model.motors[int(np.argmin(least.min(axis=0)))].name
            raise ModelError(
                f"the gear of the motor on {name!r} locks under load (its back_efficiency is below that of a gear that "
                "its joint can drive), and behind it is too much inertia for any finite acceleration. State what is "
                "elastic between gear and link, a joint with a pc.Spring, so that the gear moves little inertia."
            )
        found = load
        for _ in range(_MOST_TURNS):
            factors = np.where(found > 0.0, both[0], both[1])
            last, found = found, np.linalg.solve(np.eye(len(load)) + K * factors, load)
            if ((found > 0.0) == (last > 0.0)).all():
                return np.asarray(factors * found)
        raise ModelError(
            f"model {self._model.name!r}: no loads of its gears were found that obey their law in this state. Motors "
            "move each other too much for their losses; state elasticity behind them, or larger efficiencies."
        )


@once
def numbers_of_motors(model: ClusterModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the speed of each motor's rotor by those of the tree; inertia, frictions and loss factors, (5, motors)."""
    drivers, numbers = np.zeros((len(model.motors), model.own_tree.nv)), np.zeros((5, len(model.motors)))
    for k, r in enumerate(model.motors):
        for i, ratio in r.drivers:
            drivers[k, i] += ratio
        numbers[0, k] = r.axial_inertia
        if (m := r.motor) is not None:
            numbers[1:, k] = m.viscous, m.coulomb, *m.loss_factors
    return drivers, numbers
