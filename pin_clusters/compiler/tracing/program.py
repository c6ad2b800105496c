"""A program: the operations of one function of one robot, in order; it evaluates, and differentiates itself."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ...errors import ArgumentTypeError, ShapeError, UnknownNameError
from .derivatives import backward, forward
from .schedule import few_alive, most_alive, needs_of

from .expressions import ADD, ARGUMENTS, COS, DIV, DONE, INPUT, MUL, NAMES, NEG, SELECT  # isort: skip
from .expressions import SIN, SQRT, SUB, Doing, Expression, Graph, needed, operate  # isort: skip

_T = TypeVar("_T")
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
        samples: Rows of some inputs, by name, for tests of code that is made of it; others may be any numbers.
    """

    name: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]
    constants: np.ndarray
    operations: np.ndarray
    results: np.ndarray
    samples: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, name: str, inputs: Sequence[tuple[str, int]], outputs: Mapping[str, np.ndarray]) -> "Program":
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
        with np.errstate(all="ignore"):
            entries = self.run([dtype.type(x) for x in self.constants], [x for column in columns for x in column])
        first = () if rows is None else (rows,)
        found = []
        for _, shape, own in self.by_output(entries):
            out = np.empty((len(own), *first), dtype=dtype)
            for i, x in enumerate(own):
                out[i] = x
            found.append(np.moveaxis(out, 0, -1).reshape(*first, *shape))
        return found[0] if len(found) == 1 else tuple(found)

    def _columns(self, given: Sequence[Any]) -> tuple[list[np.ndarray], np.dtype[Any], int | None]:
        """Return the inputs by columns, their type, and how many rows there are."""
        check_number(self, given)
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

    def run(self, constants: Sequence[Any], inputs: Sequence[Any], doing: Doing = DONE) -> list[Any]:
        """Return all entries of the outputs for the entries of the inputs: numbers, columns of them, or expressions.

        Args:
            constants: Those of the program.
            inputs: The entries.
            doing: What does operations, for values that NumPy does not know.
        """
        values = [*constants, *inputs]
        for op, *args in self.operations.tolist():
            values.append(operate(op, values, args, doing))
        return [values[i] for i in self.results]

    def expressions(self, graph: Graph) -> list[Any]:
        """Return all entries of the outputs as expressions of a new graph, whose inputs are those of the program."""
        return self.run(self.constants.tolist(), graph.inputs(0, self._size))

    def values(self) -> list[Any]:
        """Return all numbers by their places: floats, then inputs and operations as expressions, as they stand here."""
        graph = Graph()
        found: list[Any] = [*self.constants.tolist(), *graph.inputs(0, self._size)]
        for op, *args in self.operations.tolist():
            found.append(Expression(graph, op, tuple(found[i] for i in args[: ARGUMENTS[op]]), len(found)))
        return found

    @property
    def first(self) -> int:
        """Place of the result of the first operation."""
        return len(self.constants) + self._size

    @property
    def _size(self) -> int:
        """How many numbers the inputs are."""
        return sum(size for _, size in self.inputs)

    def ordered(self) -> "Program":
        """Return the same operations in an order in which few results are kept at once: they stay in registers."""
        start = self.first
        order = np.array(few_alive(needs_of(self.operations, start)), dtype=np.int32)
        moved = np.arange(start + len(order), dtype=np.int32)  # new place of each
        moved[start + order] = start + np.arange(len(order), dtype=np.int32)
        operations = self.operations[order]
        for row in operations:
            size = ARGUMENTS[int(row[0])]
            row[1 : 1 + size] = moved[row[1 : 1 + size]]
        return dataclasses.replace(self, operations=operations, results=moved[self.results])

    @cached_property
    def alive(self) -> int:
        """How many results are kept at once, at most."""
        needs = needs_of(self.operations, self.first)
        return most_alive(needs, range(len(needs)))

    def jacobian(self, *names: str) -> "Program":
        """Return the program of the derivatives of each output by each input (or those that are named).

        They are derivatives by raw entries: of quaternions and sines and cosines, too. Multiplied by
        ``pc.trace(model, "tangent")`` those by q are those along ``pc.integrate``.

        Raises:
            UnknownNameError: There is no such input.
        """
        known = [name for name, _ in self.inputs]
        for name in names:
            if name not in known:
                raise UnknownNameError(f"{self.name} has no input {name!r}; it has {', '.join(known)}.")
        rows = [backward([x], [1.0]) for x in self.expressions(Graph())]
        found: dict[str, np.ndarray] = {}
        for out, shape, own in self.by_output(rows):
            for name, places in self._inputs():
                if name in (names or known):
                    block = np.array([[row.get(i, 0.0) for i in places] for row in own], dtype=object)
                    found[f"d{out}_d{name}"] = block.reshape(*shape, len(places))
        return Program.of(f"{self.name}, derivatives", self.inputs, found)

    def vjp(self) -> "Program":
        """Return the program of products with the derivatives, from the left.

        It takes the inputs and one number per entry of the outputs, and returns an array per input.
        """
        graph = Graph()
        outputs = self.expressions(graph)
        more = tuple((f"{name}_bar", math.prod(shape)) for name, shape in self.outputs)
        sums = backward(outputs, graph.inputs(self._size, len(outputs)))
        found = {f"{name}_bar": objects([sums.get(i, 0.0) for i in at]) for name, at in self._inputs()}
        return Program.of(f"{self.name}, backward", (*self.inputs, *more), found)

    def jvp(self) -> "Program":
        """Return the program of products with the derivatives, from the right.

        It takes the inputs and a change of each, and returns the changes of the outputs.
        """
        graph = Graph()
        outputs = self.expressions(graph)
        more = tuple((f"{name}_dot", size) for name, size in self.inputs)
        changes = forward(outputs, graph.inputs(self._size, self._size))
        found = {f"{name}_dot": objects(own).reshape(shape) for name, shape, own in self.by_output(changes)}
        return Program.of(f"{self.name}, forward", (*self.inputs, *more), found)

    def _inputs(self) -> Iterator[tuple[str, range]]:
        """Yield name and numbers of each input."""
        first = 0
        for name, size in self.inputs:
            yield name, range(first, first + size)
            first += size

    def by_output(self, entries: Sequence[_T]) -> Iterator[tuple[str, tuple[int, ...], Sequence[_T]]]:
        """Yield name, shape and entries of each output, from those of all, one behind the other."""
        first = 0
        for name, shape in self.outputs:
            size = math.prod(shape)
            yield name, shape, entries[first : first + size]
            first += size

    def __str__(self) -> str:
        """The operations, a line each."""
        names = [repr(float(x)) for x in self.constants]
        names += [f"{name}[{i}]" for name, size in self.inputs for i in range(size)]
        lines = []
        for k, (op, *args) in enumerate(self.operations.tolist()):
            names.append(f"t{k}")
            lines.append(f"t{k} = {_SHOWN[op].format(*(names[i] for i in args))}")
        for name, shape, places in self.by_output(self.results.tolist()):
            for place, index in zip(places, np.ndindex(*shape), strict=True):
                lines.append(f"{name}[{', '.join(map(str, index))}] = {names[place]}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}[{size}]" for name, size in self.inputs)
        found = ", ".join(f"{name}{list(shape)}" for name, shape in self.outputs)
        return f"Program({self.name!r}: {given} -> {found}; {self.flops} flops)"


_SHOWN = {
    ADD: "{} + {}",
    SUB: "{} - {}",
    MUL: "{} * {}",
    DIV: "{} / {}",
    NEG: "-{}",
    SQRT: "sqrt({})",
    SIN: "sin({})",
    COS: "cos({})",
    SELECT: "{2} if {0} < {1} else {3}",
}


def check_number(program: Program, given: Sequence[Any]) -> None:
    """Raise ``ShapeError`` if not one array per input is given."""
    if len(given) != len(program.inputs):
        names = ", ".join(f"{name} ({size})" for name, size in program.inputs)
        raise ShapeError(f"{program.name} has {len(program.inputs)} inputs: {names}; {len(given)} were given.")


def objects(entries: Sequence[Any]) -> np.ndarray:
    """Return expressions and floats as an array."""
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found
