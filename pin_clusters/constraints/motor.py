"""Motors with gears: limits of torque and speed, and losses."""

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
    """A motor with its gear, defined by limits and losses. All values refer to the rotor and are in SI units.

    Let w be the speed of the rotor relative to its carrier, J its inertia and s the sign of w, smoothed near zero.
    The torque at the output of the gear and the loss of the gear are::

        load = tau_motor - (viscous w + coulomb s) - loss - J dw/dt
        loss = s |load| c,   c = 1 / efficiency - 1   if power flows to the joint (load w > 0)
                             c = 1 - back_efficiency  if power flows from the joint

    The torque on the joints is B (tau_motor - friction - loss), where B is ``pc.actuation_matrix``. ``None`` means that
    a value is unknown; the corresponding limit or loss is then not applied. Assign the motor to a rotor with
    ``pc.Rotor("knee", motor=...)``, or add ``motor.on("rotor:knee")`` to the constraints of a model.
    ``pc.passive_torque`` includes the losses of the motor, and ``pc.motor_torque`` returns the torque that the motor
    must deliver. ``pc.simulate`` applies losses and motor torque; ``limits="effort"`` enforces ``torque_limits``.

    Args:
        rotor: Name of the motor's rotor in ``model.rotors``; None for a motor that is not part of a robot.
        name: Name of the motor type.
        ratio: Turns of the rotor per turn of the output; ``pc.Rotor`` uses it as the default of ``ratios``.
        rotor_inertia: Inertia about the rotor axis, [kg m^2]; the default of ``axial_inertia`` in ``pc.Rotor``.
        rated_torque: Largest continuous torque, [N m].
        peak_torque: Largest short-term torque, [N m].
        voltage: Supply voltage, [V].
        torque_constant: Torque constant of the equivalent DC motor, [N m/A] = [V s/rad].
        resistance: Resistance of the equivalent DC motor, [ohm].
        no_load_speed: Rotor speed without load, [rad/s]; by default voltage / torque_constant.
        viscous: Viscous friction, [N m s/rad].
        coulomb: Dry friction, [N m].
        efficiency: Output power of the gear divided by input power while the motor drives, in (0, 1]; None for no loss.
        back_efficiency: Power at the motor divided by power at the joint while the joint drives the motor. The default
            is ``efficiency``; the value is 0 or negative for a self-locking gear.
        source: Reference from which the values were taken.

    Raises:
        ConstraintError: A value is not finite or is physically impossible.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Motor(voltage=24.0, torque_constant=0.5, resistance=2.0).stall_torque
        6.0
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
                limits = {"nonzero": key == "ratio", "positive": key not in ("ratio", "back_efficiency")}
                store(self, **{key: number(given, key, owner, **limits)})
            if key in _ABOVE_ZERO and getattr(self, key) == 0.0:
                raise ConstraintError(f"{owner}: {key} is 0. Use a number above 0, or None if it is unknown.")
        if self.rated_torque and self.peak_torque and self.rated_torque > self.peak_torque:
            raise ConstraintError(
                f"{owner}: rated_torque = {self.rated_torque:g} N m exceeds peak_torque = {self.peak_torque:g} N m. "
                "Both are torques at the rotor; torques at the output are larger by the gear ratio."
            )
        if self.efficiency is not None and not 0.0 < self.efficiency <= 1.0:
            raise ConstraintError(
                f"{owner}: efficiency must be above 0 and at most 1, got {self.efficiency:g}. It is output "
                "power divided by input power while the motor drives; 85 % is 0.85."
            )
        if self.back_efficiency is not None and self.back_efficiency > 1.0:
            raise ConstraintError(
                f"{owner}: back_efficiency must be at most 1, got {self.back_efficiency:g}. It is power at the motor "
                "divided by power at the joint while the joint drives, and 0 or less for a self-locking gear."
            )
        if self.back_efficiency is not None and self.efficiency is None:
            raise ConstraintError(f"{owner}: back_efficiency requires efficiency, too. Pass 1.0 if there is no loss.")

    @property
    def label(self) -> str:
        """Name of the motor in messages."""
        parts = [repr(self.name)] if self.name else []
        return f"Motor({', '.join([*parts, *([f'rotor={self.rotor!r}'] if self.rotor else [])])})"

    def __repr__(self) -> str:
        given = {k: getattr(self, k) for k, f in self.__dataclass_fields__.items() if getattr(self, k) != f.default}
        return f"Motor({', '.join(f'{k}={x!r}' for k, x in given.items())})"

    def on(self, rotor: str) -> Self:
        """Return a copy of the motor assigned to the rotor with this name in ``model.rotors``."""
        return replace(self, rotor=rotor)

    @property
    def loss_factors(self) -> tuple[float, float]:
        """Gear loss divided by load: 1 / efficiency - 1 while the motor drives, and 1 - back_efficiency otherwise."""
        forward = 1.0 if self.efficiency is None else self.efficiency
        return 1.0 / forward - 1.0, 1.0 - (forward if self.back_efficiency is None else self.back_efficiency)

    @property
    def loses(self) -> bool:
        """Whether the motor has friction or a gear with losses."""
        return self.viscous > 0.0 or self.coulomb > 0.0 or any(self.loss_factors)

    @property
    def free_speed(self) -> float | None:
        """Rotor speed without load, [rad/s]: ``no_load_speed`` or voltage / torque_constant; None if unknown."""
        if self.no_load_speed is None and self.voltage is not None and self.torque_constant is not None:
            return self.voltage / self.torque_constant
        return self.no_load_speed

    @property
    def stall_torque(self) -> float | None:
        """Torque limit at zero speed due to voltage and resistance, k V / R [N m]; None if a value is unknown."""
        if self.voltage is None or self.torque_constant is None or self.resistance is None:
            return None
        return self.torque_constant * self.voltage / self.resistance

    @property
    def limit_numbers(self) -> tuple[float, float, float, float]:
        """The numbers of ``torque_limits``, infinite without a limit.

        They are the largest torque, the torque at zero speed that the voltage permits, the decrease of this torque per
        speed, and the speed without load, [N m], [N m], [N m s/rad] and [rad/s].
        """
        slope = 0.0
        if self.torque_constant is not None and self.resistance is not None:
            slope = self.torque_constant**2 / self.resistance
        peak, stall, free = (np.inf if x is None else x for x in (self.peak_torque, self.stall_torque, self.free_speed))
        return peak, stall, slope, free

    def torque_limits(self, speed: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest torque that the motor can produce (``tau_motor``, before its friction).

        ``peak_torque`` limits the torque. If voltage V, torque constant k and resistance R are known, k (V - k w) / R
        is a second limit, which decreases with speed while the motor drives and increases while it brakes. At
        ``no_load_speed`` and above, the motor cannot drive.

        Args:
            speed: Speed of the rotor, [rad/s], of any shape.

        Returns:
            ``(low, high)``, [N m], each with the shape of ``speed``; infinite if no limit is known.
        """
        speeds = numbers("Motor.torque_limits: speed", speed).astype(float)
        k, voltage, free = self.torque_constant, self.voltage, self.free_speed

        def most(w: np.ndarray) -> np.ndarray:
            limit = np.full(w.shape, np.inf if self.peak_torque is None else self.peak_torque)
            if k is not None and voltage is not None and self.resistance is not None:
                limit = np.clip(k * (voltage - k * w) / self.resistance, 0.0, limit)
            return limit if free is None else np.where(w >= free, 0.0, limit)

        return -most(-speeds), most(speeds)
