"""Defines the base class of constraints and the equation of a linear coupling, and validates names and numbers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pinocchio as pin

from .._support.arrays import real
from ..errors import ConstraintError, UnknownNameError, UnsupportedJointError, did_you_mean, shown


@dataclass(frozen=True)
class Row:
    """Equation of a linear coupling, with joint ids: ``q[dependent] = sum(coefficients * q[masters]) + offset``."""

    dependent: int  # joint id in the tree
    masters: tuple[int, ...]  # joint ids in the tree; may be dependent joints of other rows
    coefficients: tuple[float, ...]  # one for each master, [rad/rad], [m/rad], ...
    offset: float  # in the unit of the dependent joint, [rad] or [m]
    source: Any  # the constraint that the user wrote
    tied: tuple[int, ...]  # ids of coupled joints, which form a cluster with all joints between them

    @property
    def terms(self) -> list[tuple[int, float]]:
        return list(zip(self.masters, self.coefficients, strict=True))


def store(constraint: object, **fields: object) -> None:
    """Set fields of a frozen dataclass to their checked values."""
    for name, value in fields.items():
        object.__setattr__(constraint, name, value)


# Reflected inertia scales with the square of the ratio. Beyond these limits, rounding loses the smaller inertia.
_LEAST_RATIO, _MOST_RATIO = 1e-8, 1e8
TEXT = re.compile("[^\ud800-\udfff]+")
"""Names that Pinocchio accepts; lone surrogates (halves of characters) have no UTF-8 encoding."""


def number(value: object, what: str, owner: str, *, nonzero: bool = False, positive: bool = False) -> float:
    x = real(value)
    if x is None:
        cure = " Use the signed turns of the driven side per turn of the driving side." if "ratio" in what else ""
        raise ConstraintError(f"{owner}: {what} must be a number, got {shown(value)} ({type(value).__name__}).{cure}")
    if not math.isfinite(x):
        raise ConstraintError(f"{owner}: {what} must be finite, got {x}.")
    if nonzero and x == 0.0:
        raise ConstraintError(
            f"{owner}: {what} is 0, which removes the coupling. "
            "Use the ratio of the transmission, or omit the constraint."
        )
    if nonzero and not _LEAST_RATIO <= abs(x) <= _MOST_RATIO:
        raise ConstraintError(
            f"{owner}: {what} is {x:g}; its absolute value must lie between {_LEAST_RATIO:g} and {_MOST_RATIO:g}, "
            "because reflected inertia scales with its square and would be lost in rounding. The ratio is the turns of "
            "the driven side per turn of the driving side."
        )
    if positive and x < 0.0:
        raise ConstraintError(f"{owner}: {what} must not be negative, got {x}.")
    return x


def name_of(value: object, what: str, owner: str) -> str:
    if not isinstance(value, str) or not TEXT.fullmatch(value):
        raise ConstraintError(f"{owner}: {what} must be the name of a joint or body, got {shown(value)}.")
    return value


class Constraint:
    """Base class of all constraints, which are frozen dataclasses; the module ``contract`` defines their methods."""

    _text_fields: ClassVar[tuple[str, ...]] = ()  # fields that identify the constraint in messages, usually its joints

    def __init_subclass__(cls) -> None:
        cls._text_fields += tuple(field for field, kind in cls.__annotations__.items() if kind in (str, "str"))

    @property
    def label(self) -> str:
        """Name of the constraint in messages."""
        name = getattr(self, "name", None)
        parts = self._parts() if name is None else [name]
        return f"{self._kind}({', '.join(map(shown, parts))})"

    @property
    def _kind(self) -> str:
        return type(self).__name__

    def _parts(self) -> Sequence[str]:
        """Return the names that identify the constraint in messages if the user has not set ``name``."""
        return [getattr(self, field) for field in self._text_fields]

    def _owner(self) -> str:
        """Check that ``name`` is a string; return a name for messages that can appear before ``label`` is available."""
        name = getattr(self, "name", None)
        return self._kind if name is None else f"{self._kind}({name_of(name, 'name', self._kind)!r})"

    def _check_joints(self) -> None:
        names = [name_of(getattr(self, field), field, self._kind) for field in self._text_fields]
        for name in names:
            if names.count(name) > 1:
                raise ConstraintError(
                    f"{self.label}: joint {name!r} is listed twice. Each role in the mechanism needs its own joint."
                )


def model_name(tree: pin.Model) -> str:
    return f"model {tree.name!r}" if tree.name else "the model"


def joint_id(tree: pin.Model, name: str, owner: str) -> int:
    """Return the id of the joint with this name, or of the joint that moves the body with this name."""
    if tree.existJointName(name):
        return tree.getJointId(name)
    if tree.existBodyName(name):
        return tree.frames[tree.getBodyId(name)].parentJoint
    bodies = [f.name for f in tree.frames if f.type == pin.FrameType.BODY]
    raise UnknownNameError(
        f"{owner}: no joint or body {name!r} in {model_name(tree)}."
        + did_you_mean(name, [*list(tree.names)[1:], *bodies])
    )


def moving_joint_id(tree: pin.Model, name: str, owner: str) -> int:
    """Return the id of a joint; raise an error unless it has one degree of freedom, as couplings require."""
    j = joint_id(tree, name, owner)
    if j == 0:
        raise ConstraintError(
            f"{owner}: {name!r} does not move (it is fixed to the universe), so it cannot be coupled. "
            "Specify a joint or a moving body."
        )
    joint = tree.joints[j]
    if joint.nv != 1:
        raise UnsupportedJointError(
            f"{owner}: joint {tree.names[j]!r} is a {joint.shortname()} with {joint.nv} degrees of freedom, but "
            "couplings and belts need joints with one degree of freedom. Couple other joints "
            "(pc.LinearCoupling, pc.Gear), or split this joint into several joints."
        )
    return j
