"""What implicit constraints are made of: closures, whose rows are zero when a mechanism is assembled.

A constraint of the user makes closures for one tree; topology, assembly and packing read nothing else. Closures on
bodies (frames, rods) are evaluated from poses, closures on joints from the joints' coordinates.
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
    """Rows of equations phi(q) = 0.

    Attributes:
        source: The constraint that the user wrote; ``source.label`` names it.
        labels: One per row, for messages: what the row says.
        units: One per row: ``"m"``, ``"rad"`` or ``""``.
    """

    source: Any
    labels: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Ids of the joints that move what it ties."""
        raise NotImplementedError


class BodyClosure(Closure):
    """Rows between two bodies, evaluated from their poses; made from subclasses only.

    Attributes:
        joint_a: Joint id of body a; 0 is the universe.
        joint_b: Joint id of body b.
    """

    joint_a: int
    joint_b: int

    @property
    def bodies(self) -> tuple[int, int]:
        """Joint ids of both bodies."""
        return self.joint_a, self.joint_b

    @property
    def ends(self) -> tuple[tuple[int, Any], tuple[int, Any]]:
        """Joint id of each body, with what is on it: a frame or a point."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FrameClosure(BodyClosure):
    """Two frames that form a joint.

    With t the position of frame b in the axes of frame a, and e their rotation, the rows are ``rows @ [t; e]``. Both
    frames are turned so that the axis of the joint is their z axis. ``rotation`` says what e is:

    - ``"none"``: 0;
    - ``"full"``: log3(R_a' R_b);
    - ``"axis"``: the shortest rotation vector that takes z of a to z of b, in axes of a (its z component is 0);
    - ``"universal"``: (0, 0, asin(z_a . x_b)).

    Attributes:
        joint_a: Joint id of the body of frame a; 0 is the universe.
        placement_a: Frame a in the frame of joint a.
        joint_b: Joint id of the body of frame b.
        placement_b: Frame b in the frame of joint b.
        rotation: See above.
        rows: Shape (size, 6), linear part first.
    """

    joint_a: int
    placement_a: pin.SE3
    joint_b: int
    placement_b: pin.SE3
    rotation: str
    rows: np.ndarray

    @property
    def ends(self) -> tuple[tuple[int, pin.SE3], tuple[int, pin.SE3]]:
        """Joint id and placement of each frame."""
        return (self.joint_a, self.placement_a), (self.joint_b, self.placement_b)


@dataclass(frozen=True, eq=False)
class RodClosure(BodyClosure):
    """A constant distance between two points: |b - a| - length, one row.

    Attributes:
        joint_a: Joint id of the body of point a; 0 is the universe.
        point_a: In the frame of joint a, shape (3,).
        joint_b: Joint id of the body of point b.
        point_b: In the frame of joint b, shape (3,).
        length: [m]; None until the reference pose gives it.
        mass: [kg].
        centre: From point a, along the rod, [m]; None: the rod is slender.
        moment: Of inertia about the centre, across the rod, [kg m^2].
    """

    joint_a: int
    point_a: np.ndarray
    joint_b: int
    point_b: np.ndarray
    length: float | None
    mass: float
    centre: float | None = None
    moment: float = 0.0

    @property
    def point_masses(self) -> tuple[float, float, float]:
        """What moves as the rod does, [kg]: masses at point a, in the middle and at point b.

        The velocity is linear along the rod, so that three moments of the mass count: of a slender one Simpson's rule
        has them.
        """
        m = self.mass
        if self.centre is None:
            return m / 6.0, 2.0 / 3.0 * m, m / 6.0
        assert self.length is not None
        first, second = m * self.centre / self.length, (self.moment + m * self.centre**2) / self.length**2
        return m - 3.0 * first + 2.0 * second, 4.0 * (first - second), 2.0 * second - first

    @property
    def masses_of_ends(self) -> tuple[tuple[int, np.ndarray, float], ...]:
        """Joint id, place and point mass of each end."""
        at_a, _, at_b = self.point_masses
        return (self.joint_a, self.point_a, at_a), (self.joint_b, self.point_b, at_b)

    @property
    def ends(self) -> tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]:
        """Joint id and place of each point."""
        return (self.joint_a, self.point_a), (self.joint_b, self.point_b)


@dataclass(frozen=True, eq=False)
class JointClosure(Closure):
    """Equations between the coordinates of joints of one degree of freedom; made from subclasses only.

    Attributes:
        joints: Joint ids, in the order of the coordinates.
    """

    joints: tuple[int, ...]

    @property
    def bodies(self) -> tuple[int, ...]:
        """Its joints."""
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
"""Factors of a harmonic term: sin(angle), cos(angle), the angle itself."""


@dataclass(frozen=True, eq=False)
class HarmonicClosure(JointClosure):
    """Rows that are sums of products of sines, cosines and powers of linear combinations of coordinates.

    ``angle_p = weights[p] @ x + phases[p]``; row i is the sum over its terms of ``coefficient * f1 * f2 * f3``, each
    factor one of SIN, COS, LINEAR of one angle. All rigid linkages of joints are of this form.

    Attributes:
        weights: Shape (angles, joints).
        phases: Shape (angles,), [rad].
        terms: Per row: ``(coefficient, ((factor, angle), ...))`` with none to three factors.
    """

    weights: np.ndarray
    phases: np.ndarray
    terms: tuple[tuple[tuple[float, tuple[tuple[int, int], ...]], ...], ...]

    def _factors(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, first and second derivative of each factor, shape (factors, angles)."""
        angle = self.weights @ np.asarray(x, dtype=float) + self.phases
        s, c, one = np.sin(angle), np.cos(angle), np.ones_like(angle)
        return np.array([s, c, angle]), np.array([c, -s, one]), np.array([-s, -c, 0.0 * one])

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return phi, shape (size,)."""
        f, _, _ = self._factors(x)
        return np.array(
            [in_order(c * math.prod(f[key] for key in factors) for c, factors in row) for row in self.terms]
        )

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return d phi / d x, shape (size, joints)."""
        f, df, _ = self._factors(x)
        J = np.zeros((self.size, len(self.joints)))
        for i, row in enumerate(self.terms):
            for c, factors in row:
                for k, key in enumerate(factors):
                    rest = math.prod(f[other] for n, other in enumerate(factors) if n != k)
                    J[i] += c * rest * df[key] * self.weights[key[1]]
        return J

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return the second derivatives, shape (size, joints, joints)."""
        f, df, ddf = self._factors(x)
        H = np.zeros((self.size, len(self.joints), len(self.joints)))
        for i, row in enumerate(self.terms):
            for c, factors in row:
                for (k, a), (l, b) in itertools.product(enumerate(factors), repeat=2):
                    rest = math.prod(f[other] for n, other in enumerate(factors) if n not in (k, l))
                    both = ddf[a] if k == l else df[a] * df[b]
                    H[i] += c * rest * both * np.outer(self.weights[a[1]], self.weights[b[1]])
        return H


def path_of(tree: pin.Model, closure: Closure) -> set[int]:
    """Return the joints between what a closure ties, up to their nearest common ancestor."""
    return between(tree, closure.bodies, closure.joints if isinstance(closure, JointClosure) else ())


def touched(tree: pin.Model, closures: Iterable[Closure]) -> set[int]:
    """Return the joints on which closures depend."""
    found: set[int] = set()
    for closure in closures:
        if isinstance(closure, JointClosure):
            found |= set(closure.joints)
        elif isinstance(closure, BodyClosure):
            # joints above both bodies move them as one
            found |= set(tree.supports[closure.joint_a]) ^ set(tree.supports[closure.joint_b])
    return found


def massive(closures: Iterable[Closure]) -> list[RodClosure]:
    """Return the rods that have mass."""
    return [c for c in closures if isinstance(c, RodClosure) and c.mass > 0.0]


def lumps_of(
    tree: pin.Model, closures: Iterable[Closure]
) -> list[tuple[float, tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]], int]]:
    """Return the masses of rods that no body has: mass, two points that it is midway between, joint that carries both.

    By Simpson's rule, which is exact: two thirds in the middle, a sixth at each end. Bodies have the ends but those on
    the universe.
    """
    found = []
    for rod in massive(closures):
        found.append((rod.point_masses[1], rod.ends, common_ancestor(tree, rod.bodies)))
        found += [(mass, ((j, p), (j, p)), 0) for j, p, mass in rod.masses_of_ends if not j]
    return found
