"""Expressions are symbolic numbers. Arithmetic with expressions records operations; equal operations are recorded once.

Products with 0, sums with 0 and double negations are simplified, because most entries of a robot's tables are 0, 1 or
-1. The product of NaN and 0 therefore becomes 0, so results can hide a NaN in the input. Check the input instead.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import NotAvailableError

INPUT, ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, SELECT = range(10)
NAMES = ("input", "add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "select")
"""Names of the operations. ``select(a, b, x, y)`` is x if a < b and y otherwise."""
BROADCAST, PACK, NUMBERS, LANE, SUM = range(100, 105)
"""Operations on packs with one limb per lane; arguments are in parentheses. ``BROADCAST``: the same number in all lanes
(number, lanes, group); ``PACK``: one number per lane; ``NUMBERS``: one constant per lane; ``LANE``: the number in one
lane (pack, lane); ``SUM``: the sum of the first lanes (pack, count)."""


class BranchOnValueError(NotAvailableError):
    """Error for a traced function that branches on a value that is unknown during tracing."""


class TooLongError(Exception):
    """Error for a trace that has more operations than its limit."""


class Graph:
    """Records at most ``most`` expressions. Equal expressions are recorded once."""

    __slots__ = ("known", "most", "nodes")

    def __init__(self, most: float = math.inf) -> None:
        self.most = most
        self.nodes: list[Expression] = []
        self.known: dict[tuple[Any, ...], Expression] = {}

    def inputs(self, first: int, size: int) -> list[Expression]:
        return [self.make(INPUT, first + i) for i in range(size)]

    def make(self, op: int, *args: Any) -> Expression:
        key = (op, *((id(a), 0) if isinstance(a, Expression) else a for a in args))
        expression = self.known.get(key)
        if expression is None:
            if len(self.nodes) >= self.most:
                raise TooLongError
            expression = Expression(self, op, args, len(self.nodes))
            self.nodes.append(expression)
            self.known[key] = expression
        return expression


Number = Any
"""A float or an expression."""
_MANY = (tuple, np.ndarray)
"""Types of vectors and arrays; operations are applied to each entry."""


class Expression:
    """The result of an operation.

    Attributes:
        graph: The graph that records the expression.
        op: The operation.
        args: Arguments of the operation (expressions or floats), or the index of an input.
        id: Index in the graph. It is larger than the indices of the arguments.
    """

    __slots__ = ("args", "graph", "id", "op")

    def __init__(self, graph: Graph, op: int, args: tuple[Any, ...], place: int) -> None:
        self.graph, self.op, self.args, self.id = graph, op, args, place

    def __add__(self, other: Number) -> Number:
        if not isinstance(other, Expression):
            if isinstance(other, _MANY):
                return NotImplemented
            return self if other == 0.0 else self.graph.make(ADD, self, float(other))
        if other.op == NEG:
            return self - other.args[0]
        if self.op == NEG:
            return other - self.args[0]
        first, second = (self, other) if self.id <= other.id else (other, self)
        return self.graph.make(ADD, first, second)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        if not isinstance(other, Expression):
            if isinstance(other, _MANY):
                return NotImplemented
            return self if other == 0.0 else self.graph.make(ADD, self, -float(other))
        if other is self:
            return 0.0
        if other.op == NEG:
            return self + other.args[0]
        return self.graph.make(SUB, self, other)

    def __rsub__(self, other: Number) -> Number:
        if isinstance(other, _MANY):
            return NotImplemented
        return -self if other == 0.0 else self.graph.make(SUB, float(other), self)

    def __mul__(self, other: Number) -> Number:
        if isinstance(other, _MANY):
            return NotImplemented
        if self.op == NEG:
            return -(self.args[0] * other)
        if not isinstance(other, Expression):
            x = float(other)
            if x == 0.0:
                return 0.0
            if x == 1.0:
                return self
            return -self if x == -1.0 else self.graph.make(MUL, self, x)
        if other.op == NEG:
            return -(self * other.args[0])
        first, second = (self, other) if self.id <= other.id else (other, self)
        return self.graph.make(MUL, first, second)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        if isinstance(other, Expression):
            return self.graph.make(DIV, self, other)
        if isinstance(other, _MANY):
            return NotImplemented
        return self if other == 1.0 else self.graph.make(DIV, self, float(other))

    def __rtruediv__(self, other: Number) -> Number:
        if isinstance(other, _MANY):
            return NotImplemented
        return 0.0 if other == 0.0 else self.graph.make(DIV, float(other), self)

    def __neg__(self) -> Expression:
        negated: Expression = self.args[0] if self.op == NEG else self.graph.make(NEG, self)
        return negated

    def __pos__(self) -> Expression:
        return self

    def __pow__(self, power: Any) -> Number:
        if power == 0.5:
            return self.sqrt()
        if isinstance(power, Expression) or power != int(power):
            raise NotAvailableError(f"a power of {power!r} cannot be traced: the exponent must be an integer or 0.5.")
        result: Number = 1.0
        for _ in range(abs(int(power))):
            result = self * result
        return result if power >= 0 else 1.0 / result

    # For arrays of objects, NumPy's functions call these methods.
    def sqrt(self) -> Expression:
        return self.graph.make(SQRT, self)

    def sin(self) -> Expression:
        if self.op == NEG:
            return -self.args[0].sin()
        return self.graph.make(SIN, self)

    def cos(self) -> Expression:
        return self.graph.make(COS, self.args[0] if self.op == NEG else self)

    def tan(self) -> Number:
        return self.sin() / self.cos()

    def _decide(self, *_: Any) -> Any:
        raise BranchOnValueError(
            "this function branches on a value that is unknown during tracing (a comparison, abs, int, or a truth "
            "value). Write it without a branch, or with two functions and a smooth transition."
        )

    def __float__(self) -> float:
        raise BranchOnValueError(
            "this function converts a value that is unknown during tracing to a float. Possible causes are arrays of "
            "floats and mathematical functions other than sqrt, sin, cos and tan."
        )

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = __abs__ = _decide

    def __repr__(self) -> str:
        return f"{NAMES[self.op]}({', '.join(f'#{a.id}' if isinstance(a, Expression) else repr(a) for a in self.args)})"


def select(a: Number, b: Number, x: Number, y: Number) -> Number:
    """Return x if a < b, otherwise y. The arguments are numbers, expressions or columns (compared elementwise)."""
    if x is y:
        return x
    for operand in (a, b):
        if isinstance(operand, Expression):
            return operand.graph.make(SELECT, a, b, x, y)
    if np.ndim(a) or np.ndim(b):
        return np.where(a < b, x, y)
    return x if a < b else y


def sine_and_cosine(x: Number) -> tuple[Number, Number]:
    return _sine(x), _cosine(x)


def _of_either(name: str) -> Callable[[Number], Number]:
    of_numbers = getattr(math, name)

    def function(x: Number) -> Number:
        if isinstance(x, Expression):
            return getattr(x, name)()
        try:
            return of_numbers(x)
        except ValueError:  # Compiled code also returns NaN here.
            return math.nan

    return function


square_root, _sine, _cosine = (_of_either(name) for name in ("sqrt", "sin", "cos"))
MATHEMATICS = types.ModuleType("math")
"""Module that replaces ``math``. Its sqrt, sin, cos and tan accept expressions; other functions require numbers."""
MATHEMATICS.__dict__.update(vars(math), **{name: _of_either(name) for name in ("sqrt", "sin", "cos", "tan")})


Doing = Mapping[int, tuple[int, Callable[..., Any]]]
# NumPy's sqrt, sin and cos call the methods of the class ``Expression``.
DONE: Doing = {
    ADD: (2, operator.add),
    SUB: (2, operator.sub),
    MUL: (2, operator.mul),
    DIV: (2, operator.truediv),
    NEG: (1, operator.neg),
    SQRT: (1, np.sqrt),
    SIN: (1, np.sin),
    COS: (1, np.cos),
    SELECT: (4, select),
}
"""For each operation: number of arguments, and a function of numbers, columns or expressions."""


def operate(op: int, values: Sequence[Any], places: Sequence[int], doing: Doing = DONE) -> Any:
    size, function = doing[op]
    return function(*(values[i] for i in places[:size]))


ARGUMENTS = {op: size for op, (size, _) in DONE.items()}
"""Number of arguments of each operation."""


def needed(outputs: Iterable[Number]) -> list[Expression]:
    """Return the given expressions and all expressions on which they depend; arguments precede their operations."""
    reached: dict[int, Expression] = {}
    stack = [x for x in outputs if isinstance(x, Expression)]
    while stack:
        x = stack.pop()
        if x.id not in reached:
            reached[x.id] = x
            if x.op != INPUT:
                stack += [a for a in x.args if isinstance(a, Expression)]
    return [reached[i] for i in sorted(reached)]
