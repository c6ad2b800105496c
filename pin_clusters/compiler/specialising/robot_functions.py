"""Functions of a model: traced at the first call, compiled, kept.

Which function is traced does not depend on a clock, nor on what is compiled or kept: on the model alone. So a program
gets the same numbers each time.
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
from ..native.telling import say
from ..native.words import LEFT_TO_KERNEL, address_of
from ..operations import RNEA_DERIVATIVES, Function, names
from ..tracing._sources import source
from .asked import OF_QUESTIONS, Asked
from .calling import caller
from .module import code_of, module_of
from .rows import MadeRows
from .traced_kernels import BY_CALLED_NAME, BY_OWN_NAME, BY_TABLES, MOST, WITH_FORCES
from .wishes import OF_WISHES, Wishes, wish_of

M = TypeVar("M", "Made", MadeRows)
_LONG = 30.0  # of traces of one process, [s]
_spent = [0.0]
_OF_RNEA_DERIVATIVES = [names(RNEA_DERIVATIVES.takes).index(name) for name in ("forces", "dq", "M", "total")]


class Specialised(NamedTuple):
    """What became of a function."""

    function: str  # its name; of rows with ``batch.`` before it
    choice: str  # ``traced``, or ``tables`` if that cannot be, or its code were too long
    size: int  # bytes of machine code and what belongs to it
    made_in: float  # how long it took to trace and compile, or to load, [s]


class Made:
    """One function of a model: it is called as a kernel is.

    Attributes:
        own: Address of what calls take in place of the kernel; 0 if that does it.
    """

    def __init__(
        self, model: ClusterModel, function: Function, most: float, write: Callable[..., str] = module_of
    ) -> None:
        """Trace and compile, or load; ``write`` returns the text of the module, of at most ``most`` operations."""
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
        """Whether it is traced."""
        return bool(self.own)

    def address(self) -> int:
        """Return the address of what does it; a kernel is compiled if need be."""
        return self.own or self.kernel.address()

    def call(self, pointer: kernels.Pointer, *arrays: Any) -> int:
        """Do what the kernel does, and return its code."""
        if not self.own:
            return int(self.kernel.call(pointer, *arrays))
        if self._call is None:
            kinds = self.kernel.operation.kinds
            self._call = caller(kinds if self.kernel.operation.is_entry else ("i0", *kinds))
        code: int = self._call(self.own, pointer.address, *arrays)
        return plain(self.kernel, pointer, *arrays) if code == LEFT_TO_KERNEL else code


def plain(kernel: kernels.Kernel, pointer: kernels.Pointer, *arrays: Any) -> int:
    """Run the source of a kernel in Python: what becomes of suspicious states, and nobody waits for a compiler."""
    module, _, name = kernel.operation.passes.rpartition(".")
    run: Callable[..., int] = getattr(source(module), name + "_loops" * kernel.loops)
    with np.errstate(all="ignore"):
        return int(run(*pointer.arrays, *arrays))


class Recipe(NamedTuple):
    """What a specialised model is made again from: the names of the functions that were asked for."""

    names: tuple[str, ...]

    def restore(self, model: ClusterModel) -> ClusterModel:
        """Return the specialised model."""
        special = model._with_functions(RobotFunctions.asked_for)
        for name in self.names:
            special._functions._make(BY_OWN_NAME[name] if name in BY_OWN_NAME else wish_of(name))
        return special


class RobotFunctions:
    """Functions of a model; each is made at its first call.

    Attributes:
        asked: Whether the user asked for them: then they serve whatever engine is chosen, however long they are.
        tables_of_wishes: Addresses of the tables of ``Wishes``, in their order, to which the tables of data lead.
    """

    def __init__(self, model: ClusterModel, *, asked: bool = False) -> None:
        self._model, self.asked = model, asked
        self._made: dict[str, Made] = {}
        self._rows: dict[tuple[str, ...], MadeRows] = {}
        self._lock, self._told = threading.RLock(), False
        loops = with_loops(model)
        self.wishes: dict[str, Wishes | Asked] = {
            name: kind(one, kernels.of(name, loops), self._make)
            for kind, some in ((Wishes, OF_WISHES), (Asked, OF_QUESTIONS))
            for name, one in some.items()
        }
        self.tables_of_wishes = np.array([address_of(x.table) for x in self.wishes.values() if isinstance(x, Wishes)])

    @classmethod
    def asked_for(cls, model: ClusterModel) -> "RobotFunctions":
        """Make those of ``pc.specialise``."""
        return cls(model, asked=True)

    def code(self, name: str, *, must: bool = False) -> Made | Wishes | Asked:
        """Return what is traced for a function, made now if need be; ``must``: there is an error if it cannot be."""
        if name in self.wishes:
            return self.wishes[name]
        return self._make(BY_CALLED_NAME[name], must=must)

    def _make(self, one: Function, write: Callable[..., str] = module_of, *, must: bool = False) -> Made:
        found = self._made.get(one.name)
        if found is not None and found.own:
            return found
        with self._lock:
            found, most = self._made.get(one.name), self._most
            if found is None or (not found.own and found.most < most):
                found = self._made[one.name] = self._try(partial(Made, self._model, one, write=write), most, must)
                tell_compiled()
            return found

    def _try(self, make: Callable[[float], M], most: float, must: bool = False) -> M:
        """Make a function; where it was not asked for, and cannot be, say why: the kernel does it."""
        try:
            found = make(most)
        except NotAvailableError as error:
            if must:
                raise
            if not self._told:
                say(f"model {self._model.name!r} has kernels by tables, which take longer: {error}")
            self._told, found = True, make(0)
            found.most = most
        _spend(found.made_in)
        return found

    @property
    def _most(self) -> float:
        return math.inf if self.asked or chosen() == "traced" else MOST

    def address(self, name: str, kernel: int) -> int:
        """Return the address that a call should take, given its kernel's; 0 if it is to be made at the first call."""
        if name in self.wishes:
            return self.wishes[name].own
        return self._known(BY_CALLED_NAME[name], kernel) if name in BY_CALLED_NAME else kernel

    def _known(self, one: Function, kernel: int) -> int:
        made = self._made.get(one.name)
        if made is None or (not made.own and made.most < self._most):
            return 0
        return made.own or kernel

    def forced_address(self, kernel: str, address: int) -> int:
        """Return the address of what does a kernel's work with external forces; 0 if that is not made.

        ``address`` is that of the kernel itself, which does what cannot be traced.
        """
        return self._known(WITH_FORCES[kernel], address)

    def run(self, name: str, kernel: str, result: str, pointer: kernels.Pointer, *arrays: Any) -> int | None:
        """Do what a kernel does, and return its code; None where the kernel has to do it.

        Args:
            name: Of the function, if others lead to the same result.
            kernel: Name of its operation.
            result: To which the tables lead.
            pointer: The tables.
            arrays: What the kernel is given.
        """
        if kernel in self.wishes:
            return self.wishes[kernel].call(pointer, *arrays)
        forced = result == "forced"
        if kernel == RNEA_DERIVATIVES.name:
            forces, dq, M, total = (arrays[i] for i in _OF_RNEA_DERIVATIVES)
            forced = forces.size > 0
            if forced and not (dq.size and M.size and not total.size):
                return None
        one = WITH_FORCES.get(kernel) if forced else BY_CALLED_NAME.get(name) or BY_TABLES.get(result)
        if one is None or one.operation.name != kernel:
            return None
        return self._make(one).call(pointer, *arrays)

    def rows(self, name: str, *, forced: bool = False, parameters: tuple[str, ...] = ()) -> MadeRows:
        """Return what computes rows, under forces if ``forced``; each has its own ``parameters`` of the robot."""
        one = WITH_FORCES[BY_CALLED_NAME[name].operation.name] if forced else BY_CALLED_NAME[name]
        key = (one.name, *parameters)
        with self._lock:
            found, most = self._rows.get(key), self._most
            if found is None or (found.run is None and found.most < most):
                found = self._rows[key] = self._try(partial(MadeRows, self._model, one, parameters), most)
            return found

    def recipe(self) -> Recipe:
        """Return what makes the same of another model."""
        return Recipe(
            tuple(name for name, made in self._made.items() if made.function.operation.name not in OF_QUESTIONS)
        )

    def told(self) -> tuple[Specialised, ...]:
        """Return what became of each function."""
        all_made: list[Made | MadeRows] = [*self._made.values(), *self._rows.values()]
        return tuple(Specialised(x.name, "traced" if x.chosen else "tables", x.size, x.made_in) for x in all_made)


def _spend(seconds: float) -> None:
    """Say once that much time goes into traces."""
    if _spent[0] < _LONG <= _spent[0] + seconds:
        say(
            f"more than {_LONG:g} s went into code for single robots. A program that makes many robots of different "
            "structure is faster with kernels that serve all of them: with pc.engine('tables'), or PIN_CLUSTERS_ENGINE"
        )
    _spent[0] += seconds
