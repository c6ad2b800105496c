"""The active engine, which determines whether calls run code traced for one robot or generic kernels for any robot.

Environment:
    PIN_CLUSTERS_ENGINE: Name of the engine: ``auto`` (the default), ``traced`` or ``tables``. See ``engine``.
"""

import contextlib
import importlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentTypeError, UnknownNameError, did_you_mean, shown
from .switches import BOUNDSCHECK, JIT

if TYPE_CHECKING:
    from .entry_points import Kernel

ENGINES = ("auto", "traced", "tables")
_VARIABLE = "PIN_CLUSTERS_ENGINE"


def _checked(name: Any, what: str) -> str:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"{what} must be {', '.join(map(repr, ENGINES))}, got {shown(name)}.")
    if name not in ENGINES:
        raise UnknownNameError(f"{what}: no such engine: {name!r}.{did_you_mean(name, ENGINES)}")
    return name


_DEFAULT = _checked(os.environ.get(_VARIABLE, "").strip() or "auto", _VARIABLE)
_active = ContextVar(_VARIABLE, default=_DEFAULT)
_maker: list[str] = []


@contextlib.contextmanager
def engine(name: str) -> Iterator[None]:
    """Select the engine for data that this thread creates, and batch functions that it calls, in the ``with`` block.

    All engines agree up to rounding errors. On one machine, repeated runs with an engine give identical results.

    - ``auto``, the default, uses robot-specific code if the number of operations is below a limit, and generic kernels
      otherwise. The code of a function is generated at its first call and stored on disk.
    - ``traced`` uses robot-specific code without this limit.
    - ``tables`` uses generic kernels, which Numba compiles once for all robots. Use ``tables`` in programs that create
      many robots with different structures, because this engine does not trace robots.

    Args:
        name: Name of the engine.

    Returns:
        A context manager.

    Raises:
        ArgumentTypeError: ``name`` is not a string.
        UnknownNameError: No engine has this name.

    Example:
        >>> import pin_clusters as pc
        >>> with pc.engine("tables"):
        ...     data = pc.load("four_bar").createData()
        >>> data.engine
        'tables'
    """
    token = _active.set(_checked(name, "engine"))
    try:
        yield
    finally:
        _active.reset(token)


def chosen() -> str:
    return _active.get()


def make_by(module: str, maker: str) -> None:
    """Set the class that creates a model's robot-specific code, and its module, which is imported at first use."""
    _maker[:] = module, maker


def functions_of(model: Any) -> Any:
    """Return the object that contains a model's robot-specific code, or None if all functions use generic kernels."""
    functions = model._functions
    if functions is not None and functions.asked:
        return functions
    if chosen() == "tables" or not JIT or BOUNDSCHECK:
        return None
    if functions is None:
        module, maker = _maker
        functions = getattr(importlib.import_module(module), maker)(model)
        object.__setattr__(model, "_functions", functions)
    return functions


def code_of(functions: Any, kernel: "Kernel", name: str = "") -> Any:
    """Return the robot-specific code of ``name`` (by default, the operation), or the kernel without ``functions``."""
    return kernel if functions is None else functions.code(name or kernel.operation.name)
