"""The functions that have machine code, and how it is loaded and connected."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from .._kernels.entry_points import BOUNDSCHECK, JIT, compiled_ahead
from .._native.process import Method, NoFastCallsError, as_builtin, find, keep_for_ever, slot
from .desk import ASK, FOUND, NAMES

F = TypeVar("F", bound=Callable[..., Any])

PYTHON: dict[str, Callable[..., Any]] = {}
"""The Python function of each entry that may have machine code."""

_lock = threading.Lock()
_methods: dict[str, Method] = {}
_found: dict[str, int] | None = None
_looked = False
_connected = False
_table: Any = None
_ask = 0


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
    PYTHON[name] = function
    keep_for_ever(function)
    return built


def connect(data: Any) -> None:
    """Make the machine code, for the first data that has a kernel: it shows where its class keeps what a call needs."""
    global _connected
    if _connected:
        return
    with _lock:
        if not _connected and _found is not None and len(_methods) == len(NAMES):
            # RuntimeError: LLVM may not make executable memory
            with suppress(NoFastCallsError, RuntimeError, OSError):
                _make(_found, data)
        _connected = True


def is_connected() -> bool:
    """Whether ``connect`` did what it can."""
    return _connected


def asking() -> int:
    """Return the address of what asks functions of the user, once connected; 0 if there is none."""
    return _ask


def stand_in(name: str, function: Callable[..., Any]) -> None:
    """Let a Python function take the calls that are not usual."""
    _table[len(FOUND) + NAMES.index(name)] = id(function)


def _make(found: dict[str, int], data: Any) -> None:
    global _table, _ask
    import pinocchio as pin

    model = data.model
    places = {
        "model": slot(data, "_unchecked"),
        "desk": slot(data, "_desk"),
        "data_class": id(type(data)),
        "model_class": id(type(model)),
        "model_desk": slot(model, "_desk"),
        "numbers": slot(model._desk, "numbers"),
        "pin_integrate": id(pin.integrate),
        "pin_difference": id(pin.difference),
    }
    for function in (pin.integrate, pin.difference):
        keep_for_ever(function)
    ahead = compiled_ahead()
    _table, address = (ahead.table, ahead.address) if ahead is not None else _made_now()
    for name, value in {**found, **places}.items():
        _table[FOUND.index(name)] = ctypes.c_int64(value).value
    for name in NAMES:
        stand_in(name, PYTHON[name])
        _methods[name].meth = address(name)
    _ask = address(ASK)


def _made_now() -> tuple[Any, Callable[[str], int]]:
    """Return the table of machine code that LLVM makes, and what tells where its functions are."""
    from llvmlite import binding as llvm

    from .module import module

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    code = llvm.parse_assembly(module())
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(code, machine)
    engine.finalize_object()
    for thing in (engine, code, machine):
        keep_for_ever(thing)
    numbers = ctypes.c_int64 * (len(FOUND) + len(NAMES))
    return numbers.from_address(engine.get_global_value_address("TABLE")), engine.get_function_address
