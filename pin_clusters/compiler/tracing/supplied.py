"""Functions that a user wrote in Python, run on expressions: what they compute, and their derivatives.

They may use arithmetic, NumPy's functions and those of ``math``; the latter refuse what is no number, so the function
is made again with others in their place.
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
    """Write the derivatives of the user's functions at q where kernels read them.

    Raises:
        NotAvailableError: A function cannot be traced; the message says why.
    """
    for one in model.tables.supplies:
        numbers = [y for order in (1, 2) for y in derivatives_of(one.closure, order, q[list(one.iq)])]
        work[one.room : one.room + len(numbers)] = numbers


def supply_third(model: ClusterModel, q: np.ndarray, rates: np.ndarray, work: np.ndarray) -> None:
    """Write the second derivatives of their Jacobians along a motion; rates are those of the tree's joints."""
    for one in model.tables.supplies:
        n, m = len(one.closure.joints), one.closure.size
        direction = rates[[model.own_tree.idx_vs[j] for j in one.closure.joints]]
        third = np.array(derivatives_of(one.closure, 3, q[list(one.iq)]), dtype=object).reshape(m, n, n, n)
        room = one.room + 2 * m * n + m * n * n + 2 * n + m
        work[room : room + m * n] = (third @ direction @ direction).ravel()


def derivatives_of(closure: CallableClosure, order: int, x: np.ndarray) -> list[Any]:
    """Return derivatives of a function at expressions, row major; of order 0 its values."""
    program = _program(closure, order)
    return program.run(program.constants.tolist(), list(x))


def _program(closure: CallableClosure, order: int) -> Program:
    """Return the program of what the user gave, or of the derivative of the order below."""
    n = len(closure.joints)
    function = closure.functions[order]
    if function is not None:
        x = np.array(Graph().inputs(0, n), dtype=object)
        try:
            found = _run(closure, function, x, (closure.size,) + order * (n,))
        except NotAvailableError:
            if order == 0:
                raise
        else:
            return Program.of(closure.source.label, [("x", n)], {"y": found})
    # not given, or put into an array of floats, as derivatives often are: that of the function itself is exact, too
    return _program(closure, order - 1).jacobian("x")


def _run(closure: CallableClosure, function: Any, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return what a function gives for expressions."""
    label = closure.source.label
    try:
        found = np.asarray(_made_again(function, {})(x), dtype=object)
    except BranchOnValueError as error:
        raise NotAvailableError(f"{label} cannot be traced: {error}") from error
    except Exception as error:  # whatever the user's function does to what is no number
        raise NotAvailableError(
            f"{label} cannot be traced: its function raised {type(error).__name__} ({error}) for expressions in the "
            "place of numbers. It may use arithmetic, NumPy's sqrt, sin, cos and tan on arrays, and those of math."
        ) from error
    if found.size != math.prod(shape):
        raise NotAvailableError(f"{label} cannot be traced: for expressions it returned {found.shape}, not {shape}.")
    strange = [y for y in found.ravel() if not isinstance(y, (Expression, float, int, np.floating, np.integer))]
    if strange:
        raise NotAvailableError(f"{label} cannot be traced: it returned {strange[0]!r}.")
    return found.reshape(shape)


def _made_again(function: Any, known: dict[int, Any]) -> Callable[[np.ndarray], Any]:
    """Return a function whose names for ``math``, and for functions of its own, stand for those of expressions."""
    if isinstance(function, types.MethodType):
        return _made_again(function.__func__, known).__get__(function.__self__)
    if not isinstance(function, types.FunctionType):
        return function  # such as an object that is called: as it is
    if id(function) not in known:
        scope = dict(function.__globals__)
        cells = function.__closure__ and tuple(types.CellType() for _ in function.__closure__)
        again = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
        again.__kwdefaults__ = function.__kwdefaults__
        known[id(function)] = again
        for name in _names(function.__code__):
            if name in scope:
                scope[name] = _replaced(scope[name], known)
        for cell, old in zip(cells or (), function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = _replaced(old.cell_contents, known)
            except ValueError:  # an empty cell stays one
                continue
    return known[id(function)]


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that code and functions inside it read."""
    return set(code.co_names).union(*(_names(x) for x in code.co_consts if isinstance(x, types.CodeType)))


def _replaced(found: Any, known: dict[int, Any]) -> Any:
    """Return what stands for a value that a function reads."""
    if found is math:
        return MATHEMATICS
    if id(found) in _REPLACED:
        return _REPLACED[id(found)]
    return _made_again(found, known) if isinstance(found, types.FunctionType) else found
