"""What a motor and its gear can give, and what they lose."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

import numpy as np

from .._support.arrays import ArrayLike, numbers
from ..errors import ConstraintError
from .rows import name_of, number, store
from .spring import PassiveForce

_ABOVE_ZERO = ("rated_torque", "peak_torque", "voltage", "torque_constant", "resistance", "no_load_speed")


@dataclass(frozen=True)
class Motor(PassiveForce):
    """A motor with its gear: what it can give, and what it loses. All numbers are at its rotor, in SI units.

    With w the speed of the rotor relative to its carrier, J its inertia and s the sign of w, smooth about zero::

        load = tau_motor - (viscous w + coulomb s) - loss - J dw/dt      what goes out of the gear
        loss = s |load| c,   c = 1 / efficiency - 1   if power goes to the joint (load w > 0)
                             c = 1 - back_efficiency  if it comes from there

    and the joints are given B (tau_motor - friction - loss), B = ``pc.actuation_matrix``. What is None is not known: no
    limit, no loss. Place it on a rotor by ``pc.Rotor("knee", motor=...)``, or among the constraints of a model by
    ``motor.on("rotor:knee")``. ``pc.passive_torque`` has its losses, ``pc.motor_torque`` what it has to give,
    ``pc.simulate`` both, and with ``limits="effort"`` no more than ``torque_limits``.

    Args:
        rotor: Name of the rotor on which it sits, as in ``model.rotors``; None for a motor on no robot.
        name: Of the kind of motor.
        ratio: Turns of its rotor per turn of its output; what ``pc.Rotor`` takes where it is given none.
        rotor_inertia: Of what turns with it, about the axis, [kg m^2]; the same.
        rated_torque: Largest torque for long, [N m].
        peak_torque: Largest torque, [N m].
        voltage: Of the supply, [V].
        torque_constant: Of the motor as one of direct current, [N m/A] = [V s/rad].
        resistance: The same, [ohm].
        no_load_speed: [rad/s]; by default voltage / torque_constant.
        viscous: Friction per speed, [N m s/rad].
        coulomb: Dry friction, [N m].
        efficiency: Of its gear, power out by power in, where the motor drives; in (0, 1]; None for no loss.
        back_efficiency: The same where the joint drives; by default ``efficiency``; below 0 of a gear that locks.
        source: Where the numbers come from.

    Raises:
        ConstraintError: A number is not finite, or has a value that no motor has.
    """

    rotor: str | None = None
    _: KW_ONLY
    name: str | None = None
    ratio: float | None = None
    rotor_inertia: float | None = None
    rated_torque: float | None = None
    peak_torque: float | None = None
    voltage: float | None = None
    torque_constant: float | None = None
    resistance: float | None = None
    no_load_speed: float | None = None
    viscous: float = 0.0
    coulomb: float = 0.0
    efficiency: float | None = None
    back_efficiency: float | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        for key in ("rotor", "name", "source"):
            if getattr(self, key) is not None:
                name_of(getattr(self, key), key, self._kind)
        owner = self.label
        for key in (*_ABOVE_ZERO, "ratio", "rotor_inertia", "viscous", "coulomb", "efficiency", "back_efficiency"):
            if (given := getattr(self, key)) is not None:
                how = {"nonzero": key == "ratio", "positive": key not in ("ratio", "back_efficiency")}
                store(self, **{key: number(given, key, owner, **how)})
            if key in _ABOVE_ZERO and getattr(self, key) == 0.0:
                raise ConstraintError(f"{owner}: {key} is 0. Give a number above 0, or None if it is not known.")
        if self.rated_torque and self.peak_torque and self.rated_torque > self.peak_torque:
            raise ConstraintError(
                f"{owner}: rated_torque = {self.rated_torque:g} N m exceeds peak_torque = {self.peak_torque:g} N m. "
                "Both are at the rotor; torques behind the gear are those times its ratio."
            )
        if self.efficiency is not None and not 0.0 < self.efficiency <= 1.0:
            raise ConstraintError(
                f"{owner}: efficiency must lie above 0 and be at most 1, got {self.efficiency:g}. It is power out by "
                "power in where the motor drives; one of 85 % is 0.85."
            )
        if self.back_efficiency is not None and self.back_efficiency > 1.0:
            raise ConstraintError(
                f"{owner}: back_efficiency = {self.back_efficiency:g} makes energy where the joint drives: it is power "
                "at the motor by power at the joint, at most 1, and 0 or below for a gear that locks."
            )
        if self.back_efficiency is not None and self.efficiency is None:
            raise ConstraintError(f"{owner}: back_efficiency needs efficiency; give 1.0 if the gear drives lossless.")

    @property
    def label(self) -> str:
        """How messages name it."""
        said = [repr(self.name)] if self.name else []
        return f"Motor({', '.join([*said, *([f'rotor={self.rotor!r}'] if self.rotor else [])])})"

    def __repr__(self) -> str:
        """What is known."""
        known = {k: getattr(self, k) for k, f in self.__dataclass_fields__.items() if getattr(self, k) != f.default}
        return f"Motor({', '.join(f'{k}={x!r}' for k, x in known.items())})"

    def on(self, rotor: str) -> Self:
        """Return the same motor on a rotor of a model, by the name that ``model.rotors`` shows."""
        return replace(self, rotor=rotor)

    @property
    def loss_factors(self) -> tuple[float, float]:
        """What the gear loses per load: 1 / efficiency - 1 where the motor drives, 1 - back_efficiency where not."""
        forward = 1.0 if self.efficiency is None else self.efficiency
        return 1.0 / forward - 1.0, 1.0 - (forward if self.back_efficiency is None else self.back_efficiency)

    @property
    def loses(self) -> bool:
        """Whether it has friction, or a gear with losses."""
        return self.viscous > 0.0 or self.coulomb > 0.0 or any(self.loss_factors)

    @property
    def free_speed(self) -> float | None:
        """Speed without load, [rad/s]: ``no_load_speed``, else voltage / torque_constant; None if neither is known."""
        if self.no_load_speed is None and self.voltage is not None and self.torque_constant is not None:
            return self.voltage / self.torque_constant
        return self.no_load_speed

    @property
    def stall_torque(self) -> float | None:
        """Torque at rest by voltage and resistance, k V / R, [N m]; None if they are not all known."""
        if self.voltage is None or self.torque_constant is None or self.resistance is None:
            return None
        return self.torque_constant * self.voltage / self.resistance

    def torque_limits(self, speed: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest torque that it can give, friction included.

        At most ``peak_torque``; of a known voltage, torque constant k and resistance R at most k (V - k w) / R, which
        is less where the motor drives and more where it brakes; and none that drives from ``no_load_speed`` on.

        Args:
            speed: Of the rotor, [rad/s], of any shape.

        Returns:
            ``(low, high)``, [N m], of the shape of ``speed``; infinite where nothing is known.
        """
        speeds = numbers("Motor.torque_limits: speed", speed).astype(float)
        k, voltage, free = self.torque_constant, self.voltage, self.free_speed

        def most(w: np.ndarray) -> np.ndarray:
            found = np.full(w.shape, np.inf if self.peak_torque is None else self.peak_torque)
            if k is not None and voltage is not None and self.resistance is not None:
                found = np.clip(k * (voltage - k * w) / self.resistance, 0.0, found)
            return found if free is None else np.where(w >= free, 0.0, found)

        return -most(-speeds), most(speeds)
