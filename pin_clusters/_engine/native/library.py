"""The library of kernels that were compiled ahead of time; ``_engine/build`` makes it.

One shared library per level of processors lies in ``built``, with a note beside it: of which sources it was made, and
its checksum. It is looked at before it is loaded: one that is damaged, or of other sources, is refused with one line on
stderr, and Numba compiles as if there were none; sources that differ in their words only are no others. It links to
nothing of Python: what it needs of the process stands in a table that is filled when it is loaded.

Environment:
    PIN_CLUSTERS_LEVEL: Which library: ``x86-64-v2``, ``x86-64-v3`` or ``x86-64-v4``; ``numba``: none. Else the best one
        that this processor runs.
    PIN_CLUSTERS_LIBRARY: Another folder of libraries, for where ``built`` has none of these sources: that of the tests.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from . import sources
from .process import FOUND, Method, NoFastCallsError, find, keep_for_ever
from .processor import LEVELS, levels
from .telling import say as say
from .words import words_of

FOLDER = Path(__file__).with_name("built")
FORMAT = 2  # of the note and of the symbols


def file_name(level: str) -> str:
    """Return the name of the library of a level."""
    return f"kernels-{level}.so"


def note(library: bytes, level: str, parts: Iterable[Path]) -> str:
    """Return what is written beside a library that was made of some modules."""
    return json.dumps(
        {
            "format": FORMAT,
            "level": level,
            "sha256": hashlib.sha256(library).hexdigest(),
            "python": sources.PYTHON,
            "sources": {
                str(path.relative_to(sources.ROOT)): (sources.checksum(content), sources.syntax_of(content)[0])
                for path in sorted(parts)
                for content in (sources.content_of(path),)
            },
        },
        indent=1,
    )


class Library:
    """Kernels in machine code.

    Attributes:
        path: Where it lies.
        level: Of the processors that run it.
        found: What the process looks like; None where kernels can be called through ctypes only.
        table: What the library reads of it, and of ``_calls``.
    """

    def __init__(self, path: Path, level: str) -> None:
        # sin, cos and tan are looked for among what is loaded for all; most Pythons have them already
        with suppress(OSError):
            ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
        self.path, self.level = path, level
        self._library = ctypes.PyDLL(str(path))
        self.table = (ctypes.c_int64 * ctypes.c_int64.in_dll(self._library, "TABLE_SIZE").value).in_dll(
            self._library, "TABLE"
        )
        self.found: dict[str, int] | None = None
        with suppress(NoFastCallsError):
            self.found = find()
            for i, name in enumerate(FOUND):
                self.table[i] = ctypes.c_int64(self.found[name]).value

    def address(self, symbol: str) -> int:
        """Return where a function is."""
        return int(ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value or 0)

    def kernel(self, name: str) -> tuple[int, Callable[..., Any]]:
        """Return the address of a kernel, for calls of Numba's kind, and a function that takes its arguments."""
        address = self.address("nb_" + name)
        if self.found is None:
            unlocked = bool(ctypes.c_int64.in_dll(self._library, "nogil_" + name).value)
            return address, _through_ctypes(address, unlocked)
        method = Method(name.encode(), self.address("py_" + name), 0x80, None)  # METH_FASTCALL
        keep_for_ever(method)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        return address, new(ctypes.addressof(method), None, None)


_lock = threading.RLock()


def load() -> Library | None:
    """Return the best library that fits this processor and these sources; None: Numba compiles.

    Raises:
        ValueError: PIN_CLUSTERS_LEVEL is no level.
    """
    with _lock:
        return _load()


@functools.cache
def _load() -> Library | None:
    wanted = os.environ.get("PIN_CLUSTERS_LEVEL", "")
    if wanted == "numba":
        return None
    if wanted and wanted not in LEVELS:
        raise ValueError(f"PIN_CLUSTERS_LEVEL is {wanted!r}; it can be numba, {', '.join(LEVELS)}.")
    faults: list[str] = []
    for path, level in _candidates((wanted,) if wanted else levels()):
        fault = _fault(path, level)
        if not fault:
            try:
                return Library(path, level)
            except (OSError, AttributeError, ValueError) as error:  # not to be loaded, or without a symbol
                fault = f"cannot be loaded: {error}"
        faults.append(
            f"{path} {fault}. It is not used: Numba compiles the kernels. Install pin_clusters again, or remove it"
        )
    if not faults and wanted:
        faults.append(f"PIN_CLUSTERS_LEVEL is {wanted}, but {FOLDER / file_name(wanted)} is not there: Numba compiles")
    for fault in faults[:1]:
        say(fault)
    return None


def _candidates(levels: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield the best library of each folder."""
    other = os.environ.get("PIN_CLUSTERS_LIBRARY")
    for folder in (FOLDER, Path(other)) if other else (FOLDER,):
        for level in levels:
            if (folder / file_name(level)).exists():
                yield folder / file_name(level), level
                break


def fits(folder: Path, level: str) -> bool:
    """Whether a folder has a library of a level that is whole, and of these sources."""
    return not _fault(folder / file_name(level), level)


def _fault(path: Path, level: str) -> str:
    """Say what is wrong with a library, before any of it runs."""
    try:
        told = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        return f"cannot be checked: {error}"
    if not isinstance(told, dict) or told.get("sha256") != checksum:
        return "is damaged: its checksum is not the one noted beside it"
    try:
        same = (told["format"], told["level"]) == (FORMAT, level) and all(
            sources.says_the_same(sources.ROOT / name, content, syntax, told["python"])
            for name, (content, syntax) in told["sources"].items()
        )
    except (LookupError, TypeError, ValueError, AttributeError):  # a note that something else wrote
        same = False
    return "" if same else "was made of other sources"


def _through_ctypes(address: int, unlocked: bool) -> Callable[..., Any]:
    """Return a slow way to call a kernel: where nothing is known about objects, but what ctypes and NumPy tell."""
    make = ctypes.CFUNCTYPE if unlocked else ctypes.PYFUNCTYPE
    functions: dict[int, Any] = {}

    def call(*arguments: Any) -> int:
        words: list[int] = []
        for x in arguments:
            if isinstance(x, np.ndarray) and not (x.flags.c_contiguous and x.flags.aligned):
                raise TypeError("a kernel takes contiguous arrays")
            words += words_of(x)
        if len(words) not in functions:
            functions[len(words)] = make(ctypes.c_int32, *[ctypes.c_int64] * (len(words) + 2))(address)
        code, error = ctypes.c_int64(), ctypes.c_int64()
        if functions[len(words)](ctypes.addressof(code), ctypes.addressof(error), *words) != 0:
            raise SystemError("a kernel failed")
        return code.value

    return call
