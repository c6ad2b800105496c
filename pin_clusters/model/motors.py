"""Motors on the rotors of a model, and their friction as what other programs know: of joints."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import joint_in_v
from ..constraints import Motor, Spring
from ..errors import ConstraintError, UnknownNameError, did_you_mean
from .elements import RotorElement

_ALIKE = 1e-9
"""Unit rows of rotors with smaller differences turn alike."""


def with_motors(rotors: Sequence[RotorElement], constraints: Sequence[Any]) -> tuple[RotorElement, ...]:
    """Return the rotors with their motors, stated by ``Rotor`` or by themselves; or say what is wrong with one."""
    by_name = {r.name: r for r in rotors}
    found = {r.name: r.source.motor for r in rotors if r.source is not None and r.source.motor is not None}
    for motor in (c for c in constraints if isinstance(c, Motor)):
        owner = motor.label
        if motor.rotor is None:
            raise ConstraintError(
                f"{owner} is on no rotor. Place it: motor.on(rotor.name), or pc.Rotor(..., motor=...)."
            )
        if motor.rotor not in by_name:
            raise UnknownNameError(
                f"{owner}: the model has no rotor {motor.rotor!r}.{did_you_mean(motor.rotor, by_name)}"
            )
        if motor.rotor in found:
            raise ConstraintError(f"{owner}: there is {found[motor.rotor].label} on that rotor already. Keep one.")
        if not by_name[motor.rotor].driven:
            raise ConstraintError(
                f"{owner}: that is a further stage of a gear (driven=False). Place it on the motor's."
            )
        found[motor.rotor] = motor
    for name, motor in found.items():
        if any(motor.loss_factors) and not by_name[name].spins:
            raise ConstraintError(
                f"{motor.label}: its gear has losses, which follow from the load behind the inertia of its rotor, but "
                f"{name!r} is no rotor by itself: {by_name[name].reason} State it as pc.Rotor, or leave efficiency out."
            )
    return _without_idlers([dataclasses.replace(r, motor=found.get(r.name)) for r in rotors])


def _without_idlers(rotors: list[RotorElement]) -> tuple[RotorElement, ...]:
    """Mark bodies that only follow stated motors as no motors: all of the torque belongs to the stated motors.

    Raises:
        ConstraintError: Rotors without a ``Motor`` leave the torque open that goes through a gear with losses.
    """
    stated, others = ([r for r in rotors if r.driven and (r.motor is not None) == here] for here in (True, False))
    if not stated or not others:
        return tuple(rotors)
    S, R = (np.array([r.row / (np.linalg.norm(r.row) or 1.0) for r in some]) for some in (stated, others))
    rest = R - R @ np.linalg.pinv(S, _ALIKE) @ S
    idle = np.array([r.joint_id is not None for r in others]) & (np.linalg.norm(rest, axis=1) < _ALIKE)
    left, sizes, _ = np.linalg.svd(rest[~idle])
    sums = left.T[np.sum(sizes > _ALIKE) :]  # of other rotors, that turn as sums of stated rotors do
    shared = np.abs(sums @ R[~idle] @ np.linalg.pinv(S, _ALIKE)) > _ALIKE
    for r, these in zip(stated, shared.T, strict=True):
        if r.motor is not None and any(r.motor.loss_factors) and these.any():
            which = np.flatnonzero(~idle)[np.abs(sums[these]).max(axis=0) > _ALIKE]
            names = ", ".join(repr(others[i].name) for i in which)
            raise ConstraintError(
                f"{r.motor.label}: its gear has losses, but the share of the torque that goes through it is not "
                f"determined, because {names} can also give it. Put a pc.Motor() on those that are motors, by "
                ".on(NAME), and give driven=False to each other pc.Rotor."
            )
    followers = {others[i].name for i in np.flatnonzero(idle)}
    return tuple(dataclasses.replace(r, driven=False) if r.name in followers else r for r in rotors)


def friction_of_motors(tree: pin.Model, rotors: Sequence[RotorElement]) -> list[Spring]:
    """Return friction of motors as springs along the joints that turn their rotors; losses of gears are left out."""
    found = []
    for r, m in ((r, r.motor) for r in rotors if r.motor is not None):
        ratios = {str(tree.names[joint_in_v(tree, i)]): ratio for i, ratio in r.drivers}
        if not (m.viscous or m.coulomb):
            continue
        if len(ratios) == 1:
            ((joint, ratio),) = ratios.items()
            found.append(Spring(joint, damping=m.viscous * ratio**2, friction=m.coulomb * abs(ratio)))
        else:
            found.append(Spring(ratios, damping=m.viscous, friction=m.coulomb, name=f"friction of {r.name}"))
    return found
