"""Machine code of modules: for the processor of this process, or for one that is named."""

import contextlib
import functools
import subprocess
import sys
from typing import Any, NamedTuple

from ...errors import NotAvailableError, UnknownNameError

# what a register of floats of the processor has, widest first: its feature, and how many bytes
_REGISTERS = (("avx512vl", 64), ("avx", 32))
_HELP = """
import sys
from llvmlite import binding as llvm
llvm.initialize_all_targets()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""


class Host(NamedTuple):
    """The processor of this process, as LLVM names it."""

    triple: str
    cpu: str
    features: str


def binding() -> Any:
    """Return llvmlite, or say how it is installed."""
    try:
        import llvmlite.binding as found
    except ImportError as error:
        raise NotAvailableError("machine code of programs needs llvmlite: pip install llvmlite.") from error
    return found


@functools.cache
def host() -> Host:
    """Return the processor of this process."""
    llvm = binding()
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def lanes_of_host(real: str = "double") -> int:
    """Return how many numbers a register of this processor holds."""
    has = set(host().features.split(","))
    return next((size for name, size in _REGISTERS if f"+{name}" in has), 16) // (8 if real == "double" else 4)


def object_code(text: str, cpu: str = "native", triple: str | None = None, *, optimise: bool = True) -> bytes:
    """Return the object file of a module.

    Args:
        text: The module, as LLVM's intermediate representation.
        cpu: ``native``, or the name of a processor as LLVM knows it (``x86-64-v3``, ``cortex-a72``).
        triple: Architecture and system (``aarch64-linux-gnu``); None: those of this process.
        optimise: Whether to simplify before machine code is made.

    Raises:
        UnknownNameError: LLVM knows no such processor or triple.
        NotAvailableError: ``native`` with the triple of another architecture.
    """
    llvm = binding()
    target, machine = _machine(cpu, triple)
    module = llvm.parse_assembly(f'target triple = "{target}"\n{text}')
    module.data_layout = str(machine.target_data)
    if optimise:
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.slp_vectorization = options.loop_vectorization = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _machine(cpu: str, triple: str | None) -> tuple[str, Any]:
    """Return the triple, and what makes code for a processor."""
    llvm, mine = binding(), host()
    target_triple = triple or mine.triple
    if target_triple == mine.triple:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(target_triple)
    except RuntimeError as error:
        raise UnknownNameError(
            f"LLVM knows no target {target_triple!r} ({error}). It knows {', '.join(known_architectures())}, as in "
            "'aarch64-linux-gnu'."
        ) from None
    features = ""
    if cpu == "native":
        if target_triple.split("-")[0] != mine.triple.split("-")[0]:
            raise NotAvailableError(
                f"the processor of this process ({mine.triple}) is no target {target_triple!r}: name one, such as "
                f"{', '.join(known_processors(target_triple)[:5])}."
            )
        cpu, features = mine.cpu, mine.features
    elif cpu not in known_processors(target_triple):
        known = ", ".join(known_processors(target_triple))
        raise UnknownNameError(f"LLVM knows no processor {cpu!r} of {target_triple}. It knows {known}.")
    machine = target.create_target_machine(cpu=cpu, features=features, opt=2, reloc="pic", codemodel="default")
    return target_triple, machine


@functools.cache
def known_processors(triple: str) -> tuple[str, ...]:
    """Return the names of processors that LLVM knows, of a triple."""
    # it tells only what writes to the terminal
    told = subprocess.run([sys.executable, "-c", _HELP, triple], capture_output=True, text=True, check=False).stderr
    _, _, rest = told.partition("Available CPUs for this target:")
    lines = rest.partition("Available features")[0].splitlines()
    return tuple(line.split()[0] for line in lines if " - " in line)


def known_architectures() -> tuple[str, ...]:
    """Return the architectures for which this LLVM makes code."""
    llvm = binding()
    llvm.initialize_all_targets()
    found = []
    for name in ("x86_64", "aarch64", "armv7", "riscv64", "ppc64le", "s390x", "wasm32", "nvptx64", "mips64"):
        with contextlib.suppress(RuntimeError):
            llvm.Target.from_triple(f"{name}-unknown-linux")
            found.append(name)
    return tuple(found)
