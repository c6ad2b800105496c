"""The doors of the kernels: what takes the address of tables in place of tables, made of the passes of an operation."""

import functools
import importlib
from typing import Any

from ..kernels.numbers.memory import borrowed
from ..kernels.tables.addresses import record_at, tables
from .numba_jit.jit import Source, types_of, uncounted_inline
from .operations import Operation

# every argument by its name: compiled code has no other way to hand on what it is given
_DOOR = """
def door(address, {given}):
    index, params, work, result = tables(address)
    return passes(index, params, work, result, {borrowed})
"""


_BLOCK_DOOR = """
def {name}(block):
    return passes(record_at(block))
"""


def block_door_of(passes: Any, record: Any, kinds: tuple[str, ...]) -> Any:
    """Return what takes the address of a ``Block`` in place of the record of passes."""
    own = {"__name__": __name__, "passes": uncounted_inline(passes), "record_at": record_at(record, types_of(kinds))}
    text = _BLOCK_DOOR.format(name=passes.__name__)
    exec(compile(text, __file__, "exec"), own)  # by its text: what encloses something is not kept on disk
    return own[passes.__name__]


def door_of(passes: Any, arguments: int) -> Any:
    """Return what takes an address in place of the tables of passes."""
    given = [f"x{i}" for i in range(arguments)]
    text = _DOOR.format(given=", ".join(given), borrowed=", ".join(f"borrowed({x})" for x in given))
    own = {"__name__": __name__, "passes": passes, "tables": tables, "borrowed": borrowed}
    exec(compile(text, __file__, "exec"), own)
    return own["door"]


@functools.cache
def source(operation: Operation, loops: bool, name: str, title: str) -> Source:
    """Return what a kernel is made of, of a name; the title is said while it is compiled."""
    if operation.block:
        found = _found(operation.passes)
        door = block_door_of(found, _found(operation.block), operation.kinds)
        return Source(door, ("i0",), title, found, operation.nogil)
    if operation.is_door:
        return Source(_found(operation.passes), operation.kinds, title, None, operation.nogil)
    plain = _found(operation.passes + "_loops" * loops)
    door = door_of(plain, len(operation.kinds))
    door.__name__ = door.__qualname__ = name
    return Source(door, ("i0", *operation.kinds), title, plain, operation.nogil)


def _found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f"..kernels.{module}", __package__), name)
