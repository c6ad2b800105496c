"""Programs as LLVM's intermediate representation: functions of one state, and of rows, in packs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...errors import UnknownNameError
from ..tracing.expressions import ADD, COS, DIV, MUL, NEG, SELECT, SIN, SQRT, SUB
from ..tracing.program import Program
from . import transposition
from .kinds import Kind
from .sines import write_sine_and_cosine

_TWO = {ADD: "fadd contract", SUB: "fsub contract", MUL: "fmul contract", DIV: "fdiv"}
_NONE: Mapping[str, str] = {}
SINES = ("inline", "libm")
"""Where sines come from: written out, or the functions of C's library."""


def parameters(program: Program) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return name and size of each input, and of each output."""
    return list(program.inputs), [(name, int(np.prod(shape))) for name, shape in program.outputs]


def _arrays(program: Program) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the same, by names that nothing else has."""
    inputs, outputs = parameters(program)
    return [(f"in.{x}", n) for x, n in inputs], [(f"out.{x}", n) for x, n in outputs]


def attributes(kind: Kind) -> str:
    """Return what a function with such packs needs: registers as wide as they are."""
    bits = 8 * kind.size * kind.lanes
    return "nounwind" if bits <= 256 else f'nounwind "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'


class _Body:
    """Writes the operations of a program.

    Attributes:
        lines: What was written.
        called: Functions that are declared elsewhere.
        flag: Name of what is true if an output was out of its bounds.
    """

    def __init__(self, program: Program, kind: Kind, sines: str, bounds: Mapping[str, str] = _NONE) -> None:
        self.program, self.kind, self.sines, self.bounds = program.ordered(), kind, sines, bounds
        self.flag = "false" if kind.lanes == 1 else "zeroinitializer"
        self.lines: list[str] = []
        self.called: set[str] = set()
        self._names: dict[int, str] = {i: kind.constant(float(x)) for i, x in enumerate(program.constants)}
        self._angles: dict[int, tuple[str, str]] = {}
        self._new = 0
        place = len(program.constants)
        self._input: dict[int, tuple[str, int]] = {}
        for name, size in _arrays(program)[0]:
            for i in range(size):
                self._input[place + i] = name, i
            place += size

    def new(self, instruction: str) -> str:
        """Write an instruction that has a result; return its name."""
        name = f"%t.{self._new}"
        self._new += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def at(self, array: str, i: int) -> str:
        """Write where number i of an array is."""
        return self.new(f"getelementptr {self.kind.name}, ptr %{array}, i64 {i}")

    def name(self, place: int) -> str:
        """Return the name of the number at a place; inputs are read when they are needed first."""
        found = self._names.get(place)
        if found is None:
            where = self.at(*self._input[place])
            found = self.new(f"load {self.kind.name}, ptr {where}, align {self.kind.align}")
            self._names[place] = found
        return found

    def write(self) -> None:
        """Write all operations, and each result as soon as it is there."""
        start = self.program.first
        waiting: dict[int, list[tuple[str, int]]] = {}
        places = iter(self.program.results.tolist())
        for name, size in _arrays(self.program)[1]:
            for i in range(size):
                waiting.setdefault(next(places), []).append((name, i))
        for place, operation in enumerate(self.program.operations.tolist(), start):
            self._names[place] = self._operation(*operation)
            self._store(place, waiting.pop(place, ()))
        for place, where in waiting.items():  # constants and inputs
            self._store(place, where)

    def _store(self, place: int, where: Iterable[tuple[str, int]]) -> None:
        for array, i in where:
            bound = self.bounds.get(array.removeprefix("out."))
            if bound is not None:
                predicate, number = bound.split()
                out = self.new(
                    f"fcmp {predicate} {self.kind.name} {self.name(place)}, {self.kind.constant(float(number))}"
                )
                self.flag = self.new(f"or {self.kind.truth} {self.flag}, {out}")
            at = self.at(array, i)
            self.lines.append(f"  store {self.kind.name} {self.name(place)}, ptr {at}, align {self.kind.align}")

    def _operation(self, op: int, a: int, b: int, c: int, d: int) -> str:
        t = self.kind.name
        if op in _TWO:
            return self.new(f"{_TWO[op]} {t} {self.name(a)}, {self.name(b)}")
        if op == NEG:
            return self.new(f"fneg {t} {self.name(a)}")
        if op == SELECT:
            less = self.new(f"fcmp olt {t} {self.name(a)}, {self.name(b)}")
            return self.new(f"select {self.kind.truth} {less}, {t} {self.name(c)}, {t} {self.name(d)}")
        if op == SQRT:
            return self._call(self._intrinsic("sqrt"), a)
        if self.sines == "libm":
            function = "sin" if op == SIN else "cos"
            return self._call(function + "f" * (self.kind.real == "float"), a)
        if a not in self._angles:
            self._angles[a] = write_sine_and_cosine(self.new, self.kind, self.name(a))
        return self._angles[a][op == COS]

    def _intrinsic(self, name: str) -> str:
        lanes = f"v{self.kind.lanes}" if self.kind.lanes > 1 else ""
        return f"llvm.{name}.{lanes}f{8 * self.kind.size}"

    def _call(self, function: str, a: int) -> str:
        t = self.kind.name
        self.called.add(f"declare {t} @{function}({t})")
        return self.new(f"call {t} @{function}({t} {self.name(a)})")


