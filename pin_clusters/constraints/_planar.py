"""Planar mechanisms; complex numbers represent vectors in the plane of the mechanism.

The plane is perpendicular to the axis of the crank, which points to the viewer, so positive angles are anticlockwise.
A mechanism that is not planar, or whose joints are not in the expected order, raises ``ConstraintError``.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from ..errors import ConstraintError
from ._closed_form import DEAD_CENTRE, ClosedForm
from ._frames import Attachment, frame_pair, line_joint, opening, resolve_frame, smallest_turn
from .closures import Closure, FrameClosure
from .loop import Loop
from .rows import Constraint, store

# Tolerance of angles [rad] and of relative lengths. A file that contains 1.5708 instead of pi/2 has an error of 4e-6;
# an error above this tolerance is not due to rounded digits in the file.
PLANAR_TOLERANCE = 1e-4
# Smallest link length, relative to the longest link; a shorter link is treated as a link of length 0.
SHORTEST = 1e-9


@dataclass(frozen=True, eq=False)
class Link:
    """A body of the mechanism."""

    joint: int  # joint id of the body; 0 is the universe
    sign: float  # +1 or -1, the sense of the joint's rotation about the normal; 0 for ground and slider
    axes: np.ndarray  # axes of the plane at zero coordinates, as columns, expressed in the frame of the joint
    start: complex  # origin of the joint in its parent body, in the plane [m]
    height: float  # position of this origin along the normal [m]
    slide: complex = 0j  # direction of a slider in the plane


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a body; all lengths are in [m]."""

    link: Link
    position: np.ndarray  # in the frame of the body's joint
    flat: complex  # in the plane, relative to the origin of the joint
    height: float  # along the normal, relative to the origin of the ground's joint frame

    @property
    def frame(self) -> pin.SE3:
        """Frame with its origin at this point and the axes of the plane, as a placement in the joint frame."""
        return pin.SE3(self.link.axes, self.position)


class Plane:
    """Reads the bodies of one mechanism and checks that the mechanism is planar."""

    def __init__(self, tree: pin.Model, crank: str, owner: str) -> None:
        self.tree, self.owner = tree, owner
        j, axis = line_joint(tree, crank, owner)
        M = tree.jointPlacements[j]
        axes = smallest_turn(np.array([0.0, 0.0, 1.0]), M.rotation @ axis)
        self.ground = Link(tree.parents[j], 0.0, axes, 0j, 0.0)
        self.crank = self.hinge(self.ground, crank, "crank")

    def hinge(self, parent: Link, name: str, what: str) -> Link:
        """Return the link that a revolute joint moves; raise an error unless its axis is normal to the plane."""
        j, axis = line_joint(self.tree, name, self.owner)
        link = self._link(parent, j, what)
        along = link.axes.T @ axis
        sign = 1.0 if along[2] > 0.0 else -1.0
        tilt = opening(sign * along, np.array([0.0, 0.0, 1.0]))
        if tilt > PLANAR_TOLERANCE:
            raise ConstraintError(
                f"{self.owner}: the axis of joint {self.tree.names[j]!r} ({what}) deviates by {tilt:.2g} rad from the "
                "axis of the crank. A planar mechanism needs parallel axes; for spatial mechanisms use pc.Loop."
            )
        return replace(link, sign=sign)

    def slider(self, parent: Link, name: str) -> Link:
        """Return the link that a prismatic joint moves; raise an error unless its axis is in the plane."""
        j, axis = line_joint(self.tree, name, self.owner, prismatic=True)
        link = self._link(parent, j, "slider")
        along = link.axes.T @ axis
        if abs(along[2]) > PLANAR_TOLERANCE:
            raise ConstraintError(
                f"{self.owner}: slider {self.tree.names[j]!r} leaves the plane of the crank by {abs(along[2]):.2g} "
                "m per m of travel. Its axis must be perpendicular to the crank's axis; otherwise, use pc.Loop."
            )
        return replace(link, slide=complex(along[0], along[1]))

    def _link(self, parent: Link, j: int, what: str) -> Link:
        names = self.tree.names
        if self.tree.parents[j] != parent.joint:
            raise ConstraintError(
                f"{self.owner}: joint {names[j]!r} ({what}) hangs from {names[self.tree.parents[j]]!r}, but it should "
                f"hang from {names[parent.joint]!r}. Check the order of the joints; for other mechanisms use pc.Loop."
            )
        M = self.tree.jointPlacements[j]
        x, y, z = parent.axes.T @ M.translation
        return Link(j, 0.0, M.rotation.T @ parent.axes, complex(x, y), parent.height + float(z))

    def point(self, link: Link, frame: str | Attachment, what: str) -> Point:
        j, placement = resolve_frame(self.tree, frame, self.owner)
        if j != link.joint:
            names = self.tree.names
            raise ConstraintError(
                f"{self.owner}: {what} must be on the body of {names[link.joint]!r}, got a frame on {names[j]!r}."
            )
        position = np.array(placement.translation)
        x, y, z = link.axes.T @ position
        return Point(link, position, complex(x, y), link.height + float(z))

    def check(self, a: Point, b: Point, lengths: dict[str, float]) -> None:
        """Check that no link has length 0, and that both points of the closure lie in the same plane."""
        longest = max(lengths.values())
        for what, length in lengths.items():
            if length <= SHORTEST * longest:
                raise ConstraintError(
                    f"{self.owner}: the {what} has length 0 in the plane of the mechanism. Check the frames of the "
                    "closure, or use pc.Loop."
                )
        gap = abs(a.height - b.height)
        if gap > PLANAR_TOLERANCE * longest:
            raise ConstraintError(
                f"{self.owner}: at every pose, the two frames of the closure are {gap:.3g} m apart along the axis of "
                "the crank. Move one frame along the pin, or use pc.Loop with kind 'cylindrical'."
            )


