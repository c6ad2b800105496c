"""The one jit policy, and the cache of compiled kernels.

Flags, each with its reason:

- ``error_model="numpy"``: a division by zero gives inf, not an exception in the middle of a kernel.
- ``fastmath={"contract"}``: fused multiply-add. No other flag: ``nnan`` would break ``isnan``.
- ``forceinline``: the small spatial functions must vanish into the kernel; nothing else matters as much.
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
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config, njit

BOUNDSCHECK = os.environ.get("PIN_CLUSTERS_BOUNDSCHECK", "0") == "1"
JIT = not config.DISABLE_JIT
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "boundscheck": BOUNDSCHECK}

inline = njit(forceinline=True, **_OPTIONS)


def _digest() -> str:
    """Name the state of the kernel sources: Numba's own key sees the outer function's file only."""
    h = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {BOUNDSCHECK}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        h.update(path.read_bytes())
    return h.hexdigest()[:16]


def _candidates() -> list[Path]:
    chosen = os.environ.get("PIN_CLUSTERS_CACHE")
    if chosen:
        return [Path(chosen)]
    places = []
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        places.append(Path(base) if base else Path.home() / ".cache")
    except RuntimeError:  # no home folder
        pass
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return [p / "pin_clusters" for p in places] + [Path(tempfile.gettempdir()) / f"pin_clusters-{user}"]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


_folder: Path | None = None
_searched = False


def cache_folder() -> Path | None:
    """Return the folder of compiled kernels, None if no place can be written; says so once when it falls back."""
    global _folder, _searched
    if not _searched:
        _searched = True
        places = _candidates()
        for place in places:
            if _writable(place / _digest()):
                _folder = place / _digest()
                if place != places[0]:
                    _say(f"cannot write to {places[0]}; compiled kernels are kept in {place}")
                break
        else:
            _say(f"cannot write to {places[0]}; kernels are compiled again in every process")
    return _folder


def _say(text: str) -> None:
    print(f"pin_clusters: {text}", file=sys.stderr, flush=True)  # noqa: T201


class Kernel:
    """A kernel with one signature, compiled (or loaded from the cache) at its first use.

    ``fast`` is the bare dispatcher: it raises TypeError as long as nothing is compiled, and for any argument that is
    not a contiguous array of the right type, so the caller converts, and then uses ``call``.
    """

    def __init__(self, function: Callable[..., Any], signature: Callable[[], Any], title: str, nogil: bool) -> None:
        self.function = function
        self.title = title
        self._signature = signature
        self._ready = not JIT
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        if JIT:
            self._dispatcher = njit(nogil=nogil, **_OPTIONS)(function)
            self._dispatcher._can_compile = False  # disable_compile() wants a signature first
            self.fast: Callable[..., Any] = self._dispatcher
        else:
            self.fast = _never

    def call(self, *arguments: Any) -> Any:
        """Compile if need be, and run; the arguments must have the kernel's types."""
        if not self._ready:
            self.compile()
        return self.fast(*arguments) if JIT else self.function(*arguments)

    def compile(self) -> None:
        """Compile the kernel, or load it from the cache; says so on stderr when it takes seconds."""
        if self._ready:
            return
        folder = cache_folder()
        if folder is not None:
            # Numba reads this setting when it makes the cache object; the user's own setting is put back
            before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
            try:
                self._dispatcher.enable_caching()
            finally:
                config.CACHE_DIR = before
        known = folder is not None and any(folder.glob(f"*/*.{self.function.__name__}-*.nbi"))
        if not known:
            where = f"kept in {folder}" if folder is not None else "not kept: no writable cache folder"
            _say(f"compiling {self.title} for this processor, some seconds, once ({where})")
        start = time.perf_counter()
        self._dispatcher._can_compile = True
        try:
            self._dispatcher.compile(self._signature())
        finally:
            self._dispatcher._can_compile = False
        if not known:
            _say(f"compiled {self.title} in {time.perf_counter() - start:.1f} s")
        self._ready = True


def _never(*_: Any) -> Any:
    """Stand in for a dispatcher when the JIT is off: always sends the caller to the checked way."""
    raise TypeError("the JIT is off")


def callable_kernel(kernel: Kernel) -> Callable[..., Any]:
    """Return a kernel's function for use inside another kernel, specialised to the types given there."""
    return njit(**_OPTIONS)(kernel.function)


def kernel(
    signature: Callable[[], Any], title: str, *, nogil: bool = False
) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare a kernel: a decorator for a plain function.

    Args:
        signature: Makes the Numba signature (called at the first use).
        title: What the user is told is being compiled.
        nogil: Whether the kernel releases the interpreter lock (batches do; it costs a little).
    """

    def wrap(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, signature, title, nogil)

    return wrap
