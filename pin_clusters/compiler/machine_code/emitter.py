"""The emitter writes expressions as the instructions of one LLVM function, in the order of a schedule.

A schedule is a sequence of steps; each step computes an expression or stores a ``Result``. Four forms of code exist:

- Scalar code: ``kind`` has one lane, and every value is a float or a double.
- States as lanes: ``kind`` has several lanes, and every value is a vector (pack) with one state per lane.
- Limbs as lanes: ``kind`` has one lane; expressions that are packs of limbs are vectors with one limb per lane.
- Limbs as a loop: ``loop_emitter.LoopEmitter`` writes packs of limbs as loops over the limbs, for any ``kind``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..tracing.expressions import BROADCAST, INPUT, LANE, NUMBERS, PACK, SUM, Expression
from .blocks import in_blocks
from .instructions import Instructions
from .kinds import Kind

Arrays = Sequence[tuple[str, int]]
"""Name and size of each array."""


class Result(NamedTuple):
    """An expression, and the place in an array where its value is stored."""

    array: str  # name of an output; "" stands for the frame of a ``LoopEmitter``
    places: tuple[int, ...]  # indices in the array; a pack of limbs has one index per limb
    value: Any  # the expression, or a float
    bound: str = ""  # comparison that must be false, such as ``ole 0.0``; "" if the value has no bound


Step = Expression | Result


class Emitter(Instructions):
    """Writes each expression once; ``names`` maps the id of each written expression to the LLVM name of its value."""

    def __init__(self, kind: Kind, inputs: Arrays, *, sines: str = "inline", angles_are_seen: bool = False) -> None:
        """If ``angles_are_seen``, the caller checks the angles; sines of huge angles are arbitrary, not NaN."""
        super().__init__(kind, sines)
        self.angles_are_seen = angles_are_seen
        self.names: dict[int, str] = {}
        self._arrays = inputs
        self._inputs = [(name, i) for name, size in inputs for i in range(size)]
        self._packs: dict[int, Kind] = {}  # type of each pack of limbs
        self._violated: dict[Kind, str] = {}  # for each type, name of the i1 value that is true if a bound is violated

    def function(
        self,
        name: str,
        steps: Sequence[Step],
        outputs: Sequence[str],
        *,
        checked: bool = False,
        linkage: str = "internal ",
    ) -> str:
        """Return the text of ``void name(inputs, outputs)``, with ``linkage`` before the return type.

        If ``checked``, the LLVM function returns an i1 that is true if a result violates its bound.
        """
        self.run(steps, outputs)
        returned, end, never = "void", "  ret void", "  ret void"
        if checked:
            returned, end, never = "i1", f"  ret i1 {self._any_violated()}", "  ret i1 true"
        pointers = self.pointers(outputs, f" align {self.kind.align}")
        widest = max((self.kind, *self._packs.values()), key=lambda kind: kind.lanes)
        head = f"define {linkage}{returned} @{name}({', '.join(pointers)}) noinline {widest.attributes} {{"
        lines = in_blocks(self.lines, pointers[0].split()[-1], never)
        return "\n".join([head, *lines, end, "}", *sorted(self.called), ""])

    def pointers(self, outputs: Sequence[str], align: str = "") -> list[str]:
        parameters = [f"ptr noalias nocapture readonly{align} %in.{x}" for x, _ in self._arrays]
        return parameters + [f"ptr noalias nocapture writeonly{align} %out.{x}" for x in outputs]

    def run(self, steps: Sequence[Step], outputs: Sequence[str]) -> None:
        """Write the steps: store results whose array is in ``outputs``, and check the bounds of all results."""
        for step in steps:
            if isinstance(step, Result):
                self.write_all(step.value)
                self.put(step, outputs)
            else:
                self.write(step)

    def name(self, x: Any, kind: Kind | None = None) -> str:
        """Return the LLVM name of a value, which is loaded from memory if necessary. A float becomes a constant."""
        if not isinstance(x, Expression):
            return (kind or self.kind).constant(float(x))
        if x.id not in self.names:
            self.names[x.id] = self.read(x)
        return self.names[x.id]

    def read(self, x: Expression) -> str:
        array, i = self._inputs[x.args[0]]
        return self.load(f"in.{array}", i)

    def write_all(self, wanted: Any) -> None:
        stack = [wanted] if isinstance(wanted, Expression) else []
        while stack:
            x = stack[-1]
            arguments = () if x.op == INPUT or x.id in self.names else x.args
            missing = next((a for a in arguments if isinstance(a, Expression) and a.id not in self.names), None)
            if missing is None:
                self.write(stack.pop())
            else:
                stack.append(missing)

    def write(self, x: Expression) -> None:
        """Write an expression unless it is already written. The arguments of the expression must be written first."""
        if x.id in self.names or x.op == INPUT:
            self.name(x)
        elif x.op in (BROADCAST, PACK, NUMBERS, LANE, SUM):
            self.names[x.id] = self._of_limbs(x)
        else:
            kind = next((self._packs[a.id] for a in x.args if isinstance(a, Expression) and a.id in self._packs), None)
            if kind is not None:
                self._packs[x.id] = kind
            kind = kind or self.kind
            self.names[x.id] = self.operation(kind, x.op, [self.name(a, kind) for a in x.args])

    def put(self, result: Result, outputs: Sequence[str]) -> None:
        """Write instructions that store a value (each lane of a pack of limbs separately) and check its bound."""
        pack = self._packs.get(result.value.id) if isinstance(result.value, Expression) else None
        kind = pack or self.kind
        name = self.name(result.value)
        if result.bound:
            violated, before = self.compare(kind, name, result.bound), self._violated.get(kind)
            self._violated[kind] = violated if before is None else self.new(f"or {kind.truth} {before}, {violated}")
        for lane, index in enumerate(result.places if result.array in outputs else ()):
            number = self.new(f"extractelement {kind.name} {name}, i32 {lane}") if pack else name
            self.store(number, f"out.{result.array}", index)

    def _any_violated(self) -> str:
        any_violated = "false"
        for kind, name in self._violated.items():
            n, violated = kind.lanes, name
            if n > 1:
                violated = self.new(f"icmp ne i{n} {self.new(f'bitcast <{n} x i1> {name} to i{n}')}, 0")
            any_violated = self.new(f"or i1 {any_violated}, {violated}")
        return any_violated

    def _of_limbs(self, x: Expression) -> str:
        if x.op == LANE:
            pack = x.args[0]
            return self.new(f"extractelement {self._packs[pack.id].name} {self.names[pack.id]}, i32 {x.args[1]}")
        if x.op == SUM:
            return self._sum(x)
        kind = self._packs[x.id] = Kind(self.kind.real, int(x.args[1]) if x.op == BROADCAST else len(x.args))
        if x.op == NUMBERS:
            return kind.constants(x.args)
        if x.op == BROADCAST:
            return self.in_all_lanes(kind, self.name(x.args[0]))
        pack_value = "poison"
        for i, a in enumerate(x.args):
            pack_value = self.new(f"insertelement {kind.name} {pack_value}, {self.kind.name} {self.name(a)}, i32 {i}")
        return pack_value

    def _sum(self, x: Expression) -> str:
        pack, n = x.args
        kind, name = self._packs[pack.id], self.names[pack.id]
        lanes, t = kind.lanes, kind.name
        if n < lanes:  # The other lanes repeat the value of a limb, so the sum must exclude them.
            indices = ", ".join(f"i32 {i if i < n else lanes}" for i in range(lanes))
            name = self.new(f"shufflevector {t} {name}, {t} zeroinitializer, <{lanes} x i32> <{indices}>")
        while lanes > 1:
            half = lanes // 2
            t, u = (f"<{k} x {kind.real}>" for k in (lanes, half))
            halves = [", ".join(f"i32 {k + i}" for i in range(half)) for k in (0, half)]
            low, high = (self.new(f"shufflevector {t} {name}, {t} poison, <{half} x i32> <{x}>") for x in halves)
            name, lanes = self.new(f"fadd contract {u} {low}, {high}"), half
        return self.new(f"extractelement <1 x {kind.real}> {name}, i32 0")