def body_text(
    program: Program, name: str, kind: Kind, sines: str = "inline", linkage: str = "internal ",
    bounds: Mapping[str, str] = _NONE,
) -> str:  # fmt: skip
    """Return a function of one state, or of a pack of states: a pointer per input, then one per output.

    Args:
        program: What it computes.
        name: Of the function.
        kind: What the pointers lead to.
        sines: One of ``SINES``.
        linkage: Before ``void``.
        bounds: By name of an output a comparison, ``ole 0.0``: it returns whether that holds for one of its entries.
    """
    if sines not in SINES:
        raise UnknownNameError(f"sines is {sines!r}; it can be {' or '.join(map(repr, SINES))}.")
    body = _Body(program, kind, sines, bounds)
    body.write()
    inputs, outputs = _arrays(program)
    given = [f"ptr noalias nocapture readonly align {kind.align} %{x}" for x, _ in inputs]
    given += [f"ptr noalias nocapture writeonly align {kind.align} %{x}" for x, _ in outputs]
    result, end = (kind.truth, f"{kind.truth} {body.flag}") if bounds else ("void", "void")
    head = f"define {linkage}{result} @{name}({', '.join(given)}) noinline {attributes(kind)} {{"
    return "\n".join([head, *body.lines, f"  ret {end}", "}", *sorted(body.called), ""])


def function_text(program: Program, name: str, real: str = "double", sines: str = "inline") -> str:
    """Return the function ``void name(const real *input, ..., real *output, ...)`` of one state.

    Args:
        program: What it computes.
        name: Of the function.
        real: ``double`` or ``float``.
        sines: ``inline`` or ``libm``, to call the functions of C's library.

    Raises:
        UnknownNameError: Another ``real`` or ``sines``.
    """
    return body_text(program, name, Kind(real), sines, "")


def rows_text(program: Program, name: str, real: str = "double", lanes: int = 8) -> str:
    """Return the function ``void name(const real *input, ..., real *output, ..., int64 first, int64 last)``.

    It computes rows first..last-1 of contiguous arrays, ``lanes`` of them at a time; the last ones more than once.

    Args:
        program: What it computes.
        name: Of the function.
        real: ``double`` or ``float``.
        lanes: A power of two.
    """
    kind, (inputs, outputs) = Kind(real, lanes), _arrays(program)
    given = [f"ptr nocapture readonly %{x}_rows" for x, _ in inputs]
    given += [f"ptr nocapture writeonly %{x}_rows" for x, _ in outputs]
    rooms = [*inputs, *outputs]
    allocated = [f"  %{x} = alloca [{max(1, n) * lanes} x {real}], align {kind.align}" for x, n in rooms]
    moved = [transposition.call("gather", x, n, kind) for x, n in inputs if n]
    back = [transposition.call("scatter", x, n, kind) for x, n in outputs if n]
    arguments = [f"ptr %{x}" for x, _ in rooms]
    newline = "\n"
    return f"""{body_text(program, f"{name}_pack", kind)}
define void @{name}({", ".join(given)}, i64 %first, i64 %last) {attributes(kind)} {{
start:
{newline.join(allocated)}
  %chosen = alloca [{lanes} x i64], align 64
  %end = sub i64 %last, 1
  br label %head
head:
  %i = phi i64 [ %first, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %last
  br i1 %more, label %body, label %done
body:
{transposition.choose(lanes)}
{newline.join(moved)}
  call void @{name}_pack({", ".join(arguments)})
{newline.join(back)}
  %next = add i64 %i, {lanes}
  br label %head
done:
  ret void
}}
"""


def module_text(*functions: str, rows: tuple[str, int] | None = None) -> str:
    """Return a module of functions.

    Args:
        functions: What ``function_text`` and ``rows_text`` returned.
        rows: Real and lanes of those of rows, if there are some.
    """
    text = "".join(functions)
    declared = sorted({line for line in text.splitlines() if line.startswith("declare ")})
    rest = "\n".join(line for line in text.splitlines() if not line.startswith("declare "))
    shared = transposition.functions(Kind(*rows)) if rows else ""
    return "\n".join([rest, shared, *declared, ""])
