"""Couplings by user-defined functions of joint coordinates."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.arrays import whole_number
from .._support.trees import floats, joint_subspace
from ..errors import ConstraintError, PinClustersWarning, shown
from ._frames import coordinate_joint
from .called import CallableClosure
from .rows import Constraint, name_of, store

from ._functions import ANGLE_STEP, LENGTH_STEP, ComplexStep, address_of, call_compiled  # isort: skip
from ._functions import central_differences, function_defect, picklable, restored  # isort: skip

# A derivative is accepted if it differs from finite differences by less than this value, relative to the largest entry.
# For a smooth phi, finite differences have a smaller error. The error is largest for "third", whose check
# may difference finite differences again.
TOLERANCES = {"jacobian": 1e-4, "hessian": 1e-4, "third": 1e-2}
BELOW = {"jacobian": "phi", "hessian": "its Jacobian", "third": "its Hessian"}
COMPLEX_TOLERANCE = 1e-6
_warned_slow = False


@dataclass(frozen=True)
class Coupling(Constraint):
    """Equations ``phi(x) = 0`` between joints with one degree of freedom, for a user-defined function phi.

    The joints and all joints on the paths between them form one cluster.

    There are two types of ``phi``:

    - A Python callable, ``phi(x) -> (m,)`` for x of shape (joints,). It is called from Python at each state, which is
      slow; a warning is emitted once per process. To pickle the model, phi must be defined at the top level of a
      module (or be a ``functools.partial`` of such a function).
    - A compiled function: ``numba.cfunc`` of signature ``void(CPointer(float64), CPointer(float64))``, or a ctypes
      function pointer ``void phi(const double *x, double *out)``. Such a function requires ``size``.

    Missing derivatives are computed as follows:

    - First derivatives use complex steps, accurate to rounding, if phi is a Python function that accepts complex
      numbers (no abs, no comparison). Otherwise they use eighth-order central differences with steps of 0.02 rad or
      1 mm. The error is about 1e-13 for sines of angles, and larger if phi varies strongly within 0.5 rad or 2 cm.
    - Second derivatives are eighth-order differences of the Jacobian. Their error is about 1e-13 if the Jacobian is
      given, otherwise 1e-12. Only velocity terms use second derivatives.
    - Third derivatives are differences of the Hessian if it is given (error about 1e-12), otherwise second differences
      of the Jacobian (1e-10 if given, else 1e-8). Only derivatives of dynamics with respect to q use them.

    Args:
        joints: Names of revolute, prismatic or helical joints (or their bodies), in the order of x.
        phi: Function of x, see above. The entries of x are in [rad] or [m]; the equations may have any unit.
        jacobian: Derivative of phi, ``x -> (m, joints)``; a Python or compiled function (row-major), like phi.
        independent: Preferred independent joints.
        size: Number of equations m; required for a compiled phi.
        name: Name in messages; by default composed of the joint names.
        hessian: Second derivative of phi, ``x -> (m, joints, joints)``; a Python or compiled function, like phi.
        third: Third derivative, ``x -> (m, joints, joints, joints)``; a Python or compiled function, like phi.

    Raises:
        ConstraintError: A name is repeated or is not a string, phi or a derivative cannot be called or has the wrong
            signature, or size is missing or wrong.

    Example:
        >>> import pin_clusters as pc
        >>> import numpy as np
        >>> def cam(x):
        ...     return np.array([x[1] - 0.1 * np.sin(x[0])])
        >>> pc.Coupling(["shaft", "lever"], cam, independent=["shaft"]).label
        "Coupling('shaft', 'lever')"
    """

    joints: Sequence[str]
    phi: Any
    jacobian: Any = None
    independent: Sequence[str] = ()
    size: int | None = None
    name: str | None = None
    hessian: Any = None
    third: Any = None

    def __post_init__(self) -> None:
        owner = self._owner()
        if isinstance(self.joints, str) or not isinstance(self.joints, Sequence) or not self.joints:
            raise ConstraintError(f"{owner}: joints must be a list of joint names, got {shown(self.joints)}.")
        store(self, joints=tuple(name_of(j, "joints", owner) for j in self.joints))
        owner = self.label
        for j in self.joints:
            if self.joints.count(j) > 1:
                raise ConstraintError(f"{owner}: joint {j!r} is listed twice. List it once; phi may reuse it.")
        if not isinstance(self.independent, Iterable):
            raise ConstraintError(f"{owner}: independent must be a list of joint names, got {shown(self.independent)}.")
        listed = (self.independent,) if isinstance(self.independent, str) else tuple(self.independent)
        listed = tuple(name_of(j, "independent", owner) for j in listed)
        for j in listed:
            if j not in self.joints:
                raise ConstraintError(
                    f"{owner}: independent joint {j!r} is not among its joints {', '.join(map(repr, self.joints))}."
                )
        store(self, independent=listed)
        self._check_functions(owner)

    @property
    def _functions(self) -> dict[str, Any]:
        """Phi and its derivatives by argument name, in increasing order of differentiation."""
        return {"phi": self.phi, "jacobian": self.jacobian, "hessian": self.hessian, "third": self.third}

    def _check_functions(self, owner: str) -> None:
        for what, function in self._functions.items():
            defect = "" if function is None and what != "phi" else function_defect(function)
            if defect:
                raise ConstraintError(
                    f"{owner}: {what} {defect}. Use a Python function of one array, a numba.cfunc "
                    "void(CPointer(float64), CPointer(float64)), or a ctypes pointer void(const double*, double*)."
                )
            if function is not None and bool(address_of(function)) != bool(address_of(self.phi)):
                raise ConstraintError(
                    f"{owner}: phi and {what} must both be compiled, or both be Python functions. Compile both."
                )
        if self.size is not None:
            whole_number(f"{owner}: size", self.size, 1, ConstraintError, " of equations")
        elif address_of(self.phi):
            raise ConstraintError(f"{owner}: a compiled phi needs the number of its equations. Specify size=.")

    def _parts(self) -> Sequence[str]:
        return self.joints

    def __reduce__(self) -> tuple[Any, ...]:
        functions = {what: picklable(f, self.label) for what, f in self._functions.items()}
        return _rebuild, (self.joints, functions, self.independent, self.size, self.name)

    def __copy__(self) -> "Coupling":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Coupling":
        """Return self: the object is immutable, and lambdas cannot be copied."""
        return self

    def closures(self, tree: pin.Model) -> list[CallableClosure]:
        """Return the closure; call phi to determine the number of equations and to check the derivatives."""
        joints = tuple(coordinate_joint(tree, name, self.label) for name in self.joints)
        for j in joints:
            if joints.count(j) > 1:
                raise ConstraintError(
                    f"{self.label}: joint {tree.names[j]!r} is listed twice (by its own name and by its body?). "
                    "List it once; phi may use it several times."
                )
        steps = np.array([_step(tree.joints[j]) for j in joints])
        x, value = self._probe(_starts(tree, joints))
        labels = tuple(f"{self.label}: equation {i + 1}" for i in range(len(value)))
        units = ("",) * len(value)
        functions = tuple(self._functions.values())
        if address_of(self.phi):
            addresses = tuple(address_of(f) for f in functions)
            closure = CallableClosure(self, labels, units, joints, (None,) * 4, steps, addresses, functions)
        else:
            _warn_slow(self.label)
            if self.jacobian is None:
                functions = self.phi, self._complex_step(x, steps, len(value)), *functions[2:]
            closure = CallableClosure(self, labels, units, joints, functions, steps)
        below = (closure.value, closure.jacobian, closure.hessian)
        for order, (what, function) in enumerate(self._functions.items()):
            if function is not None and order:
                self._check_derivative(what, closure.given(order, x), below[order - 1], x, steps)
        return [closure]

    def _probe(self, starts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return a point at which phi can be evaluated, and the value of phi at this point."""
        failure = values = None
        for x in starts:
            try:
                with np.errstate(all="ignore"):
                    values = self._evaluate(x)
            except ConstraintError:
                raise
            except Exception as error:  # a user's function may raise any exception
                failure = error
                continue
            if np.all(np.isfinite(values)):
                return x, values
        if values is not None:
            raise ConstraintError(
                f"{self.label}: phi is not finite at any of {len(starts)} sample points (first {starts[0].tolist()}, "
                f"last value {values.tolist()}). phi must be finite near the poses of the mechanism."
            )
        raise ConstraintError(
            f"{self.label}: phi raised {type(failure).__name__} ({failure}) at all {len(starts)} sample points (first "
            f"{starts[0].tolist()}). The argument of phi is one array of {len(self.joints)} numbers."
        ) from failure

    def _evaluate(self, x: np.ndarray) -> np.ndarray:
        address = address_of(self.phi)
        if address:
            assert self.size is not None
            return call_compiled(address, x, (self.size,))
        result = self.phi(x.copy())
        values = floats(result)
        if values is None or values.ndim > 1:
            given = type(result).__name__ if values is None else f"shape {values.shape}"
            raise ConstraintError(f"{self.label}: phi must return a vector of real numbers, got {given}.")
        values = np.atleast_1d(values)
        if len(values) == 0:
            raise ConstraintError(f"{self.label}: phi returns an empty array. Return one number per equation.")
        if self.size is not None and len(values) != self.size:
            raise ConstraintError(f"{self.label}: size is {self.size}, but phi returns {len(values)} numbers.")
        return values

    def _complex_step(self, x: np.ndarray, steps: np.ndarray, rows: int) -> ComplexStep | None:
        """Return a function for the Jacobian by complex steps, or None if phi does not accept complex numbers."""
        candidate = ComplexStep(self.phi)
        for shift in (0.0, 0.3):
            point = x + shift * steps
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("error")  # also NumPy's ComplexWarning about a discarded imaginary part
                    J = candidate(point)
                    expected = central_differences(self._evaluate, point, steps)
            except Exception:  # phi does not accept complex numbers; the error depends on phi
                return None
            scale = max(1.0, np.abs(expected).max())
            if J.shape != (rows, len(x)) or not np.abs(J - expected).max() <= COMPLEX_TOLERANCE * scale:
                return None
        return candidate

    def _check_derivative(self, what: str, found: np.ndarray, below: Any, x: np.ndarray, steps: np.ndarray) -> None:
        """Compare a derivative with finite differences of the next lower derivative."""
        with np.errstate(all="ignore"):
            # The finite differences are infinite or NaN if a step leaves the domain of phi.
            expected = central_differences(below, x, 0.1 * steps)
        error = np.abs(found - expected)
        scale = max(1.0, np.abs(expected).max())
        if np.all(np.isfinite(expected)) and not np.all(error <= TOLERANCES[what] * scale):
            worst = np.unravel_index(int(np.argmax(np.nan_to_num(error, nan=math.inf))), error.shape)
            i, *ks = (int(k) for k in worst)
            by = " ".join(f"d {self.joints[k]!r}" for k in ks)
            raise ConstraintError(
                f"{self.label}: {what} is not the derivative of {BELOW[what]}. At {x.tolist()}, its entry "
                f"{(i, *ks)} (d phi[{i}] / {by}) is {found[worst]:g}; finite differences of {BELOW[what]} give "
                f"{expected[worst]:g}. Correct or omit {what}."
            )


