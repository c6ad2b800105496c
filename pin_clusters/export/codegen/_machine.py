"""The files ``ROBOT.o`` and ``ROBOT.so``: machine code of exported functions for this or another processor."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...compiler.machine_code.instructions import Instructions
from ...compiler.machine_code.kinds import Kind
from ...compiler.machine_code.machine import host, known_processors, object_code
from ...compiler.machine_code.text import function_text, module_text
from ...errors import ArgumentTypeError, NotAvailableError, UnknownNameError, did_you_mean
from ...model import ClusterModel
from ._exported_function import ExportedFunction

_EMPTY = "define void @nothing() {\n  ret void\n}\n"
_KINDS = {"double": Kind("double"), "float": Kind("float")}
_COMPILERS = ("cc", "gcc", "clang")


class Machine(NamedTuple):
    """A processor and its operating system, with the names that LLVM uses."""

    cpu: str  # ``native``, or the name of a processor
    triple: str | None  # architecture and system; None for the current process

    def build(
        self, folder: Path, model: ClusterModel, functions: Sequence[ExportedFunction], real: str, robot: str
    ) -> list[str]:
        try:
            code = object_code(module(model, functions, real, robot), self.cpu, self.triple)
        except NotAvailableError as error:
            return [f"{robot}.o and {robot}.so were not created: {error} Compile {robot}.c instead."]
        (folder / f"{robot}.o").write_bytes(code)
        fault = self._link(folder, robot)
        if not fault:
            return []
        return [
            f"{robot}.so was not created: {fault} Link {robot}.o, or compile {robot}.c (cc "
            f"-O2 -shared -fPIC {robot}.c -o {robot}.so -lm)."
        ]

    def _link(self, folder: Path, robot: str) -> str:
        triple = self.triple or host().triple
        if not any(system in triple for system in ("linux", "bsd", "elf", "none")):
            return f"shared libraries for {triple} require the tools of this system."
        names = _COMPILERS if self.triple is None else [f"{triple}-{x}" for x in ("gcc", "clang", "ld")]
        linkers = ("ld", "ld.lld") if self.triple is None else ("ld.lld",)
        options = ["-shared", "-o", f"{robot}.so", f"{robot}.o"]
        message = ""
        for name in (*names, *linkers):
            path = shutil.which(name)
            if path is None:
                continue
            # Without a compiler, the linker may not find libm. The program that loads the library provides libm.
            for libs in (["-lm"], []) if name.endswith(("ld", "lld")) else (["-lm"],):
                done = subprocess.run([path, *options, *libs], cwd=folder, capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    return ""
                message = f"{name} printed {(done.stderr.strip().splitlines() or ['nothing'])[-1]!r}."
        return message or f"no linker for {triple} was found; searched for {', '.join((*names, *linkers))}."


def machine_of(target: str | None) -> Machine:
    """Return the machine for a processor, a triple, or ``triple,processor``; None means this machine."""
    if target is None or target == "native":
        return Machine("native", None)
    if not isinstance(target, str):
        raise ArgumentTypeError(f"target must be a string, got {type(target).__name__}.")
    triple, comma, cpu = target.partition(",")
    if comma:
        machine = Machine(cpu, triple)
    else:
        host_processors = known_processors(host().triple)
        if target not in host_processors and "-" not in target:
            raise UnknownNameError(
                f"target {target!r} is neither a processor of {host().triple} in LLVM nor a triple such as "
                f"'aarch64-linux-gnu'.{did_you_mean(target, host_processors)}"
            )
        machine = Machine(target, None) if target in host_processors else Machine("generic", target)
    object_code(_EMPTY, machine.cpu, machine.triple)  # raises an error for names that LLVM does not support
    return machine


def module(model: ClusterModel, functions: Sequence[ExportedFunction], real: str, robot: str) -> str:
    parts = [_neutral(model, real, robot)]
    for f in functions:
        body = f"{f.name}.body"
        text = function_text(f.program, body, real, "libm")
        parts += [text.replace(f"define void @{body}(", f"define internal void @{body}("), _shell(f, real, robot, body)]
    return module_text(*parts)


def _neutral(model: ClusterModel, real: str, robot: str) -> str:
    w = Instructions(_KINDS[real])
    for i, x in enumerate(model.q_reference.tolist()):
        w.store(w.kind.constant(x), "q", i)
    return f"define void @{robot}_neutral(ptr %q) nounwind {{\n" + "\n".join(w.lines) + "\n  ret void\n}\n"


def _shell(f: ExportedFunction, real: str, robot: str, body: str) -> str:
    """Return the text of the exported function, which copies its inputs, because results may overwrite them."""
    size = _KINDS[real].size
    lines, parameters, arguments = [], [], []
    for i, (name, n) in enumerate(f.inputs):
        lines.append(f"  %copy{i} = alloca [{n} x {real}], align {size}")
        if f.is_array(name):
            parameters.append(f"ptr %in{i}")
            lines.append(
                f"  call void @llvm.memcpy.inline.p0.p0.i64(ptr align {size} %copy{i}, ptr align {size} %in{i}, "
                f"i64 {n * size}, i1 false)"
            )
        else:
            parameters.append(f"{real} %in{i}")
            lines.append(f"  store {real} %in{i}, ptr %copy{i}, align {size}")
        arguments.append(f"ptr %copy{i}")
    for i, _ in enumerate(f.outputs):
        parameters.append(f"ptr %out{i}")
        arguments.append(f"ptr %out{i}")
    back = "  ret void"
    if f.returned:
        lines.append(f"  %back = alloca {real}, align {size}")
        arguments.append("ptr %back")
        back = f"  %value = load {real}, ptr %back, align {size}\n  ret {real} %value"
    lines.append(f"  call void @{body}({', '.join(arguments)})")
    kind = real if f.returned else "void"
    return (
        f"define {kind} @{robot}_{f.name}({', '.join(parameters)}) nounwind {{\n" + "\n".join(lines) + f"\n{back}\n}}\n"
        "declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)\n"
    )