def circles(b: complex, radius_b: float, d: complex, radius_d: float) -> tuple[complex, ...]:
    """Return the intersections of two circles, if any; the first is left of the line from centre b to centre d."""
    line = d - b
    distance = abs(line)
    if distance == 0.0:
        return ()
    ahead = (distance * distance + (radius_b - radius_d) * (radius_b + radius_d)) / (2.0 * distance)
    square = (radius_b - ahead) * (radius_b + ahead)
    if square < -DEAD_CENTRE * radius_b * radius_b:
        return ()
    across = math.sqrt(max(square, 0.0))
    toward = line / distance
    return tuple(b + toward * complex(ahead, y) for y in ((across, -across) if across else (0.0,)))


@dataclass(frozen=True, eq=False)
class LinkageGeometry:
    """The dimensions of a linkage in its plane."""

    pin: tuple[Point, Point]  # the two points that the pin connects
    joints: tuple[int, ...]  # joint ids, the independent ones first
    branch: int  # assembly mode, +1 or -1

    def solve(self, x: np.ndarray) -> list[np.ndarray]:
        """Return the dependent coordinates of all assemblies for given independent coordinates."""
        raise NotImplementedError


class Linkage(Constraint):
    """Base class of planar linkages: frozen dataclasses with the fields ``closure``, ``branch`` and ``independent``."""

    _tied: ClassVar[str] = "one on each of the two bodies that the pin connects"
    closure: Any
    branch: int
    independent: Any

    def __post_init__(self) -> None:
        self._owner()
        self._check_joints()
        closure = frame_pair(self.closure, self.label, self._tied)
        store(self, closure=closure, branch=check_branch(self.branch, self.label))

    def geometry(self, tree: pin.Model) -> LinkageGeometry:
        """Return the dimensions of the linkage in ``tree``; raise the same errors as ``closures``."""
        raise NotImplementedError

    def closures(self, tree: pin.Model) -> list[Closure]:
        """Return the two position equations of the pin [m]; raise ``ConstraintError`` if the linkage is not planar."""
        a, b = self.geometry(tree).pin
        labels = f"{self.label}: x", f"{self.label}: y"
        ends = a.link.joint, a.frame, b.link.joint, b.frame
        return [FrameClosure(self, labels, ("m", "m"), *ends, "none", np.eye(6)[:2])]

    def closed_form(self, tree: pin.Model) -> ClosedForm:
        """Return the dependent coordinates as functions of the independent ones; there are at most two assemblies."""
        geometry, count = self.geometry(tree), len(self.independent)
        return ClosedForm(geometry.joints[:count], geometry.joints[count:], geometry.solve)

    def generic(self, tree: pin.Model) -> list[Loop]:
        """Return an equivalent ``Loop`` for the pin, for comparison."""
        a, b = ((tree.names[p.link.joint], p.frame) for p in self.geometry(tree).pin)
        return [Loop(a, b, "revolute", axis=(0.0, 0.0, 1.0), name=f"generic {self.label}")]


def check_branch(value: object, owner: str) -> int:
    if isinstance(value, bool) or value not in (1, -1):
        raise ConstraintError(f"{owner}: branch must be +1 or -1 (the two assembly modes), got {value!r}.")
    return 1 if value == 1 else -1
