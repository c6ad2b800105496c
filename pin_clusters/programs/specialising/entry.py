"""A specialised function in the place of a kernel: it takes what the kernel takes, and writes what it writes.

What the operations alone cannot know (input that is not finite) and what they find suspicious (a pivot that is nearly
zero, loops that are nearly singular) is the kernel's, if that is compiled; else the caller is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._engine.native.words import DATA
from ..._engine.operations import Operation
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..machine_code.text import module_text

SUSPICIOUS = 2**62
"""What a function returns that has no kernel to ask."""
_WORDS = {"f1": 7, "f2": 9}
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
        data.append(f"%w{words + DATA}")
        words += _WORDS[kind]
    w = Instructions(Kind("double"))
    w.lines += [f"define i32 @entry({_words(words)}) {Kind('double', 8).attributes} {{"]
    w.lines += ["  %tables = inttoptr i64 %w2 to ptr"]
    given = [w.new(f"inttoptr i64 {x} to ptr") for x in data[: len(inputs)]]
    finite = _finite(w, list(zip(given, (n for _, n in inputs), strict=True)), lanes)
    w.lines += [f"  br i1 {finite}, label %run, label %other", "run:"]
    keep = w.new(f"inttoptr i64 {_of_block(w, _KEEP)} to ptr")
    w.lines += [f"  %conditions = alloca [{max(1, sizes['conditions'])} x double], align 64"]
    into = w.new(f"inttoptr i64 {data[-1]} to ptr") if operation.result else keep
    pointers = ", ".join(f"ptr {x}" for x in (*given, into, "%conditions"))
    w.lines += [f"  br i1 {w.new(f'call i1 @core({pointers})')}, label %other, label %good", "good:"]
    declared = ""
    if operation.result:
        copy = "void @llvm.memcpy.p0.p0.i64(ptr"
        w.lines += [f"  call {copy} {keep}, ptr {into}, i64 {8 * sizes['result']}, i1 false)"]
        declared = f"declare {copy}, ptr, i64, i1)\n"
    work = _of_block(w, _WORK) if conditions else ""
    for i, place in enumerate(conditions):  # steps that change coordinates look there
        x = w.load("conditions", i)
        where = w.new(f"inttoptr i64 {w.new(f'add i64 {work}, {8 * place}')} to ptr")
        w.lines += [f"  store double {x}, ptr {where}"]
    w.lines += [
        "  %code = inttoptr i64 %w0 to ptr",
        "  store i64 0, ptr %code",
        "  ret i32 0",
        "other:",
        "  %kernel = load ptr, ptr @fallback",
        "  %none = icmp eq ptr %kernel, null",
        "  br i1 %none, label %tell, label %ask",
        "ask:",
        f"  %told = musttail call i32 %kernel({_words(words)})",
        "  ret i32 %told",
        "tell:",
        "  %where = inttoptr i64 %w0 to ptr",
        f"  store i64 {SUSPICIOUS}, ptr %where",
        "  ret i32 0",
        "}",
    ]
    return module_text("@fallback = global ptr null\n", core, "\n".join(w.lines), "\n", _repeat(words), declared)


def _words(n: int) -> str:
    """Return so many words, as a function takes them or is given them."""
    return ", ".join(f"i64 %w{i}" for i in range(n))


def _of_block(w: Instructions, i: int) -> str:
    """Read a number of the block of tables."""
    return w.new(f"load i64, ptr {w.new(f'getelementptr i64, ptr %tables, i64 {i}')}")


def _finite(w: Instructions, arrays: Sequence[tuple[str, int]], lanes: int) -> str:
    """Write whether all numbers are finite: times zero they are zero."""
    sums: dict[int, str] = {}
    for array, n in arrays:
        width = lanes
        while width > n > 0:
            width //= 2
        kind = Kind("double", width)
        for first in sorted({*range(0, n - width + 1, width), max(0, n - width)}) if n else ():
            where = w.new(f"getelementptr double, ptr {array}, i64 {first}")
            numbers = w.new(f"load {kind.name}, ptr {where}, align 8")
            product = w.new(f"fmul {kind.name} {numbers}, {kind.constant(0.0)}")
            sums[width] = w.new(f"fadd {kind.name} {sums[width]}, {product}") if width in sums else product
    total = "true"
    for width, name in sums.items():
        good = w.compare(Kind("double", width), name, "ord 0.0")
        if width > 1:
            good = w.new(f"icmp eq i{width} {w.new(f'bitcast <{width} x i1> {good} to i{width}')}, -1")
        total = w.new(f"and i1 {total}, {good}")
    return total


def _repeat(words: int) -> str:
    """Return ``void repeat(function, words, times)``."""
    lines = ["define void @repeat(ptr %function, ptr %words, i64 %times) nounwind {", "begin:"]
    for i in range(words):
        lines += [f"  %p{i} = getelementptr i64, ptr %words, i64 {i}", f"  %w{i} = load i64, ptr %p{i}"]
    return "\n".join([
        *lines, "  br label %again", "again:", "  %k = phi i64 [ 0, %begin ], [ %next, %again ]",
        f"  %status = call i32 %function({_words(words)})", "  %next = add i64 %k, 1",
        "  %more = icmp slt i64 %next, %times", "  br i1 %more, label %again, label %done", "done:", "  ret void",
        "}", "",
    ])  # fmt: skip
