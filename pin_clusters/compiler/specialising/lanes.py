"""Conversion of the operations of equal limbs to vector operations, in which each limb occupies one vector lane.

A *pack* is a vector with one number per limb. The kernel is traced with the nonzero parameters of the robot as inputs,
so that equal limbs produce equal graphs. Starting at the outputs, corresponding expressions of all limbs are replaced
by a pack if they have the same operation. Otherwise the numbers are computed one by one and then packed. A sum over
limbs becomes a sum of packs, whose lanes are added at the end. The new graph also contains five operations on packs.
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
"""Rule for building a pack or a number: a ``Demand`` per argument, and a function that combines their results."""
_SCALAR = -1


class Lanes:
    """Builds a new graph from a graph of single numbers; the new graph contains packs.

    Args:
        values: Values of the inputs that are robot parameters, by input index.
        owners: Limb numbers of the inputs that belong to limbs, by input index.
        groups: Limb numbers of each group.
        width: Number of lanes of each group.
        slots: A number per input index, which is equal for corresponding inputs of the limbs of a group.

    Attributes:
        graph: The new graph.
        packs: For each pack that is assembled from single numbers: the group of its limbs, by the id of the pack.
        misfits: Number of packs whose numbers are computed one by one because the limbs' operations differ.
    """

    def __init__(
        self,
        values: dict[int, float],
        owners: dict[int, int],
        groups: Sequence[Sequence[int]],
        width: Sequence[int],
        slots: dict[int, int],
    ) -> None:
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
        self._seat: dict[int, tuple[Demand, int]] = {}  # id of an expression -> pack and lane that contain it

    def look_at(self, nodes: Sequence[Expression]) -> None:
        """Compute a hash of the structure of each expression; ``nodes`` must list arguments before operations."""
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
        """Compute, for each expression, a bit mask of the limbs on which the expression depends."""
        for x in nodes:
            if x.op == INPUT:
                owner = self._owner.get(x.args[0])
                self._color[x.id] = 0 if owner is None else 1 << owner
            else:
                limbs = 0
                for a in x.args:
                    if isinstance(a, Expression):
                        limbs |= self._color[a.id]
                self._color[x.id] = limbs

    def assign_parameters(self, group: int, tuples: Sequence[tuple[Any, ...]]) -> None:
        """Assign robot parameters to limbs if corresponding expressions of the limbs contain different parameters."""
        visited, stack = set(), [tuple(t) for t in tuples]
        while stack:
            t = stack.pop()
            key = tuple(a.id if isinstance(a, Expression) else a for a in t)
            if key in visited or all(a is t[0] for a in t):
                continue
            visited.add(key)
            if not all(isinstance(a, Expression) for a in t) or len({a.op for a in t}) > 1:
                continue
            if t[0].op == INPUT:
                for limb, a in zip(self._groups[group], t, strict=True):
                    if a.args[0] in self._values and len({b.args[0] for b in t}) == len(t):
                        self._owner.setdefault(a.args[0], limb)
                continue
            stack += self._arguments(t)

    def _arguments(self, t: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return, for each argument of an operation, one expression per limb, in the first limb's argument order."""
        first = t[0].args
        rows = [first]
        for x in t[1:]:
            args = x.args
            if x.op in (ADD, MUL) and self._shape_of(args[0]) != self._shape_of(first[0]):
                args = args[::-1]
            rows.append(args)
        return list(zip(*rows, strict=True))

    def scalar(self, x: Any) -> Any:
        return self._build((_SCALAR, x.id, x)) if isinstance(x, Expression) else x

    def pack(self, group: int, t: Sequence[Any]) -> Any:
        """Convert expressions of the original graph (one per limb) to a pack, or to a float if all are equal floats."""
        return self._build(self._demand(group, tuple(t)))

    def _demand(self, group: int, t: tuple[Any, ...]) -> Demand:
        return (group, *(a.id if isinstance(a, Expression) else ("c", a) for a in t), t)

    def _build(self, target: Demand) -> Any:
        stack = [target]
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
        return self._built[target[:-1]]

    def _parts(self, xs: Sequence[Any]) -> list[Demand]:
        return [(_SCALAR, x.id, x) if isinstance(x, Expression) else (_SCALAR, ("c", x), x) for x in xs]

    def _plan(self, group: int, *rest: Any) -> Plan:
        t = rest[-1]
        first = t[0]
        if all(a is first for a in t):
            return self._parts([first]), partial(self._broadcast, group)
        constants = [self._known(a) for a in t]
        if None not in constants:
            padded = constants + constants[-1:] * (self._width[group] - len(t))
            return [], lambda _: self._numbers(padded)
        if all(isinstance(a, Expression) for a in t) and len({a.op for a in t}) == 1 and first.op != INPUT:
            key = self._demand(group, t)[:-1]
            for lane, a in enumerate(t):
                self._seat.setdefault(a.id, (key, lane))
            return [self._demand(group, s) for s in self._arguments(t)], partial(self._operate, first.op)
        if not all(isinstance(a, Expression) and a.op == INPUT for a in t):
            self.misfits += 1
        return self._parts(t), partial(self._assemble, group)

    def _known(self, a: Any) -> float | None:
        if not isinstance(a, Expression):
            return float(a)
        return self._values.get(a.args[0]) if a.op == INPUT else None

    def _plan_scalar(self, x: Any) -> Plan:
        constant = self._known(x)
        if constant is not None:
            return [], lambda _: constant
        if x.op == INPUT:
            return [], lambda _: self.graph.make(INPUT, x.args[0])
        seat = self._seat.get(x.id)
        if seat is not None and seat[0] in self._built:
            return [], lambda _: self._lane(*seat)
        plan = self._plan_sum(x) if x.op in (ADD, SUB) else None
        return plan or (self._parts(x.args), partial(self._operate, x.op))

    def _limb(self, x: Any) -> int | None:
        color = self._color[x.id] if isinstance(x, Expression) else 0
        return color.bit_length() - 1 if color and not color & (color - 1) else None

    def _addends(self, x: Any, sign: int, addends: list[tuple[int, Any]]) -> None:
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
                addends.append((sign, x))

    def _plan_sum(self, x: Expression) -> Plan | None:
        addends: list[tuple[int, Any]] = []
        self._addends(x, 1, addends)
        remainder = [(s, a) for s, a in addends if self._limb(a) is None]
        parts: list[Demand] = []
        terms: list[tuple[int, int | None]] = []
        summed = False
        for g, limbs in enumerate(self._groups):
            by = [[(s, a) for s, a in addends if self._limb(a) == limb] for limb in limbs]
            if not any(by):
                continue
            self._align(by, remainder)
            keys = [sorted(by_limb, key=lambda one: (one[0], self._shape_of(one[1]))) for by_limb in by]
            shapes = {tuple((s, self._shape_of(a)) for s, a in key) for key in keys}
            if len(shapes) > 1 or not keys[0]:
                remainder += [addend for by_limb in by for addend in by_limb]
                continue
            summed = True
            for column in zip(*keys, strict=True):
                parts.append(self._demand(g, tuple(a for _, a in column)))
                terms.append((column[0][0], g))
        if not summed:
            return None
        for s, a in remainder:
            parts += self._parts([a])
            terms.append((s, None))
        return parts, partial(self._sum, terms)

    def _align(self, by: list[list[tuple[int, Any]]], remainder: list[tuple[int, Any]]) -> None:
        """Split addends that are sums themselves into their terms, so that the addends of all limbs match.

        For example, the sum of the first limb often begins with terms that belong to no limb.
        """
        for k, addends in enumerate(by):
            shapes = {(s, self._shape_of(a)) for j, row in enumerate(by) if j != k for s, a in row}
            for i in reversed(range(len(addends))):
                parts = self._parts_of(*addends[i], shapes)
                if parts is not None:
                    addends[i : i + 1] = [row for row in parts if self._limb(row[1]) is not None]
                    remainder += [row for row in parts if self._limb(row[1]) is None]

    def _parts_of(self, sign: int, x: Any, shapes_elsewhere: set[tuple[int, int]]) -> list[tuple[int, Any]] | None:
        addends, stack = [], [(sign, x)]
        while stack:
            sign, x = stack.pop()
            if (sign, self._shape_of(x)) in shapes_elsewhere or self._limb(x) is None:
                addends.append((sign, x))
            elif x.op in (ADD, SUB):
                stack += [(sign, x.args[0]), (sign if x.op == ADD else -sign, x.args[1])]
            elif x.op == NEG:
                stack.append((-sign, x.args[0]))
            else:
                return None
        return addends

    def _lane(self, key: Demand, lane: int) -> Any:
        pack = self._built[key]
        if not isinstance(pack, Expression):
            return pack
        return pack.args[lane] if pack.op in (NUMBERS, PACK) else self.graph.make(LANE, pack, lane)

    def _broadcast(self, group: int, parts: list[Any]) -> Any:
        (x,) = parts
        return self.graph.make(BROADCAST, x, self._width[group], group) if isinstance(x, Expression) else x

    def _numbers(self, numbers: list[Any]) -> Any:
        return numbers[0] if len({struct.pack("<d", x) for x in numbers}) == 1 else self.graph.make(NUMBERS, *numbers)

    def _assemble(self, group: int, parts: list[Any]) -> Expression:
        pack = self.graph.make(PACK, *parts, *[parts[-1]] * (self._width[group] - len(parts)))
        self.packs[pack.id] = group
        return pack

    def _operate(self, op: int, parts: list[Any]) -> Any:
        constant = [isinstance(x, Expression) and x.op == NUMBERS for x in parts]
        if any(constant) and all(c or not isinstance(x, Expression) for c, x in zip(constant, parts, strict=True)):
            n = next(len(x.args) for c, x in zip(constant, parts, strict=True) if c)
            rows = [x.args if c else (x,) * n for c, x in zip(constant, parts, strict=True)]
            numbers = [float(operate(op, list(column), range(len(column)))) for column in zip(*rows, strict=True)]
            return self._numbers(numbers)
        return operate(op, parts, range(len(parts)))

    def _sum(self, terms: list[tuple[int, int | None]], parts: list[Any]) -> Any:
        packs: dict[int, Any] = {}
        total: Any = 0.0
        for x, (sign, g) in zip(parts, terms, strict=True):
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
                for lane in x.args[:n]:
                    total = total + lane
            else:
                total = total + (n * x.args[0] if x.op == BROADCAST else self.graph.make(SUM, x, n))
        return total


