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
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2]
LINKERS = ("ld", "ld.lld", "ld.gold")
# 512-bit registers, as where Numba compiles for the processor itself
FEATURES = {"x86-64-v4": "-prefer-256-bit"}
# of the C library, which every Python has loaded
KNOWN = {"sin", "cos", "tan", "sincos", "atan2", "acos", "sqrt", "memset", "memcpy", "memmove"}
# counting references ends in this where the last one goes; kernels are given arrays that nobody owns
STUB = "\ndefine void @NRT_MemInfo_call_dtor(ptr %0) {\n  ret void\n}\n"


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


def native_module(kernel: Any) -> tuple[Any, str, Any]:
    """Return the module of a kernel, optimised, with one function that others can call; its name, and the signature."""
    from numba import njit
    from numba.core.compiler_lock import global_compiler_lock

    from pin_clusters._engine.kernels.compiling.inner import EntryCompiler
    from pin_clusters._engine.kernels.compiling.jit import INNER

    source = kernel.source
    dispatcher = njit(**{**INNER, "pipeline_class": EntryCompiler})(source.entry)
    signature = source.signature()
    dispatcher.compile(signature)
    (found,) = dispatcher.overloads.values()
    with global_compiler_lock:
        found.library._ensure_finalized()
    module = found.library._final_module.clone()
    name = found.fndesc.llvm_func_name
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration:
            thing.linkage = "external" if thing.name == name else "internal"
    module.get_function(name).name = "nb_" + kernel.name
    return module, "nb_" + kernel.name, signature


def described(kernel: Any, signature: Any) -> Any:
    """Return the signature as the wrappers want it."""
    from numba import types as kinds

    from pin_clusters._engine.calls.wrappers import Signature

    arguments = tuple((str(a.dtype), a.ndim) if isinstance(a, kinds.Array) else ("", 0) for a in signature.args)
    return Signature(kernel.name, arguments, kernel.source.nogil)


def build(level: str, folder: Path) -> Path:
    """Compile all kernels for a level, in this process; ``NUMBA_CPU_NAME`` must have been set before Numba came."""
    only_the_kernels()
    from llvmlite import binding as llvm

    from pin_clusters._engine import entry_points
    from pin_clusters._engine.calls.module import module
    from pin_clusters._engine.kernels.numbers import simd
    from pin_clusters._engine.native.processor import LEVELS

    if not entry_points.JIT:
        raise BuildError("Numba compiles nothing where a process may not execute what it writes to memory.")
    assert simd.LANES == LEVELS[level], (simd.LANES, level)
    parts = []
    for i, kernel in enumerate(entry_points.ALL):
        start = time.perf_counter()
        parts.append((kernel, *native_module(kernel)))
        took = time.perf_counter() - start
        print(f"{level}: {i + 1} of {len(entry_points.ALL)}, {kernel.name} in {took:.1f} s", flush=True)  # noqa: T201
    wrappers = [described(kernel, signature) for kernel, _, _, signature in parts]
    whole = parts[0][1]
    for _, part, _, _ in parts[1:]:
        whole.link_in(part)
    calls = llvm.parse_assembly(module(kernels=wrappers) + STUB)
    calls.triple, calls.data_layout = whole.triple, whole.data_layout
    exported = {f.name for f in calls.functions if not f.is_declaration and f.linkage != llvm.Linkage.internal}
    exported |= {g.name for g in calls.global_variables if g.linkage != llvm.Linkage.internal}
    exported |= {name for _, _, name, _ in parts}
    whole.link_in(calls)
    for thing in (*whole.functions, *whole.global_variables):
        if not thing.is_declaration and thing.name not in exported:
            thing.linkage = "internal"
    machine = llvm.Target.from_triple(whole.triple).create_target_machine(
        cpu=level, features=FEATURES.get(level, ""), opt=3, reloc="pic", codemodel="default"
    )
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1)))
    whole.verify()
    made = linked(machine.emit_object(whole))
    return put_in_place(made, level, folder)


def linked(code: bytes) -> bytes:
    """Make a shared library of an object file, if it calls nothing but what is known: code generation adds calls."""
    with tempfile.TemporaryDirectory() as work:
        objects, library = Path(work, "kernels.o"), Path(work, "kernels.so")
        objects.write_bytes(code)
        options = ["-shared", "-z", "now", "-z", "relro", "-z", "noexecstack", "--strip-all", "--gc-sections"]
        command = [linker(), *options, "-o", str(library), str(objects)]
        known = [f"--defsym={name}=0" for name in sorted(KNOWN)]
        checked = subprocess.run([*command, "-z", "defs", *known], capture_output=True, text=True)
        if checked.returncode != 0:
            raise BuildError(f"the kernels call what may be in no library that is loaded with them:\n{checked.stderr}")
        subprocess.run(command, check=True)
        return library.read_bytes()


def put_in_place(made: bytes, level: str, folder: Path) -> Path:
    """Write a library and its note, both of one build: another process that has built waits until both are there."""
    import fcntl  # on Linux, as the hook has made sure

    from pin_clusters._engine.native import library

    path = folder / library.file_name(level)
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        for target, content in ((path, made), (path.with_suffix(".json"), library.note(made, level).encode())):
            part = target.with_name(f"{target.name}.{os.getpid()}")
            part.write_bytes(content)
            part.replace(target)
    finally:
        os.close(lock)
    return path


def build_apart(level: str, folder: Path) -> None:
    """Compile for a level in a process of its own: Numba takes the processor from the environment, once."""
    linker()
    variables = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": FEATURES.get(level, ""), "NUMBA_DISABLE_JIT": "0"}
    environment = {name: x for name, x in os.environ.items() if not name.startswith(("NUMBA_", "PIN_CLUSTERS_"))}
    # an environment made for building is known to this process only
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, __file__, level, str(folder)]
    if subprocess.run(command, env={**environment, **variables}).returncode != 0:
        raise BuildError(f"the kernels could not be compiled for {level}; see above.")


if __name__ == "__main__":
    start = time.perf_counter()
    made = build(sys.argv[1], Path(sys.argv[2]))
    print(f"{made.name}: {made.stat().st_size / 1e6:.2f} MB in {time.perf_counter() - start:.0f} s")  # noqa: T201
