"""Joint and tendon equalities: find the locked joints, and couple the remaining joints."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pinocchio as pin

from ...._support.arrays import in_order
from ....compiler import entry_points as kernels
from ....constraints import Coupling, Gear, LinearCoupling
from ....constraints._frames import coordinate_joint
from ....constraints._harmonics import Angle, harmonic_closure, linear
from ....constraints.closures import Closure
from ....constraints.rows import Constraint
from ....errors import LoadError
from ._bodies import Joint
from ._equalities import Equation

MOST_PRODUCTS = 3
"""Largest number of factors in a term of a ``HarmonicClosure``, and hence the highest degree of a polynomial."""
SAME = 1e-9
"""Largest difference, [rad] or [m], between the values at which two equalities lock a joint."""
Terms = tuple[tuple[str, float], ...]


def resolve(equations: Sequence[Equation]) -> tuple[list[Equation], dict[str, float]]:
    """Eliminate locked joints; return the remaining equations, and the displacements of locked joints by name."""
    waiting = list(equations)
    locked: dict[str, float] = {}
    moved = True
    while moved:
        moved, remaining = False, []
        for equation in waiting:
            equation = _without(equation, locked)
            total = {**equation.left}
            if len(equation.coefficients) <= 2:
                slope = equation.coefficients[1] if len(equation.coefficients) > 1 else 0.0
                for name, c in equation.right.items():
                    total[name] = total.get(name, 0.0) - slope * c
            elif not equation.left:
                raise LoadError(
                    f"{equation.owner}: another equality locks its dependent joint, and a polynomial of degree "
                    f"{len(equation.coefficients) - 1} does not determine the other joints uniquely. Remove the "
                    "polynomial, or lock the other joints directly."
                )
            else:
                remaining.append(equation)
                continue
            total = {name: c for name, c in total.items() if c != 0.0}
            constant = equation.coefficients[0]
            if len(total) > 1:
                remaining.append(Equation(equation.name, total, {}, (constant,)))
            elif total:
                ((name, c),) = total.items()
                locked[name] = constant / c
                moved = True
            elif abs(constant) > SAME:
                raise LoadError(
                    f"{equation.owner} contradicts the other equalities, which lock its joints: its residual is "
                    f"{constant:.3g}. Remove one of these equalities."
                )
        waiting = remaining
    return waiting, locked


def _without(equation: Equation, locked: Mapping[str, float]) -> Equation:
    if not any(name in locked for name in (*equation.left, *equation.right)):
        return equation
    left_terms = {n: c for n, c in equation.left.items() if n not in locked}
    right = {n: c for n, c in equation.right.items() if n not in locked}
    held = [in_order(c * locked[n] for n, c in side.items() if n in locked) for side in (equation.left, equation.right)]
    # Write p(y + c) as a polynomial in y, where c is the sum over the locked joints.
    shifted = np.polynomial.Polynomial(equation.coefficients)(np.polynomial.Polynomial([held[1], 1.0]))
    coefficients = [float(c) for c in np.atleast_1d(shifted.coef)]
    coefficients[0] -= held[0]
    if not right:
        coefficients = coefficients[:1]
    return Equation(equation.name, left_terms, right, tuple(coefficients))


def couplings(
    equations: Sequence[Equation],
    joints: Mapping[str, Joint],
    leading: Sequence[str],
    independent: Collection[str] = (),
    round_: Collection[str] = (),
) -> list[tuple[str, Any]]:
    """Build a coupling for each equation, together with the label of its ``<equality>``.

    Each linear equation determines a joint that no other equation determines: preferably the rotor of a motor, or else
    a joint without a motor. A joint in both ``leading`` and ``round_`` counts as the rotor of a motor if it is the
    fastest joint of the equation, or the equation's only joint in ``round_``.

    Args:
        leading: Names of joints that are preferred as independent joints.
        independent: Names of joints that the caller requires as independent joints.
        round_: Names of joints whose bodies have the inertia of a rotor.
    """

    def readiness(name: str) -> int:
        return 0 if name in independent else 3 if geared(name) else 1 if name in leading else 2

    def geared(name: str) -> bool:
        other_joints = [n for n in c if n != name]
        faster = in_order(abs(c[n] / c[name]) for n in other_joints) > 1.0 or not set(other_joints) & set(round_)
        return name in leading and name in round_ and faster

    built: list[tuple[str, Any]] = []
    followers = {next(iter(e.left)): e.owner for e in equations if len(e.coefficients) > 2 and len(e.left) == 1}
    groups = {name: {name} for name in joints}  # maps each joint to the joints coupled to it by equations of two joints
    for equation in sorted(equations, key=lambda e: len(e.coefficients) <= 2):
        names = list(dict.fromkeys([*equation.left, *equation.right]))
        if len(equation.coefficients) > 2:
            zeros = tuple((name, joints[name].ref) for name in names)
            lhs, rhs = tuple(equation.left.items()), tuple(equation.right.items())
            built.append((equation.owner, PolynomialCoupling(lhs, rhs, equation.coefficients, zeros, equation.name)))
            continue
        open_ones = [n for n in names if n not in followers]
        if not open_ones or (len(names) == 2 and groups[names[0]] is groups[names[1]]):
            raise LoadError(
                f"{equation.owner}: other equalities already couple the joints {', '.join(map(repr, names))}, so this "
                "equality is redundant or contradicts them. Remove one of these equalities."
            )
        c = equation.left
        first = max(open_ones, key=readiness)
        followers[first] = equation.owner
        if len(names) == 2:
            union = groups[names[0]] | groups[names[1]]
            for name in union:
                groups[name] = union
        share = {n: -c[n] / c[first] for n in names if n != first}
        offset = equation.coefficients[0] / c[first] + joints[first].ref
        offset -= in_order(k * joints[n].ref for n, k in share.items())
        link, *further = share
        gear = readiness(first) == 3 and not further
        tie = Gear(link, first, share[link], offset) if gear else LinearCoupling(first, share, offset)
        built.append((equation.owner, tie))
    return built


@dataclass(frozen=True)
class PolynomialCoupling(Constraint):
    """Equation sum(left * x) = c0 + c1 s + ... + c4 s^4, s = sum(right * x); x are displacements from the file's pose.

    A ``HarmonicClosure`` represents degrees up to 3, a ``Coupling`` degree 4. A pickle contains only the fields.
    """

    left: Terms  # coefficients by joint
    right: Terms  # coefficients of the independent side, by joint
    coefficients: tuple[float, ...]  # coefficients of the polynomial, c0 first
    zeros: Terms  # coordinate of each joint in the pose of the file, [rad] or [m]
    name: str  # name for messages

    @property
    def independent(self) -> tuple[str, ...]:
        """Joints of the right side, because the inverse of the polynomial has no derivative at 0 if c1 is 0."""
        return tuple(name for name, _ in self.right) if len(self.left) == 1 else ()

    def closures(self, tree: pin.Model) -> list[Closure]:
        names = list(dict.fromkeys([n for n, _ in (*self.left, *self.right)]))
        zero = dict(self.zeros)
        a, b = (np.array([dict(side).get(n, 0.0) for n in names]) for side in (self.left, self.right))
        start = np.array([zero[n] for n in names])
        if len(self.coefficients) - 1 > MOST_PRODUCTS:
            return list(self._function(tuple(names), a, b, start).closures(tree))
        joints = tuple(coordinate_joint(tree, n, self.label) for n in names)
        s = linear(Angle(tuple(b.tolist()), -float(b @ start)))
        row = linear(Angle(tuple(a.tolist()), -float(a @ start)))
        power: Any = 1.0
        for k, c in enumerate(self.coefficients):
            power = s * power if k else power
            row = row - c * power
        unit = "m" if "P" in tree.joints[joints[0]].shortname() else "rad"
        return [harmonic_closure(self, joints, [row], [f"{self.label}: polynomial"], [unit])]

    def _function(self, names: tuple[str, ...], a: np.ndarray, b: np.ndarray, start: np.ndarray) -> Coupling:
        numbers = (*(tuple(x.tolist()) for x in (a, b, start)), self.coefficients)
        phi, jacobian, hessian, third = _compiled(*numbers) if kernels.JIT else _in_python(*numbers)
        return Coupling(names, phi, jacobian, self.independent, 1, self.name, hessian, third)


Numbers = tuple[float, ...]


@lru_cache(maxsize=256)
def _compiled(a: Numbers, b: Numbers, start: Numbers, c: Numbers) -> list[Any]:
    import numba

    return [numba.cfunc("void(CPointer(float64), CPointer(float64))")(f) for f in _formulas(a, b, start, c)]


def _in_python(a: Numbers, b: Numbers, start: Numbers, c: Numbers) -> list[Any]:

    def function(x: np.ndarray, formula: Callable[..., None], order: int) -> np.ndarray:
        out = np.zeros((1, *(len(a),) * order))
        formula(x, out.reshape(-1))
        return out

    return [partial(function, formula=f, order=order) for order, f in enumerate(_formulas(a, b, start, c))]


def _formulas(a: Numbers, b: Numbers, start: Numbers, c: Numbers) -> list[Callable[..., None]]:
    """Build functions that write the equation's error, or one of its first three derivatives, to ``out``."""
    n = len(a)
    tables = [np.polynomial.polynomial.polyder(np.array(c), k) for k in range(4)]

    def make(order: int) -> Any:
        coefficients = tuple(float(k) for k in tables[order])

        def function(x: Any, out: Any) -> None:
            s, linear = 0.0, 0.0
            for i in range(n):
                s += b[i] * (x[i] - start[i])
                linear += a[i] * (x[i] - start[i])
            p = 0.0
            for i in range(len(coefficients)):
                p = p * s + coefficients[len(coefficients) - 1 - i]
            for k in range(n**order):  # The digits of k in base n are the indices of one entry of the derivative.
                product = p
                for digit in range(order):
                    product *= b[k // n ** (order - 1 - digit) % n]
                out[k] = -product
                if order == 0:
                    out[k] += linear
                elif order == 1:
                    out[k] += a[k]

        return function

    return [make(order) for order in range(4)]