def _rebuild(joints: Any, functions: dict[str, Any], independent: Any, size: Any, name: Any) -> Coupling:
    return Coupling(
        joints, **{k: restored(f) for k, f in functions.items()}, independent=independent, size=size, name=name
    )


def _step(joint: pin.JointModel) -> float:
    subspace = joint_subspace(joint)
    return LENGTH_STEP if subspace is not None and not np.any(subspace[3:]) else ANGLE_STEP


def _starts(tree: pin.Model, joints: tuple[int, ...]) -> list[np.ndarray]:
    """Return points at which to try phi: zero, the middle of the joint limits, and random points around the middle."""
    index = [tree.joints[j].idx_q for j in joints]
    low, high = np.array(tree.lowerPositionLimit)[index], np.array(tree.upperPositionLimit)[index]
    bounded = np.isfinite(low) & np.isfinite(high) & (np.abs(low) < 1e10) & (np.abs(high) < 1e10) & (low < high)
    middle = np.where(bounded, 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)), 0.0)
    reach = np.where(bounded, np.where(bounded, high - middle, 0.0), 1.0)
    shares = np.random.default_rng(0).uniform(-0.7, 0.7, (8, len(joints)))
    return [np.zeros(len(joints)), middle, *(middle + share * reach for share in shares)]


def _warn_slow(owner: str) -> None:
    global _warned_slow
    if not _warned_slow:
        _warned_slow = True
        warnings.warn(
            f"{owner}: phi is called from Python at each state, which is slow. A call takes 10 us or more; compiled "
            "functions take 0.1 us or less. Compile phi with numba.cfunc. This warning is shown once per process.",
            PinClustersWarning,
            stacklevel=4,
        )
