"""Expressions: numbers that are not known yet. Arithmetic with them writes operations down; equal ones are one.

Products with 0 and sums with it vanish, as do negations of negations: most entries of a robot's tables are 0, 1 or -1.
A NaN that would have been multiplied by 0 is thus not seen; what looks for bad input must look at the input.
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
"""``select(a, b, x, y)`` is x where a < b, else y."""
BROADCAST, PACK, NUMBERS, LANE, SUM = range(100, 105)
"""Of packs with a limb per lane: one number in all lanes (its arguments: number, lanes, group); a number per lane; a
constant per lane; the number of a lane (pack, lane); the sum of the first lanes (pack, how many)."""


class BranchOnValueError(NotAvailableError):
    """What is traced decides by a number that is not known: such code has no list of operations."""


class TooLongError(Exception):
    """More operations are written down than were asked for."""


class Graph:
    """Where expressions are written down: each once, and so many at ``most``."""

    __slots__ = ("known", "most", "nodes")

    def __init__(self, most: float = math.inf) -> None:
        self.most = most
        self.nodes: list[Expression] = []
        self.known: dict[tuple[Any, ...], Expression] = {}

    def inputs(self, first: int, size: int) -> list[Expression]:
        """Return inputs number first, first + 1, ..."""
        return [self.make(INPUT, first + i) for i in range(size)]

    def make(self, op: int, *args: Any) -> Expression:
        """Return the expression of an operation, an old one if there is one."""
        key = (op, *((id(a), 0) if isinstance(a, Expression) else a for a in args))
        found = self.known.get(key)
        if found is None:
            if len(self.nodes) >= self.most:
                raise TooLongError
            found = Expression(self, op, args, len(self.nodes))
            self.nodes.append(found)
            self.known[key] = found
        return found


Number = Any
"""A float or an expression."""
_MANY = (tuple, np.ndarray)
"""Vectors of the kernels, and arrays: they know how to do it entry by entry."""


class Expression:
    """The result of an operation.

    Attributes:
        graph: Where it is written down.
        op: Which operation.
        args: Of what: expressions and floats; of an input its number.
        id: Place in the graph: behind those of its arguments.
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
        found: Expression = self.args[0] if self.op == NEG else self.graph.make(NEG, self)
        return found

    def __pos__(self) -> Expression:
        return self

    def __pow__(self, power: Any) -> Number:
        if power == 0.5:
            return self.sqrt()
        if isinstance(power, Expression) or power != int(power):
            raise NotAvailableError(f"a power of {power!r} cannot be traced: only whole ones, and 0.5.")
        result: Number = 1.0
        for _ in range(abs(int(power))):
            result = self * result
        return result if power >= 0 else 1.0 / result

    # NumPy's functions call these on arrays of objects
    def sqrt(self) -> Expression:
        """Return the square root."""
        return self.graph.make(SQRT, self)

    def sin(self) -> Expression:
        """Return the sine."""
        if self.op == NEG:
            return -self.args[0].sin()
        return self.graph.make(SIN, self)

    def cos(self) -> Expression:
        """Return the cosine."""
        return self.graph.make(COS, self.args[0] if self.op == NEG else self)

    def tan(self) -> Number:
        """Return the tangent."""
        return self.sin() / self.cos()

    def _decide(self, *_: Any) -> Any:
        raise BranchOnValueError(
            "this function decides by a value that is not known when it is traced (a comparison, abs, int, or a truth "
            "value). Write it without a choice, or with two functions and a smooth transition."
        )

    def __float__(self) -> float:
        """Refuse: nobody knows it yet."""
        raise BranchOnValueError(
            "this function decides by a value that is not known when it is traced: it makes a float of it, as do an "
            "array of floats in which it is put, and functions other than sqrt, sin, cos and tan."
        )

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = __abs__ = _decide

    def __repr__(self) -> str:
        return f"{NAMES[self.op]}({', '.join(f'#{a.id}' if isinstance(a, Expression) else repr(a) for a in self.args)})"


def select(a: Number, b: Number, x: Number, y: Number) -> Number:
    """Return x where a < b, else y; of numbers, expressions or columns."""
    if x is y:
        return x
    for one in (a, b):
        if isinstance(one, Expression):
            return one.graph.make(SELECT, a, b, x, y)
    if np.ndim(a) or np.ndim(b):
        return np.where(a < b, x, y)
    return x if a < b else y


def sine_and_cosine(x: Number) -> tuple[Number, Number]:
    """Return sine and cosine of a number or an expression."""
    return _sine(x), _cosine(x)


def _of_either(name: str) -> Callable[[Number], Number]:
    """Return a function of ``math`` that takes expressions, too."""
    of_numbers = getattr(math, name)

    def function(x: Number) -> Number:
        if isinstance(x, Expression):
            return getattr(x, name)()
        try:
            return of_numbers(x)
        except ValueError:  # beyond its domain: as compiled code has it
            return math.nan

    return function


square_root, _sine, _cosine = (_of_either(name) for name in ("sqrt", "sin", "cos"))
MATHEMATICS = types.ModuleType("math")
"""What takes the place of ``math``: for expressions sqrt, sin, cos and tan; all of it for numbers."""
MATHEMATICS.__dict__.update(vars(math), **{name: _of_either(name) for name in ("sqrt", "sin", "cos", "tan")})


Doing = Mapping[int, tuple[int, Callable[..., Any]]]
# NumPy's functions call the methods of expressions
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
"""How many arguments each operation has, and what does it on numbers, columns of them, or expressions."""


def operate(op: int, values: Sequence[Any], places: Sequence[int], doing: Doing = DONE) -> Any:
    """Return the result of an operation on values at some places."""
    size, function = doing[op]
    return function(*(values[i] for i in places[:size]))


ARGUMENTS = {op: size for op, (size, _) in DONE.items()}
"""How many arguments each operation has."""


def needed(wanted: Iterable[Number]) -> list[Expression]:
    """Return what some expressions are made of, and themselves, each behind its arguments."""
    seen: dict[int, Expression] = {}
    stack = [x for x in wanted if isinstance(x, Expression)]
    while stack:
        x = stack.pop()
        if x.id not in seen:
            seen[x.id] = x
            if x.op != INPUT:
                stack += [a for a in x.args if isinstance(a, Expression)]
    return [seen[i] for i in sorted(seen)]
