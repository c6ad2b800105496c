"""Robot-specific functions of a model. Each function is traced and compiled at its first call, and then reused.

Whether a function is traced depends only on the model, and not on compile times or on the contents of the cache. A
program therefore computes the same numbers in every run.
"""

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...errors import NotAvailableError
from ...model import ClusterModel, with_loops
from .. import entry_points as kernels
from ..call_layer import tell_compiled
from ..choice import chosen
from ..native.notices import print_notice
from ..native.words import LEFT_TO_KERNEL, address_of
from ..operations import RNEA_DERIVATIVES, Function, names
from ..tracing._sources import source
from .calling import caller
from .module import code_of, module_of
from .requests import REQUEST_OPERATIONS, Requests
from .rows import MadeRows
from .traced_kernels import BY_CALLED_NAME, BY_OWN_NAME, BY_TABLES, MOST, WITH_FORCES
from .variants import VARIANT_OPERATIONS, Variants, variant_of

M = TypeVar("M", "Made", MadeRows)
_LONG = 30.0  # A notice is printed after this total time for tracing and compiling in a process, [s].
_spent = [0.0]
_OF_RNEA_DERIVATIVES = [names(RNEA_DERIVATIVES.takes).index(name) for name in ("forces", "dq", "M", "total")]


class Specialised(NamedTuple):
    """Information about the code of a function of a specialised model."""

    function: str  # name of the function; names of functions in ``pc.batch`` begin with ``batch.``
    choice: str  # ``traced``, or ``tables`` if tracing is impossible or if the code would be too long
    size: int  # size of the object file [bytes]
    made_in: float  # time to trace and compile the function, or to load its code [s]


class Made:
    """The code of one function of a model. An instance is called like a kernel.

    Attributes:
        own: Address of the robot-specific code; 0 if the kernel is used.
    """

    def __init__(
        self, model: ClusterModel, function: Function, most: float, write: Callable[..., str] = module_of
    ) -> None:
        """Compile or load the code. ``write`` returns the LLVM module, which has at most ``most`` operations."""
        self.function, self.name, self.most = function, function.name, most
        self.kernel = kernels.of(self.function.operation.name, with_loops(model))
        self.size, self.own = 0, 0
        start = time.perf_counter()
        loaded = code_of(model, "state", self.function, most, lambda: write(model, self.function, most=most))
        if loaded is not None:
            self.size, self.own = loaded.size, loaded.address("entry")
            self._call: Any = None
        self.made_in = time.perf_counter() - start

    @property
    def chosen(self) -> bool:
        return bool(self.own)

    def address(self) -> int:
        return self.own or self.kernel.address()

    def call(self, pointer: kernels.Pointer, *arrays: Any) -> int:
        if not self.own:
            return int(self.kernel.call(pointer, *arrays))
        if self._call is None:
            kinds = self.kernel.operation.kinds
            self._call = caller(kinds if self.kernel.operation.is_entry else ("i0", *kinds))
        code: int = self._call(self.own, pointer.address, *arrays)
        return plain(self.kernel, pointer, *arrays) if code == LEFT_TO_KERNEL else code


def plain(kernel: kernels.Kernel, pointer: kernels.Pointer, *arrays: Any) -> int:
    """Run a kernel as plain Python, in almost singular states, which are too rare to justify compiling the kernel."""
    module, _, name = kernel.operation.passes.rpartition(".")
    run: Callable[..., int] = getattr(source(module), name + "_loops" * kernel.loops)
    with np.errstate(all="ignore"):
        return int(run(*pointer.arrays, *arrays))


class Recipe(NamedTuple):
    """Data that is pickled for a specialised model: the names of its specialised functions."""

    names: tuple[str, ...]

    def restore(self, model: ClusterModel) -> ClusterModel:
        special = model._with_functions(RobotFunctions.requested)
        for name in self.names:
            special._functions._make(BY_OWN_NAME[name] if name in BY_OWN_NAME else variant_of(name))
        return special