def lanes_of(inputs: Sequence[Sequence[Sequence[int]]], values: dict[int, float]) -> tuple[Lanes, list[list[int]]]:
    """Return a ``Lanes`` object, and the limb numbers of each group.

    ``inputs[group][limb]`` contains the input indices of a limb, in the same order for all limbs of a group.
    """
    owners: dict[int, int] = {}
    slots: dict[int, int] = {}
    numbers: list[list[int]] = []
    for group in inputs:
        start, first_slot = sum(map(len, numbers)), 10000 * (len(numbers) + 1)
        numbers.append([start + k for k in range(len(group))])
        for limb, indices in enumerate(group):
            for slot, i in enumerate(indices, first_slot):
                owners[i], slots[i] = start + limb, slot
    width = [1 << (len(group) - 1).bit_length() for group in inputs]
    return Lanes(values, owners, numbers, width, slots), numbers


def of_pack(array: str, places: tuple[int, ...], value: Any, bound: str = "") -> list[Result]:
    """Return the ``Result`` objects that store a pack: one object, or one per limb if lanes are computed separately."""
    if isinstance(value, Expression) and value.op not in (NUMBERS, PACK, BROADCAST):
        return [Result(array, places, value, bound)]
    several = value.args if isinstance(value, Expression) and value.op != BROADCAST else None
    common_value = value.args[0] if isinstance(value, Expression) else value
    return [Result(array, (i,), several[k] if several else common_value, bound) for k, i in enumerate(places)]
