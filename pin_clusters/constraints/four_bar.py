"""Planar four-bar linkages in closed form."""

import cmath
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ._closed_form import wrap
from ._planar import Linkage, LinkageGeometry, Plane, circles
from .rows import joint_id


@dataclass(frozen=True, eq=False)
class FourBarGeometry(LinkageGeometry):
    """Dimensions [m] of a four-bar in its plane.

    Three vectors describe the links at zero angles: crank l1 (crank joint to coupler joint), coupler l2 (coupler joint
    to its pin) and rocker l3 (rocker joint to its pin). In the parallel shape, the rocker joint is on the ground at d.
    In the serial shape, the rocker is a child of the coupler, and its pin is on the ground at d.
    """

    signs: tuple[float, float]
    serial: bool
    origin: complex
    l1: complex
    l2: complex
    l3: complex
    d: complex

    def solve(self, x: np.ndarray) -> list[np.ndarray]:
        crank = float(x[0])
        b = self.origin + self.l1 * cmath.rect(1.0, crank)
        assemblies = []
        for c in circles(b, abs(self.l2), self.d, abs(self.l3)):
            coupler = cmath.phase((c - b) / self.l2) - crank
            if self.serial:
                rocker = cmath.phase((self.d - c) / self.l3) - crank - coupler
            else:
                rocker = cmath.phase((c - self.d) / self.l3)
            assemblies.append(np.array([wrap(self.signs[0] * coupler), wrap(self.signs[1] * rocker)]))
        return assemblies[:: self.branch]


@dataclass(frozen=True)
class FourBar(Linkage):
    """A planar four-bar linkage; its lengths are read from the tree.

    There are two shapes:

    - Parallel: crank and rocker have the same parent body (the ground of the linkage), the coupler is a child of the
      crank, and the closure pins the coupler to the rocker.
    - Serial: crank, coupler and rocker form a chain, and the closure pins the rocker to the parent body of the crank.

    Let B be the joint between crank and coupler, C the joint between coupler and rocker, and D the joint between rocker
    and ground. C is at an intersection of the circles about B and D. There are two equations, one for each coordinate
    of the pin in the plane. (A revolute ``Loop`` has three more equations, which a planar linkage always satisfies.)

    Singular poses: If B, C and D are in line (dead centre), the crank cannot be independent. If the shortest and the
    longest link together are as long as the other two links, all four joints can be in line. At this bifurcation
    (change point), the two assembly modes meet, and no joint can be independent. For a parallelogram, use
    ``pc.Differential.parallelogram``, which is not singular at its change points.

    Args:
        crank: Revolute or continuous joint; the preferred independent joint.
        coupler: Revolute joint whose parent body is the crank.
        rocker: Revolute joint whose parent body is the parent body of the crank, or the coupler.
        closure: Two frames that the pin connects. Parallel: one on the coupler, one on the rocker. Serial: one on the
            rocker, one on the parent body of the crank. Only the origins of the frames matter.
        branch: Assembly mode: +1 if C is left of the line from B to D, seen with the crank axis towards the viewer, -1
            if it is right. The model starts in this mode. If q_reference is in the other mode, q_reference takes
            precedence over ``branch``, and a warning is emitted.
        name: Name in messages; by default composed of the joint names.

    Raises:
        ConstraintError: A name, frame or the branch is invalid, or a joint is repeated.

    Example:
        >>> import pin_clusters as pc
        >>> pc.FourBar("crank", "coupler", "rocker", (("coupler", [0.3, 0, 0]), ("rocker", [0.2, 0, 0]))).independent
        ('crank',)
    """

    crank: str
    coupler: str
    rocker: str
    closure: Any
    branch: int = 1
    name: str | None = None

    @property
    def independent(self) -> tuple[str, ...]:
        """The name of the preferred independent joint, in a tuple."""
        return (self.crank,)

    def geometry(self, tree: pin.Model) -> FourBarGeometry:
        plane = Plane(tree, self.crank, self.label)
        crank = plane.crank
        coupler = plane.hinge(crank, self.coupler, "coupler")
        serial = tree.parents[joint_id(tree, self.rocker, self.label)] == coupler.joint
        rocker = plane.hinge(coupler if serial else plane.ground, self.rocker, "rocker")
        a = plane.point(rocker if serial else coupler, self.closure[0], "closure[0]")
        b = plane.point(plane.ground if serial else rocker, self.closure[1], "closure[1]")
        l1, l2 = coupler.start, rocker.start if serial else a.flat
        l3, d = (a.flat, b.flat) if serial else (b.flat, rocker.start)
        lengths = {"crank": abs(l1), "coupler": abs(l2), "rocker": abs(l3), "ground link": abs(d - crank.start)}
        plane.check(a, b, lengths)
        joints = (crank.joint, coupler.joint, rocker.joint)
        signs = (coupler.sign, rocker.sign)
        return FourBarGeometry((a, b), joints, self.branch, signs, serial, crank.start, l1, l2, l3, d)
