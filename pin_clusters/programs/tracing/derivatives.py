"""Derivatives of expressions: forward along changes, and backward from numbers of the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .expressions import ADD, COS, DIV, INPUT, MUL, NEG, SELECT, SIN, SQRT, SUB, Expression, needed, select


def _partials(x: Expression) -> list[tuple[Any, Any]]:
    """Return the arguments of an expression on which it depends smoothly, with its derivatives by them."""
    a = x.args
    if x.op == ADD:
        found = [(a[0], 1.0), (a[1], 1.0)]
    elif x.op == SUB:
        found = [(a[0], 1.0), (a[1], -1.0)]
    elif x.op == MUL:
        found = [(a[0], a[1]), (a[1], a[0])]
    elif x.op == DIV:
        found = [(a[0], 1.0 / a[1]), (a[1], -(x / a[1]))]
    elif x.op == NEG:
        found = [(a[0], -1.0)]
    elif x.op == SQRT:
        found = [(a[0], 0.5 / x)]
    elif x.op == SIN:
        found = [(a[0], a[0].cos())]
    elif x.op == COS:
        found = [(a[0], -a[0].sin())]
    elif x.op == SELECT:
        found = [(a[2], select(a[0], a[1], 1.0, 0.0)), (a[3], select(a[0], a[1], 0.0, 1.0))]
    else:
        found = []
    return [(argument, slope) for argument, slope in found if isinstance(argument, Expression)]


def backward(outputs: Sequence[Any], weights: Sequence[Any]) -> dict[int, Any]:
    """Return the derivatives of the sum of outputs times weights by each input, by its number."""
    sums: dict[int, Any] = {}
    for x, weight in zip(outputs, weights, strict=True):
        if isinstance(x, Expression):
            sums[x.id] = sums.get(x.id, 0.0) + weight
    found: dict[int, Any] = {}
    for x in reversed(needed(outputs)):
        total = sums.pop(x.id, 0.0)
        if not isinstance(total, Expression) and total == 0.0:
            continue
        if x.op == INPUT:
            found[x.args[0]] = total
        for argument, slope in _partials(x):
            sums[argument.id] = sums.get(argument.id, 0.0) + total * slope
    return found


def forward(outputs: Sequence[Any], changes: Sequence[Any] | Mapping[int, Any]) -> list[Any]:
    """Return how outputs change as the inputs, by their numbers, do."""
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
