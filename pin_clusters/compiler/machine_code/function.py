"""The class ``Compiled`` compiles a program to a function of this process."""

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError, ShapeError
from ..tracing.program import Program, check_number
from .kinds import Kind
from .loading import load
from .machine import lanes_of_host
from .text import function_text, module_text, rows_text


class Compiled:
    """A program that is compiled to machine code for this processor. It can be pickled and called from any thread.

    Attributes:
        program: The program.
        real: Type of the computation, ``double`` or ``float``.
        dtype: NumPy type of all input and output arrays.
        lanes: Number of rows that are computed at the same time.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> from pin_clusters.compiler import tracing
        >>> from pin_clusters.compiler.machine_code.function import Compiled
        >>> model = pc.load("four_bar")
        >>> energies = Compiled(tracing.trace(model, "energies"))
        >>> kinetic, potential = energies(model.q_reference, np.ones(model.nv))
        >>> kinetic.shape, energies(np.tile(model.q_reference, (9, 1)), np.ones((9, model.nv)))[0].shape
        ((1,), (9, 1))
    """

    def __init__(self, program: Program, real: str = "double") -> None:
        """``real`` is the number type of all inputs and outputs. The program is compiled at the first call."""
        Kind(real)  # raises for an unknown type
        self.program, self.real = program, real
        self.dtype = np.dtype(np.float64 if real == "double" else np.float32)
        self.lanes = lanes_of_host(real)
        self._pointers = [ctypes.c_void_p] * (len(program.inputs) + len(program.outputs))

    @cached_property
    def one(self) -> Callable[..., None]:
        """The function for one state, which takes the addresses of inputs and outputs. It is compiled at first use."""
        module = load(module_text(function_text(self.program, "one", self.real)))
        return ctypes.PYFUNCTYPE(None, *self._pointers)(module.address("one"))

    @cached_property
    def _rows(self) -> Callable[..., None]:
        """The function for rows of states. It is compiled at first use and releases the interpreter lock."""
        text = rows_text(self.program, "rows", self.real, self.lanes)
        module, number = load(module_text(text, rows=(self.real, self.lanes))), ctypes.c_int64
        return ctypes.CFUNCTYPE(None, *self._pointers, number, number)(module.address("rows"))

    def __reduce__(self) -> tuple[Any, ...]:
        return Compiled, (self.program, self.real)

    def __call__(self, *given: np.ndarray, out: Any = None) -> Any:
        """Compute the outputs for one state, or for rows of states.

        Args:
            given: One contiguous array of type ``dtype`` per input. Either all arrays have the shape (size,), or all
                have the shape (rows, size).
            out: Array for the result, or one array per output if there are several. It must not overlap the inputs.

        Returns:
            One array per output, whose first axis is the row if there are rows. A single output is returned directly.

        Raises:
            ArgumentTypeError: An array has the wrong type or is not contiguous, or ``out`` overlaps an input.
            NotAvailableError: The operating system forbids this process to execute memory that it has written.
            ShapeError: The number or the shape of inputs or outputs is wrong.
        """
        rows = self._look_at(given)
        shape = () if rows is None else (rows,)
        shapes = [(*shape, *shape_of_state) for _, shape_of_state in self.program.outputs]
        results = self._output_arrays(out, shapes, given)
        pointers = [x.ctypes.data for x in (*given, *results)]
        if rows is None:
            self.one(*pointers)
        elif rows:
            self._rows(*pointers, 0, rows)
        return results[0] if len(results) == 1 else tuple(results)

    def on_rows(self, arrays: Sequence[np.ndarray]) -> Callable[[int, int], None]:
        """Return a function run(first, last) that computes the rows first to last - 1 of the given arrays.

        Args:
            arrays: The inputs, then the outputs, each with shape (rows, ...). An output may be an input: each pack of
                rows is read completely before its results are written. The function keeps the arrays alive.

        Raises:
            ArgumentTypeError: An array has the wrong type or is not contiguous.
            ShapeError: The number or the shape of arrays is wrong, or an output is not writeable.
        """
        inputs, outputs = arrays[: len(self.program.inputs)], arrays[len(self.program.inputs) :]
        rows = self._look_at(inputs)
        if rows is None:
            raise ShapeError(f"{self.program.name}: expected arrays with one row per state.")
        shapes = [(rows, *shape) for _, shape in self.program.outputs]
        self._check_outputs(outputs, shapes)
        function, pointers, kept = self._rows, [x.ctypes.data for x in arrays], tuple(arrays)

        def run(first: int, last: int) -> None:
            if not 0 <= first <= last <= rows:
                raise ShapeError(f"{self.program.name}: rows {first} to {last - 1} of {rows}.")
            if kept and first < last:
                function(*pointers, first, last)

        return run

    def _look_at(self, given: Sequence[Any]) -> int | None:
        check_number(self.program, given)
        lead = given[0].shape[:-1] if given and isinstance(given[0], np.ndarray) else ()
        for (label, n), x in zip(self.program.inputs, given, strict=True):
            self._is_plain(label, x)
            if len(lead) > 1 or x.shape != (*lead, n):
                raise ShapeError(
                    f"{self.program.name}: {label} has shape {x.shape}, expected ({n},) for one state or (rows, {n}). "
                    "All inputs must have the same number of rows."
                )
        return int(lead[0]) if lead else None

    def _is_plain(self, label: str, x: Any) -> None:
        if not isinstance(x, np.ndarray) or x.dtype != self.dtype or not x.flags.c_contiguous or not x.flags.aligned:
            kind = f"{x.dtype}, strides {x.strides}" if isinstance(x, np.ndarray) else type(x).__name__
            raise ArgumentTypeError(
                f"{self.program.name}: {label} must be a contiguous array of {self.dtype}, got {kind}. Pass "
                f"np.ascontiguousarray({label}, dtype=np.{self.dtype})."
            )

    def _output_arrays(
        self, out: Any, shapes: Sequence[tuple[int, ...]], given: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        if out is None:
            return [np.empty(shape, dtype=self.dtype) for shape in shapes]
        arrays = [out] if isinstance(out, np.ndarray) else list(out)
        self._check_outputs(arrays, shapes)
        for x, (name, _) in zip(arrays, self.program.outputs, strict=True):
            if any(np.may_share_memory(x, y) for y in (*given, *(y for y in arrays if y is not x))):
                raise ArgumentTypeError(
                    f"{self.program.name}: out ({name}) overlaps another array. Pass a separate array, or omit out."
                )
        return arrays

    def _check_outputs(self, arrays: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]) -> None:
        if len(arrays) != len(shapes):
            raise ShapeError(f"{self.program.name} has {len(shapes)} outputs, but out has {len(arrays)} arrays.")
        for x, shape, (name, _) in zip(arrays, shapes, self.program.outputs, strict=True):
            label = f"out ({name})"
            self._is_plain(label, x)
            if x.shape != shape or not x.flags.writeable:
                raise ShapeError(f"{self.program.name}: {label} must be writeable and of shape {shape}, got {x.shape}.")
