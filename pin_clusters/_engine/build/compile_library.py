"""Compile all kernels for one level of processors into one shared library, and write the note beside it.

``python pin_clusters/_engine/build/compile_library.py LEVEL FOLDER`` needs Numba, NumPy and a linker (``ld``), but
neither Pinocchio nor the package installed. Nothing that it compiles runs here, so any level can be made on any x86-64.

The sources are those that Numba compiles at first use elsewhere, with the same flags: it makes optimised modules of
LLVM, which are linked here and made machine code for the level. Names inside Numba are relied on
(``kernels/compiling/inner.py``, and the module of a library), so that one version of it is required to build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2]
LINKERS = ("ld", "ld.lld", "ld.gold")
PART = "--part"
MOST = 4  # processes: each compiles again what its kernels share with those of others
# 512-bit registers, as where Numba compiles for the processor itself
FEATURES = {"x86-64-v4": "-prefer-256-bit"}
# of the C library, which every Python has loaded
KNOWN = {"sin", "cos", "tan", "sincos", "atan2", "acos", "sqrt", "memset", "memcpy", "memmove"}
# counting references ends in this where the last one goes; kernels are given arrays that nobody owns
STUBBED = "NRT_MemInfo_call_dtor"
STUB = f"define void @{STUBBED}(ptr %0) {{\n  ret void\n}}\n"


class BuildError(RuntimeError):
    """The library cannot be made here."""


def linker() -> str:
    """Return the path of a linker."""
    for name in LINKERS:
        path = shutil.which(name)
        if path:
            return path
    raise BuildError(
        f"PIN_CLUSTERS_BUILD needs a linker, one of {', '.join(LINKERS)} (Debian, Ubuntu: apt-get install binutils). "
        "Without PIN_CLUSTERS_BUILD nothing is compiled when pin_clusters is installed."
    )


def only_the_kernels() -> None:
    """Let the subpackages be imported without the package itself, which needs Pinocchio."""
    if "pin_clusters" not in sys.modules:
        package = types.ModuleType("pin_clusters")
        package.__path__ = [str(PACKAGE)]
        sys.modules["pin_clusters"] = package


def native_module(kernel: Any) -> Any:
    """Return the module of a kernel, optimised, with one function that others can call."""
    from numba import njit
    from numba.core.compiler_lock import global_compiler_lock

    from pin_clusters._engine.kernels.compiling.inner import EntryCompiler
    from pin_clusters._engine.kernels.compiling.jit import INNER

    dispatcher = njit(**{**INNER, "pipeline_class": EntryCompiler})(kernel.source.entry)
    dispatcher.compile(kernel.source.signature())
    (found,) = dispatcher.overloads.values()
    with global_compiler_lock:
        found.library._ensure_finalized()
    module = found.library._final_module.clone()
    name = found.fndesc.llvm_func_name
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration:
            thing.linkage = "external" if thing.name == name else "internal"
    module.get_function(name).name = "nb_" + kernel.name
    return module


def described(kernel: Any, signature: Any) -> Any:
    """Return the signature as the wrappers want it."""
    from numba import types as kinds

    from pin_clusters._engine.calls.wrappers import Signature

    arguments = tuple((str(a.dtype), a.ndim) if isinstance(a, kinds.Array) else ("", 0) for a in signature.args)
    return Signature(kernel.name, arguments, kernel.source.nogil)


def build(level: str, folder: Path, names: Sequence[str] = ()) -> Path:
    """Compile kernels for a level, all but where some are named, on all cores; then link them.

    ``NUMBA_CPU_NAME`` must have been set before Numba came.
    """
    only_the_kernels()
    from pin_clusters._engine import entry_points
    from pin_clusters._engine.calls.module import module
    from pin_clusters._engine.native import sources

    if not entry_points.JIT:
        raise BuildError("Numba compiles nothing where a process may not execute what it writes to memory.")
    names = names or [kernel.name for kernel in entry_points.ALL]
    parts = min(MOST, len(names), len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as work:
        numbers = [[level, work, str(i), str(parts), *names] for i in range(parts)]
        others = [subprocess.Popen([sys.executable, __file__, PART, *arguments]) for arguments in numbers[1:]]
        try:
            compile_part(*numbers[0])
            if any([other.wait() != 0 for other in others]):
                raise BuildError(f"a process that compiled a part for {level} failed; see above.")
        finally:
            for other in others:
                other.kill()
        kernels = [kernel for kernel in entry_points.ALL if kernel.name in names]
        wrappers = [described(kernel, kernel.source.signature()) for kernel in kernels]
        codes = [path.read_bytes() for path in sorted(Path(work).glob("*.o"))]
        made = linked(*codes, machine_code(parsed(module(kernels=wrappers), level), level))
    files = files_of_this_process()
    if sources.written_meanwhile(files):
        raise BuildError("the sources were changed while they were compiled: once more, please.")
    return put_in_place(made, level, folder, files)


def compile_part(level: str, work: str, i: str, n: str, *names: str) -> None:
    """Compile what no other one of n processes has begun, and write an object file."""
    only_the_kernels()
    from pin_clusters._engine.entry_points import ALL
    from pin_clusters._engine.preparing import from_another_end

    whole = None
    for kernel in from_another_end([kernel for kernel in ALL if kernel.name in names], int(i), int(n)):
        try:
            Path(work, kernel.name).touch(exist_ok=False)
        except FileExistsError:
            continue
        start = time.perf_counter()
        one = native_module(kernel)
        if whole is None:
            whole = one
        else:
            whole.link_in(one)
        print(f"{level}: {kernel.name} in {time.perf_counter() - start:.1f} s", flush=True)  # noqa: T201
    if whole is not None:
        whole.link_in(parsed(STUB, level))
        whole.get_function(STUBBED).linkage = "internal"
        Path(work, f"{i}.o").write_bytes(machine_code(whole, level))


def parsed(text: str, level: str) -> Any:
    """Return a module of LLVM's text, for a level."""
    from llvmlite import binding as llvm

    module, machine = llvm.parse_assembly(text), target_machine(level)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return module


