"""The functions that have machine code, and how it is loaded and connected."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .._kernels._jit import BOUNDSCHECK, JIT
from .code import FOUND, PLACES, Entry, module
from .process import NoFastCallsError, as_builtin, find, keep_for_ever, slot

F = TypeVar("F", bound=Callable[..., Any])

ENTRIES = (
    Entry("aba", "aba", "ddq", "qvv", "vector"),
    Entry("rnea", "rnea", "tau", "qvv", "vector"),
    Entry("nonLinearEffects", "rnea", "nle", "qv0", "vector"),
    Entry("computeGeneralizedGravity", "rnea", "g", "q00", "vector"),
    Entry("crba", "crba", "M", "q", "matrix"),
    Entry("computeMinverse", "minverse", "Minv", "q", "matrix"),
    Entry("computeKineticEnergy", "energy", "energy", "qv", "kinetic"),
    Entry("computePotentialEnergy", "energy", "energy", "q0", "potential"),
    Entry("computeMechanicalEnergy", "energy", "energy", "qv", "mechanical"),
)
DESK_SIZE = PLACES + 2 * len(ENTRIES)

PYTHON: dict[str, Callable[..., Any]] = {}
"""The Python function of each entry that has machine code."""

_lock = threading.Lock()


class _Loaded:
    """Machine code of all entries, and its table."""

    def __init__(self) -> None:
        from llvmlite import binding as llvm

        found = find()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        code = llvm.parse_assembly(module(ENTRIES))
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
        engine = llvm.create_mcjit_compiler(code, machine)
        engine.finalize_object()
        for thing in (engine, code, machine):
            keep_for_ever(thing)
        self.address = engine.get_function_address
        numbers = ctypes.c_int64 * (len(FOUND) + len(ENTRIES))
        self.table = numbers.from_address(engine.get_global_value_address("TABLE"))
        for name, value in found.items():
            self.table[FOUND.index(name)] = ctypes.c_int64(value).value

    def stand_in(self, name: str, function: Callable[..., Any]) -> None:
        """Let a Python function take what is not usual."""
        names = [entry.name for entry in ENTRIES]
        self.table[len(FOUND) + names.index(name)] = id(function)

    def connect(self, data: Any) -> None:
        """Learn from one of its objects where the class of all data keeps what a call needs."""
        places = {"model": slot(data, "_unchecked"), "desk": slot(data, "_desk")}
        for name, value in places.items():
            self.table[FOUND.index(name)] = value
        self.table[FOUND.index("data_class")] = id(type(data))  # the last: from here on calls are fast


_loaded: _Loaded | None = None
_tried = False
_connected = False


def _load() -> _Loaded | None:
    """Return the machine code; None where calls stay Python's: no JIT, checked bounds, an interpreter not known."""
    global _loaded, _tried
    with _lock:
        if not _tried:
            _tried = True
            if JIT and not BOUNDSCHECK:
                try:
                    _loaded = _Loaded()
                except (NoFastCallsError, RuntimeError, OSError):
                    _loaded = None  # RuntimeError: LLVM may not make executable memory
    return _loaded


def fast(function: F) -> F:
    """Decorate the Python function of an entry: its usual call goes to machine code, if that can be."""
    loaded = _load()
    if loaded is None:
        return function
    loaded.stand_in(function.__name__, function)
    keep_for_ever(function)
    PYTHON[function.__name__] = function
    parameters = [
        p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(function).parameters.values()
    ]
    built: F = as_builtin(function, loaded.address(function.__name__), str(inspect.Signature(parameters)))
    return built


def connect(data: Any) -> None:
    """Tell the machine code of the class of all data, by the first of its objects."""
    global _connected
    with _lock:
        if not _connected and _loaded is not None:
            try:
                _loaded.connect(data)
            except NoFastCallsError:
                pass  # no class is known to the code: every call is the Python function's
            _connected = True
