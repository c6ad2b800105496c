"""Closures: the constraint equations of loops, which are satisfied (zero) if the mechanism is assembled.

A constraint creates its closures for one tree; the rest of the package uses only these closures. Closures between
bodies (frames, rods) are evaluated from body poses; closures between joints are evaluated from joint coordinates.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import in_order
from .._support.trees import between, common_ancestor


@dataclass(frozen=True, eq=False)
class Closure:
    """Equations phi(q) = 0 of one constraint.

    A new type of closure derives from ``BodyClosure`` or ``JointClosure`` and implements the properties of this class.
    It also needs evaluators and kernels, which docs/add-a-mechanism.md describes.
    """

    source: Any  # the constraint that the user wrote; ``source.label`` names it in messages
    labels: tuple[str, ...]  # name of each equation, for messages
    units: tuple[str, ...]  # unit of each equation: ``"m"``, ``"rad"`` or ``""``

    @property
    def size(self) -> int:
        """Number of equations."""
        return len(self.labels)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Joint ids of the bodies that the equations constrain."""
        raise NotImplementedError


class BodyClosure(Closure):
    """Equations between two bodies, evaluated from their poses; an abstract class."""

    joint_a: int
    joint_b: int

    @property
    def bodies(self) -> tuple[int, int]:
        return self.joint_a, self.joint_b

    @property
    def ends(self) -> tuple[tuple[int, Any], tuple[int, Any]]:
        """Joint id of each body, and the frame or point on this body."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FrameClosure(BodyClosure):
    """Constraint that two frames are connected by a joint, such as a revolute joint.

    Let t be the position of frame b relative to frame a, in the axes of frame a, and e the relative rotation. The
    equations are ``rows @ [t; e] = 0``. The z axis of both frames is the joint axis. ``rotation`` selects e:

    - ``"none"``: 0;
    - ``"full"``: log3(R_a' R_b);
    - ``"axis"``: the shortest rotation vector that maps z of a to z of b, in the axes of a (its z component is 0);
    - ``"universal"``: (0, 0, asin(z_a . x_b)).
    """

    joint_a: int
    placement_a: pin.SE3  # frame a in the frame of joint a
    joint_b: int
    placement_b: pin.SE3  # frame b in the frame of joint b
    rotation: str  # "none", "full", "axis" or "universal"
    rows: np.ndarray  # shape (size, 6), linear part first

    @property
    def ends(self) -> tuple[tuple[int, pin.SE3], tuple[int, pin.SE3]]:
        return (self.joint_a, self.placement_a), (self.joint_b, self.placement_b)


@dataclass(frozen=True, eq=False)
class RodClosure(BodyClosure):
    """A constant distance between two points: |b - a| - length = 0, one equation."""

    joint_a: int
    point_a: np.ndarray  # in the frame of joint a, shape (3,), [m]
    joint_b: int
    point_b: np.ndarray  # in the frame of joint b, shape (3,), [m]
    length: float | None  # [m]; None until the reference pose determines it
    mass: float  # [kg]
    centre: float | None = None  # distance of the centre of mass from point a, [m]; None for a slender rod
    moment: float = 0.0  # transverse moment of inertia about the centre of mass, [kg m^2]

    @property
    def point_masses(self) -> tuple[float, float, float]:
        """Masses [kg] of three points (a, the midpoint, b) that together have the same inertia as the rod.

        The velocity varies linearly along the rod. Therefore the mass and the first and second moments of the mass
        distribution along the rod determine the kinetic energy. For a slender rod, Simpson's rule gives the masses.
        """
        m = self.mass
        if self.centre is None:
            return m / 6.0, 2.0 / 3.0 * m, m / 6.0
        assert self.length is not None
        first, second = m * self.centre / self.length, (self.moment + m * self.centre**2) / self.length**2
        return m - 3.0 * first + 2.0 * second, 4.0 * (first - second), 2.0 * second - first

    @property
    def masses_of_ends(self) -> tuple[tuple[int, np.ndarray, float], ...]:
        """Joint id, position and point mass of each end of the rod."""
        at_a, _, at_b = self.point_masses
        return (self.joint_a, self.point_a, at_a), (self.joint_b, self.point_b, at_b)

    @property
    def ends(self) -> tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]:
        return (self.joint_a, self.point_a), (self.joint_b, self.point_b)


@dataclass(frozen=True, eq=False)
class JointClosure(Closure):
    """Equations between the coordinates of joints with one degree of freedom; an abstract class."""

    joints: tuple[int, ...]  # joint ids, in the order of the coordinates

    @property
    def bodies(self) -> tuple[int, ...]:
        return self.joints

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return phi, shape (size,), for coordinates of shape (joints,)."""
        raise NotImplementedError

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return d phi / d x, shape (size, joints)."""
        raise NotImplementedError

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return the second derivatives, shape (size, joints, joints)."""
        raise NotImplementedError


SIN, COS, LINEAR = 0, 1, 2
"""Types of factors of a harmonic term: sin(angle), cos(angle), and the angle itself."""


@dataclass(frozen=True, eq=False)
class HarmonicClosure(JointClosure):
    """Equations that are sums of products; the factors are angles, or sines and cosines of angles.

    Angles are linear in the coordinates: ``angle_p = weights[p] @ x + phases[p]``. Equation i is a sum of terms
    ``coefficient * f1 * f2 * f3``. Each factor is the sine (SIN), the cosine (COS) or the value (LINEAR) of one angle.
    """

    weights: np.ndarray  # shape (angles, joints)
    phases: np.ndarray  # shape (angles,), [rad]
    terms: tuple[
        tuple[tuple[float, tuple[tuple[int, int], ...]], ...], ...
    ]  # terms of each equation: (coefficient, ((factor, angle), ...))

    def _factors(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values, first and second derivatives of SIN, COS and LINEAR at the angles, shape (3, angles) each."""
        angle = self.weights @ np.asarray(x, dtype=float) + self.phases
        s, c, ones = np.sin(angle), np.cos(angle), np.ones_like(angle)
        return np.array([s, c, angle]), np.array([c, -s, ones]), np.array([-s, -c, 0.0 * ones])

    def value(self, x: np.ndarray) -> np.ndarray:
        f, _, _ = self._factors(x)
        return np.array(
            [in_order(c * math.prod(f[key] for key in factors) for c, factors in row) for row in self.terms]
        )

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        f, df, _ = self._factors(x)
        J = np.zeros((self.size, len(self.joints)))
        for i, row in enumerate(self.terms):
            for c, factors in row:
                for k, key in enumerate(factors):
                    cofactor = math.prod(f[factor] for n, factor in enumerate(factors) if n != k)
                    J[i] += c * cofactor * df[key] * self.weights[key[1]]
        return J

    def hessian(self, x: np.ndarray) -> np.ndarray:
        f, df, ddf = self._factors(x)
        H = np.zeros((self.size, len(self.joints), len(self.joints)))
        for i, row in enumerate(self.terms):
            for c, factors in row:
                for (k, a), (l, b) in itertools.product(enumerate(factors), repeat=2):
                    cofactor = math.prod(f[factor] for n, factor in enumerate(factors) if n not in (k, l))
                    second = ddf[a] if k == l else df[a] * df[b]
                    H[i] += c * cofactor * second * np.outer(self.weights[a[1]], self.weights[b[1]])
        return H


def path_of(tree: pin.Model, closure: Closure) -> set[int]:
    return between(tree, closure.bodies, closure.joints if isinstance(closure, JointClosure) else ())


def touched(tree: pin.Model, closures: Iterable[Closure]) -> set[int]:
    joints: set[int] = set()
    for closure in closures:
        if isinstance(closure, JointClosure):
            joints |= set(closure.joints)
        elif isinstance(closure, BodyClosure):
            # Joints that move both bodies do not change the relative pose of the bodies.
            joints |= set(tree.supports[closure.joint_a]) ^ set(tree.supports[closure.joint_b])
    return joints


def massive(closures: Iterable[Closure]) -> list[RodClosure]:
    return [c for c in closures if isinstance(c, RodClosure) and c.mass > 0.0]


def lumps_of(
    tree: pin.Model, closures: Iterable[Closure]
) -> list[tuple[float, tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]], int]]:
    """Return the rods' point masses that no body's inertia includes: (mass, two points, common ancestor of the points).

    Each mass is midway between its two points. The list contains the masses at the rods' midpoints, and at those
    rod ends that are on the universe; the inertias of the bodies include the masses at all other rod ends.
    """
    lumps = []
    for rod in massive(closures):
        lumps.append((rod.point_masses[1], rod.ends, common_ancestor(tree, rod.bodies)))
        lumps += [(mass, ((j, p), (j, p)), 0) for j, p, mass in rod.masses_of_ends if not j]
    return lumps
