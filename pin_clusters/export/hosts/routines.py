"""Functions of one robot over rows of float32 or float64, and what becomes of them by differentiation.

What PyTorch and JAX have in common: neither is known here.
"""

import math
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...algorithms.contacts._objects import models_of, told
from ...compiler.machine_code.function import Compiled
from ...compiler.machine_code.sines import NUMBERS
from ...compiler.tracing import FUNCTIONS, Program, trace
from ...compiler.tracing.expressions import Graph
from ...compiler.tracing.program import objects
from ...compiler.tracing.trace import frame_ids
from ...errors import ArgumentTypeError, PinClustersWarning, ShapeError
from ...kernels.tables.layout import CONDITION_LIMIT, ROW_NOT_FINITE, ROW_OPEN, ROW_SINGULAR
from ...model import ClusterModel

_REAL = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
# Loops of a state may be open by more than elsewhere: who compares derivatives with differences opens them. What a step
# leaves open tells whether Newton's method converged, float32 included.
_OPEN = {"open": 1e-2, "residual": 1e-4}
_known: "dict[int, dict[Any, Routine]]" = {}


class Found(NamedTuple):
    """Results of rows."""

    results: tuple[np.ndarray, ...]  # one array per output, shape (rows, *shape); NaN in rows that are not good
    # of each row, shape (rows,): 0 good, 1 a loop is open (by 1e-2 of its size), 2 singular, 3 the input is not finite,
    # or an angle is huge
    status: np.ndarray


class Routine:
    """A program over rows, with its derivatives.

    Attributes:
        program: What it computes.
        inputs: Name and size of each input.
        outputs: Name and shape of each output.
        wrapped: What other libraries keep of it, by their names.
    """

    def __init__(self, program: Program, judged: Program | None = None) -> None:
        """Take a program; ``judged``: the same, then what tells whether a row is good; None for derivatives."""
        self.program, self.judged = program, judged
        self.inputs, self.outputs = program.inputs, program.outputs
        self.wrapped: dict[str, Any] = {}
        self._code: dict[np.dtype, Any] = {}
        self._backward: dict[tuple[bool, ...], Routine] = {}

    def backward(self, wanted: Sequence[bool] | None = None) -> "Routine":
        """Return what takes the inputs and a number per entry of the outputs, and returns an array per wanted input."""
        chosen = tuple(map(bool, wanted)) if wanted is not None else (True,) * len(self.inputs)
        found = self._backward.get(chosen)
        if found is None:
            found = self._backward[chosen] = Routine(_only(self.program.vjp(), chosen))
        return found

    @cached_property
    def forward(self) -> "Routine":
        """Takes the inputs and a change of each; returns the changes of the outputs."""
        return Routine(self.program.jvp())

    @property
    def sizes(self) -> list[int]:
        """How many numbers each output has."""
        return [math.prod(shape) for _, shape in self.outputs]

    def __call__(self, rows: Sequence[np.ndarray], marks: np.ndarray | None = None, *, silent: bool = True) -> Found:
        """Compute rows.

        Args:
            rows: An array per input, of one type, of shape (rows, size); copied if it is not contiguous.
            marks: Of derivatives: the status of the rows.
            silent: Whether to say nothing of rows that are open or singular.
        """
        given = [np.ascontiguousarray(x) for x in rows]
        dtype, n = given[0].dtype, len(given[0])
        code = self._code.get(dtype)
        if code is None:
            code = self._code[dtype] = Compiled(self.judged or self.program, _REAL[dtype])
        found = code(*given)
        results = found if isinstance(found, tuple) else (found,)
        status = np.zeros(n, dtype=np.int8) if marks is None else np.array(marks)
        if self.judged is not None:
            names = [name for name, _ in self.judged.outputs]
            own, signs = results[: len(self.outputs)], dict(zip(names, results, strict=True))
            results = own
            self._judge(status, given, own, signs)
            if not silent:
                self._warn(status)
        if status.any():
            for x in results:
                x[status != 0] = np.nan
        return Found(results, status)

    def _judge(
        self, status: np.ndarray, given: Sequence[np.ndarray], results: Sequence[np.ndarray], signs: dict[str, Any]
    ) -> None:
        """Mark rows that are not good."""
        singular = ~_finite(results, len(status))
        if "pivot" in signs:
            singular |= ~(signs["pivot"][:, 0] > 0.0)
        if "condition" in signs:
            singular |= ~(signs["condition"][:, 0] < CONDITION_LIMIT)
        status[singular] = ROW_SINGULAR
        for name, limit in _OPEN.items():
            if name in signs:
                status[~(signs[name][:, 0] <= limit)] = ROW_OPEN
        status[~_finite(given, len(status))] = ROW_NOT_FINITE
        if singular.any():  # sines of huge angles are NaN
            angles = [x for (name, _), x in zip(self.inputs, given, strict=True) if name == "q"]
            with np.errstate(over="ignore"):
                angles = [x * x.dtype.type(NUMBERS[_REAL[x.dtype]].huge) for x in angles]
            status[~_finite(angles, len(status))] = ROW_NOT_FINITE

    def _warn(self, status: np.ndarray) -> None:
        open_, singular = (int(np.count_nonzero(status == code)) for code in (ROW_OPEN, ROW_SINGULAR))
        if open_ or singular:
            move = self.program.inputs[-1][0] == "v" and self.program.outputs[0][0] == "q"
            cure = "Take shorter steps." if move else "pc.project(model, q) closes a row."
            warnings.warn(
                f"{self.program.name}: {open_ + singular} of {len(status)} rows are NaN: in {open_} a loop is open, in "
                f"{singular} the robot is singular. Ask for the status to see which. {cure}",
                PinClustersWarning,
                stacklevel=2,
            )


