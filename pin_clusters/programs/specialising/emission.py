"""Expressions of numbers and of packs as LLVM's intermediate representation: the core of a specialised function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..machine_code import attributes
from ..machine_code.kinds import Kind
from ..machine_code.sines import write_sine_and_cosine
from ..tracing.expressions import ADD, COS, DIV, INPUT, MUL, NEG, SELECT, SIN, SQRT, SUB, Expression
from .lanes import BROADCAST, LANE, NUMBERS, PACK, SUM

_TWO = {ADD: "fadd contract", SUB: "fsub contract", MUL: "fmul contract", DIV: "fdiv"}


def write_operation(
    new: Callable[[str], str], kind: Kind, x: Expression, given: Sequence[str], angles: dict[int, tuple[str, str]],
    called: set[str],
) -> str:  # fmt: skip
    """Write an operation on numbers or on packs, lane by lane; return the name of its result.

    Args:
        new: Writes an instruction and returns the name of its result.
        kind: Of the arguments.
        x: The operation.
        given: Names of its arguments.
        angles: Sines and cosines that are written already, by the angle.
        called: Functions that are to be declared.
    """
    op, t = x.op, kind.name
    if op in _TWO:
        return new(f"{_TWO[op]} {t} {given[0]}, {given[1]}")
    if op == NEG:
        return new(f"fneg {t} {given[0]}")
    if op == SELECT:
        less = new(f"fcmp olt {t} {given[0]}, {given[1]}")
        return new(f"select {kind.truth} {less}, {t} {given[2]}, {t} {given[3]}")
    if op == SQRT:
        function = f"llvm.sqrt.{f'v{kind.lanes}' * (kind.lanes > 1)}f64"
        called.add(f"declare {t} @{function}({t})")
        return new(f"call {t} @{function}({t} {given[0]})")
    assert op in (SIN, COS)
    angle = x.args[0].id
    if angle not in angles:
        angles[angle] = write_sine_and_cosine(new, kind, given[0])
    return angles[angle][op == COS]


class Result(NamedTuple):
    """What becomes of an expression.

    Attributes:
        array: Name of an output.
        places: In it, one per lane that counts.
        value: The expression, or a float.
        bound: A comparison that should not hold, such as ``ole 0.0``, or "".
    """

    array: str
    places: tuple[int, ...]
    value: Any
    bound: str = ""


class Core:
    """Writes one function ``i1 core(inputs, outputs)``: whether a bound is hurt."""

    def __init__(self, inputs: Sequence[tuple[str, int]]) -> None:
        """Prepare.

        Args:
            inputs: Name and size of each.
        """
        self.lines: list[str] = []
        self._called: set[str] = set()
        self._inputs = [(name, i) for name, size in inputs for i in range(size)]
        self._arrays = [name for name, _ in inputs]
        self._names: dict[int, str] = {}
        self._lanes: dict[int, int] = {}
        self._angles: dict[int, tuple[str, str]] = {}
        self._flags: dict[int, str] = {}
        self._new = 0
        self._outputs: Sequence[str] = ()

    def new(self, instruction: str) -> str:
        """Write an instruction that has a result; return its name."""
        name = f"%t{self._new}"
        self._new += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def text(self, results: Sequence[Result], outputs: Sequence[str]) -> str:
        """Return the function; what belongs to no output is only looked at."""
        self._outputs = outputs
        for one in results:
            if isinstance(one.value, Expression):
                self._compute(one.value)
            self._put(one)
        flag = "false"
        for lanes, name in self._flags.items():
            flag = self.new(f"or i1 {flag}, {self._any(name, lanes)}")
        pointers = [f"ptr noalias nocapture readonly align 8 %in.{name}" for name in self._arrays]
        pointers += [f"ptr noalias nocapture writeonly align 8 %out.{name}" for name in outputs]
        widest = max([1, *self._lanes.values()])
        head = f"define internal i1 @core({', '.join(pointers)}) noinline {attributes(Kind('double', widest))} {{"
        return "\n".join([head, *self.lines, f"  ret i1 {flag}", "}", *sorted(self._called), ""])

    def _any(self, name: str, lanes: int) -> str:
        if lanes == 1:
            return name
        return self.new(f"icmp ne i{lanes} {self.new(f'bitcast <{lanes} x i1> {name} to i{lanes}')}, 0")

    def _compute(self, wanted: Expression) -> None:
        """Write an expression behind its arguments, depth first."""
        stack = [wanted]
        while stack:
            x = stack[-1]
            if x.id in self._names:
                stack.pop()
                continue
            missing = []
            if x.op != INPUT:
                missing = [a for a in x.args if isinstance(a, Expression) and a.id not in self._names]
            if missing:
                stack.append(missing[0])
                continue
            stack.pop()
            self._names[x.id] = self._write(x)

    def _kind(self, x: Any) -> Kind:
        return Kind("double", self._lanes[x.id] if isinstance(x, Expression) else 1)

    def _name(self, x: Any, kind: Kind) -> str:
        return self._names[x.id] if isinstance(x, Expression) else kind.constant(float(x))

    def _at(self, array: str, i: int) -> str:
        return self.new(f"getelementptr double, ptr %{array}, i64 {i}") if i else f"%{array}"

    def _write(self, x: Expression) -> str:
        op, args = x.op, x.args
        if op == INPUT:
            self._lanes[x.id] = 1
            name, i = self._inputs[args[0]]
            return self.new(f"load double, ptr {self._at(f'in.{name}', i)}, align 8")
        if op in (BROADCAST, PACK, NUMBERS):
            return self._write_pack(x)
        if op in (LANE, SUM):
            return self._write_number(x)
        lanes = next(self._lanes[a.id] for a in args if isinstance(a, Expression))
        self._lanes[x.id] = lanes
        kind = Kind("double", lanes)
        given = [self._name(a, kind) for a in args]
        return write_operation(self.new, kind, x, given, self._angles, self._called)

    def _write_pack(self, x: Expression) -> str:
        lanes = int(x.args[1]) if x.op == BROADCAST else len(x.args)
        self._lanes[x.id] = lanes
        kind, t = Kind("double", lanes), f"<{lanes} x double>"
        if x.op == NUMBERS:
            return kind.constants(x.args)
        if x.op == BROADCAST:
            first = self.new(f"insertelement {t} poison, double {self._name(x.args[0], Kind('double'))}, i32 0")
            return self.new(f"shufflevector {t} {first}, {t} poison, <{lanes} x i32> zeroinitializer")
        found = "poison"
        for i, a in enumerate(x.args):
            found = self.new(f"insertelement {t} {found}, double {self._name(a, Kind('double'))}, i32 {i}")
        return found

    def _write_number(self, x: Expression) -> str:
        pack = x.args[0]
        lanes, name = self._lanes[pack.id], self._names[pack.id]
        self._lanes[x.id] = 1
        t = f"<{lanes} x double>"
        if x.op == LANE:
            return self.new(f"extractelement {t} {name}, i32 {x.args[1]}")
        n = int(x.args[1])
        if n < lanes:  # lanes that are there twice do not count
            chosen = ", ".join(f"i32 {i if i < n else lanes}" for i in range(lanes))
            name = self.new(f"shufflevector {t} {name}, {t} zeroinitializer, <{lanes} x i32> <{chosen}>")
        while lanes > 1:
            half = lanes // 2
            t, u = f"<{lanes} x double>", f"<{half} x double>"
            halves = [", ".join(f"i32 {k + i}" for i in range(half)) for k in (0, half)]
            low, high = (self.new(f"shufflevector {t} {name}, {t} poison, <{half} x i32> <{x}>") for x in halves)
            name, lanes = self.new(f"fadd contract {u} {low}, {high}"), half
        return self.new(f"extractelement <1 x double> {name}, i32 0")

    def _put(self, one: Result) -> None:
        """Store a result, and look at it."""
        kind = self._kind(one.value)
        name = self._name(one.value, kind)
        if one.bound:
            predicate, number = one.bound.split()
            out = self.new(f"fcmp {predicate} {kind.name} {name}, {kind.constant(float(number))}")
            before = self._flags.get(kind.lanes)
            self._flags[kind.lanes] = out if before is None else self.new(f"or {kind.truth} {before}, {out}")
        for lane, place in enumerate(one.places if one.array in self._outputs else ()):
            number = name if kind.lanes == 1 else self.new(f"extractelement {kind.name} {name}, i32 {lane}")
            self.lines.append(f"  store double {number}, ptr {self._at(f'out.{one.array}', place)}, align 8")
