"""Packs of states of a robot with equal limbs: what is done for a limb stands there once, and runs once per limb.

It is the graph of ``lanes`` read in another way. There a pack of limbs is a register; here every number is a pack of
states, and operations on packs of limbs are the body of a loop over the limbs, whose constants come from a table. Loops
take turns with what is done for the rest: a sum over limbs ends a loop, a number for all limbs begins the next one.
What passes from one turn to another goes through memory, the frame.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..machine_code.instructions import Instructions
from ..machine_code.kinds import Kind
from ..tracing.expressions import INPUT, Expression, needed
from .emission import Result
from .lanes import BROADCAST, LANE, NUMBERS, PACK, SUM


class LimbLoops(Instructions):
    """Writes ``void pack(inputs, outputs)``, where each number is a pack of states."""

    def __init__(
        self, inputs: Sequence[tuple[str, int]], limbs: Sequence[int], packs: dict[int, int], lanes: int
    ) -> None:
        """Prepare.

        Args:
            inputs: Name and size of each.
            limbs: How many each group has.
            packs: Group of each pack that was put together of numbers, by its id.
            lanes: States in a pack.
        """
        super().__init__(Kind("double", lanes))
        self._limbs, self._packs = limbs, packs
        self._group: dict[int, int] = {}
        self._inputs = [(name, i) for name, size in inputs for i in range(size)]
        self._arrays = [name for name, _ in inputs]
        self._size = 0
        self._turn: dict[int, int] = {}
        self._room: dict[int, int] = {}  # in the frame
        self._columns: list[dict[int, int]] = [{} for _ in limbs]  # of constants in their table
        self._constants: list[list[tuple[float, ...]]] = [[] for _ in limbs]

    def text(self, results: Sequence[Result], outputs: Sequence[str]) -> str:
        """Return the function, and the constants of its limbs."""
        nodes = needed([one.value for one in results])
        for x in nodes:
            self._turn[x.id] = self._turn_of(x)
            group = self._group_of(x)
            if group is not None:
                self._group[x.id] = group
        for x in nodes:
            self._lay_out(x)
        last = max(self._turn.values(), default=0)
        for turn in range(last + 2):
            mine = [x for x in nodes if self._turn[x.id] == turn]
            stored = [one for one in results if self._when(one.value) == turn]
            if turn % 2 == 0:
                self._straight(mine, stored, [x for x in nodes if self._turn[x.id] == turn + 1 and self._is_copied(x)])
                continue
            for group in range(len(self._limbs)):
                self._loop(
                    turn, group, [x for x in mine if self._group.get(x.id) == group],
                    [one for one in stored if self._group[one.value.id] == group],
                    [x for x in nodes if x.op == SUM and self._turn[x.id] == turn + 1
                     and self._group[x.args[0].id] == group],
                )  # fmt: skip
        return self._put_together(outputs)

    def _put_together(self, outputs: Sequence[str]) -> str:
        given = [f"ptr noalias nocapture readonly %in.{x}" for x in self._arrays]
        given += [f"ptr noalias nocapture writeonly %out.{x}" for x in outputs]
        head = [f"define internal void @pack({', '.join(given)}) noinline {self.kind.attributes} {{", "begin:"]
        head.append(f"  %frame = alloca [{max(1, self._size) * self.kind.lanes} x double], align {self.kind.align}")
        text, tables, one = "\n".join(self.lines), [], Kind("double")
        for g, columns in enumerate(self._constants):
            text = text.replace(f"COLUMNS{g}.", str(len(columns)))
            numbers = [column[limb] for limb in range(self._limbs[g]) for column in columns] or [0.0]
            written = ", ".join(f"double {one.constant(x)}" for x in numbers)
            tables.append(f"@limbs{g} = internal constant [{len(numbers)} x double] [{written}], align 64")
        return "\n".join([*tables, *head, text, "  ret void", "}", *sorted(self.called), ""])

    # --- turns: even ones are straight, in odd ones the limbs take theirs
    def _turn_of(self, x: Expression) -> int:
        if x.op == INPUT:
            return 0
        latest = max((self._turn[a.id] for a in x.args if isinstance(a, Expression)), default=0)
        return latest + 1 if x.op in (BROADCAST, PACK, NUMBERS, SUM, LANE) else latest

    def _group_of(self, x: Expression) -> int | None:
        """Return whose limbs a pack has; constants are anybody's."""
        if x.op == BROADCAST:
            return int(x.args[2])
        if x.op == PACK:
            return self._packs[x.id]
        if x.op in (INPUT, NUMBERS, SUM, LANE):
            return None
        return next((self._group[a.id] for a in x.args if isinstance(a, Expression) and a.id in self._group), None)

    def _when(self, x: Any) -> int:
        return self._turn[x.id] if isinstance(x, Expression) else 0

    def _is_copied(self, x: Expression) -> bool:
        """Whether it is a pack of what was computed limb by limb, or of inputs of several arrays."""
        if x.op != PACK:
            return False
        inputs = (a.args[0] if isinstance(a, Expression) and a.op == INPUT else None for a in x.args)
        arrays = {None if i is None else self._inputs[i][0] for i in inputs}
        return len(arrays) > 1 or None in arrays

    def _lay_out(self, x: Expression) -> None:
        """Give room to what is read in another turn than its own, to sums, and to numbers that become packs."""
        if x.op == SUM or self._is_copied(x):
            self._reserve(x)
        for a in x.args if x.op not in (INPUT, SUM) else ():
            simple = not isinstance(a, Expression) or a.op in (INPUT, NUMBERS, BROADCAST, PACK)
            if not simple and self._turn[a.id] != self._turn[x.id]:
                self._reserve(a)

    def _reserve(self, x: Expression) -> None:
        if x.id not in self._room:
            self._room[x.id] = self._size
            self._size += self._limbs[self._group[x.id]] if x.id in self._group else 1

    # --- memory
    def _number(self, x: Any, names: dict[int, str]) -> str:
        """Return the name of a number that is no pack of limbs."""
        if not isinstance(x, Expression):
            return self.kind.constant(float(x))
        if x.id not in names:
            if x.op == INPUT:
                array, i = self._inputs[x.args[0]]
                names[x.id] = self.load(f"in.{array}", i)
            else:
                names[x.id] = self.load("frame", self._room[x.id])
        return names[x.id]

    def _place(self, places: Sequence[int], limb: str) -> str:
        """Write which of some places is that of the limb at work."""
        steps = {b - a for a, b in pairwise(places)}
        if len(steps) == 1:
            (step,) = steps
            return self.new(f"add i64 {self.new(f'mul i64 {limb}, {step}')}, {places[0]}")
        at = str(places[-1])
        for k in reversed(range(len(places) - 1)):
            at = self.new(f"select i1 {self.new(f'icmp eq i64 {limb}, {k}')}, i64 {places[k]}, i64 {at}")
        return at

    # --- writing
    def _straight(self, mine: Sequence[Expression], stored: Sequence[Result], copied: Sequence[Expression]) -> None:
        """Write what is done once; then put numbers together that the limbs of the next turn read."""
        names: dict[int, str] = {}
        for x in mine:
            if x.op in (INPUT, SUM):
                continue
            if x.op == LANE:
                pack, lane = x.args
                names[x.id] = self.load("frame", self._room[pack.id] + lane)
            else:
                names[x.id] = self.operation(self.kind, x.op, [self._number(a, names) for a in x.args])
            if x.id in self._room:
                self.store(names[x.id], "frame", self._room[x.id])
        for one in stored:
            for place in one.places:
                self.store(self._number(one.value, names), f"out.{one.array}", place)
        for x in copied:
            for lane, a in enumerate(x.args[: self._limbs[self._group[x.id]]]):
                self.store(self._number(a, names), "frame", self._room[x.id] + lane)

    def _loop(
        self, turn: int, group: int, mine: Sequence[Expression], stored: Sequence[Result], sums: Sequence[Expression]
    ) -> None:
        """Write what is done for each limb of a group."""
        if not (stored or sums or any(x.id in self._room for x in mine)):
            return
        for x in sums:
            self.store(self.kind.constant(0.0), "frame", self._room[x.id])
        label, limb = f"{turn}.{group}", f"%limb.{turn}.{group}"
        self.lines += [f"  br label %before.{label}", f"before.{label}:", f"  br label %loop.{label}"]
        self.lines += [f"loop.{label}:", f"  {limb} = phi i64 [ 0, %before.{label} ], [ %next.{label}, %loop.{label} ]"]
        row = self.new(f"mul i64 {limb}, COLUMNS{group}.")
        table = self.new(f"getelementptr double, ptr @limbs{group}, i64 {row}")
        names: dict[int, str] = {}

        def name(a: Any) -> str:
            if not isinstance(a, Expression):
                return self.kind.constant(float(a))
            if a.id not in names:
                names[a.id] = self._of_limb(a, group, limb, table, names)
            return names[a.id]

        for x in mine:
            if x.op not in (BROADCAST, PACK, NUMBERS):
                names[x.id] = self.operation(self.kind, x.op, [name(a) for a in x.args])
                if x.id in self._room:
                    self.store(names[x.id], "frame", self.new(f"add i64 {limb}, {self._room[x.id]}"))
        for x in sums:
            at = self._room[x.id]
            total = self.new(f"fadd contract {self.kind.name} {self.load('frame', at)}, {name(x.args[0])}")
            self.store(total, "frame", at)
        for one in stored:
            self.store(name(one.value), f"out.{one.array}", self._place(one.places, limb))
        self.lines += [
            f"  %next.{label} = add i64 {limb}, 1",
            f"  %more.{label} = icmp slt i64 %next.{label}, {self._limbs[group]}",
            f"  br i1 %more.{label}, label %loop.{label}, label %after.{label}",
            f"after.{label}:",
        ]

    def _of_limb(self, x: Expression, group: int, limb: str, table: str, names: dict[int, str]) -> str:
        """Write how a limb reads what was not computed in this loop."""
        if x.op == BROADCAST:
            return self._number(x.args[0], names)
        if x.op == NUMBERS:
            columns = self._columns[group]
            if x.id not in columns:
                columns[x.id] = len(self._constants[group])
                self._constants[group].append(x.args)
            where = self.new(f"getelementptr double, ptr {table}, i64 {columns[x.id]}")
            return self.in_all_lanes(self.kind, self.new(f"load double, ptr {where}, align 8"))
        if x.op == PACK and not self._is_copied(x):
            places = [self._inputs[a.args[0]] for a in x.args[: self._limbs[group]]]
            return self.load(f"in.{places[0][0]}", self._place([i for _, i in places], limb))
        return self.load("frame", self.new(f"add i64 {limb}, {self._room[x.id]}"))
