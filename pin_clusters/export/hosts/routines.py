"""Functions of one robot and their derivatives for PyTorch and JAX, for many states in float32 or float64."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from ...algorithms.contacts._objects import models_of, told
from ...compiler.machine_code.function import Compiled
from ...compiler.machine_code.sines import NUMBERS
from ...compiler.tracing import FUNCTIONS, Program, trace
from ...compiler.tracing.expressions import Graph
from ...compiler.tracing.functions import BUILDERS
from ...compiler.tracing.program import objects
from ...compiler.tracing.trace import frame_ids
from ...errors import ArgumentTypeError, PinClustersWarning, ShapeError
from ...kernels.tables.layout import CONDITION_LIMIT, ROW_NOT_FINITE, ROW_OPEN, ROW_SINGULAR
from ...model import ClusterModel, once_per

_REAL = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
# These tolerances are larger than elsewhere, because finite-difference checks open the loops slightly, and because the
# residual after an integration step contains the rounding errors of float32.
_OPEN = {"open": 1e-2, "residual": 1e-4}


class Found(NamedTuple):
    """Results for many states, with one row per state."""

    results: tuple[np.ndarray, ...]  # one array per output, shape (rows, *shape); NaN in rows that are not valid
    # status of each row, shape (rows,): 0 if valid, 1 if a loop is open (by 1e-2 of its size), 2 if the robot is
    # singular, 3 if an input is not finite or an angle is too large
    status: np.ndarray


class Routine:
    """A program for many states, with its derivatives; ``wrapped`` caches one wrapper per library."""

    def __init__(self, program: Program, judged: Program | None = None) -> None:
        """``judged`` is the same program with status outputs, or None for derivatives."""
        self.program, self.judged = program, judged
        self.inputs, self.outputs = program.inputs, program.outputs
        self.wrapped: dict[str, Any] = {}
        self._code: dict[np.dtype, Any] = {}
        self._backward: dict[tuple[bool, ...], Routine] = {}

    def backward(self, wanted: Sequence[bool] | None = None) -> "Routine":
        """Return the routine for the vector-Jacobian product, with the ``wanted`` gradients (by default all)."""
        selected = tuple(map(bool, wanted)) if wanted is not None else (True,) * len(self.inputs)
        routine_of_gradients = self._backward.get(selected)
        if routine_of_gradients is None:
            routine_of_gradients = self._backward[selected] = Routine(_only(self.program.vjp(), selected))
        return routine_of_gradients

    @cached_property
    def forward(self) -> "Routine":
        """The routine for the Jacobian-vector product, whose arguments are the inputs and their tangent vectors."""
        return Routine(self.program.jvp())

    @property
    def sizes(self) -> list[int]:
        return [math.prod(shape) for _, shape in self.outputs]

    def __call__(self, rows: Sequence[np.ndarray], marks: np.ndarray | None = None, *, silent: bool = True) -> Found:
        """Compute the results from one array of shape (rows, size) per input; all arrays must have the same type.

        For derivatives, ``marks`` is the status of the rows. If ``silent``, open or singular rows emit no warning.
        """
        inputs = [np.ascontiguousarray(x) for x in rows]
        dtype, n = inputs[0].dtype, len(inputs[0])
        code = self._code.get(dtype)
        if code is None:
            code = self._code[dtype] = Compiled(self.judged or self.program, _REAL[dtype])
        outputs = code(*inputs)
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        status = np.zeros(n, dtype=np.int8) if marks is None else np.array(marks)
        if self.judged is not None:
            names = [name for name, _ in self.judged.outputs]
            signs = dict(zip(names, results, strict=True))
            results = results[: len(self.outputs)]
            self._judge(status, inputs, results, signs)
            if not silent:
                self._warn(status)
        if status.any():
            for x in results:
                x[status != 0] = np.nan
        return Found(results, status)

    def _judge(
        self, status: np.ndarray, given: Sequence[np.ndarray], results: Sequence[np.ndarray], signs: dict[str, Any]
    ) -> None:
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
        if singular.any():  # a row can also be NaN because the sine of a huge angle is NaN
            angles = [x for (name, _), x in zip(self.inputs, given, strict=True) if name == "q"]
            with np.errstate(over="ignore"):
                angles = [x * x.dtype.type(NUMBERS[_REAL[x.dtype]].huge) for x in angles]
            status[~_finite(angles, len(status))] = ROW_NOT_FINITE

    def _warn(self, status: np.ndarray) -> None:
        open_, singular = (int(np.count_nonzero(status == code)) for code in (ROW_OPEN, ROW_SINGULAR))
        if open_ or singular:
            move = self.program.inputs[-1][0] == "v" and self.program.outputs[0][0] == "q"
            cure = "Use shorter steps." if move else "pc.project(model, q) closes the loops of a row."
            warnings.warn(
                f"{self.program.name}: {open_ + singular} of {len(status)} rows are NaN: a loop is open in {open_}, "
                f"and the robot is singular in {singular}. Request the status to identify the rows. {cure}",
                PinClustersWarning,
                stacklevel=2,
            )


def routine(model: ClusterModel, function: str, **options: Any) -> Routine:
    if not isinstance(model, ClusterModel):
        trace(model, function)  # raises an error with the reason
    if options.get("contacts") is not None:
        options["contacts"] = models_of(model, options["contacts"])
    if options.get("frames") is not None:
        options["frames"] = frame_ids(model, options["frames"])
    options = {name: list(x) if isinstance(x, Iterator) else x for name, x in options.items()}
    # Contact objects can change after they are created, so the cache key contains their contents.
    kinds = {"contacts": lambda contacts: tuple(map(told, contacts))}
    key = (
        function,
        *((name, kinds.get(name, tuple)(x) if isinstance(x, list) else x) for name, x in sorted(options.items())),
    )
    of_model = _routines(model)
    made_routine = of_model.get(key)
    if made_routine is None:
        program = trace(model, function, stack=function not in BUILDERS, **options)
        if function in BUILDERS:  # its own residual determines the status
            made_routine = Routine(program, program)
        elif function == "integrate":  # the residual only determines the status
            made_routine = Routine(_only(program, [name != "residual" for name, _ in program.outputs]), program)
        else:
            made_routine = Routine(program, trace(model, function, status=True, stack=True, **options))
        of_model[key] = made_routine
    return made_routine


@once_per("tables")
def _routines(_: ClusterModel) -> dict[Any, Routine]:
    return {}


def _only(program: Program, wanted: Sequence[bool]) -> Program:
    if all(wanted):
        return program
    outputs = program.by_output(program.expressions(Graph()))
    selected = {
        name: objects(cells).reshape(shape) for (name, shape, cells), take in zip(outputs, wanted, strict=True) if take
    }
    return Program.of(program.name, program.inputs, selected)


def check_shapes(name: str, inputs: Sequence[tuple[str, int]], shapes: Sequence[tuple[int, ...]]) -> None:
    if len(shapes) != len(inputs):
        named = ", ".join(f"{key} ({size})" for key, size in inputs)
        raise ShapeError(f"{name} requires {len(inputs)} arrays: {named}; got {len(shapes)}.")
    for (key, size), shape in zip(inputs, shapes, strict=True):
        if not shape or shape[-1] != size:
            raise ShapeError(f"{name}: {key} has shape {tuple(shape)}, expected ({size},) or (..., {size}).")
    try:
        np.broadcast_shapes(*(shape[:-1] for shape in shapes))
    except ValueError:
        shown = ", ".join(f"{key} {tuple(shape)}" for (key, _), shape in zip(inputs, shapes, strict=True))
        raise ShapeError(f"{name}: the axes before the last axis cannot be broadcast: {shown}.") from None


def check_types(name: str, inputs: Sequence[tuple[str, int]], types: Sequence[str], what: str) -> None:
    """Check that all arrays have the same type, float32 or float64; messages call the arrays ``what``."""
    if len(set(types)) > 1 or not set(types) <= {"float32", "float64"}:
        shown = ", ".join(f"{key} {kind}" for (key, _), kind in zip(inputs, types, strict=False))
        raise ArgumentTypeError(
            f"{name}: all {what} must be float32 or all must be float64, got {shown}. Convert the {what} to one type."
        )


def _finite(arrays: Sequence[np.ndarray], rows: int) -> np.ndarray:
    good = np.ones(rows, dtype=bool)
    for x in arrays:
        with np.errstate(all="ignore"):
            if not math.isfinite(x.sum()):  # the sum may overflow, so all entries must be checked
                good &= np.isfinite(x.reshape(rows, -1)).all(axis=1)
    return good


_INPUTS = {
    "q": "Configurations of the whole tree, shape (..., nq), [rad] or [m]",
    "v": "Independent velocities, shape (..., nv), [rad/s] or [m/s]",
    "a": "Independent accelerations, shape (..., nv), [rad/s^2] or [m/s^2]",
    "tau": "Independent torques, shape (..., nv), [N m] or [N]",
    "fext": "External forces in the joint frames, shape (..., 6 njoints), [N, N m]",
}
_DOC = """Compute ``{call}`` for rows of states.

