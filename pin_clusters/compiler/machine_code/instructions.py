"""Writes LLVM instructions for numbers or packs of numbers, as text."""

import contextlib
from collections.abc import Iterator, Sequence

from ..tracing.expressions import ADD, COS, DIV, MUL, NEG, SELECT, SIN, SQRT, SUB
from .kinds import Kind
from .sines import write_sine_and_cosine

_TWO = {ADD: "fadd contract", SUB: "fsub contract", MUL: "fmul contract", DIV: "fdiv"}


class Instructions:
    """Writes the body of a function.

    Attributes:
        kind: Type of the entries of arrays.
        sines: ``inline`` computes sines with polynomials; ``libm`` calls the C library.
        lines: Instructions that have been written.
        called: Declarations of external functions.
        angles_are_seen: Whether the caller checks the angles; if so, sines of huge angles are arbitrary instead of NaN.
    """

    angles_are_seen = False

    def __init__(self, kind: Kind, sines: str = "inline") -> None:
        self.kind, self.sines = kind, sines
        self.lines: list[str] = []
        self.called: set[str] = set()
        self._angles: dict[str, tuple[str, str]] = {}
        self._new = self._loops = 0

    def new(self, instruction: str) -> str:
        name = f"%t.{self._new}"
        self._new += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def load(self, array: str, i: int | str) -> str:
        return self.new(f"load {self.kind.name}, ptr {self._at(array, i)}, align {self.kind.align}")

    def store(self, name: str, array: str, i: int | str) -> None:
        self.lines.append(f"  store {self.kind.name} {name}, ptr {self._at(array, i)}, align {self.kind.align}")

    def _at(self, array: str, i: int | str) -> str:
        return self.new(f"getelementptr {self.kind.name}, ptr %{array}, i64 {i}") if i else f"%{array}"

    def word(self, start: str, i: int) -> str:
        """Write an instruction that loads element i of a 64-bit integer array; return the LLVM name of the value."""
        return self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr {start}, i64 {i}')}")

    def pointer(self, word: str) -> str:
        return self.new(f"inttoptr i64 {word} to ptr")

    def compare(self, kind: Kind, name: str, bound: str) -> str:
        predicate, number = bound.split()
        return self.new(f"fcmp {predicate} {kind.name} {name}, {kind.constant(float(number))}")

    def in_all_lanes(self, kind: Kind, x: str) -> str:
        if kind.lanes == 1:
            return x
        t = kind.name
        first = self.new(f"insertelement {t} poison, {kind.real} {x}, i32 0")
        return self.new(f"shufflevector {t} {first}, {t} poison, <{kind.lanes} x i32> zeroinitializer")

    @contextlib.contextmanager
    def loop(self, count: int | str, width: int = 1) -> Iterator[str]:
        """Write a loop around the instructions in the ``with`` block; yield the LLVM name of the loop index.

        The index starts at 0, increases by ``width`` and ends at ``count - width``. The loop runs at least once. If
        ``count`` is not a multiple of ``width``, the last two iterations overlap.
        """
        label, self._loops = f"loop.{self._loops}", self._loops + 1
        i, last = f"%i.{label}", count - width if isinstance(count, int) else self.new(f"sub i64 {count}, {width}")
        advanced, following = f"%on.{label}", f"%next.{label}" if width > 1 else f"%on.{label}"
        self.lines += [f"  br label %before.{label}", f"before.{label}:", f"  br label %{label}", f"{label}:"]
        self.lines += [f"  {i} = phi i64 [ 0, %before.{label} ], [ {following}, %end.{label} ]"]
        yield i
        self.lines += [f"  br label %end.{label}", f"end.{label}:", f"  {advanced} = add i64 {i}, {width}"]
        if width > 1:
            self.lines += [f"  %far.{label} = icmp ugt i64 {advanced}, {last}"]
            self.lines += [f"  {following} = select i1 %far.{label}, i64 {last}, i64 {advanced}"]
        self.lines += [f"  %done.{label} = icmp uge i64 {i}, {last}"]
        self.lines += [f"  br i1 %done.{label}, label %after.{label}, label %{label}", f"after.{label}:"]

    def internal(self, name: str, parameters: Sequence[str]) -> str:
        """Return the text of ``void name(parameters)``, with all instructions and declarations that were written."""
        head = f"define internal void @{name}({', '.join(parameters)}) noinline {self.kind.attributes} {{"
        return "\n".join([head, "start:", *self.lines, "  ret void", "}", *sorted(self.called), ""])

    def operation(self, kind: Kind, op: int, given: Sequence[str]) -> str:
        t = kind.name
        if op in _TWO:
            return self.new(f"{_TWO[op]} {t} {given[0]}, {given[1]}")
        if op == NEG:
            return self.new(f"fneg {t} {given[0]}")
        if op == SELECT:
            less = self.new(f"fcmp olt {t} {given[0]}, {given[1]}")
            return self.new(f"select {kind.truth} {less}, {t} {given[2]}, {t} {given[3]}")
        if op == SQRT:
            return self._call(kind, f"llvm.sqrt.{f'v{kind.lanes}' * (kind.lanes > 1)}f{8 * kind.size}", given[0])
        assert op in (SIN, COS)
        if self.sines == "libm":
            return self._call(kind, ("sin" if op == SIN else "cos") + "f" * (kind.real == "float"), given[0])
        if given[0] not in self._angles:
            self._angles[given[0]] = write_sine_and_cosine(self.new, kind, given[0], seen=self.angles_are_seen)
        return self._angles[given[0]][op == COS]

    def _call(self, kind: Kind, function: str, x: str) -> str:
        self.called.add(f"declare {kind.name} @{function}({kind.name})")
        return self.new(f"call {kind.name} @{function}({kind.name} {x})")
