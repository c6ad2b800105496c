"""Emitter that writes packs of limbs as loops. The operations of a limb are written once and run once per limb."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from ..tracing.expressions import BROADCAST, INPUT, LANE, NUMBERS, SUM, Expression
from .emitter import Arrays, Emitter, Result, Step
from .kinds import Kind


@dataclass
class Frame:
    """Memory for values that one ``Turn`` computes and another turn reads; a pack has one value per limb.

    Attributes:
        limbs: Number of limbs in each group.
        groups: Dictionary from the id of each pack of limbs to its group.
        places: Dictionary from the id of each expression to the index of its first value in the frame.
        size: Number of values in the frame.
    """

    limbs: Sequence[int]
    groups: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def reserve(self, x: Expression) -> None:
        if x.id not in self.places:
            self.places[x.id] = self.size
            self.size += self._size_of(x)

    def result(self, x: Expression) -> Result:
        first = self.places[x.id]
        return Result("", tuple(range(first, first + self._size_of(x))), x)

    def _size_of(self, x: Expression) -> int:
        return self.limbs[self.groups[x.id]] if x.id in self.groups else 1


class Turn(NamedTuple):
    """A part of the function in which values stay in registers: straight-line code, or a loop over a group's limbs."""

    group: int | None  # None for straight-line code
    steps: Sequence[Step]  # in a loop, a SUM step adds the value of the current limb


class LoopEmitter(Emitter):
    """Writes packs of limbs as loops over the limbs; the code reads the limbs' constants from a table."""

    def __init__(self, kind: Kind, inputs: Arrays, frame: Frame) -> None:
        super().__init__(kind, inputs)
        self._frame = frame
        self._group, self._limb, self._row = -1, "", ""  # group of the current loop; names of limb index and table row
        self._columns: list[dict[int, int]] = [{} for _ in frame.limbs]  # column of each constant in the table
        self._constants: list[list[tuple[float, ...]]] = [[] for _ in frame.limbs]

    def function_of_turns(self, name: str, turns: Sequence[Turn], outputs: Sequence[str]) -> str:
        """Return the text of ``void name(inputs, outputs)``, and of the tables with the limbs' constants."""
        for turn in turns:
            self.names = {}
            if turn.group is None:
                self.run(turn.steps, outputs)
            else:
                self._loop(turn.steps, turn.group, outputs)
        size, scalar, tables = max(1, self._frame.size) * self.kind.lanes, Kind(self.kind.real), list[str]()
        self.lines.insert(0, f"  %frame = alloca [{size} x {scalar.real}], align {self.kind.align}")
        text = self.internal(name, self.pointers(outputs))
        for g, columns in enumerate(self._constants):
            text = text.replace(f"COLUMNS{g}.", str(len(columns)))
            numbers = [column[limb] for limb in range(self._frame.limbs[g]) for column in columns] or [0.0]
            written = ", ".join(f"{scalar.real} {scalar.constant(x)}" for x in numbers)
            tables.append(f"@limbs{g} = internal constant [{len(numbers)} x {scalar.real}] [{written}], align 64")
        return "\n".join([*tables, text])

    def _loop(self, steps: Sequence[Step], group: int, outputs: Sequence[str]) -> None:
        for x in steps:
            if isinstance(x, Expression) and x.op == SUM:
                self.store(self.kind.constant(0.0), "frame", self._frame.places[x.id])
        with self.loop(self._frame.limbs[group]) as limb:
            first = self.new(f"mul i64 {limb}, COLUMNS{group}.")
            row = self.new(f"getelementptr {self.kind.real}, ptr @limbs{group}, i64 {first}")
            self._group, self._limb, self._row = group, limb, row
            self.run(steps, outputs)
            self._limb = ""

    def write_all(self, wanted: Any) -> None:
        """Do nothing, because every expression is written by its own step."""

    def put(self, result: Result, outputs: Sequence[str]) -> None:
        array = f"out.{result.array}" if result.array else "frame"
        if self._limb:
            self.store(self.name(result.value), array, self._place(result.places))
            return
        for index in result.places:
            self.store(self.name(result.value), array, index)

    def read(self, x: Expression) -> str:
        if x.op == INPUT:
            return super().read(x)
        if x.op == BROADCAST:
            return self.name(x.args[0])
        if x.op == NUMBERS:
            return self._constant(x)
        if x.id not in self._frame.groups:
            return self.load("frame", self._frame.places[x.id])
        if x.id not in self._frame.places:  # All numbers of this pack are inputs from one array.
            inputs = [self._inputs[a.args[0]] for a in x.args[: self._frame.limbs[self._group]]]
            return self.load(f"in.{inputs[0][0]}", self._place([i for _, i in inputs]))
        return self.load("frame", self._place(self._frame.result(x).places))

    def _of_limbs(self, x: Expression) -> str:
        if x.op == LANE:
            pack, lane = x.args
            return self.load("frame", self._frame.places[pack.id] + lane)
        index = self._frame.places[x.id]
        total = self.new(f"fadd contract {self.kind.name} {self.load('frame', index)}, {self.name(x.args[0])}")
        self.store(total, "frame", index)
        return total

    def _constant(self, x: Expression) -> str:
        columns = self._columns[self._group]
        if x.id not in columns:
            columns[x.id] = len(columns)
            self._constants[self._group].append(x.args)
        where = self.new(f"getelementptr {self.kind.real}, ptr {self._row}, i64 {columns[x.id]}")
        number = self.new(f"load {self.kind.real}, ptr {where}, align {self.kind.size}")
        return self.in_all_lanes(self.kind, number)

    def _place(self, places: Sequence[int]) -> str:
        """Return the LLVM name of the current limb's array index, given the array indices of all limbs."""
        steps = {b - a for a, b in pairwise(places)}
        if len(steps) == 1:
            (step,) = steps
            scaled = self._limb if step == 1 else self.new(f"mul i64 {self._limb}, {step}")
            return self.new(f"add i64 {scaled}, {places[0]}")
        index = str(places[-1])
        for k in reversed(range(len(places) - 1)):
            index = self.new(f"select i1 {self.new(f'icmp eq i64 {self._limb}, {k}')}, i64 {places[k]}, i64 {index}")
        return index
