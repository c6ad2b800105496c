"""Instructions on numbers, or on packs of them, in LLVM's text: what all that write it have in common."""

from collections.abc import Sequence

from ..tracing.expressions import ADD, COS, DIV, MUL, NEG, SELECT, SIN, SQRT, SUB
from .kinds import Kind
from .sines import write_sine_and_cosine

_TWO = {ADD: "fadd contract", SUB: "fsub contract", MUL: "fmul contract", DIV: "fdiv"}


class Instructions:
    """Writes the body of a function.

    Attributes:
        kind: Of the numbers in arrays.
        sines: Where they come from: ``inline``, written out, or ``libm``, the functions of C's library.
        lines: What was written.
        called: Declarations of functions that are elsewhere.
        angles_are_seen: Whether the caller looks at the angles, so that the sines of huge ones need not be NaN.
    """

    angles_are_seen = False

    def __init__(self, kind: Kind, sines: str = "inline") -> None:
        self.kind, self.sines = kind, sines
        self.lines: list[str] = []
        self.called: set[str] = set()
        self._angles: dict[str, tuple[str, str]] = {}
        self._new = 0

    def new(self, instruction: str) -> str:
        """Write an instruction that has a result; return its name."""
        name = f"%t.{self._new}"
        self._new += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def load(self, array: str, i: int | str) -> str:
        """Read number i of an array; return its name."""
        return self.new(f"load {self.kind.name}, ptr {self._at(array, i)}, align {self.kind.align}")

    def store(self, name: str, array: str, i: int | str) -> None:
        """Write number i of an array."""
        self.lines.append(f"  store {self.kind.name} {name}, ptr {self._at(array, i)}, align {self.kind.align}")

    def _at(self, array: str, i: int | str) -> str:
        return self.new(f"getelementptr {self.kind.name}, ptr %{array}, i64 {i}")

    def compare(self, kind: Kind, name: str, bound: str) -> str:
        """Write whether a comparison such as ``ole 0.0`` holds."""
        predicate, number = bound.split()
        return self.new(f"fcmp {predicate} {kind.name} {name}, {kind.constant(float(number))}")

    def in_all_lanes(self, kind: Kind, x: str) -> str:
        """Write a number into all lanes of a pack."""
        if kind.lanes == 1:
            return x
        t = kind.name
        first = self.new(f"insertelement {t} poison, {kind.real} {x}, i32 0")
        return self.new(f"shufflevector {t} {first}, {t} poison, <{kind.lanes} x i32> zeroinitializer")

    def operation(self, kind: Kind, op: int, given: Sequence[str]) -> str:
        """Write an operation on numbers or on packs of a kind, lane by lane; return the name of its result."""
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
