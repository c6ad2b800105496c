"""The entry points, as all but the kernels see them: called without importing Numba or a kernel before it is needed."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .call_layer import tell_compiled
from .native.words import address_of
from .operations import OPERATIONS, Operation
from .switches import BOUNDSCHECK as BOUNDSCHECK
from .switches import JIT as JIT

if TYPE_CHECKING:
    from .numba_jit.jit import Source


# threads may meet a kernel for the first time together
_lock = threading.RLock()


class Kernel:
    """A kernel of an operation; its code is compiled, or loaded from the cache, at its first use.

    Attributes:
        operation: What it does.
        loops: Whether it knows closed loops, which others do not.
        name: Of its entry point.
        compiled_address: Of its machine code, as Numba's code calls it; 0 as long as there is none.
        fast: Takes its arguments, which must have the kernel's types; None as long as there is no machine code.
    """

    __slots__ = ("compiled_address", "fast", "loops", "name", "operation")

    def __init__(self, operation: Operation, *, loops: bool = False) -> None:
        self.operation, self.loops = operation, loops
        _, _, passes = operation.passes.rpartition(".")
        self.name = passes if operation.is_entry else operation.name + "_loops" * loops + "_at"
        self.compiled_address = 0
        self.fast: Callable[..., Any] | None = None

    @property
    def title(self) -> str:
        """What is said while it is compiled."""
        title, kinds = self.operation.title, ", closed loops" * self.loops
        return f"{title[:-1]}{kinds})" if title.endswith(")") else title + f" ({kinds[2:]})" * bool(kinds)

    @property
    def source(self) -> "Source":
        """What it is made of; imports Numba."""
        from .kernel_entries import source

        return source(self.operation, self.loops, self.name, self.title)

    def call(self, pointer: "Pointer", *arguments: Any) -> Any:
        """Compile if need be, and run on the tables of a ``Pointer``; the arguments must have the kernel's types."""
        if not JIT:
            plain = self.source.plain
            assert plain is not None
            return plain(*pointer.arrays, *arguments)
        return self.function()(pointer.address, *arguments)

    def function(self) -> Callable[..., Any]:
        """Compile if need be, and return what takes the kernel's arguments."""
        if self.fast is None:
            with _lock:
                if self.fast is None:
                    self._make()
        assert self.fast is not None
        return self.fast

    def address(self) -> int:
        """Compile the kernel if need be, and return the address of its machine code, for other kernels to call."""
        self.function()
        return self.compiled_address

    def _make(self) -> None:
        from .numba_jit.jit import compiled

        self.compiled_address, self.fast = compiled(self.source)
        tell_compiled()


def _kernels() -> Iterator[tuple[str, Kernel]]:
    """Make the kernels, those of one operation side by side, with the names that others know them by."""
    for operation in OPERATIONS:
        for loops in (False, True) if operation.loops else (False,):
            yield operation.name + "_loops" * loops, Kernel(operation, loops=loops)


KERNELS_BY_NAME = dict(_kernels())
KERNELS = tuple(KERNELS_BY_NAME.values())
globals().update(KERNELS_BY_NAME)


def of(name: str, loops: bool) -> Kernel:
    """Return the kernel of an operation, or that which knows loops, if there is one."""
    return KERNELS_BY_NAME.get(name + "_loops" * loops, KERNELS_BY_NAME[name])


if TYPE_CHECKING:

    def __getattr__(name: str) -> Kernel:
        """Tell that kernels are here by name."""


class Pointer:
    """The tables of a model and a workspace, behind one address: passing four arrays costs more than a small robot.

    Attributes:
        arrays: index, params, work, keep; kept alive here.
        address: Of a block of whole numbers: address and size of each array, then one of what is a model's own.
    """

    __slots__ = ("_block", "address", "arrays")

    def __init__(self, index: np.ndarray, params: np.ndarray, work: np.ndarray, keep: np.ndarray) -> None:
        self._lead(address_of(index), address_of(params), index, params, work, keep)

    def beside(self, work: np.ndarray, keep: np.ndarray) -> "Pointer":
        """Return the tables of the same model with another workspace."""
        other = object.__new__(Pointer)
        other._lead(int(self._block[0]), int(self._block[2]), *self.arrays[:2], work, keep)
        return other

    def lead_to(self, own: np.ndarray) -> None:
        """Let what is a model's own be found, too, which somebody else keeps alive."""
        self._block[-1] = address_of(own)

    def _lead(self, at_index: int, at_params: int, *arrays: np.ndarray) -> None:
        assert all(array.flags.c_contiguous for array in arrays)
        index, params, work, keep = self.arrays = arrays
        self._block = np.array(
            [at_index, len(index), at_params, len(params), address_of(work), len(work), address_of(keep), len(keep), 0]
        )
        self.address = address_of(self._block)


class Block:
    """Arguments of a kernel behind one address: a number, or where an array is and how long, three words each.

    Attributes:
        address: Of the words.
    """

    __slots__ = ("_owned", "_words", "address")

    def __init__(self, arguments: Sequence[Any]) -> None:
        assert all(isinstance(x, int) or x.flags.c_contiguous for x in arguments)
        words = [(x, 0, 0) if isinstance(x, int) else (address_of(x), *x.shape, 0)[:3] for x in arguments]
        self._owned, self._words = arguments, np.array(words, dtype=np.int64)
        self.address = address_of(self._words)
