"""Compiling what will be needed: said in advance, and shared by two processes.

A process shares what it has compiled among its kernels, so that the second one of a kind takes a third of the first.
``entry_points`` lists kernels by kind; the process that asks begins at the front of the list, its helper at the end.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from .entry_points import ALL, JIT, Kernel, of
from .native.telling import say


def kernels_of(closed: bool, *names: str) -> tuple[Kernel, ...]:
    """Return kernels by name, those for closed loops where a model has some: ``rnea`` is ``rnea_loops`` then."""
    wanted = {of(name, closed) for name in names}
    return tuple(kernel for kernel in ALL if kernel in wanted)


def missing(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Return those for which Numba will have to compile."""
    if not JIT:
        return []
    from .kernels.compiling import cache as _cache
    from .kernels.compiling import jit as _jit

    return [k for k in kernels if k.fast is None and not _cache.is_kept(_jit.dispatcher(k.source), k.name)]


def announce(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Say on stderr which kernels are missing, let a second process begin at the end of the list; return them."""
    wanted = missing(kernels)
    if not wanted:
        return wanted
    from .kernels.compiling import cache as _cache

    folder = _cache.cache_folder()
    titles = ", ".join(kernel.source.title for kernel in wanted)
    say(f"to be compiled for this processor, {_cache.kept()}: {titles}")
    if len(wanted) > 1 and folder is not None and _cores() > 1:
        _help(wanted)
    return wanted


def compile_all(kernels: Sequence[Kernel]) -> None:
    """Compile kernels, those first that no other process has begun."""
    from .kernels.compiling import cache as _cache
    from .kernels.compiling import jit as _jit

    for kernel in kernels:
        if not _cache.is_taken(_jit.dispatcher(kernel.source), kernel.name):
            kernel.function()
    for kernel in kernels:
        kernel.function()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _help(kernels: Sequence[Kernel]) -> None:
    """Start a process that compiles from the end; it ends with this one."""
    names = [kernel.name for kernel in reversed(kernels)]
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    helper = subprocess.Popen(
        [sys.executable, "-m", __name__, *names],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    atexit.register(helper.terminate)


if __name__ == "__main__":
    compile_all([kernel for name in sys.argv[1:] for kernel in ALL if kernel.name == name])
