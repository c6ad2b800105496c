"""Elements of MJCF with typed attributes: numbers, booleans and poses."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ....errors import LoadError, did_you_mean
from ._schema import ACTUATORS, ATTRIBUTES, LOOSE, MAIN
from ._shortcuts import merged


def check_attributes(element: ET.Element, kind: str, owner: str) -> None:
    attributes = ATTRIBUTES[kind]
    for key in element.attrib:
        if key not in attributes:
            raise LoadError(
                f"{owner}: unknown attribute {key!r} of <{element.tag}>; ignoring it could change the "
                f"dynamics.{did_you_mean(key, sorted(attributes))} Correct or remove it."
            )


def check_tag(element: ET.Element, known: Iterable[str], parent: str) -> None:
    if element.tag not in known:
        raise LoadError(f"{parent}: unknown element <{element.tag}>.{did_you_mean(str(element.tag), sorted(known))}")


ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_LEAST = 1e-10  # Shorter vectors have no direction.
_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Units:
    radian: bool = False
    eulerseq: str = "xyz"

    def angle(self, value: float) -> float:
        return value if self.radian else math.radians(value)


class Element:
    """An element with a ``pose`` and with a value for each attribute that ``ATTRIBUTES`` lists for its type.

    A value is parsed on first access, which raises ``LoadError`` if the text is invalid. ``given`` contains the
    attributes as text, including those of the element's default class; ``owner`` is the label for messages.
    """

    def __init__(self, kind: str, given: Mapping[str, str], owner: str, units: Units) -> None:
        self.kind, self.given, self.owner, self.units = kind, given, owner, units

    def __contains__(self, key: str) -> bool:
        return key in self.given

    def __getattr__(self, key: str) -> Any:
        if key == "pose":
            value: Any = pin.SE3(*_place(self))
        else:
            its_type, text = ATTRIBUTES[self.kind].get(key), self.given.get(key)
            if its_type is None:
                raise AttributeError(key)
            value = its_type.default if text is None else its_type.read(text, key, self.owner)
        setattr(self, key, value)
        return value

    def limits(self, key: str, switch: str, autolimits: bool, needed: bool = True) -> tuple[float, float] | None:
        """Return a range if it is active, else None; if ``autolimits`` is True, ranges are active by default."""
        bounds, on = getattr(self, key), getattr(self, switch)
        if on == "false" or (on == "auto" and (bounds is None or not autolimits)):
            return None
        if bounds is None and needed:
            raise LoadError(f"{self.owner}: {switch} is true, but {key} is missing. Add it.")
        return bounds


class Elements:
    """Factory of elements; ``classes`` contains the defaults by class and element, including inherited defaults."""

    def __init__(self) -> None:
        self.units = Units()
        self.classes: dict[str, dict[str, dict[str, str]]] = {MAIN: {}}

    def read_defaults(self, root: ET.Element) -> None:
        classes = self.classes
        stack: list[tuple[ET.Element, str | None]] = [(e, None) for e in root.findall("default")[::-1]]
        while stack:
            element, parent = stack.pop()
            name = element.get("class") or (MAIN if parent is None else "")
            if not name:
                raise LoadError(f"default: a class within class {parent!r} has no name. Write <default class=...>.")
            if parent is None and name != MAIN:
                classes[name] = classes[MAIN]  # The outermost class may have a name other than main.
            if parent is not None and name in classes:
                raise LoadError(f"default: class {name!r} is defined twice. Rename one of them.")
            tags = classes[name] if parent is None else {tag: dict(values) for tag, values in classes[parent].items()}
            classes[name] = tags
            inner = []
            for child in element:
                if child.tag == "default":
                    inner.append((child, name))
                    continue
                tag, owner = "actuator" if child.tag in ACTUATORS else child.tag, f"default class {name!r}"
                if tag in ("joint", "geom"):
                    check_attributes(child, tag, owner)
                tags[tag] = merged(tag, child, tags.get(tag, {}), owner)
            stack.extend(inner[::-1])

    def plain(self, element: ET.Element, kind: str, owner: str) -> Element:
        """Build an element of a type that has no default classes; raise an error for unknown attributes."""
        check_attributes(element, kind, owner)
        return Element(kind, element.attrib, owner, self.units)

    def of(
        self, element: ET.Element, kind: str, owner: str, childclass: str | None = None, defaults: str = ""
    ) -> Element:
        """Build an element with the defaults of its class for the tag ``defaults``, or ``kind`` if this is empty."""
        if kind not in LOOSE:
            check_attributes(element, kind, owner)
        own_class = element.get("class")
        class_name = own_class or childclass or MAIN
        defaults_by_tag = self.classes.get(class_name)
        if defaults_by_tag is None:
            attribute = "class" if own_class else "childclass"
            raise LoadError(f"{owner}: unknown {attribute} {class_name!r}.{did_you_mean(class_name, self.classes)}")
        inherited = defaults_by_tag.get(defaults or kind, {})
        if any(key in element.attrib for key in ORIENTATIONS):
            inherited = {key: text for key, text in inherited.items() if key not in ORIENTATIONS}
        return Element(kind, merged(kind, element, inherited, owner), owner, self.units)


def normal(v: np.ndarray, what: str, owner: str) -> np.ndarray:
    length = float(np.linalg.norm(v))
    if length < _LEAST:
        raise LoadError(f"{owner}: {what} has no direction: its length is {length:g}.")
    return v / length


def _place(element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Compute the orientation, shape (3, 3), and position of an element in its parent; ``fromto`` overrides both."""
    owner, units = element.owner, element.units
    orientations = [key for key in ORIENTATIONS[1:] if key in element]
    if "fromto" in element:
        if element.kind == "site" and (conflicting := [key for key in orientations if key != "zaxis"]):
            raise LoadError(f"{owner}: fromto and {conflicting[0]} both define its orientation. Keep one.")
        along = element.fromto[:3] - element.fromto[3:]
        return upright(normal(along, "zaxis", owner)), 0.5 * (element.fromto[:3] + element.fromto[3:])
    if len(orientations) > 1:
        raise LoadError(f"{owner}: {' and '.join(orientations)} both define its orientation. Keep one.")
    key = orientations[0] if orientations else "quat"
    value = getattr(element, key)
    return (np.eye(3) if value is None else _rotation(key, value, owner, units)), element.pos


