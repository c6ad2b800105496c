"""Which engine computes: code that is traced for the robot at hand, or kernels that read the tables of any robot.

Environment:
    PIN_CLUSTERS_ENGINE: ``auto`` (or nothing), ``traced`` or ``tables``: see ``engine``.
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
        raise UnknownNameError(f"{what}: there is no engine {name!r}.{did_you_mean(name, ENGINES)}")
    return name


_DEFAULT = _checked(os.environ.get(_VARIABLE, "").strip() or "auto", _VARIABLE)
_chosen = ContextVar(_VARIABLE, default=_DEFAULT)
_maker: list[str] = []


@contextlib.contextmanager
def engine(name: str) -> Iterator[None]:
    """Choose which engine data that are made here work with, and batches that are run here; in this thread.

    Results are the same up to rounding; each engine gives the same bits in each run on one machine.

    - ``auto``, which is the choice elsewhere: code for the robot at hand, traced at the first call of a function and
      kept on disk, where its operations are no more than a limit; else kernels by tables.
    - ``traced``: beyond the limit as well.
    - ``tables``: kernels for all robots, which Numba compiles once: for programs that make many robots of different
      structure, each of which would be traced.

    Args:
        name: Of the engine.

    Returns:
        A context, for ``with``.

    Raises:
        ArgumentTypeError: It is no text.
        UnknownNameError: There is no such engine.

    Example:
        >>> import pin_clusters as pc
        >>> with pc.engine("tables"):
        ...     data = pc.load("four_bar").createData()
        >>> data.engine
        'tables'
    """
    token = _chosen.set(_checked(name, "engine"))
    try:
        yield
    finally:
        _chosen.reset(token)


def chosen() -> str:
    """Return which engine is chosen here."""
    return _chosen.get()


def make_by(module: str, maker: str) -> None:
    """Say what makes the functions of a model, by name: it is above, and imported when it is needed."""
    _maker[:] = module, maker


def functions_of(model: Any) -> Any:
    """Return what has code of the model's own; None if kernels by tables do all."""
    found = model._functions
    if found is not None and found.asked:
        return found
    if chosen() == "tables" or not JIT or BOUNDSCHECK:
        return None
    if found is None:
        module, maker = _maker
        found = getattr(importlib.import_module(module), maker)(model)
        object.__setattr__(model, "_functions", found)
    return found


def code_of(functions: Any, kernel: "Kernel", name: str = "") -> Any:
    """Return what does the work of a kernel, or of the function of that name: a model's own code, if it has some."""
    return kernel if functions is None else functions.code(name or kernel.operation.name)
