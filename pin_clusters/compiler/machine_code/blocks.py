"""Straight code in blocks, so that LLVM gives registers quickly.

LLVM takes four times as long for thousands of lines at once, and twice as long if thousands of numbers live through
many blocks. In very long code, numbers that later blocks use are therefore kept in memory between blocks. That halves
the time of compilation. Such code runs up to 5 % slower, and short code up to 15 %, so that short code does without.
"""

import re
from collections.abc import Sequence

_SIZE = 500  # lines of a block
_MANY = 80  # so many blocks are very long code
_NAME = re.compile(r"%t\.\d+\b")
_NUMBER = r"(float|double|<\d+ x (?:float|double)>)"
_MADE = re.compile(
    rf"  (%t\.\d+) = (?:(?:fadd|fsub|fmul|fdiv|fneg|load|call)(?: contract)*|select (?:i1|<\d+ x i1>) [^,]+,) {_NUMBER}"
)


def in_blocks(lines: Sequence[str], pointer: str, end: str) -> list[str]:
    """Return straight code in blocks.

    Between two blocks stands a branch to the ``end``, which is never taken, as LLVM would join them again: it looks at
    a ``pointer`` that is given, and leads somewhere.
    """
    blocks = [list(lines[first : first + _SIZE]) for first in range(0, len(lines), _SIZE)]
    slots, blocks = _kept_between(blocks) if len(blocks) > _MANY else ([], blocks)
    found = ["start:", *slots, f"  %nowhere = icmp eq ptr {pointer}, null"]
    for i, block in enumerate(blocks):
        if i:
            found += [f"  br i1 %nowhere, label %never, label %block{i}", f"block{i}:"]
        found += block
    return [*found, "  br label %done", *(["never:", end] if len(blocks) > 1 else []), "done:"]


def _kept_between(blocks: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return memory for numbers that later blocks use, and the blocks, which write and read them there."""
    kinds = {m[1]: m[2] for block in blocks for line in block if (m := _MADE.match(line))}
    named = [[_NAME.findall(line) for line in block] for block in blocks]
    made, last = dict[str, int](), dict[str, int]()  # in which block each number is made, and used last
    for i, of_lines in enumerate(named):
        for names in of_lines:
            for name in names:
                made.setdefault(name, i)
                last[name] = i
    free: dict[str, list[str]] = {}
    slots, place, found = list[str](), dict[str, str](), list[list[str]]()
    for i, block in enumerate(blocks):
        for name in [name for name in place if last[name] < i]:
            free.setdefault(kinds[name], []).append(place.pop(name))
        new = list[str]()
        here = dict[str, str]()  # names of numbers of earlier blocks in this one
        for line, names in zip(block, named[i], strict=True):
            for name in names:
                if name in place and made[name] < i and name not in here:
                    here[name] = f"%b{i}.{name[3:]}"
                    new.append(f"  {here[name]} = load {kinds[name]}, ptr {place[name]}")
            new.append(_renamed(line, here) if not here.keys().isdisjoint(names) else line)
            name = names[0] if names else ""
            if made.get(name) == i < last.get(name, 0) and name in kinds and name not in place:
                kind = kinds[name]
                if not free.get(kind):
                    free[kind] = [f"%slot.{len(slots)}"]
                    slots.append(f"  {free[kind][0]} = alloca {kind}")
                place[name] = free[kind].pop()
                new.append(f"  store {kind} {name}, ptr {place[name]}")
        found.append(new)
    return slots, found


def _renamed(line: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda m: names.get(m[0], m[0]), line)
