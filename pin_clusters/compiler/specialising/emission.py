"""Expressions of numbers and of packs as LLVM's intermediate representation: the core of a specialised function."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..machine_code.blocks import in_blocks
from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..tracing.expressions import INPUT, Expression
from .lanes import BROADCAST, LANE, NUMBERS, PACK, SUM

_ONE = Kind("double")


class Result(NamedTuple):
    """What becomes of an expression."""

    array: str  # name of an output
    places: tuple[int, ...]  # in it, one per lane that counts
    value: Any  # the expression, or a float
    bound: str = ""  # a comparison that should not hold, such as ``ole 0.0``, or ""


def of_pack(array: str, places: tuple[int, ...], value: Any, bound: str = "") -> list[Result]:
    """Return the results of a tuple: one, or one per limb where that is simpler."""
    if isinstance(value, Expression) and value.op not in (NUMBERS, PACK, BROADCAST):
        return [Result(array, places, value, bound)]
    several = value.args if isinstance(value, Expression) and value.op != BROADCAST else None
    one = value.args[0] if isinstance(value, Expression) else value
    return [Result(array, (i,), several[k] if several else one, bound) for k, i in enumerate(places)]


class Core(Instructions):
    """Writes one function ``i1 core(inputs, outputs)``: whether a bound is hurt."""

    angles_are_seen = True

    def __init__(self, inputs: Sequence[tuple[str, int]]) -> None:
        """Prepare, for inputs of these names and sizes."""
        super().__init__(_ONE)
        self._inputs = [(name, i) for name, size in inputs for i in range(size)]
        self._arrays = [name for name, _ in inputs]
        self._names: dict[int, str] = {}
        self._lanes: dict[int, int] = {}
        self._flags: dict[int, str] = {}
        self._outputs: Sequence[str] = ()

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
        head = f"define internal i1 @core({', '.join(pointers)}) noinline {Kind('double', widest).attributes} {{"
        lines = in_blocks(self.lines, pointers[0].split()[-1], "  ret i1 true")
        return "\n".join([head, *lines, f"  ret i1 {flag}", "}", *sorted(self.called), ""])

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

    def _at(self, array: str, i: int | str) -> str:
        return super()._at(array, i) if i else f"%{array}"

    def _write(self, x: Expression) -> str:
        op, args = x.op, x.args
        if op == INPUT:
            self._lanes[x.id] = 1
            name, i = self._inputs[args[0]]
            return self.load(f"in.{name}", i)
        if op in (BROADCAST, PACK, NUMBERS):
            return self._write_pack(x)
        if op in (LANE, SUM):
            return self._write_number(x)
        lanes = next(self._lanes[a.id] for a in args if isinstance(a, Expression))
        self._lanes[x.id] = lanes
        kind = Kind("double", lanes)
        return self.operation(kind, op, [self._name(a, kind) for a in args])

    def _write_pack(self, x: Expression) -> str:
        lanes = int(x.args[1]) if x.op == BROADCAST else len(x.args)
        self._lanes[x.id] = lanes
        kind, t = Kind("double", lanes), f"<{lanes} x double>"
        if x.op == NUMBERS:
            return kind.constants(x.args)
        if x.op == BROADCAST:
            return self.in_all_lanes(kind, self._name(x.args[0], _ONE))
        found = "poison"
        for i, a in enumerate(x.args):
            found = self.new(f"insertelement {t} {found}, double {self._name(a, _ONE)}, i32 {i}")
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
            out = self.compare(kind, name, one.bound)
            before = self._flags.get(kind.lanes)
            self._flags[kind.lanes] = out if before is None else self.new(f"or {kind.truth} {before}, {out}")
        for lane, place in enumerate(one.places if one.array in self._outputs else ()):
            number = name if kind.lanes == 1 else self.new(f"extractelement {kind.name} {name}, i32 {lane}")
            self.store(number, f"out.{one.array}", place)
