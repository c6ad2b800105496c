"""The cache of what Numba compiled: one file per kernel, with a checksum.

The name of a file depends on the sources of all kernels: another release compiles anew. A file that is damaged is
compiled again. Two processes do not compile the same kernel: the second waits, and loads. Where nothing can be written,
kernels are compiled, and used, in every process.

Environment:
    PIN_CLUSTERS_CACHE: Folder of the compiled kernels, instead of the user's cache folder.
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
from ..native.telling import say

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).resolve().parents[2]
_KERNELS = _PACKAGE / "kernels"
_begun = time.time_ns()


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of compiled kernels, None if no place serves."""
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    told = f"{numba.__version__} {sys.version} {switches.BOUNDSCHECK} {processor}"  # beside the kernels' sources
    digest = hashlib.sha256(told.encode()).hexdigest()[:16]
    return find(digest, "compiled kernels", "kernels are compiled again in every process")


@functools.cache
def _sources(own: Path) -> str | None:
    """Name all that kernels are made of, and the folder of a function that is none, or its file outside the package.

    None if one of these was changed meanwhile: this process may have imported what stood there before.
    """
    files = sorted(_KERNELS.rglob("*.py"))
    for folder in ("compiler", "compiler/numba_jit", "compiler/native", "_support"):
        files += sorted((_PACKAGE / folder).glob("*.py"))
    if not own.is_relative_to(_KERNELS):
        files += sorted(own.parent.glob("*.py")) if own.is_relative_to(_PACKAGE) else [own]
    told = hashlib.sha256()
    for file in files:
        told.update(f"{file.name} ".encode() + file.read_bytes())
    changed = any(_begun < file.stat().st_mtime_ns <= time.time_ns() for file in files)
    return None if changed else told.hexdigest()


def _kept(dispatcher: Any, signature: Any, name: str) -> "_Kept | None":
    """Return the file of a function; None if no place serves, or the function cannot be recognized again."""
    if dispatcher.py_func.__closure__ is not None:  # what it encloses has no name
        return None
    folder = cache_folder()
    sources = _sources(Path(dispatcher.py_func.__code__.co_filename).resolve())
    if folder is None or sources is None:
        return None
    options = sorted(f"{option} {value}" for option, value in dispatcher.targetoptions.items())
    told = " ".join([sources, str(signature), *options])
    return _Kept(folder, f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}")


def compile_or_load(dispatcher: Any, signature: Any, name: str, title: str) -> None:
    """Let a dispatcher have its code, from the cache if it is there; says so on stderr when it takes seconds."""
    kept = _kept(dispatcher, signature, name)
    if kept is None:
        _compile(dispatcher, signature, title)
        return
    dispatcher._cache = kept
    try:
        if kept.find():
            dispatcher.compile(signature)
            return
        with _alone(kept, title):
            if kept.find():
                dispatcher.compile(signature)  # another process has compiled it meanwhile
            else:
                _compile(dispatcher, signature, title)
    finally:
        dispatcher._cache = caching.NullCache()


class _Kept(caching._Cache):
    """One kernel in a file, for Numba, whose own cache opens files by path and unpickles them unchecked."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self._found: bytes | None = None

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def find(self) -> bool:
        """Read the file, and return whether it is intact."""
        self._found = own_folder.read(self.folder, f"{self.name}.kernel")
        return self._found is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code that was found, None if none was."""
        if self._found is None:
            return None
        target_context.refresh()
        return CompileResult._rebuild(target_context, *pickle.loads(self._found))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code that depends on nothing but its sources."""
        if not data.lifted and not data.library.has_dynamic_globals:
            own_folder.write(self.folder, f"{self.name}.kernel", dumps(data._reduce()))

    def enable(self) -> None:
        """Numba's interface; this cache is always in use."""

    disable = flush = enable


_said_where = False


def _kept_where() -> str:
    """Say how long compiled kernels last, for a message."""
    global _said_where
    _said_where = True
    folder = cache_folder()
    return f"once, kept in {folder}" if folder is not None else "in every process, as no folder can be written"


def _compile(dispatcher: Any, signature: Any, title: str) -> None:
    """Compile, and obey Ctrl-C; what cannot be written to the cache is used all the same."""
    problem: OSError | None = None
    with _told(f"compiling {title}" + ("" if _said_where else f" for this processor, {_kept_where()}")):
        try:
            with _interruptible():
                dispatcher.compile(signature)
        except OSError as error:  # a full disk
            problem = error
    if problem is not None:
        if not dispatcher.overloads:
            raise problem
        say(f"{title} could not be kept: {problem}")


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say what takes time, and how long it took."""
    say(f"{what} ...", end=" ")
    start = time.perf_counter()
    try:
        yield
    finally:
        print(f"{time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt where Python would: exceptions vanish in callbacks of weak references and of LLVM.

    Once Ctrl-C was pressed, it is repeated until one gets through.
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
        if repeat:  # whatever else came of it
            raise KeyboardInterrupt


@contextmanager
def _alone(kept: _Kept, title: str) -> Iterator[None]:
    """Let one process at a time compile a kernel, where the system knows locks."""
    with ExitStack() as stack:
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                file = stack.enter_context(own_folder.lock_file(kept.folder, f"{kept.name}.lock"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    with _told(f"compiling {title}, in another process"):
                        fcntl.flock(file, fcntl.LOCK_EX)
        yield
