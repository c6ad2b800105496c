"""The entry points, as all but the kernels see them: called without importing Numba or a kernel before it is needed."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .switches import BOUNDSCHECK as BOUNDSCHECK
from .switches import JIT as JIT
from .switches import compiled_ahead as compiled_ahead

if TYPE_CHECKING:
    from .kernels.compiling.jit import Source


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
        self._module, _, self.name = place.rpartition(".")
        self.compiled_address = 0
        self.fast: Callable[..., Any] | None = None

    @property
    def source(self) -> Source:
        """What it is made of; imports Numba."""
        return getattr(importlib.import_module(f".kernels.{self._module}", __package__), self.name)

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


rnea = Kernel("dynamics.rnea.rnea_at")
rnea_loops = Kernel("dynamics.rnea.rnea_loops_at")
aba = Kernel("dynamics.aba.aba_at")
aba_loops = Kernel("dynamics.aba.aba_loops_at")
crba = Kernel("dynamics.crba.crba_at")
crba_loops = Kernel("dynamics.crba.crba_loops_at")
minverse = Kernel("dynamics.minverse.minverse_at")
minverse_loops = Kernel("dynamics.minverse.minverse_loops_at")
energy = Kernel("dynamics.energy.energy_at")
energy_loops = Kernel("dynamics.energy.energy_loops_at")
coupling = Kernel("dynamics.coupling.coupling_at")
project = Kernel("moves.closing.project_at")
move = Kernel("moves.following.move_at")
rnea_rows = Kernel("rows.batch.rnea_rows")
rnea_loops_rows = Kernel("rows.batch.rnea_loops_rows")
aba_rows = Kernel("rows.batch.aba_rows")
aba_loops_rows = Kernel("rows.batch.aba_loops_rows")
crba_rows = Kernel("rows.batch_matrices.crba_rows")
crba_loops_rows = Kernel("rows.batch_matrices.crba_loops_rows")
minverse_rows = Kernel("rows.batch_matrices.minverse_rows")
minverse_loops_rows = Kernel("rows.batch_matrices.minverse_loops_rows")
rows = Kernel("rows.rows.rows_at")
openness = Kernel("rows.row_results.openness_at")
placements = Kernel("rows.row_results.placements_at")
projected = Kernel("rows.row_results.projected_at")
simulate = Kernel("steps.simulate.simulate_at")
moved = Kernel("steps.simulate.moved_at")
tree = Kernel("tree.tree.tree_at")
frame_jacobian = Kernel("tree.frame_jacobians.frame_jacobian_at")
place_derivatives = Kernel("tree.place_derivatives.place_derivatives_at")
place_hessian = Kernel("tree.place_hessians.place_hessian_at")
center_rates = Kernel("tree.center_rates.center_rates_at")
columns = Kernel("force_columns.columns.columns_at")
columns_loops = Kernel("force_columns.columns.columns_loops_at")
contacts = Kernel("contacts.contacts.contacts_at")
contacts_loops = Kernel("contacts.contacts.contacts_loops_at")
contact_derivatives = Kernel("contacts.derivatives.contact_derivatives_at")
rnea_derivatives = Kernel("variations.rnea_derivatives.rnea_derivatives_at")
rnea_derivatives_loops = Kernel("variations.rnea_derivatives.rnea_derivatives_loops_at")
derivatives_rows = Kernel("rows.batch_derivatives.derivatives_rows")
aba_derivatives = Kernel("variations.aba_derivatives.aba_derivatives_at")
coupling_derivatives = Kernel("variations.coupling_derivatives.coupling_derivatives_at")
regressor = Kernel("regressors.regressor.regressor_at")
energy_regressors = Kernel("regressors.energy_regressors.energy_regressors_at")
hybrid = Kernel("dynamics.hybrid.hybrid_at")
hybrid_loops = Kernel("dynamics.hybrid.hybrid_loops_at")

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
