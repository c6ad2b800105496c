"""Entries of the kernels: they take the address of tables in place of tables, and call the passes of an operation."""

import functools
import importlib
from typing import Any

from ..kernels.numbers.memory import borrowed
from ..kernels.tables.addresses import record_at, tables
from .numba_jit.jit import Source, types_of, uncounted_inline
from .operations import Operation

# every argument by its name: compiled code has no other way to hand on what it is given
_ENTRY = """
def entry(address, {given}):
    index, params, work, result = tables(address)
    return passes(index, params, work, result, {borrowed})
"""


_BLOCK_ENTRY = """
def {name}(block):
    return passes(record_at(block))
"""


def block_entry_of(passes: Any, record: Any, kinds: tuple[str, ...]) -> Any:
    """Return what takes the address of a ``Block`` in place of the record of passes."""
    own = {"__name__": __name__, "passes": uncounted_inline(passes), "record_at": record_at(record, types_of(kinds))}
    text = _BLOCK_ENTRY.format(name=passes.__name__)
    exec(compile(text, __file__, "exec"), own)  # by its text: what encloses something is not kept on disk
    return own[passes.__name__]


def entry_of(passes: Any, arguments: int) -> Any:
    """Return what takes an address in place of the tables of passes."""
    given = [f"x{i}" for i in range(arguments)]
    text = _ENTRY.format(given=", ".join(given), borrowed=", ".join(f"borrowed({x})" for x in given))
    own = {"__name__": __name__, "passes": passes, "tables": tables, "borrowed": borrowed}
    exec(compile(text, __file__, "exec"), own)
    return own["entry"]


@functools.cache
def source(operation: Operation, loops: bool, name: str, title: str) -> Source:
    """Return what a kernel is made of, of a name; the title is said while it is compiled."""
    if operation.block:
        found = _found(operation.passes)
        entry = block_entry_of(found, _found(operation.block), operation.kinds)
        return Source(entry, ("i0",), title, found, operation.nogil)
    if operation.is_entry:
        return Source(_found(operation.passes), operation.kinds, title, None, operation.nogil)
    plain = _found(operation.passes + "_loops" * loops)
    entry = entry_of(plain, len(operation.kinds))
    entry.__name__ = entry.__qualname__ = name
    return Source(entry, ("i0", *operation.kinds), title, plain, operation.nogil)


def _found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"..kernels.{module}", __package__), name)
