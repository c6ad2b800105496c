"""Specialised functions of a model: made, compared with the kernels, kept."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._engine import entry_points as kernels
from ..._engine.native.words import words_of
from ..._support.arrays import on_a_page
from ...model import ClusterModel, with_loops
from ..machine_code.loading import load
from ..tracing._sources import source
from . import entry
from .functions import BY_RESULT, RESULT_OF
from .module import module_of
from .rows import MadeRows

_PLAIN = 20
"""So many suspicious states are computed by the kernel's source in Python, before it is compiled for them."""
_REPEATS, _CALLS = 15, 60


class Specialised(NamedTuple):
    """What became of a function.

    Attributes:
        function: Its name; of rows with ``batch.`` before it.
        time: Of the specialised code, of rows per row, [s]; None before it was compared.
        rival: Of the kernel that reads tables, [s]; None before.
        choice: ``specialised`` or ``tables``.
        size: Bytes of machine code and what belongs to it.
        made_in: How long it took to trace and compile, [s].
    """

    function: str
    time: float | None
    rival: float | None
    choice: str
    size: int
    made_in: float


class Made:
    """One specialised function of a model."""

    def __init__(self, model: ClusterModel, result: str) -> None:
        self.function = BY_RESULT[result]
        self.name = self.function.name
        self.kernel = kernels.of(self.function.operation.name, with_loops(model))
        self.time: float | None = None
        self.rival: float | None = None
        self.size, self._address, self._suspicious = 0, 0, 0
        start = time.perf_counter()
        text = module_of(model, self.function)
        if text:
            loaded = load(text, optimise=False)  # nothing is left to simplify
            self.size, self._address = loaded.size, loaded.address("entry")
            self._repeat = ctypes.PYFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(
                loaded.address("repeat")
            )
            self._fallback = ctypes.c_int64.from_address(loaded.variable("fallback"))
            self._call: Any = None
        self.made_in = time.perf_counter() - start

    @property
    def address(self) -> int:
        """Of what calls should take; 0: the kernel."""
        return self._address if self.chosen else 0

    @property
    def chosen(self) -> bool:
        """Whether the specialised code is taken."""
        return bool(self._address) and (self.time is None or self.rival is None or self.time <= self.rival)

    def run(self, pointer: kernels.Pointer, *arrays: Any) -> int:
        """Do what the kernel does, and return its code."""
        if not self.chosen:
            return int(self.kernel.call(pointer, *arrays))
        words = [w for x in (pointer.address, *arrays) for w in words_of(x)]
        if self._call is None:
            self._call = ctypes.PYFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * (len(words) + 2))(self._address)
        code, error = ctypes.c_int64(), ctypes.c_int64()
        self._call(ctypes.addressof(code), ctypes.addressof(error), *words)
        return self._kernels(pointer, *arrays) if code.value == entry.SUSPICIOUS else code.value

    def _kernels(self, pointer: kernels.Pointer, *arrays: Any) -> int:
        """Let the kernel say what becomes of a suspicious state: in Python the first times, compiling takes seconds."""
        self._suspicious += 1
        if self.kernel.fast is None and self._suspicious <= _PLAIN:
            return plain(self.kernel, pointer, *arrays)
        return int(self.kernel.call(pointer, *arrays))

    def meet(self, words: list[int]) -> None:
        """Compare with the kernel, if that is compiled by now, on arguments in memory."""
        if not self._address or self.kernel.fast is None or self.time is not None:
            return
        self._fallback.value = self.kernel.compiled_address
        code = np.zeros(2, dtype=np.int64)
        given = np.array([code.ctypes.data, code.ctypes.data + 8, *words], dtype=np.int64)
        rivals = {"time": self._address, "rival": self.kernel.compiled_address}
        best = dict.fromkeys(rivals, np.inf)
        for _ in range(_REPEATS):
            for name, address in rivals.items():
                self._repeat(address, given.ctypes.data, 3)
                start = time.perf_counter()
                self._repeat(address, given.ctypes.data, _CALLS)
                best[name] = min(best[name], (time.perf_counter() - start) / _CALLS)
        self.time, self.rival = best["time"], best["rival"]


def plain(kernel: kernels.Kernel, pointer: kernels.Pointer, *arrays: Any) -> int:
    """Run the source of a kernel in Python."""
    module, _, name = kernel.operation.passes.rpartition(".")
    run: Callable[..., int] = getattr(source(module), name + "_loops" * kernel.loops)
    with np.errstate(all="ignore"):
        return int(run(*pointer.arrays, *arrays))


class Recipe(NamedTuple):
    """What a specialised model is made again from.

    Attributes:
        results: Of the functions that were made.
    """

    results: tuple[str, ...]

    def restore(self, model: ClusterModel) -> ClusterModel:
        """Return the specialised model."""
        special = model._with_functions(Functions)
        for result in self.results:
            special._functions.make(result)
        return special


class Functions:
    """Specialised functions of a model; the others are made at their first call."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._made: dict[str, Made] = {}
        self._rows: dict[str, MadeRows] = {}
        self._lock = threading.RLock()

    def make(self, result: str) -> Made:
        """Return a function, made now if need be."""
        with self._lock:
            if result not in self._made:
                self._made[result] = Made(self._model, result)
            found = self._made[result]
            self._compare(found)
            return found

    def _compare(self, made: Made) -> None:
        if made.time is None and made.kernel.fast is not None:
            model = self._model
            pointer = self._tables(made)
            rng = np.random.default_rng(0)
            arrays: list[np.ndarray] = [np.array(model.q_reference)]
            for kind in made.function.operation.kinds[1:]:
                arrays.append(rng.normal(size=model.nv) if kind == "f1" else np.zeros((model.nv, model.nv)))
            made.meet([w for x in (pointer.address, *arrays) for w in words_of(x)])

    def _tables(self, made: Made) -> kernels.Pointer:
        """Return tables of their own."""
        nv = self._model.nv
        (work,) = on_a_page(self._model._tables.work)
        size = {"vector": nv, "matrix": nv * nv, "": 2}[made.function.operation.result]
        return kernels.Pointer(self._model._index, self._model._params, work, np.zeros(size))

    def address(self, result: str, entry: str, kernel: int) -> int:
        """Return the address that a call should take; 0 if that is to be made at the first call.

        Args:
            result: To which the tables lead.
            entry: Function of the package that calls it.
            kernel: Address of the kernel.
        """
        if RESULT_OF.get(entry) != result:
            return kernel
        made = self._made.get(result)
        if made is None:
            return 0
        self._compare(made)
        return made.address or kernel

    def run(self, kernel: str, result: str, pointer: kernels.Pointer, *arrays: Any) -> int | None:
        """Do what a kernel does, and return its code; None where the kernel has to do it: others have results there."""
        one = BY_RESULT.get(result)
        return None if one is None or one.operation.name != kernel else self.make(result).run(pointer, *arrays)

    def rows(self, result: str) -> MadeRows:
        """Return what computes rows."""
        with self._lock:
            if result not in self._rows:
                self._rows[result] = MadeRows(self._model, BY_RESULT[result])
            return self._rows[result]

    def recipe(self) -> Recipe:
        """Return what makes the same of another model."""
        return Recipe(tuple(self._made))

    def told(self) -> tuple[Specialised, ...]:
        """Return what became of each function."""
        for made in list(self._made.values()):
            self._compare(made)
        all_made: list[Made | MadeRows] = [*self._made.values(), *self._rows.values()]
        return tuple(
            Specialised(x.name, x.time, x.rival, "specialised" if x.chosen else "tables", x.size, x.made_in)
            for x in all_made
        )
