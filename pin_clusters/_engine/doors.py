"""The doors of the kernels: what takes the address of tables in place of tables, made of the passes of an operation."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from .kernels.compiling.jit import Source
from .kernels.numbers.memory import borrowed
from .kernels.tables.addresses import tables
from .operations import Operation


# as many as there are arguments: compiled code has no other way to hand on what it is given
def _of_one(passes):
    def door(address, a):
        index, params, work, result = tables(address)
        return passes(index, params, work, result, borrowed(a))

    return door


def _of_two(passes):
    def door(address, a, b):
        index, params, work, result = tables(address)
        return passes(index, params, work, result, borrowed(a), borrowed(b))

    return door


def _of_four(passes):
    def door(address, a, b, c, d):
        index, params, work, result = tables(address)
        return passes(index, params, work, result, borrowed(a), borrowed(b), borrowed(c), borrowed(d))

    return door


def _of_five(passes):
    def door(address, a, b, c, d, e):
        index, params, work, result = tables(address)
        return passes(
            index, params, work, result, borrowed(a), borrowed(b), borrowed(c), borrowed(d), borrowed(e)
        )  # fmt: skip

    return door


def _of_seven(passes):
    def door(address, a, b, c, d, e, f, g):
        index, params, work, result = tables(address)
        return passes(
            index, params, work, result, borrowed(a), borrowed(b), borrowed(c), borrowed(d), borrowed(e), borrowed(f),
            borrowed(g),
        )  # fmt: skip

    return door


def _of_nine(passes):
    def door(address, a, b, c, d, e, f, g, h, i):
        index, params, work, result = tables(address)
        return passes(
            index, params, work, result, borrowed(a), borrowed(b), borrowed(c), borrowed(d), borrowed(e), borrowed(f),
            borrowed(g), borrowed(h), borrowed(i),
        )  # fmt: skip

    return door


_DOORS = {1: _of_one, 2: _of_two, 4: _of_four, 5: _of_five, 7: _of_seven, 9: _of_nine}


@functools.cache
def source(operation: Operation, loops: bool, name: str, title: str) -> Source:
    """Return what a kernel is made of, of a name; the title is said while it is compiled."""
    if operation.is_door:
        return Source(_found(operation.passes), operation.kinds, title, None, operation.nogil)
    plain = _found(operation.passes + "_loops" * loops)
    door = _DOORS[len(operation.kinds)](plain)
    door.__name__ = door.__qualname__ = name
    return Source(door, ("i0", *operation.kinds), title, plain, operation.nogil)


def _found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(f".kernels.{module}", __package__), name)