def routine(model: ClusterModel, function: str, **options: Any) -> Routine:
    """Return a function of a robot over rows, as of ``pc.trace``; made once per model.

    Raises:
        ArgumentTypeError: It is no ``ClusterModel``.
        UnknownNameError: There is no such function.
        NotAvailableError: A function of the user ties joints of the robot.
    """
    if not isinstance(model, ClusterModel):
        trace(model, function)  # says what is wrong
    if options.get("contacts") is not None:
        options["contacts"] = models_of(model, options["contacts"])
    if options.get("frames") is not None:
        options["frames"] = frame_ids(model, options["frames"])
    options = {name: list(x) if isinstance(x, Iterator) else x for name, x in options.items()}
    kinds = {"contacts": lambda contacts: tuple(map(told, contacts))}  # they may be changed later
    key = (
        function,
        *((name, kinds.get(name, tuple)(x) if isinstance(x, list) else x) for name, x in sorted(options.items())),
    )
    tables = model.tables
    kept = _known.get(id(tables))
    if kept is None:
        kept = _known[id(tables)] = {}
        weakref.finalize(tables, _known.pop, id(tables), None)
    found = kept.get(key)
    if found is None:
        program = trace(model, function, stack=True, **options)
        if function == "integrate":  # what it leaves open is a result
            found = Routine(_only(program, [name != "residual" for name, _ in program.outputs]), program)
        else:
            found = Routine(program, trace(model, function, status=True, stack=True, **options))
        kept[key] = found
    return found


def _only(program: Program, wanted: Sequence[bool]) -> Program:
    """Return the program with some of its outputs, and without the operations that only others need."""
    if all(wanted):
        return program
    outputs = program.by_output(program.expressions(Graph()))
    found = {
        name: objects(own).reshape(shape) for (name, shape, own), take in zip(outputs, wanted, strict=True) if take
    }
    return Program.of(program.name, program.inputs, found)


def check_shapes(name: str, inputs: Sequence[tuple[str, int]], shapes: Sequence[tuple[int, ...]]) -> None:
    """Refuse arguments whose last axis has another size than the input, or whose other axes or number do not fit."""
    if len(shapes) != len(inputs):
        named = ", ".join(f"{key} ({size})" for key, size in inputs)
        raise ShapeError(f"{name} takes {len(inputs)} arrays: {named}; {len(shapes)} were given.")
    for (key, size), shape in zip(inputs, shapes, strict=True):
        if not shape or shape[-1] != size:
            raise ShapeError(f"{name}: {key} has shape {tuple(shape)}, but needs ({size},) or (..., {size}).")
    try:
        np.broadcast_shapes(*(shape[:-1] for shape in shapes))
    except ValueError:
        shown = ", ".join(f"{key} {tuple(shape)}" for (key, _), shape in zip(inputs, shapes, strict=True))
        raise ShapeError(f"{name}: axes before the last one do not fit each other: {shown}.") from None


def check_types(name: str, inputs: Sequence[tuple[str, int]], types: Sequence[str], what: str) -> None:
    """Refuse arguments that are not of one type, float32 or float64; ``what``: what their library calls arrays."""
    if len(set(types)) > 1 or not set(types) <= {"float32", "float64"}:
        shown = ", ".join(f"{key} {kind}" for (key, _), kind in zip(inputs, types, strict=False))
        raise ArgumentTypeError(
            f"{name} takes {what} of one type, float32 or float64, got {shown}. Convert them: nothing is converted "
            "silently."
        )


def _finite(arrays: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """Return which rows of all arrays are finite."""
    good = np.ones(rows, dtype=bool)
    for x in arrays:
        with np.errstate(all="ignore"):
            if not math.isfinite(x.sum()):  # or finite numbers have a sum that is not
                good &= np.isfinite(x.reshape(rows, -1)).all(axis=1)
    return good


def attributes(host: str, function: Callable[..., Any], default: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return ``__getattr__`` and ``__dir__`` of a module: functions of ``pc.tracing.FUNCTIONS`` of a model and rows."""

    def listed() -> list[str]:
        return sorted({"function", "integrate", *FUNCTIONS})

    def find(name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"module pc.{host} has no attribute {name!r}; it has {', '.join(listed())}.")

        inputs, needs = ", ".join(FUNCTIONS[name].inputs), FUNCTIONS[name].about

        def of_model(model: ClusterModel, *given: Any, status: Any = default, **options: Any) -> Any:
            if needs and options.get(needs) is None and isinstance(model, ClusterModel):
                example = repr([model.own_tree.frames[-1].name]) if needs == "frames" else "[contact]"
                line = f"pc.{host}.{name}(model, {inputs}, {needs}={example})"
                raise ArgumentTypeError(f"pc.{host}.{name} is about {needs}, which are missing. Write {line}.")
            return function(model, name, **options)(*given, status=status)

        of_model.__name__ = of_model.__qualname__ = name
        call = f"{name}(model, {inputs}, *, {needs}{', ' * bool(needs)}status={default}, **options)"
        of_model.__doc__ = f"Compute ``{call}``: see ``pc.{host}.function``."
        return of_model

    return find, listed
