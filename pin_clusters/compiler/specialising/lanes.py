"""Operations of equal limbs as operations on packs, a limb per lane.

The kernel is traced with the numbers of the robot as inputs (but for zeros), so that equal limbs leave equal graphs.
From the outputs on, tuples of expressions, one per limb, become packs as long as their operations are the same; where
they are not, numbers are computed one by one and put together. Sums over limbs become sums of packs, and of their
lanes at the end. All of it is an expression again, with five more operations.
"""

import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..machine_code.emitter import Result

from ..tracing.expressions import ADD, BROADCAST, INPUT, LANE, MUL, NEG, NUMBERS, PACK, SUB, SUM  # isort: skip
from ..tracing.expressions import Expression, Graph, operate  # isort: skip

Demand = tuple[Any, ...]
Plan = tuple[list[Demand], Callable[[list[Any]], Any]]
"""What a demand is built of, and what builds it of that."""
_SCALAR = -1


class Lanes:
    """Rebuilds a graph with packs.

    Attributes:
        graph: The new one.
        packs: Group of each pack that was put together of numbers, by its id.
        misfits: How many tuples were put together of numbers that were computed one by one.
    """

    def __init__(
        self,
        values: dict[int, float],
        owners: dict[int, int],
        groups: Sequence[Sequence[int]],
        width: Sequence[int],
        slots: dict[int, int],
    ) -> None:
        """Prepare.

        Args:
            values: Of those inputs that are numbers of the robot, by number of the input.
            owners: To which limb an input belongs, by number of the input.
            groups: Limbs of each group.
            width: Lanes of each group.
            slots: What is alike in all limbs, by number of the input.
        """
        self.graph, self.misfits = Graph(), 0
        self.packs: dict[int, int] = {}
        self._values, self._groups, self._width = values, groups, width
        self._owner = dict(owners)
        self._slots = slots
        self._group_of = {limb: g for g, limbs in enumerate(groups) for limb in limbs}
        self._shape: dict[int, int] = {}
        self._color: dict[int, int] = {}
        self._built: dict[Demand, Any] = {}
        self._plans: dict[Demand, Plan] = {}
        self._seat: dict[int, tuple[Demand, int]] = {}  # which expression is which lane of what

    # --- what an old expression looks like
    def look_at(self, nodes: Sequence[Expression]) -> None:
        """Learn the shapes of expressions, each behind its arguments."""
        for x in nodes:
            if x.op == INPUT:
                i = x.args[0]
                self._shape[x.id] = hash((INPUT,) if i in self._values else (INPUT, self._slots.get(i, -1 - i)))
            else:
                parts = [self._shape_of(a) for a in x.args]
                self._shape[x.id] = hash((x.op, *(sorted(parts) if x.op in (ADD, MUL) else parts)))

    def _shape_of(self, a: Any) -> int:
        return self._shape[a.id] if isinstance(a, Expression) else hash(a)

    def color(self, nodes: Sequence[Expression]) -> None:
        """Learn on which limbs expressions depend."""
        for x in nodes:
            if x.op == INPUT:
                owner = self._owner.get(x.args[0])
                self._color[x.id] = 0 if owner is None else 1 << owner
            else:
                mine = 0
                for a in x.args:
                    if isinstance(a, Expression):
                        mine |= self._color[a.id]
                self._color[x.id] = mine

    def own(self, group: int, tuples: Sequence[tuple[Any, ...]]) -> None:
        """Learn which numbers of the robot belong to which limb: those in whose place others have others."""
        seen, stack = set(), [tuple(t) for t in tuples]
        while stack:
            t = stack.pop()
            key = tuple(a.id if isinstance(a, Expression) else a for a in t)
            if key in seen or all(a is t[0] for a in t):
                continue
            seen.add(key)
            if not all(isinstance(a, Expression) for a in t) or len({a.op for a in t}) > 1:
                continue
            if t[0].op == INPUT:
                for limb, a in zip(self._groups[group], t, strict=True):
                    if a.args[0] in self._values and len({b.args[0] for b in t}) == len(t):
                        self._owner.setdefault(a.args[0], limb)
                continue
            stack += self._arguments(t)

    def _arguments(self, t: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the arguments of equal operations, in the order of the first."""
        first = t[0].args
        rows = [first]
        for x in t[1:]:
            args = x.args
            if x.op in (ADD, MUL) and self._shape_of(args[0]) != self._shape_of(first[0]):
                args = args[::-1]
            rows.append(args)
        return list(zip(*rows, strict=True))

    # --- building
    def scalar(self, x: Any) -> Any:
        """Return the new expression of an old one."""
        return self._build((_SCALAR, x.id, x)) if isinstance(x, Expression) else x

    def pack(self, group: int, t: Sequence[Any]) -> Any:
        """Return the pack of old expressions, one per limb; a float if all are that."""
        return self._build(self._demand(group, tuple(t)))

    def _demand(self, group: int, t: tuple[Any, ...]) -> Demand:
        return (group, *(a.id if isinstance(a, Expression) else ("c", a) for a in t), t)

    def _build(self, wanted: Demand) -> Any:
        stack = [wanted]
        while stack:
            demand = stack[-1]
            key = demand[:-1]
            if key in self._built:
                stack.pop()
                continue
            if key not in self._plans:
                self._plans[key] = self._plan_scalar(demand[-1]) if demand[0] == _SCALAR else self._plan(*demand)
            parts, build = self._plans[key]
            missing = [p for p in parts if p[:-1] not in self._built]
            if missing:
                stack += reversed(missing)
                continue
            self._built[key] = build([self._built[p[:-1]] for p in parts])
            stack.pop()
        return self._built[wanted[:-1]]

    def _parts(self, xs: Sequence[Any]) -> list[Demand]:
        return [(_SCALAR, x.id, x) if isinstance(x, Expression) else (_SCALAR, ("c", x), x) for x in xs]

    def _plan(self, group: int, *rest: Any) -> Plan:
        t = rest[-1]
        first = t[0]
        if all(a is first for a in t):
            return self._parts([first]), partial(self._broadcast, group)
        known = [self._known(a) for a in t]
        if None not in known:
            padded = known + known[-1:] * (self._width[group] - len(t))
            return [], lambda _: self._numbers(padded)
        if all(isinstance(a, Expression) for a in t) and len({a.op for a in t}) == 1 and first.op != INPUT:
            key = self._demand(group, t)[:-1]
            for lane, a in enumerate(t):
                self._seat.setdefault(a.id, (key, lane))
            return [self._demand(group, s) for s in self._arguments(t)], partial(self._operate, first.op)
        if not all(isinstance(a, Expression) and a.op == INPUT for a in t):
            self.misfits += 1
        return self._parts(t), partial(self._put_together, group)

    def _known(self, a: Any) -> float | None:
        if not isinstance(a, Expression):
            return float(a)
        return self._values.get(a.args[0]) if a.op == INPUT else None

    def _plan_scalar(self, x: Any) -> Plan:
        known = self._known(x)
        if known is not None:
            return [], lambda _: known
        if x.op == INPUT:
            return [], lambda _: self.graph.make(INPUT, x.args[0])
        seat = self._seat.get(x.id)
        if seat is not None and seat[0] in self._built:
            return [], lambda _: self._lane(*seat)
        found = self._plan_sum(x) if x.op in (ADD, SUB) else None
        return found or (self._parts(x.args), partial(self._operate, x.op))

    def _limb(self, x: Any) -> int | None:
        """The limb on which alone an expression depends."""
        color = self._color[x.id] if isinstance(x, Expression) else 0
        return color.bit_length() - 1 if color and not color & (color - 1) else None

    def _addends(self, x: Any, sign: int, found: list[tuple[int, Any]]) -> None:
        stack = [(x, sign)]
        while stack:
            x, sign = stack.pop()
            color = self._color[x.id] if isinstance(x, Expression) else 0
            several = bool(color & (color - 1))
            if several and x.op in (ADD, SUB) and (x.id not in self._seat):
                stack += [(x.args[1], sign if x.op == ADD else -sign), (x.args[0], sign)]
            elif several and x.op == NEG:
                stack.append((x.args[0], -sign))
            else:
                found.append((sign, x))

    def _plan_sum(self, x: Expression) -> Plan | None:
        """Split a sum over limbs into sums of packs and the rest; None if that is nothing."""
        found: list[tuple[int, Any]] = []
        self._addends(x, 1, found)
        own = [(s, a) for s, a in found if self._limb(a) is None]
        parts: list[Demand] = []
        what: list[tuple[int, int | None]] = []
        summed = False
        for g, limbs in enumerate(self._groups):
            by = [[(s, a) for s, a in found if self._limb(a) == limb] for limb in limbs]
            if not any(by):
                continue
            self._align(by, own)
            keys = [sorted(by_limb, key=lambda one: (one[0], self._shape_of(one[1]))) for by_limb in by]
            shapes = {tuple((s, self._shape_of(a)) for s, a in one) for one in keys}
            if len(shapes) > 1 or not keys[0]:
                own += [one for by_limb in by for one in by_limb]
                continue
            summed = True
            for column in zip(*keys, strict=True):
                parts.append(self._demand(g, tuple(a for _, a in column)))
                what.append((column[0][0], g))
        if not summed:
            return None
        for s, a in own:
            parts += self._parts([a])
            what.append((s, None))
        return parts, partial(self._sum, what)

    def _align(self, by: list[list[tuple[int, Any]]], own: list[tuple[int, Any]]) -> None:
        """Take sums apart that stand in the place of addends: that of the first limb begins with what is nobody's."""
        for k, mine in enumerate(by):
            others = {(s, self._shape_of(a)) for j, one in enumerate(by) if j != k for s, a in one}
            for i in reversed(range(len(mine))):
                parts = self._parts_of(*mine[i], others)
                if parts is not None:
                    mine[i : i + 1] = [one for one in parts if self._limb(one[1]) is not None]
                    own += [one for one in parts if self._limb(one[1]) is None]

    def _parts_of(self, sign: int, x: Any, others: set[tuple[int, int]]) -> list[tuple[int, Any]] | None:
        """Return the addends of a sum that other limbs have, or that are nobody's; None if it has more."""
        found, stack = [], [(sign, x)]
        while stack:
            sign, x = stack.pop()
            if (sign, self._shape_of(x)) in others or self._limb(x) is None:
                found.append((sign, x))
            elif x.op in (ADD, SUB):
                stack += [(sign, x.args[0]), (sign if x.op == ADD else -sign, x.args[1])]
            elif x.op == NEG:
                stack.append((-sign, x.args[0]))
            else:
                return None
        return found

    def _lane(self, key: Demand, lane: int) -> Any:
        found = self._built[key]
        if not isinstance(found, Expression):
            return found
        return found.args[lane] if found.op in (NUMBERS, PACK) else self.graph.make(LANE, found, lane)

    def _broadcast(self, group: int, parts: list[Any]) -> Any:
        (x,) = parts
        return self.graph.make(BROADCAST, x, self._width[group], group) if isinstance(x, Expression) else x

    def _numbers(self, numbers: list[Any]) -> Any:
        return numbers[0] if len({struct.pack("<d", x) for x in numbers}) == 1 else self.graph.make(NUMBERS, *numbers)

    def _put_together(self, group: int, parts: list[Any]) -> Expression:
        made = self.graph.make(PACK, *parts, *[parts[-1]] * (self._width[group] - len(parts)))
        self.packs[made.id] = group
        return made

    def _operate(self, op: int, parts: list[Any]) -> Any:
        constant = [isinstance(x, Expression) and x.op == NUMBERS for x in parts]
        if any(constant) and all(c or not isinstance(x, Expression) for c, x in zip(constant, parts, strict=True)):
            n = next(len(x.args) for c, x in zip(constant, parts, strict=True) if c)
            rows = [x.args if c else (x,) * n for c, x in zip(constant, parts, strict=True)]
            numbers = [float(operate(op, list(column), range(len(column)))) for column in zip(*rows, strict=True)]
            return self._numbers(numbers)
        return operate(op, parts, range(len(parts)))

    def _sum(self, what: list[tuple[int, int | None]], parts: list[Any]) -> Any:
        packs: dict[int, Any] = {}
        total: Any = 0.0
        for x, (sign, g) in zip(parts, what, strict=True):
            if g is None:
                total = total + x if sign > 0 else total - x
            else:
                before = packs.get(g, 0.0)
                packs[g] = self._operate(ADD if sign > 0 else SUB, [before, x])
        for g, x in packs.items():
            n = len(self._groups[g])
            if not isinstance(x, Expression):
                total = total + n * x
            elif x.op in (NUMBERS, PACK):
                for one in x.args[:n]:
                    total = total + one
            else:
                total = total + (n * x.args[0] if x.op == BROADCAST else self.graph.make(SUM, x, n))
        return total


def lanes_of(inputs: Sequence[Sequence[Sequence[int]]], values: dict[int, float]) -> tuple[Lanes, list[list[int]]]:
    """Return what rebuilds a graph, and the numbers of the limbs of each group.

    ``inputs`` are those of each limb of each group, in one order for all of a group; ``values`` are of the robot.
    """
    owners: dict[int, int] = {}
    slots: dict[int, int] = {}
    numbers: list[list[int]] = []
    for group in inputs:
        start, at = sum(map(len, numbers)), 10000 * (len(numbers) + 1)
        numbers.append([start + k for k in range(len(group))])
        for limb, own in enumerate(group):
            for slot, i in enumerate(own, at):
                owners[i], slots[i] = start + limb, slot
    width = [1 << (len(group) - 1).bit_length() for group in inputs]
    return Lanes(values, owners, numbers, width, slots), numbers


def of_pack(array: str, places: tuple[int, ...], value: Any, bound: str = "") -> list[Result]:
    """Return the results of a pack: one, or one per limb where that is simpler."""
    if isinstance(value, Expression) and value.op not in (NUMBERS, PACK, BROADCAST):
        return [Result(array, places, value, bound)]
    several = value.args if isinstance(value, Expression) and value.op != BROADCAST else None
    one = value.args[0] if isinstance(value, Expression) else value
    return [Result(array, (i,), several[k] if several else one, bound) for k, i in enumerate(places)]
