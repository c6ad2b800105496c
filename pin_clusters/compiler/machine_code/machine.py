"""Compilation of LLVM modules to object files, for this processor or for another processor."""

import contextlib
import functools
import subprocess
import sys
from typing import Any, NamedTuple

from ...errors import NotAvailableError, UnknownNameError

# processor feature, and size [bytes] of its vector registers; the widest registers come first
_REGISTERS = (("avx512vl", 64), ("avx", 32))
_HELP = """
import sys
from llvmlite import binding as llvm
llvm.initialize_all_targets()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""


class Host(NamedTuple):
    """LLVM's description of the processor that runs this process."""

    triple: str
    cpu: str
    features: str


def binding() -> Any:
    try:
        import llvmlite.binding as found
    except ImportError as error:
        raise NotAvailableError("compiling programs requires llvmlite. Run: pip install llvmlite.") from error
    return found


@functools.cache
def host() -> Host:
    llvm = binding()
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def lanes_of_host(real: str = "double") -> int:
    has = set(host().features.split(","))
    return next((size for name, size in _REGISTERS if f"+{name}" in has), 16) // (8 if real == "double" else 4)


def object_code(text: str, cpu: str = "native", triple: str | None = None, *, optimise: bool = True) -> bytes:
    """Compile a module to an object file.

    Args:
        text: The module in LLVM's intermediate representation.
        cpu: ``native``, or LLVM's name of a processor (for example ``x86-64-v3`` or ``cortex-a72``).
        triple: Architecture and system, for example ``aarch64-linux-gnu``; None selects those of this process.
        optimise: Whether to run LLVM's optimisation passes.

    Raises:
        UnknownNameError: LLVM does not support the processor or the triple.
        NotAvailableError: ``cpu`` is ``native``, but ``triple`` specifies another architecture.
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
    llvm, host_machine = binding(), host()
    target_triple = triple or host_machine.triple
    if target_triple == host_machine.triple:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(target_triple)
    except RuntimeError as error:
        raise UnknownNameError(
            f"LLVM has no target {target_triple!r} ({error}). Available architectures: "
            f"{', '.join(known_architectures())}, as in 'aarch64-linux-gnu'."
        ) from None
    features = ""
    if cpu == "native":
        if target_triple.split("-")[0] != host_machine.triple.split("-")[0]:
            raise NotAvailableError(
                f"the processor of this process ({host_machine.triple}) does not match the target {target_triple!r}. "
                f"Specify a processor of the target, such as {', '.join(known_processors(target_triple)[:5])}."
            )
        cpu, features = host_machine.cpu, host_machine.features
    elif cpu not in known_processors(target_triple):
        available = ", ".join(known_processors(target_triple))
        raise UnknownNameError(f"LLVM has no processor {cpu!r} for {target_triple}. Available: {available}.")
    machine = target.create_target_machine(cpu=cpu, features=features, opt=2, reloc="pic", codemodel="default")
    return target_triple, machine


@functools.cache
def known_processors(triple: str) -> tuple[str, ...]:
    # LLVM only prints the list of processors to stderr, so it is read from another process.
    listing = subprocess.run([sys.executable, "-c", _HELP, triple], capture_output=True, text=True, check=False).stderr
    _, _, processors = listing.partition("Available CPUs for this target:")
    lines = processors.partition("Available features")[0].splitlines()
    return tuple(line.split()[0] for line in lines if " - " in line)


def known_architectures() -> tuple[str, ...]:
    llvm = binding()
    llvm.initialize_all_targets()
    available = []
    for name in ("x86_64", "aarch64", "armv7", "riscv64", "ppc64le", "s390x", "wasm32", "nvptx64", "mips64"):
        with contextlib.suppress(RuntimeError):
            llvm.Target.from_triple(f"{name}-unknown-linux")
            available.append(name)
    return tuple(available)