Args:
    model: The model.
{arguments}    status: As in the functions that ``pc.{host}.function`` returns.
    options: Options of ``pc.trace``.

Returns:
    An array or a tuple of arrays, shape (..., shape of one state), in SI units: see ``pc.{host}.function``.

Example:
    >>> pc.{host}.{name}(model, {inputs}{option})  # doctest: +SKIP
"""


def attributes(host: str, function: Callable[..., Any], default: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return ``__getattr__`` and ``__dir__`` for a module that provides ``pc.tracing.FUNCTIONS`` for many states."""

    def listed() -> list[str]:
        return sorted({"function", "integrate", *FUNCTIONS})

    @cache
    def find(name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"module pc.{host} has no attribute {name!r}. Available: {', '.join(listed())}.")

        names, needs = FUNCTIONS[name].inputs, FUNCTIONS[name].about
        inputs = ", ".join(names)

        def of_model(model: ClusterModel, *given: Any, status: Any = default, **options: Any) -> Any:
            if needs and options.get(needs) is None and isinstance(model, ClusterModel):
                example = repr([model.own_tree.frames[-1].name]) if needs == "frames" else "[contact]"
                line = f"pc.{host}.{name}(model, {inputs}, {needs}={example})"
                raise ArgumentTypeError(f"pc.{host}.{name} requires {needs}: {line}.")
            return function(model, name, **options)(*given, status=status)

        of_model.__name__ = of_model.__qualname__ = name
        call = f"{name}(model, {inputs}, *, {needs}{', ' * bool(needs)}status={default}, **options)"
        arguments, option = "".join(f"    {x}: {_INPUTS[x]}.\n" for x in names), f", {needs}=..." * bool(needs)
        of_model.__doc__ = _DOC.format(
            host=host, name=name, call=call, arguments=arguments, inputs=inputs, option=option
        )
        return of_model

    return find, listed
