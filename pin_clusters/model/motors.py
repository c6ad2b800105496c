"""Assigns motors to rotors, and converts motor friction to joint friction (``Spring``), as other programs model it."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import joint_in_v
from ..constraints import Motor, Spring
from ..errors import ConstraintError, UnknownNameError, did_you_mean
from .elements import RotorElement

_ALIKE = 1e-9  # Rotors whose normalized rows of G differ by less than this value turn together.


def with_motors(rotors: Sequence[RotorElement], constraints: Sequence[Any]) -> tuple[RotorElement, ...]:
    """Return the rotors with their motors; a motor is given in its ``Rotor`` or as a separate ``Motor``."""
    by_name = {r.name: r for r in rotors}
    motors = {r.name: r.source.motor for r in rotors if r.source is not None and r.source.motor is not None}
    for motor in (c for c in constraints if isinstance(c, Motor)):
        owner = motor.label
        if motor.rotor is None:
            raise ConstraintError(
                f"{owner} is not on a rotor. Attach it by motor.on(rotor.name) or pc.Rotor(..., motor=...)."
            )
        if motor.rotor not in by_name:
            raise UnknownNameError(
                f"{owner}: the model has no rotor {motor.rotor!r}.{did_you_mean(motor.rotor, by_name)}"
            )
        if motor.rotor in motors:
            raise ConstraintError(f"{owner}: its rotor already has {motors[motor.rotor].label}. Keep one of them.")
        if not by_name[motor.rotor].driven:
            raise ConstraintError(
                f"{owner}: rotor {motor.rotor!r} is only a gear stage (driven=False). Attach the motor to the "
                "rotor that it drives directly."
            )
        motors[motor.rotor] = motor
    for name, motor in motors.items():
        if any(motor.loss_factors) and not by_name[name].spins:
            raise ConstraintError(
                f"{motor.label}: gear losses require a rotor that is lumped into its carrier, but {name!r} is kept as "
                f"a body: {by_name[name].reason}. Replace the body by pc.Rotor, or omit efficiency."
            )
    return _without_idlers([dataclasses.replace(r, motor=motors.get(r.name)) for r in rotors])


def _without_idlers(rotors: list[RotorElement]) -> tuple[RotorElement, ...]:
    """Set ``driven`` to False for bodies that only follow rotors with a ``Motor``: these motors provide all torque.

    Raise ``ConstraintError`` if the torque of a gear with losses cannot be determined because a rotor has no ``Motor``.
    """
    stated, unstated = ([r for r in rotors if r.driven and (r.motor is not None) == has] for has in (True, False))
    if not stated or not unstated:
        return tuple(rotors)
    S, R = (np.array([r.row / (np.linalg.norm(r.row) or 1.0) for r in group]) for group in (stated, unstated))
    remainder = R - R @ np.linalg.pinv(S, _ALIKE) @ S
    idle = np.array([r.joint_id is not None for r in unstated]) & (np.linalg.norm(remainder, axis=1) < _ALIKE)
    U, sizes, _ = np.linalg.svd(remainder[~idle])
    sums = U.T[np.sum(sizes > _ALIKE) :]  # combinations of rotors without a Motor whose rows are in the span of S
    shared = np.abs(sums @ R[~idle] @ np.linalg.pinv(S, _ALIKE)) > _ALIKE
    for r, mixed in zip(stated, shared.T, strict=True):
        if r.motor is not None and any(r.motor.loss_factors) and mixed.any():
            indices = np.flatnonzero(~idle)[np.abs(sums[mixed]).max(axis=0) > _ALIKE]
            names = ", ".join(repr(unstated[i].name) for i in indices)
            raise ConstraintError(
                f"{r.motor.label}: the gear has losses, but the torque that it transmits is not determined, because "
                f"{names} can also transmit torque. For each of these rotors, add pc.Motor().on(NAME) if it belongs to "
                "a motor, or set driven=False if it is only a gear stage."
            )
    followers = {unstated[i].name for i in np.flatnonzero(idle)}
    return tuple(dataclasses.replace(r, driven=False) if r.name in followers else r for r in rotors)


def friction_of_motors(tree: pin.Model, rotors: Sequence[RotorElement]) -> list[Spring]:
    """Return motor friction as ``Spring`` objects along the joints that turn the rotors; gear losses are excluded."""
    springs = []
    for r, m in ((r, r.motor) for r in rotors if r.motor is not None):
        ratios = {str(tree.names[joint_in_v(tree, i)]): ratio for i, ratio in r.drivers}
        if not (m.viscous or m.coulomb):
            continue
        if len(ratios) == 1:
            ((joint, ratio),) = ratios.items()
            springs.append(Spring(joint, damping=m.viscous * ratio**2, friction=m.coulomb * abs(ratio)))
        else:
            springs.append(Spring(ratios, damping=m.viscous, friction=m.coulomb, name=f"friction of {r.name}"))
    return springs
