"""The compilation policy: the flags with which Numba compiles kernels.

- ``error_model="numpy"``: a division by zero returns inf and does not raise an exception inside a kernel.
- ``fastmath={"contract"}``: fused multiply-add. No other flag is set, because ``nnan`` would break ``isnan``.
- ``forceinline``: the small spatial functions must be inlined into the kernel. This flag has the largest effect.
- ``inline="always"`` (``paste``): long parts of a kernel are merged before anything is compiled. A call would cost
  20 ns, because an array is passed as seven numbers. With ``forceinline`` the part would be compiled twice.
- ``_nrt=False`` (``uncounted``): references to arrays are not counted. Counting took as long as the arithmetic in
  functions with loops and many exits, such as simulation steps. Functions that return arrays need counting.
- No wrappers around inner functions: compiling them took a quarter of the compile time.
- Explicit signatures: a strided, float32 or integer array must not trigger a new compilation of several seconds.
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

# Python and C never call inner functions, so these functions need no wrappers.
_UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler}
INNER: dict[str, Any] = {**OPTIONS, **_UNWRAPPED}
INLINE: dict[str, Any] = {"jit_options": {"forceinline": True, **_UNWRAPPED}}
"""Options for ``numba.extending.overload``."""

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
    """A function to compile as a kernel, and its types and options."""

    entry: Callable[..., Any]  # the function to compile
    kinds: tuple[str, ...]  # kinds of its arguments, as in ``operations.Operation``
    title: str  # name in the notice that is printed during compilation
    plain: Callable[..., Any] | None  # Python function on the arrays, which runs if the JIT is off
    nogil: bool  # whether it releases the interpreter lock, as batches do, at a small cost per call

    def signature(self) -> Any:
        return types.int64(*types_of(self.kinds))


def compiled(source: Source) -> tuple[int, Callable[..., Any]]:
    function = njit(nogil=source.nogil, **OPTIONS)(source.entry)
    _cache.compile_or_load(function, source.signature(), source.entry.__name__, source.title)
    (overload,) = function.overloads.values()
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)), function
