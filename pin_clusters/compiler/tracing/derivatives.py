"""Forward and reverse differentiation of expressions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .expressions import ADD, COS, DIV, INPUT, MUL, NEG, SELECT, SIN, SQRT, SUB, Expression, needed, select

# Partial derivatives of each operation with respect to its arguments; for a selection, only for the two values.
_SLOPES: dict[int, Callable[..., tuple[Any, ...]]] = {
    ADD: lambda _x, _a, _b: (1.0, 1.0),
    SUB: lambda _x, _a, _b: (1.0, -1.0),
    MUL: lambda _x, a, b: (b, a),
    DIV: lambda x, _a, b: (1.0 / b, -(x / b)),
    NEG: lambda _x, _a: (-1.0,),
    SQRT: lambda x, _a: (0.5 / x,),
    SIN: lambda _x, a: (a.cos(),),
    COS: lambda _x, a: (-a.sin(),),
    SELECT: lambda _x, a, b, _c, _d: (select(a, b, 1.0, 0.0), select(a, b, 0.0, 1.0)),
}


def _partials(x: Expression) -> list[tuple[Any, Any]]:
    if x.op == INPUT:
        return []
    slopes = _SLOPES[x.op](x, *x.args)
    return [(a, slope) for a, slope in zip(x.args[-len(slopes) :], slopes, strict=True) if isinstance(a, Expression)]


def backward(outputs: Sequence[Any], weights: Sequence[Any]) -> dict[int, Any]:
    """Return a dictionary from input index to the derivative of sum(weights * outputs) with respect to the input."""
    sums: dict[int, Any] = {}
    for x, weight in zip(outputs, weights, strict=True):
        if isinstance(x, Expression):
            sums[x.id] = sums.get(x.id, 0.0) + weight
    gradient: dict[int, Any] = {}
    for x in reversed(needed(outputs)):
        total = sums.pop(x.id, 0.0)
        if not isinstance(total, Expression) and total == 0.0:
            continue
        if x.op == INPUT:
            gradient[x.args[0]] = total
        for argument, slope in _partials(x):
            sums[argument.id] = sums.get(argument.id, 0.0) + total * slope
    return gradient


def forward(outputs: Sequence[Any], changes: Sequence[Any] | Mapping[int, Any]) -> list[Any]:
    """Return the changes of the outputs, to first order; ``changes[i]`` is the change of input i."""
    change: dict[int, Any] = {}
    for x in needed(outputs):
        if x.op == INPUT:
            change[x.id] = changes[x.args[0]]
            continue
        total: Any = 0.0
        for argument, slope in _partials(x):
            total = total + change[argument.id] * slope
        change[x.id] = total
    return [change[x.id] if isinstance(x, Expression) else 0.0 for x in outputs]
