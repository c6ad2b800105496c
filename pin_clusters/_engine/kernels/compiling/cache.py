"""The cache of what Numba compiled: one folder per kernel, with a note of its files' checksums.

The folder is named by the sources of all kernels: another release compiles anew. What the note does not vouch for
(damaged, cut off, left by a process that died) is thrown away and compiled again. Two processes do not compile the same
kernel: the second waits, and loads. Where nothing can be written, kernels are compiled, and used, in every process.

Environment:
    PIN_CLUSTERS_CACHE: Folder of the compiled kernels, instead of the user's cache folder.
"""

import functools
import hashlib
import json
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numba
from llvmlite import binding as llvm
from numba import config
from numba.core import caching

from ... import switches
from ...native.cache_folders import find
from ...native.telling import say

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_NOTE = "checksums.json"
_ENGINE = Path(__file__).resolve().parents[2]
_begun = time.time_ns()


_lock = threading.RLock()


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
    files = [*sorted(_ENGINE.rglob("*.py")), *sorted((_ENGINE.parent / "_support").glob("*.py"))]
    if not own.is_relative_to(_ENGINE):
        files += sorted(own.parent.glob("*.py")) if own.is_relative_to(_ENGINE.parent) else [own]
    told = hashlib.sha256()
    for file in files:
        told.update(f"{file.name} ".encode() + file.read_bytes())
    changed = any(_begun < file.stat().st_mtime_ns <= time.time_ns() for file in files)
    return None if changed else told.hexdigest()


def _place(dispatcher: Any, name: str) -> Path | None:
    """Return where a function is kept; None if no place serves, or it cannot be known again."""
    if dispatcher.py_func.__closure__ is not None:  # what it encloses has no name
        return None
    folder = cache_folder()
    sources = _sources(Path(dispatcher.py_func.__code__.co_filename).resolve())
    if folder is None or sources is None:
        return None
    options = sorted(f"{option} {value}" for option, value in dispatcher.targetoptions.items())
    return folder / f"{name}-{hashlib.sha256(' '.join([sources, *options]).encode()).hexdigest()[:16]}"


def compile_or_load(dispatcher: Any, signature: Any, name: str, title: str) -> None:
    """Let a dispatcher have its code, from the cache if it is there; says so on stderr when it takes seconds."""
    place = _place(dispatcher, name)
    if place is None:
        _compile(dispatcher, signature, title)
        return
    if _is_intact(place) and _load(dispatcher, signature, place):
        return
    with _alone(place, title):
        if _is_intact(place) and _load(dispatcher, signature, place):
            return  # another process has compiled it meanwhile
        shutil.rmtree(place, ignore_errors=True)
        _keep_in(dispatcher, place)
        _compile(dispatcher, signature, title)
        with suppress(OSError):  # a full disk: compiled again next time
            (place / _NOTE).write_text(json.dumps(_state(place)), encoding="utf-8")


def _state(place: Path) -> dict[str, str]:
    """What the note says; nothing of where and when the source was installed, as it may be more than once."""
    files = sorted(path for path in place.rglob("*") if path.is_file() and path.name != _NOTE)
    return {str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _is_intact(place: Path) -> bool:
    try:
        told = json.loads((place / _NOTE).read_text(encoding="utf-8"))
        return bool(told) and bool(told == _state(place))
    except (OSError, ValueError):
        return False


class _Locator(caching._CacheLocator):
    """Tells Numba where a kernel is kept: in its folder, whichever installation asks; the note vouches for the rest."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file, self._place = py_file, config.CACHE_DIR

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return self._place

    def get_source_stamp(self) -> str:
        """Return what tells states of the source apart."""
        return ""

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return ""


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Kept(caching.FunctionCache):
    _impl_class = _Implementation

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return the key without the byte code, which differs where a docstring is added: the folder's name tells."""
        return sig, codegen.magic_tuple()


def _keep_in(dispatcher: Any, place: Path) -> None:
    """Let Numba read and write compiled code in a folder."""
    with _lock:
        # Numba reads this setting when it makes the cache object; the user's own setting is put back
        before, config.CACHE_DIR = config.CACHE_DIR, str(place)
        try:
            dispatcher._cache = _Kept(dispatcher.py_func)
        finally:
            config.CACHE_DIR = before


def _load(dispatcher: Any, signature: Any, place: Path) -> bool:
    """Load what is intact; returns whether Numba took it."""
    _keep_in(dispatcher, place)
    if dispatcher._cache.load_overload(signature, dispatcher.targetctx) is None:
        return False
    dispatcher.compile(signature)
    return True


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
def _alone(place: Path, title: str) -> Iterator[None]:
    """Let one process at a time compile a kernel, where the system knows locks."""
    file: IO[str] | None = None
    with suppress(OSError):
        file = open(f"{place}.lock", "w", encoding="utf-8")
    try:
        if file is not None and fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with _told(f"compiling {title}, in another process"), suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_EX)
            except OSError:
                pass  # a file system without locks
        yield
    finally:
        if file is not None:
            file.close()
