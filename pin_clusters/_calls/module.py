"""All machine code of calls, as one module."""

from __future__ import annotations

from collections.abc import Sequence

from .asker import Ask
from .code import Function
from .desk import ENTRIES, MOVES, NAMES
from .moves import WRITERS
from .parts import write_parts
from .wrappers import Signature, write_wrapper
from .writer import Library


def module(kernels: Sequence[Signature] = ()) -> str:
    """Return the code of all functions; ``TABLE`` is to be filled with what ``FOUND`` lists and the Python functions.

    Args:
        kernels: Kernels that are to be called from Python, for a library.
    """
    library = Library(len(NAMES))
    write_parts(library)
    for place, entry in enumerate(ENTRIES):
        Function(library, entry, place).write()
    for place, name in enumerate(MOVES, len(ENTRIES)):
        WRITERS[name](library, place).write()
    Ask(library).write()
    for kernel in kernels:
        write_wrapper(library, kernel)
    return str(library.m)
