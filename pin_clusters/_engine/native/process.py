"""Where CPython and NumPy keep what a call needs: found by looking at live objects, never assumed."""

import ctypes
import importlib
import sys
import types
import weakref
from collections.abc import Callable
from ctypes import c_char_p, c_int32, c_int64, c_void_p, py_object, pythonapi
from typing import Any

import numpy as np

HEAD = object.__basicsize__  # of an object: 16, and 32 without a GIL
FLOAT64, BOOL = np.dtype(np.float64), np.dtype(np.bool_)
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
# of the eight bytes of a dtype from its kind on: kind, character, byte order, number; the flags between them differ
SAME = 0xFFFFFFFF00FFFFFF
# what machine code has of the process: what ``find`` looks for; functions of Python; objects; names of arguments
_PLACES = (
    "type", "data", "nd", "dims", "descr", "flags", "kind", "float64", "bool", "float64_number", "names", "items",
    "in_tuple", "array_new",
)  # fmt: skip
_FUNCTIONS = {
    "new_float": "PyFloat_FromDouble",
    "increase": "Py_IncRef",
    "decrease": "Py_DecRef",
    "vectorcall": "PyObject_Vectorcall",
    "to_number": "PyLong_AsLongLong",
    "call_any": "PyObject_VectorcallDict",  # of any object, in all versions
    "fetch": "PyErr_Fetch",
    "forget": "PyErr_Clear",
    "tuple_new": "PyTuple_New",
    "tuple_put": "PyTuple_SetItem",
}
_OBJECTS: dict[str, Any] = {
    "ndarray": np.ndarray, "none": None, "true": True, "int": int, "list": list,
    "tuple": tuple, "nothing": (),
}  # fmt: skip
_NAMES = ("out", "hold", "B", "contacts", "reference", "rows")
FOUND = (*_PLACES, *_FUNCTIONS, *_OBJECTS, *_NAMES)
"""Names of what ``find`` returns."""


class NoFastCallsError(Exception):
    """Something is not where it was looked for: calls stay Python's."""


def word(at: int) -> int:
    """Read eight bytes at an address."""
    return c_int64.from_address(at).value


def half(at: int) -> int:
    """Read four bytes at an address."""
    return c_int32.from_address(at).value


def find() -> dict[str, int]:
    """Return offsets and addresses by name.

    Raises:
        NoFastCallsError: An object does not look as expected.
    """
    _need(sys.implementation.name == "cpython" and ctypes.sizeof(c_void_p) == 8 and sys.byteorder == "little", "build")
    _need(HEAD == 16 and getattr(sys, "_is_gil_enabled", lambda: True)(), "interpreter lock")
    data, nd, dims, strides, base, descr, flags, weak = (HEAD + x for x in (0, 8, 16, 24, 32, 40, 48, 56))
    whole, closed = np.empty((3, 5)), np.empty(7)
    closed.flags.writeable = False
    samples: list[np.ndarray] = [
        whole,
        whole[:2],
        whole[:, 1],
        closed,
        np.empty(4, np.float32),
        np.array(1.0),
        np.empty(0),
    ]
    kinds = [o for o in range(0, HEAD, 8) if all(word(id(x) + o) == id(type(x)) for x in (*samples, 1.5, "x", ()))]
    _need(len(kinds) == 1, "types")
    for x in samples:
        at, n = id(x), x.ndim
        _need(word(at + data) == x.ctypes.data and half(at + nd) == n, "data of an array")
        _need([word(word(at + dims) + 8 * i) for i in range(n)] == list(x.shape), "shape of an array")
        _need([word(word(at + strides) + 8 * i) for i in range(n)] == list(x.strides), "strides of an array")
        _need(word(at + descr) == id(x.dtype), "dtype of an array")
        _need(word(at + base) == (0 if x.base is None else id(x.base)), "base of an array")
        known = C_CONTIGUOUS | ALIGNED | WRITEABLE
        _need(half(at + flags) & known == x.flags.num & known, "flags of an array")
    watched = np.empty(3)
    _need(word(id(watched) + weak) == 0, "weak references")
    reference = weakref.ref(watched)
    _need(word(id(watched) + weak) == id(reference), "weak references")
    kind = HEAD + 8
    for t in map(np.dtype, ("f8", "f4", "i8", "i1", ">f8", "?")):
        raw, number = ctypes.string_at(id(t) + kind, 3), half(id(t) + kind + 4)
        _need((raw, number) == (f"{t.kind}{t.char}{t.byteorder}".encode(), t.num), "fields of a dtype")
    names = ("out", 2.5)
    _need(word(id(names) + HEAD) == 2, "tuples")
    # since 3.14 their hash stands before what is in them
    places = [o for o in (HEAD + 8, HEAD + 16) if [word(id(names) + o), word(id(names) + o + 8)] == [*map(id, names)]]
    _need(len(places) == 1, "tuples")
    listed = ["out", 2.5]
    where = word(id(listed) + HEAD + 8)
    _need(word(id(listed) + HEAD) == 2 and [word(where), word(where + 8)] == [id(x) for x in listed], "lists")
    numbers = [word(id(t) + kind) & SAME for t in (FLOAT64, BOOL)]
    # of a tuple where its length is; of a list where its items are
    found = kinds[0], data, nd, dims, descr, flags, kind, *numbers, FLOAT64.num, HEAD, HEAD + 8, places[0], _array_new()
    return {
        **dict(zip(_PLACES, found, strict=True)),
        **{name: _address(function) for name, function in _FUNCTIONS.items()},
        **{name: id(thing) for name, thing in _OBJECTS.items()},
        **{name: id(sys.intern(name)) for name in _NAMES},
    }


