"""The cache of kernels compiled by Numba. Each kernel is stored in one file, with a checksum.

The file name depends on the source code of all kernels, so each release of the package compiles its own kernels. A
damaged file is replaced. If two processes need the same kernel at the same time, the second process waits and loads the
code that the first process has compiled. If no folder is writable, kernels are compiled in every process.

Environment:
    PIN_CLUSTERS_CACHE: Folder that stores the compiled kernels, in place of the user's cache folder.
"""

import functools
import hashlib
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from .. import switches
from ..native import own_folder
from ..native.cache_folders import find
from ..native.notices import print_notice

try:
    import fcntl
except ImportError:  # not available on Windows
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).resolve().parents[2]
_KERNELS = _PACKAGE / "kernels"
_begun = time.time_ns()


@functools.cache
def cache_folder() -> Path | None:
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    # This key does not include the sources of the kernels, because the names of the cache files depend on the sources.
    key = f"{numba.__version__} {sys.version} {switches.BOUNDSCHECK} {processor}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return find(digest, "compiled kernels", "kernels are compiled again in every process")


@functools.cache
def _sources(own: Path) -> str | None:
    """Return a digest of all source files of a kernel; ``own`` is the file that defines the function.

    For a function outside ``kernels``, the digest also covers its folder or, outside the package, its file. The result
    is None if a file changed after this process started, because the old version may be in use.
    """
    files = sorted(_KERNELS.rglob("*.py"))
    for folder in ("compiler", "compiler/numba_jit", "compiler/native", "_support"):
        files += sorted((_PACKAGE / folder).glob("*.py"))
    if not own.is_relative_to(_KERNELS):
        files += sorted(own.parent.glob("*.py")) if own.is_relative_to(_PACKAGE) else [own]
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} ".encode() + file.read_bytes())
    changed = any(_begun < file.stat().st_mtime_ns <= time.time_ns() for file in files)
    return None if changed else digest.hexdigest()


def _kept(dispatcher: Any, signature: Any, name: str) -> "_Kept | None":
    """Return the cache file of a function; None if it is a closure, if sources changed, or if no folder can be used."""
    if dispatcher.py_func.__closure__ is not None:  # The cache key does not include the values of a closure.
        return None
    folder = cache_folder()
    sources = _sources(Path(dispatcher.py_func.__code__.co_filename).resolve())
    if folder is None or sources is None:
        return None
    options = sorted(f"{option} {value}" for option, value in dispatcher.targetoptions.items())
    key = " ".join([sources, str(signature), *options])
    return _Kept(folder, f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}")


def compile_or_load(dispatcher: Any, signature: Any, name: str, title: str) -> None:
    """Load the code of a Numba dispatcher from the cache. If this fails, print a notice and compile the function."""
    cached = _kept(dispatcher, signature, name)
    if cached is None:
        _compile(dispatcher, signature, title)
        return
    dispatcher._cache = cached
    try:
        if cached.find():
            dispatcher.compile(signature)
            return
        with _alone(cached, title):
            if cached.find():
                dispatcher.compile(signature)  # another process has compiled it in the meantime
            else:
                _compile(dispatcher, signature, title)
    finally:
        dispatcher._cache = caching.NullCache()


class _Kept(caching._Cache):
    """The cache file of one kernel. It replaces Numba's own cache, which unpickles files without a checksum."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self._found: bytes | None = None

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def find(self) -> bool:
        self._found = own_folder.read(self.folder, f"{self.name}.kernel")
        return self._found is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._found is None:
            return None
        target_context.refresh()
        return CompileResult._rebuild(target_context, *pickle.loads(self._found))

    def save_overload(self, sig: Any, data: Any) -> None:
        if not data.lifted and not data.library.has_dynamic_globals:
            own_folder.write(self.folder, f"{self.name}.kernel", dumps(data._reduce()))

    def enable(self) -> None:
        """Do nothing. Numba's interface requires this method, but this cache is always enabled."""

    disable = flush = enable


_folder_shown = False


def _storage_note() -> str:
    global _folder_shown
    _folder_shown = True
    folder = cache_folder()
    return f"once, kept in {folder}" if folder is not None else "in every process, as no folder can be written"


def _compile(dispatcher: Any, signature: Any, title: str) -> None:
    """Compile a kernel; Ctrl-C can interrupt this. The code is used even if the cache file cannot be written."""
    problem: OSError | None = None
    with _timed(f"compiling {title}" + ("" if _folder_shown else f" for this processor, {_storage_note()}")):
        try:
            with _interruptible():
                dispatcher.compile(signature)
        except OSError as error:  # for example a full disk
            problem = error
    if problem is not None:
        if not dispatcher.overloads:
            raise problem
        print_notice(f"{title} could not be stored in the cache: {problem}")


@contextmanager
def _timed(task: str) -> Iterator[None]:
    print_notice(f"{task} ...", end=" ")
    start = time.perf_counter()
    try:
        yield
    finally:
        print(f"{time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt even if Ctrl-C is pressed during a callback that discards exceptions.

    Callbacks of weak references and of LLVM discard exceptions, so the signal is repeated until the error is raised.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    over = threading.Event()
    repeat: list[threading.Thread] = []

    def again() -> None:
        while not over.wait(0.1):
            signal.pthread_kill(main.ident, signal.SIGINT)  # type: ignore[arg-type]

    def interrupt(number: int, frame: Any) -> None:
        if not repeat and hasattr(signal, "pthread_kill"):
            repeat.append(threading.Thread(target=again, daemon=True))
            repeat[0].start()
        if not over.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        over.set()
        for thread in repeat:
            thread.join()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if repeat:  # Raise even if the block ended with another exception.
            raise KeyboardInterrupt


@contextmanager
def _alone(kept: _Kept, title: str) -> Iterator[None]:
    with ExitStack() as stack:
        if fcntl is not None:
            with suppress(OSError):  # Some file systems do not support locks.
                file = stack.enter_context(own_folder.lock_file(kept.folder, f"{kept.name}.lock"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    with _timed(f"compiling {title}, in another process"):
                        fcntl.flock(file, fcntl.LOCK_EX)
        yield
