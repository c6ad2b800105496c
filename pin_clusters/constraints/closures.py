"""Closures: the constraint equations of loops, which are zero when a mechanism is assembled.

A constraint builds its closures for one tree; topology, assembly and packing use only these. Closures on bodies
(frames, rods) are evaluated from poses, closures on joints from the coordinates of the joints.
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

    A new kind of closure derives from ``BodyClosure`` or ``JointClosure`` and implements their properties. See
    docs/add-a-mechanism.md for the evaluators and kernels that it needs in addition.

    Attributes:
        source: The constraint that the user wrote; ``source.label`` names it in messages.
        labels: Name of each equation, for messages.
        units: Unit of each equation: ``"m"``, ``"rad"`` or ``""``.
    """

    source: Any
    labels: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of equations."""
        return len(self.labels)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Ids of the joints that move the bodies of the equations."""
        raise NotImplementedError


class BodyClosure(Closure):
    """Equations between two bodies, evaluated from their poses; an abstract class.

    Attributes:
        joint_a: Joint id of body a; 0 is the universe.
        joint_b: Joint id of body b.
    """

    joint_a: int
    joint_b: int

    @property
    def bodies(self) -> tuple[int, int]:
        return self.joint_a, self.joint_b

    @property
    def ends(self) -> tuple[tuple[int, Any], tuple[int, Any]]:
        """Joint id of each body, with the frame or point on it."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FrameClosure(BodyClosure):
    """Two frames that form a joint.

    With t the position of frame b in the axes of frame a, and e their relative rotation, the equations are
    ``rows @ [t; e] = 0``. Both frames are rotated so that the axis of the joint is their z axis. ``rotation`` selects
    e:

    - ``"none"``: 0;
    - ``"full"``: log3(R_a' R_b);
    - ``"axis"``: the shortest rotation vector that maps z of a to z of b, in axes of a (its z component is 0);
    - ``"universal"``: (0, 0, asin(z_a . x_b)).

    Attributes:
        joint_a: Joint id of the body of frame a; 0 is the universe.
        placement_a: Frame a in the frame of joint a.
        joint_b: Joint id of the body of frame b.
        placement_b: Frame b in the frame of joint b.
        rotation: One of the texts above.
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
        return (self.joint_a, self.placement_a), (self.joint_b, self.placement_b)


@dataclass(frozen=True, eq=False)
class RodClosure(BodyClosure):
    """A constant distance between two points: |b - a| - length = 0, one equation.

    Attributes:
        joint_a: Joint id of the body of point a; 0 is the universe.
        point_a: In the frame of joint a, shape (3,), [m].
        joint_b: Joint id of the body of point b.
        point_b: In the frame of joint b, shape (3,), [m].
        length: [m]; None until the reference pose determines it.
        mass: [kg].
        centre: Distance of the centre of mass from point a, [m]; None for a slender rod.
        moment: Transverse moment of inertia about the centre, [kg m^2].
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
        """Point masses with the inertia of the rod, [kg]: at point a, at the midpoint and at point b.

        The velocity is linear along a rod, so that three moments of its mass determine the inertia; for a slender rod,
        Simpson's rule gives the masses.
        """
        m = self.mass
        if self.centre is None:
            return m / 6.0, 2.0 / 3.0 * m, m / 6.0
        assert self.length is not None
        first, second = m * self.centre / self.length, (self.moment + m * self.centre**2) / self.length**2
        return m - 3.0 * first + 2.0 * second, 4.0 * (first - second), 2.0 * second - first

    @property
    def masses_of_ends(self) -> tuple[tuple[int, np.ndarray, float], ...]:
        """Joint id, position and point mass of each end."""
        at_a, _, at_b = self.point_masses
        return (self.joint_a, self.point_a, at_a), (self.joint_b, self.point_b, at_b)

    @property
    def ends(self) -> tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]]:
        return (self.joint_a, self.point_a), (self.joint_b, self.point_b)


@dataclass(frozen=True, eq=False)
class JointClosure(Closure):
    """Equations between the coordinates of joints of one degree of freedom; an abstract class.

    Attributes:
        joints: Joint ids, in the order of the coordinates.
    """

    joints: tuple[int, ...]

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
"""Factors of a harmonic term: sin(angle), cos(angle), the angle itself."""


@dataclass(frozen=True, eq=False)
class HarmonicClosure(JointClosure):
    """Equations that are sums of products of sines, cosines and powers of linear combinations of coordinates.

    ``angle_p = weights[p] @ x + phases[p]``. Row i is the sum over its terms of ``coefficient * f1 * f2 * f3``, where
    each factor is SIN, COS or LINEAR of one angle. All rigid linkages have this form.

    Attributes:
        weights: Shape (angles, joints).
        phases: Shape (angles,), [rad].
        terms: Per row: ``(coefficient, ((factor, angle), ...))`` with up to three factors.
    """

    weights: np.ndarray
    phases: np.ndarray
    terms: tuple[tuple[tuple[float, tuple[tuple[int, int], ...]], ...], ...]

    def _factors(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, first and second derivative of each factor, shape (factors, angles)."""
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
    """Return the joints between the bodies of a closure, up to their nearest common ancestor."""
    return between(tree, closure.bodies, closure.joints if isinstance(closure, JointClosure) else ())


def touched(tree: pin.Model, closures: Iterable[Closure]) -> set[int]:
    joints: set[int] = set()
    for closure in closures:
        if isinstance(closure, JointClosure):
            joints |= set(closure.joints)
        elif isinstance(closure, BodyClosure):
            # Joints above both bodies do not change their relative pose.
            joints |= set(tree.supports[closure.joint_a]) ^ set(tree.supports[closure.joint_b])
    return joints


def massive(closures: Iterable[Closure]) -> list[RodClosure]:
    return [c for c in closures if isinstance(c, RodClosure) and c.mass > 0.0]


def lumps_of(
    tree: pin.Model, closures: Iterable[Closure]
) -> list[tuple[float, tuple[tuple[int, np.ndarray], tuple[int, np.ndarray]], int]]:
    """Return the point masses of rods that no body contains: mass, two points, and the joint that carries both.

    The mass is midway between the two points. Bodies contain the end masses, except at ends on the universe.
    """
    lumps = []
    for rod in massive(closures):
        lumps.append((rod.point_masses[1], rod.ends, common_ancestor(tree, rod.bodies)))
        lumps += [(mass, ((j, p), (j, p)), 0) for j, p, mass in rod.masses_of_ends if not j]
    return lumps
