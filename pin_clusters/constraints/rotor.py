"""Rotors that are not bodies of the tree."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import numpy as np
import pinocchio as pin

from .._support.trees import is_finite, joint_axis, placement_defect, spin_defect, unit
from ..errors import ConstraintError, InertiaError, shown
from .motor import Motor
from .motor_catalogue import motor_of
from .rows import TEXT, Constraint, joint_id, moving_joint_id, name_of, number, store


@dataclass(frozen=True, eq=False)
class RotorRow:
    """A rotor with joint ids instead of names."""

    name: str  # name in messages and in ``model.rotors``
    joints: tuple[int, ...]  # ids of the joints that drive the rotor
    ratios: tuple[float, ...]  # ``speed = sum(ratio * v_joint)``, one ratio for each joint
    carrier: int  # joint id of the body that carries the rotor, 0 for the universe
    placement: pin.SE3  # placement of the rotor frame in the carrier's joint frame
    axis: np.ndarray  # unit spin axis in the carrier's joint frame, shape (3,)
    axial_inertia: float  # inertia about the spin axis, [kg m^2]
    inertia: pin.Inertia | None  # in the rotor frame; None if the inertia of the carrier already includes the rotor
    source: "Rotor"  # the constraint that the user wrote


@dataclass(frozen=True)
class Rotor(Constraint):
    """A balanced, axisymmetric rotor that is not a body of the tree and has no coordinate of its own.

    A body of the tree (the carrier) carries the rotor. The rotor spins relative to the carrier at
    ``speed = sum(ratio_i * v_i)``. The rotor adds no entries to ``q``, ``v`` and ``tau``. The dynamics are exact,
    including gyroscopic moments and the acceleration of the carrier.

    Args:
        joints: Name of the joint (or body) that drives the rotor, or several names. These joints may be dependent
            joints of other constraints. Continuous joints are allowed, because only the velocities matter.
        ratios: Turns of the rotor per turn of each joint; signs matter.
        axial_inertia: Inertia about the spin axis, [kg m^2]. The inertia of the carrier must already include the locked
            rotor (mass, transverse and axial inertia), as in most published models.
        inertia: Complete inertia of the rotor in the rotor frame, [kg, m, kg m^2], instead of ``axial_inertia``. It is
            added to the inertia of the carrier, unless the carrier is the universe. The rotor must be balanced (centre
            of mass on the axis) and axisymmetric.
        axis: Spin axis in the rotor frame; by default the axis of the first joint, if it is fixed in the carrier.
        placement: Placement of the rotor frame in the joint frame of the carrier; identity by default.
        carrier: Joint or body that carries the rotor; by default the parent of the first joint.
        armature: Treatment of armature that the tree already has at ``joints``: ``"keep"`` adds the rotor to this
            armature, ``"replace"`` ignores the armature. Required only if one of these joints has armature.
        driven: Whether a motor drives the rotor directly; False for gear stages.
        motor: ``Motor`` of this rotor, or its name in ``pc.motors()``. The model applies the losses and limits of the
            motor. The motor also provides the defaults of ``ratios`` and ``axial_inertia``.
        name: Name of the rotor; by default ``"rotor:"`` followed by the names of the joints, joined by ``+``.

    Raises:
        ConstraintError: A name, ratio or option is invalid, or the axis is zero.
        InertiaError: Neither or both inertias are given, or the inertia is negative, unbalanced or not axisymmetric.
        UnknownNameError: No motor has this name.

    Example:
        >>> import pin_clusters as pc
        >>> pc.Rotor(["knee", "ankle"], [12.0, 12.0], axial_inertia=1.7e-4).name
        'rotor:knee+ankle'
    """

    joints: str | Sequence[str]
    ratios: float | Sequence[float] = None  # type: ignore[assignment]  # required; __post_init__ raises if they are missing
    _: KW_ONLY
    axial_inertia: float | None = None
    inertia: pin.Inertia | None = field(default=None, hash=False)
    axis: Sequence[float] | None = None
    placement: pin.SE3 | None = field(default=None, hash=False)
    carrier: str | None = None
    armature: Literal["keep", "replace"] | None = None
    driven: bool = True
    name: str | None = None
    motor: Motor | str | None = None

    def __post_init__(self) -> None:
        joints = (self.joints,) if isinstance(self.joints, str) else self.joints
        if not isinstance(joints, Sequence) or not joints:
            raise ConstraintError(f"Rotor: joints must be a joint name or a list of them, got {shown(self.joints)}.")
        joints = tuple(name_of(j, "joints", "Rotor") for j in joints)
        name = "rotor:" + "+".join(joints) if self.name is None else self.name
        if not isinstance(name, str) or not TEXT.fullmatch(name):
            raise ConstraintError(f"Rotor of {', '.join(map(repr, joints))}: name must be text, got {shown(name)}.")
        store(self, joints=joints, name=name)
        if self.motor is not None:
            self._take(self.motor)
        store(self, ratios=self._checked_ratios(joints))
        if self.carrier is not None:
            name_of(self.carrier, "carrier", self.label)
        if self.armature not in (None, "keep", "replace"):
            raise ConstraintError(f"{self.label}: armature must be 'keep' or 'replace', got {shown(self.armature)}.")
        if not isinstance(self.driven, bool):
            raise ConstraintError(f"{self.label}: driven must be True or False, got {shown(self.driven)}.")
        self._check_placement()
        if self.axis is not None:
            axis = unit(self.axis)
            if axis is None:
                raise ConstraintError(
                    f"{self.label}: axis must be three finite numbers, not all zero, got {shown(self.axis)}."
                )
            store(self, axis=tuple(axis.tolist()))
        self._check_inertia()

    def _take(self, given: Motor | str) -> None:
        if not isinstance(given, (Motor, str)):
            raise ConstraintError(f"{self.label}: motor must be a pc.Motor or a name in pc.motors, got {shown(given)}.")
        motor = motor_of(given, self.label)
        if motor.rotor not in (None, self.name):
            raise ConstraintError(
                f"{self.label}: motor= is assigned to another rotor, {motor.rotor!r}. Pass a motor without rotor=."
            )
        if not self.driven:
            raise ConstraintError(f"{self.label}: driven=False contradicts motor=. Omit one of these arguments.")
        store(self, motor=motor.on(str(self.name)))
        ratios, inertia = self.ratios, self.axial_inertia
        if ratios is None:
            ratios = motor.ratio
        if inertia is None and self.inertia is None:
            inertia = motor.rotor_inertia
        missing = [*["ratios"] * (ratios is None), *["axial_inertia"] * (inertia is None and self.inertia is None)]
        if missing:
            raise ConstraintError(f"{self.label}: {motor.label} has no {missing[0]}. Specify {missing[0]}=.")
        store(self, ratios=ratios, axial_inertia=inertia)

    def _check_placement(self) -> None:
        if self.placement is None:
            return
        if not isinstance(self.placement, pin.SE3):
            raise ConstraintError(
                f"{self.label}: placement must be a pinocchio.SE3 (the rotor frame in the joint frame of its carrier), "
                f"got {type(self.placement).__name__}."
            )
        defect = placement_defect(self.placement)
        if defect:
            raise ConstraintError(f"{self.label}: the placement {defect}")
        store(self, placement=self.placement.copy())  # a copy, because the user may change the original later

    def _checked_ratios(self, joints: tuple[str, ...]) -> tuple[float, ...]:
        ratios = self.ratios.tolist() if isinstance(self.ratios, np.ndarray) else self.ratios
        listed = ratios if isinstance(ratios, Sequence) and not isinstance(ratios, str) else (ratios,)
        if len(listed) != len(joints):
            raise ConstraintError(f"{self.label}: {len(joints)} joints need {len(joints)} ratios, got {len(listed)}.")
        return tuple(
            number(r, f"the ratio of {j!r}", self.label, nonzero=True) for j, r in zip(joints, listed, strict=True)
        )

    def _check_inertia(self) -> None:
        if (self.axial_inertia is None) == (self.inertia is None):
            raise InertiaError(
                f"{self.label}: specify either axial_inertia (if the carrier's link includes the rotor) or inertia "
                f"(which is added to the carrier), got {'neither' if self.inertia is None else 'both'}."
            )
        if self.axial_inertia is not None:
            try:
                value = number(self.axial_inertia, "axial_inertia", self.label, positive=True)
            except ConstraintError as error:
                raise InertiaError(f"{error} The unit is kg m^2, and the axis is the spin axis.") from None
            store(self, axial_inertia=value)
        elif not isinstance(self.inertia, pin.Inertia):
            raise InertiaError(
                f"{self.label}: inertia must be a pinocchio.Inertia in the rotor frame, "
                f"got {type(self.inertia).__name__}. Pass numbers as axial_inertia."
            )
        elif not is_finite(self.inertia):
            raise InertiaError(f"{self.label}: the inertia of the rotor is not finite (mass {self.inertia.mass:g} kg).")
        elif self.inertia.mass < 0.0:
            raise InertiaError(f"{self.label}: its mass must not be negative, got {self.inertia.mass:g} kg.")
        else:
            store(self, inertia=self.inertia.copy())

    def resolve(self, tree: pin.Model) -> RotorRow:
        """Return the rotor with joint ids of ``tree``; raise an error if axis or inertia are invalid for this tree."""
        joints = tuple(moving_joint_id(tree, n, self.label) for n in self.joints)
        for j in joints:
            if joints.count(j) > 1:
                raise ConstraintError(f"{self.label}: joint {tree.names[j]!r} is listed twice. Add up its ratios.")
            armature = float(tree.armature[tree.joints[j].idx_v])
            if armature != 0.0 and self.armature is None:
                raise ConstraintError(
                    f"{self.label}: joint {tree.names[j]!r} has armature {armature:g} in the tree, so a rotor "
                    "may count the same inertia twice. Use armature='replace' if the rotor represents the armature, "
                    "or armature='keep' if both exist."
                )
        first = joints[0]
        carrier = tree.parents[first] if self.carrier is None else joint_id(tree, self.carrier, self.label)
        placement = pin.SE3.Identity() if self.placement is None else self.placement
        axis = self._axis_in_rotor_frame(tree, first, carrier, placement)
        if self.inertia is None:
            axial = self.axial_inertia
        else:
            axial = float(axis @ self.inertia.inertia @ axis)
            defect = spin_defect(self.inertia, axis)
            if defect:
                raise InertiaError(
                    f"{self.label}: {defect}. Only a balanced, axisymmetric rotor needs no body. "
                    "Add this rotor to the tree as a body with a joint, and couple the joint with Gear or Belt."
                )
            if axial < 0.0:
                raise InertiaError(f"{self.label}: the inertia about the axis must not be negative, got {axial:g}.")
        assert axial is not None
        assert isinstance(self.ratios, tuple)  # __post_init__ has converted a single ratio to a tuple
        return RotorRow(
            str(self.name),
            joints,
            self.ratios,
            carrier,
            placement,
            placement.rotation @ axis,
            axial,
            self.inertia,
            self,
        )

    def _axis_in_rotor_frame(self, tree: pin.Model, first: int, carrier: int, placement: pin.SE3) -> np.ndarray:
        if self.axis is not None:
            return np.array(self.axis)
        axis = joint_axis(tree.joints[first])
        assert axis is not None  # moving_joint_id has checked that the joint has one degree of freedom
        if carrier == tree.parents[first]:
            return placement.rotation.T @ tree.jointPlacements[first].rotation @ axis
        if carrier == first:
            return placement.rotation.T @ axis
        raise ConstraintError(
            f"{self.label}: the axis of joint {tree.names[first]!r} is not fixed in the carrier "
            f"{tree.names[carrier]!r}, so the spin axis is unknown. Specify axis=(x, y, z) in the rotor frame."
        )
