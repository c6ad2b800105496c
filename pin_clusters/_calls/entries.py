"""The functions that have machine code, and how it is loaded and connected."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from .._kernels._jit import BOUNDSCHECK, JIT
from .code import FOUND, PLACES, Entry, module
from .of_tree import FrameJacobian, Tree
from .process import Method, NoFastCallsError, as_builtin, find, keep_for_ever, slot

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
HELPERS = (
    Entry("quick_tree", "of_tree", "tree", "", ""),
    Entry("quick_jacobian", "of_frame", "tree", "", ""),
)
"""What functions of the tree call: they tell whether the call was the usual one."""
ALL = (*ENTRIES, *HELPERS)
DESK_SIZE = PLACES + 2 * len(ALL)

PYTHON: dict[str, Callable[..., Any]] = {}
"""The Python function of each entry that may have machine code."""

_lock = threading.Lock()
_methods: dict[str, Method] = {}
_found: dict[str, int] | None = None
_looked = False
_connected = False
_table: Any = None


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


def connect(data: Any, reference_frame: type) -> None:
    """Make the machine code, when the first data is made: it shows where the class keeps what a call needs."""
    global _connected
    if _connected:
        return
    with _lock:
        if not _connected and _found is not None and len(_methods) == len(ALL):
            # RuntimeError: LLVM may not make executable memory
            with suppress(NoFastCallsError, RuntimeError, OSError):
                _make(_found, data, reference_frame)
        _connected = True


def stand_in(name: str, function: Callable[..., Any]) -> None:
    """Let a Python function take the calls that are not usual."""
    _table[len(FOUND) + [entry.name for entry in ALL].index(name)] = id(function)


def _make(found: dict[str, int], data: Any, reference_frame: type) -> None:
    global _table
    from llvmlite import binding as llvm

    places = {"model": slot(data, "_unchecked"), "desk": slot(data, "_desk"), "data_class": id(type(data))}
    places["reference_frame"] = id(reference_frame)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    code = llvm.parse_assembly(module(ALL, {"quick_tree": Tree, "quick_jacobian": FrameJacobian}))
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    engine = llvm.create_mcjit_compiler(code, machine)
    engine.finalize_object()
    for thing in (engine, code, machine):
        keep_for_ever(thing)
    numbers = ctypes.c_int64 * (len(FOUND) + len(ALL))
    _table = numbers.from_address(engine.get_global_value_address("TABLE"))
    for name, value in {**found, **places}.items():
        _table[FOUND.index(name)] = ctypes.c_int64(value).value
    for entry in ALL:
        stand_in(entry.name, PYTHON[entry.name])
        _methods[entry.name].meth = engine.get_function_address(entry.name)
