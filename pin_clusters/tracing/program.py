"""A program: the operations of one function of one robot, in order; it evaluates, and differentiates itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ShapeError
from . import derivatives
from .expressions import ADD, COS, DIV, INPUT, MUL, NAMES, NEG, SELECT, SIN, SQRT, SUB, Expression, Graph, needed

_FLOPS = (ADD, SUB, MUL, DIV, SQRT)


@dataclass(frozen=True, eq=False)
class Program:
    """Operations, each behind those of its arguments.

    A number is named by its place: constants are 0, 1, ..., inputs follow, then the results of the operations.

    Attributes:
        name: Of robot and function.
        inputs: Name and size of each input, in order.
        outputs: Name and shape of each output, in order.
        constants: Numbers of the robot.
        operations: Operation and places of its arguments (unused ones are 0), shape (operations, 5).
        results: Places of all entries of the outputs, one output behind the other.
    """

    name: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    constants: np.ndarray
    operations: np.ndarray
    results: np.ndarray

    @classmethod
    def of(
        cls, name: str, inputs: Sequence[tuple[str, int]], outputs: Mapping[str, np.ndarray]
    ) -> Program:  # fmt: skip
        """Return the program that computes expressions.

        Args:
            name: Of robot and function.
            inputs: Name and size of each.
            outputs: Arrays of expressions and floats.
        """
        flat = [x for array in outputs.values() for x in np.ravel(np.asarray(array, dtype=object))]
        nodes = [x for x in needed(flat) if x.op != INPUT]
        constants: dict[float, int] = {}
        arguments = [a for x in nodes for a in x.args]
        for number in [*arguments, *flat]:
            if not isinstance(number, Expression):
                constants.setdefault(float(number), len(constants))
        first = len(constants)
        start = first + sum(size for _, size in inputs)
        place = {x.id: start + i for i, x in enumerate(nodes)}

        def at(number: Any) -> int:
            if not isinstance(number, Expression):
                return constants[float(number)]
            return first + int(number.args[0]) if number.op == INPUT else place[number.id]

        operations = np.zeros((len(nodes), 5), dtype=np.int32)
        for row, x in zip(operations, nodes, strict=True):
            row[0] = x.op
            row[1 : 1 + len(x.args)] = [at(a) for a in x.args]
        shapes = tuple((key, np.shape(array)) for key, array in outputs.items())
        results = np.array([at(x) for x in flat], dtype=np.int32)
        return cls(name, tuple(inputs), shapes, np.array(list(constants)), operations, results)

    def __call__(self, *given: Any) -> Any:
        """Evaluate.

        Args:
            given: One array per input, of its size, or with rows of it: shape (rows, size). All of one type, float32
                or float64, in which all is computed.

        Returns:
            One array per output, rows first if there are rows; alone if there is one output.

        Raises:
            ShapeError: Another number of inputs, or one of another size.
            ArgumentTypeError: Inputs are of different types, or no floats.
        """
        columns, dtype, rows = self._columns(given)
        values: list[Any] = [dtype.type(x) for x in self.constants]
        values += [x for column in columns for x in column]
        with np.errstate(all="ignore"):
            for op, a, b, c, d in self.operations.tolist():
                values.append(_compute(op, values, a, b, c, d))
        shape = () if rows is None else (rows,)
        found, first = [], 0
        for _, size in self.outputs:
            n = int(np.prod(size))
            out = np.empty((n, *shape), dtype=dtype)
            for i, place in enumerate(self.results[first : first + n]):
                out[i] = values[place]
            found.append(np.moveaxis(out, 0, -1).reshape(*shape, *size))
            first += n
        return found[0] if len(found) == 1 else tuple(found)

    def _columns(self, given: Sequence[Any]) -> tuple[list[np.ndarray], np.dtype[Any], int | None]:
        """Return the inputs by columns, their type, and how many rows there are."""
        if len(given) != len(self.inputs):
            names = ", ".join(f"{name} ({size})" for name, size in self.inputs)
            raise ShapeError(f"{self.name} has {len(self.inputs)} inputs: {names}; {len(given)} were given.")
        arrays = [np.asarray(x) for x in given]
        types = {x.dtype for x in arrays}
        if len(types) > 1 or not types <= {np.dtype(np.float32), np.dtype(np.float64)}:
            raise ArgumentTypeError(
                f"{self.name} takes arrays of one type, float32 or float64, got {', '.join(sorted(map(str, types)))}."
            )
        rows = {x.shape[0] for x in arrays if x.ndim == 2}
        for (name, size), x in zip(self.inputs, arrays, strict=True):
            if x.ndim not in (1, 2) or x.shape[-1] != size or len(rows) > 1:
                raise ShapeError(
                    f"{self.name}: {name} has shape {x.shape}, but needs ({size},) or, as all others, (rows, {size})."
                )
        count = rows.pop() if rows else None
        return [x.T for x in arrays], types.pop() if types else np.dtype(np.float64), count

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each operation is there."""
        found = Counter(self.operations[:, 0].tolist())
        return {NAMES[op]: n for op, n in sorted(found.items())}

    @property
    def flops(self) -> int:
        """Number of additions, subtractions, multiplications, divisions and roots."""
        return sum(self.counts.get(NAMES[op], 0) for op in _FLOPS)

    def expressions(self, graph: Graph) -> tuple[list[list[Any]], list[Any]]:
        """Return the inputs and all entries of the outputs as expressions of a new graph."""
        values: list[Any] = [float(x) for x in self.constants]
        inputs: list[list[Any]] = []
        for _, size in self.inputs:
            inputs.append(graph.inputs(len(values) - len(self.constants), size))
            values += inputs[-1]
        for op, *args in self.operations.tolist():
            values.append(derivatives.operate(op, [values[i] for i in args]))
        return inputs, [values[i] for i in self.results]

    def jacobian(self, *names: str) -> Program:
        """Return the program of the derivatives of each output by each input (or those that are named).

        They are derivatives by raw entries: of quaternions and sines and cosines, too.
        """
        return derivatives.jacobian(self, names)

    def vjp(self) -> Program:
        """Return the program of products with the derivatives, from the left.

        It takes the inputs and one number per entry of the outputs, and returns an array per input.
        """
        return derivatives.vjp(self)

    def jvp(self) -> Program:
        """Return the program of products with the derivatives, from the right.

        It takes the inputs and a change of each, and returns the changes of the outputs.
        """
        return derivatives.jvp(self)

    def __str__(self) -> str:
        """The operations, a line each."""
        names = [repr(float(x)) for x in self.constants]
        names += [f"{name}[{i}]" for name, size in self.inputs for i in range(size)]
        lines = []
        for k, (op, *args) in enumerate(self.operations.tolist()):
            names.append(f"t{k}")
            lines.append(f"t{k} = {_SHOWN[op].format(*(names[i] for i in args))}")
        first = 0
        for name, shape in self.outputs:
            for i, index in enumerate(np.ndindex(*shape)):
                at = ", ".join(map(str, index))
                lines.append(f"{name}[{at}] = {names[self.results[first + i]]}")
            first += int(np.prod(shape))
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Name, inputs, outputs and how much there is to do."""
        given = ", ".join(f"{name}[{size}]" for name, size in self.inputs)
        found = ", ".join(f"{name}{list(shape)}" for name, shape in self.outputs)
        return f"Program({self.name!r}: {given} -> {found}; {self.flops} flops)"


_SHOWN = {
    ADD: "{} + {}", SUB: "{} - {}", MUL: "{} * {}", DIV: "{} / {}", NEG: "-{}", SQRT: "sqrt({})", SIN: "sin({})",
    COS: "cos({})", SELECT: "{2} if {0} < {1} else {3}",
}  # fmt: skip


def _compute(op: int, x: list[Any], a: int, b: int, c: int, d: int) -> Any:
    """Return the result of an operation on numbers or on columns."""
    if op == ADD:
        return x[a] + x[b]
    if op == SUB:
        return x[a] - x[b]
    if op == MUL:
        return x[a] * x[b]
    if op == DIV:
        return x[a] / x[b]
    if op == NEG:
        return -x[a]
    if op == SELECT:
        return np.where(x[a] < x[b], x[c], x[d])
    return {SQRT: np.sqrt, SIN: np.sin, COS: np.cos}[op](x[a])
