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
    """A five-bar in its plane; per side the origin of the crank, and crank and coupler at zero angles."""

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

    With B_1 and B_2 the joints between cranks and couplers, the pin is where the circles about B_1 and B_2 meet. There
    are two equations: x and y of the pin, perpendicular to the axis of the cranks. The lengths are read from the tree.
    The closed form gives the couplers for the cranks.

    Singular poses: both couplers in line (the cranks cannot be independent), a crank in line with its coupler (the
    position of the pin cannot be independent: the border of its workspace), B_1 on B_2.

    Args:
        crank_1: Revolute joint; its axis points to the viewer.
        coupler_1: Revolute joint that hangs from crank 1.
        crank_2: Revolute joint that hangs from the parent body of crank 1.
        coupler_2: Revolute joint that hangs from crank 2.
        closure: Two frames, of which only the origins matter: on coupler 1 and on coupler 2.
        branch: +1: the pin is left of the line from B_1 to B_2; -1: right. The model starts there. A q_reference takes
            precedence, with a warning if it is on another branch.

    Raises:
        ConstraintError: A name, frame or the branch is ill-formed, or a joint is repeated.
    """

    crank_1: str
    coupler_1: str
    crank_2: str
    coupler_2: str
    closure: Any
    _: KW_ONLY
    branch: int = 1

    _tied: ClassVar[str] = "one on the body of each coupler"

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
