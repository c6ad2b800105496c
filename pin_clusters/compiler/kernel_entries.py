"""Entry points of kernels. An entry point takes the address of the tables and calls the passes of an operation."""

import functools
import importlib
from typing import Any

from ..kernels.numbers.memory import borrowed
from ..kernels.tables.addresses import record_at, tables
from .numba_jit.jit import Source, types_of, uncounted_inline
from .operations import Operation

# Numba cannot forward *arguments, so the generated source code names every argument.
_ENTRY = """
def entry(address, {parameters}):
    index, params, work, result = tables(address)
    return passes(index, params, work, result, {borrowed})
"""


_BLOCK_ENTRY = """
def {name}(block):
    return passes(record_at(block))
"""


def block_entry_of(passes: Any, record: Any, kinds: tuple[str, ...]) -> Any:
    """Return an entry point that takes the address of a ``Block`` in place of the record that the passes require."""
    scope = {"__name__": __name__, "passes": uncounted_inline(passes), "record_at": record_at(record, types_of(kinds))}
    text = _BLOCK_ENTRY.format(name=passes.__name__)
    exec(compile(text, __file__, "exec"), scope)  # Numba cannot cache closures, so the code is generated.
    return scope[passes.__name__]


def entry_of(passes: Any, arguments: int) -> Any:
    parameters = [f"x{i}" for i in range(arguments)]
    text = _ENTRY.format(parameters=", ".join(parameters), borrowed=", ".join(f"borrowed({x})" for x in parameters))
    scope = {"__name__": __name__, "passes": passes, "tables": tables, "borrowed": borrowed}
    exec(compile(text, __file__, "exec"), scope)
    return scope["entry"]


@functools.cache
def source(operation: Operation, loops: bool, name: str, title: str) -> Source:
    if operation.block:
        passes = _function_at(operation.passes)
        entry = block_entry_of(passes, _function_at(operation.block), operation.kinds)
        return Source(entry, ("i0",), title, passes, operation.nogil)
    if operation.is_entry:
        return Source(_function_at(operation.passes), operation.kinds, title, None, operation.nogil)
    plain = _function_at(operation.passes + "_loops" * loops)
    entry = entry_of(plain, len(operation.kinds))
    entry.__name__ = entry.__qualname__ = name
    return Source(entry, ("i0", *operation.kinds), title, plain, operation.nogil)


def _function_at(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"..kernels.{module}", __package__), name)
