"""Check the numbers in links and joints for invalid values that Pinocchio would silently ignore or misread."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from ..._support.trees import unit
from ...errors import InertiaError, LoadError
from ._notes import Notes
from ._numbers import number, numbers
from ._trees import UNLIMITED
from ._xml import Description, only_child

# Axes whose length differs more from 1 are normalised and reported; smaller errors are due to rounding in files.
AXIS_TOLERANCE = 1e-6
# The tolerance is relative to the largest principal moment. Values below INERTIA_NOISE [kg m^2] count as 0.
INERTIA_TOLERANCE = 1e-9
INERTIA_NOISE = 1e-15
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
UNREAL = (
    "no real body has the inertia of these links (one principal moment exceeds the sum of the other two): {}. The "
    "inertia is used without correction."
)
STRETCHED_JOINTS, STRETCHED_LOOPS = (
    f"the axes of these {what} do not have unit length and are normalised: {{}}." for what in ("joints", "loops")
)


def check_numbers(description: Description, notes: Notes) -> None:
    """Check every number that enters the dynamics; normalise axes in place, and add notes about unphysical inertias."""
    notes.about([name for name, link in description.links.items() if _breaks_triangle(link, f"link {name!r}")], UNREAL)
    stretched = [name for name, joint in description.joints.items() if _check_joint(joint, f"joint {name!r}")]
    notes.about(stretched, STRETCHED_JOINTS)


def _breaks_triangle(link: ET.Element, owner: str) -> bool:
    inertial = only_child(link, "inertial", owner)
    if inertial is None:
        return False
    read_origin(inertial, owner)
    mass, moments = read_inertia(inertial, owner)
    if mass < 0.0:
        raise InertiaError(f"{owner}: the mass is {mass:g} kg; it must not be negative.")
    cure = (
        "Correct the inertia (often the signs of ixy, ixz, iyz are wrong). To use the inertia without correction, read "
        "the file with Pinocchio and pass the pin.Model to ClusterModel."
    )
    return is_unreal(moments, owner, cure)


def read_inertia(inertial: ET.Element, owner: str) -> tuple[float, np.ndarray]:
    """Read ``<inertial>``: the mass [kg] and the inertia about the centre of mass, shape (3, 3), [kg m^2]."""
    mass, inertia = (only_child(inertial, tag, owner) for tag in ("mass", "inertia"))
    if mass is None or inertia is None:
        lost = "mass" if mass is None else "inertia"
        raise LoadError(f"{owner}: <inertial> has no <{lost}>. Add it.")
    return number(mass.get("value"), "the mass", owner), symmetric(
        number(inertia.get(key), f"inertia {key}", owner) for key in MOMENTS
    )


def symmetric(moments: Iterable[float]) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def is_unreal(moments: np.ndarray, owner: str, cure: str) -> bool:
    """Return whether the principal moments violate the triangle inequality; raise an error for negative moments."""
    low, middle, high = np.linalg.eigvalsh(moments)
    slack = INERTIA_TOLERANCE * max(abs(low), abs(high)) + INERTIA_NOISE
    if low < -slack:
        raise InertiaError(
            f"{owner}: the inertia is not positive semidefinite (principal moments {low:.3g}, {middle:.3g}, "
            f"{high:.3g} kg m^2). {cure}"
        )
    return bool(high > low + middle + slack)


def read_origin(element: ET.Element, owner: str) -> tuple[tuple[float, ...], ...]:
    """Read xyz [m] and rpy [rad] of ``<origin>``; missing values are zero."""
    origin = only_child(element, "origin", owner)
    attributes = {} if origin is None else origin.attrib
    return tuple(numbers(attributes.get(a, "0 0 0"), f"origin {a}", owner, 3) for a in ("xyz", "rpy"))


def placed(element: ET.Element, owner: str) -> pin.SE3:
    xyz, rpy = read_origin(element, owner)
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))


def _check_joint(joint: ET.Element, owner: str) -> bool:
    kind = joint.get("type")
    read_origin(joint, owner)
    limit = only_child(joint, "limit", owner)
    if kind in ("revolute", "prismatic") and (limit is None or not {"effort", "velocity"} <= set(limit.attrib)):
        raise LoadError(
            f'{owner}: a {kind} joint needs <limit lower="..." upper="..." effort="..." velocity="..."/>. Add it'
            + (", or make the joint continuous." if kind == "revolute" else ".")
        )
    if limit is not None:
        for attribute in ("lower", "upper", "effort", "velocity"):
            number(limit.get(attribute, "0"), f"limit {attribute}", owner, UNLIMITED)
    element = only_child(joint, "axis", owner)
    if element is None or kind in ("fixed", "floating"):
        return False
    return normalise_axis(element, owner)


def normalise_axis(element: ET.Element, owner: str) -> bool:
    text = element.get("xyz")
    if text is None:
        raise LoadError(f'{owner}: <axis> has no xyz. Write <axis xyz="0 0 1"/>.')
    components = numbers(text, "the axis", owner, 3)
    axis = unit(components)
    if axis is None:
        raise LoadError(f"{owner}: the axis is zero. Specify a direction, such as 0 0 1.")
    if abs(math.hypot(*components) - 1.0) <= AXIS_TOLERANCE:
        return False
    element.set("xyz", " ".join(map(repr, axis.tolist())))
    return True


def unwind(joint: ET.Element) -> None:
    """Convert a continuous joint (coordinates cos and sin) to a revolute joint without limits (coordinate: angle)."""
    limit = joint.find("limit")
    if limit is None:
        limit = ET.SubElement(joint, "limit")
    unlimited = repr(UNLIMITED)
    limit.attrib = {"effort": unlimited, "velocity": unlimited} | limit.attrib
    limit.attrib |= {"lower": f"-{unlimited}", "upper": unlimited}
    joint.set("type", "revolute")
