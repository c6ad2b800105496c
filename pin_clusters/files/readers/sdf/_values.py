"""Numbers, flags, names and poses from the text of SDF elements."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ....errors import LoadError
from .._numbers import number, numbers
from .._xml import only_child

LARGE = 1e16  # SDF uses this number for "no limit".


def text_of(element: ET.Element, tag: str, owner: str) -> str:
    child = only_child(element, tag, owner)
    text = "" if child is None else (child.text or "").strip()
    if not text:
        raise LoadError(f"{owner}: <{tag}> is missing or empty. Add it.")
    return text


def value(element: ET.Element, tag: str, default: float, owner: str) -> float:
    child = only_child(element, tag, owner)
    return default if child is None else number(child.text or "", tag, owner)


def values(
    element: ET.Element | None,
    owner: str,
    read: Callable[[ET.Element, str, float, str], float] = value,
    **defaults: float,
) -> list[float]:
    return [x if element is None else read(element, tag, x, owner) for tag, x in defaults.items()]


def limit(element: ET.Element, tag: str, default: float, owner: str) -> float:
    """Read a limit; numbers of at least 1e16 and ``inf`` are infinite."""
    child = only_child(element, tag, owner)
    text = "" if child is None else (child.text or "").strip()
    if not text:
        return default
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return math.copysign(math.inf, -1.0 if text.startswith("-") else 1.0)
    bound = number(text, tag, owner, math.inf)
    return math.copysign(math.inf, bound) if abs(bound) >= LARGE else bound


def flag(element: ET.Element, tag: str, default: bool, owner: str) -> bool:
    child = only_child(element, tag, owner)
    if child is None:
        return default
    text = (child.text or "").strip().lower()
    if text not in ("0", "1", "true", "false"):
        raise LoadError(f"{owner}: <{tag}> must be true or false, got {child.text!r}.")
    return text in ("1", "true")


def placement(element: ET.Element | None, owner: str) -> pin.SE3:
    """Read the numbers of a ``<pose>``; the caller handles ``relative_to``."""
    if element is None or not (element.text or "").strip():
        return pin.SE3.Identity()
    form = element.get("rotation_format", "euler_rpy")
    if form == "quat_xyzw":
        components = np.array(numbers(element.text, "<pose>", owner, 7))
        if not np.any(components[3:]):
            raise LoadError(f"{owner}: the quaternion of <pose> is zero. Write 0 0 0 1 for no rotation.")
        return pin.SE3(
            pin.Quaternion(*(components[[6, 3, 4, 5]] / np.linalg.norm(components[3:]))).matrix(), components[:3]
        )
    if form != "euler_rpy":
        raise LoadError(f"{owner}: rotation_format {form!r} is unknown. Known: euler_rpy, quat_xyzw.")
    components = np.array(numbers(element.text, "<pose>", owner, 6))
    angles = np.radians(components[3:]) if element.get("degrees") in ("true", "1") else components[3:]
    return pin.SE3(pin.rpy.rpyToMatrix(*angles), components[:3])