def _rotation(key: str, found: np.ndarray, owner: str, units: Units) -> np.ndarray:
    if key == "quat":
        return of_quaternion(found, "quat", owner)
    if key == "axisangle":
        return np.array(pin.AngleAxis(units.angle(found[3]), normal(found[:3], "axisangle", owner)).matrix())
    if key == "xyaxes":
        x_axis = normal(found[:3], "the x axis of xyaxes", owner)
        y_axis = normal(found[3:] - (found[3:] @ x_axis) * x_axis, "the y axis of xyaxes, perpendicular to x,", owner)
        return np.stack([x_axis, y_axis, np.cross(x_axis, y_axis)], axis=1)
    if key == "zaxis":
        return upright(normal(found, "zaxis", owner))
    R = np.eye(3)
    for letter, angle in zip(units.eulerseq, found, strict=True):
        turn = np.array(pin.AngleAxis(units.angle(angle), np.eye(3)[_AXES[letter.lower()]]).matrix())
        R = R @ turn if letter.islower() else turn @ R
    return R


def of_quaternion(wxyz: np.ndarray, what: str, owner: str) -> np.ndarray:
    w, x, y, z = normal(wxyz, what, owner)
    return np.array(pin.Quaternion(w, x, y, z).toRotationMatrix())


def upright(z: np.ndarray) -> np.ndarray:
    """Compute the smallest rotation from the z axis to a unit vector; for -z, a half turn about the x axis."""
    axis = np.cross([0.0, 0.0, 1.0], z)
    sine = float(np.linalg.norm(axis))
    axis = np.array([1.0, 0.0, 0.0]) if sine < _LEAST else axis / sine
    return np.array(pin.AngleAxis(math.atan2(sine, z[2]), axis).matrix())
