"""The entry points of the kernels. Numba and the kernels are imported only when a kernel is first used."""

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


# Several threads may call a kernel for the first time at the same time.
_lock = threading.RLock()


class Kernel:
    """A kernel of an operation. Its code is compiled, or loaded from the cache, when it is first used.

    Attributes:
        operation: The operation.
        loops: Whether this kernel is the variant for robots with closed loops.
        name: Name of the entry point.
        compiled_address: Address of the kernel's machine code, for calls from compiled code; 0 before compilation.
        fast: Callable for arguments that have the kernel's types; None before compilation.
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
        title, kinds = self.operation.title, ", closed loops" * self.loops
        return f"{title[:-1]}{kinds})" if title.endswith(")") else title + f" ({kinds[2:]})" * bool(kinds)

    @property
    def source(self) -> "Source":
        from .kernel_entries import source

        return source(self.operation, self.loops, self.name, self.title)

    def call(self, pointer: "Pointer", *arguments: Any) -> Any:
        """Run the kernel on the tables of a ``Pointer``. The arguments must have the types that the kernel expects."""
        if not JIT:
            plain = self.source.plain
            assert plain is not None
            return plain(*pointer.arrays, *arguments)
        return self.function()(pointer.address, *arguments)

    def function(self) -> Callable[..., Any]:
        if self.fast is None:
            with _lock:
                if self.fast is None:
                    self._make()
        assert self.fast is not None
        return self.fast

    def address(self) -> int:
        self.function()
        return self.compiled_address

    def _make(self) -> None:
        from .numba_jit.jit import compiled

        self.compiled_address, self.fast = compiled(self.source)
        tell_compiled()


def _kernels() -> Iterator[tuple[str, Kernel]]:
    for operation in OPERATIONS:
        for loops in (False, True) if operation.loops else (False,):
            yield operation.name + "_loops" * loops, Kernel(operation, loops=loops)


KERNELS_BY_NAME = dict(_kernels())
KERNELS = tuple(KERNELS_BY_NAME.values())
globals().update(KERNELS_BY_NAME)


def of(name: str, loops: bool) -> Kernel:
    return KERNELS_BY_NAME.get(name + "_loops" * loops, KERNELS_BY_NAME[name])


if TYPE_CHECKING:

    def __getattr__(name: str) -> Kernel:
        """Inform type checkers that each kernel is an attribute of the module."""


class Pointer:
    """The tables and the workspace of a model, which are passed to a kernel as a single address.

    For a small robot, passing four separate arrays would take longer than the computation.

    Attributes:
        arrays: The arrays index, params, work and keep. The ``Pointer`` object keeps them alive.
        address: Address of a block of integers, which contains the address and size of each array, followed by the
            address of the tables of the robot-specific code.
    """

    __slots__ = ("_block", "address", "arrays")

    def __init__(self, index: np.ndarray, params: np.ndarray, work: np.ndarray, keep: np.ndarray) -> None:
        self._lead(address_of(index), address_of(params), index, params, work, keep)

    def beside(self, work: np.ndarray, keep: np.ndarray) -> "Pointer":
        pointer = object.__new__(Pointer)
        pointer._lead(int(self._block[0]), int(self._block[2]), *self.arrays[:2], work, keep)
        return pointer

    def lead_to(self, own: np.ndarray) -> None:
        """Store the address of robot-specific tables. The caller must keep these tables alive."""
        self._block[-1] = address_of(own)

    def _lead(self, at_index: int, at_params: int, *arrays: np.ndarray) -> None:
        assert all(array.flags.c_contiguous for array in arrays)
        index, params, work, keep = self.arrays = arrays
        self._block = np.array(
            [at_index, len(index), at_params, len(params), address_of(work), len(work), address_of(keep), len(keep), 0]
        )
        self.address = address_of(self._block)


class Block:
    """Kernel arguments in one array, with three words per argument: a number, or an array's address and shape."""

    __slots__ = ("_owned", "_words", "address")

    def __init__(self, arguments: Sequence[Any]) -> None:
        assert all(isinstance(x, int) or x.flags.c_contiguous for x in arguments)
        words = [(x, 0, 0) if isinstance(x, int) else (address_of(x), *x.shape, 0)[:3] for x in arguments]
        self._owned, self._words = arguments, np.array(words, dtype=np.int64)
        self.address = address_of(self._words)
