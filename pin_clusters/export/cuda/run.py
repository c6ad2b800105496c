"""Functions of ``pc.batch`` on arrays that live on a GPU."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...compiler.tracing import Program, trace
from ...errors import ArgumentTypeError, NotAvailableError, ShapeError
from ...model import ClusterModel
from ..codegen import cuda
from ..codegen._exported_function import STATUS
from . import driver as drivers
from .arrays import REALS, View, rows_of, same_device, together, view
from .libraries import empty, library_of, stream_of

_STATUS = np.dtype(np.int8)
_ROBOT = "robot"  # in names of kernels
# what decides by values, or has results of another form
_OTHERS = {
    "project": "it repeats until loops are closed",
    "forwardKinematics": "its rows are quaternions; pc.codegen.cuda has framesForwardKinematics",
    "simulate": "call pc.batch.aba and pc.batch.integrate, which do, in a loop or a graph",
}


class Argument(NamedTuple):
    """An argument with a row per state: its name, the array, and the shape of a row."""

    name: str
    value: Any
    shape: tuple[int, ...]


class _Kernel(NamedTuple):
    program: Program
    code: Any
    topology: Any


_lock = threading.RLock()
_kernels: dict[Any, _Kernel] = {}
_MOST = 256


def run(
    model: ClusterModel, function: str, given: Sequence[Argument], out: Any = None, status: Any = None, **options: Any
) -> Any:
    """Run a function for rows of states on the device where they live.

    It is enqueued on the stream on which the library of the first array works now; nothing is copied or converted, and
    nothing waits. The first call compiles (a second or two) and waits for that.

    Args:
        model: The robot.
        function: Name in ``pc.tracing.FUNCTIONS``.
        given: Its arguments, in the order of the trace's inputs.
        out: Where to write, an array or one per result; None: new ones.
        status: Where to write what became of the rows, int8, or None.
        options: Of ``pc.trace``.

    Returns:
        The results, of the caller's library: alone if there is one.

    Raises:
        ArgumentTypeError: An array is not contiguous, of another type or on another device than the others.
        ShapeError: A size is wrong.
        TooLargeError: There is not so much memory on the device.
        NotAvailableError: There is no driver, or the function cannot run there.
    """
    if function in _OTHERS:
        raise NotAvailableError(
            f"pc.batch.{function} does not run on a GPU: {_OTHERS[function]}. Or bring the rows to the memory of the "
            "host."
        )
    views = [view(x.name, x.value) for x in given]
    dtype, device = together(function, views)
    rows: int | None = None
    for seen, x in zip(views, given, strict=True):
        rows = rows_of(function, seen, x.shape, rows)
    assert rows is not None
    kernel = _kernel(model, function, REALS[dtype], device, options)
    shapes = [shape for name, shape in kernel.program.outputs if name not in STATUS]
    results = _results(function, given[0].value, views[0], out, [(rows, *shape) for shape in shapes])
    pointers = [x.pointer for x in views] + [x.pointer for x in results[1]]
    pointers.append(_status(function, views[0], status, rows))
    if rows:
        stream, using = stream_of(given[0].value, views[0]), drivers.driver()
        using.launch(device, stream, kernel.code, rows, [*pointers, np.int64(rows)])
        if library_of(given[0].value) not in ("torch", "cupy"):
            using.finish(stream)  # others do not know that their arrays are still to be written
    return results[0][0] if len(results[0]) == 1 else tuple(results[0])


def _results(
    function: str, like: Any, seen: View, out: Any, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[Any], list[View]]:
    """Return arrays of results, and where they are."""
    if out is None:
        arrays = [empty(like, seen, shape, seen.dtype) for shape in shapes]
    else:
        arrays = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(arrays) != len(shapes):
            raise ShapeError(f"{function} has {len(shapes)} results; out has {len(arrays)} arrays.")
    views = [view("out", x) for x in arrays]
    for x, shape in zip(views, shapes, strict=True):
        together(function, [seen, x])
        rows_of(function, x, shape[1:], shape[0])
    return arrays, views


def _status(function: str, seen: View, status: Any, rows: int) -> int:
    """Return where the status goes; 0: nowhere."""
    if status is None:
        return 0
    x = view("status", status)
    if x.dtype != _STATUS:
        raise ArgumentTypeError(f"{function}: status must be of int8, got {x.dtype}.")
    same_device(function, seen, x)
    rows_of(function, x, (), rows)
    return x.pointer


def _kernel(model: ClusterModel, function: str, real: str, device: int, options: dict[str, Any]) -> _Kernel:
    """Return a kernel: made when it is asked for first."""
    # by the numbers: models that differ in them may share a topology
    robot = id(model.tables.topology), model.tables.params.tobytes()
    key = (*robot, function, real, device, *sorted((name, repr(x)) for name, x in options.items()))
    with _lock:
        if key not in _kernels:
            using = drivers.driver()
            architecture = using.architecture(device)
            program = trace(model, function, status=True, **options)
            text = cuda(model, program, real=real, status=True, name=_ROBOT)
            code = drivers.machine_code(text, architecture)
            if len(_kernels) >= _MOST:
                _kernels.clear()
            # the topology is kept, so that no other one has its id
            made = _Kernel(program, using.load(device, code, f"{_ROBOT}_{function}"), model.tables.topology)
            _kernels[key] = made
        return _kernels[key]