def target_machine(level: str) -> Any:
    """Return what makes machine code of modules."""
    from llvmlite import binding as llvm

    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=level, features=FEATURES.get(level, ""), opt=3, reloc="pic", codemodel="default"
    )


def machine_code(module: Any, level: str) -> bytes:
    """Return a module as an object file."""
    from llvmlite import binding as llvm

    machine = target_machine(level)
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1)))
    module.verify()
    return machine.emit_object(module)


def linked(*codes: bytes) -> bytes:
    """Make a shared library of object files, if they call nothing but what is known: code generation adds calls."""
    with tempfile.TemporaryDirectory() as work:
        library = Path(work, "kernels.so")
        objects = [Path(work, f"{i}.o") for i in range(len(codes))]
        for path, code in zip(objects, codes, strict=True):
            path.write_bytes(code)
        options = ["-shared", "-z", "now", "-z", "relro", "-z", "noexecstack", "--strip-all", "--gc-sections"]
        command = [linker(), *options, "-o", str(library), *map(str, objects)]
        known = [f"--defsym={name}=0" for name in sorted(KNOWN)]
        checked = subprocess.run([*command, "-z", "defs", *known], capture_output=True, text=True)
        if checked.returncode != 0:
            raise BuildError(f"the kernels call what may be in no library that is loaded with them:\n{checked.stderr}")
        subprocess.run(command, check=True)
        return library.read_bytes()


def files_of_this_process() -> list[Path]:
    """List what the library is made of: every module of the package that was imported to make it."""
    from pin_clusters._engine.kernels.compiling import cache as _cache

    files = {Path(__file__).resolve()}
    for name, module in list(sys.modules.items()):
        if name.startswith("pin_clusters.") and getattr(module, "__file__", None):
            files.add(Path(str(module.__file__)).resolve())
    return sorted(files - {Path(_cache.__file__).resolve()})  # which keeps what is compiled


def put_in_place(made: bytes, level: str, folder: Path, parts: Iterable[Path]) -> Path:
    """Write a library and its note, both of one build: another process that has built waits until both are there.

    Args:
        made: The library.
        level: Of the processors that run it.
        folder: Where it goes.
        parts: The modules of which it was made.
    """
    import fcntl  # on Linux, as the hook has made sure

    from pin_clusters._engine.native import library

    path = folder / library.file_name(level)
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        for target, content in ((path, made), (path.with_suffix(".json"), library.note(made, level, parts).encode())):
            part = target.with_name(f"{target.name}.{os.getpid()}")
            part.write_bytes(content)
            part.replace(target)
    finally:
        os.close(lock)
    return path


def build_apart(level: str, folder: Path, *, quiet: bool = False) -> None:
    """Compile for a level in a process of its own: Numba takes the processor from the environment, once."""
    linker()
    variables = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": FEATURES.get(level, ""), "NUMBA_DISABLE_JIT": "0"}
    environment = {name: x for name, x in os.environ.items() if not name.startswith(("NUMBA_", "PIN_CLUSTERS_"))}
    # an environment made for building is known to this process only
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, __file__, level, str(folder)]
    out = subprocess.DEVNULL if quiet else None
    if subprocess.run(command, env={**environment, **variables}, stdout=out).returncode != 0:
        raise BuildError(f"the kernels could not be compiled for {level}; see above.")


def build_for_tests() -> Path:
    """Make a library for this processor in the user's cache folder, unless one of these sources is there.

    Returns:
        The folder, for ``PIN_CLUSTERS_LIBRARY`` of processes that are started later.

    Raises:
        BuildError: There is no linker, no level of x86-64, no folder that can be written, or Numba failed.
    """
    from pin_clusters._engine.native import cache_folders, library, processor, sources
    from pin_clusters._engine.native.telling import say

    if sys.platform != "linux" or not processor.levels():
        raise BuildError("a library is made on Linux on x86-64 only.")
    linker()
    level = processor.levels()[0]
    name = f"library-{sources.checksum(bytes(sources.ROOT))[:16]}"  # of this checkout
    folder = cache_folders.find(name, "a library of kernels", "none is made")
    if folder is None:
        raise BuildError("no folder of compiled code can be written.")
    import fcntl

    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.fits(folder, level):
            say(f"compiling a library of kernels for these tests, some minutes, kept in {folder}")
            build_apart(level, folder, quiet=True)
    return folder


if __name__ == "__main__" and sys.argv[1] == PART:
    compile_part(*sys.argv[2:])
elif __name__ == "__main__":
    start = time.perf_counter()
    made = build(sys.argv[1], Path(sys.argv[2]))
    print(f"{made.name}: {made.stat().st_size / 1e6:.2f} MB in {time.perf_counter() - start:.0f} s")  # noqa: T201
