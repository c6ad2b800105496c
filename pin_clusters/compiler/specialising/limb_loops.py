"""Code that computes packs of states for a robot with equal limbs, in loops over the limbs.

``lanes`` builds the graph. In this module every number is a pack of states, and the operations on packs of limbs form
the body of a loop over the limbs. Loops alternate with straight-line code: a loop ends at a sum over limbs, and the
next loop begins after its inputs are computed. The frame is memory for values that later loops or later code read.
"""

from collections.abc import Sequence
from typing import Any

from ..machine_code.emitter import Result, Step
from ..machine_code.kinds import Kind
from ..machine_code.loop_emitter import Frame, LoopEmitter, Turn
from ..tracing.expressions import BROADCAST, INPUT, LANE, NUMBERS, PACK, SUM, Expression, needed

_OF_LIMBS = (BROADCAST, PACK, NUMBERS)


def pack_function(
    inputs: Sequence[tuple[str, int]],
    results: Sequence[Result],
    outputs: Sequence[str],
    limbs: Sequence[int],
    packs: dict[int, int],
    lanes: int,
) -> str:
    """Return the text of ``void pack(inputs, outputs)``, in which each number is a pack of ``lanes`` states.

    ``limbs`` contains the number of limbs of each group; ``packs`` maps the id of each assembled pack to its group.
    """
    schedule = _LimbSchedule(inputs, limbs, packs, results)
    emitter = LoopEmitter(Kind("double", lanes), inputs, schedule.frame)
    return emitter.function_of_turns("pack", schedule.turns(), outputs)


class _LimbSchedule:
    """Assigns each expression to a turn. Even turns are straight-line code; odd turns are loops over the limbs."""

    def __init__(
        self, inputs: Sequence[tuple[str, int]], limbs: Sequence[int], packs: dict[int, int], results: Sequence[Result]
    ) -> None:
        self.frame = Frame(limbs)
        self._results, self._packs = results, packs
        self._arrays = [name for name, size in inputs for _ in range(size)]
        self._nodes = needed([result.value for result in results])
        self._turn: dict[int, int] = {}
        for x in self._nodes:
            self._turn[x.id] = self._turn_of(x)
            group = self._group_of(x)
            if group is not None:
                self.frame.groups[x.id] = group
        for x in self._nodes:
            self._lay_out(x)

    def _turn_of(self, x: Expression) -> int:
        if x.op == INPUT:
            return 0
        latest = max((self._turn[a.id] for a in x.args if isinstance(a, Expression)), default=0)
        return latest + 1 if x.op in (*_OF_LIMBS, SUM, LANE) else latest

    def _group_of(self, x: Expression) -> int | None:
        """Return the group of a pack, or None for single numbers and for constants, which every group can use."""
        if x.op == BROADCAST:
            return int(x.args[2])
        if x.op == PACK:
            return self._packs[x.id]
        if x.op in (INPUT, NUMBERS, SUM, LANE):
            return None
        groups = self.frame.groups
        return next((groups[a.id] for a in x.args if isinstance(a, Expression) and a.id in groups), None)

    def _is_copied(self, x: Expression) -> bool:
        """Return whether a pack must be assembled in the frame: its numbers are not all inputs from a single array."""
        if x.op != PACK:
            return False
        inputs = (a.args[0] if isinstance(a, Expression) and a.op == INPUT else None for a in x.args)
        arrays = {None if i is None else self._arrays[i] for i in inputs}
        return len(arrays) > 1 or None in arrays

    def _lay_out(self, x: Expression) -> None:
        """Reserve memory in the frame for values that another turn reads, for sums, and for assembled packs."""
        if x.op == SUM or self._is_copied(x):
            self.frame.reserve(x)
        for a in x.args if x.op not in (INPUT, SUM) else ():
            simple = not isinstance(a, Expression) or a.op in (INPUT, *_OF_LIMBS)
            if not simple and self._turn[a.id] != self._turn[x.id]:
                self.frame.reserve(a)

    def turns(self) -> list[Turn]:
        turns: list[Turn] = []
        for number in range(max(self._turn.values(), default=0) + 2):
            if number % 2 == 0:
                turns.append(Turn(None, self._straight(number)))
            else:
                loops = ((group, self._loop(number, group)) for group in range(len(self.frame.limbs)))
                turns += [Turn(group, steps) for group, steps in loops if steps]
        return turns

    def _in_turn(self, number: int) -> list[Expression]:
        return [x for x in self._nodes if self._turn[x.id] == number]

    def _stored(self, number: int) -> list[Result]:
        return [result for result in self._results if self._when(result.value) == number]

    def _when(self, x: Any) -> int:
        return self._turn[x.id] if isinstance(x, Expression) else 0

    def _kept(self, nodes: Sequence[Expression]) -> list[Step]:
        steps: list[Step] = []
        for x in nodes:
            steps += [x, *([self.frame.result(x)] if x.id in self.frame.places else [])]
        return steps

    def _straight(self, number: int) -> list[Step]:
        """Return the steps of a straight-line turn; the last steps assemble the packs that the next turn reads."""
        steps = self._kept([x for x in self._in_turn(number) if x.op not in (INPUT, SUM)])
        steps += self._stored(number)
        for x in self._in_turn(number + 1):
            if self._is_copied(x):
                places = self.frame.result(x).places
                steps += [Result("", (index,), a) for index, a in zip(places, x.args, strict=False)]
        return steps

    def _loop(self, number: int, group: int) -> list[Step]:
        computed = [x for x in self._in_turn(number) if self.frame.groups.get(x.id) == group and x.op not in _OF_LIMBS]
        sums = [x for x in self._in_turn(number + 1) if x.op == SUM and self.frame.groups[x.args[0].id] == group]
        stored = [result for result in self._stored(number) if self.frame.groups[result.value.id] == group]
        if not (stored or sums or any(x.id in self.frame.places for x in computed)):
            return []
        return [*self._kept(computed), *sums, *stored]
