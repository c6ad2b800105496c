"""Attributes of MJCF as numbers, booleans and poses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ....errors import LoadError
from .._xml import LARGEST, number

Attributes = Mapping[str, str]
ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_LEAST = 1e-10  # shorter vectors have no direction
_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Units:
    """How ``<compiler>`` wants angles and Euler sequences read."""

    radian: bool = False
    eulerseq: str = "xyz"

    def angle(self, value: float) -> float:
        """Return an angle of the file in rad."""
        return value if self.radian else math.radians(value)


def numbers(
    attributes: Attributes, key: str, owner: str, least: int, most: int | None = None
) -> tuple[float, ...] | None:
    """Return the numbers of an attribute, or None where there is none.

    Args:
        attributes: Of the element, with its defaults.
        key: Name of the attribute.
        owner: How messages name the element.
        least: How many numbers there are.
        most: How many there may be; by default ``least``.
    """
    text = attributes.get(key)
    if text is None:
        return None
    parts = text.split()
    most = least if most is None else most
    if not least <= len(parts) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise LoadError(f"{owner}: {key} must be {wanted} numbers, got {text!r:.60}.")
    largest = math.inf if key.endswith("range") else LARGEST
    return tuple(number(part, key, owner, largest) for part in parts)


def value(attributes: Attributes, key: str, owner: str, default: float = 0.0) -> float:
    """Return one number."""
    found = numbers(attributes, key, owner, 1)
    return default if found is None else found[0]


def vector(attributes: Attributes, key: str, owner: str, default: tuple[float, ...] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Return three numbers, shape (3,)."""
    found = numbers(attributes, key, owner, 3)
    return np.array(default if found is None else found)


def word(attributes: Attributes, key: str, owner: str, known: tuple[str, ...], default: str) -> str:
    """Return one of some words."""
    text = attributes.get(key, default)
    if text not in known:
        raise LoadError(f"{owner}: {key} must be one of {', '.join(known)}, got {text!r}.")
    return text


def flag(attributes: Attributes, key: str, owner: str, default: bool) -> bool:
    """Return a boolean."""
    return word(attributes, key, owner, ("true", "false"), str(default).lower()) == "true"


def limits(
    attributes: Attributes, key: str, switch: str, owner: str, autolimits: bool, needed: bool = True
) -> tuple[float, float] | None:
    """Return a range that is in force, or None; ``autolimits`` puts one in force by giving it.

    Raises:
        LoadError: It is switched on, and ``needed``, but missing.
    """
    given = numbers(attributes, key, owner, 2)
    on = word(attributes, switch, owner, ("true", "false", "auto"), "auto")
    if on == "false" or (on == "auto" and (given is None or not autolimits)):
        return None
    if given is None:
        if not needed:
            return None
        raise LoadError(f"{owner}: {switch} is true, but {key} is missing. Give it.")
    return given[0], given[1]


def normal(v: np.ndarray, what: str, owner: str) -> np.ndarray:
    """Return a vector of length one."""
    length = float(np.linalg.norm(v))
    if length < _LEAST:
        raise LoadError(f"{owner}: {what} has no direction: its length is {length:g}.")
    return v / length


def rotation(attributes: Attributes, owner: str, units: Units) -> np.ndarray:
    """Return the orientation of an element, shape (3, 3); the identity where none is given."""
    given = [key for key in ORIENTATIONS[1:] if key in attributes]
    if len(given) > 1:
        raise LoadError(f"{owner}: {' and '.join(given)} both give its orientation. Keep one.")
    key = given[0] if given else "quat"
    if key == "quat":
        found = numbers(attributes, "quat", owner, 4)
        return np.eye(3) if found is None else of_quaternion(np.array(found), "quat", owner)
    if key == "axisangle":
        x, y, z, angle = numbers(attributes, key, owner, 4) or ()
        return np.array(pin.AngleAxis(units.angle(angle), normal(np.array([x, y, z]), "axisangle", owner)).matrix())
    if key == "xyaxes":
        six = np.array(numbers(attributes, key, owner, 6))
        x_axis = normal(six[:3], "the x axis of xyaxes", owner)
        y_axis = normal(six[3:] - (six[3:] @ x_axis) * x_axis, "the y axis of xyaxes, across x,", owner)
        return np.stack([x_axis, y_axis, np.cross(x_axis, y_axis)], axis=1)
    if key == "zaxis":
        return upright(normal(vector(attributes, key, owner), "zaxis", owner))
    R = np.eye(3)
    for letter, angle in zip(units.eulerseq, vector(attributes, key, owner), strict=True):
        turn = np.array(pin.AngleAxis(units.angle(angle), np.eye(3)[_AXES[letter.lower()]]).matrix())
        R = R @ turn if letter.islower() else turn @ R
    return R


def of_quaternion(wxyz: np.ndarray, what: str, owner: str) -> np.ndarray:
    """Return the rotation of a quaternion w, x, y, z, shape (3, 3)."""
    w, x, y, z = normal(wxyz, what, owner)
    return np.array(pin.Quaternion(w, x, y, z).toRotationMatrix())


def upright(z: np.ndarray) -> np.ndarray:
    """Return the smallest rotation that takes the z axis to a unit vector; the x axis is the one for a half turn."""
    axis = np.cross([0.0, 0.0, 1.0], z)
    sine = float(np.linalg.norm(axis))
    axis = np.array([1.0, 0.0, 0.0]) if sine < _LEAST else axis / sine
    return np.array(pin.AngleAxis(math.atan2(sine, z[2]), axis).matrix())


def pose(attributes: Attributes, owner: str, units: Units) -> pin.SE3:
    """Return position and orientation of an element in its parent."""
    return pin.SE3(rotation(attributes, owner, units), vector(attributes, "pos", owner))
