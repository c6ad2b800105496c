"""The one jit policy, and the cache of compiled kernels.

Flags, each with its reason:

- ``error_model="numpy"``: a division by zero gives inf, not an exception in the middle of a kernel.
- ``fastmath={"contract"}``: fused multiply-add. No other flag: ``nnan`` would break ``isnan``.
- ``forceinline``: the small spatial functions must vanish into the kernel; nothing else matters as much.
- ``inline="always"`` (``paste``): the long parts of a kernel become part of it before anything is compiled. Called,
  each would cost 20 ns, because an array is passed as seven numbers; with ``forceinline`` it would be compiled twice.
- no wrappers around inner functions: they took a quarter of the time of compilation.
- explicit signatures: a strided, float32 or integer array must not trigger a fresh compilation of seconds.

Environment:
    NUMBA_DISABLE_JIT: ``1`` runs every kernel as plain Python.
    PIN_CLUSTERS_BOUNDSCHECK: ``1`` compiles with checked accesses (about twice slower).
    PIN_CLUSTERS_CACHE: Folder of the compiled kernels, instead of the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config, njit

BOUNDSCHECK = os.environ.get("PIN_CLUSTERS_BOUNDSCHECK", "0") == "1"
JIT = not config.DISABLE_JIT
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "boundscheck": BOUNDSCHECK}

# nobody calls these from Python or from C
_INNER: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inline = njit(forceinline=True, **_INNER)
paste = njit(inline="always", **_INNER)


def _digest() -> str:
    """Name the state of the kernel sources: Numba's own key sees the outer function's file only."""
    h = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {BOUNDSCHECK}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        h.update(path.read_bytes())
    return h.hexdigest()[:16]


def _candidates() -> list[Path]:
    """List the places for compiled kernels, best first."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    temporary = Path(tempfile.gettempdir()) / f"pin_clusters-{user}"
    chosen = os.environ.get("PIN_CLUSTERS_CACHE")
    if chosen:
        return [Path(chosen), temporary]
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return [(Path(base) if base else Path.home() / ".cache") / "pin_clusters", temporary]
    except RuntimeError:  # no home folder
        return [temporary]


def _usable(place: Path) -> bool:
    """Whether compiled kernels can be kept in a place that is the user's own: what is found there is executed."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and place.stat().st_uid != os.getuid():
            return False
        (place / _digest()).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=place / _digest()):
            return True
    except OSError:
        return False


# threads may meet a kernel for the first time together
_lock = threading.RLock()
_folder: Path | None = None
_searched = False


def cache_folder() -> Path | None:
    """Return the folder of compiled kernels, None if no place can be written; says so once when it falls back."""
    global _folder, _searched
    with _lock:
        if not _searched:
            places = _candidates()
            for place in places:
                if _usable(place):
                    _folder = place / _digest()
                    if place != places[0]:
                        _say(f"cannot write to {places[0]}; compiled kernels are kept in {place}")
                    break
            else:
                _say(f"cannot write to {places[0]}; kernels are compiled again in every process")
            _searched = True
    return _folder


def _say(text: str) -> None:
    print(f"pin_clusters: {text}", file=sys.stderr, flush=True)  # noqa: T201


class Kernel:
    """An entry point with one signature, compiled (or loaded from the cache) at its first use.

    ``fast`` is the bare dispatcher: it raises TypeError as long as nothing is compiled, and for any argument that is
    not a contiguous array of the right type. The caller then converts, and uses ``call``.
    """

    def __init__(
        self,
        entry: Callable[..., Any],
        signature: Callable[[], Any],
        title: str,
        plain: Callable[..., Any] | None,
        nogil: bool,
    ) -> None:
        self.entry = entry
        self.title = title
        self._signature = signature
        self._plain = plain
        self._ready = not JIT
        self.compiled_address = 0  # of the machine code, if there is any
        self.fast: Callable[..., Any] = _never
        if JIT:
            self._dispatcher = njit(nogil=nogil, **_OPTIONS)(entry)
            self._dispatcher._can_compile = False  # disable_compile() wants a signature first
            self.fast = self._dispatcher

    def call(self, pointer: Pointer, *arguments: Any) -> Any:
        """Compile if need be, and run on the tables of a ``Pointer``; the arguments must have the kernel's types."""
        if not JIT:
            assert self._plain is not None
            return self._plain(*pointer.arrays, *arguments)
        if not self._ready:
            self.compile()
        return self.fast(pointer.address, *arguments)

    def compile(self) -> None:
        """Compile the kernel, or load it from the cache; says so on stderr when it takes seconds."""
        with _lock:
            if not self._ready:
                self._compile()
                (compiled,) = self._dispatcher.overloads.values()
                self.compiled_address = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
                self._ready = True

    def address(self) -> int:
        """Compile the kernel if need be, and return the address of its machine code, for other kernels to call."""
        self.compile()
        return self.compiled_address

    def _compile(self) -> None:
        folder = cache_folder()
        if folder is not None:
            # Numba reads this setting when it makes the cache object; the user's own setting is put back
            before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
            try:
                self._dispatcher.enable_caching()
            finally:
                config.CACHE_DIR = before
        known = folder is not None and any(folder.glob(f"*/*.{self.entry.__name__}-*.nbi"))
        if not known:
            where = f"once (kept in {folder})" if folder is not None else "in every process (no writable cache folder)"
            _say(f"compiling {self.title} for this processor, some seconds, {where}")
        start = time.perf_counter()
        self._dispatcher._can_compile = True
        try:
            self._dispatcher.compile(self._signature())
        finally:
            self._dispatcher._can_compile = False
        if not known:
            _say(f"compiled {self.title} in {time.perf_counter() - start:.1f} s")


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


def _never(*_: Any) -> Any:
    """Stand in for a dispatcher when the JIT is off: always sends the caller to the checked way."""
    raise TypeError("the JIT is off")


def device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a function that kernels call with scalars or with packs; it is not inlined."""
    return njit(**_INNER)(function)


def signature(arrays: int, matrices: int = 0) -> Callable[[], Any]:
    """Return what makes the signature of an entry point: the address of the tables, flat arrays, then matrices."""
    from numba import types

    return lambda: types.int64(types.int64, *([types.float64[::1]] * arrays), *([types.float64[:, ::1]] * matrices))


def kernel(
    signature: Callable[[], Any], title: str, plain: Any, *, nogil: bool = False
) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare an entry point: a decorator for a plain function.

    Args:
        signature: Makes the Numba signature (called at the first use).
        title: What the user is told is being compiled.
        plain: What runs instead when the JIT is off, on the arrays themselves.
        nogil: Whether the kernel releases the interpreter lock (batches do; it costs a little).
    """

    def wrap(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, signature, title, plain, nogil)

    return wrap
