"""Values and derivatives of the user's Python functions, which are called with expressions.

A user function may use arithmetic and the functions of NumPy and ``math``. The functions of ``math`` reject
expressions, so the user function is copied; the copy calls replacements that accept expressions.
"""

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...constraints.called import CallableClosure
from ...errors import NotAvailableError
from ...model import ClusterModel
from .expressions import MATHEMATICS, BranchOnValueError, Expression, Graph
from .program import Program

_REPLACED = {id(getattr(math, name)): getattr(MATHEMATICS, name) for name in ("sqrt", "sin", "cos", "tan")}


def supply(model: ClusterModel, q: np.ndarray, work: np.ndarray) -> None:
    """Compute the derivatives of the user functions at q, and store them in the workspace for the kernels."""
    for supplied in model.tables.supplies:
        numbers = [y for order in (1, 2) for y in derivatives_of(supplied.closure, order, q[list(supplied.iq)])]
        work[supplied.scratch : supplied.scratch + len(numbers)] = numbers


def supply_third(model: ClusterModel, q: np.ndarray, rates: np.ndarray, work: np.ndarray) -> None:
    """Store the second derivatives of the user functions' Jacobians along ``rates``, which are tree velocities."""
    for supplied in model.tables.supplies:
        n, m = len(supplied.closure.joints), supplied.closure.size
        direction = rates[[model.own_tree.idx_vs[j] for j in supplied.closure.joints]]
        third = np.array(derivatives_of(supplied.closure, 3, q[list(supplied.iq)]), dtype=object).reshape(m, n, n, n)
        first = supplied.scratch + 2 * m * n + m * n * n + 2 * n + m
        work[first : first + m * n] = (third @ direction @ direction).ravel()


def derivatives_of(closure: CallableClosure, order: int, x: np.ndarray) -> list[Any]:
    """Return the derivatives of a user function at x, in row-major order; for order 0, return the values."""
    program = _program(closure, order)
    return program.run(program.constants.tolist(), list(x))


def _program(closure: CallableClosure, order: int) -> Program:
    """Return the program of a derivative that the user supplies, or else differentiate the next lower order."""
    n = len(closure.joints)
    function = closure.functions[order]
    if function is not None:
        x = np.array(Graph().inputs(0, n), dtype=object)
        try:
            outputs = _run(closure, function, x, (closure.size,) + order * (n,))
        except NotAvailableError:
            if order == 0:
                raise
        else:
            return Program.of(closure.source.label, [("x", n)], {"y": outputs})
    # The user supplies no derivative, or the supplied function converts its argument to floats.
    return _program(closure, order - 1).jacobian("x")


def _run(closure: CallableClosure, function: Any, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    label = closure.source.label
    try:
        returned = np.asarray(_made_again(function, {})(x), dtype=object)
    except BranchOnValueError as error:
        raise NotAvailableError(f"{label} cannot be traced: {error}") from error
    except Exception as error:  # a user function may raise any exception for expressions
        raise NotAvailableError(
            f"{label} cannot be traced: its function raised {type(error).__name__} ({error}) for symbolic arguments. "
            "Use only arithmetic and sqrt, sin, cos and tan of NumPy (on arrays) or math."
        ) from error
    if returned.size != math.prod(shape):
        raise NotAvailableError(
            f"{label} cannot be traced: its function returned an array of shape {returned.shape}, expected {shape}."
        )
    strange = [y for y in returned.ravel() if not isinstance(y, (Expression, float, int, np.floating, np.integer))]
    if strange:
        raise NotAvailableError(f"{label} cannot be traced: its function returned {strange[0]!r}, expected numbers.")
    return returned.reshape(shape)


def _made_again(function: Any, copies: dict[int, Any]) -> Callable[[np.ndarray], Any]:
    """Copy a function; in the copy, ``math`` and the called Python functions accept expressions."""
    if isinstance(function, types.MethodType):
        return _made_again(function.__func__, copies).__get__(function.__self__)
    if not isinstance(function, types.FunctionType):
        return function  # Other callables, for example objects, are used unchanged.
    if id(function) not in copies:
        scope = dict(function.__globals__)
        cells = function.__closure__ and tuple(types.CellType() for _ in function.__closure__)
        copied = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
        copied.__kwdefaults__ = function.__kwdefaults__
        copies[id(function)] = copied
        for name in _names(function.__code__):
            if name in scope:
                scope[name] = _replaced(scope[name], copies)
        for cell, old in zip(cells or (), function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = _replaced(old.cell_contents, copies)
            except ValueError:  # The original cell is empty.
                continue
    return copies[id(function)]


def _names(code: types.CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(x) for x in code.co_consts if isinstance(x, types.CodeType)))


def _replaced(value: Any, copies: dict[int, Any]) -> Any:
    if value is math:
        return MATHEMATICS
    if id(value) in _REPLACED:
        return _REPLACED[id(value)]
    return _made_again(value, copies) if isinstance(value, types.FunctionType) else value
