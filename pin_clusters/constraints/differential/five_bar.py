"""The planar five-bar linkage."""

import cmath
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from .._closed_form import wrap
from .._planar import Linkage, LinkageGeometry, Plane, circles
from ._base import Differential


@dataclass(frozen=True, eq=False)
class FiveBarGeometry(LinkageGeometry):
    """Dimensions [m] of a five-bar in its plane: crank origins, and vectors of cranks and couplers at zero angles."""

    signs: tuple[float, float, float]
    origins: tuple[complex, complex]
    cranks: tuple[complex, complex]
    couplers: tuple[complex, complex]

    def solve(self, x: np.ndarray) -> list[np.ndarray]:
        turned = (float(x[0]), self.signs[0] * float(x[1]))
        b, d = (o + c * cmath.rect(1.0, t) for o, c, t in zip(self.origins, self.cranks, turned, strict=True))
        assemblies = []
        for c in circles(b, abs(self.couplers[0]), d, abs(self.couplers[1])):
            first = cmath.phase((c - b) / self.couplers[0]) - turned[0]
            second = cmath.phase((c - d) / self.couplers[1]) - turned[1]
            assemblies.append(np.array([wrap(self.signs[1] * first), wrap(self.signs[2] * second)]))
        return assemblies[:: self.branch]


@dataclass(frozen=True)
class FiveBar(Linkage, Differential, mechanism="five_bar", independent=("crank_1", "crank_2")):
    """A planar five-bar: two cranks on one body, a coupler on each, and a pin between the couplers.

    Let B_1 and B_2 be the joints between cranks and couplers. The pin is at an intersection of the circles about B_1
    and B_2. There are two equations, one for each coordinate of the pin in the plane of the linkage. The lengths are
    read from the tree. In closed form, the coupler angles are functions of the crank angles.

    Singular poses: If the two couplers are in line, the cranks cannot be independent. If a crank is in line with its
    coupler (at the border of the workspace), the position of the pin cannot be independent. Poses in which B_1 and B_2
    coincide are also singular.

    Args:
        crank_1: Revolute joint; "left" and "right" below assume that its axis points to the viewer.
        coupler_1: Revolute joint whose parent body is crank 1.
        crank_2: Revolute joint with the same parent body as crank 1.
        coupler_2: Revolute joint whose parent body is crank 2.
        closure: A frame on coupler 1 and a frame on coupler 2; only their origins matter.
        branch: Assembly mode: +1 if the pin is left of the line from B_1 to B_2, -1 if it is right. The model starts in
            this mode. If q_reference is in the other mode, q_reference takes precedence, and a warning is emitted.

    Raises:
        ConstraintError: A name, frame or the branch is invalid, or a joint is repeated.
    """

    crank_1: str
    coupler_1: str
    crank_2: str
    coupler_2: str
    closure: Any
    _: KW_ONLY
    branch: int = 1

    _tied: ClassVar[str] = "one on each coupler"

    def geometry(self, tree: pin.Model) -> FiveBarGeometry:
        plane = Plane(tree, self.crank_1, self.label)
        crank_1, crank_2 = plane.crank, plane.hinge(plane.ground, self.crank_2, "crank_2")
        coupler_1 = plane.hinge(crank_1, self.coupler_1, "coupler_1")
        coupler_2 = plane.hinge(crank_2, self.coupler_2, "coupler_2")
        a = plane.point(coupler_1, self.closure[0], "closure[0]")
        b = plane.point(coupler_2, self.closure[1], "closure[1]")
        cranks, couplers = (coupler_1.start, coupler_2.start), (a.flat, b.flat)
        names = ("crank 1", "crank 2", "coupler 1", "coupler 2")
        plane.check(a, b, dict(zip(names, map(abs, cranks + couplers), strict=True)))
        joints = (crank_1.joint, crank_2.joint, coupler_1.joint, coupler_2.joint)
        signs, origins = (crank_2.sign, coupler_1.sign, coupler_2.sign), (crank_1.start, crank_2.start)
        return FiveBarGeometry((a, b), joints, self.branch, signs, origins, cranks, couplers)
