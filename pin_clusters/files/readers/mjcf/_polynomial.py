"""A coupling by a polynomial, to which no function of the user belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pinocchio as pin

from ...._engine import entry_points as kernels
from ....constraints import Coupling
from ....constraints._frames import coordinate_joint
from ....constraints._harmonics import Angle, harmonic_closure, linear
from ....constraints.closures import Closure
from ....constraints.rows import Constraint

MOST_PRODUCTS = 3
"""Terms of the kernels have so many factors: polynomials of this degree need no function."""
Terms = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class PolynomialCoupling(Constraint):
    """sum(left * x) = c0 + c1 s + ... + c4 s^4 with s = sum(right * x), x from the pose of the file.

    Up to the third degree the kernels know it; of the fourth it is a compiled function. Pickles as its numbers.

    Args:
        left: Coefficients by joint.
        right: The same, of what leads.
        coefficients: c0 first.
        zeros: Coordinate of each joint in the pose of the file.
        name: For messages.
    """

    left: Terms
    right: Terms
    coefficients: tuple[float, ...]
    zeros: Terms
    name: str

    @property
    def independent(self) -> tuple[str, ...]:
        """What leads; without a linear term the other way round has no solution at zero."""
        return tuple(name for name, _ in self.right) if len(self.left) == 1 else ()

    def closures(self, tree: pin.Model) -> list[Closure]:
        """Return the equation with the names resolved in ``tree``."""
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
        functions: Sequence[Any] = [partial(f, a=a, b=b, c=np.array(self.coefficients), start=start) for f in _FORMULAS]
        if kernels.JIT:
            key = (*(tuple(x.tolist()) for x in (a, b, start)), self.coefficients)
            functions = _compiled(*key)
        phi, jacobian, hessian, third = functions
        return Coupling(names, phi, jacobian, self.independent, 1, self.name, hessian, third)


def _value(x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, start: np.ndarray) -> np.ndarray:
    y = x - start
    return np.array([a @ y - np.polynomial.polynomial.polyval(b @ y, c)])


def _derivative(
    x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, start: np.ndarray, order: int = 1
) -> np.ndarray:
    p = -np.polynomial.polynomial.polyval(b @ (x - start), np.polynomial.polynomial.polyder(c, order))
    outer = b
    for _ in range(order - 1):
        outer = np.multiply.outer(outer, b)
    return np.asarray([p * outer + (a if order == 1 else 0.0)])


_FORMULAS = (_value, _derivative, partial(_derivative, order=2), partial(_derivative, order=3))


@lru_cache(maxsize=256)
def _compiled(
    a: tuple[float, ...], b: tuple[float, ...], start: tuple[float, ...], c: tuple[float, ...]
) -> tuple[Any, ...]:
    """Return the polynomial and three derivatives as compiled functions; their numbers are constants in them."""
    import numba

    n = len(a)
    signature = "void(CPointer(float64), CPointer(float64))"
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
            if order == 0:
                out[0] = linear - p
            elif order == 1:
                for i in range(n):
                    out[i] = a[i] - p * b[i]
            elif order == 2:
                for i in range(n):
                    for j in range(n):
                        out[i * n + j] = -p * b[i] * b[j]
            else:
                for i in range(n):
                    for j in range(n):
                        for k in range(n):
                            out[(i * n + j) * n + k] = -p * b[i] * b[j] * b[k]

        return numba.cfunc(signature)(function)

    return tuple(make(order) for order in range(4))
