"""Derivatives of programs, which are programs: forward along changes, and backward from numbers of the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnknownNameError
from .expressions import (
    ADD,
    COS,
    DIV,
    INPUT,
    MUL,
    NEG,
    SELECT,
    SIN,
    SQRT,
    SUB,
    Expression,
    Graph,
    needed,
    select,
    sine_and_cosine,
    square_root,
)

if TYPE_CHECKING:
    from .program import Program


def operate(op: int, args: Sequence[Any]) -> Any:
    """Return the expression of an operation, folded."""
    if op == ADD:
        return args[0] + args[1]
    if op == SUB:
        return args[0] - args[1]
    if op == MUL:
        return args[0] * args[1]
    if op == DIV:
        return args[0] / args[1]
    if op == NEG:
        return -args[0]
    if op == SQRT:
        return square_root(args[0])
    if op == SELECT:
        return select(*args[:4])
    return sine_and_cosine(args[0])[op == COS]


def partials(x: Expression) -> list[tuple[Any, Any]]:
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
        for argument, slope in partials(x):
            sums[argument.id] = sums.get(argument.id, 0.0) + total * slope
    return found


def forward(outputs: Sequence[Any], changes: Sequence[Any]) -> list[Any]:
    """Return how outputs change as the inputs, by their numbers, do."""
    change: dict[int, Any] = {}
    for x in needed(outputs):
        if x.op == INPUT:
            change[x.id] = changes[x.args[0]]
            continue
        total: Any = 0.0
        for argument, slope in partials(x):
            total = total + change[argument.id] * slope
        change[x.id] = total
    return [change[x.id] if isinstance(x, Expression) else 0.0 for x in outputs]


def jacobian(program: Program, names: Sequence[str]) -> Program:
    """Return the derivatives of all outputs by inputs."""
    from .program import Program as Made

    known = [name for name, _ in program.inputs]
    for name in names:
        if name not in known:
            raise UnknownNameError(f"{program.name} has no input {name!r}; it has {', '.join(known)}.")
    _, outputs = program.expressions(Graph())
    offset, sizes = {}, dict(program.inputs)
    first = 0
    for name, size in program.inputs:
        offset[name], first = first, first + size
    rows = [backward([x], [1.0]) for x in outputs]
    found, first = {}, 0
    for out, shape in program.outputs:
        n = int(np.prod(shape))
        for name in names or known:
            block = np.zeros((n, sizes[name]), dtype=object)
            for i, row in enumerate(rows[first : first + n]):
                for k in range(sizes[name]):
                    block[i, k] = row.get(offset[name] + k, 0.0)
            found[f"d{out}_d{name}"] = block.reshape(*shape, sizes[name])
        first += n
    return Made.of(f"{program.name}, derivatives", program.inputs, found)


def vjp(program: Program) -> Program:
    """Return products of numbers of the outputs with the derivatives."""
    from .program import Program as Made

    graph = Graph()
    _, outputs = program.expressions(graph)
    first = sum(size for _, size in program.inputs)
    more = tuple((f"{name}_bar", int(np.prod(shape))) for name, shape in program.outputs)
    weights = graph.inputs(first, len(outputs))
    found = backward(outputs, weights)
    blocks, first = {}, 0
    for name, size in program.inputs:
        blocks[f"{name}_bar"] = np.array([found.get(first + k, 0.0) for k in range(size)], dtype=object)
        first += size
    return Made.of(f"{program.name}, backward", (*program.inputs, *more), blocks)


def jvp(program: Program) -> Program:
    """Return changes of the outputs."""
    from .program import Program as Made

    graph = Graph()
    _, outputs = program.expressions(graph)
    first = sum(size for _, size in program.inputs)
    more = tuple((f"{name}_dot", size) for name, size in program.inputs)
    change = forward(outputs, graph.inputs(first, first))
    blocks, first = {}, 0
    for name, shape in program.outputs:
        n = int(np.prod(shape))
        blocks[f"{name}_dot"] = np.array(change[first : first + n], dtype=object).reshape(shape)
        first += n
    return Made.of(f"{program.name}, forward", (*program.inputs, *more), blocks)
