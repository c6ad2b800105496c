"""A coupling by a polynomial, to which no function of the user belongs."""

from __future__ import annotations

from collections.abc import Callable
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
        numbers = (*(tuple(x.tolist()) for x in (a, b, start)), self.coefficients)
        phi, jacobian, hessian, third = _compiled(*numbers) if kernels.JIT else _in_python(*numbers)
        return Coupling(names, phi, jacobian, self.independent, 1, self.name, hessian, third)


Numbers = tuple[float, ...]


@lru_cache(maxsize=256)
def _compiled(a: Numbers, b: Numbers, start: Numbers, c: Numbers) -> list[Any]:
    """Return the polynomial and three derivatives as compiled functions."""
    import numba

    return [numba.cfunc("void(CPointer(float64), CPointer(float64))")(f) for f in _formulas(a, b, start, c)]


def _in_python(a: Numbers, b: Numbers, start: Numbers, c: Numbers) -> list[Any]:
    """Return the same as functions of arrays."""

    def function(x: np.ndarray, formula: Callable[..., None], order: int) -> np.ndarray:
        out = np.zeros((1, *(len(a),) * order))
        formula(x, out.reshape(-1))
        return out

    return [partial(function, formula=f, order=order) for order, f in enumerate(_formulas(a, b, start, c))]


def _formulas(a: Numbers, b: Numbers, start: Numbers, c: Numbers) -> list[Callable[..., None]]:
    """Return the polynomial and three derivatives, which write to ``out``; their numbers are constants in them."""
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

        return function

    return [make(order) for order in range(4)]