class RobotFunctions:
    """The robot-specific functions of a model; each function is compiled at its first call.

    Attributes:
        asked: Whether the user requested the functions with ``pc.specialise``. If so, every engine uses them, and
            there is no limit on their size.
        tables_of_variants: Array of addresses of tables of variants; the data's ``Pointer`` objects refer to it.
    """

    def __init__(self, model: ClusterModel, *, asked: bool = False) -> None:
        self._model, self.asked = model, asked
        self._made: dict[str, Made] = {}
        self._rows: dict[tuple[str, ...], MadeRows] = {}
        self._lock, self._notice_shown = threading.RLock(), False
        loops = with_loops(model)
        self.variants: dict[str, Variants | Requests] = {
            name: kind(operation, kernels.of(name, loops), self._make)
            for kind, operations in ((Variants, VARIANT_OPERATIONS), (Requests, REQUEST_OPERATIONS))
            for name, operation in operations.items()
        }
        self.tables_of_variants = np.array(
            [address_of(x.table) for x in self.variants.values() if isinstance(x, Variants)]
        )

    @classmethod
    def requested(cls, model: ClusterModel) -> "RobotFunctions":
        return cls(model, asked=True)

    def code(self, name: str, *, must: bool = False) -> Made | Variants | Requests:
        """Return the code of a function, compiled if necessary; if ``must``, raise an error if tracing fails."""
        if name in self.variants:
            return self.variants[name]
        return self._make(BY_CALLED_NAME[name], must=must)

    def _make(self, function: Function, write: Callable[..., str] = module_of, *, must: bool = False) -> Made:
        made = self._made.get(function.name)
        if made is not None and made.own:
            return made
        with self._lock:
            made, limit = self._made.get(function.name), self._most
            if made is None or (not made.own and made.most < limit):
                make = partial(Made, self._model, function, write=write)
                made = self._made[function.name] = self._try(make, limit, must)
                tell_compiled()
            return made

    def _try(self, make: Callable[[float], M], most: float, must: bool = False) -> M:
        """Return ``make(most)``. If tracing is impossible, use generic kernels, or raise an error if ``must``."""
        try:
            made = make(most)
        except NotAvailableError as error:
            if must:
                raise
            if not self._notice_shown:
                print_notice(f"model {self._model.name!r} uses generic kernels, which are slower: {error}")
            self._notice_shown, made = True, make(0)
            made.most = most
        _spend(made.made_in)
        return made

    @property
    def _most(self) -> float:
        return math.inf if self.asked or chosen() == "traced" else MOST

    def address(self, name: str, kernel: int) -> int:
        """Return the address of a function's code: 0 before compilation, ``kernel`` if only the kernel can run."""
        if name in self.variants:
            return self.variants[name].own
        return self._address_of(BY_CALLED_NAME[name], kernel) if name in BY_CALLED_NAME else kernel

    def _address_of(self, function: Function, kernel: int) -> int:
        made = self._made.get(function.name)
        if made is None or (not made.own and made.most < self._most):
            return 0
        return made.own or kernel

    def forced_address(self, kernel: str, address: int) -> int:
        """Return the address of the code for external forces: 0 before compilation, ``address`` if there is none."""
        return self._address_of(WITH_FORCES[kernel], address)

    def run(self, name: str, kernel: str, result: str, pointer: kernels.Pointer, *arrays: Any) -> int | None:
        """Run the robot-specific code of a kernel and return its status; return None if the kernel must run instead.

        ``result`` is the name of the result array; ``name`` distinguishes functions that have the same result array.
        """
        if kernel in self.variants:
            return self.variants[kernel].call(pointer, *arrays)
        forced = result == "forced"
        if kernel == RNEA_DERIVATIVES.name:
            forces, dq, M, total = (arrays[i] for i in _OF_RNEA_DERIVATIVES)
            forced = forces.size > 0
            if forced and not (dq.size and M.size and not total.size):
                return None
        function = WITH_FORCES.get(kernel) if forced else BY_CALLED_NAME.get(name) or BY_TABLES.get(result)
        if function is None or function.operation.name != kernel:
            return None
        return self._make(function).call(pointer, *arrays)

    def rows(self, name: str, *, forced: bool = False, parameters: tuple[str, ...] = ()) -> MadeRows:
        """Return the code that computes rows of states; each row can include external forces and ``parameters``."""
        function = WITH_FORCES[BY_CALLED_NAME[name].operation.name] if forced else BY_CALLED_NAME[name]
        key = (function.name, *parameters)
        with self._lock:
            made, limit = self._rows.get(key), self._most
            if made is None or (made.run is None and made.most < limit):
                made = self._rows[key] = self._try(partial(MadeRows, self._model, function, parameters), limit)
            return made

    def recipe(self) -> Recipe:
        return Recipe(
            tuple(name for name, made in self._made.items() if made.function.operation.name not in REQUEST_OPERATIONS)
        )

    def told(self) -> tuple[Specialised, ...]:
        all_made: list[Made | MadeRows] = [*self._made.values(), *self._rows.values()]
        return tuple(Specialised(x.name, "traced" if x.chosen else "tables", x.size, x.made_in) for x in all_made)


def _spend(seconds: float) -> None:
    if _spent[0] < _LONG <= _spent[0] + seconds:
        print_notice(
            f"compiling robot-specific code has taken more than {_LONG:g} s. If your program uses many robots of "
            "different structure, use generic kernels: with pc.engine('tables'), or PIN_CLUSTERS_ENGINE=tables."
        )
    _spent[0] += seconds
