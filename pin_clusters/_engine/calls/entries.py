"""The functions that have machine code, and how it is loaded and connected."""

import ctypes
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from ..entry_points import BOUNDSCHECK, JIT
from ..native.process import Method, NoFastCallsError, as_builtin, find, keep_for_ever, slot
from .desk import ASK, GROUPS, TABLE, Desk

F = TypeVar("F", bound=Callable[..., Any])

PYTHON: dict[str, Callable[..., Any]] = {}
"""The Python function of each entry that may have machine code."""

_lock = threading.RLock()  # making code may end objects, whose finalizers may call
_methods: dict[str, Method] = {}
_found: dict[str, int] | None = None
_looked = False
# by name: what takes the calls of a function that are not usual, and where its machine code reads that
_stands: dict[str, Callable[..., Any]] = {}
_at: dict[str, int] = {}
# by group: what tells where functions are; None where there is no machine code
_loaded: dict[str, Callable[[str], int] | None] = {}


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
    """Decorate the Python function of an entry: once connected its usual call is machine code, if that can be."""
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


def connect(kind: type, group: str) -> None:
    """Load the code of a group, when there is a kernel of it: for data of a class, not for those of classes of it."""
    if group not in _loaded:
        import pinocchio as pin

        for thing in (Desk, kind, pin.ReferenceFrame, pin.LOCAL, pin.updateFramePlacements):
            keep_for_ever(thing)
        _load(group, lambda: {
            "model": slot(kind, "_unchecked"),
            "desk": slot(kind, "_desk"),
            "contact_desk": slot(kind, "_contact_desk"),
            "data_class": id(kind),
            "reference_frame": id(pin.ReferenceFrame),
            "local": id(pin.LOCAL),
            "pin_updateFramePlacements": id(pin.updateFramePlacements),
        })  # fmt: skip


def connect_moves(kind: type) -> None:
    """Load the code of moves, when the first model moves: for models of a class, not for those of classes of it."""
    if "moves" not in _loaded:
        import pinocchio as pin

        functions = pin.integrate, pin.difference, pin.dIntegrate, pin.dDifference
        for thing in (Desk, kind, *functions, pin.ARG0, pin.ARG1):
            keep_for_ever(thing)
        _load("moves", lambda: {
            "model_class": id(kind),
            "model_desk": slot(kind, "_desk"),
            **{f"pin_{function.__name__}": id(function) for function in functions},
            "first": id(pin.ARG0),
            "second": id(pin.ARG1),
        })  # fmt: skip


def asking() -> int:
    """Return the address of what asks functions of the user for torques; 0 if there can be none."""
    if "asking" not in _loaded:
        _load("asking", dict)
    address = _loaded["asking"]
    return address(ASK) if address else 0


def stand_in(name: str, function: Callable[..., Any]) -> None:
    """Let a Python function take the calls that are not usual."""
    _stands[name] = function
    if name in _at:
        ctypes.c_int64.from_address(_at[name]).value = id(function)


def _load(group: str, places: Callable[[], dict[str, int]]) -> None:
    """Load the machine code of some functions, once; without it calls stay Python's."""
    with _lock:
        if group not in _loaded:
            address = None
            if _found is not None:
                # RuntimeError: LLVM may not make executable memory
                with suppress(NoFastCallsError, RuntimeError, OSError):
                    address = _connected(group, {**_found, "desk_class": id(Desk), **places()})
            _loaded[group] = address


def _connected(group: str, found: dict[str, int]) -> Callable[[str], int]:
    address = _made(group)
    at = address("TABLE")
    table = (ctypes.c_int64 * len(TABLE)).from_address(at)
    for name, value in found.items():
        table[TABLE.index(name)] = ctypes.c_int64(value).value
    for name in GROUPS[group]:
        if name in _methods:
            _at[name] = at + 8 * TABLE.index(name)
            stand_in(name, _stands[name])
            _methods[name].meth = address(name)
    return address


def _made(group: str) -> Callable[[str], int]:
    """Let LLVM make the machine code of a group; return what tells where things are."""
    from llvmlite import binding as llvm

    from .module import module

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    code = llvm.parse_assembly(module(group))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(code, machine)
    engine.finalize_object()
    for thing in (engine, code, machine):
        keep_for_ever(thing)

    def address(name: str) -> int:
        found = engine.get_global_value_address if name == "TABLE" else engine.get_function_address
        return int(found(name))

    return address
