"""The entry points, as all but the kernels see them: called without importing Numba or a kernel before it is needed.

Environment:
    NUMBA_DISABLE_JIT: ``1`` runs every kernel as plain Python.
    PIN_CLUSTERS_BOUNDSCHECK: ``1`` compiles with checked accesses (about twice slower).
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .native import library
from .native.memory import may_execute

if TYPE_CHECKING:
    from .kernels.compiling.jit import Source


def _jit_is_on() -> bool:
    numba = sys.modules.get("numba")
    if numba is not None:
        return not numba.config.DISABLE_JIT
    return os.environ.get("NUMBA_DISABLE_JIT", "0").strip() in ("", "0")


def _import_numba_to_run_nothing() -> None:
    """Import Numba, for kernels are written with it, where it refuses because it could run nothing that it compiles."""
    from llvmlite import binding

    refuse = binding.check_jit_execution
    binding.check_jit_execution = lambda: None
    try:
        import numba
    finally:
        binding.check_jit_execution = refuse
    numba.config.DISABLE_JIT = 1


BOUNDSCHECK = os.environ.get("PIN_CLUSTERS_BOUNDSCHECK", "0") == "1"
JIT = _jit_is_on()
if not may_execute() and (not JIT or BOUNDSCHECK or library.load() is None):
    if JIT:
        library.say(
            "this process may not execute what it writes to memory, and there is no library of kernels: neither fast "
            "calls nor Numba's code can be made, kernels run as plain Python, some hundred times slower. Install with "
            "PIN_CLUSTERS_BUILD=native"
        )
    JIT = False
    _import_numba_to_run_nothing()


def compiled_ahead() -> library.Library | None:
    """Return the library of kernels, if there is one that serves."""
    return library.load() if JIT and not BOUNDSCHECK else None


@functools.cache
def lanes() -> int:
    """Return how many states a batch takes at once: the float64 of one register."""
    if not JIT:
        return 1
    ahead = compiled_ahead()
    if ahead is not None:
        return ahead.lanes
    from .kernels.numbers.simd import LANES

    return LANES


# threads may meet a kernel for the first time together
_lock = threading.RLock()


class Kernel:
    """An entry point with one signature; its code is found in the library, or compiled, at its first use.

    Attributes:
        name: Of the function.
        compiled_address: Of its machine code, as Numba's code calls it; 0 as long as there is none.
        fast: Takes its arguments, which must have the kernel's types; None as long as there is no machine code.
    """

    __slots__ = ("_module", "compiled_address", "fast", "name")

    def __init__(self, place: str) -> None:
        self._module, _, self.name = place.partition(".")
        self.compiled_address = 0
        self.fast: Callable[..., Any] | None = None

    @property
    def source(self) -> Source:
        """What it is made of; imports Numba."""
        return getattr(importlib.import_module(f".{self._module}", __package__), self.name)

    def call(self, pointer: Pointer, *arguments: Any) -> Any:
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
        ahead = compiled_ahead()
        if ahead is not None:
            self.compiled_address, self.fast = ahead.kernel(self.name)
        else:
            from .kernels.compiling.jit import compiled

            self.compiled_address, self.fast = compiled(self.source)


rnea = Kernel("rnea.rnea_at")
rnea_loops = Kernel("rnea.rnea_loops_at")
aba = Kernel("aba.aba_at")
aba_loops = Kernel("aba.aba_loops_at")
crba = Kernel("crba.crba_at")
crba_loops = Kernel("crba.crba_loops_at")
minverse = Kernel("minverse.minverse_at")
minverse_loops = Kernel("minverse.minverse_loops_at")
energy = Kernel("energy.energy_at")
energy_loops = Kernel("energy.energy_loops_at")
coupling = Kernel("coupling.coupling_at")
project = Kernel("closing.project_at")
move = Kernel("following.move_at")
rnea_rows = Kernel("batch.rnea_rows")
rnea_loops_rows = Kernel("batch.rnea_loops_rows")
aba_rows = Kernel("batch.aba_rows")
aba_loops_rows = Kernel("batch.aba_loops_rows")
crba_rows = Kernel("batch_matrices.crba_rows")
crba_loops_rows = Kernel("batch_matrices.crba_loops_rows")
minverse_rows = Kernel("batch_matrices.minverse_rows")
minverse_loops_rows = Kernel("batch_matrices.minverse_loops_rows")
rows = Kernel("rows.rows_at")
openness = Kernel("row_results.openness_at")
placements = Kernel("row_results.placements_at")
projected = Kernel("row_results.projected_at")
simulate = Kernel("simulate.simulate_at")
moved = Kernel("simulate.moved_at")
tree = Kernel("tree.tree_at")
frame_jacobian = Kernel("frame_jacobians.frame_jacobian_at")
place_derivatives = Kernel("place_derivatives.place_derivatives_at")
place_hessian = Kernel("place_hessians.place_hessian_at")
center_rates = Kernel("center_rates.center_rates_at")
columns = Kernel("columns.columns_at")
columns_loops = Kernel("columns.columns_loops_at")
contacts = Kernel("contacts.contacts_at")
contacts_loops = Kernel("contacts.contacts_loops_at")
contact_derivatives = Kernel("contact_derivatives.contact_derivatives_at")
rnea_derivatives = Kernel("rnea_derivatives.rnea_derivatives_at")
rnea_derivatives_loops = Kernel("rnea_derivatives.rnea_derivatives_loops_at")
derivatives_rows = Kernel("batch_derivatives.derivatives_rows")
aba_derivatives = Kernel("aba_derivatives.aba_derivatives_at")
coupling_derivatives = Kernel("coupling_derivatives.coupling_derivatives_at")
regressor = Kernel("regressor.regressor_at")
energy_regressors = Kernel("energy_regressors.energy_regressors_at")
hybrid = Kernel("hybrid.hybrid_at")
hybrid_loops = Kernel("hybrid.hybrid_loops_at")

BY_NAME = {name: thing for name, thing in list(globals().items()) if isinstance(thing, Kernel)}
ALL = tuple(BY_NAME.values())


class Pointer:
    """The tables of a model and a workspace, behind one address: passing four arrays costs more than a small robot.

    Attributes:
        arrays: index, params, work, keep; kept alive here.
        address: Of a block of whole numbers: address and size of each array.
    """

    __slots__ = ("_block", "address", "arrays")

    def __init__(self, index: np.ndarray, params: np.ndarray, work: np.ndarray, keep: np.ndarray) -> None:
        self.arrays = (index, params, work, keep)
        numbers: list[int] = []
        for array in self.arrays:
            assert array.flags.c_contiguous
            numbers += [array.ctypes.data, array.shape[0]]
        self._block = np.array(numbers, dtype=np.int64)
        self.address = int(self._block.ctypes.data)
