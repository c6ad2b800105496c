"""The functions that have machine code, and how it is loaded and connected."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import pinocchio as pin

from .._kernels._jit import BOUNDSCHECK, JIT
from .asking import Ask
from .code import PLACES, Entry, Function
from .moves import MOVES
from .parts import write_parts
from .process import Method, NoFastCallsError, as_builtin, find, keep_for_ever, slot
from .writer import FOUND, Library

F = TypeVar("F", bound=Callable[..., Any])

ENTRIES = (
    Entry("aba", "aba", "ddq", "qvv", "vector"),
    Entry("rnea", "rnea", "tau", "qvv", "vector"),
    Entry("computeStaticTorque", "rnea", "forced", "q00f", "vector"),
    Entry("nonLinearEffects", "rnea", "nle", "qv0", "vector"),
    Entry("computeGeneralizedGravity", "rnea", "g", "q00", "vector"),
    Entry("crba", "crba", "M", "q", "matrix"),
    Entry("computeMinverse", "minverse", "Minv", "q", "matrix"),
    Entry("computeKineticEnergy", "energy", "energy", "qv", "kinetic"),
    Entry("computePotentialEnergy", "energy", "energy", "q0", "potential"),
    Entry("computeMechanicalEnergy", "energy", "energy", "qv", "mechanical"),
)
DESK_SIZE = PLACES + 2 * len(ENTRIES)
NAMES = (*(entry.name for entry in ENTRIES), *(move.name for move in MOVES))
"""All functions that have machine code."""

PYTHON: dict[str, Callable[..., Any]] = {}
"""The Python function of each entry that may have machine code."""

_lock = threading.RLock()  # making code may end objects, whose finalizers may call
_methods: dict[str, Method] = {}
_found: dict[str, int] | None = None
_looked = False
# by name: what takes the calls of a function that are not usual, where its machine code knows that; the code by library
_stands: dict[str, Callable[..., Any]] = {}
_at: dict[str, int] = {}
_loaded: dict[str, Any] = {}


def _look() -> dict[str, int] | None:
    """Return what the process looks like; None where calls stay Python's: no JIT, checked bounds, unknown objects."""
    global _found, _looked
    with _lock:
        if not _looked:
            _looked = True
            if JIT and not BOUNDSCHECK:
                with suppress(NoFastCallsError):
                    _found = find()
    return _found


def fast(function: F) -> F:
    """Decorate the Python function of an entry: from ``connect`` on its usual call is machine code, if that can be."""
    found = _look()
    if found is None:
        return function
    name = function.__name__
    parameters = [
        p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(function).parameters.values()
    ]
    built: F
    built, _methods[name] = as_builtin(function, str(inspect.Signature(parameters)), found["vectorcall"])
    PYTHON[name] = _stands[name] = function
    keep_for_ever(function)
    return built


def connect(data: Any) -> None:
    """Make the machine code of algorithms, with the first data: it shows where the class keeps what a call needs."""
    if "data" not in _loaded:
        _load("data", {entry.name: partial(Function, entry) for entry in ENTRIES}, lambda: {
            "model": slot(data, "_unchecked"),
            "desk": slot(data, "_desk"),
            "data_class": id(type(data)),
        })  # fmt: skip


def connect_moves(model: Any) -> None:
    """Make the machine code of moves, when the first model moves."""
    if "moves" not in _loaded:
        for function in (pin.integrate, pin.difference):
            keep_for_ever(function)
        _load("moves", {move.name: move for move in MOVES}, lambda: {
            "model_class": id(type(model)),
            "model_desk": slot(model, "_desk"),
            "numbers": slot(model._desk, "numbers"),
            "pin_integrate": id(pin.integrate),
            "pin_difference": id(pin.difference),
        })  # fmt: skip


def asking() -> int:
    """Return the address of what asks functions of the user for torques; 0 if there can be none."""
    if "asking" not in _loaded:
        _load("asking", {Ask.name: Ask}, dict)
    engine = _loaded["asking"]
    return int(engine.get_function_address(Ask.name)) if engine else 0


def stand_in(name: str, function: Callable[..., Any]) -> None:
    """Let a Python function take the calls that are not usual."""
    _stands[name] = function
    if name in _at:
        ctypes.c_int64.from_address(_at[name]).value = id(function)


def _load(library: str, functions: dict[str, Callable[[Library, int], Any]], places: Callable[[], Any]) -> None:
    """Make the machine code of some functions, once; without it calls stay Python's."""
    with _lock:
        if library not in _loaded:
            engine = None
            if _found is not None:
                # RuntimeError: LLVM may not make executable memory
                with suppress(NoFastCallsError, RuntimeError, OSError):
                    engine = _make(functions, {**_found, **places()})
            _loaded[library] = engine


def module(functions: dict[str, Callable[[Library, int], Any]]) -> str:
    """Return the code of functions."""
    library = Library(len(functions))
    write_parts(library)
    for place, function in enumerate(functions.values()):
        function(library, place).write()
    return str(library.m)


def _make(functions: dict[str, Callable[[Library, int], Any]], found: dict[str, int]) -> Any:
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    code = llvm.parse_assembly(module(functions))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(code, machine)
    engine.finalize_object()
    for thing in (engine, code, machine):
        keep_for_ever(thing)
    at = engine.get_global_value_address("TABLE")
    table = (ctypes.c_int64 * len(FOUND)).from_address(at)
    for name, value in found.items():
        table[FOUND.index(name)] = ctypes.c_int64(value).value
    for place, name in enumerate(functions):
        if name in _methods:
            _at[name] = at + 8 * (len(FOUND) + place)
            stand_in(name, _stands[name])
            _methods[name].meth = engine.get_function_address(name)
    return engine
