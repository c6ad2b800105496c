"""The flags with which Numba compiles kernels.

- ``error_model="numpy"``: A division by zero returns inf and does not raise an exception inside a kernel.
- ``fastmath={"contract"}``: LLVM can use fused multiply-add. No other flag is set; ``nnan`` would break ``isnan``.
- ``forceinline``: The small spatial functions are inlined into the kernel. No other flag has such a large effect.
- ``inline="always"`` (``paste``): Numba copies the body of a long function into the kernel before compilation. A call
  would take 20 ns, as an array is passed as seven numbers; ``forceinline`` would compile the function twice.
- ``_nrt=False`` (``uncounted``): Numba does not count references to arrays. In functions with loops and many exits,
  such as simulation steps, counting takes as long as the arithmetic. Functions that return arrays need counting.
- Inner functions have no wrappers, because compiling the wrappers takes a quarter of the compile time.
- Signatures are explicit, so a strided, float32 or integer array does not start a compilation of several seconds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import config, njit, types

from ..switches import BOUNDSCHECK, JIT
from . import cache as _cache
from .inner import InnerCompiler

if JIT and config.DISABLE_JIT:
    raise ImportError("Numba's JIT was disabled after pin_clusters was imported. Set NUMBA_DISABLE_JIT=1 earlier.")

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "boundscheck": BOUNDSCHECK}

# Python and C code never calls inner functions, so they need no wrappers.
_UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler}
INNER: dict[str, Any] = {**OPTIONS, **_UNWRAPPED}
INLINE: dict[str, Any] = {"jit_options": {"forceinline": True, **_UNWRAPPED}}
"""Options that are passed to ``numba.extending.overload``."""

inline = njit(forceinline=True, **INNER)
paste = njit(inline="always", **INNER)
device = njit(**INNER)  # not inlined
uncounted = njit(_nrt=False, **INNER)
uncounted_inline = njit(forceinline=True, _nrt=False, **INNER)


_KINDS = {
    "f1": types.float64[::1],
    "f2": types.float64[:, ::1],
    "i0": types.int64,
    "i1": types.int64[::1],
    "i2": types.int64[:, ::1],
    "b1": types.int8[::1],
}


def types_of(kinds: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(_KINDS[kind] for kind in kinds)


class Source(NamedTuple):
    """A function that is compiled as a kernel, with its argument types and options."""

    entry: Callable[..., Any]  # the function to compile
    kinds: tuple[str, ...]  # types of its arguments, as in ``operations.Operation``
    title: str  # name in the notice that is printed during compilation
    plain: Callable[..., Any] | None  # Python function that runs on the arrays if the JIT is off
    nogil: bool  # whether the kernel releases the interpreter lock, as for batches; this slows each call a little

    def signature(self) -> Any:
        return types.int64(*types_of(self.kinds))


def compiled(source: Source) -> tuple[int, Callable[..., Any]]:
    function = njit(nogil=source.nogil, **OPTIONS)(source.entry)
    _cache.compile_or_load(function, source.signature(), source.entry.__name__, source.title)
    (overload,) = function.overloads.values()
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)), function
