"""The class ``Program`` contains the operations of a function for one robot; it can be evaluated and differentiated."""

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
    """The sequence of operations of a function for one robot, without loops and branches.

    Each value has an index, called its place. The first places belong to the constants, the next places to the entries
    of the inputs, and the last places to the results of the operations. Units are the same as in the function.

    Attributes:
        name: Names of the robot and of the function.
        inputs: Name and size of each input, in order.
        outputs: Name and shape of each output, in order.
        constants: Constant values that depend on the robot, shape (constants,).
        operations: Code of each operation, then the places of its arguments (0 if unused), shape (operations, 5).
        results: Places of all output entries, in the order of the outputs.
        samples: Dictionary from input names to test values, shape (rows, size); other inputs use random test values.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> program = pc.trace(pc.load("mit_humanoid_leg"), "computeGeneralizedGravity")
        >>> program.inputs, program.outputs
        ((('q', 10),), (('g', (5,)),))
        >>> program(np.zeros((3, 10))).shape, program.jacobian("q").outputs
        ((3, 5), (('dg_dq', (5, 10)),))
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
        """Return the program that computes ``outputs`` (expressions or floats) from inputs, given by name and size."""
        flat = [x for array in outputs.values() for x in np.ravel(np.asarray(array, dtype=object))]
        nodes = [x for x in needed(flat) if x.op != INPUT]
        constants: dict[float, int] = {}
        arguments = [a for x in nodes for a in x.args]
        for number in [*arguments, *flat]:
            if not isinstance(number, Expression):
                constants.setdefault(float(number), len(constants))
        first = len(constants)
        start = first + sum(size for _, size in inputs)
        place_of_node = {x.id: start + i for i, x in enumerate(nodes)}

        def at(number: Any) -> int:
            if not isinstance(number, Expression):
                return constants[float(number)]
            return first + int(number.args[0]) if number.op == INPUT else place_of_node[number.id]

        operations = np.zeros((len(nodes), 5), dtype=np.int32)
        for row, x in zip(operations, nodes, strict=True):
            row[0] = x.op
            row[1 : 1 + len(x.args)] = [at(a) for a in x.args]
        shapes = tuple((key, np.shape(array)) for key, array in outputs.items())
        results = np.array([at(x) for x in flat], dtype=np.int32)
        return cls(name, tuple(inputs), shapes, np.array(list(constants)), operations, results)

    def __call__(self, *given: Any) -> Any:
        """Evaluate the program.

        Args:
            given: One array per input, all with shape (size,) or all with shape (rows, size). All arrays must have the
                same type, float32 or float64; the program computes in this type.

        Returns:
            One array per output, with shape (*shape) or (rows, *shape); a single array if there is only one output.

        Raises:
            ShapeError: The number of inputs or the size of an input is wrong.
            ArgumentTypeError: The inputs are not arrays of the same floating-point type.
        """
        columns, dtype, rows = self._columns(given)
        with np.errstate(all="ignore"):
            entries = self.run([dtype.type(x) for x in self.constants], [x for column in columns for x in column])
        first = () if rows is None else (rows,)
        results = []
        for _, shape, entries_of_output in self.by_output(entries):
            out = np.empty((len(entries_of_output), *first), dtype=dtype)
            for i, x in enumerate(entries_of_output):
                out[i] = x
            results.append(np.moveaxis(out, 0, -1).reshape(*first, *shape))
        return results[0] if len(results) == 1 else tuple(results)

    def _columns(self, given: Sequence[Any]) -> tuple[list[np.ndarray], np.dtype[Any], int | None]:
        """Return the columns of the inputs, the NumPy type, and the number of rows (None for a single state)."""
        check_number(self, given)
        arrays = [np.asarray(x) for x in given]
        types = {x.dtype for x in arrays}
        if len(types) > 1 or not types <= {np.dtype(np.float32), np.dtype(np.float64)}:
            raise ArgumentTypeError(
                f"{self.name}: all arrays must be float32 or all must be float64, got "
                f"{', '.join(sorted(map(str, types)))}."
            )
        rows = {x.shape[0] for x in arrays if x.ndim == 2}
        for (name, size), x in zip(self.inputs, arrays, strict=True):
            if x.ndim not in (1, 2) or x.shape[-1] != size or len(rows) > 1:
                raise ShapeError(
                    f"{self.name}: {name} has shape {x.shape}, expected ({size},) for one state or (rows, {size}). All "
                    "inputs must have the same number of rows."
                )
        count = rows.pop() if rows else None
        return [x.T for x in arrays], types.pop() if types else np.dtype(np.float64), count

    @cached_property
    def counts(self) -> dict[str, int]:
        """Dictionary from the name of each kind of operation to the number of such operations."""
        counter = Counter(self.operations[:, 0].tolist())
        return {NAMES[op]: n for op, n in sorted(counter.items())}

    @property
    def flops(self) -> int:
        """Total number of additions, subtractions, multiplications, divisions and square roots."""
        return sum(self.counts.get(NAMES[op], 0) for op in _FLOPS)

    def run(self, constants: Sequence[Any], inputs: Sequence[Any], doing: Doing = DONE) -> list[Any]:
        """Compute all output entries from all input entries, which are numbers, columns or expressions.

        ``doing`` implements each operation; pass other implementations for value types that NumPy does not support.
        """
        values = [*constants, *inputs]
        for op, *args in self.operations.tolist():
            values.append(operate(op, values, args, doing))
        return [values[i] for i in self.results]

    def expressions(self, graph: Graph) -> list[Any]:
        """Return all output entries as expressions in the inputs; the expressions are recorded in ``graph``."""
        return self.run(self.constants.tolist(), graph.inputs(0, self._size))

    def values(self) -> list[Any]:
        """Return all values in the order of their places: constants as floats, inputs and results as expressions."""
        graph = Graph()
        values: list[Any] = [*self.constants.tolist(), *graph.inputs(0, self._size)]
        for op, *args in self.operations.tolist():
            values.append(Expression(graph, op, tuple(values[i] for i in args[: ARGUMENTS[op]]), len(values)))
        return values

    @property
    def first(self) -> int:
        return len(self.constants) + self._size

    @property
    def _size(self) -> int:
        return sum(size for _, size in self.inputs)

    def ordered(self) -> "Program":
        """Return the same program with reordered operations, so that fewer results must be stored at the same time."""
        start = self.first
        order = np.array(few_alive(needs_of(self.operations, start)), dtype=np.int32)
        moved = np.arange(start + len(order), dtype=np.int32)  # new place of each value
        moved[start + order] = start + np.arange(len(order), dtype=np.int32)
        operations = self.operations[order]
        for row in operations:
            size = ARGUMENTS[int(row[0])]
            row[1 : 1 + size] = moved[row[1 : 1 + size]]
        return dataclasses.replace(self, operations=operations, results=moved[self.results])

    @cached_property
    def alive(self) -> int:
        """Maximum number of results that are stored at the same time because later operations use them."""
        needs = needs_of(self.operations, self.first)
        return most_alive(needs, range(len(needs)))

    def jacobian(self, *names: str) -> "Program":
        """Return a program that computes the derivatives of all outputs with respect to inputs.

        ``names`` selects the inputs; by default, all inputs are used. All entries of q are treated as independent, also
        the entries of quaternions and (cos, sin) pairs. To obtain derivatives with respect to the velocity argument of
        ``pc.integrate``, multiply derivatives with respect to q by the output of ``pc.trace(model, "tangent")``.

        Raises:
            UnknownNameError: No input has one of these names.
        """
        input_names = [name for name, _ in self.inputs]
        for name in names:
            if name not in input_names:
                raise UnknownNameError(f"{self.name} has no input {name!r}; it has {', '.join(input_names)}.")
        rows = [backward([x], [1.0]) for x in self.expressions(Graph())]
        blocks: dict[str, np.ndarray] = {}
        for out, shape, gradients in self.by_output(rows):
            for name, places in self._inputs():
                if name in (names or input_names):
                    block = np.array([[row.get(i, 0.0) for i in places] for row in gradients], dtype=object)
                    blocks[f"d{out}_d{name}"] = block.reshape(*shape, len(places))
        return Program.of(f"{self.name}, derivatives", self.inputs, blocks)

    def vjp(self) -> "Program":
        """Return a program that computes vector-Jacobian products (reverse mode).

        The program takes the inputs and a vector with one number per output entry. It returns one array per input.
        """
        graph = Graph()
        outputs = self.expressions(graph)
        bars = tuple((f"{name}_bar", math.prod(shape)) for name, shape in self.outputs)
        sums = backward(outputs, graph.inputs(self._size, len(outputs)))
        products = {f"{name}_bar": objects([sums.get(i, 0.0) for i in indices]) for name, indices in self._inputs()}
        return Program.of(f"{self.name}, backward", (*self.inputs, *bars), products)

    def jvp(self) -> "Program":
        """Return a program that computes Jacobian-vector products (forward mode).

        The program takes the inputs and a change of each input. It returns the change of each output.
        """
        graph = Graph()
        outputs = self.expressions(graph)
        dots = tuple((f"{name}_dot", size) for name, size in self.inputs)
        changes = forward(outputs, graph.inputs(self._size, self._size))
        products = {f"{name}_dot": objects(entries).reshape(shape) for name, shape, entries in self.by_output(changes)}
        return Program.of(f"{self.name}, forward", (*self.inputs, *dots), products)

    def _inputs(self) -> Iterator[tuple[str, range]]:
        first = 0
        for name, size in self.inputs:
            yield name, range(first, first + size)
            first += size

    def by_output(self, entries: Sequence[_T]) -> Iterator[tuple[str, tuple[int, ...], Sequence[_T]]]:
        """Split a sequence with the entries of all outputs; yield the name, shape and entries of each output."""
        first = 0
        for name, shape in self.outputs:
            size = math.prod(shape)
            yield name, shape, entries[first : first + size]
            first += size

    def __str__(self) -> str:
        names = [repr(float(x)) for x in self.constants]
        names += [f"{name}[{i}]" for name, size in self.inputs for i in range(size)]
        lines = []
        for k, (op, *args) in enumerate(self.operations.tolist()):
            names.append(f"t{k}")
            lines.append(f"t{k} = {_SHOWN[op].format(*(names[i] for i in args))}")
        for name, shape, places in self.by_output(self.results.tolist()):
            for result, index in zip(places, np.ndindex(*shape), strict=True):
                lines.append(f"{name}[{', '.join(map(str, index))}] = {names[result]}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}[{size}]" for name, size in self.inputs)
        outputs = ", ".join(f"{name}{list(shape)}" for name, shape in self.outputs)
        return f"Program({self.name!r}: {inputs} -> {outputs}; {self.flops} flops)"


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
    if len(given) != len(program.inputs):
        names = ", ".join(f"{name} ({size})" for name, size in program.inputs)
        raise ShapeError(f"{program.name} has {len(program.inputs)} inputs: {names}; got {len(given)}.")


def objects(entries: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array
