"""Functions of ``pc.batch`` for arrays in GPU memory."""

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
_ROBOT = "robot"  # prefix of the names of kernels
# Functions of ``pc.batch`` without a kernel, with the reason or a replacement.
_OTHERS = {
    "project": "it iterates until the loops are closed",
    "forwardKinematics": "its rows contain quaternions; use framesForwardKinematics of pc.codegen.cuda",
    "simulate": "call pc.batch.aba and pc.batch.integrate in a loop or a CUDA graph",
}


class Argument(NamedTuple):
    """An argument with one row per state: its name, the array, and the shape of a row."""

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
    """Run a function for many states, one per row, on the device whose memory contains the arrays.

    The kernel is enqueued on the current stream of the first array's library. No array is copied or converted. With
    torch or cupy, the call does not wait for the result. The first call compiles the kernel in about two seconds.

    Args:
        model: The robot.
        function: A name in ``pc.tracing.FUNCTIONS``.
        given: Arguments, in the order of the trace's inputs.
        out: Array for the result, or one array per result; None for new arrays.
        status: Array of int8 to which the status of each row is written, or None.
        options: Options of ``pc.trace``.

    Returns:
        The result as an array of the caller's library; if there are several results, a tuple of arrays.

    Raises:
        ArgumentTypeError: An array is not contiguous, or the arrays have different types or devices.
        ShapeError: A shape is wrong.
        TooLargeError: The device has too little memory.
        NotAvailableError: The driver is missing, or the function cannot run on a GPU.
    """
    if function in _OTHERS:
        raise NotAvailableError(
            f"pc.batch.{function} does not run on a GPU: {_OTHERS[function]}. Alternatively, move the rows to host "
            "memory."
        )
    views = [view(x.name, x.value) for x in given]
    dtype, device = together(function, views)
    rows: int | None = None
    for described, x in zip(views, given, strict=True):
        rows = rows_of(function, described, x.shape, rows)
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
            using.finish(stream)  # it is unknown whether other libraries wait for the stream
    return results[0][0] if len(results[0]) == 1 else tuple(results[0])


def _results(
    function: str, like: Any, seen: View, out: Any, shapes: Sequence[tuple[int, ...]]
) -> tuple[list[Any], list[View]]:
    if out is None:
        arrays = [empty(like, seen, shape, seen.dtype) for shape in shapes]
    else:
        arrays = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(arrays) != len(shapes):
            raise ShapeError(f"{function} has {len(shapes)} results, but out contains {len(arrays)} arrays.")
    views = [view("out", x) for x in arrays]
    for x, shape in zip(views, shapes, strict=True):
        together(function, [seen, x])
        rows_of(function, x, shape[1:], shape[0])
    return arrays, views


def _status(function: str, seen: View, status: Any, rows: int) -> int:
    if status is None:
        return 0
    x = view("status", status)
    if x.dtype != _STATUS:
        raise ArgumentTypeError(f"{function}: status must be an int8 array, got {x.dtype}.")
    same_device(function, seen, x)
    rows_of(function, x, (), rows)
    return x.pointer


def _kernel(model: ClusterModel, function: str, real: str, device: int, options: dict[str, Any]) -> _Kernel:
    # The key contains the parameters, because models with different parameters can share a topology.
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
            # The entry keeps the topology alive, so that no other object can have the same id.
            entry = _Kernel(program, using.load(device, code, f"{_ROBOT}_{function}"), model.tables.topology)
            _kernels[key] = entry
        return _kernels[key]
