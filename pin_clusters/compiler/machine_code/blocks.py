"""Division of straight-line code into blocks, so that LLVM allocates registers faster.

LLVM takes four times as long if thousands of lines are in one block, and twice as long if thousands of values are used
across many blocks. Very long code therefore stores such values in memory, which halves the compile time and makes the
code up to 5 % slower. Short code would become up to 15 % slower, so its values stay in registers.
"""

import re
from collections.abc import Sequence

_SIZE = 500  # lines per block
_MANY = 80  # number of blocks above which values are stored in memory between blocks
_NAME = re.compile(r"%t\.\d+\b")
_NUMBER = r"(float|double|<\d+ x (?:float|double)>)"
_MADE = re.compile(
    rf"  (%t\.\d+) = (?:(?:fadd|fsub|fmul|fdiv|fneg|load|call)(?: contract)*|select (?:i1|<\d+ x i1>) [^,]+,) {_NUMBER}"
)


def in_blocks(lines: Sequence[str], pointer: str, end: str) -> list[str]:
    """Divide straight-line code into blocks.

    Between blocks, the code branches to the instruction ``end`` if the argument ``pointer`` is null, which is never
    true. Without this branch, LLVM would merge the blocks.
    """
    blocks = [list(lines[first : first + _SIZE]) for first in range(0, len(lines), _SIZE)]
    slots, blocks = _kept_between(blocks) if len(blocks) > _MANY else ([], blocks)
    written = ["start:", *slots, f"  %nowhere = icmp eq ptr {pointer}, null"]
    for i, block in enumerate(blocks):
        if i:
            written += [f"  br i1 %nowhere, label %never, label %block{i}", f"block{i}:"]
        written += block
    return [*written, "  br label %done", *(["never:", end] if len(blocks) > 1 else []), "done:"]


def _kept_between(blocks: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    kinds = {m[1]: m[2] for block in blocks for line in block if (m := _MADE.match(line))}
    named = [[_NAME.findall(line) for line in block] for block in blocks]
    first_block, last = dict[str, int](), dict[str, int]()  # first and last block of each value
    for i, of_lines in enumerate(named):
        for names in of_lines:
            for name in names:
                first_block.setdefault(name, i)
                last[name] = i
    free: dict[str, list[str]] = {}
    slots, slot_of, rewritten = list[str](), dict[str, str](), list[list[str]]()
    for i, block in enumerate(blocks):
        for name in [name for name in slot_of if last[name] < i]:
            free.setdefault(kinds[name], []).append(slot_of.pop(name))
        new = list[str]()
        local_names = dict[str, str]()  # new names for values from earlier blocks
        for line, names in zip(block, named[i], strict=True):
            for name in names:
                if name in slot_of and first_block[name] < i and name not in local_names:
                    local_names[name] = f"%b{i}.{name[3:]}"
                    new.append(f"  {local_names[name]} = load {kinds[name]}, ptr {slot_of[name]}")
            new.append(_renamed(line, local_names) if not local_names.keys().isdisjoint(names) else line)
            name = names[0] if names else ""
            if first_block.get(name) == i < last.get(name, 0) and name in kinds and name not in slot_of:
                kind = kinds[name]
                if not free.get(kind):
                    free[kind] = [f"%slot.{len(slots)}"]
                    slots.append(f"  {free[kind][0]} = alloca {kind}")
                slot_of[name] = free[kind].pop()
                new.append(f"  store {kind} {name}, ptr {slot_of[name]}")
        rewritten.append(new)
    return slots, rewritten


def _renamed(line: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda m: names.get(m[0], m[0]), line)
