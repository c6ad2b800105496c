"""Closure that a ``Coupling`` creates from the user's function and its available derivatives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.trees import floats
from ..errors import ConstraintError
from ._functions import OUTER, call_compiled, central_differences, first_difference, second_difference
from .closures import JointClosure


class FunctionFailedError(ConstraintError):
    """A user's function raised an exception, for example outside its domain."""


ORDERS = ("phi", "the Jacobian of phi", "the Hessian of phi", "the third derivative of phi")


@dataclass(frozen=True, eq=False)
class CallableClosure(JointClosure):
    """Closure defined by a user's function of joint coordinates; finite differences replace missing derivatives.

    Item k of ``functions`` or ``addresses`` is the function that computes the derivatives of order k. They have the
    shape (size, joints, ..., joints), where ``joints`` is repeated k times.
    """

    functions: tuple[Callable[[np.ndarray], Any] | None, ...]  # Python callables of x, or None; all None if compiled
    steps: np.ndarray  # steps of the finite differences that replace missing derivatives, shape (joints,)
    # addresses of compiled functions ``void f(const double* x, double* out)``, row-major; 0 if missing
    addresses: tuple[int, ...] = (0, 0, 0, 0)
    keep: Any = None  # objects that must live as long as the addresses

    def knows(self, order: int) -> bool:
        return bool(self.addresses[order]) or self.functions[order] is not None

    def given(self, order: int, x: np.ndarray) -> np.ndarray:
        """Evaluate the user's derivative of this order, which must exist; raise ``FunctionFailedError`` on failure."""
        shape = (self.size,) + order * (len(self.joints),)
        function = self.functions[order]
        if function is None:
            return call_compiled(self.addresses[order], x, shape)
        return self._call(function, x, shape, ORDERS[order])

    def value(self, x: np.ndarray) -> np.ndarray:
        return self.given(0, x)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        if self.knows(1):
            return self.given(1, x)
        return central_differences(self.value, np.array(x, dtype=float), self.steps)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        if self.knows(2):
            return self.given(2, x)
        steps = self.steps if self.knows(1) else OUTER * self.steps
        H = central_differences(self.jacobian, np.array(x, dtype=float), steps)
        return 0.5 * (H + H.transpose(0, 2, 1))

    def second_along(self, x: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the second derivative of the Jacobian along a direction, shape (size, joints)."""
        size = float(np.linalg.norm(direction / self.steps))
        if size == 0.0:
            return np.zeros((self.size, len(self.joints)))
        if self.knows(3):
            return self.given(3, x) @ direction @ direction
        if self.knows(2):
            return first_difference(lambda s: self.given(2, x + s * direction) @ direction, 1.0 / size)
        return second_difference(lambda s: self.jacobian(x + s * direction), 1.0 / size)

    def _call(self, function: Callable[[np.ndarray], Any], x: np.ndarray, shape: tuple[int, ...], what: str) -> Any:
        try:
            result = function(np.array(x, dtype=float))
        except Exception as error:  # a user's function may raise any exception
            raise FunctionFailedError(
                f"{self.source.label}: {what} raised {type(error).__name__} ({error}) at {np.asarray(x).tolist()}. "
                "The function must be defined at all poses of the mechanism; elsewhere it may return NaN or raise."
            ) from error
        out = floats(result)
        if out is not None and out.ndim == 0:  # a function with a single equation may return a number
            out = out.reshape(1)
        if out is None or out.shape != shape:
            returned = type(result).__name__ if out is None else f"an array of shape {out.shape}"
            raise ConstraintError(f"{self.source.label}: {what} must return {shape} numbers, got {returned}.")
        return out
