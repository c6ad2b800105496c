"""The one jit policy: how kernels are declared, and compiled by Numba.

Flags, each with its reason:

- ``error_model="numpy"``: a division by zero gives inf, not an exception in the middle of a kernel.
- ``fastmath={"contract"}``: fused multiply-add. No other flag: ``nnan`` would break ``isnan``.
- ``forceinline``: the small spatial functions must vanish into the kernel; nothing else matters as much.
- ``inline="always"`` (``paste``): the long parts of a kernel become part of it before anything is compiled. Called,
  each would cost 20 ns, because an array is passed as seven numbers; with ``forceinline`` it would be compiled twice.
- ``_nrt=False`` (``uncounted``): no references to arrays are counted. Where functions have loops and many exits, as
  steps do, that took as long as the arithmetic; what returns an array cannot do without.
- no wrappers around inner functions: they took a quarter of the time of compilation.
- explicit signatures: a strided, float32 or integer array must not trigger a fresh compilation of seconds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import config, njit, types

from ..switches import BOUNDSCHECK, JIT
from . import cache as _cache
from .inner import InnerCompiler

if JIT and config.DISABLE_JIT:
    raise ImportError("Numba's JIT was switched off after pin_clusters was imported. Set NUMBA_DISABLE_JIT=1 before.")

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "boundscheck": BOUNDSCHECK}

# nobody calls these from Python or from C
_UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": InnerCompiler}
INNER: dict[str, Any] = {**OPTIONS, **_UNWRAPPED}
INLINE: dict[str, Any] = {"jit_options": {"forceinline": True, **_UNWRAPPED}}
"""Of overloads."""

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
    """Return Numba's types of arguments."""
    return tuple(_KINDS[kind] for kind in kinds)


class Source(NamedTuple):
    """What a kernel is made of."""

    entry: Callable[..., Any]  # the function
    kinds: tuple[str, ...]  # what its arguments are, as in ``operations.Operation``
    title: str  # what the user is told is being compiled
    plain: Callable[..., Any] | None  # what runs instead when the JIT is off, on the arrays themselves
    nogil: bool  # whether it releases the interpreter lock (batches do; it costs a little)

    def signature(self) -> Any:
        """Return the signature of Numba's."""
        return types.int64(*types_of(self.kinds))


def compiled(source: Source) -> tuple[int, Callable[..., Any]]:
    """Compile an entry point, or load it from the cache; return its address, and what takes its arguments."""
    function = njit(nogil=source.nogil, **OPTIONS)(source.entry)
    _cache.compile_or_load(function, source.signature(), source.entry.__name__, source.title)
    (found,) = function.overloads.values()
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name)), function
