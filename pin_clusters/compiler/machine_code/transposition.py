"""Transposition between rows of an array and packs, in square blocks with as many rows and columns as lanes."""

from .kinds import Kind


def call(function: str, array: str, columns: int, kind: Kind) -> str:
    fewer_than_lanes = columns < kind.lanes
    name = f"{function}_{'few_' * fewer_than_lanes}{kind.lanes}_{kind.real}"
    last = columns - kind.lanes
    # The last block overlaps the previous block if the lanes do not divide the columns evenly.
    firsts = [0] if fewer_than_lanes else [*range(0, last, kind.lanes), last]
    lines = []
    for first in firsts:
        rows, packs = f"%{array}_rows_{first}", f"%{array}_packs_{first}"
        lines += [
            f"  {rows} = getelementptr {kind.real}, ptr %{array}_rows, i64 {first}",
            f"  {packs} = getelementptr {kind.name}, ptr %{array}, i64 {first}",
            f"  call void @{name}(ptr {rows}, ptr {packs}, i64 {columns}, ptr %chosen)",
        ]
    return "\n".join(lines)


def choose(lanes: int) -> str:
    """Return the instructions that store each lane's row number; lanes beyond the end repeat the last row."""
    lines = []
    for lane in range(lanes):
        lines += [
            f"  %row_{lane} = add i64 %i, {lane}",
            f"  %in_{lane} = icmp slt i64 %row_{lane}, %end",
            f"  %its_{lane} = select i1 %in_{lane}, i64 %row_{lane}, i64 %end",
            f"  %at_{lane} = getelementptr i64, ptr %chosen, i64 {lane}",
            f"  store i64 %its_{lane}, ptr %at_{lane}, align 8",
        ]
    return "\n".join(lines)


def functions(kind: Kind) -> str:
    return "\n".join(_block(name, kind) + _few(name, kind) for name in ("gather", "scatter"))


def _rows(kind: Kind) -> list[str]:
    lines = []
    for lane in range(kind.lanes):
        lines += [
            f"  %c{lane} = getelementptr i64, ptr %chosen, i64 {lane}",
            f"  %n{lane} = load i64, ptr %c{lane}, align 8",
            f"  %o{lane} = mul i64 %n{lane}, %columns",
            f"  %r{lane} = getelementptr {kind.real}, ptr %rows, i64 %o{lane}",
        ]
    return lines


def _head(name: str, kind: Kind) -> str:
    return (
        f"define internal void @{name}{kind.lanes}_{kind.real}(ptr %rows, ptr %packs, i64 %columns, ptr %chosen) "
        f"noinline {kind.attributes} {{"
    )


def _block(name: str, kind: Kind) -> str:
    lanes, t, size = kind.lanes, kind.name, kind.size
    lines = _rows(kind)
    rows = [(f"%r{k}", size) for k in range(lanes)]
    lines += [f"  %p{k} = getelementptr {t}, ptr %packs, i64 {k}" for k in range(lanes)]
    packs = [(f"%p{k}", kind.align) for k in range(lanes)]
    source, target = (rows, packs) if name == "gather" else (packs, rows)
    lines += [f"  %v{k}_0 = load {t}, ptr {p}, align {align}" for k, (p, align) in enumerate(source)]
    step, stage = 1, 0
    while step < lanes:
        first = [k if not k & step else lanes + k - step for k in range(lanes)]
        second = [k + step if not k & step else lanes + k for k in range(lanes)]
        for k in range(lanes):
            i, j = k & ~step, k | step
            indices = ", ".join(f"i32 {x}" for x in (second if k & step else first))
            lines.append(
                f"  %v{k}_{stage + 1} = shufflevector {t} %v{i}_{stage}, {t} %v{j}_{stage}, <{lanes} x i32> <{indices}>"
            )
        step, stage = 2 * step, stage + 1
    lines += [f"  store {t} %v{k}_{stage}, ptr {p}, align {align}" for k, (p, align) in enumerate(target)]
    return "\n".join([_head(f"{name}_", kind), *lines, "  ret void", "}", ""])


def _few(name: str, kind: Kind) -> str:
    lines = [*_rows(kind), "  br label %head", "head:", "  %k = phi i64 [ 0, %0 ], [ %next, %body ]"]
    lines += ["  %more = icmp slt i64 %k, %columns", "  br i1 %more, label %body, label %done", "body:"]
    lines.append(f"  %pack = getelementptr {kind.name}, ptr %packs, i64 %k")
    for lane in range(kind.lanes):
        lines += [
            f"  %x{lane} = getelementptr {kind.real}, ptr %r{lane}, i64 %k",
            f"  %y{lane} = getelementptr {kind.real}, ptr %pack, i64 {lane}",
        ]
        source, target = ("x", "y") if name == "gather" else ("y", "x")
        lines += [
            f"  %z{lane} = load {kind.real}, ptr %{source}{lane}, align {kind.size}",
            f"  store {kind.real} %z{lane}, ptr %{target}{lane}, align {kind.size}",
        ]
    lines += ["  %next = add i64 %k, 1", "  br label %head", "done:", "  ret void", "}", ""]
    return "\n".join([_head(f"{name}_few_", kind), *lines])