def slot(kind: type, name: str) -> int:
    """Return where objects of a class with ``__slots__`` keep one of them: where a mark shows up.

    Raises:
        NoFastCallsError: It does not show up in one place.
    """
    thing: Any = object.__new__(kind)  # which nobody else looks at meanwhile
    mark = object()
    object.__setattr__(thing, name, mark)  # also where the class refuses
    places = [o for o in range(HEAD, kind.__basicsize__, 8) if word(id(thing) + o) == id(mark)]
    _need(len(places) == 1, f"slot {name}")
    return places[0]


class Method(ctypes.Structure):
    """What Python knows of a function in machine code; ``meth`` is looked up at every call."""

    _fields_ = (("name", c_char_p), ("meth", c_void_p), ("flags", ctypes.c_int), ("doc", c_char_p))


class _Stand(types.ModuleType):
    """What a function in machine code belongs to: a module, so that it is pickled by its name; calls are Python's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function.__module__)
        self.function = function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.function(*arguments, **options)


def keep_for_ever(thing: Any) -> None:
    """Let nothing free an object: a ``__del__`` or an exit handler may call when the globals are gone."""
    pythonapi.Py_IncRef(py_object(thing))


def as_builtin(function: Callable[..., Any], text_signature: str, vectorcall: int) -> tuple[Any, Method]:
    """Return a function with the name, place and docstring of a Python function, which it calls; and its method.

    Another address put into the method is what is called from then on.
    """
    doc = f"{function.__name__}{text_signature}\n--\n\n{function.__doc__ or ''}"
    fastcall, keywords = 0x80, 0x02
    # a vectorcall of the object that a function belongs to has the signature of such a function
    method = Method(function.__name__.encode(), vectorcall, fastcall | keywords, doc.encode())
    keep_for_ever(method)
    new = pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = py_object, (c_void_p, py_object, py_object)
    return new(ctypes.addressof(method), _Stand(function), function.__module__), method


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise NoFastCallsError(what)


def _address(name: str) -> int:
    _need(hasattr(pythonapi, name), name)
    return int(ctypes.cast(getattr(pythonapi, name), c_void_p).value or 0)


def _array_new() -> int:
    """Return the address of ``PyArray_New``: entry 93 of NumPy's table of functions."""
    capsule = getattr(importlib.import_module("numpy._core._multiarray_umath"), "_ARRAY_API", None)
    _need(capsule is not None, "table of NumPy")
    pointer = pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, (py_object, c_char_p)
    table = pointer(capsule, None)
    _need(word(table + 8 * 2) == id(np.ndarray), "table of NumPy")  # entry 2 is the type of arrays
    return word(table + 8 * 93)
