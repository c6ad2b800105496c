"""Conversion of the operations of a program to C statements."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..._support.groups import grouped
from ...compiler.tracing import Program
from ...compiler.tracing.expressions import ADD, ARGUMENTS, COS, DIV, MUL, NEG, SELECT, SIN, SQRT, SUB

REALS = ("double", "float")


@dataclass(frozen=True)
class Dialect:
    """Notation of a programming language."""

    real: str  # type of the numbers, a key of ``REALS``
    sine_and_cosine: str  # statement that declares sine {s} and cosine {c} of {x}; "" if they are separate calls
    calls: dict[int, str]  # names of sine, cosine and square root
    infinite: tuple[str, str]  # names of infinity and of NaN
    declaration: str = "const {real} {name} = {text};"
    choice: str = "{} < {} ? {} : {}"  # the third term if the first is less than the second, otherwise the fourth

    def number(self, x: float) -> str:
        if math.isnan(x):
            return self.infinite[1]
        with np.errstate(over="ignore"):
            short = np.float32(x)
        if math.isinf(short if self.real == "float" else x):
            return ("" if x > 0 else "-") + self.infinite[0]
        text = repr(float(x)) if self.real == "double" else str(short)
        return text if self.real == "double" else text + "f"


def c99(real: str) -> Dialect:
    end = "f" if real == "float" else ""
    calls = {SIN: f"sin{end}", COS: f"cos{end}", SQRT: f"sqrt{end}"}
    return Dialect(real, "", calls, (f"HUGE_VAL{end.upper()}", "NAN"))


_FORMS = {ADD: "{} + {}", SUB: "{} - {}", MUL: "{} * {}", DIV: "{} / {}", NEG: "-({})"}


class StatementWriter:
    """Writes the statements of one program.

    Inputs are read before the first output is written, because an output may be the same array as an input. If a
    product is used only once, as a term of a sum, it is written inside the sum.

    Args:
        program: The program.
        dialect: The language.
        names: Names of the arguments; inputs come first, then outputs.
        read: Function that returns the text of an input entry; its arguments are the name and the index.
        write: Function that returns the statement that writes an output entry; its arguments are name, index and value.

    Attributes:
        unread: Names of inputs on which no output depends.
    """

    def __init__(
        self,
        program: Program,
        dialect: Dialect,
        names: Sequence[str],
        read: Callable[[str, int], str],
        write: Callable[[str, int, str], str],
    ) -> None:
        program = program.ordered()
        self.dialect, self.read, self.write = dialect, read, write
        self._forms = _FORMS | {SELECT: dialect.choice}
        self.lines: list[str] = []
        self._waiting: list[str] = []  # statements that must come after all inputs are read
        self._rows: list[list[int]] = program.operations.tolist()
        self._first = program.first
        self._text = {i: dialect.number(float(x)) for i, x in enumerate(program.constants)}
        self._turned: set[int] = set()
        n = len(program.inputs)
        sizes = [size for _, size in program.inputs] + [math.prod(shape) for _, shape in program.outputs]
        entries = [[(name, i) for i in range(size)] for name, size in zip(names, sizes, strict=True)]
        inputs, outputs = chain(*entries[:n]), chain(*entries[n:])
        self._entries = dict(enumerate(inputs, start=len(program.constants)))
        self._results = grouped(zip(program.results.tolist(), outputs, strict=True))
        users = grouped((x, op) for op, *places in self._rows for x in places[: ARGUMENTS[op]])
        self._unread = {x for x in self._entries if x in users or x in self._results}
        used = {self._entries[x][0] for x in self._unread}
        self.unread = [name for name in names[:n] if name not in used]
        self._folded = {
            x
            for x, (user, *other_users) in users.items()
            if not other_users
            and x >= self._first
            and x not in self._results
            and self._rows[x - self._first][0] == MUL
            and user in (ADD, SUB)
        }

    def body(self) -> list[str]:
        for k, (op, *places) in enumerate(self._rows):
            self._operation(self._first + k, op, places[: ARGUMENTS[op]])
        for position in self._results:
            if position < self._first:
                self._put(position)
        return self.lines + self._waiting

    def _at(self, place: int) -> str:
        """Return the C expression of a constant, input or result; declare an input entry at its first use."""
        if place not in self._text:
            name, i = self._entries[place]
            self._declare(place, f"{name}_{i}", self.read(name, i))
            self._unread.discard(place)
        return self._text[place]

    def _declare(self, place: int, name: str, text: str) -> None:
        self.lines.append(self.dialect.declaration.format(real=self.dialect.real, name=name, text=text))
        self._text[place] = name

    def _operation(self, place: int, op: int, places: Sequence[int]) -> None:
        args = [self._at(x) for x in places]
        name = f"t{place - self._first}"
        if op in (SIN, COS) and self.dialect.sine_and_cosine:
            s, c = f"s{places[0]}", f"c{places[0]}"
            if places[0] not in self._turned:
                self.lines.append(self.dialect.sine_and_cosine.format(x=args[0], s=s, c=c))
                self._turned.add(places[0])
            self._text[place] = s if op == SIN else c
        elif op in self.dialect.calls:
            self._declare(place, name, f"{self.dialect.calls[op]}({args[0]})")
        elif place in self._folded:
            self._text[place] = self._forms[op].format(*args)
        else:
            self._declare(place, name, self._forms[op].format(*args))
        if place in self._results:
            self._put(place)

    def _put(self, place: int) -> None:
        self._waiting += [self.write(name, i, self._at(place)) for name, i in self._results[place]]
        if not self._unread:
            self.lines += self._waiting
            self._waiting = []
