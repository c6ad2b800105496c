"""Planar slider-cranks in closed form."""

import cmath
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ._closed_form import DEAD_CENTRE, wrap
from ._planar import Linkage, LinkageGeometry, Plane


@dataclass(frozen=True, eq=False)
class SliderCrankGeometry(LinkageGeometry):
    """Dimensions [m]: l1 (crank) and l2 (coupler) at zero angles; the slider's pin is at e + u x for position x."""

    sign: float
    origin: complex
    l1: complex
    l2: complex
    e: complex
    u: complex

    def solve(self, x: np.ndarray) -> list[np.ndarray]:
        crank = float(x[0])
        b = self.origin + self.l1 * cmath.rect(1.0, crank)
        # Dividing all vectors by u makes the slider's pin move along the real axis.
        start = (self.e - b) / self.u
        length = abs(self.l2) / abs(self.u)
        square = (length - start.imag) * (length + start.imag)
        if square < -DEAD_CENTRE * length * length:
            return []
        half = math.sqrt(max(square, 0.0))
        assemblies = []
        for reach in (half, -half) if half else (0.0,):
            coupler = cmath.phase(complex(reach, start.imag) * self.u / self.l2) - crank
            assemblies.append(np.array([wrap(self.sign * coupler), reach - start.real]))
        return assemblies[:: self.branch]


@dataclass(frozen=True)
class SliderCrank(Linkage):
    """A planar slider-crank; its lengths are read from the tree.

    Crank and slider have the same parent body, the coupler is a child of the crank, and the closure pins the coupler to
    the slider. Let B be the joint between crank and coupler. The pin is at an intersection of the circle about B with
    the line of the slider. There are two equations, one for each coordinate of the pin in the plane of the linkage.

    Singular poses: If the coupler is perpendicular to the line of the slider, the crank cannot be independent. This
    pose does not exist if the coupler is longer than the crank plus the distance of the crank's joint from the line of
    the slider. If crank and coupler are in line, the slider cannot be independent.

    Args:
        crank: Revolute or continuous joint; the preferred independent joint.
        coupler: Revolute joint whose parent body is the crank.
        slider: Prismatic joint with the same parent body as the crank.
        closure: A frame on the coupler and a frame on the slider; only their origins matter.
        branch: Assembly mode: +1 if the pin is ahead of B in the direction of the slider (the larger coordinate), -1 if
            it is behind. The model starts in this mode. If q_reference is in the other mode, q_reference takes
            precedence over ``branch``, and a warning is emitted.
        name: Name in messages; by default composed of the joint names.

    Raises:
        ConstraintError: A name, frame or the branch is invalid, or a joint is repeated.

    Example:
        >>> import pin_clusters as pc
        >>> pc.SliderCrank("crank", "rod", "piston", (("rod", [0.15, 0, 0]), "piston")).label
        "SliderCrank('crank', 'rod', 'piston')"
    """

    crank: str
    coupler: str
    slider: str
    closure: Any
    branch: int = 1
    name: str | None = None

    @property
    def independent(self) -> tuple[str, ...]:
        """The name of the preferred independent joint, in a tuple."""
        return (self.crank,)

    def geometry(self, tree: pin.Model) -> SliderCrankGeometry:
        plane = Plane(tree, self.crank, self.label)
        coupler = plane.hinge(plane.crank, self.coupler, "coupler")
        slider = plane.slider(plane.ground, self.slider)
        a = plane.point(coupler, self.closure[0], "closure[0]")
        b = plane.point(slider, self.closure[1], "closure[1]")
        plane.check(a, b, {"crank": abs(coupler.start), "coupler": abs(a.flat)})
        joints = (plane.crank.joint, coupler.joint, slider.joint)
        lengths = (plane.crank.start, coupler.start, a.flat, slider.start + b.flat, slider.slide)
        return SliderCrankGeometry((a, b), joints, self.branch, coupler.sign, *lengths)
