"""A specialised function in the place of a kernel: it takes what the kernel takes, and writes what it writes.

What the operations alone cannot know (input that is not finite) and what they find suspicious (a pivot that is nearly
zero, loops that are nearly singular) is the kernel's, if that is compiled; else the caller is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._engine.operations import Operation
from ..machine_code import attributes, module_text
from ..machine_code.kinds import Kind

SUSPICIOUS = 2**62
"""What a function returns that has no kernel to ask."""
_WORDS = {"f1": 7, "f2": 9}
_DATA = 4  # which of the words of an array leads to its numbers
_KEEP, _WORK = 6, 4  # in the block of tables


def module(
    core: str, inputs: Sequence[tuple[str, int]], sizes: Mapping[str, int], operation: Operation,
    conditions: Sequence[int], lanes: int,
) -> str:  # fmt: skip
    """Return a module with ``entry``, ``fallback`` (the kernel's address), and ``repeat``, which is for timing.

    Args:
        core: What computes: ``i1 core(inputs, result, conditions)``.
        inputs: Name and size of each.
        sizes: Of result and conditions.
        operation: Whose kernel it stands in for.
        conditions: Where in the workspace each of the conditions of loops is expected.
        lanes: How many numbers a register holds.
    """
    words, data = 3, []
    for kind in operation.kinds:
        data.append(f"%w{words + _DATA}")
        words += _WORDS[kind]
    n, given = sizes["result"], len(inputs)
    into = data[-1] if operation.result else None
    lines = [_declared("entry", words), "  %tables = inttoptr i64 %w2 to ptr"]
    lines += [f"  %a{i} = inttoptr i64 {data[i]} to ptr" for i in range(given)]
    lines += _finite([(f"%a{i}", size) for i, (_, size) in enumerate(inputs)], lanes)
    lines += ["  br i1 %finite, label %run, label %other", "run:"]
    lines += [*_of_block("keep_at", _KEEP), "  %keep = inttoptr i64 %keep_at to ptr"]
    lines.append(f"  %conditions = alloca [{max(1, sizes['conditions'])} x double], align 64")
    to = "%keep"
    if into is not None:
        to = "%to"
        lines.append(f"  %to = inttoptr i64 {into} to ptr")
    pointers = [*(f"%a{i}" for i in range(given)), to, "%conditions"]
    lines.append(f"  %suspicious = call i1 @core({', '.join(f'ptr {x}' for x in pointers)})")
    lines += ["  br i1 %suspicious, label %other, label %good", "good:"]
    if into is not None:
        lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr %keep, ptr %to, i64 {8 * n}, i1 false)")
    lines += _of_block("work_at", _WORK) if conditions else []
    for i, place in enumerate(conditions):  # steps that change coordinates look there
        lines += [
            f"  %c{i} = getelementptr double, ptr %conditions, i64 {i}",
            f"  %x{i} = load double, ptr %c{i}",
            f"  %p{i} = add i64 %work_at, {8 * place}",
            f"  %q{i} = inttoptr i64 %p{i} to ptr",
            f"  store double %x{i}, ptr %q{i}",
        ]
    all_words = ", ".join(f"i64 %w{i}" for i in range(words))
    lines += [
        "  %code = inttoptr i64 %w0 to ptr",
        "  store i64 0, ptr %code",
        "  ret i32 0",
        "other:",
        "  %kernel = load ptr, ptr @fallback",
        "  %none = icmp eq ptr %kernel, null",
        "  br i1 %none, label %tell, label %ask",
        "ask:",
        f"  %told = musttail call i32 %kernel({all_words})",
        "  ret i32 %told",
        "tell:",
        "  %where = inttoptr i64 %w0 to ptr",
        f"  store i64 {SUSPICIOUS}, ptr %where",
        "  ret i32 0",
        "}",
    ]
    declared = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" if into is not None else ""
    return module_text("@fallback = global ptr null\n", core, "\n".join(lines), "\n", _repeat(words), declared)


def _declared(name: str, words: int) -> str:
    kind = Kind("double", 8)
    return f"define i32 @{name}({', '.join(f'i64 %w{i}' for i in range(words))}) {attributes(kind)} {{"


def _of_block(name: str, i: int) -> list[str]:
    """Read a number of the block of tables."""
    return [f"  %{name}_in = getelementptr i64, ptr %tables, i64 {i}", f"  %{name} = load i64, ptr %{name}_in"]


def _finite(arrays: Sequence[tuple[str, int]], lanes: int) -> list[str]:
    """Whether all numbers are finite: times zero they are zero."""
    lines: list[str] = []
    sums: dict[int, str] = {}
    k = 0
    for array, n in arrays:
        width = lanes
        while width > n > 0:
            width //= 2
        kind = Kind("double", width)
        for first in sorted({*range(0, n - width + 1, width), max(0, n - width)}) if n else ():
            lines += [
                f"  %f{k} = getelementptr double, ptr {array}, i64 {first}",
                f"  %g{k} = load {kind.name}, ptr %f{k}, align 8",
                f"  %h{k} = fmul {kind.name} %g{k}, {kind.constant(0.0)}",
            ]
            last = sums.get(width)
            sums[width] = f"%h{k}"
            if last is not None:
                lines.append(f"  %s{k} = fadd {kind.name} {last}, %h{k}")
                sums[width] = f"%s{k}"
            k += 1
    total = "true"
    for width, name in sums.items():
        kind = Kind("double", width)
        lines.append(f"  %o{width} = fcmp ord {kind.name} {name}, {kind.constant(0.0)}")
        one = f"%o{width}"
        if width > 1:
            lines += [f"  %b{width} = bitcast {kind.truth} %o{width} to i{width}"]
            lines += [f"  %all{width} = icmp eq i{width} %b{width}, -1"]
            one = f"%all{width}"
        lines.append(f"  %both{width} = and i1 {total}, {one}")
        total = f"%both{width}"
    return [*lines, f"  %finite = and i1 true, {total}"]


def _repeat(words: int) -> str:
    """Return ``void repeat(function, words, times)``."""
    lines = ["define void @repeat(ptr %function, ptr %words, i64 %times) nounwind {", "begin:"]
    for i in range(words):
        lines += [f"  %p{i} = getelementptr i64, ptr %words, i64 {i}", f"  %w{i} = load i64, ptr %p{i}"]
    given = ", ".join(f"i64 %w{i}" for i in range(words))
    return "\n".join([
        *lines, "  br label %again", "again:", "  %k = phi i64 [ 0, %begin ], [ %next, %again ]",
        f"  %status = call i32 %function({given})", "  %next = add i64 %k, 1",
        "  %more = icmp slt i64 %next, %times", "  br i1 %more, label %again, label %done", "done:", "  ret void",
        "}", "",
    ])  # fmt: skip
