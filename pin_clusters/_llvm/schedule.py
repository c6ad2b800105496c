"""The order of operations: depth first from the outputs, so that results are used soon, and few numbers live."""

from __future__ import annotations

from ..tracing.expressions import COS, NEG, SELECT, SIN, SQRT
from ..tracing.program import Program

_ONE = (NEG, SQRT, SIN, COS)


def arguments(operation: list[int]) -> list[int]:
    """Return the places that an operation reads: its op code and all four of them are given."""
    op = operation[0]
    if op in _ONE:
        return operation[1:2]
    return operation[1:5] if op == SELECT else operation[1:3]


def first_operation(program: Program) -> int:
    """Return the place of the first operation: behind constants and inputs."""
    return len(program.constants) + sum(size for _, size in program.inputs)


def ordered(program: Program) -> list[int]:
    """Return which operations are needed, each behind those of its arguments."""
    start, operations = first_operation(program), program.operations.tolist()
    done = [False] * len(operations)
    found: list[int] = []
    for result in program.results.tolist():
        stack = [result - start]
        while stack:
            k = stack[-1]
            if k < 0 or done[k]:
                stack.pop()
                continue
            missing = [a - start for a in arguments(operations[k]) if a >= start and not done[a - start]]
            if missing:
                stack.append(missing[0])
            else:
                done[k] = True
                found.append(k)
                stack.pop()
    return found
