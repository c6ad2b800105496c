"""The doors of the kernels: what takes the address of tables in place of tables, made of the passes of an operation."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from .kernels.compiling.jit import Source
from .kernels.numbers.memory import borrowed
from .kernels.tables.addresses import tables
from .operations import Operation

# every argument by its name: compiled code has no other way to hand on what it is given
_DOOR = """
def door(address, {given}):
    index, params, work, result = tables(address)
    return passes(index, params, work, result, {borrowed})
"""


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
    if operation.is_door:
        return Source(_found(operation.passes), operation.kinds, title, None, operation.nogil)
    plain = _found(operation.passes + "_loops" * loops)
    door = door_of(plain, len(operation.kinds))
    door.__name__ = door.__qualname__ = name
    return Source(door, ("i0", *operation.kinds), title, plain, operation.nogil)


def _found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f".kernels.{module}", __package__), name)
